"""What a ready type is in the CDK: how a construct of it becomes an object, and an object such a construct."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import aws_cdk
from jsii.errors import JSIIError

from strongref_cdk.errors import NoReadyTypeError, NoSuchConstructError, RefusedByCdkError
from strongref_objects.declaring import Declared
from strongref_objects.members import key_of, members

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from strongref_objects.base import Serializable, SerializationContext, Target

T = TypeVar("T")

REFUSALS = (RuntimeError, JSIIError)
"""What comes of an error in the CDK's own code."""

_UNKNOWN = re.compile(r"unexpected keyword argument '(\w+)'")
"""As Python says it of an option that a function does not take."""


class Place(NamedTuple):
    """Where a construct is made of an object.

    Attributes:
        scope: a construct.
        id: what it is called there.
        region: that the resource is in; None if it is the stack's own, or not known.
        account: whose it is; None if it is the stack's own, or not known.
        is_here: whether it is known to be in the stack's own account and region.
    """

    scope: Any
    id: str
    region: str | None = None
    account: str | None = None
    is_here: bool = False

    def part(self, name: str) -> Place:
        """Where the construct of a part of it is made."""
        return self._replace(id=f"{self.id}-{name}")


@dataclass(frozen=True, eq=False)
class Kind(Generic[T]):
    """A ready type in the CDK.

    Attributes:
        declared: the type.
        make: makes the construct of an object at a place, with the options of the CDK's own function for it.
        tell: the members that are not the construct's attributes of the same name: a value, a list, a construct, an
            object, or None.
        wider: types of the same constructs that have more; what a construct has of that is exported, too.
        check: sees that options will do, before anything is looked up.
    """

    declared: type[Declared]
    make: Callable[..., T]
    tell: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    wider: Sequence[type[Declared]] = ()
    check: Callable[[Mapping[str, Any]], None] = lambda _options: None

    def __post_init__(self) -> None:
        """From now on it is the kind of its type."""
        _KINDS[self.declared] = self

    def object_of(self, construct: T, **parts: Any) -> Declared:  # noqa: ANN401 (values, constructs and objects)
        """The object that a construct is.

        Args:
            construct: it.
            **parts: what it does not tell, by the members' names.

        Raises:
            NotOneError: it has several of a part, or none, and that is not among the parts.
            RefusedByCdkError: the CDK does not tell an attribute.
            NoSuchPartError: something was given that there is no member for.
        """
        rest = as_objects(self.declared, parts)
        told = {name: self._told(construct, name) for name in members(self.declared) if name not in rest}
        return self.declared.assembled_by(as_objects(self.declared, told).get, rest, "the construct")

    def serializable(self, construct: T, **parts: Any) -> Serializable:  # noqa: ANN401 (as above)
        """The same with all that the construct has, as an encrypted bucket's key. Errors as above."""
        told = [self.object_of(construct, **parts)]
        for wider in self.wider:
            kind = kind_of(wider)
            more = [name for name in members(wider) if name not in members(self.declared)]
            if all(kind._told(construct, name) is not None for name in more):  # noqa: SLF001 (of the same class)
                told.append(kind.object_of(construct, **parts))
        return told[0] if len(told) == 1 else _Told(told)

    def construct(self, place: Place, obj: Declared, **options: Any) -> T:  # noqa: ANN401 (the CDK's)
        """The construct that an object is.

        Raises:
            RefusedByCdkError: the CDK cannot make one of it.
            CdkError: it can be seen before that it cannot.
        """
        try:
            return self.make(place, obj, **options)
        except (*REFUSALS, TypeError) as error:
            what = f"the {self.declared.declared.label} {place.id}"
            unknown = _UNKNOWN.search(str(error))
            problem = f"there is no option {unknown[1]}" if unknown else str(error)
        raise RefusedByCdkError(what, problem, {value: key for key, value in _texts(obj)})

    def _told(self, construct: T, name: str) -> Any:  # noqa: ANN401 (see `tell`)
        try:
            return self.tell[name](construct) if name in self.tell else getattr(construct, name)
        except AttributeError as error:
            lacking = str(error.name)
        except REFUSALS as error:
            lacking, problem = "", str(error)
        if lacking:
            raise NoSuchConstructError(self.declared.declared.label, type(construct).__name__, lacking)
        raise RefusedByCdkError(f"to tell the {name} of the {self.declared.declared.label}", problem)


_KINDS: dict[type[Declared], Kind[Any]] = {}


def kind_of(declared: type[Declared]) -> Kind[Any]:
    """The kind of a ready type.

    Raises:
        NoReadyTypeError: it is a type of the program's own.
    """
    if declared not in _KINDS:
        raise NoReadyTypeError(declared.__name__)
    return _KINDS[declared]


def as_objects(of: type[Declared], values: Mapping[str, Any]) -> dict[str, Any]:
    """What was given for members of a type, with objects in the place of constructs."""
    found = dict(values)
    for name, member in members(of).items():
        value = found.get(name)
        if member.of and value is not None and not isinstance(value, Declared):
            found[name] = kind_of(member.of).object_of(value)
    return found


def with_tokens(obj: Any, target: Target) -> Any:  # noqa: ANN401 (an object that is declared)
    """The same object with tokens in the place of CloudFormation's functions, as the CDK's own functions take them."""
    changed = {}
    for name in members(type(obj)):
        value = getattr(obj, name)
        if isinstance(value, Declared):
            changed[name] = with_tokens(value, target)
        elif isinstance(value, Mapping):
            changed[name] = target.stand_in(value)
        elif isinstance(value, str):
            changed[name] = as_token(value)
    return dataclasses.replace(obj, **changed)


def as_token(value: str) -> str:
    """A text that CloudFormation reads from elsewhere as a token, so that the CDK does not take it for the value."""
    if "{{resolve:" not in value:
        return value
    token: str = aws_cdk.Token.as_string(aws_cdk.Token.as_any(value))
    return token


@dataclass(frozen=True)
class _Told:
    """One construct as several objects, whose keys are the same where they have the same."""

    objects: Sequence[Declared]

    def serialize(self, ctx: SerializationContext) -> None:
        for each in self.objects:
            each.serialize(ctx)


def _texts(obj: Declared) -> Iterator[tuple[str, str]]:
    """Every text of an object, with its key."""
    for name in members(type(obj)):
        value = getattr(obj, name)
        for each in value if isinstance(value, tuple) else [value]:
            if isinstance(each, Declared):
                yield from _texts(each)
            elif isinstance(each, str):
                yield key_of(name), each
