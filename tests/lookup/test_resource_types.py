"""The table of types: made from the schemas that are installed, of all of them, and right where it was seen on AWS."""

from __future__ import annotations

import json

import pytest

from strongref.lookup import overrides
from strongref.lookup.errors import UnknownTypeError
from strongref.lookup.resource_types import FILE, ResourceType, resource_type_of, types
from tests.support.documents import ROOT
from tools.identifiers import SCHEMAS, line, table


def test_it_is_what_the_installed_schemas_say() -> None:
    """If not, run `make lock`, or tools/identifiers.py."""
    assert FILE.read_text(encoding="utf-8") == table()


def test_every_type_of_the_schemas_is_known() -> None:
    """SAM's are replaced by others before anything is made of them; some have no identifier in their schema."""
    providers = list((SCHEMAS / "providers").glob("*.json"))
    assert len(providers) > 40
    files: dict[str, str] = {}
    for path in providers:
        files |= json.loads(path.read_text(encoding="utf-8"))
    schemas = {name: json.loads((SCHEMAS / f"resources/{file}.json").read_text()) for name, file in files.items()}
    every = {name for name, schema in schemas.items() if schema.get("primaryIdentifier")}
    assert set(types()) == every
    assert {name.split("::")[1] for name in schemas.keys() - every} == {"Serverless"}
    assert len(every) > 1800


def test_every_line_can_be_read() -> None:
    for name in types():
        resource_type = resource_type_of(name)
        assert resource_type.type_name == overrides.REPLACED.get(name, name)
        assert all(resource_type.identifier)
        assert resource_type.own is None or (
            resource_type.is_composite and resource_type.own < len(resource_type.identifier)
        )
        assert set(resource_type.optional_inputs or ()) <= set(resource_type.identifier)


def test_it_is_part_of_the_layer() -> None:
    assert (ROOT / "layers/core/strongref/lookup").resolve() == FILE.resolve().parent


@pytest.mark.parametrize(
    ("type_name", "identifier"),
    [
        ("AWS::S3::Bucket", ("BucketName",)),
        ("AWS::SNS::Topic", ("TopicArn",)),
        ("AWS::QuickSight::RefreshSchedule", ("AwsAccountId", "DataSetId", "Schedule.ScheduleId")),
        ("AWS::Lambda::Permission", ("FunctionArn", "Id")),
    ],
)
def test_identifiers_stand_in_their_order(type_name: str, identifier: tuple[str, ...]) -> None:
    assert resource_type_of(type_name).identifier == identifier


SEEN = {
    "AWS::ApiGateway::Authorizer": "AuthorizerId",
    "AWS::ApiGateway::Deployment": "DeploymentId",
    "AWS::ApiGateway::DocumentationPart": "DocumentationPartId",
    "AWS::ApiGateway::Model": "Name",
    "AWS::ApiGateway::RequestValidator": "RequestValidatorId",
    "AWS::ApiGateway::Resource": "ResourceId",
    "AWS::ApiGateway::Stage": "StageName",
    "AWS::ApiGatewayV2::ApiMapping": "ApiMappingId",
    "AWS::ApiGatewayV2::Authorizer": "AuthorizerId",
    "AWS::ApiGatewayV2::Deployment": "DeploymentId",
    "AWS::ApiGatewayV2::Integration": "IntegrationId",
    "AWS::ApiGatewayV2::IntegrationResponse": "IntegrationResponseId",
    "AWS::ApiGatewayV2::Model": "ModelId",
    "AWS::ApiGatewayV2::Route": "RouteId",
    "AWS::ApiGatewayV2::RouteResponse": "RouteResponseId",
    "AWS::ApiGatewayV2::Stage": "StageName",
    "AWS::AppConfig::ConfigurationProfile": "ConfigurationProfileId",
    "AWS::AppConfig::Deployment": "DeploymentNumber",
    "AWS::AppConfig::Environment": "EnvironmentId",
    "AWS::AppConfig::HostedConfigurationVersion": "VersionNumber",
    "AWS::ApplicationAutoScaling::ScalingPolicy": "Arn",
    "AWS::AutoScaling::LifecycleHook": "LifecycleHookName",
    "AWS::AutoScaling::ScheduledAction": "ScheduledActionName",
    "AWS::CodeDeploy::DeploymentGroup": "DeploymentGroupName",
    "AWS::Cognito::UserPoolClient": "ClientId",
    "AWS::Cognito::UserPoolDomain": "Domain",
    "AWS::Cognito::UserPoolGroup": "GroupName",
    "AWS::Cognito::UserPoolIdentityProvider": "ProviderName",
    "AWS::Cognito::UserPoolResourceServer": "Identifier",
    "AWS::Cognito::UserPoolUser": "Username",
    "AWS::EC2::EIP": "PublicIp",
    "AWS::EC2::VPCCidrBlock": "Id",
    "AWS::ECS::Service": "ServiceArn",
    "AWS::ElasticBeanstalk::ConfigurationTemplate": "TemplateName",
    "AWS::GuardDuty::Filter": "Name",
    "AWS::IAM::RolePolicy": "PolicyName",
    "AWS::IAM::UserPolicy": "PolicyName",
    "AWS::Lambda::Permission": "Id",
    "AWS::Logs::LogStream": "LogStreamName",
    "AWS::Logs::SubscriptionFilter": "FilterName",
    "AWS::Route53::RecordSet": "Name",
    "AWS::SSM::MaintenanceWindowTarget": "WindowTargetId",
    "AWS::SSM::MaintenanceWindowTask": "WindowTaskId",
}
"""What CloudFormation's `Ref` gives, as AWS documents it, or as others saw it on AWS."""


