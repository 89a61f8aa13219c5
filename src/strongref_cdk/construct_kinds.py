"""A ready type in the CDK: how a construct becomes an object, and an object such a construct, made only once."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from strongref.contract.names import short_hash
from strongref_cdk.apps import stack_of
from strongref_cdk.cdk_values import REFUSALS, as_token
from strongref_cdk.errors import NoReadyTypeError, NoSuchConstructError, OtherOptionsError, RefusedByCdkError
from strongref_objects.channels import CrossRegion
from strongref_objects.types import Declared
from strongref_objects.types.members import key_of, members, settings_of
from strongref_toolkit.jsii_objects import same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from strongref_objects.base import (
        DeserializationContext,
        ObjectCache,
        Serializable,
        SerializationContext,
        Target,
    )
    from strongref_objects.channels import Channel
    from strongref_objects.stack import Stack

T = TypeVar("T")

_UNKNOWN_OPTION = re.compile(r"unexpected keyword argument '(\w+)'")
"""Python's words for an option that a function does not have."""


class ConstructPlace(NamedTuple):
    """Where the construct of an object is made."""

    scope: Any  # its parent construct
    id: str  # its ID
    region: str | None = None  # the resource's region; None if it is the stack's own, or unknown
    account: str | None = None  # the resource's account; None if it is the stack's own, or unknown
    is_local: bool = False  # whether the resource is known to be in the stack's own account and region

    def part(self, name: str) -> ConstructPlace:
        """The place of a part of it."""
        return self._replace(id=f"{self.id}-{name}")

    @classmethod
    def of_import(cls, ctx: DeserializationContext, via: Channel | None) -> ConstructPlace:
        if isinstance(via, CrossRegion):
            return cls(ctx.scope, ctx.id).located(stack_of(ctx.scope), via.region, via.account)
        return cls(ctx.scope, ctx.id, is_local=True)

    def located(self, stack: Stack, region: str | None, account: str | None) -> ConstructPlace:
        """The place of a resource in a region and account; None for the stack's own."""
        own = (stack.target.region, stack.target.account)
        is_local = (region or own[0], account or own[1]) == own
        return self._replace(region=region, account=account, is_local=is_local)

    @classmethod
    def of_name(cls, prefix: str, name: str, stack: Stack) -> ConstructPlace:
        """The place of a resource that a name identifies; an ID cannot contain a token."""
        text = short_hash(str(stack.target.canonical(name))) if stack.target.is_unresolved(name) else name
        return cls(stack.scope, f"{prefix}:{text}")


