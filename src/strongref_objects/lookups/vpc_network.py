"""A VPC with its subnets, route tables and NAT gateways, as Cloud Control describes them.

Cloud Control lists the resources of a region, not those of a VPC, and may show only their identifiers; then each is
read. So calls grow with the subnets, associations and NAT gateways of the region; if there are more than `READ_MOST` of
a type, none is read. Only default routes are read, and only if a subnet itself does not decide its tier.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from strongref.aws.errors import UnsupportedError
from strongref.grouping import grouped
from strongref_objects.base.errors import BadTierError, NoRouteTableError, NotReadableError, TooManyInRegionError
from strongref_objects.types import Subnets

if TYPE_CHECKING:
    from strongref.aws.cloud_control import Resource
    from strongref.lookup.reader import CloudControl, ResourceReader

READ_MOST = 300
"""Resources of one type that are read one by one: a minute, at the rate limit of lookups."""

EVERYWHERE = ("0.0.0.0/0", "::/0")

TIER_TAG, NAME_TAG = "aws-cdk:subnet-type", "aws-cdk:subnet-name"

Route = Mapping[str, Any]
"""An `AWS::EC2::Route` as Cloud Control describes it."""

_SUBNET = "AWS::EC2::Subnet"
_ASSOCIATION = "AWS::EC2::SubnetRouteTableAssociation"
_TABLE = "AWS::EC2::RouteTable"
_ROUTE = "AWS::EC2::Route"
_NAT = "AWS::EC2::NatGateway"


class VpcNetwork:
    """The resources in a VPC, listed by Cloud Control; `reading` reads single ones."""

    def __init__(self, cloudcontrol: CloudControl, reading: ResourceReader, vpc: Resource) -> None:
        self._cloudcontrol = cloudcontrol
        self._reading = reading
        self._vpc = vpc

    def read(self) -> dict[str, Any]:
        """The members of the `Vpc` by name: those that it has.

        Raises:
            BadTierError: a subnet's tag names a tier that does not exist.
            NoRouteTableError: the route table of a subnet is not known.
            TooManyInRegionError: the region has too many resources of a type.
            NotReadableError: Cloud Control does not list or read resources of a type.
            StrongRefError: Cloud Control cannot be read.
        """
        try:
            subnets = sorted(self._subnets(), key=lambda each: (each.zone, each.subnet_id))
            routes = cache(self._default_routes)
            tiers = grouped((tier_of(each, routes), each) for each in subnets)
            gateways = sorted(each["NatGatewayId"] for each in self._inside(_NAT))
        except UnsupportedError as error:
            raise NotReadableError(*error.args) from None
        return {
            "vpc_id": self._vpc.identifier,
            "vpc_cidr_block": self._vpc.properties.get("CidrBlock"),
            **{name: value for tier, found in tiers.items() for name, value in members_of(tier, found).items()},
            "nat_gateway_ids": gateways or None,
        }

    def _subnets(self) -> list[Subnet]:
        found = list(self._inside(_SUBNET))
        tables = self._tables([each["SubnetId"] for each in found])
        return [
            Subnet(
                each["SubnetId"],
                each["AvailabilityZone"],
                tables[each["SubnetId"]],
                tags.get(TIER_TAG),
                is_open=bool(each.get("MapPublicIpOnLaunch")),
                name=tags.get(NAME_TAG),
                cidr_block=each.get("CidrBlock"),
            )
            for each in found
            for tags in [{tag["Key"]: tag["Value"] for tag in each.get("Tags", ())}]
        ]

    def _tables(self, subnets: Iterable[str]) -> dict[str, str]:
        """The route table of each subnet: its own, or the VPC's main one."""
        listed = [each.properties for each in self._each(_ASSOCIATION, ("SubnetId", "RouteTableId"))]
        own = {each["SubnetId"]: each["RouteTableId"] for each in listed if each.get("SubnetId")}
        if without := [subnet for subnet in subnets if subnet not in own]:
            tables = [each["RouteTableId"] for each in self._inside(_TABLE)]
            main = [each["RouteTableId"] for each in listed if not each.get("SubnetId")]  # Not always listed.
            candidates = [table for table in tables if table in main] or tables
            if len(candidates) != 1:
                raise NoRouteTableError(without, self._vpc.identifier, tables)
            own |= dict.fromkeys(without, candidates[0])
        return own

    def _default_routes(self, table: str) -> tuple[Route, ...]:
        found = (self._reading.get_if_exists(_ROUTE, f"{table}|{destination}") for destination in EVERYWHERE)
        return tuple(each.properties for each in found if each)

    def _inside(self, type_name: str) -> Iterator[Mapping[str, Any]]:
        """The properties of each resource of a type that is in the VPC."""
        mine = self._vpc.identifier
        for each in self._each(type_name, (), lambda listed: listed.get("VpcId", mine) == mine):
            if each.properties.get("VpcId") == mine:
                yield each.properties

    def _each(
        self,
        type_name: str,
        needed: Collection[str],
        may_be: Callable[[Mapping[str, Any]], bool] = lambda _listed: True,
    ) -> Iterator[Resource]:
        """Every resource of a type in the region that may be of interest by its properties in the list.

        A resource is not read if the list shows all needed properties. If none are needed, each is read.
        """
        listed = [each for each in self._cloudcontrol.each(type_name, {}) if may_be(each.properties)]
        unread = [each for each in listed if not needed or any(name not in each.properties for name in needed)]
        if len(unread) > READ_MOST:
            raise TooManyInRegionError(type_name, f"VpcId {self._vpc.identifier}", len(unread), READ_MOST)
        for each in listed:
            found = self._reading.get_if_exists(type_name, each.identifier) if each in unread else each
            if found:  # It may have been deleted since.
                yield found


