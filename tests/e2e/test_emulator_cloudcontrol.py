"""What the emulator was given of Cloud Control and of the tagging API: without it, look-ups would find nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.e2e.templates import EU, US, stack

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

READ = "cloudformation:GetResource"
LIST = "cloudformation:ListResources"


@pytest.fixture(scope="module")
def aws(bare: Aws) -> Aws:
    return bare


@pytest.fixture
def control(aws: Aws) -> Any:
    """Cloud Control, as root."""
    return aws.client("cloudcontrol", US)


@dataclass(frozen=True)
class Users:
    """Makes users that may do what they are allowed and nothing else."""

    aws: Aws
    name: str

    def client(self, service: str, *actions: str, on: str = "*") -> Any:
        iam = self.aws.client("iam", US)
        iam.create_user(UserName=self.name)
        statement = {"Effect": "Allow", "Action": list(actions), "Resource": on}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_user_policy(UserName=self.name, PolicyName="narrow", PolicyDocument=document)
        key = iam.create_access_key(UserName=self.name)["AccessKey"]
        return self.aws.emulator.client(service, US, key=(key["AccessKeyId"], key["SecretAccessKey"]))


@pytest.fixture
def users(aws: Aws, names: Callable[[str], str]) -> Users:
    return Users(aws, names("narrow"))


def read(control: Any, type_name: str, identifier: str) -> dict[str, Any]:
    """A resource's properties."""
    answer = control.get_resource(TypeName=type_name, Identifier=identifier)
    assert answer["TypeName"] == type_name
    assert answer["ResourceDescription"]["Identifier"] == identifier
    properties: dict[str, Any] = json.loads(answer["ResourceDescription"]["Properties"])
    return properties


def listed(control: Any, type_name: str, **model: str) -> list[str]:
    """The identifiers of a type's resources, of all pages."""
    request = {"TypeName": type_name} | ({"ResourceModel": json.dumps(model)} if model else {})
    pages = control.get_paginator("list_resources").paginate(**request)
    return [each["Identifier"] for page in pages for each in page["ResourceDescriptions"]]


def refused(code: str, call: Callable[..., object], **request: object) -> str:
    """The message with which a call is refused."""
    with pytest.raises(ClientError) as caught:
        call(**request)
    assert caught.value.response["Error"]["Code"] == code
    message: str = caught.value.response["Error"]["Message"]
    return message


