"""Finds the object that has some tags: by the tagging API, and by Cloud Control for everything that belongs to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from strongref.arns import Arn
from strongref.aws.errors import NoSuchResourceError, UnsupportedError
from strongref.lookup.arn_formats import is_of_type
from strongref.lookup.attributes import attribute
from strongref.lookup.errors import AmbiguousError, NoSuchAttributeError, ResourceQueryError, TooManyError
from strongref.lookup.query import ResourceQuery
from strongref.lookup.resource_types import resource_type_of
from strongref.untyped import AnyJson
from strongref_objects.base import errors
from strongref_objects.base.values import kind_of_value
from strongref_objects.lookups.vpc_network import VpcNetwork
from strongref_objects.synthesis.context_file import LOOKUP
from strongref_objects.types import ApplicationLoadBalancer, Declared, Listener, SecurityGroup, Vpc
from strongref_objects.types.arn_forms import ArnForm, is_unresolved
from strongref_objects.types.members import REF, Member, members

if TYPE_CHECKING:
    from strongref.aws.cloud_control import Resource
    from strongref.lookup.reader import CloudControl, ResourceReader, Tagging
    from strongref_objects.synthesis import Home, Synthesis
    from strongref_objects.types.declared import Declaration

D = TypeVar("D", bound="Declared")

UNTAGGED = frozenset({"AWS::IAM::Role"})
"""Types that the tagging API does not list (AWS: Resource Groups Tagging API, supported services)."""

GLOBAL = frozenset({"AWS::Route53::HostedZone"})
"""Types of global services, which it lists in one region only. In other partitions it is not known to differ."""


def find_object(of: type[D], synthesis: Synthesis, home: Home, tags: Mapping[str, str], given: Mapping[str, Any]) -> D:
    """The object of a type that has all of these tags; arguments and errors as `lookups.lookup`."""
    type_name = of.declared.type_name
    if type_name is None:
        raise errors.MissingMembersError(of.declared.label, list(members(of)), "tags, because it is not a resource")
    if type_name in UNTAGGED:
        raise errors.NotTaggedError(of.declared.label)
    if type_name in GLOBAL and not home.region.startswith(("cn-", "us-gov-")):
        home = home._replace(region="us-east-1")
    cloudcontrol, tagging, reading = _apis(synthesis, home)
    resource = find_tagged(of.declared, cloudcontrol, tagging, tags, home.account)
    if isinstance(resource, str):
        return of.from_arn(resource, **given)
    parts: Mapping[str, Any] = {}
    if issubclass(of, Vpc):
        parts = VpcNetwork(cloudcontrol, reading, resource).read()
    elif issubclass(of, ApplicationLoadBalancer):
        parts = _parts_of_load_balancer(reading, resource, given)
    elif issubclass(of, SecurityGroup):
        parts = _outbound(resource)

    def get(name: str) -> AnyJson:
        return parts[name] if name in parts else _value(resource, members(of)[name])

    return of.assembled_by(get, given, "Cloud Control")


def _apis(synthesis: Synthesis, home: Home) -> tuple[CloudControl, Tagging, ResourceReader]:
    """Cloud Control and the tagging API of one account and region, and a reader that reads nothing twice."""

    def create() -> tuple[CloudControl, Tagging, ResourceReader]:
        from strongref.aws.cloud_control import CloudControlApi, TaggingApi  # noqa: PLC0415 (lookups only)
        from strongref.lookup.reader import ResourceReader  # noqa: PLC0415

        aws = synthesis.aws(home.region)
        clients = aws.clients(aws.where(home.region, home.account))
        cloudcontrol = CloudControlApi(clients.cloudcontrol, home.region, aws.limiter, aws.clock)
        tagging = TaggingApi(clients.tagging, home.region, aws.limiter, aws.clock)
        return cloudcontrol, tagging, ResourceReader(cloudcontrol)

    return synthesis.once((LOOKUP, home), create)


def _value(resource: Resource, member: Member) -> str | None:
    """Cloud Control's value of a member: its attributes have the names of CloudFormation's."""
    if member.attribute == REF:
        return resource.identifier
    name = member.says or member.attribute
    try:
        value = attribute(resource, name) if name else None
    except NoSuchAttributeError:
        return None
    if member.is_setting and isinstance(value, int):
        return str(value)
    return value.removesuffix(member.dropped) if isinstance(value, str) else None


def _outbound(resource: Resource) -> dict[str, Any]:
    """Whether a security group allows all outbound traffic, as AWS's own rule of a new group does."""
    rules = resource.properties.get("SecurityGroupEgress")
    if rules is None:
        return {}
    allows_all = any((each.get("IpProtocol"), each.get("CidrIp")) == ("-1", "0.0.0.0/0") for each in rules)
    return {"allow_all_outbound": None if allows_all else False}


