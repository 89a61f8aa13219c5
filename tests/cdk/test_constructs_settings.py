"""What an imported construct keeps of the one that was exported, and where a permission can be added."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_elasticloadbalancingv2 as elbv2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns

import strongref_cdk as shared
from strongref_cdk import CrossRegion, Parameters, ResolveType
from strongref_objects import types
from strongref_objects.types.members import settings_of
from tests.support import cdk_apps
from tests.support.cdk_apps import ACCOUNT, EU, US
from tests.support.cdk_kinds import FUNCTION, role, table, vpc

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_cdk import aws_lambda as lambda_

LATER = ResolveType.DEPLOYMENT

_elsewhere = cdk_apps.elsewhere


@pytest.fixture
def web() -> cdk.Stack:
    return cdk_apps.stack(cdk.App(), "Web")


def exports(stack: cdk.Stack) -> dict[str, Any]:
    return {each["Export"]["Name"]: each["Value"] for each in cdk_apps.template(stack)["Outputs"].values()}


def test_what_a_construct_gets_after_it_was_exported_counts(web: cdk.Stack) -> None:
    """As an index: the CDK asks for it when the app is synthesized, and so does the export."""
    made = table(web)
    shared.export_table(made, "Orders")
    shared.export_table(made, "Orders")
    number = dynamodb.Attribute(name="number", type=dynamodb.AttributeType.NUMBER)
    made.add_global_secondary_index(index_name="ByNumber", partition_key=number)
    assert exports(web)["Orders-GrantIndexPermissions"] == "true"


def test_an_imported_construct_is_exported_with_its_settings(web: cdk.Stack) -> None:
    group = shared.security_group_from_id(web, "sg-0123abcd", allow_all_outbound=False)
    shared.export_security_group(group, "Group")
    cluster = shared.cluster_from_name(web, "apps", vpc=vpc(web), has_ec2_capacity=False)
    shared.export_cluster(cluster, "Apps")
    shared.export_cluster(shared.cluster_from_name(web, "alone"), "Alone")
    found = exports(web)
    assert (found["Group-AllowAllOutbound"], found["Apps-HasEc2Capacity"]) == ("false", "false")
    assert "Alone-HasEc2Capacity" not in found


def test_an_option_is_stronger_than_what_was_exported(web: cdk.Stack) -> None:
    group = ec2.SecurityGroup(web, "Group", vpc=vpc(web), allow_all_outbound=False)
    assert shared.object_of(group, types.SecurityGroup) == types.SecurityGroup(
        group.security_group_id, allow_all_outbound=False
    )
    assert shared.security_group_from_id(web, "sg-0123abcd", allow_all_outbound=True).allow_all_outbound is True


def test_every_setting_is_an_option_of_the_cdk_s_own_function() -> None:
    made_with = {
        types.Bucket: s3.Bucket.from_bucket_attributes,
        types.Topic: sns.Topic.from_topic_attributes,
        types.SecurityGroup: ec2.SecurityGroup.from_security_group_id,
        types.Listener: elbv2.ApplicationListener.from_application_listener_attributes,
        types.Cluster: ecs.Cluster.from_cluster_attributes,
        types.Table: dynamodb.Table.from_table_attributes,
    }
    own = {
        types.Role: {"path"},
        types.Table: {"replication_regions"},
        types.ExecuteCommand: {*settings_of(types.ExecuteCommand)},
    }
    assert {of for of in types.READY.values() if settings_of(of)} == {
        each for of in made_with | own for each in (of, *of.__subclasses__())
    }
    for of, function in made_with.items():
        assert {*settings_of(of)} - own.get(of, set()) <= {*inspect.signature(function).parameters}


LOCAL: dict[str, Callable[[cdk.Stack], lambda_.IFunction]] = {
    "exported here": lambda stack: shared.import_function(stack, "Jobs", type=LATER),
    "exported by strongref here": lambda stack: shared.import_function(
        stack, "Jobs", type=LATER, via=CrossRegion(stack="jobs", region=EU)
    ),
    "a parameter": lambda stack: shared.import_function(
        stack, "Jobs", type=LATER, via=Parameters("/shared"), weak=True
    ),
    "by its ARN": lambda stack: shared.function_from_arn(stack, FUNCTION["FunctionArn"]),
    "by its name": lambda stack: shared.function_from_name(stack, "jobs", region=EU, account=ACCOUNT),
}
ELSEWHERE: dict[str, Callable[[cdk.Stack], lambda_.IFunction]] = {
    "exported there": lambda stack: shared.import_function(
        stack, "Jobs", type=LATER, via=CrossRegion(stack="jobs", region=US)
    ),
    "by its ARN": lambda stack: shared.function_from_arn(stack, FUNCTION["FunctionArn"].replace(EU, US)),
    "by its name": lambda stack: shared.function_from_name(stack, "jobs", region=US),
}


@pytest.mark.parametrize("named", LOCAL)
def test_a_function_of_the_same_environment_gets_permissions(web: cdk.Stack, named: str) -> None:
    function = LOCAL[named](web)
    function.grant_invoke(iam.ServicePrincipal("events.amazonaws.com"))
    function.grant_invoke(role(web))
    found = cdk_apps.resources(web, "AWS::Lambda::Permission").values()
    assert "events.amazonaws.com" in [each["Properties"]["Principal"] for each in found]


@pytest.mark.parametrize("named", ELSEWHERE)
def test_to_a_function_of_another_region_no_permission_is_added_that_could_not_be_deployed(
    web: cdk.Stack, named: str
) -> None:
    with pytest.raises(RuntimeError, match="CannotModifyLambdaPermission"):
        ELSEWHERE[named](web).grant_invoke(iam.ServicePrincipal("events.amazonaws.com"))


def test_a_role_may_invoke_a_function_of_another_region(web: cdk.Stack) -> None:
    ELSEWHERE["by its ARN"](web).grant_invoke(role(web))
    via = CrossRegion(stack="jobs", region=US)
    shared.import_function(web, "Jobs", type=LATER, via=via, skip_permissions=True).grant_invoke(role(web))
    (policy,) = cdk_apps.resources(web, "AWS::IAM::Policy").values()
    assert len(policy["Properties"]["PolicyDocument"]["Statement"]) == 2
    assert cdk_apps.resources(web, "AWS::Lambda::Permission") == {}
