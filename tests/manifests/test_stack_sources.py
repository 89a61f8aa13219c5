"""Values of stacks: outputs and attributes, nested ones too, and what a template says of a resource."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from strongref.aws.cloud_control import Resource
from strongref.aws.errors import NoSuchResourceError, UnsupportedError
from strongref.lookup.errors import AmbiguousError, MissingPropertyError, RejectedPropertyError
from strongref.lookup.search import Finder
from strongref_manifests.errors import OutputNotFetchedError, ResourceNotFoundError, UnknownAttributeError
from strongref_manifests.sources.attributes import StackAttributes, StackTemplates, finder_in
from strongref_manifests.sources.outputs import StackOutputs, StackResource, StackResources
from strongref_manifests.tokens import Token
from strongref_toolkit.aws import Aws
from strongref_toolkit.errors import AwsCallError, NoWayInError
from tests.support.fake_cloudcontrol import FakeCloudControl, finder
from tests.support.watched import EU, HIDDEN, OTHER, OWN, US, Watched, aws_of, denied, in_moto, token

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strongref.errors import StrongRefError
    from strongref.lookup.query import ResourceQuery
    from strongref_toolkit.aws import Where

TOPIC = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "reported"}}
TEMPLATE: dict[str, Any] = {
    "Resources": {"Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "mine"}}, "Topic": TOPIC},
    "Outputs": {"BucketName": {"Value": {"Ref": "Bucket"}}, "TopicArn": {"Value": {"Ref": "Topic"}}},
}


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    yield from in_moto(monkeypatch)


def deploy(name: str, region: str = EU, template: Mapping[str, Any] = TEMPLATE, **client: Any) -> None:
    cloudformation: Any = boto3.Session(**client).client("cloudformation", region)
    cloudformation.create_stack(StackName=name, TemplateBody=json.dumps(template))


def nested(name: str = "parent") -> None:
    """A stack with a stack in it with a stack in it."""
    bucket = boto3.client("s3", US)
    bucket.create_bucket(Bucket="templates")

    def put(key: str, template: Mapping[str, Any]) -> dict[str, Any]:
        bucket.put_object(Bucket="templates", Key=key, Body=json.dumps(template))
        url = f"https://s3.amazonaws.com/templates/{key}"
        return {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": url}}

    innermost = put("innermost", {"Resources": {"Topic": TOPIC}, "Outputs": {"Name": {"Value": "innermost"}}})
    middle = put(
        "middle", {"Resources": {"Inner": innermost, "Topic": TOPIC}, "Outputs": {"Name": {"Value": "middle"}}}
    )
    deploy(
        name, template={"Resources": {"Middle": middle, "Topic": TOPIC}, "Outputs": {"Name": {"Value": "outermost"}}}
    )


def test_an_output_is_had_in_its_own_region_by_one_call_for_each_stack(clients: Watched) -> None:
    for region in (EU, US):
        deploy(
            "aws",
            region,
            {"Resources": {"Topic": TOPIC}, "Outputs": {"Where": {"Value": region}, "Same": {"Value": "same"}}},
        )
    outputs = StackOutputs(aws_of(clients))
    asked = ["${cfn:aws.Where}", "${cfn:aws.Same}", f"${{cfn:aws.Where@{EU}}}", f"${{cfn:aws.Where@{US}}}"]
    outputs.prefetch([token(each) for each in asked])
    assert [outputs.fetch(token(each)) for each in asked] == [EU, "same", EU, US]
    assert clients.calls == {"DescribeStacks": 2}
    assert outputs.value("aws", "Where", US, OWN) == US
    assert clients.calls == {"DescribeStacks": 2, "GetCallerIdentity": 1}


def test_an_output_of_another_account_is_had_by_a_role_there(clients: Watched) -> None:
    sts = boto3.client("sts", EU)
    given = sts.assume_role(RoleArn=f"arn:aws:iam::{OTHER}:role/reader", RoleSessionName="test")["Credentials"]
    deploy(
        "aws",
        template={**TEMPLATE, "Outputs": {"Whose": {"Value": "theirs"}}},
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
    )
    outputs = StackOutputs(aws_of(clients, role="arn:aws:iam::ACCOUNT:role/reader"))
    assert outputs.fetch(token(f"${{cfn:aws.Whose#{OTHER}}}")) == "theirs"
    with pytest.raises(NoWayInError, match="Give the role to assume in it"):
        StackOutputs(aws_of(clients)).value("aws", "Whose", account=OTHER)


def test_a_missing_output_and_a_missing_stack_are_reported_as_the_cdk_s_users_know_it(clients: Watched) -> None:
    deploy("aws", template={"Resources": {"Topic": TOPIC}})
    outputs = StackOutputs(aws_of(clients))
    for _ in range(2):
        with pytest.raises(OutputNotFetchedError) as missing:
            outputs.value("aws", "BucketName")
        with pytest.raises(OutputNotFetchedError) as absent:
            outputs.value("gone", "BucketName")
    assert str(missing.value) == (
        "Failed fetching output value for output key 'BucketName' (stack: aws). Error: Output not found. "
        "Are you sure you deployed the CDK stack?"
    )
    assert str(absent.value) == (
        "Failed fetching output value for output key 'BucketName' (stack: gone). Error: Output not found. "
        "Are you sure you deployed the CDK stack? There is no stack gone in eu-west-1."
    )
    assert clients.calls == {"DescribeStacks": 2}


def test_an_error_of_cloudformation_s_is_reported_by_its_code_and_asked_for_once(clients: Watched) -> None:
    denied(clients, "DescribeStacks")
    outputs = StackOutputs(aws_of(clients))
    for _ in range(2):
        with pytest.raises(OutputNotFetchedError) as failed:
            outputs.value("aws", "BucketName")
    assert str(failed.value) == (
        "Failed fetching output value for output key 'BucketName' (stack: aws). Error: DescribeStacks of stack aws in "
        "eu-west-1 failed: AccessDenied. Check the caller's credentials and permissions, the account and the region."
    )
    assert clients.calls["DescribeStacks"] == 1


def test_outputs_of_nested_stacks_are_reached_by_logical_ids(clients: Watched) -> None:
    nested()
    outputs = StackOutputs(aws_of(clients))
    assert outputs.fetch(token("${cfn:parent.Name}")) == "outermost"
    assert outputs.fetch(token("${cfn:parent.Middle.Name}")) == "middle"
    assert outputs.fetch(token("${cfn:parent.Middle.Inner.Name}")) == "innermost"
    assert clients.calls == {"DescribeStacks": 3, "DescribeStackResource": 2}
    with pytest.raises(OutputNotFetchedError, match="Topic is not a nested stack but AWS::SNS::Topic"):
        outputs.fetch(token("${cfn:parent.Topic.Name}"))
    with pytest.raises(OutputNotFetchedError, match="There is no resource Gone in stack parent in eu-west-1"):
        outputs.fetch(token("${cfn:parent.Gone.Name}"))


class Resources:
    """`lookup.reader.CloudControl` with a few resources, by type and identifier."""

    region = EU

    def __init__(self, known: Mapping[tuple[str, str], Mapping[str, Any]]) -> None:
        self.known = known
        self.asked: list[str] = []

    def get(self, type_name: str, identifier: str) -> Resource:
        self.asked.append(identifier)
        return Resource(type_name, identifier, self.known[type_name, identifier])

    def each(self, type_name: str, model: Mapping[str, str]) -> Iterator[Resource]:
        del type_name, model
        yield from ()


def attributes(clients: Watched, control: Resources) -> StackAttributes:
    return StackAttributes(StackOutputs(aws_of(clients)), lambda *_: Finder(control))


def test_ref_is_the_physical_id_and_all_else_is_asked_of_cloud_control_once(clients: Watched) -> None:
    deploy("aws")
    control = Resources(
        {("AWS::S3::Bucket", "mine"): {"Arn": "arn:aws:s3:::mine", "Tags": [{"Key": "a"}], "Nested": {"Size": 3}}}
    )
    source = attributes(clients, control)
    asked = ["Bucket.Ref", "Bucket.Arn", "Bucket.Nested.Size", "Bucket.Tags"]
    tokens = [token(f"${{cfn-attr:aws.{each}}}") for each in asked]
    source.prefetch(tokens)
    assert [source.fetch(each) for each in tokens] == ["mine", "arn:aws:s3:::mine", 3, [{"Key": "a"}]]
    assert control.asked == ["mine"]
    assert clients.calls == {"DescribeStackResource": 1}


def test_attributes_of_nested_stacks_resources_and_outputs_are_reached_by_logical_ids(clients: Watched) -> None:
    nested()
    stack = boto3.client("cloudformation", EU).describe_stack_resource(StackName="parent", LogicalResourceId="Middle")
    arn = stack["StackResourceDetail"]["PhysicalResourceId"]
    control = Resources({("AWS::CloudFormation::Stack", arn): {"StackName": "the-middle"}})
    source = attributes(clients, control)
    topic = f"arn:aws:sns:{EU}:{OWN}:reported"
    for reference, value in (
        ("parent.Topic.Ref", topic),
        ("parent.Middle.Topic.Ref", topic),
        ("parent.Middle.Inner.Topic.Ref", topic),
        ("parent.Middle.Ref", arn),
        ("parent.Middle.StackName", "the-middle"),
        ("parent.Middle.Outputs.Name", "middle"),
        ("parent.Middle.Inner.Outputs.Name", "innermost"),
    ):
        assert source.fetch(Token("cfn-attr", reference)) == value


def test_a_resource_that_is_not_there_is_reported(clients: Watched) -> None:
    deploy("aws")
    source = attributes(clients, Resources({}))
    for reference in ("aws.Gone.Ref", "gone.Bucket.Ref"):
        with pytest.raises(ResourceNotFoundError, match="Check the logical id"):
            source.fetch(Token("cfn-attr", reference))
    denied(clients, "DescribeStackResource")
    with pytest.raises(AwsCallError, match="DescribeStackResource of Other of stack aws in eu-west-1 failed: Acc"):
        source.fetch(Token("cfn-attr", "aws.Other.Ref"))


def test_a_resource_that_is_being_made_has_no_attributes(clients: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    detail = {"ResourceStatus": "CREATE_IN_PROGRESS", "ResourceType": "AWS::S3::Bucket"}
    monkeypatch.setattr(Aws, "call", lambda *_, **__: {"StackResourceDetail": detail})
    aws = aws_of(clients)
    with pytest.raises(ResourceNotFoundError):
        StackResources(aws).resource(aws.where(EU, None), "aws", "A")


@pytest.mark.parametrize("type_name", ["Custom::Thing", "AWS::CloudFormation::CustomResource"])
def test_what_only_cloudformation_knows_is_reported(
    clients: Watched, type_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = StackOutputs(aws_of(clients))
    monkeypatch.setattr(outputs.resources, "resource", lambda *_: StackResource(type_name, "id"))
    source = StackAttributes(outputs)
    assert source.fetch(Token("cfn-attr", "aws.Thing.Ref")) == "id"
    with pytest.raises(UnknownAttributeError, match="Make it an output of its stack"):
        source.fetch(Token("cfn-attr", "aws.Thing.Arn"))


API: dict[str, Any] = {
    "Parameters": {
        "Given": {"Type": "String", "Default": "by-parameter"},
        "Hidden": {"Type": "String", "Default": HIDDEN, "NoEcho": True},
    },
    "Resources": {
        "Api": {"Type": "AWS::ApiGateway::RestApi", "Properties": {"Name": "api"}},
        "Topic": TOPIC,
        "Stage": {
            "Type": "AWS::SNS::Topic",
            "Properties": {
                "TopicName": "stage",
                "DisplayName": {"Ref": "Given"},
                "KmsMasterKeyId": {"Fn::GetAtt": ["Topic", "TopicName"]},
                "SignatureVersion": 2,
                "FifoTopic": True,
                "TracingConfig": {"Ref": "Hidden"},
                "DataProtectionPolicy": {"Ref": "Nothing"},
                "ArchivePolicy": {"Ref": "Api"},
            },
        },
    },
}
YAML = """
Parameters: {Given: {Type: String, Default: by-parameter}}
Resources:
  Api: {Type: AWS::ApiGateway::RestApi, Properties: {Name: api}}
  Stage:
    Type: AWS::SNS::Topic
    Properties: {TopicName: !Ref Given, DisplayName: !Sub '${Given}', KmsMasterKeyId: !GetAtt Api.RootResourceId}
