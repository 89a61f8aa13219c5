"""How a type of object is declared: its members, and where each comes from. Everything else follows.

    class Bucket(Declared, type_name="AWS::S3::Bucket", arn=ArnForm("arn:{partition}:s3:::{name}")):
        \"\"\"An S3 bucket.\"\"\"

        bucket_arn: Text = text("Arn", form="{arn}")
        bucket_name: Text = text(REF, form="{name}")

Such a class is a frozen dataclass. It writes and reads itself under the CDK's names, `BucketArn` and `BucketName`, and
can be made of a template's resource, of an ARN, of a name, or of a resource that Cloud Control describes.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast, dataclass_transform

from strongref.arns import Arn
from strongref_objects.base import DeserializationContext, SerializationContext, Text, errors
from strongref_objects.base.values import kind_of_value
from strongref_objects.types.arn_forms import ArnForm, check_location, check_text, fill, hashable, is_unresolved
from strongref_objects.types.members import (
    REF,
    Member,
    key_of,
    make_keyword_only,
    members,
    optional_members,
    part,
    problem_of,
    required_members,
    setting,
    text,
    texts,
)

if TYPE_CHECKING:
    from strongref_objects.stack import Stack

PARTS = "Parts"
"""The key under which an object of a type with optional members lists those that it has."""


@dataclasses.dataclass(frozen=True, slots=True)
class Declaration:
    """What is declared of a type as a whole."""

    label: str  # the type in words, as in `security group`
    type_name: str | None = None  # CloudFormation's type, as in `AWS::S3::Bucket`; None if it is not a resource
    arn: ArnForm | None = None  # the form of its ARNs; None if it has none


@dataclass_transform(frozen_default=True, field_specifiers=(text, texts, part, setting))
class Declared:
    """The base class of declared types: a frozen dataclass that writes and reads itself."""

    declared: ClassVar[Declaration]
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]  # of each subclass: `replace` takes any of them

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
        if problem := problem_of(cls, PARTS) or (cls.declared.arn and cls.declared.arn.problem):
            raise errors.BadDeclarationError(cls.declared.label, problem)
        cls.__hash__ = Declared.__hash__  # type: ignore[method-assign]  # Intrinsic functions are values, too.

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
                object.__setattr__(self, name, tuple(value) or (None if member.is_setting or name in optional else ()))
            for each in value or () if member.is_list else [value]:
                if member.of and each is not None and not isinstance(each, member.of):
                    given = errors.a(each.declared.label) if isinstance(each, Declared) else kind_of_value(each)
                    expected = f"an object of class {member.of.__name__}"
                    raise errors.WrongTypeError(self.declared.label, name, expected, given)
            if member.is_setting and isinstance(value, bool | int):
                object.__setattr__(self, name, str(value).lower())
        if missing := [name for name in required_members(type(self)) if getattr(self, name) is None]:
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
            member.write(ctx, key_of(name), getattr(self, name))

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
        if missing := [name for name in required_members(cls) if found[name] is None]:
            raise errors.MissingMembersError(cls.declared.label, missing, source)
        return cls(**found)

    @classmethod
    def check_members(cls, names: Iterable[str]) -> None:
        """Raises `UnknownMembersError` if the type has no members of these names."""
        if unknown := [name for name in names if name not in members(cls)]:
            raise errors.UnknownMembersError(cls.declared.label, unknown, list(members(cls)))

    @classmethod
    def _read(cls, ctx: DeserializationContext) -> Self:
        present, has_optional = members(cls), bool(optional_members(cls))
        if has_optional:
            keys = cls._read_parts(ctx)
            absent = [name for name in optional_members(cls) if key_of(name) not in keys]
            present = {name: each for name, each in present.items() if name not in absent}
        return cls(**{name: each.read(ctx, key_of(name), resolved=has_optional) for name, each in present.items()})

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

    @classmethod
    def of_resource(cls, logical_id: str, **given: Any) -> Self:
        """The object that a resource of the same template is.

        Args:
            logical_id: the resource's.
            **given: members that do not follow from its attributes.

        Raises:
            MissingMembersError: such a member is missing.
            UnknownMembersError: the type has no such member.
        """

        def get(name: str) -> Text | None:
            attribute = members(cls)[name].attribute
            if attribute is None:
                return None
            return {REF: logical_id} if attribute == REF else {"Fn::GetAtt": [logical_id, attribute]}

        return cls.assembled_by(get, given, "its attributes in a template")

    @classmethod
    def from_arn(cls, arn: Text, *, scope: Stack | None = None, **given: Any) -> Self:
        """The object of an existing resource, by its ARN. No AWS call is made; existence is not checked.

        Args:
            arn: text, or an intrinsic function or token, which CloudFormation then takes apart.
            scope: a stack in which the same ARN always gives the same object.
            **given: members that do not follow from the ARN.

        Raises:
            WrongTypeError: the ARN is neither text nor an intrinsic function.
            NotAnArnError: the text is not an ARN.
            OtherArnError: it is the ARN of something else.
            MissingMembersError: a member that does not follow from the ARN is missing.
            UnknownMembersError: the type has no such member.
        """
        form = cls._form()
        check_text(cls.declared.label, "ARN", arn)
        fields = form.fields_of_unresolved(arn) if is_unresolved(arn) else form.fields(cls._parsed(str(arn)))
        return cls._once(scope, (arn, given), lambda: cls._filled(fields, given, "its ARN"))

    @classmethod
    def from_name(
        cls,
        name: Text,
        *,
        partition: Text | None = None,
        region: Text | None = None,
        account: Text | None = None,
        scope: Stack | None = None,
        **given: Any,
    ) -> Self:
        """The object of an existing resource, by its name. No AWS call is made; existence is not checked.

        Args:
            name: the end of its ARN: a name, or an ID if such resources have no names.
            partition: by default that of the region, or of the stack that uses it.
            region: by default that of the stack.
            account: by default that of the stack.
            scope: as in `from_arn`.
            **given: as in `from_arn`.

        Raises:
            NotANameError: it is not a valid name.
            BadLocationError: the partition, region or account is not valid.
            ObjectError: as `from_arn`.
        """
        form = cls._form()
        check_text(cls.declared.label, "name", name)
        check_location(cls.declared.label, {"partition": partition, "region": region, "account": account})
        if not is_unresolved(name) and not form.is_name(str(name)):
            raise errors.NotANameError(cls.declared.label, str(name), form.name)
        fields = form.fields_of_name(name, partition, region, account)
        return cls._once(scope, (fields, given), lambda: cls._filled(fields, given, "its name"))

    @classmethod
    def _filled(cls, fields: Mapping[str, Text], given: Mapping[str, Any], source: str) -> Self:
        def get(name: str) -> Text | None:
            form = members(cls)[name].form
            return fill(form, fields) if form else None

        return cls.assembled_by(get, given, source)

    @classmethod
    def _once(cls, scope: Stack | None, key: object, make: Callable[[], Self]) -> Self:
        return scope.made.get((cls, hashable(key)), make) if scope else make()

    @classmethod
    def _form(cls) -> ArnForm:
        form = cls.declared.arn
        if form is None:
            source = "an ARN or a name, which it does not have"
            raise errors.MissingMembersError(cls.declared.label, list(members(cls)), source)
        return form

    @classmethod
    def _parsed(cls, text: str) -> Arn:
        form, arn = cls._form(), Arn.parse(text)
        if arn is None:
            raise errors.NotAnArnError(cls.declared.label, text, is_name=form.is_name(text))
        if not form.fits(arn):
            types = [each.declared for each in every_type() if each.declared.arn and each.declared.arn.fits(arn)]
            raise errors.OtherArnError(cls.declared.label, text, form.text, types[0].label if types else None)
        return arn


def every_type(base: type[Declared] = Declared) -> Iterator[type[Declared]]:
    """Every type that is declared so far."""
    for each in base.__subclasses__():
        yield each
        yield from every_type(each)
