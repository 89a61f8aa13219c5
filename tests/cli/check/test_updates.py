"""What an update replaces and which attributes it changes, by the schemas of cfn-lint."""

from __future__ import annotations

from typing import Any, cast

import pytest

from strongref_cli.check.comparison import Comparison
from strongref_cli.check.resource_types import types_in
from strongref_cli.check.updates import ResourceChange, Stays
from tests.support.checks import EU, bucket, exporting, template, version

UNKNOWN = {"Fn::GetStackOutput": {"StackName": "other", "OutputName": "Name"}}
OPTIONAL = {"Fn::If": ["Perhaps", "given", {"Ref": "AWS::NoValue"}]}
TAGS = [{"Key": "team", "Value": "blue"}]

REPLACED, MAYBE, KEPT = ResourceChange.REPLACED, ResourceChange.MAYBE_REPLACED, ResourceChange.KEPT
YES, NO, OPEN = Stays.YES, Stays.NO, Stays.UNKNOWN


def compared(kind: str, old: object, new: object, *, value: object = None) -> Comparison:
    """An update of a resource `R` of a type, from these properties to those, and an Export of a value."""
    conditions = {"Perhaps": {"Fn::Equals": [UNKNOWN, "x"]}}
    exports = exporting({"A": value or {"Ref": "R"}})
    resources = ({"R": {"Type": kind, "Properties": each}, "Exports": exports} for each in (old, new))
    before, after = (version(template(None, conditions, **each)) for each in resources)
    return Comparison(before, after, None, types_in(EU))


def change(*given: Any) -> ResourceChange:
    found = compared(*given).update_of("R")
    assert found
    return found.change


def stays(attribute: str, *given: Any) -> Stays:
    """Whether an attribute, or `Ref`, stays."""
    comparison = compared(*given, value={"Fn::GetAtt": ["R", attribute]} if attribute else {"Ref": "R"})
    assert comparison.old
    old, new = (cast("Any", each.resources["Exports"].properties) for each in (comparison.old, comparison.new))
    return comparison.stays(*(each["Values"]["A"] for each in (old, new)))


@pytest.mark.parametrize(
    ("kind", "old", "new", "expected"),
    [
        ("AWS::CertificateManager::Certificate", {"DomainName": "a.b"}, {"DomainName": "c.d"}, REPLACED),
        ("AWS::CertificateManager::Certificate", {"DomainName": "a.b"}, {"DomainName": "a.b", "Tags": TAGS}, KEPT),
        ("AWS::CertificateManager::Certificate", {"DomainName": "a.b"}, {"DomainName": UNKNOWN}, MAYBE),
        # One that is given now, or no more, is another one; one that may be given may be.
        ("AWS::S3::Bucket", {}, {"BucketName": "a"}, REPLACED),
        ("AWS::S3::Bucket", {"BucketName": "a"}, {}, REPLACED),
        ("AWS::S3::Bucket", {}, {"BucketName": OPTIONAL}, MAYBE),
        # A part of it: some properties replace only with what is in them.
        ("AWS::EC2::SpotFleet", {"SpotFleetRequestConfigData": {"TargetCapacity": 1}},
         {"SpotFleetRequestConfigData": {"TargetCapacity": 2}}, KEPT),
        ("AWS::EC2::SpotFleet", {"SpotFleetRequestConfigData": {"IamFleetRole": "a"}},
         {"SpotFleetRequestConfigData": {"IamFleetRole": "b"}}, REPLACED),
        # Sometimes; and what the service writes in its own way.
        ("AWS::RDS::DBInstance", {"Engine": "a"}, {"Engine": "b"}, MAYBE),
        ("AWS::RDS::DBInstance", {"DBSubnetGroupName": "a"}, {"DBSubnetGroupName": "A"}, MAYBE),
        # The order of a list may not matter, and one of another length is another list.
        ("AWS::CertificateManager::Certificate", {"SubjectAlternativeNames": ["a", "b"]},
         {"SubjectAlternativeNames": ["b", "a"]}, MAYBE),
        ("AWS::CertificateManager::Certificate", {"SubjectAlternativeNames": ["a"]},
         {"SubjectAlternativeNames": ["a", "b"]}, REPLACED),
        # A path is a local file, which is uploaded: it may be the same.
        ("AWS::Lambda::LayerVersion", {"Content": {"S3Bucket": "a", "S3Key": "b"}}, {"Content": "src/"}, MAYBE),
        ("AWS::Batch::JobDefinition", {"Type": "container"}, {"Type": "container", "Timeout": {}}, MAYBE),
        # Types that cannot be changed in place, whose tags cannot, and of which nothing is known.
        ("AWS::AutoScaling::LaunchConfiguration", {"EbsOptimized": True}, {"EbsOptimized": False}, REPLACED),
        ("AWS::EC2::KeyPair", {}, {"Tags": TAGS}, REPLACED),
        ("AWS::CloudFormation::WaitConditionHandle", {}, {"A": "b"}, MAYBE),
        ("AWS::Made::Up", {"A": "a"}, {"A": "b"}, MAYBE),
        ("Custom::Thing", {"ServiceToken": "a"}, {"ServiceToken": "b"}, MAYBE),
        ("AWS::CloudFormation::CustomResource", {"ServiceToken": "a"}, {"ServiceToken": "a", "B": "b"}, MAYBE),
        ("AWS::CloudFormation::Stack", {"TemplateURL": "a"}, {"TemplateURL": "b"}, MAYBE),
    ],
)  # fmt: skip
def test_what_replaces_a_resource(kind: str, old: object, new: object, expected: ResourceChange) -> None:
    assert change(kind, old, new) is expected


