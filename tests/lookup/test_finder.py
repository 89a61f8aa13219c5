"""Finding a resource, rule by rule: what is asked of Cloud Control, and what the answer is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strongref.aws.errors import CloudControlError, NoSuchResourceError, UnsupportedError
from strongref.lookup import arn_search, reader
from strongref.lookup.attributes import attribute
from strongref.lookup.errors import (
    AmbiguousError,
    MissingPropertyError,
    NoSuchAttributeError,
    RejectedPropertyError,
    ResourceQueryError,
    TooManyError,
    UnknownTypeError,
)
from strongref.lookup.query import ResourceQuery
from tests.support.fake_cloudcontrol import ACCOUNT, REGION, FakeCloudControl, FakeTagging, error, finder

if TYPE_CHECKING:
    from collections.abc import Mapping

BUCKET, TOPIC, ROLE, POLICY = "AWS::S3::Bucket", "AWS::SNS::Topic", "AWS::IAM::Role", "AWS::IAM::ManagedPolicy"
RULE, STAGE, PERMISSION = "AWS::Events::Rule", "AWS::ApiGateway::Stage", "AWS::Lambda::Permission"
LISTENER, SERVICE = "AWS::ElasticLoadBalancingV2::Listener", "AWS::ECS::Service"
SCALING = "AWS::ApplicationAutoScaling::ScalingPolicy"


def arn(service: str, resource: str, region: str = REGION) -> str:
    return f"arn:aws:{service}:{region}:{ACCOUNT}:{resource}"


def identifier(cloud: FakeCloudControl, type_name: str, physical_id: str, **known: str) -> str:
    return finder(cloud).identifier(ResourceQuery(type_name, physical_id=physical_id, properties=known))


def cloud_of(type_name: str, *identifiers: str, needs: tuple[str, ...] = ()) -> FakeCloudControl:
    return FakeCloudControl({type_name: {each: {} for each in identifiers}}, needs={type_name: needs})


# 1. What is said of a type explicitly.


def rules() -> FakeCloudControl:
    names = ("rule/nightly", "rule/orders/nightly", "rule/other-nightly", "rule/aws.partner/x/y/nightly")
    return cloud_of(RULE, *[arn("events", name) for name in names])


@pytest.mark.parametrize(
    ("physical_id", "resource"),
    [
        ("nightly", "rule/nightly"),
        ("default|nightly", "rule/nightly"),
        ("orders|nightly", "rule/orders/nightly"),
        ("aws.partner/x/y|nightly", "rule/aws.partner/x/y/nightly"),
        (arn("events", "event-bus/orders") + "|nightly", "rule/orders/nightly"),
        (arn("events", "event-bus/default") + "|nightly", "rule/nightly"),
        (arn("events", "rule/nightly"), "rule/nightly"),
    ],
)
def test_a_rules_bus_is_part_of_its_arn(physical_id: str, resource: str) -> None:
    assert identifier(rules(), RULE, physical_id) == arn("events", resource)


@pytest.mark.parametrize("physical_id", ["nightly", "orders|nightly", arn("events", "event-bus/orders") + "|nightly"])
def test_a_rule_on_the_bus_of_an_arn_is_in_its_account(physical_id: str) -> None:
    own, others = (arn("events", "event-bus/orders").replace(ACCOUNT, account) for account in (ACCOUNT, "222222222222"))
    rule = arn("events", "rule/orders/nightly")
    assert identifier(rules(), RULE, physical_id, EventBusName=own) == rule
    with pytest.raises(NoSuchResourceError):
        identifier(rules(), RULE, physical_id, EventBusName=others)


def test_a_rules_bus_may_be_known_otherwise() -> None:
    assert identifier(rules(), RULE, "nightly", EventBusName="orders") == arn("events", "rule/orders/nightly")
    bus = arn("events", "event-bus/orders")
    assert identifier(rules(), RULE, "nightly", EventBusName=bus) == arn("events", "rule/orders/nightly")


def test_a_rule_that_is_not_listed_is_asked_for_next_to_those_that_are() -> None:
    """A list may be that of the default bus alone."""
    cloud = rules()
    hidden = arn("events", "rule/hidden/nightly")
    listed = cloud.list_resources(TypeName=RULE)
    cloud.add(RULE, hidden)
    cloud.list_resources = lambda **_: {**listed, "NextToken": None}  # type: ignore[method-assign]
    assert identifier(cloud, RULE, "hidden|nightly") == hidden
    with pytest.raises(NoSuchResourceError, match="2 checked"):
        identifier(cloud, RULE, "gone|nightly")


@pytest.mark.parametrize("physical_id", ["orders/nightly", "default|orders/nightly", "aws.partner/x|y/nightly"])
def test_a_path_is_no_name_of_a_rule(physical_id: str) -> None:
    with pytest.raises(NoSuchResourceError):
        identifier(rules(), RULE, physical_id)


def test_a_rule_is_not_found_where_there_are_none() -> None:
    with pytest.raises(NoSuchResourceError, match=r"No AWS::Events::Rule with physical ID nightly in eu-west-1 \(0"):
        identifier(cloud_of(RULE), RULE, "nightly")


@pytest.mark.parametrize(
    ("type_name", "physical_id", "found"),
    [
        ("AWS::Batch::JobDefinition", "resize", "resize"),
        ("AWS::ECR::RepositoryCreationTemplate", "team/", "team"),
        ("AWS::EC2::TransitGatewayRouteTablePropagation", "tgw-attach-1_tgw-rtb-2", "tgw-rtb-2|tgw-attach-1"),
        ("AWS::EC2::TransitGatewayRouteTablePropagation", "tgw-rtb-2|tgw-attach-1", "tgw-rtb-2|tgw-attach-1"),
        ("AWS::EC2::SecurityGroup", "sg-1", "sg-1"),
    ],
)
def test_some_physical_ids_are_other_forms_of_the_identifier(type_name: str, physical_id: str, found: str) -> None:
    assert identifier(FakeCloudControl(), type_name, physical_id) == found


def test_an_arn_of_another_region_is_not_cut_down_to_a_name_that_is_here_too() -> None:
    kind = "AWS::Batch::JobDefinition"
    cloud = cloud_of(kind, "resize")
    assert identifier(cloud, kind, arn("batch", "job-definition/resize:3")) == "resize"
    with pytest.raises(NoSuchResourceError):
        identifier(cloud, kind, arn("batch", "job-definition/resize:3", "us-east-1"))
    reported = FakeCloudControl({kind: {"resize": {"JobDefinitionArn": arn("batch", "job-definition/resize:4")}}})
    for way in ("physical_id", "arn"):
        assert by(reported, kind, None, **{way: arn("batch", "job-definition/resize:4")}) == "resize"
        for other in (
            arn("batch", "job-definition/resize:3"),
            f"arn:aws:batch:{REGION}:222222222222:job-definition/resize:4",
        ):
            with pytest.raises(NoSuchResourceError):
                by(reported, kind, None, **{way: other})


def test_a_security_group_may_be_known_by_its_name() -> None:
    kind = "AWS::EC2::SecurityGroup"
    cloud = FakeCloudControl({kind: {"sg-1": {"GroupName": "web"}, "sg-2": {"GroupName": "other-web"}}}, listed=[])
    assert identifier(cloud, kind, "web") == "sg-1"


def test_what_is_ones_id_and_anothers_name_is_the_one_that_is_called_so() -> None:
    kind = "AWS::ElastiCache::User"
    made = {"first": {"UserName": "web"}, "web": {"UserName": "other"}, "second": {"UserName": "api"}}
    cloud = FakeCloudControl({kind: made}, listed=[])
    assert identifier(cloud, kind, "api") == "second"
    assert identifier(cloud, kind, "web") == "first"
    with pytest.raises(NoSuchResourceError, match=r"physical ID second in eu-west-1 \(3 checked\)"):
        identifier(cloud, kind, "second")


# 2. and 3. Single identifiers.


def test_an_arn_is_taken_as_it_is() -> None:
    cloud = FakeCloudControl()
    assert identifier(cloud, TOPIC, arn("sns", "news")) == arn("sns", "news")
    assert not cloud.calls


def test_a_name_is_found_among_the_arns_and_never_at_the_end_of_another_one() -> None:
    cloud = cloud_of(TOPIC, arn("sns", "other-topic"), arn("sns", "topic"), arn("sns", "topic-other"))
    assert identifier(cloud, TOPIC, "topic") == arn("sns", "topic")
    with pytest.raises(NoSuchResourceError, match=r"No AWS::SNS::Topic with physical ID opic in eu-west-1 \(3 checked"):
        identifier(cloud, TOPIC, "opic")
    for piece in ("sns", REGION, ACCOUNT, "arn", "aws", "other"):
        with pytest.raises(NoSuchResourceError):
            identifier(cloud, TOPIC, piece)


def policies() -> FakeCloudControl:
    named = {"": "Reader", "a/b/": "Reader-2", "a/": "Writer", "b/": "Writer"}
    made = {
        f"arn:aws:iam::{ACCOUNT}:policy/{path}{name}": {"ManagedPolicyName": name, "Path": f"/{path}"}
        for path, name in named.items()
    }
    return FakeCloudControl({POLICY: made}, listed=[])


def test_behind_a_path_it_is_the_resource_that_says_what_its_name_is() -> None:
    cloud = policies()
    assert identifier(cloud, POLICY, "Reader-2").endswith("policy/a/b/Reader-2")
    assert cloud.calls["GetResource"] == 1
    assert identifier(policies(), POLICY, "a/b/Reader-2").endswith("policy/a/b/Reader-2")
    with pytest.raises(NoSuchResourceError):
        identifier(policies(), POLICY, "b/Reader-2")
    with pytest.raises(AmbiguousError, match=r"policy/a/Writer and .*policy/b/Writer"):
        identifier(policies(), POLICY, "Writer")


def test_what_stands_behind_the_last_slash_is_not_the_name_of_one_that_is_called_otherwise() -> None:
    made = {arn("imagebuilder", "component/web/base"): {"Name": "web/base"}}
    kind = "AWS::ImageBuilder::Component"
    with pytest.raises(NoSuchResourceError):
        identifier(FakeCloudControl({kind: made}), kind, "base")
    cloud = cloud_of(LISTENER, arn("elasticloadbalancing", "listener/app/web/1/2"))
    with pytest.raises(NoSuchResourceError):
        identifier(cloud, LISTENER, "2", LoadBalancerArn=arn("elasticloadbalancing", "loadbalancer/app/web/1"))


def test_any_other_single_identifier_is_the_physical_id() -> None:
    cloud = FakeCloudControl()
    assert identifier(cloud, BUCKET, "photos") == "photos"
    assert identifier(cloud, ROLE, "MyRole") == "MyRole"
    assert not cloud.calls


def test_it_has_to_be_what_else_is_known_of_it() -> None:
    assert identifier(FakeCloudControl(), BUCKET, "photos", BucketName="photos") == "photos"
    with pytest.raises(NoSuchResourceError, match="physical ID photos and the given properties"):
        identifier(FakeCloudControl(), BUCKET, "photos", BucketName="other")


# 4. Composite ones.


def stages() -> FakeCloudControl:
    return cloud_of(STAGE, "abc|prod", "abc|prod-2", "xyz|prod", "prod|abc", needs=("RestApiId",))


def test_a_whole_identifier_is_asked_for_first_and_alone() -> None:
    cloud = stages()
    assert identifier(cloud, STAGE, "abc|prod") == "abc|prod"
    assert cloud.calls == {"GetResource": 1}
    with pytest.raises(NoSuchResourceError, match=r"physical ID abc\|gone"):
        identifier(cloud, STAGE, "abc|gone")


def test_a_whole_identifier_of_another_parent_is_not_what_is_known() -> None:
    with pytest.raises(NoSuchResourceError):
        identifier(stages(), STAGE, "abc|prod", RestApiId="xyz")


def test_it_is_put_together_of_what_is_known() -> None:
    cloud = stages()
    assert identifier(cloud, STAGE, "prod", RestApiId="abc") == "abc|prod"
    assert cloud.calls == {"GetResource": 1}


def test_what_cannot_be_put_together_is_listed_with_no_more_than_is_needed() -> None:
    function = arn("lambda", "function:web")
    cloud = cloud_of(PERMISSION, f"{function}|web-sns-1", f"{function}|web-sns-11", needs=("FunctionName",))
    given = {"FunctionName": "web", "Action": "lambda:InvokeFunction", "Principal": "sns.amazonaws.com"}
    assert identifier(cloud, PERMISSION, "web-sns-1", **given) == f"{function}|web-sns-1"
    assert cloud.models == [{"FunctionName": "web"}] * 2  # Two pages.


def test_a_name_and_the_arn_of_the_same_parent_agree() -> None:
    cluster = arn("ecs", "cluster/web")
    service = arn("ecs", "service/web/api")
    cloud = cloud_of(SERVICE, f"{service}|{cluster}")
    for known in ("web", cluster):
        assert identifier(cloud, SERVICE, service, Cluster=known) == f"{service}|{cluster}"
    by_name = cloud_of(SERVICE, f"{service}|web")
    assert identifier(by_name, SERVICE, service, Cluster=cluster) == f"{service}|web"
    with pytest.raises(NoSuchResourceError):
        identifier(by_name, SERVICE, service, Cluster=arn("ecs", "cluster/web", "us-east-1"))
    with pytest.raises(NoSuchResourceError):
        identifier(cloud, SERVICE, service, Cluster="we")


def test_an_own_part_that_is_known_is_not_taken_for_the_parents_name() -> None:
    cloud = cloud_of("AWS::GuardDuty::IPSet", "a|a", "a|b")
    with pytest.raises(AmbiguousError, match="could be"):
        identifier(cloud, "AWS::GuardDuty::IPSet", "a", Id="a")
    assert identifier(cloud, "AWS::GuardDuty::IPSet", "a", Id="a", DetectorId="b") == "a|b"


def test_two_that_it_could_be_are_both_named() -> None:
    cloud = cloud_of("AWS::Logs::MetricFilter", "group-a|errors", "group-b|errors")
    with pytest.raises(AmbiguousError) as refused:
        identifier(cloud, "AWS::Logs::MetricFilter", "errors")
    assert refused.value.identifiers == ["group-a|errors", "group-b|errors"]
    assert "group-a|errors and group-b|errors" in str(refused.value)
    found = identifier(cloud, "AWS::Logs::MetricFilter", "errors", LogGroupName="group-b")
    assert found == "group-b|errors"


@pytest.mark.parametrize("at_once", [True, False])
def test_what_the_service_asks_for_is_added_and_it_is_asked_again(at_once: bool) -> None:
    kind = "AWS::Logs::MetricFilter"
    cloud = cloud_of(kind, "group|errors", needs=("LogGroupName", "Stream", "Colour"))
    cloud.told_at_once = at_once
    known = {"Stream": "s", "Colour": "c", "Unasked": "u", "FilterName": "errors"}
    cloud.needs[kind] = ("Stream", "Colour")
    assert identifier(cloud, kind, "errors", **known) == "group|errors"
    assert cloud.models[-1] == {"Stream": "s", "Colour": "c", "FilterName": "errors"}


def test_what_the_service_asks_for_and_is_not_known_is_reported() -> None:
    cloud = cloud_of(LISTENER, arn("elasticloadbalancing", "listener/app/web/1/2"), needs=("LoadBalancerArn",))
    with pytest.raises(MissingPropertyError) as refused:
        identifier(cloud, LISTENER, "web")
    assert refused.value.missing == ["LoadBalancerArn"]
    assert "--property LoadBalancerArn=…" in str(refused.value)
    assert "Properties: {LoadBalancerArn: …}" in str(refused.value)


def test_a_service_that_asks_for_what_it_was_reported_is_asked_no_more() -> None:
    cloud = cloud_of(TOPIC, arn("sns", "news"))
    cloud.failing["ListResources"] = [error("InvalidRequestException", "Required property: [Scope]")] * 3
    with pytest.raises(RejectedPropertyError, match="its service still requires Scope, although given"):
        identifier(cloud, TOPIC, "news", Scope="all")
    assert cloud.calls["ListResources"] == 2


def test_a_service_that_asks_for_one_after_another_is_asked_again_a_few_times_only() -> None:
    kind = "AWS::Logs::MetricFilter"
    asked = [f"P{number}" for number in range(reader.LIST_ATTEMPTS + 3)]
    cloud = cloud_of(kind, "group|errors", needs=tuple(asked))
    cloud.told_at_once = False
    with pytest.raises(RejectedPropertyError, match="still requires P4, although given"):
        identifier(cloud, kind, "errors", **dict.fromkeys(asked, "x"))
    assert cloud.calls["ListResources"] == reader.LIST_ATTEMPTS


@pytest.mark.parametrize(
    ("known", "model"),
    [
        ({"ScalableDimension": "ecs:service:DesiredCount"}, {"ServiceNamespace": "ecs"}),
        ({"ScalingTargetId": "service/web/api|ecs:service:DesiredCount|ecs"}, {"ServiceNamespace": "ecs"}),
        ({"ServiceNamespace": "ecs"}, {"ServiceNamespace": "ecs"}),
    ],
)
def test_a_scaling_policys_namespace_follows_from_its_dimension_or_its_target(
    known: Mapping[str, str], model: Mapping[str, str]
) -> None:
    policy = arn("autoscaling", "scalingPolicy:1:resource/ecs/service/web/api:policyName/up")
    cloud = cloud_of(SCALING, f"{policy}|ecs:service:DesiredCount", needs=("ServiceNamespace",))
    cloud.failing["GetResource"] = [error("GeneralServiceException")]  # So that it has to be listed.
    assert identifier(cloud, SCALING, policy, **known) == f"{policy}|ecs:service:DesiredCount"
    assert cloud.models[0].items() >= model.items()


def test_a_scaling_policys_dimension_follows_from_its_target() -> None:
    policy = arn("autoscaling", "scalingPolicy:1:resource/ecs/service/web/api:policyName/up")
    cloud = cloud_of(SCALING, f"{policy}|ecs:service:DesiredCount")
    target = "service/web/api|ecs:service:DesiredCount|ecs"
    assert identifier(cloud, SCALING, policy, ScalingTargetId=target) == f"{policy}|ecs:service:DesiredCount"
    assert cloud.calls == {"GetResource": 1}
    with pytest.raises(MissingPropertyError, match="ServiceNamespace"):
        identifier(cloud, SCALING, policy, ScalingTargetId="")


def test_inside_a_property_dots_lead() -> None:
    kind = "AWS::QuickSight::RefreshSchedule"
    known = {"AwsAccountId": ACCOUNT, "DataSetId": "d", "Schedule.ScheduleId": "s"}
    cloud = cloud_of(kind, f"{ACCOUNT}|d|s")
    assert identifier(cloud, kind, "s", **known) == f"{ACCOUNT}|d|s"


# By name, ARN and tags.


def by(cloud: FakeCloudControl, type_name: str, tagging: FakeTagging | None = None, **way: object) -> str:
    return finder(cloud, tagging).identifier(ResourceQuery(type_name, **way))  # type: ignore[arg-type]


def test_a_name_is_the_identifier_or_part_of_it_where_that_is_called_so() -> None:
    assert by(FakeCloudControl(), BUCKET, name="photos") == "photos"
    table = cloud_of("AWS::Timestream::Table", "d|t", "d|t2")
    assert by(table, "AWS::Timestream::Table", name="t", properties={"DatabaseName": "d"}) == "d|t"


def test_a_name_is_found_in_an_arn() -> None:
    cloud = cloud_of(TOPIC, arn("sns", "news"), arn("sns", "other-news"))
    assert by(cloud, TOPIC, name="news") == arn("sns", "news")
    assert cloud.calls["GetResource"] == 1  # It may be called otherwise.


def apis(count: int = 3) -> FakeCloudControl:
    made = {f"id{number}": {"Name": f"api{number}"} for number in range(count)}
    return FakeCloudControl({"AWS::ApiGateway::RestApi": made}, listed=[])


def test_where_identifiers_have_no_names_each_resource_is_asked_for_its_own() -> None:
    cloud = apis()
    assert by(cloud, "AWS::ApiGateway::RestApi", name="api1") == "id1"
    assert cloud.calls["GetResource"] == 3
    cloud.add("AWS::ApiGateway::RestApi", "id9", Name="api1")
    with pytest.raises(AmbiguousError, match="id1 and id9"):
        by(cloud, "AWS::ApiGateway::RestApi", name="api1")
    reported = apis()
    reported.listed = ["Name"]
    assert by(reported, "AWS::ApiGateway::RestApi", name="api2") == "id2"
    assert reported.calls["GetResource"] == 0


def test_no_more_are_asked_than_is_reasonable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arn_search, "MAX_READS", 2)
    with pytest.raises(TooManyError, match="3 resources would have to be read one by one; the limit is 2"):
        by(apis(), "AWS::ApiGateway::RestApi", name="api1")


def test_an_arn_is_the_identifier_or_the_own_part_of_it() -> None:
    cloud = cloud_of(TOPIC, arn("sns", "news"))
    assert by(cloud, TOPIC, arn=arn("sns", "news")) == arn("sns", "news")
    service = arn("ecs", "service/web/api")
    services = cloud_of(SERVICE, f"{service}|web", f"{arn('ecs', 'service/web/other-api')}|web")
    assert by(services, SERVICE, arn=service) == f"{service}|web"


def test_an_arn_leads_to_an_identifier_that_is_none_if_the_resource_says_that_it_is_its() -> None:
    kind = "AWS::DynamoDB::Table"
    cloud = FakeCloudControl({kind: {"web": {"Arn": arn("dynamodb", "table/web"), "TableName": "web"}}})
    assert by(cloud, kind, arn=arn("dynamodb", "table/web")) == "web"
    for foreign in (arn("lambda", "function:web"), arn("dynamodb", "table/other/web")):
        with pytest.raises(NoSuchResourceError):
            by(cloud, kind, arn=foreign)


def test_an_arn_that_holds_no_identifier_is_looked_for_among_all() -> None:
    kind, url = "AWS::SQS::Queue", "https://sqs.eu-west-1.amazonaws.com/111111111111/jobs"
    cloud = FakeCloudControl({kind: {url: {"Arn": arn("sqs", "jobs")}, f"{url}-2": {"Arn": arn("sqs", "jobs-2")}}})
    cloud.listed = []
    assert by(cloud, kind, arn=arn("sqs", "jobs")) == url


def test_a_resource_that_does_not_say_its_arn_is_reported_by_type_and_id() -> None:
    kind = "AWS::EC2::VPC"
    cloud = FakeCloudControl({kind: {"vpc-1": {"VpcId": "vpc-1"}, "vpc-2": {}}})
    assert by(cloud, kind, arn=arn("ec2", "vpc/vpc-1")) == "vpc-1"
    for foreign in (arn("ec2", "subnet/vpc-1"), arn("lattice", "vpc/vpc-1")):
        with pytest.raises(NoSuchResourceError):
            by(cloud, kind, arn=foreign)


def test_what_has_the_arn_has_to_be_what_else_is_known_of_it() -> None:
    kind, reported = "AWS::DynamoDB::Table", arn("dynamodb", "table/web")
    cloud = FakeCloudControl({kind: {"web": {"Arn": reported}}, TOPIC: {arn("sns", "news"): {}}})
    assert by(cloud, kind, arn=reported, properties={"TableName": "web"}) == "web"
    for wanted, text, known in ((kind, reported, {"TableName": "api"}), (TOPIC, arn("sns", "news"), {"TopicArn": "x"})):
        with pytest.raises(NoSuchResourceError):
            by(cloud, wanted, arn=text, properties=known)


def test_an_arn_of_another_region_is_nothing_here() -> None:
    cloud = cloud_of(TOPIC, arn("sns", "news", "us-east-1"))
    with pytest.raises(NoSuchResourceError, match="in eu-west-1"):
        by(cloud, TOPIC, arn=arn("sns", "news", "us-east-1"))


def test_a_composite_identifier_is_found_by_arn_by_what_its_resource_says() -> None:
    kind = "AWS::WAFv2::WebACL"
    reported = arn("wafv2", "regional/webacl/main/1")
    cloud = FakeCloudControl({kind: {"main|1|REGIONAL": {"Arn": reported}, "main|2|REGIONAL": {"Arn": "x"}}})
    assert by(cloud, kind, arn=reported, properties={"Scope": "REGIONAL"}) == "main|1|REGIONAL"
    group = "AWS::Cognito::UserPoolReplica"
    shapeless = cloud_of(group, "pool|eu-west-1", "pool|a|b")
    with pytest.raises(NoSuchResourceError):
        by(shapeless, group, arn=arn("cognito-idp", "userpool/pool"), properties={"UserPoolId": "pool"})


def tagged(*arns: str) -> FakeTagging:
    return FakeTagging({each: {"app": "shop", "stage": "prod"} for each in arns})


def test_tags_lead_to_the_one_resource_of_the_type_that_has_them() -> None:
    cloud = cloud_of(TOPIC, arn("sns", "news"), arn("sns", "other"))
    tagging = tagged(arn("sns", "news"), arn("sqs", "jobs"))
    tagging.tagged[arn("sns", "other")] = {"app": "shop"}
    assert by(cloud, TOPIC, tagging, tags={"app": "shop", "stage": "prod"}) == arn("sns", "news")
    assert tagging.requests[0]["ResourceTypeFilters"] == ["sns"]
    with pytest.raises(AmbiguousError):
        by(cloud, TOPIC, tagging, tags={"app": "shop"})
    with pytest.raises(NoSuchResourceError, match=r"tags app in eu-west-1 \(0 checked\)"):
        by(cloud, TOPIC, tagging, tags={"app": "other"})


def test_other_types_of_the_same_service_with_the_same_tags_and_names_are_no_matter() -> None:
    kind = "AWS::RDS::DBInstance"
    made = {"web": {"DBInstanceArn": arn("rds", "db:web")}, "api": {"DBInstanceArn": arn("rds", "db:api")}}
    tagging = tagged(arn("rds", "cluster:web"), arn("rds", "db:api"), arn("rds", "snapshot:api"))
    assert by(FakeCloudControl({kind: made}), kind, tagging, tags={"app": "shop"}) == "api"
    subnets = tagged(arn("ec2", "subnet/subnet-1"), arn("ec2", "vpc/vpc-2"))
    cloud = cloud_of("AWS::EC2::VPC", "vpc-1", "vpc-2")
    assert by(cloud, "AWS::EC2::VPC", subnets, tags={"app": "shop"}) == "vpc-2"
    assert cloud.calls["GetResource"] == 1


def test_an_arn_of_another_type_does_not_keep_from_finding_the_one_that_is_tagged() -> None:
    """That it is none could only be reported by a list, for which more would have to be known."""
    kind, reported = "AWS::Route53GlobalResolver::AccessToken", arn("route53globalresolver", "token/t-1")
    cloud = FakeCloudControl({kind: {"t-1": {"Arn": reported}}}, needs={kind: ("DnsViewId",)})
    other = arn("route53globalresolver", "view/v-1")
    assert by(cloud, kind, tagged(other, reported), tags={"app": "shop"}) == "t-1"
    with pytest.raises(MissingPropertyError, match="DnsViewId"):
        by(cloud, kind, tagged(other), tags={"app": "shop"})
    with pytest.raises(UnsupportedError):
        by(FakeCloudControl(), kind, tagged(other), tags={"app": "shop"})


def test_what_has_no_tags_is_not_looked_for_by_tags() -> None:
    for kind, tagging in (("AWS::Scheduler::Schedule", FakeTagging()), (BUCKET, None)):
        with pytest.raises(ResourceQueryError, match="cannot be found by tags"):
            by(FakeCloudControl(), kind, tagging, tags={"app": "shop"})


def test_too_many_tagged_resources_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arn_search, "MAX_READS", 1)
    with pytest.raises(TooManyError):
        by(cloud_of(TOPIC), TOPIC, tagged(arn("sns", "a"), arn("sns", "b")), tags={"app": "shop"})


# What is refused.


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        (ResourceQuery(BUCKET), "got nothing"),
        (ResourceQuery(BUCKET, physical_id="a", name="b"), "got physical ID and name"),
        (ResourceQuery(BUCKET, arn="arn:aws:s3:::a", tags={"a": "b"}), "got ARN and tags"),
        (ResourceQuery(BUCKET, physical_id=""), "the physical ID must not be empty"),
        (ResourceQuery(BUCKET, name=""), "the name must not be empty"),
        (ResourceQuery(BUCKET, arn="photos"), "this is not an ARN"),
    ],
)
def test_a_resource_is_named_in_exactly_one_way(query: ResourceQuery, problem: str) -> None:
    cloud = FakeCloudControl()
    with pytest.raises(ResourceQueryError, match=problem):
        finder(cloud).find(query)
    assert not cloud.calls


def test_a_type_that_does_not_support_it_is_reported() -> None:
    with pytest.raises(UnsupportedError, match="AWS::SNS::Topic does not support ListResources of Cloud Control"):
        identifier(FakeCloudControl(), TOPIC, "news")
    with pytest.raises(UnsupportedError, match="AWS::S3::Bucket does not support GetResource"):
        finder(FakeCloudControl()).find(ResourceQuery(BUCKET, physical_id="photos"))
    with pytest.raises(UnknownTypeError):
        identifier(FakeCloudControl(), "AWS::No::Such", "x")


def test_what_there_is_none_of_is_reported_with_where_and_how_many() -> None:
    with pytest.raises(NoSuchResourceError, match="No AWS::S3::Bucket with identifier photos in eu-west-1"):
        finder(FakeCloudControl({BUCKET: {}})).find(ResourceQuery(BUCKET, physical_id="photos"))


def test_an_identifier_that_its_service_does_not_understand_is_none_of_its() -> None:
    cloud = stages()
    cloud.failing["GetResource"] = [error("InvalidRequestException", "Invalid identifier provided")]
    with pytest.raises(NoSuchResourceError):
        identifier(cloud, STAGE, "abc|prod")
    cloud.failing["GetResource"] = [error("GeneralServiceException")]
    with pytest.raises(CloudControlError, match=r"GetResource of AWS::ApiGateway::Stage abc\|prod in .* failed"):
        identifier(cloud, STAGE, "abc|prod")


# Nothing is asked twice.


def test_each_list_and_each_resource_is_asked_for_once() -> None:
    cloud = cloud_of(TOPIC, arn("sns", "news"), arn("sns", "jobs"))
    looking = finder(cloud)
    for name in ("news", "jobs", "news"):
        looking.find(ResourceQuery(TOPIC, physical_id=name))
    assert cloud.calls == {"ListResources": 2, "GetResource": 2}  # Two pages; each resource once.
    for _ in range(2):
        with pytest.raises(NoSuchResourceError):
            looking.find(ResourceQuery(TOPIC, physical_id=arn("sns", "gone")))
    assert cloud.calls["GetResource"] == 3


def test_no_more_is_kept_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "RESOURCES_CACHED", 1)
    cloud = cloud_of(BUCKET, "a", "b")
    looking = finder(cloud)
    for name in ("a", "a", "b", "a"):
        looking.find(ResourceQuery(BUCKET, physical_id=name))
    assert cloud.calls["GetResource"] == 3


# Attributes.


def test_an_attribute_is_reported_as_it_is_and_dots_lead_inside() -> None:
    kind = "AWS::RDS::DBInstance"
    reported = {"Endpoint": {"Address": "db.example.com", "Port": 5432}, "MultiAZ": True, "Tags": [{"Key": "a"}]}
    found = finder(FakeCloudControl({kind: {"db": reported}})).find(ResourceQuery(kind, physical_id="db"))
    assert attribute(found, "Endpoint.Address") == "db.example.com"
    assert attribute(found, "Endpoint") == reported["Endpoint"]
    assert attribute(found, "MultiAZ") is True
    assert attribute(found, "Tags") == reported["Tags"]
    with pytest.raises(NoSuchAttributeError, match=r"Did you mean Endpoint.Address"):
        attribute(found, "Endpoint.Adress")
    with pytest.raises(NoSuchAttributeError, match=r"It has Endpoint, Endpoint.Address, Endpoint.Port, MultiAZ and T"):
        attribute(found, "Quux")
    with pytest.raises(NoSuchAttributeError):
        attribute(found, "MultiAZ.Zone")
    with pytest.raises(NoSuchAttributeError, match="has none"):
        attribute(finder(cloud_of(BUCKET, "a")).find(ResourceQuery(BUCKET, physical_id="a")), "Arn")