@pytest.mark.parametrize("type_name", SEEN)
def test_the_part_that_is_the_resources_own_is_what_ref_gives(type_name: str) -> None:
    assert resource_type_of(type_name).own_part == SEEN[type_name]


@pytest.mark.parametrize(
    "type_name",
    ["AWS::ApiGateway::Method", "AWS::ApplicationAutoScaling::ScalableTarget", "AWS::EC2::VPCGatewayAttachment"],
)
def test_where_ref_gives_the_whole_identifier_no_part_is_the_resources_own(type_name: str) -> None:
    assert resource_type_of(type_name).own_part is None


def test_every_override_is_of_a_type_that_there_is_and_of_its_own_parts() -> None:
    for type_name, understood in overrides.STRATEGIES.items():
        assert set(understood) == {resource_type_of(type_name).identifier[0]}
    for type_name, own in overrides.OWN.items():
        assert resource_type_of(type_name).own_part == own
    for type_name, identifier in overrides.IDENTIFIERS.items():
        assert resource_type_of(type_name).identifier == identifier
        assert json.loads(FILE.read_text(encoding="utf-8"))[type_name]["identifier"] != list(identifier)
    assert set(overrides.DERIVED) <= set(types())


def test_an_unknown_type_names_those_like_it() -> None:
    with pytest.raises(UnknownTypeError, match="Did you mean AWS::S3::Bucket"):
        resource_type_of("AWS::S3::Buckets")
    with pytest.raises(UnknownTypeError, match="Did you mean AWS::S3::Bucket"):
        resource_type_of("aws::s3::bucket")
    with pytest.raises(UnknownTypeError, match="as in AWS::S3::Bucket"):
        resource_type_of("Custom::Something")


def schema(**more: object) -> dict[str, object]:
    return {
        "typeName": "AWS::Some::Thing",
        "properties": {"Name": {"type": "string"}, "ThingArn": {"type": "string"}, "Parent": {"type": "string"}},
        "primaryIdentifier": ["/properties/Parent", "/properties/Name"],
        **more,
    }


def listing(**inputs: object) -> dict[str, object]:
    return {"handlers": {"list": {"handlerSchema": inputs}}}


def test_a_line_holds_what_a_schema_tells() -> None:
    assert line(schema()) == {"identifier": ["Parent", "Name"], "own": 1, "name": "Name", "arn": "ThingArn"}
    asked = listing(properties={"Parent": {"$ref": "resource-schema.json#/properties/Parent"}}, required=["Parent"])
    assert line(schema(**asked)) | {"name": 0, "arn": 0} == {
        "identifier": ["Parent", "Name"],
        "own": 1,
        "needs": [["Parent"]],
        "takes": [],
        "name": 0,
        "arn": 0,
    }
    either = listing(properties={"A": {}, "B": {}}, oneOf=[{"required": ["A"]}, {"required": ["B"]}])
    assert line(schema(**either))["needs"] == [["A"], ["B"]]
    optional = listing(properties={"Parent": {"type": "string"}})
    assert line(schema(**optional))["takes"] == ["Parent"]
    another = listing(properties={"Arn": {"$ref": "resource-schema.json#/properties/Parent"}}, required=["Arn"])
    assert line(schema(**another))["needs"] == [["Arn=Parent"]]
    tagged = {"tagging": {"taggable": True, "permissions": ["Some:TagThing", "some:UntagThing"]}}
    assert line(schema(**tagged))["tagged_by"] == ["some"]
    assert line(schema(tagging={"taggable": False}))["tagged_by"] == []


def test_the_own_part_is_left_out_where_nothing_tells_it() -> None:
    unsure = schema(primaryIdentifier=["/properties/LeftId", "/properties/RightId"])
    assert "own" not in line(unsure)
    assert line(unsure | {"readOnlyProperties": ["/properties/RightId"]})["own"] == 1
    both = {"readOnlyProperties": ["/properties/LeftId", "/properties/RightId"]}
    assert "own" not in line(unsure | both)
    twice = schema(primaryIdentifier=["/properties/ThingId", "/properties/ThingName"])
    assert "own" not in line(twice)


def test_an_input_may_be_given_another_propertys_value() -> None:
    assert resource_type_of("AWS::APS::AnomalyDetector").required_inputs == ((("Arn", "Workspace"),),)
    assert resource_type_of("AWS::AccessAnalyzer::ArchiveRule").required_inputs == (
        (("AnalyzerName", "AnalyzerName"),),
    )


def test_parts_are_distinguished_only_where_there_are_as_many_as_there_should_be() -> None:
    resource_type = ResourceType("T", ("A", "B"))
    assert resource_type.parts("a|b") == ("a", "b")
    assert resource_type.parts("a|") == ("a", "")
    assert resource_type.parts("a|b|c") is None
    assert resource_type.parts("a") is None
    assert ResourceType("T", ("A",)).parts("a|b") == ("a|b",)
