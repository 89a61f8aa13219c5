"""An object of one's own: a load balancer, with the security group that belongs to it."""

import json
import sys
from dataclasses import dataclass

from strongref_objects import DeserializationContext, JsonSerializationContext, SerializationContext, Text


@dataclass(frozen=True)
class SecurityGroup:
    security_group_id: Text

    def serialize(self, ctx: SerializationContext) -> None:
        ctx.write_string("SecurityGroupId", self.security_group_id)

    @classmethod
    def deserialize(cls, ctx: DeserializationContext) -> "SecurityGroup":
        return ctx.made.get(cls, lambda: cls(ctx.read_string("SecurityGroupId")))


@dataclass(frozen=True)
class LoadBalancer:
    load_balancer_arn: Text
    security_group: SecurityGroup

    def serialize(self, ctx: SerializationContext) -> None:
        ctx.write_string("LoadBalancerArn", self.load_balancer_arn, description="Of the load balancer")
        ctx.write_object("SecurityGroup", self.security_group)

    @classmethod
    def deserialize(cls, ctx: DeserializationContext) -> "LoadBalancer":
        return ctx.made.get(
            cls,
            lambda: cls(
                ctx.read_string("LoadBalancerArn"), SecurityGroup.deserialize(ctx.read_object("SecurityGroup"))
            ),
        )


if __name__ == "__main__":
    web = LoadBalancer({"Ref": "LoadBalancer"}, SecurityGroup({"Fn::GetAtt": ["Group", "GroupId"]}))

    ctx = JsonSerializationContext()
    web.serialize(ctx)
    json.dump(ctx.json, sys.stdout, indent=2)
