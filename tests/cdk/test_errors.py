"""What the CDK's objects refuse, and how it is reported; and what single constructs do that not all types have."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_elasticloadbalancingv2 as elbv2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs

import strongref_cdk as shared
from strongref.errors import StrongRefError
from strongref_cdk import ConstructError, CrossRegion, ResolveType, errors
from strongref_cdk.apps import ConstructPlace
from strongref_cdk.construct_kinds import ConstructKind, kind_of
from strongref_objects import types
from strongref_objects.base.errors import MissingMembersError, OtherArnError
from strongref_objects.types import Declared
from strongref_objects.types.members import text
from tests.support import cdk_apps
from tests.support.cdk_apps import ACCOUNT, EU, US, deploy
from tests.support.cdk_kinds import ZONES, balanced, role, vpc

if TYPE_CHECKING:
    from strongref_cdk import SerializationContext

LATER = ResolveType.DEPLOYMENT
FIXED = elbv2.ListenerAction.fixed_response(404)


_elsewhere = cdk_apps.elsewhere


@pytest.fixture
def web() -> cdk.Stack:
    return cdk_apps.stack(cdk.App(), "Web")


def test_of_several_listeners_the_program_says_which_is_shared(web: cdk.Stack) -> None:
    balancer = balanced(web)
    second = balancer.add_listener("Other", port=8080, protocol=elbv2.ApplicationProtocol.HTTP, default_action=FIXED)
    with pytest.raises(ConstructError, match=r"^Web/Alb: The application load balancer has 2 listeners.*listener=…"):
        shared.export_application_load_balancer(balancer, "Thing")
    assert "Outputs" not in cdk_apps.template(web)
    shared.export_application_load_balancer(balancer, "Thing", listener=second)
    listener = web.get_logical_id(second.node.default_child)
    values = [each["Value"] for each in cdk_apps.template(web)["Outputs"].values()]
    assert {"Ref": listener} in values


def test_the_cdk_does_not_list_a_listener_that_is_made_beside_its_load_balancer(web: cdk.Stack) -> None:
    balancer = elbv2.ApplicationLoadBalancer(web, "Alb", vpc=vpc(web))
    listener = elbv2.ApplicationListener(web, "Http", load_balancer=balancer, port=80, default_action=FIXED)
    with pytest.raises(ConstructError, match=r"does not list its listeners\. Choose the one .* to it: listener=…"):
        shared.export_application_load_balancer(balancer, "Thing")
    shared.export_application_load_balancer(balancer, "Thing", listener=listener)


def test_a_network_load_balancer_is_none_for_applications(web: cdk.Stack) -> None:
    network = vpc(web)
    group = ec2.SecurityGroup(web, "Group", vpc=network)
    targets = elbv2.NetworkTargetGroup(web, "Targets", port=80, vpc=network)
    for number, more in enumerate([{}, {"security_groups": [group]}]):
        balancer = elbv2.NetworkLoadBalancer(web, f"Nlb{number}", vpc=network, **more)
        listener = balancer.add_listener("Tcp", port=80, default_target_groups=[targets])
        expected = "must be an application load balancer, got a NetworkLoadBalancer. Use the function"
        with pytest.raises(ConstructError, match=expected):
            shared.export_application_load_balancer(balancer, "Thing", listener=listener)
    with pytest.raises(ConstructError, match=r"must be a listener, got a NetworkListener\."):
        shared.export_listener(listener, "Thing")


def test_what_was_imported_can_be_exported_again_with_the_listener_that_it_has(web: cdk.Stack) -> None:
    outbound: dict[str, Any] = {"security_group_allows_all_outbound": True}
    imported = shared.import_application_load_balancer(web, "Thing", type=LATER, **outbound)
    with pytest.raises(ConstructError, match="does not list its listeners"):
        shared.export_application_load_balancer(imported, "Again")
    shared.export_application_load_balancer(imported, "Again", listener=shared.listener_of(imported))
    values = [each["Value"] for each in cdk_apps.template(web)["Outputs"].values()]
    assert {"Fn::ImportValue": "Thing-Listener-ListenerArn"} in values


def test_the_listener_of_a_load_balancer_of_the_program_s_own_is_the_program_s(web: cdk.Stack) -> None:
    with pytest.raises(ConstructError, match=r"^Web/Alb: The listener is only known for a load balancer from import_"):
        shared.listener_of(balanced(web))


def test_a_listener_is_imported_with_its_security_group(web: cdk.Stack) -> None:
    with pytest.raises(ConstructError, match=r"needs more about a listener: pass security_group=…\."):
        shared.import_listener(web, "Thing", type=LATER)


def test_a_cluster_is_imported_without_a_vpc_for_what_needs_none(web: cdk.Stack) -> None:
    cluster = shared.import_cluster(web, "Thing", type=LATER)
    cdk.CfnOutput(web, "Arn", value=cluster.cluster_arn)
    assert cdk_apps.template(web)["Outputs"]["Arn"]["Value"] == {"Fn::ImportValue": "Thing-ClusterArn"}
    with pytest.raises(ConstructError, match=r"a cluster: pass vpc=…\."):
        shared.import_cluster(web, "Other", type=LATER, security_groups=[])


VPC = {
    "Thing-Parts": "VpcId,PublicSubnets,PrivateSubnets",
    "Thing-VpcId": "vpc-0123abcd",
    "Thing-PublicSubnets-SubnetIds": "subnet-0b,subnet-0a",
    "Thing-PublicSubnets-AvailabilityZones": "eu-west-1b,eu-west-1a",
    "Thing-PublicSubnets-RouteTableIds": "rtb-b,rtb-a",
}


def test_a_vpc_s_subnets_are_in_their_own_zones_in_whatever_order_they_come(web: cdk.Stack) -> None:
    private = {
        "Thing-PrivateSubnets-SubnetIds": "subnet-1a,subnet-2a,subnet-1b,subnet-2b",
        "Thing-PrivateSubnets-AvailabilityZones": "eu-west-1a,eu-west-1a,eu-west-1b,eu-west-1b",
        "Thing-PrivateSubnets-RouteTableIds": "rtb-1a,rtb-2a,rtb-1b,rtb-2b",
    }
    deploy(VPC | private)
    network = shared.import_vpc(web, "Thing")
    zones = {
        each.subnet_id: (each.availability_zone, each.route_table.route_table_id) for each in network.private_subnets
    }
    assert zones == {
        "subnet-1a": ("eu-west-1a", "rtb-1a"),
        "subnet-2a": ("eu-west-1a", "rtb-2a"),
        "subnet-1b": ("eu-west-1b", "rtb-1b"),
        "subnet-2b": ("eu-west-1b", "rtb-2b"),
    }
    public = {each.subnet_id: each.availability_zone for each in network.public_subnets}
    assert public == {"subnet-0a": "eu-west-1a", "subnet-0b": "eu-west-1b"}
    assert list(network.isolated_subnets) == []


def test_a_vpc_whose_tiers_have_other_zones_each_is_reported_before_the_cdk_mixes_them_up(web: cdk.Stack) -> None:
    private = {
        "Thing-PrivateSubnets-SubnetIds": "subnet-1a",
        "Thing-PrivateSubnets-AvailabilityZones": "eu-west-1a",
        "Thing-PrivateSubnets-RouteTableIds": "rtb-1a",
    }
    deploy(VPC | private)
    with pytest.raises(ConstructError, match="public: eu-west-1a and eu-west-1b; private: eu-west-1a") as refused:
        shared.import_vpc(web, "Thing")
    assert isinstance(refused.value.error, errors.UnevenSubnetsError)
    subnets = types.Subnets.deserialize(shared.import_object(web, "Thing").read_object("PrivateSubnets"))
    assert subnets.subnet_ids == ("subnet-1a",)


def test_a_vpc_that_was_imported_without_its_block_is_exported_without_it(web: cdk.Stack) -> None:
    attributes = {"vpc_id": "vpc-0123abcd", "availability_zones": ZONES, "public_subnet_ids": ["subnet-a", "subnet-b"]}
    attributes["public_subnet_route_table_ids"] = ["rtb-a", "rtb-b"]
    given = ec2.Vpc.from_vpc_attributes(web, "Given", **attributes)
    shared.export_vpc(given, "Thing")
    names = {each["Export"]["Name"]: each["Value"] for each in cdk_apps.template(web)["Outputs"].values()}
    assert names["Thing-Parts"] == "VpcId,PublicSubnets,PublicSubnetNames"
    assert names["Thing-PublicSubnets-SubnetIds"] == "subnet-a,subnet-b"


def test_what_the_cdk_does_not_tell_of_a_construct_is_reported(web: cdk.Stack) -> None:
    given = ec2.Vpc.from_vpc_attributes(
        web, "Given", vpc_id="vpc-0123abcd", availability_zones=ZONES, public_subnet_ids=["subnet-a", "subnet-b"]
    )
    shared.export_security_group(ec2.SecurityGroup(web, "Group", vpc=given), "Group")
    cluster = ecs.Cluster.from_cluster_arn(web, "Apps", f"arn:aws:ecs:{EU}:{ACCOUNT}:cluster/apps")
    shared.export_cluster(cluster, "Apps")

    class Broken:
        node = web.node

        @property
        def key_arn(self) -> str:
            raise RuntimeError("there is none\n    at some.js")

    with pytest.raises(
        ConstructError, match=r"^Web: The CDK refuses to return the key_arn of the KMS key: there is none\.$"
    ):
        shared.object_of(Broken(), types.Key)


def test_a_table_with_a_key_and_a_stream_is_exported_with_both_and_read_as_either(web: cdk.Stack) -> None:
    network = cdk_apps.stack(cdk.App(), "Network")
    partition = dynamodb.Attribute(name="id", type=dynamodb.AttributeType.STRING)
    stream = dynamodb.StreamViewType.KEYS_ONLY
    table = dynamodb.Table(
        network, "Table", partition_key=partition, encryption_key=kms.Key(network, "Key"), stream=stream
    )
    shared.export_table(table, "Thing")
    names = {each["Export"]["Name"] for each in cdk_apps.template(network)["Outputs"].values()}
    assert names == {
        "Thing-TableArn",
        "Thing-TableName",
        "Thing-EncryptionKey-KeyArn",
        "Thing-EncryptionKey-KeyId",
        "Thing-TableStreamArn",
        "Thing-GrantIndexPermissions",
    }
    made: dict[str, Any] = {"grant_index_permissions": False}
    tables = [
        shared.import_table(web, "Thing", type=LATER, **made),
        shared.import_encrypted_table(web, "Thing", type=LATER, **made),
        shared.import_streamed_table(web, "Thing", type=LATER, encryption_key=None, **made),
    ]
    assert [each.node.id for each in tables] == [
        "Thing:deployment",
        "Thing:deployment-EncryptedTable",
        "Thing:deployment-StreamedTable",
    ]


def test_a_function_of_another_region_or_account_is_not_taken_for_one_of_the_stack_s_own(web: cdk.Stack) -> None:
    """The CDK adds permissions to functions of the stack's own account and region alone."""
    principal = iam.ServicePrincipal("events.amazonaws.com")
    there = shared.import_function(web, "Thing", type=LATER, via=CrossRegion(stack="Jobs", region=US))
    there.add_permission("Invoke", principal=principal)
    assert cdk_apps.resources(web, "AWS::Lambda::Permission") == {}
    given = shared.import_function(web, "Given", type=LATER, same_environment=False)
    given.add_permission("Invoke", principal=principal)
    other = shared.function_from_arn(web, f"arn:aws:lambda:{EU}:222222222222:function:jobs")
    other.add_permission("Invoke", principal=principal)
    assert cdk_apps.resources(web, "AWS::Lambda::Permission") == {}
    shared.import_function(web, "Here", type=LATER).add_permission("Invoke", principal=principal)
    assert len(cdk_apps.resources(web, "AWS::Lambda::Permission")) == 1