class Tier(StrEnum):
    """What can reach a subnet, and what it can reach."""

    PUBLIC = "Public"
    PRIVATE = "Private"
    ISOLATED = "Isolated"


@dataclass(frozen=True, slots=True)
class Subnet:
    subnet_id: str
    zone: str  # its availability zone
    route_table: str  # the ID of the route table that it uses
    tag: str | None = None  # the value of its tag `aws-cdk:subnet-type`; None if it has none
    is_open: bool = False  # whether it gives its instances public addresses
    name: str | None = None  # the name of its group: its tag `aws-cdk:subnet-name`; None if it has none
    cidr_block: str | None = None  # its IPv4 addresses; None if it has none


def tier_of(subnet: Subnet, routes: Callable[[str], Iterable[Route]]) -> Tier:
    """A subnet's tier, by the rules of the CDK's own lookup of VPCs (aws-cdk: context provider `vpc-provider`).

    The subnet's tag names it. Without the tag, a subnet is public if it gives its instances public addresses or has a
    route to an internet gateway; private if its default route leads to a NAT or transit gateway; and isolated
    otherwise. `routes` returns a table's default routes, if the subnet itself does not decide.

    Raises:
        BadTierError: its tag names a tier that does not exist.
    """
    if subnet.tag is not None:
        if subnet.tag not in list(Tier):
            raise BadTierError(subnet.subnet_id, TIER_TAG, subnet.tag, list(Tier))
        return Tier(subnet.tag)
    if subnet.is_open:
        return Tier.PUBLIC
    default = list(routes(subnet.route_table))
    if any(str(route.get("GatewayId", "")).startswith("igw-") for route in default):
        return Tier.PUBLIC
    ipv4 = [route for route in default if route.get("DestinationCidrBlock") == "0.0.0.0/0"]
    has_gateway = any(route.get("NatGatewayId") or route.get("TransitGatewayId") for route in ipv4)
    return Tier.PRIVATE if has_gateway else Tier.ISOLATED


def members_of(tier: Tier, subnets: Sequence[Subnet]) -> dict[str, Any]:
    """The members of a `Vpc` that describe a tier, by name; lists that not all of its subnets have are left out."""
    more = {"names": [each.name for each in subnets], "ipv4_cidr_blocks": [each.cidr_block for each in subnets]}
    prefix = tier.value.lower()
    return {
        f"{prefix}_subnets": Subnets(
            [each.subnet_id for each in subnets],
            [each.zone for each in subnets],
            [each.route_table for each in subnets],
        ),
        **{f"{prefix}_subnet_{name}": items for name, items in more.items() if all(items)},
    }
