"""Strings and objects of any type that stacks of CDK apps export and import, and constructs made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from strongref.untyped import Untyped
from strongref_cdk.apps import at, exporting, importing, stack_of
from strongref_cdk.cdk_values import as_token
from strongref_cdk.construct_kinds import kind_of
from strongref_objects.base import DeserializationContext, ObjectCache, ResolveType, Serializable
from strongref_objects.channels.texts import EnvironmentSerializationContext, one_variable

if TYPE_CHECKING:
    from constructs import Construct

    from strongref_objects.channels import Channel
    from strongref_objects.types import Declared


class ConstructContext:
    """`strongref_objects.base.DeserializationContext` whose values are texts and tokens.

    Its attributes are those of that context. Use `of`, which returns the same for the same object.
    """

    scope: Construct
    id: str
    made: ObjectCache

    def __init__(self, context: DeserializationContext) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Untyped:
        return getattr(self._context, name)

    @classmethod
    def of(cls, context: DeserializationContext) -> ConstructContext:
        """The context that reads the same object."""
        return context.made.get(cls, lambda: cls(context))

    def read_string(self, key: str, *, allow_unresolved: bool = True) -> str:
        """A value or a token.

        Args:
            key: as it was written.
            allow_unresolved: False if the program needs the value itself.

        Raises:
            ConstructError: there is none, or it cannot be read.
        """
        with at(self.scope):
            return as_token(str(self._context.read_string(key, allow_unresolved=allow_unresolved)))

    def read_string_list(self, key: str, *, allow_unresolved: bool = False, held: bool = True) -> list[str]:
        """A list of values, or a token for a list; as `read_string`. `held` is as it was written."""
        with at(self.scope):
            found: Any = self._context.read_string_list(key, allow_unresolved=allow_unresolved, held=held)
            return list(found)

    def read_setting(self, key: str) -> str | None:
        """How the object was made; None if that is unknown, or was not written; as `read_string`."""
        with at(self.scope):
            return self._context.read_setting(key)

    def read_object(self, key: str) -> ConstructContext:
        """The context of the object below this key; as `read_string`."""
        with at(self.scope):
            return self.of(self._context.read_object(key))


def export_string(
    scope: Construct, name: str, value: str, *, via: Channel | None = None, description: str | None = None
) -> None:
    """Export a value from the stack of a construct.

    Args:
        scope: the construct; a nested stack's values are exported by the stack that it is nested in.
        name: other stacks import it by this name.
        value: text, or a token.
        via: the channel: `CrossRegion(…)` or `Parameters(…)`; CloudFormation's exports by default.
        description: for people.

    Raises:
        ConstructError: the name stands for another value, or the channel cannot carry it.
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
    """Export an object with all its parts; as `export_string`. The scope is often the object itself.

    An object is anything with `serialize(ctx)`: one of a ready type, or a construct of the program's own. The
    description applies to all of its values that have none of their own.
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
    """Import a value that another stack exports, of this app or any other.

    Args:
        scope: a construct in the importing stack.
        name: of the export.
        type: `SYNTHESIS`: the value itself, looked up now; `DEPLOYMENT`: a token.
        weak: whether it may be changed and deleted while this stack uses it.
        via: as for the export: `CrossRegion(stack=…, region=…)`, `Parameters(…)`; CloudFormation's exports by default.

    Raises:
        ConstructError: there is no export of that name, or it cannot be imported this way.
    """
    with at(scope), importing(scope, name, via, weak=weak) as (stack, spelled):
        return as_token(str(stack.import_string(spelled, type=type, weak=weak, via=via)))


def import_string_list(
    scope: Construct,
    name: str,
    *,
    type: ResolveType = ResolveType.SYNTHESIS,  # noqa: A002 (the design's word)
    weak: bool = False,
    via: Channel | None = None,
) -> list[str]:
    """Import a list of values that another stack exports; as `import_string`. At deployment only by `CrossRegion`."""
    with at(scope), importing(scope, name, via, weak=weak) as (stack, spelled):
        items: Any = stack.import_string_list(spelled, type=type, weak=weak, via=via)
        return list(items)


def import_object(
    scope: Construct,
    name: str,
    *,
    type: ResolveType = ResolveType.SYNTHESIS,  # noqa: A002 (the design's word)
    weak: bool = False,
    via: Channel | None = None,
) -> ConstructContext:
    """Where an object is read from that another stack exports; as `import_string`.

    The same for the same object. Its `scope` is a construct in the stack, the parent for the object's own construct.
    """
    with at(scope), importing(scope, name, via, weak=weak) as (stack, spelled):
        return ConstructContext.of(stack.import_object(spelled, type=type, weak=weak, via=via))


def deserialize(ctx: DeserializationContext, of: type[Declared], **options: Any) -> Construct:
    """The construct of a ready type that is read from a context: the same each time.

    Args:
        ctx: from `import_object`, or its `read_object`.
        of: the type, such as `strongref_objects.types.SecurityGroup`.
        **options: of the CDK's own function for it, as in `mutable=False`.

    Raises:
        ConstructError: it cannot be read, or made.
    """
    with at(ctx.scope):
        return kind_of(of).imported(ctx, options)


def lookup(scope: Construct, of: type[Declared], tags: Mapping[str, str], **more: Any) -> Construct:
    """The construct with these tags: `lookup(stack, Topic, tags)` is the same as `lookup_topic(stack, tags)`."""
    with at(scope):
        return kind_of(of).lookup(scope, tags, **more)


def object_of(construct: Construct, of: type[Declared], **parts: Any) -> Declared:
    """The object of a construct: to write it as a part of another object, as JSON, or as variables.

    Args:
        construct: the construct.
        of: its type, such as `strongref_objects.types.SecurityGroup`.
        **parts: as in the exporting functions.

    Raises:
        ConstructError: the construct does not have everything that belongs to the object.
    """
    with at(construct):
        return kind_of(of).object_of(construct, **parts)


def variables(scope: Construct, name: str, obj: Serializable, *, one: bool = False) -> dict[str, str]:
    """Environment variables that contain an object, for the `environment` of a function or a container.

    Args:
        scope: a construct in the stack.
        name: the prefix of the variables.
        obj: as in `export_object`.
        one: whether a single variable contains the object as JSON.

    Raises:
        ConstructError: variables cannot contain it.
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