@pytest.mark.parametrize(
    ("attribute", "kind", "old", "new", "expected"),
    [
        ("", "AWS::SNS::Topic", {"DisplayName": "a"}, {"DisplayName": "b"}, YES),
        ("TopicArn", "AWS::SNS::Topic", {"DisplayName": "a"}, {"DisplayName": "b"}, YES),
        ("TopicArn", "AWS::SNS::Topic", {"TopicName": "a"}, {"TopicName": "b"}, NO),
        # The name is generated, or is given and would be taken by itself: CloudFormation refuses that.
        ("Arn", "AWS::DynamoDB::Table", {"ImportSourceSpecification": {"InputFormat": "CSV"}}, {}, NO),
        ("", "AWS::S3::Bucket", {"BucketName": "a"}, {"BucketName": "a", "BucketNamespace": "x"}, OPEN),
        # `Ref` of a part that has a name in its parent alone is that name; or what the service makes up.
        ("", "AWS::ApiGateway::Stage", {"RestApiId": "a", "StageName": "x"},
         {"RestApiId": "b", "StageName": "x"}, OPEN),
        ("", "AWS::ApiGateway::Stage", {"RestApiId": "a", "StageName": "x"}, {"RestApiId": "a", "StageName": "y"}, NO),
        ("", "AWS::ApiGateway::Resource", {"RestApiId": "a", "PathPart": "x"}, {"RestApiId": "a", "PathPart": "y"}, NO),
        ("", "AWS::Logs::MetricFilter", {"LogGroupName": "a"}, {"LogGroupName": "b"}, NO),
        ("", "AWS::Glue::Table", {"DatabaseName": "a", "TableInput": {"Name": "x"}},
         {"DatabaseName": "b", "TableInput": {"Name": "x"}}, OPEN),
        # A security group is a group.
        ("GroupId", "AWS::EC2::SecurityGroup", {"GroupDescription": "a"}, {"GroupDescription": "b"}, NO),
        ("GroupId", "AWS::EC2::SecurityGroup", {}, {"SecurityGroupIngress": [{"CidrIp": "0.0.0.0/0"}]}, YES),
        ("JobDefinitionArn", "AWS::Batch::JobDefinition", {}, {"Timeout": {"AttemptDurationSeconds": 60}}, OPEN),
        # Attributes that follow a property, and those that do not.
        ("RepositoryUri", "AWS::ECR::Repository", {}, {"RepositoryPolicyText": {"Version": "x"}}, YES),
        ("Outputs.A", "AWS::ServiceCatalog::CloudFormationProvisionedProduct", {"ProvisioningArtifactName": "a"},
         {"ProvisioningArtifactName": "b"}, OPEN),
        ("StreamArn", "AWS::DynamoDB::Table", {}, {"StreamSpecification": {"StreamViewType": "KEYS_ONLY"}}, OPEN),
        ("StreamArn", "AWS::DynamoDB::Table", {}, {"BillingMode": "PAY_PER_REQUEST"}, YES),
        ("Endpoint.Port", "AWS::RDS::DBInstance", {"Port": "1"}, {"Port": "2"}, OPEN),
        ("Endpoint.Address", "AWS::RDS::DBInstance", {"Port": "1"}, {"Port": "2"}, YES),
        ("Endpoint.Address", "AWS::RDS::DBInstance", {"AllocatedStorage": "1"}, {"AllocatedStorage": "2"}, YES),
        ("WebsiteURL", "AWS::S3::Bucket", {}, {"WebsiteConfiguration": {"IndexDocument": "a"}}, OPEN),
        ("WebsiteURL", "AWS::S3::Bucket", {}, {"Tags": TAGS}, YES),
        ("LatestVersionNumber", "AWS::EC2::LaunchTemplate", {"LaunchTemplateData": {"ImageId": "a"}},
         {"LaunchTemplateData": {"ImageId": "b"}}, OPEN),
        ("PublicIp", "AWS::EC2::Instance", {"InstanceType": "a"}, {"InstanceType": "b"}, OPEN),
        ("PublicIp", "AWS::EC2::Instance", {}, {"Tags": TAGS}, YES),
        # A property is what it is given, whatever else becomes of the resource.
        ("Value", "AWS::SSM::Parameter", {"Value": "a"}, {"Value": "b"}, NO),
        ("Value", "AWS::SSM::Parameter", {"Value": "a"}, {"Value": UNKNOWN}, OPEN),
        ("Value", "AWS::SSM::Parameter", {"Value": "a", "Name": "n"}, {"Value": "a", "Name": "m"}, YES),
        ("Anything", "Custom::Thing", {"A": "a"}, {"A": "b"}, OPEN),
    ],
)  # fmt: skip
def test_which_attributes_stay(attribute: str, kind: str, old: object, new: object, expected: Stays) -> None:
    assert stays(attribute, kind, old, new) is expected


