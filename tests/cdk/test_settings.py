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
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns

import strongref_cdk as shared
from strongref_cdk import ConstructError, CrossRegion, Parameters, ResolveType
from strongref_objects import types
from strongref_objects.base import ObjectCache
from strongref_objects.types.members import members
from tests.support import cdk_apps
from tests.support.cdk_apps import ACCOUNT, EU, US
from tests.support.cdk_kinds import CASES, beside, function, role, table, vpc

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
    with pytest.raises(ConstructError, match=r": pass .*, or export it first in the same app") as refused:
        case.import_(web, "Thing", type=LATER)
    assert set(re.findall(r"(\w+)=…", str(refused.value))) >= {*case.later}


def test_an_import_before_its_export_does_not_know_them_yet(network: cdk.Stack, web: cdk.Stack) -> None:
    with pytest.raises(ConstructError, match="a security group: pass allow_all_outbound=…, or"):
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
    with pytest.raises(ConstructError, match="pass allow_all_outbound=…"):
        shared.import_security_group(web, "Group", type=LATER, via=other)


def test_two_regions_can_have_another_export_of_one_name_each(network: cdk.Stack) -> None:
    net = vpc(network)
    for region, is_open in {US: False, "eu-central-1": True}.items():
        group = ec2.SecurityGroup(network, region, vpc=net, allow_all_outbound=is_open)
        shared.export_security_group(group, "Group", via=CrossRegion(regions=[region]))
    via = CrossRegion(stack="Network", region=EU, shared=True)
    stacks = [cdk_apps.stack(network.node.root, region, region) for region in (US, "eu-central-1")]
    found = [shared.import_security_group(each, "Group", type=LATER, via=via) for each in stacks]
    assert [each.allow_all_outbound for each in found] == [False, True]


ELSEWHERE = CrossRegion(regions=[US]), CrossRegion(stack="Network", region=EU, shared=True)


