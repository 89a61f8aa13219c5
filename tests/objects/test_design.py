"""The design's own listings, written as a user writes them, and its requirements at the level that a user sees."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pytest

from strongref_objects import (
    CrossRegion,
    EnvironmentSerializationContext,
    JsonSerializationContext,
    Parameters,
    PlainTarget,
    ResolveType,
    Stack,
    from_environment,
    from_json,
    one_variable,
    read_object,
)
from strongref_objects.base.errors import BadStrengthError, ExportedTwiceError, UnresolvedImportError
from tests.support.objects import EU, US, World, held_by, use

if TYPE_CHECKING:
    from pathlib import Path

    from strongref_objects import DeserializationContext, SerializationContext
    from strongref_objects.base import Text
    from strongref_objects.channels import Channel

AT_DEPLOYMENT = ResolveType.DEPLOYMENT


@dataclass(frozen=True)
class SecurityGroup:
    """A security group, as a user may declare it."""

    security_group_id: Text

    def serialize(self, ctx: SerializationContext) -> None:
        ctx.write_string("SecurityGroupId", self.security_group_id)

    @classmethod
    def deserialize_security_group(cls, ctx: DeserializationContext) -> SecurityGroup:
        return ctx.made.get(cls, lambda: cls(ctx.read_string("SecurityGroupId")))


@dataclass(frozen=True)
class ApplicationLoadBalancer:
    """The design's composite: a load balancer encapsulates its security group."""

    load_balancer_arn: Text
    security_group: SecurityGroup

    def serialize(self, ctx: SerializationContext) -> None:
        ctx.write_string("LoadBalancerArn", self.load_balancer_arn)
        ctx.write_object("SecurityGroup", self.security_group)

    @classmethod
    def deserialize_application_load_balancer(cls, ctx: DeserializationContext) -> ApplicationLoadBalancer:
        return ctx.made.get(
            cls,
            lambda: cls(
                load_balancer_arn=ctx.read_string("LoadBalancerArn"),
                security_group=SecurityGroup.deserialize_security_group(ctx.read_object("SecurityGroup")),
            ),
        )


ALB = ApplicationLoadBalancer({"Fn::GetAtt": ["MyALB1288xxx", "Arn"]}, SecurityGroup({"Ref": "MyALBSecurityGroup4444"}))
DEPLOYED = ApplicationLoadBalancer("MyALB1288xxx-Arn", SecurityGroup("MyALBSecurityGroup4444-ref"))
"""What the functions give in `tests.support.objects`."""

read_alb = ApplicationLoadBalancer.deserialize_application_load_balancer


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "strongref.context.json")


def template(stack: Stack) -> dict[str, Any]:
    return cast("PlainTarget", stack.target).template()


def exports(stack: Stack) -> dict[str, Any]:
    return {each["Export"]["Name"]: each["Value"] for each in template(stack)["Outputs"].values()}


def resources(stack: Stack, kind: str) -> list[dict[str, Any]]:
    return [each for each in template(stack).get("Resources", {}).values() if each["Type"] == kind]


def held(stack: Stack) -> list[str]:
    """The names that a stack holds."""
    return held_by(template(stack).get("Resources", {}))


def produced(world: World, via: Channel | None = None) -> Stack:
    stack = world.stack("infrastructure")
    stack.export_object("Web", ALB, via=via)
    world.deploy(stack)
    return stack


def test_the_designs_listing_gives_the_designs_json() -> None:
    ctx = JsonSerializationContext()
    ALB.serialize(ctx)
    assert ctx.json == {
        "loadBalancerArn": {"Fn::GetAtt": ["MyALB1288xxx", "Arn"]},
        "securityGroup": {"securityGroupId": {"Ref": "MyALBSecurityGroup4444"}},
    }


def test_the_designs_json_can_be_stringified_for_cloudformation(world: World) -> None:
    stack = world.stack("infrastructure")
    evaluate = world.deploy(stack)
    ctx = JsonSerializationContext()
    ALB.serialize(ctx)
    text = evaluate(ctx.text())
    assert json.loads(text) == {
        "loadBalancerArn": "MyALB1288xxx-Arn",
        "securityGroup": {"securityGroupId": "MyALBSecurityGroup4444-ref"},
    }
    assert read_alb(from_json(text)) == DEPLOYED