def deployed(aws: Aws, name: str) -> dict[str, str]:
    """One resource of each kind of identifier, deployed; their physical ids."""
    trust = {"Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}}]}
    resources = {
        "Bucket": {"Type": "AWS::S3::Bucket"},
        "Queue": {"Type": "AWS::SQS::Queue"},
        "Topic": {"Type": "AWS::SNS::Topic"},
        "Rule": {"Type": "AWS::Events::Rule", "Properties": {"ScheduleExpression": "rate(1 day)"}},
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": trust}},
        "Api": {"Type": "AWS::ApiGateway::RestApi", "Properties": {"Name": name}},
        "Path": {
            "Type": "AWS::ApiGateway::Resource",
            "Properties": {
                "RestApiId": {"Ref": "Api"},
                "ParentId": {"Fn::GetAtt": ["Api", "RootResourceId"]},
                "PathPart": "a",
            },
        },
        "Deployment": {"Type": "AWS::ApiGateway::Deployment", "Properties": {"RestApiId": {"Ref": "Api"}}},
        "Stage": {
            "Type": "AWS::ApiGateway::Stage",
            "Properties": {
                "RestApiId": {"Ref": "Api"},
                "DeploymentId": {"Ref": "Deployment"},
                "StageName": "prod",
                "Variables": {"Colour": "blue"},
            },
        },
        "Function": {
            "Type": "AWS::Lambda::Function",
            "Properties": {
                "Code": {"ZipFile": "def handler(*_): pass"},
                "Handler": "index.handler",
                "Runtime": "python3.13",
                "Role": {"Fn::GetAtt": ["Role", "Arn"]},
            },
        },
        "Permission": {
            "Type": "AWS::Lambda::Permission",
            "Properties": {
                "Action": "lambda:InvokeFunction",
                "FunctionName": {"Ref": "Function"},
                "Principal": "sns.amazonaws.com",
            },
        },
    }
    aws.deploy(name, stack(resources), US, "CREATE_COMPLETE")
    return aws.physical_ids(name, US)


def test_what_a_stack_has_made_is_read_and_listed_by_its_primary_identifier(
    aws: Aws, control: Any, names: Callable[[str], str]
) -> None:
    ids = deployed(aws, names("kinds"))
    region = f"{US}:{aws.account}"
    rule = f"arn:aws:events:{region}:rule/{ids['Rule']}"
    api, function = ids["Api"], ids["Function"]

    bucket = read(control, "AWS::S3::Bucket", ids["Bucket"])
    assert bucket["Arn"] == f"arn:aws:s3:::{ids['Bucket']}"
    assert bucket["RegionalDomainName"] == f"{ids['Bucket']}.s3.{US}.amazonaws.com"
    queue = read(control, "AWS::SQS::Queue", ids["Queue"])
    assert queue["Arn"] == f"arn:aws:sqs:{region}:{ids['Queue'].rpartition('/')[2]}"
    assert queue["VisibilityTimeout"] == 30
    assert read(control, "AWS::SNS::Topic", ids["Topic"])["TopicName"] == ids["Topic"].rpartition(":")[2]
    assert read(control, "AWS::Events::Rule", rule)["ScheduleExpression"] == "rate(1 day)"
    assert read(control, "AWS::IAM::Role", ids["Role"])["Arn"] == f"arn:aws:iam::{aws.account}:role/{ids['Role']}"
    assert read(control, "AWS::Lambda::Function", function)["Runtime"] == "python3.13"
    assert read(control, "AWS::Lambda::Permission", f"{function}|{ids['Permission']}")["Principal"] == (
        "sns.amazonaws.com"
    )
    assert read(control, "AWS::ApiGateway::Stage", f"{api}|prod")["Variables"] == {"Colour": "blue"}
    path = read(control, "AWS::ApiGateway::Resource", f"{api}|{ids['Path']}")
    assert (path["PathPart"], path["ParentId"]) == (
        "a",
        read(control, "AWS::ApiGateway::RestApi", api)["RootResourceId"],
    )

    assert ids["Bucket"] in listed(control, "AWS::S3::Bucket")
    assert rule in listed(control, "AWS::Events::Rule")
    assert listed(control, "AWS::ApiGateway::Stage", RestApiId=api) == [f"{api}|prod"]
    assert f"{api}|{ids['Path']}" in listed(control, "AWS::ApiGateway::Resource", RestApiId=api)
    assert listed(control, "AWS::Lambda::Permission", FunctionName=function) == [f"{function}|{ids['Permission']}"]

    assert ids["Topic"] not in listed(aws.client("cloudcontrol", EU), "AWS::SNS::Topic")
    assert ids["Bucket"] in listed(aws.client("cloudcontrol", EU), "AWS::S3::Bucket")
    elsewhere = {"TypeName": "AWS::S3::Bucket", "Identifier": ids["Bucket"]}
    refused("ResourceNotFoundException", aws.client("cloudcontrol", EU).get_resource, **elsewhere)


def test_rules_of_the_default_bus_alone_are_listed_and_read_by_either_form(
    aws: Aws, control: Any, names: Callable[[str], str]
) -> None:
    events, name = aws.client("events", US), names("nightly")
    events.create_event_bus(Name=names("bus"))
    on_default = events.put_rule(Name=name, ScheduleExpression="rate(1 day)")["RuleArn"]
    on_its_own = events.put_rule(Name=name, EventBusName=names("bus"), EventPattern='{"source": ["x"]}')["RuleArn"]
    assert [arn for arn in listed(control, "AWS::Events::Rule") if name in arn] == [on_default]
    for identifier, arn in ((name, on_default), (f"{names('bus')}|{name}", on_its_own), (on_its_own, on_its_own)):
        answer = control.get_resource(TypeName="AWS::Events::Rule", Identifier=identifier)
        assert answer["ResourceDescription"]["Identifier"] == arn


def test_a_list_is_reported_in_pages_that_hold_identifiers_alone(
    aws: Aws, control: Any, names: Callable[[str], str]
) -> None:
    sns, own = aws.client("sns", US), names("paged")
    arns = [sns.create_topic(Name=f"{own}-{number:02}")["TopicArn"] for number in range(30)]
    first = control.list_resources(TypeName="AWS::SNS::Topic", MaxResults=100)

    assert len(first["ResourceDescriptions"]) == 25
    assert first["NextToken"]
    assert {frozenset(json.loads(each["Properties"])) for each in first["ResourceDescriptions"]} == {
        frozenset({"TopicArn"})
    }
    assert [arn for arn in listed(control, "AWS::SNS::Topic") if own in arn] == arns
    refused("ValidationException", control.list_resources, TypeName="AWS::SNS::Topic", MaxResults=101)


def test_errors_have_the_services_codes_and_texts(control: Any) -> None:
    message = refused("ResourceNotFoundException", control.get_resource, TypeName="AWS::S3::Bucket", Identifier="none")
    assert message.startswith(
        "AWS::S3::Bucket Handler returned status FAILED: Resource of type 'AWS::S3::Bucket' with identifier 'none' was "
        "not found. (HandlerErrorCode: NotFound, RequestToken: "
    )
    stage = {"TypeName": "AWS::ApiGateway::Stage"}
    assert refused("ValidationException", control.get_resource, **stage, Identifier="prod") == (
        "Identifier prod is not valid for identifier [/properties/RestApiId, /properties/StageName]"
    )
    assert refused("InvalidRequestException", control.list_resources, **stage) == (
        "Missing or invalid ResourceModel property in AWS::ApiGateway::Stage list handler request input."
        "Required property:  (#: required key [RestApiId] not found)"
    )
    listener = {"TypeName": "AWS::ElasticLoadBalancingV2::Listener"}
    assert refused("InvalidRequestException", control.list_resources, **listener) == (
        "Missing Or Invalid ResourceModel property in AWS::ElasticLoadBalancingV2::Listener list handler request input."
        " Required property: [LoadBalancerArn]"
    )
    model = json.dumps({"RestApiId": "none"})
    refused("ResourceNotFoundException", control.list_resources, **stage, ResourceModel=model)
    assert refused("UnsupportedActionException", control.list_resources, TypeName="AWS::IAM::Policy") == (
        "Resource type AWS::IAM::Policy does not support LIST action"
    )
    assert refused("TypeNotFoundException", control.get_resource, TypeName="AWS::S3::Pail", Identifier="x") == (
        "The type 'AWS::S3::Pail' cannot be found."
    )


def test_a_read_needs_cloud_controls_permission_and_the_services(users: Users, aws: Aws) -> None:
    arn = aws.client("sns", US).create_topic(Name=users.name)["TopicArn"]
    topic = {"TypeName": "AWS::SNS::Topic", "Identifier": arn}
    client = users.client("cloudcontrol", READ, LIST)

    message = refused("AccessDeniedException", client.get_resource, **topic)
    assert message.startswith("AWS::SNS::Topic Handler returned status FAILED: User: ")
    assert f"is not authorized to perform: sns:GetTopicAttributes on resource: {arn} " in message
    assert "sns:ListTopics" in refused("AccessDeniedException", client.list_resources, TypeName="AWS::SNS::Topic")
    other = Users(aws, f"{users.name}-2").client("cloudcontrol", "sns:*")
    assert READ in refused("AccessDeniedException", other.get_resource, **topic)
    both = Users(aws, f"{users.name}-3").client("cloudcontrol", READ, "sns:GetTopicAttributes")
    assert read(both, type_name=topic["TypeName"], identifier=arn)["TopicArn"] == arn


def test_the_tagging_api_tells_pages_to_who_may_ask(users: Users, aws: Aws) -> None:
    sns, tag = aws.client("sns", US), {"Key": "test", "Value": users.name}
    arns = [sns.create_topic(Name=f"{users.name}-{number:03}", Tags=[tag])["TopicArn"] for number in range(120)]
    sns.create_topic(Name=f"{users.name}-other", Tags=[tag | {"Value": "other"}])
    wanted = {"TagFilters": [{"Key": "test", "Values": [users.name]}], "ResourceTypeFilters": ["sns"]}
    client = aws.client("resourcegroupstaggingapi", US)

    pages = list(client.get_paginator("get_resources").paginate(**wanted))
    assert [len(page["ResourceTagMappingList"]) for page in pages] == [50, 50, 20]
    assert [each["ResourceARN"] for page in pages for each in page["ResourceTagMappingList"]] == arns
    assert len(client.get_resources(**wanted, ResourcesPerPage=100)["ResourceTagMappingList"]) == 100
    refused("InvalidParameterException", client.get_resources, **wanted, ResourcesPerPage=101)
    denied = users.client("resourcegroupstaggingapi", "sns:*")
    assert "tag:GetResources" in refused("AccessDeniedException", denied.get_resources, **wanted)
