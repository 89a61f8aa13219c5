"""The tier of a subnet, by the rules of the CDK's own lookup of VPCs. Pure.

A subnet's tag `aws-cdk:subnet-type` names the tier. Without the tag, a subnet is public if it gives its instances
public addresses or has a route to an internet gateway; private if its default route leads to a NAT or transit gateway;
and isolated otherwise (aws-cdk: context provider `vpc-provider`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from strongref_objects.base.errors import BadTierError
from strongref_objects.types import Subnets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

TIER_TAG, NAME_TAG = "aws-cdk:subnet-type", "aws-cdk:subnet-name"

Route = Mapping[str, Any]
"""An `AWS::EC2::Route` as Cloud Control describes it."""


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
    """A subnet's tier; `routes` returns a table's default routes, if the subnet itself does not decide.

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


def by_tier(subnets: Iterable[Subnet], routes: Callable[[str], Iterable[Route]]) -> dict[Tier, list[Subnet]]:
    """The subnets of each tier that has any, in the order of their zones and IDs; as `tier_of`."""
    tiers: dict[Tier, list[Subnet]] = {}
    for subnet in sorted(subnets, key=lambda each: (each.zone, each.subnet_id)):
        tiers.setdefault(tier_of(subnet, routes), []).append(subnet)
    return tiers


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
