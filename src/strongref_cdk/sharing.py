"""Strings and objects of any type that stacks of CDK apps export and import, and constructs made of them."""

from __future__ import annotations

from itertools import chain, count
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from strongref.contract.names import short_hash
from strongref_cdk.apps import at, exporting, importing, stack_of
from strongref_cdk.contexts import DeserializationContext
from strongref_cdk.errors import OtherOptionsError
from strongref_cdk.kinds import Place, as_objects, as_token, kind_of, with_tokens
from strongref_cdk.same import same
from strongref_objects import lookups
from strongref_objects.base import ResolveType
from strongref_objects.channels import CloudFormation, CrossRegion
from strongref_objects.members import members
from strongref_objects.variables import EnvironmentSerializationContext, one_variable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from constructs import Construct

    from strongref_cdk.kinds import Kind
    from strongref_objects.base import DeserializationContext as Context
    from strongref_objects.base import Serializable
    from strongref_objects.channels import Channel
    from strongref_objects.declaring import Declared
    from strongref_objects.once import Made
    from strongref_objects.stack import Stack


def export_string(
    scope: Construct, name: str, value: str, *, via: Channel | None = None, description: str | None = None
) -> None:
    """Export a value from the stack that a construct is in.

    Args:
        scope: the construct; in a nested stack, the stack that this one is nested in exports it.
        name: what others import it by.
        value: text, or a token.
        via: how: `CrossRegion(…)` or `Parameters(…)`; CloudFormation's exports by default.
        description: for people.

    Raises:
        ConstructError: the name stands for another value already, or cannot be carried.
    """
    with at(scope), exporting(scope, name, via) as stack:
        stack.export_string(name, value, description=description, via=via)


def export_string_list(
    scope: Construct, name: str, value: Sequence[str], *, via: Channel | None = None, description: str | None = None
) -> None:
    """Export a list of values; as `export_string`."""
    with at(scope), exporting(scope, name, via) as stack:
        stack.export_string_list(name, value, description=description, via=via)


def export_object(
    scope: Construct, name: str, obj: Serializable, *, via: Channel | None = None, description: str | None = None
) -> None:
    """Export an object, whole; as `export_string`.

    Args:
        scope: as there; often the object itself.
        name: as there.
        obj: anything with `serialize(ctx)`: a ready type's object, or a construct of the program's own.
        via: as there.
        description: of all values that have none of their own.
    """
    with at(scope), exporting(scope, name, via) as stack:
        stack.export_object(name, obj, description=description, via=via)


def import_string(
    scope: Construct,
    name: str,
    *,
    type: ResolveType = ResolveType.SYNTHESIS,  # noqa: A002 (the design's word)
    weak: bool = False,
    via: Channel | None = None,
) -> str:
    """A value that another stack exports, of this app or of any other.

    Args:
        scope: a construct in the stack that imports it.
        name: what it is exported by.
        type: `SYNTHESIS`: the value itself, looked up now; `DEPLOYMENT`: a token.
        weak: whether it may be changed and dropped while this stack uses it.
        via: as it was exported: `CrossRegion(stack=…, region=…)`, `Parameters(…)`; CloudFormation's exports by default.

    Raises:
        ConstructError: there is none of that name, or it cannot be imported so.
    """
    with at(scope), importing(scope, name, via, weak=weak) as found:
        return as_token(str(found.stack.import_string(found.name, type=type, weak=weak, via=via)))


def import_string_list(
    scope: Construct,
    name: str,
    *,
    type: ResolveType = ResolveType.SYNTHESIS,  # noqa: A002 (the design's word)
    weak: bool = False,
    via: Channel | None = None,
) -> list[str]:
    """A list of values that another stack exports; as `import_string`. At deployment, by `CrossRegion` alone."""
    with at(scope), importing(scope, name, via, weak=weak) as found:
        items: Any = found.stack.import_string_list(found.name, type=type, weak=weak, via=via)
        return list(items)


def import_object(
    scope: Construct,
    name: str,
    *,
    type: ResolveType = ResolveType.SYNTHESIS,  # noqa: A002 (the design's word)
    weak: bool = False,
    via: Channel | None = None,
) -> DeserializationContext:
    """Where an object is read from that another stack exports; as `import_string`.

    The same for the same object. Its `scope` is a construct in the stack, where the object's own can be made.
    """
    with at(scope), importing(scope, name, via, weak=weak) as found:
        return DeserializationContext.of(found.stack.import_object(found.name, type=type, weak=weak, via=via))


def deserialize(ctx: Context, of: type[Declared], **options: Any) -> Any:  # noqa: ANN401 (a construct of the CDK)
    """The construct of a ready type that is read from a context: the same each time.

    Args:
        ctx: as `import_object` gives it, or its `read_object`.
        of: the type, as in `strongref_objects.types.SecurityGroup`.
        **options: of the CDK's own function for it, as in `mutable=False`.

    Raises:
        ConstructError: it cannot be read, or made.
    """
    with at(ctx.scope):
        return read_construct(kind_of(of), ctx, Place(ctx.scope, ctx.id), options)


