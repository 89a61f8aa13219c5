"""Which tier a subnet is of, by the rules of the CDK's own look-up of VPCs. Pure.

A subnet's tag `aws-cdk:subnet-type` says it, where there is one. Else a subnet is public if it gives its instances
public addresses, or has a way to an internet gateway; private if its way to everywhere leads through a NAT or transit
gateway; isolated if there is no such way (aws-cdk: context provider `vpc-provider`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from strongref_objects.lookups_errors import BadTierError
from strongref_objects.types import Subnets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

TIER_TAG = "aws-cdk:subnet-type"

Route = Mapping[str, Any]
"""As Cloud Control describes an `AWS::EC2::Route`."""


class Tier(StrEnum):
    """What can be reached from a subnet, and from where it can be reached."""

    PUBLIC = "Public"
    PRIVATE = "Private"
    ISOLATED = "Isolated"


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet as it was found.

    Attributes:
        subnet_id: its id.
        zone: its availability zone.
        route_table: the id of the route table that it uses.
        tag: the value of its tag that says a tier; None if it has none.
        is_open: whether it gives its instances public addresses.
    """

    subnet_id: str
    zone: str
    route_table: str
    tag: str | None = None
    is_open: bool = False


def tier_of(subnet: Subnet, routes: Callable[[str], Iterable[Route]]) -> Tier:
    """A subnet's tier.

    Args:
        subnet: which.
        routes: the default routes of a route table; asked only where the subnet itself does not tell.

    Raises:
        BadTierError: its tag says one that there is not.
    """
    if subnet.tag is not None:
        if subnet.tag not in list(Tier):
            raise BadTierError(subnet.subnet_id, TIER_TAG, subnet.tag, list(Tier))
        return Tier(subnet.tag)
    if subnet.is_open:
        return Tier.PUBLIC
    leading = list(routes(subnet.route_table))
    if any(str(route.get("GatewayId", "")).startswith("igw-") for route in leading):
        return Tier.PUBLIC
    out = [route for route in leading if route.get("DestinationCidrBlock") == "0.0.0.0/0"]
    ways = any(route.get("NatGatewayId") or route.get("TransitGatewayId") for route in out)
    return Tier.PRIVATE if ways else Tier.ISOLATED


def grouped(subnets: Iterable[Subnet], routes: Callable[[str], Iterable[Route]]) -> dict[Tier, Subnets]:
    """The subnets of each tier that has some, in the order of their zones and ids.

    Raises:
        BadTierError: as `tier_of`.
    """
    tiers: dict[Tier, list[Subnet]] = {}
    for subnet in sorted(subnets, key=lambda each: (each.zone, each.subnet_id)):
        tiers.setdefault(tier_of(subnet, routes), []).append(subnet)
    return {
        tier: Subnets(
            [each.subnet_id for each in found], [each.zone for each in found], [each.route_table for each in found]
        )
        for tier, found in tiers.items()
    }