def test_options_go_before_what_was_imported(web: cdk.Stack) -> None:
    imported = shared.import_role(web, "Thing", type=LATER, mutable=False)
    s3.Bucket(web, "Bucket").grant_read(imported)
    assert cdk_apps.resources(web, "AWS::IAM::Policy") == {}


@pytest.mark.parametrize("name", ["role", "certificate"])
def test_an_option_that_the_cdk_does_not_have_is_reported(web: cdk.Stack, name: str) -> None:
    with pytest.raises(
        ConstructError, match=rf"^Web: The CDK refuses the {name} Other:deployment: there is no option mutble\.$"
    ):
        getattr(shared, f"import_{name}")(web, "Other", type=LATER, mutble=False)
    with pytest.raises(ConstructError, match=r"The CDK refuses the role Other:deployment: .*argument mutable"):
        shared.import_role(web, "Other", type=LATER, mutable="no")


def test_what_is_no_construct_of_the_type_is_reported(web: cdk.Stack) -> None:
    queue = sqs.Queue(web, "Queue")
    with pytest.raises(ConstructError, match=r"^Web/Queue: .* must be a bucket, got a Queue, which has no bucket_arn"):
        shared.export_bucket(queue, "Thing")
    with pytest.raises(ConstructError, match=r"^NoneType: .* must be a bucket, got a NoneType, which has no"):
        shared.export_bucket(None, "Thing")
    with pytest.raises(ConstructError, match=r"^str: The construct is not in a stack"):
        shared.import_bucket("photos", "Thing")


