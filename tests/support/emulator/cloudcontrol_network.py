"""What is in networks, as Cloud Control describes it, out of the state of the emulator's EC2.

Assumed is that the main route table's own association, which has no subnet, is not listed: the resource type is that of
associations with subnets. No default routes but those that were made are there, and `CidrBlock`, which a route is
identified by, is its destination's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ministack.core.responses import get_account_id, get_region
from ministack.services import ec2

from tests.support.emulator.cloudcontrol_types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from tests.support.emulator.cloudcontrol_types import Model

_TARGETS = ("GatewayId", "NatGatewayId", "TransitGatewayId", "VpcPeeringConnectionId", "InstanceId")


def _picked(record: dict[str, Any], identifier: str, *names: str) -> Model:
    """Some of what the emulator keeps of a resource, and its tags."""
    return {name: record.get(name) for name in (identifier, *names)} | {"Tags": ec2._tags.get(record[identifier], [])}


def _vpcs() -> Iterator[Model]:
    for vpc in list(ec2._vpcs.values()):
        yield _picked(vpc, "VpcId", "CidrBlock", "InstanceTenancy")


def _subnets() -> Iterator[Model]:
    for subnet in list(ec2._subnets.values()):
        yield _picked(subnet, "SubnetId", "VpcId", "AvailabilityZone", "CidrBlock", "MapPublicIpOnLaunch")


def _tables() -> Iterator[Model]:
    for table in list(ec2._route_tables.values()):
        yield _picked(table, "RouteTableId", "VpcId")


def _associations() -> Iterator[Model]:
    for table in list(ec2._route_tables.values()):
        for each in table["Associations"]:
            if each.get("SubnetId"):
                yield {
                    "Id": each["RouteTableAssociationId"],
                    "RouteTableId": each["RouteTableId"],
                    "SubnetId": each["SubnetId"],
                }


def _routes() -> Iterator[Model]:
    for table in list(ec2._route_tables.values()):
        for route in table["Routes"]:
            destination = route["DestinationCidrBlock"]
            yield {"RouteTableId": table["RouteTableId"], "CidrBlock": destination} | {
                name: route.get(name) for name in ("DestinationCidrBlock", *_TARGETS)
            }


def _nat_gateways() -> Iterator[Model]:
    for gateway in list(ec2._nat_gateways.values()):
        if gateway["State"] != "deleted":
            yield _picked(gateway, "NatGatewayId", "SubnetId", "VpcId", "ConnectivityType")


def _groups() -> Iterator[Model]:
    for group in list(ec2._security_groups.values()):
        found = _picked(group, "GroupId", "GroupName", "VpcId")
        yield found | {"Id": group["GroupId"], "GroupDescription": group["Description"]}


def _kind(name: str, identifier: str, models: Any, described_by: str, **more: Any) -> Kind:
    """A kind whose service has one action to read and to list, which is allowed on everything or on nothing."""
    action = f"ec2:{described_by}"
    return Kind(f"AWS::EC2::{name}", tuple(identifier.split("|")), models, action, action, lambda _model: "*", **more)


NETWORK = {
    kind.name: kind
    for kind in (
        _kind("VPC", "VpcId", _vpcs, "DescribeVpcs"),
        _kind("Subnet", "SubnetId", _subnets, "DescribeSubnets"),
        _kind("RouteTable", "RouteTableId", _tables, "DescribeRouteTables"),
        _kind("SubnetRouteTableAssociation", "Id", _associations, "DescribeRouteTables"),
        _kind(
            "Route",
            "RouteTableId|CidrBlock",
            _routes,
            "DescribeRouteTables",
            list_needs=("RouteTableId",),
            parent_exists=lambda model: model["RouteTableId"] in ec2._route_tables,
        ),
        _kind("NatGateway", "NatGatewayId", _nat_gateways, "DescribeNatGateways"),
        _kind("SecurityGroup", "Id", _groups, "DescribeSecurityGroups"),
    )
}

_CALLED = {"vpc": "_vpcs", "subnet": "_subnets", "security-group": "_security_groups", "natgateway": "_nat_gateways"}
"""By what their ARNs call them: what has tags."""


def tagged() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """The ARNs and tags of what has some, as the emulator's tagging API collects them from services."""
    for kind, store in _CALLED.items():
        for identifier in list(getattr(ec2, store)):
            tags = ec2._tags.get(identifier)
            if tags:
                yield f"arn:aws:ec2:{get_region()}:{get_account_id()}:{kind}/{identifier}", tags