@dataclass(frozen=True, eq=False)
class ConstructKind(Generic[T]):
    """A ready type in the CDK."""

    declared: type[Declared]
    # makes the construct of an object at a place, with the options of the CDK's own function for it
    make: Callable[..., T]
    # returns members that are not the construct's attributes of the same name: a value, a list, a construct, an
    # object, or None
    get: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    # types of the same constructs with more members; members that a construct has are exported, too
    wider: Sequence[type[Declared]] = ()
    check: Callable[[Mapping[str, Any]], None] = lambda _options: None  # checks options before anything is looked up

    def __post_init__(self) -> None:
        """Register the kind of its type."""
        _KINDS[self.declared] = self

    def object_of(self, construct: T, **parts: Any) -> Declared:  # noqa: ANN401 (values, constructs and objects)
        """The object of a construct.

        Args:
            construct: the construct.
            **parts: members that the construct does not have.

        Raises:
            NotOneError: it does not have exactly one of a part, and the caller did not choose one.
            RefusedByCdkError: the CDK does not return an attribute.
            UnknownMembersError: the type has no such member.
        """
        given = as_objects(self.declared, parts)
        found = {name: self._value(construct, name) for name in members(self.declared) if name not in given}
        return self.declared.assembled_by(as_objects(self.declared, found).get, given, "the construct")

    def serializable(self, construct: T, **parts: Any) -> Serializable:  # noqa: ANN401 (as above)
        """The same with everything that the construct has, such as an encrypted bucket's key. Errors as above."""
        objects = [self.object_of(construct, **parts)]
        for wider in self.wider:
            kind = kind_of(wider)
            more = [name for name in members(wider) if name not in members(self.declared)]
            if all(kind._value(construct, name) is not None for name in more):  # noqa: SLF001 (of the same class)
                objects.append(kind.object_of(construct, **parts))
        return objects[0] if len(objects) == 1 else _SeveralObjects(objects)

    def construct(self, place: ConstructPlace, obj: Declared, **options: Any) -> T:  # noqa: ANN401 (the CDK's)
        """The construct of an object.

        Raises:
            RefusedByCdkError: the CDK cannot make one.
            CdkError: strongref knows that the CDK cannot.
        """
        try:
            return self.make(place, obj, **{**settings(obj), **options})
        except (*REFUSALS, TypeError) as error:
            what = f"the {self.declared.declared.label} {place.id}"
            unknown = _UNKNOWN_OPTION.search(str(error))
            problem = f"there is no option {unknown[1]}" if unknown else str(error)
        raise RefusedByCdkError(what, problem, {value: key for key, value in _texts(obj)})

    def imported(self, ctx: DeserializationContext, place: ConstructPlace, options: Mapping[str, Any]) -> T:
        """The construct that is read from a context: the same each time; errors as theirs."""
        self.check(options)
        obj = with_tokens(self.declared.deserialize(ctx), stack_of(ctx.scope).target)
        return self._once(ctx.made, ("construct", self), place, obj, options)

    def referenced(self, stack: Stack, obj: Declared, place: ConstructPlace, options: Mapping[str, Any]) -> T:
        """The construct of an existing resource: the same for the same object."""
        self.check(options)
        tokens = with_tokens(obj, stack.target)
        return self._once(stack.made, ("construct", self, obj), place, tokens, options)

    def _once(
        self,
        made: ObjectCache,
        key: tuple[Any, ...],
        place: ConstructPlace,
        obj: Declared,
        options: Mapping[str, Any],
    ) -> T:
        def make() -> tuple[T, Mapping[str, Any]]:
            return self.construct(self._free(place), obj, **options), dict(options)

        construct, former = made.get(key, make)
        differing = {each for each in {**former, **options} if not same(former.get(each), options.get(each))}
        if differing:
            raise OtherOptionsError(place.id, sorted(differing))
        return construct

    def _free(self, place: ConstructPlace) -> ConstructPlace:
        """The same place with an ID that is free there: one object can be read as two types."""
        more = (f"{place.id}-{number}" for number in count(2))
        ids = chain([place.id, f"{place.id}-{self.declared.__name__}"], more)
        return place._replace(id=next(each for each in ids if not place.scope.node.try_find_child(each)))

    def _value(self, construct: T, name: str) -> Any:  # noqa: ANN401 (see `get`)
        label = self.declared.declared.label
        try:
            return self.get[name](construct) if name in self.get else getattr(construct, name)
        except AttributeError as error:
            missing = str(error.name)
        except REFUSALS as error:
            missing, problem = "", str(error)
        if missing:
            raise NoSuchConstructError(label, type(construct).__name__, missing)
        raise RefusedByCdkError(f"to return the {name} of the {label}", problem)


_KINDS: dict[type[Declared], ConstructKind[Any]] = {}


def kind_of(declared: type[Declared]) -> ConstructKind[Any]:
    """The kind of a ready type.

    Raises:
        NoReadyTypeError: it is a type of the program's own.
    """
    if declared not in _KINDS:
        raise NoReadyTypeError(declared.__name__)
    return _KINDS[declared]


def as_objects(of: type[Declared], values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a type's members, with objects in place of constructs."""
    found = dict(values)
    for name, member in members(of).items():
        value = found.get(name)
        if member.of and value is not None and not isinstance(value, Declared):
            found[name] = kind_of(member.of).object_of(value)
    return found


def members_and_options(of: type[Declared], more: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments divided into members of an object and the CDK's own options."""
    parts = {name: value for name, value in more.items() if name in members(of) and name not in settings_of(of)}
    return as_objects(of, parts), {name: value for name, value in more.items() if name not in parts}


def settings(obj: Declared) -> dict[str, Any]:
    """How an object was made, as options of the CDK's own function for it."""
    found = {name: getattr(obj, name) for name in settings_of(type(obj))}
    words = {"true": True, "false": False}
    return {
        name: int(text) if text.isdecimal() else words.get(text, text)
        for name, text in found.items()
        if text is not None
    }


def with_tokens(obj: Any, target: Target) -> Any:  # noqa: ANN401 (an object of a declared type)
    """The same object with tokens in place of intrinsic functions, as the CDK's own functions take them."""
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


@dataclass(frozen=True)
class _SeveralObjects:
    """One construct as several objects, which write the same keys for the same members."""

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