def test_a_queue_is_imported_at_deployment_as_the_kind_that_the_program_says(web: cdk.Stack) -> None:
    """Whether it is a FIFO queue stands at the end of its name, which is not known."""
    assert shared.import_queue(web, "Plain", type=LATER).fifo is False
    assert shared.import_queue(web, "Ordered", type=LATER, fifo=True).fifo is True


def test_an_arn_of_something_else_is_reported_with_the_construct_s_path(web: cdk.Stack) -> None:
    with pytest.raises(ConstructError, match=r"^Web/Own: .*is the ARN of a queue, not of a bucket") as refused:
        shared.bucket_from_arn(role(web), f"arn:aws:sqs:{EU}:{ACCOUNT}:jobs")
    assert isinstance(refused.value.error, OtherArnError)
    with pytest.raises(ConstructError) as refused:
        shared.listener_from_arn(web, "arn:aws:s3:::johnny", security_group=None)
    assert isinstance(refused.value.error, OtherArnError)
    with pytest.raises(ConstructError) as refused:
        shared.application_load_balancer_from_arn(
            web, f"arn:aws:elasticloadbalancing:{EU}:{ACCOUNT}:loadbalancer/app/web/0123456789abcdef"
        )
    assert isinstance(refused.value.error, MissingMembersError)