def lookup(scope: Construct, of: type[Declared], tags: Mapping[str, str], **more: Any) -> Any:  # noqa: ANN401 (as above)
    """The construct of the only resource of a ready type that has all of these tags, in the stack's account and region.

    Args:
        scope: a construct in the stack.
        of: the type, as in `strongref_objects.types.Topic`.
        tags: that it has.
        **more: what cannot be looked up of it, by its names there; or options, as in `deserialize`.

    Raises:
        ConstructError: there is none, or several.
    """
    with at(scope):
        parts, options = divided(of, more)
        kind_of(of).check(options)
        stack = stack_of(scope)
        obj = lookups.lookup(of, stack, tags, **parts)
        place = Place(stack.scope, f"lookup{of.__name__}:{urlencode(sorted(tags.items()))}", is_here=True)
        return construct_named(kind_of(of), stack, obj, place, options)


def object_of(construct: Any, of: type[Declared], **parts: Any) -> Declared:  # noqa: ANN401 (constructs and values)
    """The object that a construct of the CDK is: to be written as a part of another one, as JSON, or as variables.

    Args:
        construct: it.
        of: its type, as in `strongref_objects.types.SecurityGroup`.
        **parts: as in the exporting functions.

    Raises:
        ConstructError: the construct does not tell what is needed.
    """
    with at(construct):
        return kind_of(of).object_of(construct, **parts)


def variables(scope: Construct, name: str, obj: Serializable, *, one: bool = False) -> dict[str, str]:
    """Environment variables that hold an object, for the `environment` of a function or a container.

    Args:
        scope: a construct in the stack.
        name: what the variables' names begin with.
        obj: as in `export_object`.
        one: whether the whole object is in a single variable, as JSON.

    Raises:
        ConstructError: it cannot be written so.
    """
    with at(scope):
        target = stack_of(scope).target
        if one:
            found = one_variable(name, obj, target)
        else:
            ctx = EnvironmentSerializationContext(name, target)
            obj.serialize(ctx)
            found = ctx.variables
        return {key: value if isinstance(value, str) else str(target.stand_in(value)) for key, value in found.items()}


def read_construct(kind: Kind[Any], ctx: Context, place: Place, options: Mapping[str, Any]) -> Any:  # noqa: ANN401 (as above)
    """The construct that is read from a context; errors as theirs."""
    kind.check(options)
    obj = with_tokens(kind.declared.deserialize(ctx), stack_of(ctx.scope).target)
    return _once(
        ctx.made, ("construct", kind), ctx.id, options, lambda: kind.construct(_free(kind, place), obj, **options)
    )


def construct_named(kind: Kind[Any], stack: Stack, obj: Declared, place: Place, options: Mapping[str, Any]) -> Any:  # noqa: ANN401 (as above)
    """The construct of an object that is named by what it is found by: the same for the same object."""
    kind.check(options)
    tokens = with_tokens(obj, stack.target)
    what = ("construct", kind, obj)
    return _once(stack.made, what, place.id, options, lambda: kind.construct(_free(kind, place), tokens, **options))


def place_of(ctx: Context, via: Channel | None) -> Place:
    """Where the construct of an imported object is made, and where the resource is."""
    if isinstance(via, CrossRegion):
        return Place(ctx.scope, ctx.id, via.region, via.account)
    return Place(ctx.scope, ctx.id, is_here=isinstance(via or CloudFormation(), CloudFormation))


def divided(of: type[Declared], more: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments that are members of an object, and the CDK's own options."""
    parts = {name: value for name, value in more.items() if name in members(of)}
    return as_objects(of, parts), {name: value for name, value in more.items() if name not in parts}


def named(prefix: str, name: str, stack: Stack) -> Place:
    """Where the construct of what is named by this is made; a token's characters cannot stand in its id."""
    text = short_hash(str(stack.target.canonical(name))) if stack.target.is_unresolved(name) else name
    return Place(stack.scope, f"{prefix}:{text}")


class _Constructed(NamedTuple):
    construct: Any
    options: Mapping[str, Any]


def _once(
    made: Made,
    what: tuple[Any, ...],
    name: str,
    options: Mapping[str, Any],
    make: Callable[[], Any],
) -> Any:  # noqa: ANN401 (as above)
    found = made.get(what, lambda: _Constructed(make(), dict(options)))
    names = {*found.options, *options}
    differing = {key for key in names if not same(found.options.get(key), options.get(key))}
    if differing:
        raise OtherOptionsError(name, sorted(differing))
    return found.construct


def _free(kind: Kind[Any], place: Place) -> Place:
    """The same place with an id that nothing has there: one object may be read as two types."""
    more = (f"{place.id}-{number}" for number in count(2))
    ids = chain([place.id, f"{place.id}-{kind.declared.__name__}"], more)
    return place._replace(id=next(each for each in ids if not place.scope.node.try_find_child(each)))