"""


def test_what_a_template_says_is_known_where_it_is_text_or_a_reference(
    clients: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy("api", template={**API, "Resources": {**API["Resources"], "Stage": TOPIC}})
    aws = aws_of(clients)
    asked: Any = aws.call

    def call(where: Where, action: str, *more: Any, **request: Any) -> Any:
        if action == "GetTemplate":
            return {"TemplateBody": API}
        answer = asked(where, action, *more, **request)
        if action == "DescribeStacks":
            hidden = [{"ParameterKey": "Hidden", "ParameterValue": "****"}]
            given = {"ParameterKey": "Given", "ParameterValue": "name", "ResolvedValue": "by-parameter"}
            answer["Stacks"][0]["Parameters"] = [given, *hidden]
        return answer

    monkeypatch.setattr(aws, "call", call)
    resources = StackResources(aws)
    where = aws.where(EU, None)
    assert StackTemplates(aws, resources).properties(where, "api", "Stage") == {
        "TopicName": "stage",
        "DisplayName": "by-parameter",
        "SignatureVersion": "2",
        "ArchivePolicy": resources.resource(where, "api", "Api").physical_id,
    }


def test_a_stack_is_described_once_for_its_outputs_and_for_its_parameters(clients: Watched) -> None:
    template = {"Parameters": API["Parameters"], "Resources": {"Topic": TOPIC}, "Outputs": {"A": {"Value": "a"}}}
    template["Resources"] = {"Topic": TOPIC, "Stage": {**TOPIC, "Properties": {"DisplayName": {"Ref": "Given"}}}}
    deploy("api", template=template)
    aws = aws_of(clients)
    outputs = StackOutputs(aws)
    assert outputs.value("api", "A") == "a"
    known = StackTemplates(aws, outputs.resources).properties(aws.where(EU, None), "api", "Stage")
    assert known == {"DisplayName": "by-parameter"}
    assert clients.calls == {"DescribeStacks": 1, "GetTemplate": 1}


def test_what_refers_to_no_parameter_needs_no_description_of_the_stack(clients: Watched) -> None:
    stage = {**TOPIC, "Properties": {"DisplayName": {"Ref": "Topic"}, "TopicName": {"Ref": "Given"}}}
    deploy("api", template={"Parameters": API["Parameters"], "Resources": {"Topic": TOPIC, "Stage": stage}})
    denied(clients, "DescribeStacks")
    aws = aws_of(clients)
    templates = StackTemplates(aws, StackResources(aws))
    where = aws.where(EU, None)
    assert templates.refusal(where, "api") is None
    assert templates.properties(where, "api", "Stage") == {"DisplayName": f"arn:aws:sns:{EU}:{OWN}:reported"}
    assert str(templates.refusal(where, "api")).startswith("DescribeStacks of stack api in eu-west-1 failed: AccessD")
    denied(clients, "GetTemplate")
    assert templates.properties(where, "other", "Stage") == {}
    assert str(templates.refusal(where, "other")).startswith("GetTemplate of stack other in eu-west-1 failed: AccessD")


@pytest.mark.parametrize("body", ["a: [", "just text", "[]"])
def test_a_template_that_cannot_be_read_says_nothing(
    clients: Watched, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws = aws_of(clients)
    monkeypatch.setattr(aws, "call", lambda *_, **__: {"TemplateBody": body})
    assert StackTemplates(aws, StackResources(aws)).properties(aws.where(EU, None), "x", "Stage") == {}


def test_a_template_in_yaml_is_read_with_its_functions_and_one_that_is_not_reported_is_no_obstacle(
    clients: Watched,
) -> None:
    boto3.client("cloudformation", EU).create_stack(StackName="api", TemplateBody=YAML)
    aws = aws_of(clients)
    templates = StackTemplates(aws, StackResources(aws))
    for _ in range(2):
        assert templates.properties(aws.where(EU, None), "api", "Stage") == {"TopicName": "by-parameter"}
        assert templates.properties(aws.where(EU, None), "gone", "Stage") == {}
    assert clients.calls == {"GetTemplate": 2, "DescribeStacks": 1}


class Unsure(Finder):
    """A finder that needs to know an API."""

    def __init__(self, error: StrongRefError) -> None:
        self.error = error
        self.asked: list[ResourceQuery] = []

    def find(self, wanted: ResourceQuery) -> Resource:
        self.asked.append(wanted)
        if "RestApiId" in wanted.hints:
            return Resource(wanted.type_name, "a|b", {"DeploymentId": "c"})
        raise self.error


STAGE = "AWS::ApiGateway::Stage"
MISSING = MissingPropertyError(STAGE, ["RestApiId"])


@pytest.mark.parametrize(
    "error", [MISSING, AmbiguousError(STAGE, "prod", ["a|prod", "b|prod"]), NoSuchResourceError(STAGE, "prod", EU)]
)
def test_where_a_physical_id_is_not_enough_the_template_helps(
    clients: Watched, error: StrongRefError, monkeypatch: pytest.MonkeyPatch
) -> None:
    unsure = Unsure(error)
    source = described(aws_of(clients), StackResource(STAGE, "a|prod"), {"RestApiId": "a"}, unsure, monkeypatch)
    for _ in range(2):
        assert source.fetch(Token("cfn-attr", "aws.It.DeploymentId")) == "c"
    assert [dict(each.hints) for each in unsure.asked] == [{}, {"RestApiId": "a"}]


def described(
    aws: Aws, resource: StackResource, properties: dict[str, object], looking: Finder, monkeypatch: pytest.MonkeyPatch
) -> StackAttributes:
    """Of a stack with one resource, `It`."""
    outputs = StackOutputs(aws)
    monkeypatch.setattr(outputs.resources, "resource", lambda *_: resource)
    template = {"Resources": {"It": {"Properties": properties}}}
    monkeypatch.setattr(aws, "call", lambda *_, **__: {"TemplateBody": template})
    return StackAttributes(outputs, lambda *_: looking)


FILTER = "AWS::Logs::MetricFilter"


def filters() -> Finder:
    cloud = FakeCloudControl()
    cloud.add(FILTER, "shop|errors", FilterName="errors", LogGroupName="shop", FilterPattern="x")
    return finder(cloud)


def test_one_that_is_gone_is_not_taken_for_that_of_another_parent(
    clients: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws, token = aws_of(clients), Token("cfn-attr", "aws.It.FilterPattern")
    errors = StackResource(FILTER, "errors")
    own = described(aws, errors, {"LogGroupName": "shop", "FilterPattern": "y"}, filters(), monkeypatch)
    assert own.fetch(token) == "x"  # What the template says is compared only where it identifies.
    others = described(aws, errors, {"LogGroupName": "web"}, filters(), monkeypatch)
    with pytest.raises(NoSuchResourceError):
        others.fetch(token)
    hidden = described(aws, errors, {"LogGroupName": {"Fn::Sub": "x"}}, filters(), monkeypatch)
    with pytest.raises(UnknownAttributeError, match="without LogGroupName, which its template hides"):
        hidden.fetch(token)
    unread = described(aws, errors, {}, filters(), monkeypatch)
    refused = AwsCallError("GetTemplate", "stack aws", EU, "AccessDenied")
    monkeypatch.setattr(aws, "call", lambda *_, **__: (_ for _ in ()).throw(refused))
    with pytest.raises(UnknownAttributeError, match="without LogGroupName, which could not be read"):
        unread.fetch(token)


def test_two_of_one_type_and_physical_id_are_distinguished_by_their_stack_and_logical_id(
    clients: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud = FakeCloudControl()
    groups = {("aws", "Shop"): "shop", ("aws", "Web"): "web", ("other", "Shop"): "mail"}
    for group in groups.values():
        cloud.add(FILTER, f"{group}|errors", FilterName="errors", LogGroupName=group, FilterPattern=f"in {group}")
    aws = aws_of(clients)
    outputs = StackOutputs(aws)
    monkeypatch.setattr(outputs.resources, "resource", lambda *_: StackResource(FILTER, "errors"))

    def call(*_: object, StackName: str, **__: object) -> Any:  # noqa: N803 (botocore's)
        own = {logical_id: group for (stack, logical_id), group in groups.items() if stack == StackName}
        return {"TemplateBody": {"Resources": {at: {"Properties": {"LogGroupName": own[at]}} for at in own}}}

    monkeypatch.setattr(aws, "call", call)
    source = StackAttributes(outputs, lambda *_: finder(cloud))
    for _ in range(2):
        for (stack, logical_id), group in groups.items():
            assert source.fetch(Token("cfn-attr", f"{stack}.{logical_id}.FilterPattern")) == f"in {group}"
    assert cloud.calls == {"GetResource": 3}


def test_a_parent_that_the_service_does_not_accept_is_not_called_hidden(
    clients: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking = Unsure(RejectedPropertyError(FILTER, ["LogGroupName"]))
    source = described(aws_of(clients), StackResource(FILTER, "a|errors"), {}, looking, monkeypatch)
    with pytest.raises(UnknownAttributeError, match="the service does not accept the LogGroupName of its"):
        source.fetch(Token("cfn-attr", "aws.It.FilterPattern"))


def test_one_that_is_gone_is_reported_to_be_so(clients: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = StackResource("AWS::S3::Bucket", "photos")
    looking = finder(FakeCloudControl({"AWS::S3::Bucket": {}}))
    for properties in ({}, {"BucketName": "photos"}):
        source = described(aws_of(clients), bucket, dict(properties), looking, monkeypatch)
        with pytest.raises(NoSuchResourceError):
            source.fetch(Token("cfn-attr", "aws.It.Arn"))


def test_one_that_is_known_by_its_arn_needs_no_parent(clients: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    cloud, service = FakeCloudControl(), "arn:aws:ecs:eu-west-1:111111111111:service/web/api"
    cloud.add("AWS::ECS::Service", f"{service}|web", ServiceName="api")
    given: dict[str, object] = {"Cluster": {"Fn::GetAtt": ["Cluster", "Arn"]}}
    resource = StackResource("AWS::ECS::Service", service)
    source = described(aws_of(clients), resource, given, finder(cloud), monkeypatch)
    assert source.fetch(Token("cfn-attr", "aws.It.ServiceName")) == "api"


@pytest.mark.parametrize(
    ("error", "reported"),
    [
        (MISSING, "its AWS::ApiGateway::Stage is not to be found without RestApiId, which its template hides"),
        (AmbiguousError(STAGE, "prod", ["a|prod", "b|prod"]), "2 resources could be its AWS::ApiGateway::Stage"),
        (UnsupportedError(STAGE, "GetResource", EU), "Cloud Control does not support GetResource for AWS::ApiGateway"),
    ],
)
def test_what_is_not_to_be_found_even_so_is_to_be_an_output(
    clients: Watched, error: StrongRefError, reported: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws = aws_of(clients)
    outputs = StackOutputs(aws)
    source = StackAttributes(outputs, lambda *_: Unsure(error))
    monkeypatch.setattr(outputs.resources, "resource", lambda *_: StackResource(STAGE, "prod"))
    with pytest.raises(UnknownAttributeError) as refused:
        source.fetch(Token("cfn-attr", "aws.Stage.DeploymentId"))
    assert str(refused.value).startswith(f"DeploymentId of Stage cannot be read: {reported}")
    assert str(refused.value).endswith("Make it an output of its stack, and write ${cfn:STACK.OUTPUT}.")


def test_what_could_not_be_read_is_reported_and_not_that_it_is_hidden(
    clients: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws = aws_of(clients)
    outputs = StackOutputs(aws)
    source = StackAttributes(outputs, lambda *_: Unsure(MISSING))
    monkeypatch.setattr(outputs.resources, "resource", lambda *_: StackResource(STAGE, "prod"))
    denied(clients, "GetTemplate")
    with pytest.raises(UnknownAttributeError) as refused:
        source.fetch(Token("cfn-attr", "aws.Stage.DeploymentId"))
    assert str(refused.value).startswith(
        "DeploymentId of Stage cannot be read: its AWS::ApiGateway::Stage is not to be found without RestApiId, which "
        "could not be read: GetTemplate of stack aws in eu-west-1 failed: AccessDenied."
    )
    assert ".." not in str(refused.value)


def test_cloud_control_is_asked_in_the_account_and_region_of_the_stack(clients: Watched) -> None:
    aws = aws_of(clients)
    assert isinstance(finder_in(aws, aws.where(US, None)), Finder)
    with pytest.raises(NoWayInError):
        finder_in(aws, aws.where(US, OTHER))