@pytest.mark.parametrize(("out", "back"), [(None, None), ELSEWHERE], ids=["here", "elsewhere"])
def test_an_export_is_refused_whose_settings_an_import_before_it_lacks(
    network: cdk.Stack, out: CrossRegion | None, back: CrossRegion | None
) -> None:
    web = cdk_apps.stack(network.node.root, "Web", US if back else EU)
    shared.import_function_with_role(web, "Jobs", type=LATER, via=back)
    shared.import_role(web, "Plain", type=LATER, via=back)
    shared.import_role(web, "Other", type=LATER, via=back)
    team, plain = (
        iam.Role(network, name, path=path, assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        for name, path in (("Team", "/team/"), ("Plain", "/"))
    )
    shared.export_role(plain, "Plain", via=out)
    with pytest.raises(ConstructError, match="Jobs is already imported by stack Web, at deployment, without"):
        shared.export_function(function(network, role=team), "Jobs", via=out)
    if out:  # Another region's export is another one.
        shared.export_role(team, "Other", via=CrossRegion(regions=["eu-central-1"]))


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


def test_a_role_is_left_as_it_is_where_the_cdk_sees_its_name_or_nobody_can_split_its_arn(web: cdk.Stack) -> None:
    policy = iam.PolicyStatement(actions=["s3:Get*"], resources=["*"])
    own = f"arn:aws:iam::{cdk.Aws.ACCOUNT_ID}:role/team/jobs"
    shared.role_from_arn(web, own, role_name="jobs").add_to_principal_policy(policy)
    foreign = f"arn:aws:iam::222222222222:role/{cdk.CfnParameter(web, 'Name').value_as_string}"
    shared.role_from_arn(web, foreign, role_name="it").add_to_principal_policy(policy)
    found = shared.import_role(web, "Jobs", type=LATER, weak=True, via=Parameters("/shared"), path=None)
    assert web.resolve(found.role_arn) == "{{resolve:ssm:/shared/Jobs/RoleArn}}"
    policies = cdk_apps.resources(web, "AWS::IAM::Policy").values()
    assert [each["Properties"]["Roles"] for each in policies] == [["jobs"]]


def test_a_role_keeps_its_path_when_it_is_exported_again(network: cdk.Stack, web: cdk.Stack) -> None:
    policy = iam.PolicyStatement(actions=["s3:Get*"], resources=["*"])
    paths = {"Text": "/team/web/", "Token": f"/{cdk.Aws.REGION}/"}
    third = cdk_apps.stack(network.node.root, "Third")
    for name, path in paths.items():
        made = iam.Role(network, name, path=path, assumed_by=iam.AccountRootPrincipal())
        shared.export_role(made, name)
        shared.export_role(shared.import_role(web, name, type=LATER), f"{name}Again")
        shared.import_role(third, f"{name}Again", type=LATER).add_to_principal_policy(policy)
    names = [each["Properties"]["Roles"][0] for each in cdk_apps.resources(third, "AWS::IAM::Policy").values()]
    split = {"Fn::Split": [":role/team/web/", {"Fn::ImportValue": "TextAgain-RoleArn"}]}
    assert names == [{"Fn::Select": [1, split]}, {"Fn::ImportValue": "TokenAgain-RoleName"}]


def test_a_table_tells_its_replicas_to_older_versions_of_the_cdk_too(network: cdk.Stack, web: cdk.Stack) -> None:
    shared.export_table(table(network, replication_regions=[US]), "Orders")
    found: Any = shared.import_table(web, "Orders", type=LATER)
    (arn,) = web.resolve(found._regional_arns)
    assert f":dynamodb:{US}:{ACCOUNT}:table/" in str(arn)
    shared.export_table(found, "Again")
    assert f"'Value': '{US}'" in str(cdk_apps.template(web)["Outputs"])


@pytest.mark.parametrize("option", ["global_indexes", "local_indexes"])
def test_an_option_that_says_the_same_is_enough(web: cdk.Stack, option: str) -> None:
    given: dict[str, Any] = {option: ["ByNumber"]}
    shared.import_table(web, "Orders", type=LATER, **given)
    group = ec2.SecurityGroup.from_security_group_id(web, "Given", "sg-0123abcd")
    shared.import_function_in_vpc(web, "Jobs", type=LATER, security_group=group)


def test_after_an_option_that_there_is_not_the_corrected_import_works(network: cdk.Stack, web: cdk.Stack) -> None:
    key, group = kms.Key(network, "Key"), closed(network)
    log = ecs.ExecuteCommandLogConfiguration(cloud_watch_log_group=logs.LogGroup(network, "Log"))
    how = ecs.ExecuteCommandConfiguration(
        kms_key=key, logging=ecs.ExecuteCommandLogging.OVERRIDE, log_configuration=log
    )
    cluster = ecs.Cluster(network, "Cluster", vpc=beside(network), execute_command_configuration=how)
    cluster.connections.add_security_group(group)
    shared.export_cluster(cluster, "Apps")
    with pytest.raises(ConstructError, match="there is no option capacity"):
        shared.import_cluster(web, "Apps", type=LATER, vpc=beside(web), capacity=3)
    found = shared.import_cluster(web, "Apps", type=LATER, vpc=beside(web))
    assert [each.allow_all_outbound for each in found.connections.security_groups] == [False]


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
    ctx = shared.import_object(web, "Platform", type=LATER)
    assert shared.deserialize(ctx.read_object("Apps"), types.EksCluster)
    with pytest.raises(ConstructError, match="refuses the EKS cluster"):
        shared.deserialize(
            shared.import_object(web, "Apps", type=LATER, via=CrossRegion(stack="Network", region=US)), types.EksCluster
        )


def test_a_context_of_the_program_s_own_has_only_what_it_had_before(web: cdk.Stack) -> None:
    class Own:
        scope, id, made = web, "Mine", ObjectCache()

        def read_string(self, key: str, *, allow_unresolved: bool = True) -> str:
            assert allow_unresolved
            return {"SecurityGroupId": "sg-0123abcd"}[key]

        def read_setting(self, key: str) -> str | None:
            return {"AllowAllOutbound": "false"}.get(key)

    own: Any = Own()
    group: Any = shared.deserialize(own, types.SecurityGroup)
    assert group.allow_all_outbound is False


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