@pytest.mark.parametrize(
    ("kind", "old", "new", "expected"),
    [
        ("AWS::SNS::Topic", "Topic", "Renamed", NO),
        ("AWS::ApiGateway::Stage", "Stage", "Renamed", OPEN),  # it may have the same name in another API
        ("Custom::Thing", "Thing", "Renamed", OPEN),
        ("AWS::Lambda::LayerVersion", "Layer0123456789", "Layerabcdef0123", OPEN),  # the same code, for AWS::Serverless
    ],
)
def test_two_resources_of_a_type_never_have_the_same_identifier(kind: str, old: str, new: str, expected: Stays) -> None:
    versions = [version(template(**{each: {"Type": kind}}, E=exporting({"A": {"Ref": each}}))) for each in (old, new)]
    before, after = (cast("Any", each.resources["E"].properties)["Values"]["A"] for each in versions)
    assert Comparison(versions[0], versions[1], None, types_in(EU)).stays(before, after) is expected


def test_properties_that_are_one_function_have_a_name_in_the_reason() -> None:
    found = compared("AWS::S3::Bucket", OPTIONAL, {"BucketName": "a"}).update_of("R")
    assert found
    assert found.causes == ["Properties"]


def test_what_is_made_of_a_replaced_resource_is_replaced_with_it() -> None:
    """`Ref` of a VPC is a property of its subnets, which replaces them."""
    subnet = {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": {"Ref": "R"}}}
    old, new = (
        version(template(R={"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": each}}, Subnet=subnet))
        for each in ("10.0.0.0/16", "10.1.0.0/16")
    )
    found = Comparison(old, new, None, types_in(EU)).update_of("Subnet")
    assert found
    assert found.change is REPLACED


def test_a_region_that_cfn_lint_does_not_know_has_the_types_of_one_that_has_all() -> None:
    assert types_in("eu-middle-1")("AWS::S3::Bucket") == types_in("us-east-1")("AWS::S3::Bucket")
    assert types_in("eu-middle-1")("AWS::S3::Buckt") is None


def test_a_replaced_resource_is_lost_unless_its_policy_keeps_the_old_one() -> None:
    for policy, lost in ((None, True), ("Delete", True), ("Retain", False)):
        more = {"UpdateReplacePolicy": policy} if policy else {}
        old, new = (version(template(Bucket=bucket(each, **more))) for each in ("one", "two"))
        assert Comparison(old, new, None, types_in(EU)).loses("Bucket") is lost
