"""VPCs for look-ups, as Cloud Control describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.fake_cloudcontrol import ACCOUNT, REGION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.fake_cloudcontrol import FakeCloudControl, FakeTagging

VPC, SUBNET, TABLE, ROUTE = "AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::EC2::RouteTable", "AWS::EC2::Route"
ASSOCIATION, NAT = "AWS::EC2::SubnetRouteTableAssociation", "AWS::EC2::NatGateway"


class Net:
    """A VPC in a fake Cloud Control, to which subnets are added one by one."""

    def __init__(self, cloud: FakeCloudControl, tagging: FakeTagging, vpc: str = "vpc-00000001", **tags: str) -> None:
        self.vpc = vpc
        self._cloud = cloud
        for type_name in (VPC, SUBNET, TABLE, ROUTE, ASSOCIATION, NAT):
            cloud.resources.setdefault(type_name, {})
        cloud.add(VPC, vpc, VpcId=vpc, CidrBlock="10.0.0.0/16", Tags=_tags(tags))
        tagging.tagged[f"arn:aws:ec2:{REGION}:{ACCOUNT}:vpc/{vpc}"] = tags

    def table(self, table: str, *routes: Mapping[str, str]) -> Net:
        """A route table, with routes by `to`."""
        self._cloud.add(TABLE, table, RouteTableId=table, VpcId=self.vpc)
        for route in routes:
            destination = route.get("DestinationCidrBlock") or route["DestinationIpv6CidrBlock"]
            identifier = f"{table}|{destination}"
            self._cloud.add(ROUTE, identifier, RouteTableId=table, CidrBlock=destination, **route)
        return self

    def subnet(
        self, subnet: str, zone: str, table: str | None, *, is_open: bool = False, cidr: str | None = None, **tags: str
    ) -> Net:
        """A subnet; with a route table of its own, if one is given."""
        self._cloud.add(
            SUBNET,
            subnet,
            SubnetId=subnet,
            VpcId=self.vpc,
            AvailabilityZone=f"{REGION}{zone}",
            MapPublicIpOnLaunch=is_open,
            **({"CidrBlock": cidr} if cidr else {}),
            Tags=_tags({key.replace("__", ":").replace("_", "-"): value for key, value in tags.items()}),
        )
        if table:
            self._cloud.add(ASSOCIATION, f"rtbassoc-{subnet}", SubnetId=subnet, RouteTableId=table)
        return self

    def nat(self, gateway: str, subnet: str) -> Net:
        self._cloud.add(NAT, gateway, NatGatewayId=gateway, SubnetId=subnet, VpcId=self.vpc)
        return self


def to(destination: str = "0.0.0.0/0", **target: str) -> dict[str, Any]:
    """A route, as in `to(NatGatewayId="nat-1")`."""
    version = "DestinationIpv6CidrBlock" if ":" in destination else "DestinationCidrBlock"
    return {version: destination, **target}


def _tags(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]
