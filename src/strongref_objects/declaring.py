"""How a type of object is declared: what belongs to it, and where that comes from. The rest follows.

    class Bucket(Declared, type_name="AWS::S3::Bucket", arn=ArnForm("arn:{partition}:s3:::{name}")):
        \"\"\"An S3 bucket.\"\"\"

        bucket_arn: Text = told("Arn", form="{arn}")
        bucket_name: Text = told(REF, form="{name}")

Such a class is a frozen dataclass. It writes and reads itself under the CDK's names, `BucketArn` and `BucketName`, and
is made of a template's resource, of an ARN, of a name, or of what Cloud Control says of a resource.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast, dataclass_transform

from strongref.contract.arns import Arn
from strongref_objects.collecting import came
from strongref_objects.errors import NothingToImportError
from strongref_objects.identity import check_place, check_text, fill, frozen, is_unresolved
from strongref_objects.identity_errors import (
    BadDeclarationError,
    NoSuchPartError,
    NotANameError,
    NotAnArnError,
    NotDeclaredError,
    NotToldError,
    OtherArnError,
    OtherPartError,
    a,
)
from strongref_objects.members import (
    REF,
    Member,
    by_name_where_behind,
    clash,
    key_of,
    lacking,
    members,
    needed,
    part,
    read,
    texts,
    told,
    undeclared,
    write,
)

__all__ = ["PARTS", "REF", "Declaration", "Declared", "every_type", "part", "texts", "told"]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Self

    from strongref_objects.base import DeserializationContext, SerializationContext, Text
    from strongref_objects.identity import ArnForm
    from strongref_objects.once import Made

PARTS = "Parts"
"""The key under which an object that may lack some of its members says which it has."""


class Scope(Protocol):
    """Where objects are used: a stack.

    Attributes:
        made: what was made for it already.
    """

    made: Made


@dataclasses.dataclass(frozen=True, slots=True)
class Declaration:
    """What is declared of a type as a whole.

    Attributes:
        label: what people call such an object, as in `security group`.
        type_name: CloudFormation's, as in `AWS::S3::Bucket`; None if it is no resource.
        arn: how its ARNs are spelled; None if it has none.
    """

    label: str
    type_name: str | None = None
    arn: ArnForm | None = None


@dataclass_transform(frozen_default=True, field_specifiers=(told, texts, part))
class Declared:
    """An object whose type is declared."""

    declared: ClassVar[Declaration]

    def __init_subclass__(
        cls, *, type_name: str | None = None, arn: ArnForm | None = None, label: str | None = None
    ) -> None:
        """Make the class what it declares.

        Args:
            type_name: as in `Declaration`; that of the class above, if there is one.
            arn: the same.
            label: the same; the class's name in words by default.

        Raises:
            NotDeclaredError: it has a field that is declared in another way.
            BadDeclarationError: two of its members have one key, or its ARNs cannot be told.
        """
        super().__init_subclass__()
        above = getattr(cls, "declared", None)
        words = label or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", cls.__name__).lower()
        cls.declared = Declaration(words, type_name or (above and above.type_name), arn or (above and above.arn))
        by_name_where_behind(cls)
        dataclasses.dataclass(frozen=True, repr=False)(cls)
        others = undeclared(cls)
        if others:
            raise NotDeclaredError(cls.declared.label, others)
        problem = clash(cls, PARTS) or (cls.declared.arn and cls.declared.arn.problem)
        if problem:
            raise BadDeclarationError(cls.declared.label, problem)
        cls.__hash__ = Declared.__hash__  # type: ignore[method-assign]  # One that can do with functions as values.

    def __post_init__(self) -> None:
        """Lists are kept as tuples, so that equal objects are equal whatever they were made of.

        Raises:
            NotToldError: something is None that every such object has.
            OtherPartError: a part is none of its type.
        """
        may_lack = lacking(type(self))
        for name, member in members(type(self)).items():
            value = getattr(self, name)
            if member.is_list and isinstance(value, list | tuple):
                object.__setattr__(self, name, tuple(value) or (None if name in may_lack else ()))
            if member.of and value is not None and not isinstance(value, member.of):
                kind = a(value.declared.label) if isinstance(value, Declared) else came(value)
                raise OtherPartError(self.declared.label, name, member.of.__name__, kind)
        missing = [name for name in needed(type(self)) if getattr(self, name) is None]
        if missing:
            raise NotToldError(self.declared.label, missing, "what it is made of")

    def __hash__(self) -> int:
        """Equal objects have the same."""
        return hash((type(self), frozen([getattr(self, name) for name in members(type(self))])))

    def __repr__(self) -> str:
        """What it has, and no values."""
        return f"{type(self).__name__}({', '.join(key_of(name) for name in self._there())})"

    def serialize(self, ctx: SerializationContext) -> None:
        """Write every member that there is."""
        there = self._there()
        if lacking(type(self)):
            ctx.write_string_list(PARTS, [key_of(name) for name in there])
        for name, member in there.items():
            write(ctx, key_of(name), member, getattr(self, name))

    @classmethod
    def deserialize(cls, ctx: DeserializationContext) -> Self:
        """The object that was written there; the same one each time.

        Raises:
            StrongRefError: as the context's methods.
        """
        return ctx.made.get((cls,), lambda: cls._read(ctx))

    @classmethod
    def of_resource(cls, logical_id: str, **rest: Any) -> Self:  # noqa: ANN401 (values, lists and objects)
        """The object that a resource of the same template is.

        Args:
            logical_id: the resource's.
            **rest: what its attributes do not tell, by the members' names.

        Raises:
            NotToldError: something of that is missing.
            NoSuchPartError: something was given that there is no member for.
        """

        def tell(name: str) -> Text | None:
            attribute = members(cls)[name].attribute
            if attribute is None:
                return None
            return {REF: logical_id} if attribute == REF else {"Fn::GetAtt": [logical_id, attribute]}

        return cls.assembled_by(tell, rest, "its attributes in a template")

    @classmethod
    def from_arn(cls, arn: Text, *, scope: Scope | None = None, **rest: Any) -> Self:  # noqa: ANN401 (as above)
        """The object that a resource with this ARN is, wherever it was made. Nobody is asked whether there is one.

        Args:
            arn: text, or what stands for it: then CloudFormation takes it apart.
            scope: where it is used, as a stack: there, one ARN always gives the same object.
            **rest: what an ARN does not tell, by the members' names.

        Raises:
            NotTextError: it is neither text nor what stands for it.
            NotAnArnError: it is none.
            OtherArnError: it is that of something else.
            NotToldError: it does not tell everything.
            NoSuchPartError: something was given that there is no member for.
        """
        form = cls._form()
        check_text(cls.declared.label, "ARN", arn)
        pieces = form.pieces_of_unresolved(arn) if is_unresolved(arn) else form.pieces(cls._parsed(str(arn)))
        return cls._once(scope, (arn, rest), lambda: cls._filled(pieces, rest, "its ARN"))

    @classmethod
    def from_name(
        cls,
        name: Text,
        *,
        partition: Text | None = None,
        region: Text | None = None,
        account: Text | None = None,
        scope: Scope | None = None,
        **rest: Any,  # noqa: ANN401 (as above)
    ) -> Self:
        """The object that a resource of this name is. Nobody is asked whether there is one.

        Args:
            name: what stands at the end of its ARN: a name, or an id where such resources have no names.
            partition: by default that of the region, or of the stack that refers to it.
            region: by default that of the stack.
            account: the same.
            scope: as in `from_arn`.
            **rest: as in `from_arn`.

        Raises:
            NotTextError: as in `from_arn`.
            NotANameError: no such resource can be called so.
            BadPlaceError: nothing can be in that partition, region or account.
            NotToldError: as in `from_arn`.
            NoSuchPartError: as in `from_arn`.
        """
        form = cls._form()
        check_text(cls.declared.label, "name", name)
        check_place(cls.declared.label, {"partition": partition, "region": region, "account": account})
        if not is_unresolved(name) and not form.is_name(str(name)):
            raise NotANameError(cls.declared.label, str(name), form.name)
        pieces = form.pieces_of_name(name, partition, region, account)
        return cls._once(scope, (pieces, rest), lambda: cls._filled(pieces, rest, "its name"))

    @classmethod
    def assembled_by(cls, tell: Callable[[str], Any], rest: Mapping[str, Any], by: str = "what it is made of") -> Self:
        """An object of what is told of each member, and of the rest, which goes first.

        Args:
            tell: what is told of the member of a name; None if it cannot be told.
            rest: by the members' names.
            by: who tells, for the error.

        Raises:
            NotToldError: something is missing.
            NoSuchPartError: something was given that there is no member for.
        """
        cls.check_parts(rest)
        found = {name: rest[name] if name in rest else tell(name) for name in members(cls)}
        missing = [name for name in needed(cls) if found[name] is None]
        if missing:
            raise NotToldError(cls.declared.label, missing, by)
        return cls(**found)

    @classmethod
    def check_parts(cls, names: Iterable[str]) -> None:
        """See that there are members of these names.

        Raises:
            NoSuchPartError: there are not.
        """
        unknown = [name for name in names if name not in members(cls)]
        if unknown:
            raise NoSuchPartError(cls.declared.label, unknown, list(members(cls)))

    @classmethod
    def _filled(cls, pieces: Mapping[str, Text], rest: Mapping[str, Any], by: str) -> Self:
        def tell(name: str) -> Text | None:
            form = members(cls)[name].form
            return fill(form, pieces) if form else None

        return cls.assembled_by(tell, rest, by)

    @classmethod
    def _once(cls, scope: Scope | None, what: object, make: Callable[[], Self]) -> Self:
        return scope.made.get((cls, frozen(what)), make) if scope else make()

    @classmethod
    def _form(cls) -> ArnForm:
        form = cls.declared.arn
        if form is None:
            raise NotToldError(cls.declared.label, list(members(cls)), "an ARN or a name, which it does not have")
        return form

    @classmethod
    def _parsed(cls, text: str) -> Arn:
        form, arn = cls._form(), Arn.parse(text)
        if arn is None:
            raise NotAnArnError(cls.declared.label, text, is_name=form.is_name(text))
        if not form.fits(arn):
            fitting = (each.declared for each in every_type() if each.declared.arn and each.declared.arn.fits(arn))
            raise OtherArnError(cls.declared.label, text, form.text, next((each.label for each in fitting), None))
        return arn

    @classmethod
    def _read(cls, ctx: DeserializationContext) -> Self:
        there, concrete = members(cls), bool(lacking(cls))
        if concrete:
            keys = cls._parts(ctx)
            there = {name: each for name, each in there.items() if name in needed(cls) or key_of(name) in keys}
        return cls(**{name: read(ctx, key_of(name), member, concrete=concrete) for name, member in there.items()})

    @classmethod
    def _parts(cls, ctx: DeserializationContext) -> set[str]:
        """The keys of what it has. What was written before there was anything to lack says nothing, and lacks it."""
        try:
            return set(cast("Iterable[str]", ctx.read_string_list(PARTS)))
        except NothingToImportError:
            if not needed(cls):
                raise
        return set()

    def _there(self) -> dict[str, Member]:
        return {name: member for name, member in members(type(self)).items() if getattr(self, name) is not None}


def every_type(above: type[Declared] = Declared) -> Iterator[type[Declared]]:
    """Every type that was declared so far."""
    for each in above.__subclasses__():
        yield each
        yield from every_type(each)
