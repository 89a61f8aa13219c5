"""A VPC as a construct: its tiers of subnets, as the object lists them and as the CDK does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from aws_cdk import aws_ec2 as ec2

from strongref_cdk.cdk_values import REFUSALS, setting
from strongref_cdk.construct_kinds import ConstructKind
from strongref_cdk.errors import UnevenSubnetsError
from strongref_objects import types

if TYPE_CHECKING:
    from strongref_cdk.apps import ConstructPlace

_GROUP_NAME = re.compile(r"[^,{}]+")
"""A name that every channel can carry in a list."""


def _vpc(at: ConstructPlace, vpc: types.Vpc, **options: Any) -> ec2.IVpc:
    tiers: dict[str, types.Subnets | None] = {tier: getattr(vpc, f"{tier}_subnets") for tier in types.TIERS}
    there = {tier: subnets for tier, subnets in tiers.items() if subnets and subnets.subnet_ids}
    zones = vpc.availability_zones
    given: dict[str, Any] = {"vpc_cidr_block": vpc.vpc_cidr_block, "region": at.region}
    for tier, subnets in there.items():
        order = _by_zone([str(zone) for zone in subnets.availability_zones], zones)
        if order is None:
            raise UnevenSubnetsError({each: list(map(str, there[each].availability_zones)) for each in there})
        lists: dict[str, Any] = {"ids": subnets.subnet_ids, "route_table_ids": subnets.route_table_ids}
        lists |= {name: getattr(vpc, f"{tier}_subnet_{name}") for name in ("ipv4_cidr_blocks", "names")}
        given |= {
            f"{tier}_subnet_{name}": [items[number] for number in order] for name, items in lists.items() if items
        }
    given |= _names_of_groups({f"{tier}_subnet_names": given.pop(f"{tier}_subnet_names", []) for tier in there}, zones)
    return ec2.Vpc.from_vpc_attributes(at.scope, at.id, vpc_id=vpc.vpc_id, availability_zones=zones, **given | options)


def _by_zone(of_subnets: list[str], zones: list[str]) -> list[int] | None:
    """The numbers of a tier's subnets in the CDK's order, zone by zone and over again.

    None if the zones have different numbers of subnets.
    """
    by_zone = [[number for number, zone in enumerate(of_subnets) if zone == each] for each in zones]
    if len({len(each) for each in by_zone}) != 1:
        return None
    return [number for numbers in zip(*by_zone, strict=True) for number in numbers]


def _names_of_groups(tiers: Mapping[str, list[str]], zones: list[str]) -> dict[str, list[str]]:
    """The name of each group of subnets, which has one in each zone, by tier.

    Empty if they are not named so: the CDK makes IDs of the names, so no two groups of a VPC can have the same.
    """
    groups = [names[at : at + len(zones)] for names in tiers.values() for at in range(0, len(names), len(zones))]
    if not all(tiers.values()) or len({*chain(*groups)}) != len(groups) or any(len({*each}) > 1 for each in groups):
        return {}
    return {tier: names[:: len(zones)] for tier, names in tiers.items()}


def _tier(subnets: list[Any]) -> types.Subnets | None:
    if not subnets:
        return None
    return types.Subnets(
        subnet_ids=[subnet.subnet_id for subnet in subnets],
        availability_zones=[subnet.availability_zone for subnet in subnets],
        route_table_ids=[subnet.route_table.route_table_id for subnet in subnets],
    )


def _group_names(subnets: list[Any]) -> list[str] | None:
    """The names by which the CDK itself selects subnets: what precedes `Subnet1` in their constructs' IDs."""
    names = [re.sub(r"Subnet\d+$", "", subnet.node.id) for subnet in subnets]
    return names if all(_GROUP_NAME.fullmatch(each) for each in names) else None


def _ipv4_cidr_blocks(subnets: list[Any]) -> list[str] | None:
    try:
        blocks = [subnet.ipv4_cidr_block for subnet in subnets]
    except REFUSALS:  # Subnets that were imported without them.
        return None
    return blocks if all(blocks) else None


def _of_tier(tier: str, read: Callable[[list[Any]], Any]) -> Callable[[Any], Any]:
    return lambda vpc: read(getattr(vpc, f"{tier}_subnets"))


_MEMBERS = {"subnets": _tier, "subnet_names": _group_names, "subnet_ipv4_cidr_blocks": _ipv4_cidr_blocks}
"""What a VPC says of the subnets of a tier."""

VPC: ConstructKind[ec2.IVpc] = ConstructKind(
    types.Vpc,
    _vpc,
    get={
        "vpc_cidr_block": setting("vpc_cidr_block", None),
        **{f"{tier}_{name}": _of_tier(tier, read) for tier in types.TIERS for name, read in _MEMBERS.items()},
        "nat_gateway_ids": lambda _: None,
    },
)