def test_a_type_of_the_program_s_own_is_no_construct_of_the_cdk(web: cdk.Stack) -> None:
    class Pair(Declared):
        """Two texts."""

        one: str = text()
        other: str = text()

    shared.export_object(web, "Pair", Pair("a", "b"))
    with pytest.raises(ConstructError, match="Pair is not a ready type of the CDK") as refused:
        shared.deserialize(shared.import_object(cdk_apps.stack(cdk.App(), "Other"), "Pair", type=LATER), Pair)
    assert isinstance(refused.value.error, errors.NoReadyTypeError)


def test_errors_keep_the_error_that_they_are_about(web: cdk.Stack) -> None:
    with pytest.raises(ConstructError) as refused:
        shared.import_vpc(web, "Thing", type=LATER)
    assert refused.value.path == "Web"
    assert refused.value.__cause__ is refused.value.error
    assert isinstance(refused.value, StrongRefError)


@pytest.mark.parametrize(
    "error",
    [
        errors.RefusedByCdkError("x" * 9000, "y" * 9000),
        errors.NotOneError("x" * 50, "listener", 12),
        errors.OtherOptionsError("x" * 9000, ["y" * 900] * 20),
        errors.UnevenSubnetsError(dict.fromkeys(("public", "private", "isolated"), ["eu-west-1a" * 90] * 9)),
        errors.ExportedElsewhereError("x" * 9000, "y" * 9000),
        errors.NoReadyTypeError("x" * 9000),
        errors.NotDeployedError("x" * 9000, "y" * 9000),
        errors.NoSuchConstructError("security group", "x" * 9000, "security_group_id"),
        errors.OptionsNeededError("application load balancer", ["security_group_allows_all_outbound"] * 3, True),
        errors.ConstructError("x/" * 9000, errors.ExportedElsewhereError("x" * 9000, "y" * 9000)),
    ],
    ids=lambda error: type(error).__name__,
)
def test_no_text_is_too_long(error: StrongRefError) -> None:
    assert len(str(error)) < 1000


