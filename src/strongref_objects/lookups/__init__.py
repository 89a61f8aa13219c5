"""Objects that are looked up by their tags, while a template is made or in a script, and kept in the context file.

    vpc = lookup_vpc(stack, {"department": "sales", "stage": "prod"})
    topic = lookup(Topic, stack, {"department": "sales"})

Exactly one resource of the type must have all of these tags in the stack's account and region. The next run finds the
same in the context file, without a call. Nothing holds the resource: its owner can delete it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

from strongref.errors import or_else
from strongref.untyped import AnyJson
from strongref_objects.base import ObjectCache, Target
from strongref_objects.base.errors import a
from strongref_objects.base.names import json_key
from strongref_objects.channels.texts import JsonSerializationContext, from_json
from strongref_objects.lookups.finding import check_tags, find_object
from strongref_objects.plain_target import PlainTarget
from strongref_objects.synthesis import Synthesis
from strongref_objects.synthesis.context_file import CONTEXT_FILE, LOOKUP, ContextKey
from strongref_objects.types import Declared, Vpc
from strongref_objects.types.arn_forms import hashable
from strongref_objects.types.members import key_of, members, optional_members

if TYPE_CHECKING:
    from pathlib import Path

    from strongref_objects.stack import Stack
    from strongref_toolkit.session import ToolSession

__all__ = ["LookupEnvironment", "lookup", "lookup_vpc"]

D = TypeVar("D", bound="Declared")


class LookupEnvironment:
    """An account and region for lookups without a stack, as in scripts."""

    def __init__(
        self,
        region: str,
        account: str | None = None,
        *,
        context_file: str | Path = CONTEXT_FILE,
        toolbox: ToolSession | None = None,
        role: str | None = None,
    ) -> None:
        """Create the environment without a call, with the arguments of `Synthesis`; the caller's account by default."""
        self.target: Target = PlainTarget("the environment", region, account)
        self.synthesis = Synthesis(context_file, toolbox, role)
        self.made = ObjectCache()


def lookup_vpc(scope: Stack | LookupEnvironment, tags: Mapping[str, str]) -> Vpc:
    """The VPC that has all of these tags, with its subnets by tier, route tables and NAT gateways; as `lookup`."""
    return lookup(Vpc, scope, tags)


def lookup(of: type[D], scope: Stack | LookupEnvironment, tags: Mapping[str, str], **given: Any) -> D:
    """The object of a type that has all of these tags; the same one each time.

    Args:
        of: its type.
        scope: a stack, or a `LookupEnvironment`.
        tags: all that are necessary to tell it from others.
        **given: members that Cloud Control does not show.

    Raises:
        NoSuchResourceError: no resource has the tags.
        SeveralTaggedError: several have them.
        OtherArnError: the resource that has them is of another kind.
        ResourceQueryError: the tags are not valid.
        UnknownMembersError: the type has no such member.
        MissingMembersError: a member is missing that Cloud Control does not show.
        NotTaggedError: resources of this type cannot be found by tags.
        SeveralPartsError: it has several parts where an object of the type has one.
        UnknownLocationError: the account or the region is unknown.
        StrongRefError: as `find_tagged`, or from reading the parts of the type.
    """
    of.check_members(given)
    label = of.declared.label
    check_tags(of.declared.type_name or label, tags)
    name = urlencode(sorted(tags.items()))

    def make() -> D:
        home = scope.synthesis.home(scope.target, f"{a(label)} with these tags", is_lookup=True)
        names = [name for name in members(of) if name not in given]
        # Tells the type from others of the same name, without colons, which the key's field cannot contain.
        kind = f"{of.__name__}/{str(of.declared.type_name).replace('::', '.')}"
        key = ContextKey(LOOKUP, home.account, home.region, kind, name)
        value = scope.synthesis.remember(
            key,
            lambda: _entry(find_object(of, scope.synthesis, home, tags, given), names),
            is_complete=lambda entry: or_else(lambda: _members(of, entry, names), None) is not None,
        )
        return of.assembled_by(_members(of, value, names).get, given)

    return scope.made.get((LOOKUP, of, name, hashable(given)), make)


def _entry(found: Declared, names: Sequence[str]) -> dict[str, Any]:
    """What the context file keeps of an object: the members that were looked up, not those that the program gave.

    It has a value for each member, null for those that the object does not have.
    """
    ctx = JsonSerializationContext()
    missing: dict[str, None] = {}
    for name in names:
        member, key, value = members(type(found))[name], key_of(name), getattr(found, name)
        if value is not None:
            member.write(ctx, key, value)
        elif not member.is_setting:
            missing[json_key(key)] = None
    return {**ctx.json, **missing}


def _members(of: type[Declared], entry: AnyJson, names: Sequence[str]) -> dict[str, Any]:
    """The members' values. Raises `StrongRefError` if the entry was written for a type with other members."""
    tree = entry if isinstance(entry, dict) else {}
    ctx, of_type = from_json(tree, of.declared.label), members(of)
    missing = [name for name in optional_members(of) if tree.get(json_key(key_of(name)), name) is None]
    return {name: of_type[name].read(ctx, key_of(name), resolved=True) for name in names if name not in missing}