def test_req1_one_app_publishes_an_object_and_another_app_consumes_it(world: World) -> None:
    produced(world)
    consumer = world.stack("service")
    assert read_alb(consumer.import_object("Web")) == DEPLOYED


def test_req2_a_simple_thing_is_a_set_of_attributes(world: World) -> None:
    producer = world.stack("infrastructure")
    producer.export_object("Group", SecurityGroup("sg-1"))
    world.deploy(producer)
    assert exports(producer) == {"Group-SecurityGroupId": "sg-1"}
    imported = SecurityGroup.deserialize_security_group(world.stack("service").import_object("Group"))
    assert imported == SecurityGroup("sg-1")


def test_req2_a_composite_is_exported_with_what_it_encapsulates(world: World) -> None:
    producer = produced(world)
    assert exports(producer) == {
        "Web-LoadBalancerArn": ALB.load_balancer_arn,
        "Web-SecurityGroup-SecurityGroupId": ALB.security_group.security_group_id,
    }
    assert read_alb(world.stack("service").import_object("Web")).security_group == DEPLOYED.security_group


@pytest.mark.parametrize("when", ["synthesis", "deployment"])
def test_req4_the_same_object_goes_through_cross_region_exports(world: World, when: str) -> None:
    produced(world, via=CrossRegion(regions=[US], consumer="service"))
    consumer = world.stack("service", US)
    kind = AT_DEPLOYMENT if when == "deployment" else ResolveType.SYNTHESIS
    imported = read_alb(consumer.import_object("Web", type=kind, via=CrossRegion(stack="infrastructure", region=EU)))
    use(consumer, imported.load_balancer_arn, imported.security_group.security_group_id)
    evaluate = world.deploy(consumer)
    assert evaluate(imported.load_balancer_arn) == DEPLOYED.load_balancer_arn
    assert evaluate(imported.security_group.security_group_id) == DEPLOYED.security_group.security_group_id
    (resource,) = resources(consumer, "Custom::CrossRegionImport")
    assert resource["Properties"] == {
        "ServiceToken": {"Fn::ImportValue": "strongref-importer"},
        "From": {"Stack": "infrastructure", "Region": EU},
        "Names": ["Web.LoadBalancerArn", "Web.SecurityGroup.SecurityGroupId"],
    }


@pytest.mark.parametrize("when", ["synthesis", "deployment", "run time"])
def test_req4_the_same_object_goes_through_parameters(world: World, when: str) -> None:
    produced(world, via=Parameters("/shared/network"))
    if when == "run time":
        store = world.cloud.stores(EU, world.cloud.clock)
        assert read_alb(read_object("/shared/network", "Web", store=store)) == DEPLOYED
        return
    kind = AT_DEPLOYMENT if when == "deployment" else ResolveType.SYNTHESIS
    consumer = world.stack("service")
    imported = read_alb(consumer.import_object("Web", type=kind, weak=True, via=Parameters("/shared/network")))
    evaluate = world.deploy(consumer)
    assert evaluate(imported.load_balancer_arn) == DEPLOYED.load_balancer_arn


@pytest.mark.parametrize("keys", ["one for each value", "one with json"])
def test_req4_the_same_object_goes_through_environment_variables(world: World, keys: str) -> None:
    ctx = EnvironmentSerializationContext("Web")
    ALB.serialize(ctx)
    variables = ctx.variables if keys == "one for each value" else one_variable("Web", ALB)
    assert list(variables) == (
        ["WEB_LOAD_BALANCER_ARN", "WEB_SECURITY_GROUP_SECURITY_GROUP_ID"] if len(variables) > 1 else ["WEB"]
    )
    evaluate = world.deploy(world.stack("service"))
    environment = {name: evaluate(value) for name, value in variables.items()}
    assert read_alb(from_environment("Web", environment)) == DEPLOYED