def test_the_text_of_a_refusal_has_no_value_in_it_even_where_one_is_a_part_of_another() -> None:
    error = errors.RefusedByCdkError("it", "abc and abcd.", {"abc": "Short", "abcd": "Long", "": "Empty"})
    assert str(error) == "The CDK refuses it: <Short> and <Long>."


def test_what_is_in_no_stack_is_reported() -> None:
    app = cdk.App()
    with pytest.raises(ConstructError, match=r"^App: The construct is not in a stack"):
        shared.import_bucket(app, "Thing")
    with pytest.raises(ConstructError, match=r"^Prod: The construct is not in a stack"):
        shared.export_string(cdk.Stage(app, "Prod"), "Thing", "x")


def test_a_failure_inside_of_another_names_the_innermost_construct(web: cdk.Stack) -> None:
    """As where an object's own `serialize` makes objects of constructs."""
    balancer = balanced(web)
    balancer.add_listener("Other", port=8080, protocol=elbv2.ApplicationProtocol.HTTP, default_action=FIXED)

    class Entrance:
        def serialize(self, ctx: SerializationContext) -> None:
            ctx.write_object("Alb", shared.object_of(balancer, types.ApplicationLoadBalancer))

    with pytest.raises(ConstructError, match=r"^Web/Alb: The application load balancer has 2 listeners") as refused:
        shared.export_object(web, "Thing", Entrance())
    assert not isinstance(refused.value.error, ConstructError)


def test_of_a_vpc_no_value_is_reported_either(web: cdk.Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists of values and objects inside of objects are looked through as well."""
    values = VPC | {
        "Thing-Parts": "VpcId,PublicSubnets",
        "Thing-PublicSubnets-AvailabilityZones": "eu-west-1b,eu-west-1b",
        "Thing-PublicSubnets-SubnetIds": "hidden-1,hidden-2",
    }
    deploy(values)
    obj = types.Vpc.deserialize(shared.import_object(web, "Thing"))

    def fail(_place: ConstructPlace, vpc: types.Vpc) -> None:
        assert vpc.public_subnets
        raise RuntimeError(f"{list(vpc.public_subnets.subnet_ids)[1]} of {vpc.vpc_id} is bad")

    monkeypatch.setattr("strongref_cdk.construct_kinds._KINDS", {})
    kind: ConstructKind[None] = ConstructKind(types.Vpc, fail)
    with pytest.raises(errors.RefusedByCdkError, match="refuses the VPC Thing: <SubnetIds> of <VpcId> is bad"):
        kind.construct(ConstructPlace(web, "Thing"), obj)


def test_without_the_cdk_the_package_says_so_and_other_failures_are_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.startswith("strongref_cdk.") or each == "strongref_cdk"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "aws_cdk", None)
    with pytest.raises(
        ImportError, match="aws_cdk, which is not installed: install strongref again, with its extra cdk"
    ):
        importlib.import_module("strongref_cdk")
    monkeypatch.setitem(sys.modules, "strongref_cdk.aws_constructs", None)
    with pytest.raises(ModuleNotFoundError, match=r"strongref_cdk\.aws_constructs"):
        importlib.import_module("strongref_cdk")


def test_every_kind_is_found_by_its_type() -> None:
    assert kind_of(types.Bucket).declared is types.Bucket
