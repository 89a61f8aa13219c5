"""Objects that are looked up in the environment by their tags, while a template is made.

    vpc = lookup_vpc(stack, {"department": "sales", "stage": "prod"})
    topic = lookup(Topic, stack, {"department": "sales"})

Exactly one resource of the type has to have all of these tags in the stack's account and region. What was found is
kept in the context file, so that the next run finds the same without asking. Nothing holds it: its owner can delete it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast
from urllib.parse import urlencode

from strongref.errors import StrongRefError
from strongref.lookup.attributes import attribute
from strongref.lookup.errors import NoSuchAttributeError
from strongref.lookup.resource_types import resource_type_of
from strongref_objects.context_file import CONTEXT_FILE, LOOKUP, ContextKey
from strongref_objects.errors import NoPlaceError
from strongref_objects.identity import frozen
from strongref_objects.identity_errors import NotToldError
from strongref_objects.json_objects import JsonSerializationContext, from_json
from strongref_objects.lookups_errors import NotTaggedError, NowhereError, SeveralPartsError
from strongref_objects.lookups_network import Network
from strongref_objects.lookups_tagged import check_tags, find_tagged
from strongref_objects.members import REF, Member, key_of, lacking, members, read, write
from strongref_objects.naming import json_key
from strongref_objects.once import Made
from strongref_objects.synthesis import Synthesis
from strongref_objects.types import ApplicationLoadBalancer, Listener, SecurityGroup, Vpc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from strongref.aws.cloud_control import Resource
    from strongref.lookup.reader import CloudControl, ResourceReader, Tagging
    from strongref_objects.base import Target
    from strongref_objects.declaring import Declared
    from strongref_objects.synthesis import Home
    from strongref_toolkit.toolbox import Toolbox

D = TypeVar("D", bound="Declared")

_UNTOLD = frozenset({"AWS::IAM::Role"})
"""Types that the tagging API tells nothing of (AWS: Resource Groups Tagging API, supported services)."""

_GLOBAL = frozenset({"AWS::Route53::HostedZone"})
"""Types of global services, which it tells in one region only."""


class Place(Protocol):
    """Where objects are looked up, and for whom: a stack, or an `Environment`.

    Attributes:
        target: tells the account and region.
        synthesis: the run.
        made: what was looked up for it already.
    """

    target: Target
    synthesis: Synthesis
    made: Made


class _Nameless(NamedTuple):
    """As much of a `Target` as a look-up asks for."""

    name: str
    region: str
    account: str | None


class Environment:
    """An account and region where objects are looked up without a stack: for scripts."""

    def __init__(
        self,
        region: str,
        account: str | None = None,
        *,
        context_file: str | Path = CONTEXT_FILE,
        toolbox: Toolbox | None = None,
        role: str | None = None,
    ) -> None:
        """Make one; nothing is asked.

        Args:
            region: where objects are.
            account: whose they are; by default the caller's own.
            context_file: where what was found is kept.
            toolbox: as in `Synthesis`.
            role: the same.
        """
        self.target = cast("Target", _Nameless("the environment", region, account))
        self.synthesis = Synthesis(context_file, toolbox, role)
        self.made = Made()


class Here(NamedTuple):
    """Cloud Control and the tagging API of one account and region, and the reading of them that asks nothing twice."""

    cloudcontrol: CloudControl
    tagging: Tagging
    reading: ResourceReader


def lookup_vpc(place: Place, tags: Mapping[str, str]) -> Vpc:
    """The VPC that has all of these tags, with its subnets by tier, its route tables and its NAT gateways.

    Args:
        place: a stack, in whose account and region it is looked for; or an `Environment`.
        tags: that it has, and no other VPC.

    Raises:
        StrongRefError: as `lookup`.
    """
    return lookup(Vpc, place, tags)


def lookup(of: type[D], place: Place, tags: Mapping[str, str], **rest: Any) -> D:  # noqa: ANN401 (values, lists and objects)
    """The object of a type that has all of these tags; the same one each time.

    Args:
        of: its type.
        place: as in `lookup_vpc`.
        tags: that it has, and no other resource of its type.
        **rest: what Cloud Control does not tell of it, by the members' names.

    Raises:
        NoSuchResourceError: there is none.
        SeveralTaggedError: there are several.
        OtherArnError: there is one, but of another kind.
        WantedError: the tags cannot be looked for.
        NoSuchPartError: something was given that there is no member for.
        NotToldError: Cloud Control does not tell everything, and the rest was not given.
        NotTaggedError: things of this type cannot be found by tags.
        SeveralPartsError: it has several of what an object of the type has one.
        NowhereError: the account or the region is not known.
        StrongRefError: as `find_tagged`, and what else a type's parts need.
    """
    of.check_parts(rest)
    check_tags(of.declared.type_name or of.declared.label, tags)
    what = urlencode(sorted(tags.items()))

    def make() -> D:
        home = _home(of, place)
        kept = _Kept(of, [name for name in members(of) if name not in rest])
        key = ContextKey(LOOKUP, home.account, home.region, _called(of), what)
        entry = place.synthesis.remember(
            key, lambda: kept.written(_find(of, place, home, tags, rest)), is_whole=kept.is_whole
        )
        return of.assembled_by(kept.read(entry).get, rest)

    return place.made.get((LOOKUP, of, what, frozen(rest)), make)


def _called(of: type[Declared]) -> str:
    """What tells a type from others of the same name, without the colons that a key cannot hold there."""
    return f"{of.__name__}/{str(of.declared.type_name).replace('::', '.')}"


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the context file keeps of an object: what was looked up of it, and nothing that the program gave.

    Attributes:
        of: its type.
        names: the members that were looked up.
    """

    of: type[Declared]
    names: Sequence[str]

    def written(self, found: Declared) -> dict[str, Any]:
        """The entry: a value for each member, null for what it lacks."""
        ctx = JsonSerializationContext()
        lacks: dict[str, None] = {}
        for name in self.names:
            value, key = getattr(found, name), key_of(name)
            if value is None:
                lacks[json_key(key)] = None
            else:
                write(ctx, key, members(self.of)[name], value)
        return {**ctx.json, **lacks}

    def read(self, entry: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        """The members' values.

        Raises:
            StrongRefError: it is the entry of a type that has other members.
        """
        tree = entry if isinstance(entry, dict) else {}
        ctx, there = from_json(tree, self.of.declared.label), members(self.of)
        lacks = [name for name in lacking(self.of) if tree.get(json_key(key_of(name)), name) is None]
        return {name: read(ctx, key_of(name), there[name], concrete=True) for name in self.names if name not in lacks}

    def is_whole(self, entry: Any) -> bool:  # noqa: ANN401 (JSON)
        """Whether it can be read; else it is looked up again."""
        try:
            self.read(entry)
        except StrongRefError:
            return False
        return True


def _home(of: type[Declared], place: Place) -> Home:
    try:
        return place.synthesis.home(place.target, of.declared.label)
    except NoPlaceError as error:
        what, stack = error.what, error.stack
    raise NowhereError(of.declared.label, stack, what)


def _here(place: Place, home: Home) -> Here:
    def ask() -> Here:
        from strongref.aws.cloud_control import CloudControlApi  # noqa: PLC0415 (only where something is looked up)
        from strongref.aws.tagging import TaggingApi  # noqa: PLC0415
        from strongref.lookup.reader import ResourceReader  # noqa: PLC0415

        aws = place.synthesis.aws(home.region)
        clients = place.synthesis.clients(home)
        cloudcontrol = CloudControlApi(clients.cloudcontrol, home.region, aws.limiter, aws.clock)
        tagging = TaggingApi(clients.tagging, home.region, aws.limiter, aws.clock)
        return Here(cloudcontrol, tagging, ResourceReader(cloudcontrol))

    found: Here = place.synthesis.once((LOOKUP, home), ask)
    return found


def _find(of: type[D], place: Place, home: Home, tags: Mapping[str, str], rest: Mapping[str, Any]) -> D:
    type_name = of.declared.type_name
    if type_name is None:
        raise NotToldError(of.declared.label, list(members(of)), "tags, since it is no resource")
    if type_name in _UNTOLD:
        raise NotTaggedError(of.declared.label)
    here = _here(place, home._replace(region=_region_of(type_name, home.region)))
    resource = find_tagged(of.declared, here.cloudcontrol, here.tagging, tags, home.account)
    if isinstance(resource, str):
        return of.from_arn(resource, **rest)
    parts: Mapping[str, Any] = {}
    if issubclass(of, Vpc):
        parts = Network(here.cloudcontrol, here.reading, resource).read()
    elif issubclass(of, ApplicationLoadBalancer):
        parts = _of_load_balancer(here, resource, rest)

    def tell(name: str) -> Any:  # noqa: ANN401 (a value, a list or an object)
        return parts[name] if name in parts else _told(resource, members(of)[name])

    return of.assembled_by(tell, rest, "Cloud Control")


def _region_of(type_name: str, region: str) -> str:
    """Where the tagging API tells resources of a type. Of partitions other than AWS's own it is not known to differ."""
    elsewhere = type_name in _GLOBAL and not region.startswith(("cn-", "us-gov-"))
    return "us-east-1" if elsewhere else region


def _told(resource: Resource, member: Member) -> str | None:
    """What Cloud Control says of a member: its attributes are called as those of CloudFormation."""
    if member.attribute == REF:
        return resource.identifier
    name = member.says or member.attribute
    try:
        value = attribute(resource, name) if name else None
    except NoSuchAttributeError:
        return None
    return value.removesuffix(member.dropped) if isinstance(value, str) else None


def _of_load_balancer(here: Here, resource: Resource, rest: Mapping[str, Any]) -> dict[str, Any]:
    """Its security group and listener, where it has one of each.

    Raises:
        SeveralPartsError: it has several of one of them, or none.
    """
    parts: dict[str, Any] = {}
    if "security_group" not in rest:
        groups = [str(each) for each in resource.properties.get("SecurityGroups", ())]
        parts["security_group"] = SecurityGroup(_one(resource, "security_group", groups))
    if "listener" not in rest:
        shape = resource_type_of("AWS::ElasticLoadBalancingV2::Listener")
        listed = here.reading.list_resources(shape, {"LoadBalancerArn": resource.identifier})
        parts["listener"] = Listener(_one(resource, "listener", [each.identifier for each in listed]))
    return parts


def _one(resource: Resource, part: str, there: list[str]) -> str:
    if len(there) != 1:
        raise SeveralPartsError(resource.identifier, part, there)
    return there[0]
