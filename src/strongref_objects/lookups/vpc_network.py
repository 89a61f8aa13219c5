"""A VPC with its subnets, route tables and NAT gateways, as Cloud Control describes them.

Cloud Control lists the resources of a region, not those of a VPC, and may show only their identifiers; then each is
read. So calls grow with the subnets, associations and NAT gateways of the region; if there are more than `READ_MOST` of
a type, none is read. Only default routes are read, and only if a subnet itself does not decide its tier.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from strongref.aws.errors import UnsupportedError
from strongref_objects.base.errors import NoRouteTableError, NotReadableError, TooManyInRegionError
from strongref_objects.lookups.subnet_tiers import NAME_TAG, TIER_TAG, Subnet, by_tier, members_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from strongref.aws.cloud_control import Resource
    from strongref.lookup.reader import CloudControl, ResourceReader
    from strongref_objects.lookups.subnet_tiers import Route

READ_MOST = 300
"""Resources of one type that are read one by one: a minute, at the rate limit of lookups."""

EVERYWHERE = ("0.0.0.0/0", "::/0")

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
            tiers = by_tier(self._subnets(), cache(self._default_routes))
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
        without = [subnet for subnet in subnets if subnet not in own]
        if without:
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
