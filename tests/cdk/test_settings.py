"""Settings of constructs that are imported at deployment: from the same app's export, or from the program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns

import strongref_cdk as shared
from strongref_cdk import ConstructError, CrossRegion, ResolveType
from strongref_objects import types
from strongref_objects.types.members import members
from tests.support import cdk_apps
from tests.support.cdk_apps import EU, US
from tests.support.cdk_kinds import CASES, beside, role, table, vpc

if TYPE_CHECKING:
    from tests.support.cdk_kinds import Case

LATER = ResolveType.DEPLOYMENT

_elsewhere = cdk_apps.elsewhere


@pytest.fixture
def network() -> cdk.Stack:
    return cdk_apps.stack(cdk.App(), "Network")


@pytest.fixture
def web(network: cdk.Stack) -> cdk.Stack:
    """Another stack of the same app."""
    return cdk_apps.stack(network.node.root, "Web")


def closed(stack: cdk.Stack, name: str = "Group") -> ec2.SecurityGroup:
    return ec2.SecurityGroup(stack, name, vpc=stack.node.try_find_child("Vpc") or vpc(stack), allow_all_outbound=False)


@pytest.mark.parametrize("case", [case for case in CASES if case.later], ids=str)
def test_of_another_app_s_construct_the_program_says_how_it_was_made(web: cdk.Stack, case: Case) -> None:
    with pytest.raises(ConstructError, match=r"needs .*, or export it first in the same app") as refused:
        case.import_(web, "Thing", type=LATER)
    assert set(re.findall(r"(\w+)=…", str(refused.value))) >= {*case.later}


def test_an_import_before_its_export_does_not_know_them_yet(network: cdk.Stack, web: cdk.Stack) -> None:
    with pytest.raises(ConstructError, match="needs allow_all_outbound for a security group"):
        shared.import_security_group(web, "Group", type=LATER)
    shared.export_security_group(closed(network), "Group")
    assert shared.import_security_group(web, "Group", type=LATER).allow_all_outbound is False


def test_across_regions_they_are_those_of_the_export_for_this_stack(network: cdk.Stack) -> None:
    web = cdk_apps.stack(network.node.root, "Web", US)
    open_ = ec2.SecurityGroup(network, "Open", vpc=vpc(network))
    shared.export_security_group(closed(network), "Group", via=CrossRegion(regions=[US], consumer="Web"))
    shared.export_security_group(open_, "Group", via=CrossRegion(regions=[US]))
    groups = [
        shared.import_security_group(
            web, "Group", type=LATER, via=CrossRegion(stack="Network", region=EU, shared=is_shared)
        )
        for is_shared in (False, True)
    ]
    assert [each.allow_all_outbound for each in groups] == [False, True]
    other = CrossRegion(stack="Network", region=EU, consumer="other")
    with pytest.raises(ConstructError, match="needs allow_all_outbound"):
        shared.import_security_group(web, "Group", type=LATER, via=other)


def test_each_stage_has_its_own_where_nothing_else_tells_them_apart() -> None:
    app = cdk.App()
    stages = {name: cdk.Stage(app, name) for name in ("Test", "Prod")}
    for name, stage in stages.items():
        stack = cdk.Stack(stage, "Network")
        group = ec2.SecurityGroup(stack, "Group", vpc=vpc(stack), allow_all_outbound=name == "Test")
        shared.export_security_group(group, "Group")
    found = [shared.import_security_group(cdk.Stack(each, "Web"), "Group", type=LATER) for each in stages.values()]
    assert [each.allow_all_outbound for each in found] == [True, False]


def test_a_part_of_the_program_s_own_object_has_them_too(network: cdk.Stack, web: cdk.Stack) -> None:
    class Entrance:
        def serialize(self, ctx: shared.SerializationContext) -> None:
            ctx.write_object("Group", shared.object_of(closed(network), types.SecurityGroup))

    shared.export_object(network, "Web", Entrance())
    ctx = shared.import_object(web, "Web", type=LATER)
    group: Any = shared.deserialize(ctx.read_object("Group"), types.SecurityGroup)
    assert group.allow_all_outbound is False


def test_what_the_program_changes_after_it_was_read_is_not_lost_in_silence(network: cdk.Stack, web: cdk.Stack) -> None:
    orders = table(network)
    shared.export_table(orders, "Orders")
    shared.import_table(web, "Orders", type=LATER)
    cluster = ecs.Cluster(network, "Cluster", vpc=beside(network))
    shared.export_cluster(cluster, "Apps")
    number = dynamodb.Attribute(name="number", type=dynamodb.AttributeType.NUMBER)
    orders.add_global_secondary_index(index_name="ByNumber", partition_key=number)
    cluster.connections.add_security_group(closed(network))
    with pytest.raises(RuntimeError) as refused:
        cdk_apps.template(network)
    for what in ("Network/Table] Its indexes changed", "Network/Cluster] Its security groups changed"):
        assert f"{what} after strongref had read them" in str(refused.value)


def test_a_role_s_path_is_never_taken_for_its_name(web: cdk.Stack) -> None:
    """Without the path, the policy has a name that IAM refuses."""
    policy = iam.PolicyStatement(actions=["s3:Get*"], resources=["*"])
    options: dict[str, dict[str, Any]] = {"Here": {}, "There": {"path": "/team/"}}
    for name, more in options.items():
        shared.import_role(web, name, type=LATER, **more).add_to_principal_policy(policy)
    policies = cdk_apps.resources(web, "AWS::IAM::Policy").values()
    assert [each["Properties"]["Roles"] for each in policies] == [
        [{"Fn::Select": [1, {"Fn::Split": [f":role{path}", {"Fn::ImportValue": f"{name}-RoleArn"}]}]}]
        for name, path in {"Here": "/", "There": "/team/"}.items()
    ]


def test_a_fifo_topic_that_removes_duplicates_is_imported_by_its_app(network: cdk.Stack, web: cdk.Stack) -> None:
    """The CDK does not see in a token that the name ends with `.fifo`."""
    topic = sns.Topic(network, "Topic", fifo=True, content_based_deduplication=True)
    shared.export_topic(topic, "News")
    shared.import_topic(web, "News", type=LATER).grant_publish(role(web))
    assert len(cdk_apps.resources(web, "AWS::IAM::Policy")) == 1


def test_an_eks_cluster_of_another_region_would_have_a_wrong_arn(web: cdk.Stack) -> None:
    with pytest.raises(ConstructError, match=r"refuses the EKS cluster .*: it takes every cluster for one"):
        shared.import_eks_cluster(web, "Apps", type=LATER, via=CrossRegion(stack="Network", region=US))
    assert {*members(types.EksCluster)} <= {*dir(eks.Cluster)}


def test_of_a_secret_its_complete_arn_is_exported(network: cdk.Stack) -> None:
    named = secretsmanager.Secret.from_secret_name_v2(network, "Secret", "password")
    with pytest.raises(ConstructError, match="secret_arn of a secret cannot be derived from the construct"):
        shared.export_secret(named, "Password")


def test_a_construct_is_no_value(network: cdk.Stack) -> None:
    group = closed(network)
    with pytest.raises(ConstructError, match=r"it must be a string, got SecurityGroup; use text, such as an ARN"):
        shared.export_string(network, "Group", group)
    with pytest.raises(ConstructError, match=r"it must be an object with serialize, got SecurityGroup\."):
        shared.export_object(network, "Group", group)
