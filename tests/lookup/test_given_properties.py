"""Another resource than the one that is meant is never returned: by name, by ARN, by tags, with what else is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from strongref.aws.errors import NoSuchResourceError
from strongref.lookup.errors import ResourceQueryError, UnrelatedArnError
from strongref.lookup.query import ResourceQuery
from tests.support.fake_cloudcontrol import ACCOUNT, REGION, FakeCloudControl, FakeTagging, finder

if TYPE_CHECKING:
    from collections.abc import Mapping

API, CLIENT, GROUP = "AWS::ApiGateway::RestApi", "AWS::Cognito::UserPoolClient", "AWS::EC2::SecurityGroup"
USER, RULE, QUEUE = "AWS::ElastiCache::User", "AWS::Events::Rule", "AWS::SQS::Queue"
JOB, TABLE, VPC, TOPIC = "AWS::Glue::Job", "AWS::Glue::Table", "AWS::EC2::VPC", "AWS::SNS::Topic"
FILTER, PERMISSION, POLICY = "AWS::Logs::MetricFilter", "AWS::Lambda::Permission", "AWS::IAM::ManagedPolicy"
SERVICE, ENVIRONMENT = "AWS::ECS::Service", "AWS::ElasticBeanstalk::Environment"
OTHER = "222222222222"
URL = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/jobs"


def arn(service: str, resource: str, account: str = ACCOUNT) -> str:
    return f"arn:aws:{service}:{REGION}:{account}:{resource}"


def cloud_of(
    type_name: str, made: Mapping[str, Mapping[str, Any]], listed: list[str] | None = None
) -> FakeCloudControl:
    return FakeCloudControl({type_name: {each: dict(reported) for each, reported in made.items()}}, listed=listed)


def found(cloud: FakeCloudControl, tagging: FakeTagging | None = None, **way: Any) -> str:
    """What a lookup finds, twice: as an identifier, and with its attributes."""
    (type_name,) = cloud.resources
    query = ResourceQuery(type_name, **way)
    identifier = finder(cloud, tagging).identifier(query)
    assert finder(cloud, tagging).find(query).identifier == identifier
    return identifier


TWINS: dict[str, tuple[str, Mapping[str, Mapping[str, Any]], dict[str, Any]]] = {
    "a name is another API's id": (API, {"abc123": {"Name": "shop"}}, {"name": "abc123"}),
    "a name is another client's id": (
        CLIENT,
        {"p|1abc": {"ClientName": "web"}},
        {"name": "1abc", "properties": {"UserPoolId": "p"}},
    ),
    "a name is the id in another one's ARN": (
        POLICY,
        {f"arn:aws:iam::{ACCOUNT}:policy/a/reader": {"ManagedPolicyName": "reader"}},
        {"name": "a/reader"},
    ),
    "a name is another one's whole identifier": (FILTER, {"a|b": {}}, {"name": "a|b"}),
    "a name is a parent's": (FILTER, {"a|b": {}}, {"name": "a", "properties": {"FilterName": "b"}}),
    "a physical ID that is a name is another user's id": (USER, {"bob": {"UserName": "else"}}, {"physical_id": "bob"}),
    "another VPC's": (
        GROUP,
        {"sg-2": {"GroupName": "web", "VpcId": "vpc-2"}},
        {"physical_id": "web", "properties": {"VpcId": "vpc-1"}},
    ),
    "another bus's": (
        RULE,
        {arn("events", "rule/shop/nightly"): {}, arn("events", "rule/other/nightly"): {}},
        {"physical_id": "shop|nightly", "properties": {"EventBusName": "other"}},
    ),
    "an ARN of another bus's": (
        RULE,
        {arn("events", "rule/shop/nightly"): {"EventBusName": "shop"}},
        {"physical_id": arn("events", "rule/shop/nightly"), "properties": {"EventBusName": "other"}},
    ),
    "another name": (QUEUE, {URL: {"QueueName": "jobs"}}, {"physical_id": URL, "properties": {"QueueName": "zzz"}}),
    "another number": (QUEUE, {URL: {"Delay": 3}}, {"physical_id": URL, "properties": {"Delay": "30"}}),
    "another truth": (QUEUE, {URL: {"Fifo": True}}, {"physical_id": URL, "properties": {"Fifo": "false"}}),
    "a name behind a path": (JOB, {"etl": {}}, {"arn": arn("glue", "job/team/etl")}),
    "a table of another database": (
        TABLE,
        {f"{ACCOUNT}|shop|events": {}},
        {"arn": arn("glue", "table/orders/events"), "properties": {"CatalogId": ACCOUNT, "DatabaseName": "shop"}},
    ),
    "another account's": (VPC, {"vpc-1": {}}, {"arn": arn("ec2", "vpc/vpc-1", OTHER), "account": ACCOUNT}),
    "a job definition of another account": (
        "AWS::Batch::JobDefinition",
        {"resize": {}},
        {"physical_id": arn("batch", "job-definition/resize:3", OTHER), "account": ACCOUNT},
    ),
    "a parent of another account": (
        SERVICE,
        {f"{arn('ecs', 'service/c/s')}|c": {}},
        {"physical_id": "c/s", "properties": {"Cluster": arn("ecs", "cluster/c", OTHER)}, "account": ACCOUNT},
    ),
    "a permission of another function": (
        PERMISSION,
        {"web|sid": {}},
        {"physical_id": "web|sid", "properties": {"FunctionName": "api"}},
    ),
    "a permission of another account": (
        PERMISSION,
        {"web|sid": {}},
        {"physical_id": arn("lambda", "function:web", OTHER) + "|sid", "account": ACCOUNT},
    ),
    "a permission of a function of another account": (
        PERMISSION,
        {"web|sid": {}},
        {"physical_id": "sid", "properties": {"FunctionArn": arn("lambda", "function:web", OTHER)}, "account": ACCOUNT},
    ),
    "an API key of another account": (
        "AWS::AppSync::ApiKey",
        {"a|da2-k": {}},
        {"physical_id": arn("appsync", "apis/a/apikey/k", OTHER), "account": ACCOUNT},
    ),
    "a permission of another region": (
        PERMISSION,
        {"web|sid": {}},
        {"physical_id": arn("lambda", "function:web").replace(REGION, "us-east-1") + "|sid"},
    ),
    "an environment of another application": (
        ENVIRONMENT,
        {"env": {"EnvironmentName": "env", "ApplicationName": "other"}},
        {"arn": arn("elasticbeanstalk", "environment/app/env")},
    ),
    "one whose parts cannot be distinguished": (
        FILTER,
        {"X|a|b": {"LogGroupName": "X", "FilterName": "a|b"}},
        {"physical_id": "X|a|b", "properties": {"FilterName": "b", "Colour": "c"}},
    ),
}


@pytest.mark.parametrize(("kind", "made", "way"), TWINS.values(), ids=TWINS.keys())
@pytest.mark.parametrize("listed", [None, []], ids=["reported", "read"])
def test_what_is_only_called_alike_is_not_it(
    kind: str, made: Mapping[str, Mapping[str, Any]], way: dict[str, Any], listed: list[str] | None
) -> None:
    with pytest.raises(NoSuchResourceError):
        found(cloud_of(kind, made, listed), **way)


@pytest.mark.parametrize(
    ("kind", "asked", "way"),
    [
        (PERMISSION, arn("lambda", "function:web", OTHER) + "|sid", {"physical_id": "{}"}),
        (
            PERMISSION,
            arn("lambda", "function:web", OTHER) + "|sid",
            {"physical_id": "sid", "properties": {"FunctionArn": arn("lambda", "function:web", OTHER)}},
        ),
        ("AWS::Batch::JobDefinition", arn("batch", "job-definition/web:3", OTHER), {"physical_id": "{}"}),
        (SERVICE, f"{arn('ecs', 'service/web', OTHER)}|c", {"physical_id": "{}"}),
        (RULE, arn("events", "rule/web", OTHER), {"physical_id": "{}"}),
        (TOPIC, arn("sns", "web", OTHER), {"physical_id": "{}"}),
    ],
)
def test_a_service_that_reads_only_the_name_in_an_arn_gives_no_answer(
    kind: str, asked: str, way: dict[str, Any]
) -> None:
    own = asked.replace(OTHER, ACCOUNT)
    cloud = cloud_of(kind, {own: {}})
    cloud.natives = {asked: own}
    given: dict[str, Any] = {name: asked if text == "{}" else text for name, text in way.items()}
    query = ResourceQuery(kind, account=ACCOUNT, **given)
    with pytest.raises(NoSuchResourceError):
        finder(cloud).find(query)


def test_a_resource_of_another_account_may_be_read() -> None:
    shared = arn("sns", "web", OTHER)
    assert found(cloud_of(TOPIC, {shared: {}}), physical_id=shared, account=ACCOUNT) == shared


def test_of_two_of_the_same_name_it_is_the_one_of_which_all_is_true_that_is_known() -> None:
    made = {f"sg-{number}": {"GroupName": "web", "VpcId": f"vpc-{number}"} for number in range(3)}
    cloud = cloud_of(GROUP, made, [])
    assert found(cloud, physical_id="web", properties={"VpcId": "vpc-1"}) == "sg-1"
    with pytest.raises(NoSuchResourceError, match=r"physical ID web and the given properties \(VpcId\) in"):
        found(cloud, physical_id="web", properties={"VpcId": "vpc-7"})


def test_what_a_resource_says_may_have_another_form() -> None:
    made: dict[str, dict[str, Any]] = {
        URL: {"Delay": 30, "Rate": 1.5, "Fifo": True, "Key": arn("kms", "key/k"), "Tags": [], "Inside": {"A": "b"}}
    }
    known = {"Delay": "30", "Rate": "1.5", "Fifo": "true", "Key": "k", "Tags": "x", "Inside.A": "b", "Unknown": "x"}
    assert found(cloud_of(QUEUE, made), physical_id=URL, properties=known) == URL
    with pytest.raises(NoSuchResourceError):
        found(cloud_of(QUEUE, made), physical_id=URL, properties={"Inside.A": "c"})


def test_of_a_template_only_what_identifies_is_compared() -> None:
    hints = {"QueueName": "renamed", "LogGroupName": "web"}
    assert found(cloud_of(QUEUE, {URL: {"QueueName": "jobs"}}), physical_id=URL, hints=hints) == URL
    with pytest.raises(NoSuchResourceError):
        found(cloud_of(FILTER, {"shop|errors": {}}), physical_id="errors", hints=hints)


def test_an_identifier_that_nothing_else_is_known_of_costs_no_call() -> None:
    cloud = cloud_of(QUEUE, {URL: {}})
    assert finder(cloud).identifier(ResourceQuery(QUEUE, physical_id=URL, properties={"QueueUrl": URL})) == URL
    assert not cloud.calls


@pytest.mark.parametrize(
    ("kind", "name", "meant"),
    [(FILTER, "LogGroupname", "LogGroupName"), ("AWS::EKS::Nodegroup", "clusterName", "ClusterName")],
)
def test_a_name_that_is_not_spelt_rightly_is_refused(kind: str, name: str, meant: str) -> None:
    cloud = cloud_of(kind, {"shop|errors": {}})
    with pytest.raises(ResourceQueryError, match=f"it has no property {name}; did you mean {meant}"):
        found(cloud, physical_id="errors", properties={name: "web"})
    assert not cloud.calls


def test_a_type_that_tells_no_name_is_not_looked_for_by_name() -> None:
    with pytest.raises(ResourceQueryError, match="it has no name property; give its tags, ARN or physical ID"):
        found(cloud_of(VPC, {"vpc-1": {}}), name="main")


def test_a_name_is_what_the_resource_says_where_it_is_the_own_part() -> None:
    table = "AWS::Timestream::Table"
    cloud = cloud_of(table, {"d|t": {}, "e|t2": {}, "t|d": {}})
    assert found(cloud, name="t2") == "e|t2"
    assert found(cloud, name="t", properties={"DatabaseName": "d"}) == "d|t"
    assert found(cloud, name="t", properties={"TableName": "t"}) == "d|t"
    for properties in ({"TableName": "t2"}, {"DatabaseName": "e"}):
        with pytest.raises(NoSuchResourceError):
            found(cloud, name="t", properties=properties)
    assert found(cloud_of("AWS::EC2::KeyPair", {"ops": {}}), name="ops") == "ops"


def test_behind_an_id_in_an_arn_the_name_is_what_the_resource_says() -> None:
    made = {
        arn("imagebuilder", "component/u-1"): {"Name": "base"},
        arn("imagebuilder", "component/base"): {"Name": "x"},
    }
    cloud = cloud_of("AWS::ImageBuilder::Component", made, [])
    assert found(cloud, name="base") == arn("imagebuilder", "component/u-1")
    assert found(cloud, name="x") == arn("imagebuilder", "component/base")


def test_a_parent_in_an_arn_has_to_be_the_resources() -> None:
    made: dict[str, dict[str, Any]] = {f"{ACCOUNT}|{base}|events": {} for base in ("shop", "orders")}
    known = {"CatalogId": ACCOUNT, "DatabaseName": "orders"}
    text = arn("glue", "table/orders/events")
    assert found(cloud_of(TABLE, made), arn=text, properties=known) == f"{ACCOUNT}|orders|events"


@pytest.mark.parametrize(
    ("resource", "there"),
    [("table/d/t", True), ("table/t", True), ("table/e/t", False), ("table/d/x/t", False), ("table/xt", False)],
)
def test_without_a_form_of_its_own_an_arn_leads_over_parts_to_the_own_one(resource: str, there: bool) -> None:
    kind = "AWS::ApiGatewayV2::Route"  # Of two parts; it says no ARN.
    cloud = cloud_of(kind, {"d|t": {}})
    text = arn("apigatewayv2", resource.replace("table", "route"))
    if there:
        assert found(cloud, arn=text, properties={"ApiId": "d"}) == "d|t"
        return
    with pytest.raises(NoSuchResourceError):
        found(cloud, arn=text, properties={"ApiId": "d"})


def test_the_arn_of_a_parent_is_not_its_childs() -> None:
    cluster, service = arn("ecs", "cluster/c"), arn("ecs", "service/c/s")
    cloud = cloud_of(SERVICE, {f"{service}|{cluster}": {}})
    assert found(cloud, arn=service, properties={"Cluster": cluster}) == f"{service}|{cluster}"
    with pytest.raises(NoSuchResourceError):
        found(cloud, arn=cluster, properties={"ServiceArn": service})


def test_an_arn_that_does_not_name_its_type_is_reported_to_be_so() -> None:
    with pytest.raises(UnrelatedArnError, match="does not name that type, and such resources do not have their ARN"):
        found(cloud_of(VPC, {"vpc-1": {}}), arn=arn("ec2", "subnet/vpc-1"))


@pytest.mark.parametrize("form", ["web", arn("lambda", "function:web")])
@pytest.mark.parametrize("way", ["id and name", "id and ARN", "whole by name", "whole by ARN"])
def test_a_permission_is_found_whichever_form_of_its_function_the_service_has(form: str, way: str) -> None:
    cloud = cloud_of(PERMISSION, {f"{form}|sid": {}, f"{form}|other-sid": {}, f"{form}:live|sid": {}})
    cloud.needs[PERMISSION] = ("FunctionName",)
    function = arn("lambda", "function:web") if way.endswith("ARN") else "web"
    if way.startswith("whole"):
        assert found(cloud, physical_id=f"{function}|sid") == f"{form}|sid"
        known = {"FunctionName": "web"}
        assert found(cloud, physical_id=f"{function}|sid", properties=known) == f"{form}|sid"
    else:
        known = {"FunctionArn" if way.endswith("ARN") else "FunctionName": function}
        assert found(cloud, physical_id="sid", properties=known) == f"{form}|sid"
    assert cloud.models == [] or cloud.models[0]["FunctionName"] == "web"
