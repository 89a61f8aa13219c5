"""A ready type in the CDK: its functions, and how a construct becomes an object, and an object such a construct."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlencode

from strongref.untyped import Untyped
from strongref_cdk import errors
from strongref_cdk.apps import ConstructPlace, at, exporting, importing, stack_of
from strongref_cdk.cdk_values import REFUSALS, settings, with_tokens
from strongref_objects import lookups
from strongref_objects.base import DeserializationContext, ObjectCache, ResolveType, Serializable, SerializationContext
from strongref_objects.types import Declared
from strongref_objects.types.arn_forms import is_unresolved
from strongref_objects.types.members import key_of, members, required_members, settings_of
from strongref_toolkit.jsii_objects import same

if TYPE_CHECKING:
    from constructs import Construct

    from strongref_objects.channels import Channel
    from strongref_objects.stack import Stack

T = TypeVar("T")

_UNKNOWN_OPTION = re.compile(r"unexpected keyword argument '(\w+)'")
"""Python's words for an option that a function does not have."""


@dataclass(frozen=True, eq=False)
class ConstructKind(Generic[T]):
    declared: type[Declared]
    # makes the construct of an object at a place, with the options of the CDK's own function for it
    make: Callable[..., T]
    # returns members that are not the construct's attributes of the same name: a value, a list, a construct, an
    # object, or None
    get: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    # types of the same constructs with more members; members that a construct has are exported, too
    wider: list[type[Declared]] = field(default_factory=list)
    # returns the options that a program must pass, by those that it passes, and whether settings are known otherwise
    needed: Callable[[Mapping[str, Any], bool], Sequence[str]] = lambda _options, _known: ()
    unlike: Any = ()  # classes of other constructs that have the same attributes

    def __post_init__(self) -> None:
        _KINDS[self.declared] = self

    def wider_by(self, declared: type[Declared], **options: Callable[[ConstructPlace, Any], Any]) -> ConstructKind[T]:
        """The kind of a type with more members, from which options of the CDK's own function are made."""
        self.wider.append(declared)

        def make(at: ConstructPlace, obj: Declared, **given: Any) -> T:
            return self.make(at, obj, **{**{name: of(at, obj) for name, of in options.items()}, **given})

        return ConstructKind(declared, make, self.get, needed=self.needed)

    def export(
        self, construct: T, name: str, *, via: Channel | None = None, description: str | None = None, **parts: Any
    ) -> None:
        """Export a construct with all its parts from its stack; as `export_string`.

        Args:
            construct: the construct; a nested stack's constructs are exported by the stack that it is nested in.
            name: other stacks import it by this name.
            via: the channel.
            description: for people.
            **parts: one of several parts, as in `listener=…` of a load balancer; members that the construct lacks.

        Raises:
            ConstructError: the name stands for something else, or the construct lacks a member.
        """
        with at(construct):
            obj = self.serializable(construct, **parts)
            with exporting(construct, name, via) as stack:
                stack.export_object(name, obj, description=description, via=via)

    def import_(
        self,
        scope: Construct,
        name: str,
        *,
        type: ResolveType = ResolveType.SYNTHESIS,  # noqa: A002 (the design's word)
        weak: bool = False,
        via: Channel | None = None,
        **options: Any,
    ) -> T:
        """The construct of an object that another stack exports: the same each time; otherwise as `import_string`.

        `options` are those of the CDK's own function for imported constructs of the type, as in `mutable=False`.
        """
        with at(scope), importing(scope, name, via, weak=weak) as (stack, spelled):
            ctx = stack.import_object(spelled, type=type, weak=weak, via=via)
            return self.imported(ctx, options)

    def from_arn(self, scope: Construct, arn: str, **more: Any) -> T:
        """The construct of an existing resource, by its ARN: the same each time. Nothing holds it.

        Args:
            scope: a construct in the stack that uses it.
            arn: its ARN, or a token.
            **more: members that do not follow from its ARN; or options, as in `import_…`.

        Raises:
            ConstructError: it is not such an ARN, or a member is missing.
        """
        with at(scope):
            stack, of = stack_of(scope), self.declared
            parts, options = members_and_options(of, more)
            obj = of.from_arn(arn, scope=stack, **parts)
            return self.referenced(stack, obj, ConstructPlace.of_name(f"from{of.__name__}Arn", arn, stack), options)

    def from_name(
        self, scope: Construct, name: str, *, region: str | None = None, account: str | None = None, **more: Any
    ) -> T:
        """The construct of an existing resource, by its name or ID; otherwise as by its ARN.

        Args:
            scope: a construct in the stack that uses it.
            name: the end of its ARN, or a token.
            region: its region; the stack's own by default.
            account: its account; the stack's own by default.
            **more: members that do not follow from its name; or options.
        """
        with at(scope):
            stack, of = stack_of(scope), self.declared
            parts, options = members_and_options(of, more)
            obj = of.from_name(name, region=region, account=account, scope=stack, **parts)
            place = ConstructPlace.of_name(f"from{of.__name__}Name", name, stack).located(stack, region, account)
            return self.referenced(stack, obj, place, options)

    def lookup(self, scope: Construct, tags: Mapping[str, str], **more: Any) -> T:
        """The construct of the only resource that has all of these tags, in the stack's account and region.

        The context file keeps it. Nothing holds it.

        Args:
            scope: a construct in the stack that uses it.
            tags: all of them must match.
            **more: members that cannot be looked up; or options, as in `import_…`.

        Raises:
            ConstructError: there is no such resource, or several.
        """
        with at(scope):
            of = self.declared
            parts, options = members_and_options(of, more)
            self._check(options)
            stack = stack_of(scope)
            obj = lookups.lookup(of, stack, tags, **parts)
            place = ConstructPlace(stack.scope, f"lookup{of.__name__}:{urlencode(sorted(tags.items()))}", is_local=True)
            return self.referenced(stack, obj, place, options)

    def object_of(self, construct: T, **parts: Any) -> Declared:
        """The object of a construct, with `parts` for the members that the construct does not have.

        Raises:
            NotOneError: it does not have exactly one of a part, and the caller did not choose one.
            RefusedByCdkError: the CDK does not return an attribute.
            UnknownMembersError: the type has no such member.
        """
        if isinstance(construct, self.unlike):
            raise errors.NoSuchConstructError(self.declared.declared.label, type(construct).__name__)
        given = as_objects(self.declared, parts)
        found = {name: self._value(construct, name) for name in members(self.declared) if name not in given}
        return self.declared.assembled_by(as_objects(self.declared, found).get, given, "the construct")

    def serializable(self, construct: T, **parts: Any) -> Serializable:
        """A construct's object with all that it has, such as an encrypted bucket's key; errors as `object_of`."""
        objects = [self.object_of(construct, **parts)]
        for wider in self.wider:
            kind = kind_of(wider)
            more = [name for name in required_members(wider) if name not in members(self.declared)]
            if all(kind._value(construct, name) is not None for name in more):  # noqa: SLF001 (of the same class)
                objects.append(kind.object_of(construct, **parts))

        def serialize(ctx: SerializationContext) -> None:  # They write the same keys for the same members.
            for each in objects:
                each.serialize(ctx)

        return SimpleNamespace(serialize=serialize)

    def construct(self, place: ConstructPlace, obj: Declared, **options: Any) -> T:
        """The construct of an object. Raises `CdkError` if the CDK cannot make one."""
        try:
            return self.make(place, obj, **{**settings(obj), **options})
        except (*REFUSALS, TypeError) as error:
            what = f"the {self.declared.declared.label} {place.id}"
            unknown = _UNKNOWN_OPTION.search(str(error))
            problem = f"there is no option {unknown[1]}" if unknown else str(error)
        raise errors.RefusedByCdkError(what, problem, {value: key for key, value in _texts_and_keys(obj)})

    def imported(self, ctx: DeserializationContext, options: Mapping[str, Any]) -> T:
        """The construct that is read from a context: the same each time; errors as theirs."""
        self._check(options, known=getattr(ctx, "has_settings", True))  # A program's own context says what it knows.
        target = stack_of(ctx.scope).target
        obj = with_tokens(self.declared.deserialize(ctx), target)
        # Members that the CDK reads are text instead of a token, if the same app exports text.
        read = {name for name in required_members(self.declared) if name in self.needed(options, False)}
        known = {name: text for name in read if (text := ctx.read_setting(key_of(name))) and not is_unresolved(text)}
        return self._once(ctx.made, ("construct", self), ConstructPlace.of_import(ctx), obj, {**known, **options})

    def referenced(self, stack: Stack, obj: Declared, place: ConstructPlace, options: Mapping[str, Any]) -> T:
        """The construct of an existing resource: the same for the same object."""
        self._check(options)
        tokens = with_tokens(obj, stack.target)
        return self._once(stack.made, ("construct", self, obj), place, tokens, options)

    def _check(self, options: Mapping[str, Any], *, known: bool = True) -> None:
        """Raises `OptionsNeededError` before anything is looked up."""
        if missing := [each for each in self.needed(options, known) if each not in options]:
            is_exported = not self.needed(options, True)
            raise errors.OptionsNeededError(self.declared.declared.label, missing, is_exported)

    def _once(
        self, made: ObjectCache, key: object, place: ConstructPlace, obj: Declared, options: Mapping[str, Any]
    ) -> T:
        def make() -> tuple[T, Mapping[str, Any]]:
            return self.construct(place.free(self.declared.__name__), obj, **options), dict(options)

        construct, former = made.get(key, make)
        differing = {each for each in {**former, **options} if not same(former.get(each), options.get(each))}
        if differing:
            raise errors.OtherOptionsError(place.id, sorted(differing))
        return construct

    def _value(self, construct: T, name: str) -> Untyped:
        label = self.declared.declared.label
        try:
            return self.get[name](construct) if name in self.get else getattr(construct, name)
        except AttributeError as error:
            missing = str(error.name)
        except REFUSALS as error:
            missing, problem = "", str(error)
        if missing:
            raise errors.NoSuchConstructError(label, type(construct).__name__, missing)
        raise errors.RefusedByCdkError(f"to return the {name} of the {label}", problem)


