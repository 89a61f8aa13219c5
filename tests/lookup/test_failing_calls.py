"""What is there is found: where AWS calls it something else, where calls fail, and where there are too many to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from strongref.aws.errors import CloudControlError, LookUpDeniedError, NoSuchResourceError, UnsupportedError
from strongref.lookup.errors import MissingPropertyError, TooManyError
from strongref.lookup.identify import is_unambiguous
from strongref.lookup.query import LookupScope, ResourceQuery
from strongref.lookup.resource_types import resource_type_of
from tests.support.fake_cloudcontrol import ACCOUNT, REGION, FakeCloudControl, FakeTagging, api, error, finder

if TYPE_CHECKING:
    from collections.abc import Mapping

RULE, QUEUE, PARAMETER, GROUP = "AWS::Events::Rule", "AWS::SQS::Queue", "AWS::SSM::Parameter", "AWS::Logs::LogGroup"
VPC, TABLE, STAGE = "AWS::EC2::VPC", "AWS::DynamoDB::Table", "AWS::ApiGateway::Stage"


def arn(service: str, resource: str, region: str = REGION, account: str = ACCOUNT) -> str:
    return f"arn:aws:{service}:{region}:{account}:{resource}"


def url(name: str) -> str:
    return f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{name}"


def found(cloud: FakeCloudControl, reported: FakeTagging | None = None, **way: Any) -> str:
    (type_name,) = cloud.resources
    return finder(cloud, reported).identifier(ResourceQuery(type_name, **way))


# Rules on a bus that is not listed.


def hidden() -> FakeCloudControl:
    """A rule on the bus `shop`, which no list tells."""
    rule = arn("events", "rule/shop/nightly")
    return FakeCloudControl({RULE: {rule: {"Arn": rule}}}, unlisted={rule})


def test_a_rule_that_is_not_listed_is_asked_for_by_its_arn_where_the_account_is_known() -> None:
    cloud = hidden()
    assert found(cloud, physical_id="shop|nightly", account=ACCOUNT) == arn("events", "rule/shop/nightly")
    assert cloud.calls == {"GetResource": 1}
    with pytest.raises(NoSuchResourceError):
        found(hidden(), physical_id="nightly", account=ACCOUNT)


@pytest.mark.parametrize("named", [True, False])
def test_or_by_its_physical_id_which_its_types_code_takes_as_well(named: bool) -> None:
    cloud, rule = hidden(), arn("events", "rule/shop/nightly")
    cloud.natives["shop|nightly"] = rule
    assert found(cloud, physical_id="shop|nightly") == rule
    assert cloud.calls == {"GetResource": 1}
    if named:  # The answer is another bus's, by whatever mistake.
        cloud.natives["other|nightly"] = rule
        with pytest.raises(NoSuchResourceError):
            found(cloud, physical_id="other|nightly")


def test_the_identifier_in_such_an_answer_may_be_what_was_asked_for() -> None:
    rule = arn("events", "rule/shop/nightly")
    cloud = FakeCloudControl({RULE: {"shop|nightly": {"Arn": rule}}}, unlisted={"shop|nightly"})
    assert found(cloud, physical_id="shop|nightly") == rule


def test_the_arn_of_what_is_here_has_its_partition() -> None:
    assert LookupScope(REGION).arn("events", "rule/a") is None
    for region, partition in ((REGION, "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")):
        assert (
            LookupScope(region, ACCOUNT).arn("events", "rule/a") == f"arn:{partition}:events:{region}:{ACCOUNT}:rule/a"
        )


# ARNs that call a type something else.

ARNS: list[tuple[str, str, Mapping[str, Any], str]] = [
    (
        "AWS::SecretsManager::Secret",
        arn("secretsmanager", "secret:db-AbCdEf"),
        {},
        arn("secretsmanager", "secret:db-AbCdEf"),
    ),
    ("AWS::CloudFormation::Stack", arn("cloudformation", "stack/s/g"), {}, arn("cloudformation", "stack/s/g")),
    (
        GROUP,
        "/aws/lambda/web",
        {"Arn": arn("logs", "log-group:/aws/lambda/web:*")},
        arn("logs", "log-group:/aws/lambda/web"),
    ),
    (GROUP, "web", {"Arn": arn("logs", "log-group:web:*")}, arn("logs", "log-group:web:*")),
    ("AWS::ApiGateway::RestApi", "abc", {}, f"arn:aws:apigateway:{REGION}::/restapis/abc"),
    ("AWS::ApiGateway::ApiKey", "k1", {}, f"arn:aws:apigateway:{REGION}::/apikeys/k1"),
    (STAGE, "abc|prod", {}, f"arn:aws:apigateway:{REGION}::/restapis/abc/stages/prod"),
    ("AWS::ApiGatewayV2::Api", "def", {}, f"arn:aws:apigateway:{REGION}::/apis/def"),
    ("AWS::ApiGatewayV2::Stage", "def|prod", {}, f"arn:aws:apigateway:{REGION}::/apis/def/stages/prod"),
    ("AWS::EC2::EIP", "192.0.2.1|eipalloc-1", {}, arn("ec2", "elastic-ip/eipalloc-1")),
    ("AWS::EC2::KeyPair", "ops", {"KeyPairId": "key-1"}, arn("ec2", "key-pair/key-1")),
    ("AWS::EC2::FlowLog", "fl-1", {}, arn("ec2", "vpc-flow-log/fl-1")),
    ("AWS::EC2::Host", "h-1", {}, arn("ec2", "dedicated-host/h-1")),
    ("AWS::EC2::LaunchTemplate", "lt-1", {}, arn("ec2", "launch-template/lt-1")),
    ("AWS::ElastiCache::CacheCluster", "cc", {}, arn("elasticache", "cluster:cc")),
    (
        "AWS::ElasticBeanstalk::Environment",
        "env",
        {"ApplicationName": "app"},
        arn("elasticbeanstalk", "environment/app/env"),
    ),
    ("AWS::Batch::JobDefinition", "jd", {}, arn("batch", "job-definition/jd:3")),
    (PARAMETER, "/a/b", {}, arn("ssm", "parameter/a/b")),
    (PARAMETER, "/a", {"Arn": arn("ssm", "parameter/a")}, arn("ssm", "parameter/a")),
    (QUEUE, url("jobs"), {"Arn": arn("sqs", "jobs")}, arn("sqs", "jobs")),
]


@pytest.mark.parametrize(
    ("kind", "identifier", "reported", "text"), ARNS, ids=[f"{each[0]}-{each[1]}" for each in ARNS]
)
@pytest.mark.parametrize("listed", [None, []], ids=["reported", "read"])
def test_an_arn_leads_to_its_resource_and_so_do_tags(
    kind: str, identifier: str, reported: Mapping[str, Any], text: str, listed: list[str] | None
) -> None:
    known = {"RestApiId": "abc"} if kind == STAGE else {"ApiId": "def"} if kind.endswith("V2::Stage") else {}
    cloud = FakeCloudControl({kind: {identifier: dict(reported), f"other-{identifier}-x": {}}}, listed=listed)
    assert found(cloud, arn=text, properties=known, account=ACCOUNT) == identifier
    assert found(cloud, FakeTagging({text: {"a": "b"}}), tags={"a": "b"}, properties=known) == identifier
    gone = FakeCloudControl({kind: {f"other-{identifier}-x": {}}}, listed=listed)
    with pytest.raises(NoSuchResourceError):
        found(gone, arn=text, properties=known)


def test_a_queue_in_china_has_another_address() -> None:
    address = f"https://sqs.{REGION}.amazonaws.com.cn/{ACCOUNT}/jobs"
    text = arn("sqs", "jobs").replace("arn:aws:", "arn:aws-cn:")
    cloud = FakeCloudControl({QUEUE: {address: {"Arn": text}}})
    assert found(cloud, arn=text) == address
    assert cloud.calls == {"GetResource": 1}


def test_where_arns_do_not_tell_it_is_the_one_that_says_it_has_the_tags() -> None:
    kind = "AWS::ElastiCache::SubnetGroup"
    tags = [{"Key": "app", "Value": "shop"}, {"Key": "more", "Value": "x"}]
    cloud = FakeCloudControl({kind: {"a": {}, "b": {"Tags": tags}, "c": {"Tags": {"app": "other"}}}}, listed=[])
    tagging = FakeTagging({arn("elasticache", "something:else"): {"app": "shop"}})
    assert found(cloud, tagging, tags={"app": "shop"}) == "b"
    cloud.resources[kind]["c"]["Tags"]["app"] = "shop"
    del cloud.resources[kind]["b"]
    assert found(cloud, tagging, tags={"app": "shop"}) == "c"
    many = FakeCloudControl({kind: {str(number): {} for number in range(101)}})
    with pytest.raises(TooManyError, match="101 resources"):
        found(many, tagging, tags={"app": "shop"})


# Calls that fail.


@pytest.mark.parametrize("code", ["AccessDeniedException", "GeneralServiceException", "NotStabilizedException"])
def test_a_guess_that_fails_does_not_end_a_lookup_that_the_list_answers(code: str) -> None:
    cloud = FakeCloudControl({TABLE: {"web": {"Arn": arn("dynamodb", "table/web")}}})
    cloud.failing["GetResource"] = [error(code)]
    assert found(cloud, arn=arn("dynamodb", "table/web")) == "web"
    stages = FakeCloudControl({STAGE: {"abc|prod": {}}}, failing={"GetResource": [error(code)]})
    assert found(stages, physical_id="prod", properties={"RestApiId": "abc"}) == "abc|prod"


def test_its_error_is_reported_where_nothing_is_found() -> None:
    cloud = FakeCloudControl({TABLE: {}}, failing={"GetResource": [error("AccessDeniedException")]})
    with pytest.raises(LookUpDeniedError, match="GetResource of AWS::DynamoDB::Table web"):
        found(cloud, arn=arn("dynamodb", "table/web"))
    cloud.failing = {"GetResource": [error("AccessDeniedException")], "ListResources": [error("InternalFailure")]}
    with pytest.raises(LookUpDeniedError):
        found(cloud, arn=arn("dynamodb", "table/web"))
    cloud.failing = {"ListResources": [error("GeneralServiceException")]}
    with pytest.raises(CloudControlError, match="ListResources"):
        found(cloud, arn=arn("dynamodb", "table/web"))


def test_what_may_not_be_read_is_not_the_one_if_another_one_is() -> None:
    kind = "AWS::SQS::Queue"
    reported = {url("a"): {"Arn": arn("sqs", "a")}, "elsewhere": {"Arn": arn("sqs", "jobs")}}
    cloud = FakeCloudControl({kind: reported}, listed=[], denied=lambda identifier: identifier == url("a"))
    assert found(cloud, arn=arn("sqs", "jobs")) == "elsewhere"
    del reported["elsewhere"]
    with pytest.raises(LookUpDeniedError):
        found(FakeCloudControl({kind: reported}, listed=[], denied=cloud.denied), arn=arn("sqs", "jobs"))


def test_who_may_read_a_part_of_them_only_finds_those() -> None:
    cloud = FakeCloudControl({PARAMETER: {"/a/b": {"Arn": arn("ssm", "parameter/a/b")}}})
    cloud.denied = lambda identifier: not identifier.startswith("/a/")
    assert found(cloud, arn=arn("ssm", "parameter/a/b")) == "/a/b"


def test_that_more_is_needed_is_reported_unless_it_would_not_help() -> None:
    kind = "AWS::EKS::Nodegroup"
    text = arn("eks", "nodegroup/c/n/1")
    with pytest.raises(MissingPropertyError, match="ClusterName"):
        found(FakeCloudControl({kind: {}}), arn=text)
    with pytest.raises(UnsupportedError, match="GetResource"):
        finder(FakeCloudControl()).identifier(ResourceQuery(kind, arn=text))


def test_where_an_arn_tells_the_identifier_the_many_are_not_read() -> None:
    for kind, identifier, text in (
        (PARAMETER, "/a/{}", "ssm:{}:{}:parameter/a/7"),
        (GROUP, "/l/{}", "logs:{}:{}:log-group:/l/7:*"),
        (QUEUE, url("q{}"), "sqs:{}:{}:q7"),
    ):
        own = f"arn:aws:{text.format(REGION, ACCOUNT)}"
        made = {identifier.format(number): {"Arn": own.replace("7", str(number))} for number in range(150)}
        cloud = FakeCloudControl({kind: made}, listed=[])
        assert found(cloud, arn=own) == identifier.format(7)
        assert cloud.calls == {"GetResource": 1}
        with pytest.raises(TooManyError):
            found(cloud, arn=own.replace("7", "gone"))


def test_too_many_that_only_say_it_when_they_are_read_are_not_read() -> None:
    kind = "AWS::EC2::KeyPair"
    many = {str(number): {"KeyPairId": f"key-{number}"} for number in range(101)}
    assert found(FakeCloudControl({kind: many}), arn=arn("ec2", "key-pair/key-7")) == "7"
    with pytest.raises(TooManyError):
        found(FakeCloudControl({kind: many}, listed=[]), arn=arn("ec2", "key-pair/key-7"))


@pytest.mark.parametrize(("found_by", "of"), [("name", "RestApi"), ("physical_id", "SecurityGroup")])
def test_too_many_that_are_called_so_are_not_compared(found_by: str, of: str) -> None:
    kind = "AWS::ApiGateway::RestApi" if of == "RestApi" else "AWS::EC2::SecurityGroup"
    name = "Name" if of == "RestApi" else "GroupName"
    cloud = FakeCloudControl({kind: {str(number): {name: "web"} for number in range(101)}})
    with pytest.raises(TooManyError):
        found(cloud, None, **{found_by: "web"}, properties={"Colour": "blue"})


# Identifiers in other forms.


@pytest.mark.parametrize(
    ("kind", "whole"),
    [("AWS::Route53::RecordSet", "www.example.com|Z1|A|"), ("AWS::ApiGateway::BasePathMapping", "example.com|")],
)
def test_a_part_of_a_whole_identifier_may_be_empty(kind: str, whole: str) -> None:
    cloud = FakeCloudControl({kind: {whole: {}}})
    assert found(cloud, physical_id=whole) == whole
    assert cloud.calls == {"GetResource": 1}


@pytest.mark.parametrize("key", ["k", "da2-k"])
def test_an_api_key_is_known_by_its_arn(key: str) -> None:
    kind, text = "AWS::AppSync::ApiKey", arn("appsync", "apis/a/apikey/k")
    cloud = FakeCloudControl({kind: {f"a|{key}": {"Arn": text}, "b|da2-k": {}, "a|da2-kk": {}}})
    for way in ({"physical_id": text}, {"arn": text}, {"physical_id": f"a|{key}"}):
        assert found(cloud, None, **way) == f"a|{key}"
        assert found(cloud, None, **way, properties={"ApiId": "a"}) == f"a|{key}"
        with pytest.raises(NoSuchResourceError):
            found(cloud, None, **way, properties={"ApiId": "b"})
    cloud.resources[kind][f"a|{key}"]["Arn"] = text + "k"
    with pytest.raises(NoSuchResourceError):
        found(cloud, physical_id=text)


@pytest.mark.parametrize(
    ("kind", "physical_id", "alone"),
    [
        ("AWS::S3::Bucket", "photos", True),
        (STAGE, "abc|prod", True),
        (STAGE, "prod", False),
        ("AWS::ElastiCache::User", "bob", False),
        ("AWS::EC2::SecurityGroup", "sg-1", True),
        ("AWS::EC2::SecurityGroup", "web", False),
        (RULE, "shop|nightly", True),
        ("AWS::Lambda::Permission", "sid", False),
        ("AWS::Lambda::Permission", "web|sid", True),
        ("AWS::AppSync::ApiKey", arn("appsync", "apis/a/apikey/k"), True),
    ],
)
def test_a_physical_id_that_is_a_whole_identifier_tells_its_resource_alone(
    kind: str, physical_id: str, alone: bool
) -> None:
    assert is_unambiguous(kind, physical_id) is alone


def test_what_templates_tag_in_another_way_is_tagged() -> None:
    assert resource_type_of("AWS::EC2::LaunchTemplate").tagged_by == ("ec2",)


def test_a_list_that_gives_the_same_page_for_ever_ends() -> None:
    cloud = FakeCloudControl({QUEUE: {url("a"): {}}})
    page = cloud.list_resources(TypeName=QUEUE) | {"NextToken": "same"}
    cloud.list_resources = lambda **_: page  # type: ignore[method-assign]
    assert len(list(api(cloud).each(QUEUE, {}))) == 2
