"""The design's composite object, as a program of the CDK writes it: a load balancer with its security group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_elasticloadbalancingv2 as elbv2
from constructs import Construct

from strongref_cdk import deserialize, object_of
from strongref_objects.types import SecurityGroup

if TYPE_CHECKING:
    from strongref_cdk import DeserializationContext, SerializationContext


class WebEntrance(Construct):  # type: ignore[misc]  # the CDK is not read by mypy
    """A construct of a program's own: it writes itself, and is read as the CDK's own imported load balancer."""

    def __init__(self, scope: Construct, name: str, vpc: ec2.IVpc) -> None:
        super().__init__(scope, name)
        self.group = ec2.SecurityGroup(self, "Group", vpc=vpc)
        self.balancer = elbv2.ApplicationLoadBalancer(self, "Alb", vpc=vpc, security_group=self.group)

    def serialize(self, ctx: SerializationContext) -> None:
        ctx.write_string("LoadBalancerArn", self.balancer.load_balancer_arn, description="Of the web's entrance")
        ctx.write_object("SecurityGroup", object_of(self.group, SecurityGroup))

    @staticmethod
    def deserialize(ctx: DeserializationContext) -> elbv2.IApplicationLoadBalancer:
        def make() -> elbv2.IApplicationLoadBalancer:
            group = deserialize(ctx.read_object("SecurityGroup"), SecurityGroup)
            return elbv2.ApplicationLoadBalancer.from_application_load_balancer_attributes(
                ctx.scope,
                ctx.id,
                load_balancer_arn=ctx.read_string("LoadBalancerArn"),
                security_group_id=group.security_group_id,
            )

        return ctx.made.get((WebEntrance,), make)