def test_req5_exported_twice_under_one_name_it_is_one_set_of_outputs(world: World) -> None:
    stack = world.stack("infrastructure")
    stack.export_object("Web", ALB)
    once = template(stack)
    stack.export_object("Web", ApplicationLoadBalancer({"Fn::GetAtt": "MyALB1288xxx.Arn"}, ALB.security_group))
    assert template(stack) == once
    assert len(once["Outputs"]) == 2


def test_req5_two_different_things_under_one_name_are_an_error_that_writes_nothing(world: World) -> None:
    stack = world.stack("infrastructure")
    stack.export_object("Web", ALB)
    once = template(stack)
    with pytest.raises(ExportedTwiceError) as caught:
        stack.export_object("Web", ApplicationLoadBalancer(ALB.load_balancer_arn, SecurityGroup({"Ref": "Other"})))
    assert str(caught.value) == (
        "Web is already exported with another value (Web.SecurityGroup.SecurityGroupId differs). Export the second "
        "one under its own name. Nothing of it was written."
    )
    assert template(stack) == once


@pytest.mark.parametrize("kind", list(ResolveType))
def test_req6_imported_twice_into_a_stack_it_is_the_same_object(world: World, kind: ResolveType) -> None:
    produced(world)
    stack = world.stack("service")
    first, second = stack.import_object("Web", type=kind), stack.import_object("Web", type=kind)
    assert first is second
    assert read_alb(first) is read_alb(second)
    assert first.read_object("SecurityGroup") is second.read_object("SecurityGroup")
    assert world.asked["ListExports"] == (1 if kind is ResolveType.SYNTHESIS else 0)


def test_req8_at_synthesis_the_program_gets_values_and_the_template_holds_them(world: World) -> None:
    produced(world)
    stack = world.stack("service")
    imported = read_alb(stack.import_object("Web"))
    assert imported == DEPLOYED
    use(stack, imported.load_balancer_arn, imported.security_group.security_group_id)
    assert held(stack) == ["Web-LoadBalancerArn", "Web-SecurityGroup-SecurityGroupId"]


def test_req8_a_weak_import_leaves_the_hold_out(world: World) -> None:
    produced(world)
    stack = world.stack("service")
    assert read_alb(stack.import_object("Web", weak=True)) == DEPLOYED
    assert "Resources" not in template(stack)


def test_req8_at_deployment_the_program_gets_import_value(world: World) -> None:
    stack = world.stack("service")  # Nothing has to be there yet.
    imported = read_alb(stack.import_object("Web", type=AT_DEPLOYMENT))
    assert imported.load_balancer_arn == {"Fn::ImportValue": "Web-LoadBalancerArn"}
    assert imported.security_group.security_group_id == {"Fn::ImportValue": "Web-SecurityGroup-SecurityGroupId"}
    assert world.asked == {}


def test_req8_what_has_to_be_concrete_or_is_a_list_is_refused_at_deployment(world: World) -> None:
    ctx = world.stack("service").import_object("Net", type=AT_DEPLOYMENT)
    with pytest.raises(UnresolvedImportError) as concrete:
        ctx.read_string("VpcId", allow_unresolved=False)
    with pytest.raises(UnresolvedImportError) as listed:
        ctx.read_string_list("SubnetIds", allow_unresolved=True)
    assert str(concrete.value) == (
        "Net.VpcId cannot be imported through CloudFormation's exports at deployment: the program needs the value "
        "itself. Import it with type=ResolveType.SYNTHESIS."
    )
    assert str(listed.value) == (
        "Net.SubnetIds cannot be imported through CloudFormation's exports at deployment: it is a list, which this "
        "channel joins to one text. Import it with type=ResolveType.SYNTHESIS."
    )


def test_req8_what_was_found_at_synthesis_is_kept_and_not_asked_for_again(world: World) -> None:
    produced(world)
    read_alb(world.stack("service").import_object("Web"))
    world.exports.clear()
    assert read_alb(world.stack("service").import_object("Web")) == DEPLOYED
    assert world.asked["ListExports"] == 1


def test_a_parameter_holds_nothing_so_a_strong_import_of_it_is_refused(world: World) -> None:
    produced(world, via=Parameters("/shared"))
    with pytest.raises(BadStrengthError, match="weak=True"):
        world.stack("service").import_object("Web", via=Parameters("/shared"))