def maker(function: Callable[..., T], *names: str, **renamed: str) -> Callable[..., T]:
    """Makes constructs by the CDK's own function, from the members of these names, some of which it calls otherwise."""

    def make(at: ConstructPlace, obj: Declared, **options: Any) -> T:
        attributes = {
            name: getattr(obj, member) for name, member in (*zip(names, names, strict=True), *renamed.items())
        }
        return function(at.scope, at.id, **{**attributes, **options})

    return make


_KINDS: dict[type[Declared], ConstructKind[Any]] = {}


def kind_of(declared: type[Declared]) -> ConstructKind[Any]:
    """The kind of a ready type. Raises `NoReadyTypeError` if it is a type of the program's own."""
    if declared not in _KINDS:
        raise errors.NoReadyTypeError(declared.__name__)
    return _KINDS[declared]


def as_objects(of: type[Declared], values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a type's members, with objects in place of constructs."""

    def of_kind(kind: type[Declared], value: Untyped) -> Untyped:
        if isinstance(value, list | tuple):
            return [of_kind(kind, each) for each in value]
        return value if value is None or isinstance(value, Declared) else kind_of(kind).object_of(value)

    kinds = {name: member.of for name, member in members(of).items() if member.of}
    return {name: of_kind(kinds[name], value) if name in kinds else value for name, value in values.items()}


def members_and_options(of: type[Declared], more: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments divided into members of an object and the CDK's own options."""
    parts = {name: value for name, value in more.items() if name in members(of) and name not in settings_of(of)}
    return as_objects(of, parts), {name: value for name, value in more.items() if name not in parts}


def _texts_and_keys(obj: Declared) -> Iterator[tuple[str, str]]:
    for name in members(type(obj)):
        value = getattr(obj, name)
        for each in value if isinstance(value, tuple) else [value]:
            if isinstance(each, Declared):
                yield from _texts_and_keys(each)
            elif isinstance(each, str):
                yield key_of(name), each