def _parts_of_load_balancer(reading: ResourceReader, resource: Resource, given: Mapping[str, Any]) -> dict[str, Any]:
    """Its security group and listener, unless the caller gave them."""
    parts: dict[str, Any] = {}
    if "security_group" not in given:
        groups = [str(each) for each in resource.properties.get("SecurityGroups", ())]
        parts["security_group"] = SecurityGroup(_only(resource, "security_group", groups))
    if "listener" not in given:
        shape = resource_type_of("AWS::ElasticLoadBalancingV2::Listener")
        listed = reading.list_resources(shape, {"LoadBalancerArn": resource.identifier})
        parts["listener"] = Listener(_only(resource, "listener", [each.identifier for each in listed]))
    return parts


def _only(resource: Resource, part: str, candidates: list[str]) -> str:
    if len(candidates) != 1:
        raise errors.SeveralPartsError(resource.identifier, part, candidates)
    return candidates[0]


TAGS_MOST = 50
"""Tags in one call (AWS: GetResources, TagFilters)."""


def check_tags(what: str, tags: Mapping[str, str]) -> None:
    """Raises `ResourceQueryError` if the caller's tags are not valid. `what` is looked up."""
    if not isinstance(tags, Mapping):
        raise ResourceQueryError(what, f"the tags must be a map of names to values, got {kind_of_value(tags)}")
    if len(tags) > TAGS_MOST:
        raise ResourceQueryError(what, f"there can be at most {TAGS_MOST} tags, got {len(tags)}")
    for name, value in tags.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise ResourceQueryError(
                what, f"the {'value' if isinstance(name, str) else 'name'} of a tag must be a string"
            )
        if is_unresolved(name) or is_unresolved(value):
            problem = "tags must be known while the template is made, not intrinsic functions or tokens"
            raise ResourceQueryError(what, problem)


def find_tagged(
    declared: Declaration, cloudcontrol: CloudControl, tagging: Tagging, tags: Mapping[str, str], account: str
) -> Resource | str:
    """The resource that has all of these tags; only its ARN if Cloud Control does not read such resources.

    Raises:
        TooManyTaggedError: too many resources have them.
        NotReadableError: Cloud Control does not read such resources, and the type has no ARN form.
        StrongRefError: as `lookups.lookup`, and as `lookup.search.Finder.find`.
    """
    from strongref.lookup.search import Finder  # noqa: PLC0415 (lookups only)

    fitting = _Fitting(tagging, declared.arn)
    wanted = ResourceQuery(str(declared.type_name), tags=tags, account=account)
    try:
        return Finder(cloudcontrol, fitting).find(wanted)
    except NoSuchResourceError:
        shape = resource_type_of(wanted.type_name)
        others = [text for text in fitting.others if (arn := Arn.parse(text)) and is_of_type(arn, shape)]
        if declared.arn and others and not fitting.found:
            raise errors.OtherArnError(declared.label, others[0], declared.arn.text) from None
        raise
    except AmbiguousError as error:
        raise errors.SeveralTaggedError(*error.args) from None
    except TooManyError as error:
        raise errors.TooManyTaggedError(*error.args) from None
    except UnsupportedError as error:
        if declared.arn and len(fitting.found) == 1:
            return fitting.found[0]
        if declared.arn and fitting.found:
            raise errors.SeveralTaggedError(wanted.type_name, wanted.describe(), fitting.found) from None
        raise errors.NotReadableError(*error.args) from None


class _Fitting:
    """`lookup.base.Tagging`: only the ARNs that fit the type's form.

    Some of CloudFormation's types are wider than those of objects: it has one type for all kinds of load balancers. So
    resources of another kind are left out before several candidates become an error.
    """

    def __init__(self, tagging: Tagging, form: ArnForm | None) -> None:
        self.found: list[str] = []
        self.others: list[str] = []  # those that do not fit
        self._tagging = tagging
        self._form = form

    def arns(self, resource_types: Iterable[str], tags: Mapping[str, str]) -> Iterator[str]:
        for text in self._tagging.arns(resource_types, tags):
            arn = Arn.parse(text)
            if self._form is None or (arn and self._form.fits(arn)):
                self.found.append(text)
                yield text
            else:
                self.others.append(text)
