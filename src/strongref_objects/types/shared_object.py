"""Objects of declared types: frozen dataclasses that write and read themselves."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast, dataclass_transform

from strongref_objects.base import errors
from strongref_objects.base.values import kind_of_value
from strongref_objects.types.arn_forms import ArnForm, hashable
from strongref_objects.types.members import (
    Member,
    key_of,
    make_keyword_only,
    members,
    optional_members,
    part,
    problem_of,
    read,
    required_members,
    setting,
    text,
    texts,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from strongref_objects.base import DeserializationContext, SerializationContext

PARTS = "Parts"
"""The key under which an object of a type with optional members lists those that it has."""


@dataclasses.dataclass(frozen=True, slots=True)
class Declaration:
    """What is declared of a type as a whole."""

    label: str  # the type in words, as in `security group`
    type_name: str | None = None  # CloudFormation's type, as in `AWS::S3::Bucket`; None if it is not a resource
    arn: ArnForm | None = None  # the form of its ARNs; None if it has none


@dataclass_transform(frozen_default=True, field_specifiers=(text, texts, part, setting))
class SharedObject:
    """An object of a declared type."""

    declared: ClassVar[Declaration]

    def __init_subclass__(
        cls, *, type_name: str | None = None, arn: ArnForm | None = None, label: str | None = None
    ) -> None:
        """Make the class a frozen dataclass of its members.

        The arguments are those of `Declaration`: by default the base class's, and the class's name in words as label.

        Raises:
            BadDeclarationError: a field is not declared as a member, two members have one key, or the ARN form is not
                valid.
        """
        super().__init_subclass__()
        base = getattr(cls, "declared", None)
        words = label or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", cls.__name__).lower()
        cls.declared = Declaration(words, type_name or (base and base.type_name), arn or (base and base.arn))
        make_keyword_only(cls)
        dataclasses.dataclass(frozen=True, repr=False)(cls)
        problem = problem_of(cls, PARTS) or (cls.declared.arn and cls.declared.arn.problem)
        if problem:
            raise errors.BadDeclarationError(cls.declared.label, problem)
        cls.__hash__ = SharedObject.__hash__  # type: ignore[method-assign]  # Intrinsic functions are values, too.

    def __post_init__(self) -> None:
        """Keep lists as tuples, so that equal objects are equal, whatever they were made of.

        Raises:
            MissingMembersError: a required member is None.
            WrongTypeError: a part is not of its type.
        """
        optional = optional_members(type(self))
        for name, member in members(type(self)).items():
            value = getattr(self, name)
            if member.is_list and isinstance(value, list | tuple):
                object.__setattr__(self, name, tuple(value) or (None if name in optional else ()))
            if member.of and value is not None and not isinstance(value, member.of):
                given = errors.a(value.declared.label) if isinstance(value, SharedObject) else kind_of_value(value)
                raise errors.WrongTypeError(
                    self.declared.label, name, f"an object of class {member.of.__name__}", given
                )
            if member.is_setting and isinstance(value, bool | int):
                object.__setattr__(self, name, str(value).lower())
        missing = [name for name in required_members(type(self)) if getattr(self, name) is None]
        if missing:
            raise errors.MissingMembersError(self.declared.label, missing, "what it is made of")

    def __hash__(self) -> int:
        return hash((type(self), hashable([getattr(self, name) for name in members(type(self))])))

    def __repr__(self) -> str:
        """The keys, without values."""
        return f"{type(self).__name__}({', '.join(key_of(name) for name in self._present())})"

    def serialize(self, ctx: SerializationContext) -> None:
        present = self._present()
        if optional_members(type(self)):
            keys = [key_of(name) for name, each in present.items() if not each.is_setting]
            ctx.write_string_list(PARTS, keys, held=False)
        for name, member in present.items():
            write(ctx, key_of(name), member, getattr(self, name))

    @classmethod
    def deserialize(cls, ctx: DeserializationContext) -> Self:
        """The object that was written there; the same one each time. Errors are those of the context's methods."""
        return ctx.made.get((cls,), lambda: cls._read(ctx))

    @classmethod
    def assembled_by(
        cls, get: Callable[[str], Any], given: Mapping[str, Any], source: str = "what it is made of"
    ) -> Self:
        """An object whose members come from the caller, and from another source for what the caller did not give.

        Args:
            get: returns a member by its name; None if the source does not have it.
            given: the caller's members by name.
            source: in words, for the error.

        Raises:
            MissingMembersError: a required member is missing.
            UnknownMembersError: the caller gave a member that does not exist.
        """
        cls.check_members(given)
        found = {name: given[name] if name in given else get(name) for name in members(cls)}
        missing = [name for name in required_members(cls) if found[name] is None]
        if missing:
            raise errors.MissingMembersError(cls.declared.label, missing, source)
        return cls(**found)

    @classmethod
    def check_members(cls, names: Iterable[str]) -> None:
        """Raises `UnknownMembersError` if the type has no members of these names."""
        unknown = [name for name in names if name not in members(cls)]
        if unknown:
            raise errors.UnknownMembersError(cls.declared.label, unknown, list(members(cls)))

    @classmethod
    def _read(cls, ctx: DeserializationContext) -> Self:
        present, has_optional = members(cls), bool(optional_members(cls))
        if has_optional:
            keys = cls._read_parts(ctx)
            absent = [name for name in optional_members(cls) if key_of(name) not in keys]
            present = {name: each for name, each in present.items() if name not in absent}
        return cls(**{name: read(ctx, key_of(name), each, resolved=has_optional) for name, each in present.items()})

    @classmethod
    def _read_parts(cls, ctx: DeserializationContext) -> set[str]:
        """The keys that the object has. One that was written before its type had optional members has none of them."""
        try:
            return set(cast("Iterable[str]", ctx.read_string_list(PARTS, held=False)))
        except errors.NothingToImportError:
            if not required_members(cls):
                raise
        return set()

    def _present(self) -> dict[str, Member]:
        return {name: member for name, member in members(type(self)).items() if getattr(self, name) is not None}
