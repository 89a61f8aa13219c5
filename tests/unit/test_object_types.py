"""Ready types: what each writes and reads, what its resource's attributes are, and how one more is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER  # type: ignore[import-untyped]

from strongref.objects import types
from strongref.objects.collecting import collect
from strongref.objects.declaring import REF, Declared, every_type, told
from strongref.objects.errors import BadValueError
from strongref.objects.identity import ArnForm
from strongref.objects.identity_errors import NoSuchPartError, NotToldError, UnevenListsError
from strongref.objects.joining import joined
from strongref.objects.members import key_of, members
from strongref.objects.types import (
    READY,
    ApplicationLoadBalancer,
    Bucket,
    EncryptedBucket,
    HostedZone,
    Key,
    Listener,
    Queue,
    SecurityGroup,
    Subnets,
    Vpc,
)

if TYPE_CHECKING:
    from strongref.objects.base import Text

RESOURCES = {name: each for name, each in READY.items() if each.declared.type_name}
KEYS = {
    "ApplicationLoadBalancer": [
        *("LoadBalancerArn", "LoadBalancerDnsName", "LoadBalancerCanonicalHostedZoneId"),
        *("SecurityGroup.SecurityGroupId", "Listener.ListenerArn"),
    ],
    "Bucket": ["BucketArn", "BucketName"],
    "Certificate": ["CertificateArn"],
    "Cluster": ["ClusterArn", "ClusterName"],
    "EncryptedBucket": ["BucketArn", "BucketName", "EncryptionKey.KeyArn", "EncryptionKey.KeyId"],
    "EncryptedQueue": ["QueueArn", "QueueName", "QueueUrl", "EncryptionMasterKey.KeyArn", "EncryptionMasterKey.KeyId"],
    "EncryptedTable": ["TableArn", "TableName", "EncryptionKey.KeyArn", "EncryptionKey.KeyId"],
    "EncryptedTopic": ["TopicArn", "TopicName", "MasterKey.KeyArn", "MasterKey.KeyId"],
    "Function": ["FunctionArn", "FunctionName"],
    "HostedZone": ["HostedZoneId", "ZoneName"],
    "Key": ["KeyArn", "KeyId"],
    "Listener": ["ListenerArn"],
    "Queue": ["QueueArn", "QueueName", "QueueUrl"],
    "Role": ["RoleArn", "RoleName"],
    "SecurityGroup": ["SecurityGroupId"],
    "StreamedTable": ["TableArn", "TableName", "TableStreamArn"],
    "Subnets": ["SubnetIds", "AvailabilityZones", "RouteTableIds"],
    "Table": ["TableArn", "TableName"],
    "Topic": ["TopicArn", "TopicName"],
    "Vpc": [
        *("Parts", "VpcId", "VpcCidrBlock"),
        *(
            f"{tier}Subnets.{each}"
            for tier in ("Public", "Private", "Isolated")
            for each in ("SubnetIds", "AvailabilityZones", "RouteTableIds")
        ),
        "NatGatewayIds",
    ],
}


def sample(of: type[Declared], prefix: str = "") -> Any:  # noqa: ANN401 (of any of the types)
    """An object of a type that has everything that one can have."""
    given: dict[str, Any] = {}
    for name, member in members(of).items():
        if member.of:
            given[name] = sample(member.of, f"{prefix}{name}.")
        else:
            given[name] = [f"{prefix}{name}-1", f"{prefix}{name}-2"] if member.is_list else f"{prefix}{name}"
    return of(**given)


def written(obj: Declared) -> dict[str, Any]:
    """What an object writes, by the keys with dots between them."""
    return {".".join(path[1:]): leaf.value for path, leaf in collect("X", obj).items()}


@pytest.mark.parametrize("name", READY)
def test_each_type_writes_the_names_of_the_cdks_attributes(name: str) -> None:
    assert list(written(sample(READY[name]))) == KEYS[name]


def test_there_are_thirteen_that_people_share_in_practice() -> None:
    shared = "ApplicationLoadBalancer Bucket Certificate Cluster Function HostedZone Key Queue Role SecurityGroup Table"
    assert {*shared.split(), "Topic", "Vpc"} <= set(READY)
    assert all(each is getattr(types, name) and each.__doc__ for name, each in READY.items())


@pytest.mark.parametrize("name", RESOURCES)
def test_every_attribute_is_one_that_cloudformations_schema_has(name: str) -> None:
    declared = RESOURCES[name].declared
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", str(declared.type_name))
    for member in members(RESOURCES[name]).values():
        if member.attribute not in (None, REF):
            assert member.attribute in schema.get_atts
            assert schema.schema["properties"][str(member.attribute)]  # so Cloud Control has it too
        if member.says:
            assert schema.schema["properties"][member.says]


REFS = {
    "AWS::CertificateManager::Certificate": "certificate_arn",
    "AWS::DynamoDB::Table": "table_name",
    "AWS::ECS::Cluster": "cluster_name",
    "AWS::ElasticLoadBalancingV2::Listener": "listener_arn",
    "AWS::ElasticLoadBalancingV2::LoadBalancer": "load_balancer_arn",
    "AWS::IAM::Role": "role_name",
    "AWS::KMS::Key": "key_id",
    "AWS::Lambda::Function": "function_name",
    "AWS::Route53::HostedZone": "hosted_zone_id",
    "AWS::S3::Bucket": "bucket_name",
    "AWS::SQS::Queue": "queue_url",
}
"""What `Ref` gives, type by type (AWS: CloudFormation Template Reference, return values)."""


def test_what_ref_gives_is_what_cloudformation_says_and_cloud_control_identifies_by() -> None:
    for each in RESOURCES.values():
        type_name = str(each.declared.type_name)
        refs = [name for name, member in members(each).items() if member.attribute == REF]
        assert refs == ([REFS[type_name]] if type_name in REFS else [])
        if refs:
            schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", type_name).schema
            (identifier,) = schema["primaryIdentifier"]
            assert key_of(refs[0]).endswith(identifier.removeprefix("/properties/"))


def test_an_object_of_the_same_template_is_its_resources_attributes() -> None:
    queue = Queue.of_resource("Jobs")
    assert written(queue) == {
        "QueueArn": {"Fn::GetAtt": ["Jobs", "Arn"]},
        "QueueName": {"Fn::GetAtt": ["Jobs", "QueueName"]},
        "QueueUrl": {"Ref": "Jobs"},
    }
    balancer = ApplicationLoadBalancer.of_resource(
        "Alb", security_group=SecurityGroup.of_resource("Sg"), listener=Listener.of_resource("Https")
    )
    assert written(balancer) == {
        "LoadBalancerArn": {"Ref": "Alb"},
        "LoadBalancerDnsName": {"Fn::GetAtt": ["Alb", "DNSName"]},
        "LoadBalancerCanonicalHostedZoneId": {"Fn::GetAtt": ["Alb", "CanonicalHostedZoneID"]},
        "SecurityGroup.SecurityGroupId": {"Fn::GetAtt": ["Sg", "GroupId"]},
        "Listener.ListenerArn": {"Ref": "Https"},
    }


def test_what_a_resources_attributes_do_not_tell_has_to_be_given() -> None:
    with pytest.raises(NotToldError) as told_by:
        HostedZone.of_resource("Zone")
    assert str(told_by.value) == (
        "zone_name of a hosted zone cannot be told by its attributes in a template. Give what is missing as well: "
        "zone_name=…."
    )
    assert HostedZone.of_resource("Zone", zone_name="example.com").hosted_zone_id == {"Ref": "Zone"}
    with pytest.raises(NoSuchPartError, match=r"A bucket has no key\. It has bucket_arn and bucket_name"):
        Bucket.of_resource("Bucket", key="x")


def test_a_vpc_says_which_of_its_parts_it_has() -> None:
    private = Subnets(["subnet-1"], ["eu-west-1a"], ["rtb-1"])
    vpc = Vpc(vpc_id="vpc-1", private_subnets=private)
    assert written(vpc)["Parts"] == ["VpcId", "PrivateSubnets"]
    assert vpc.availability_zones == ["eu-west-1a"]
    assert Vpc(vpc_id="vpc-1").availability_zones == []


@pytest.mark.parametrize("zones", [[{"Fn::GetAtt": ["Subnet", "AvailabilityZone"]}], {"Fn::GetAZs": ""}])
def test_zones_that_functions_stand_for_are_not_told(zones: Any) -> None:  # noqa: ANN401 (a list, or what stands for it)
    vpc = Vpc("vpc-1", public_subnets=Subnets([{"Ref": "Subnet"}], zones, [{"Ref": "Table"}]))
    with pytest.raises(NotToldError, match="availability_zones of a VPC cannot be told by functions"):
        _ = vpc.availability_zones


def test_lists_that_belong_together_have_one_length() -> None:
    with pytest.raises(UnevenListsError) as uneven:
        Subnets(["subnet-1", "subnet-2"], ["eu-west-1a"], ["rtb-1", "rtb-2"])
    assert str(uneven.value) == (
        "A tier of subnets needs lists of one length, an item for each: subnet_ids has 2, availability_zones has 1 and "
        "route_table_ids has 2."
    )
    assert Subnets({"Ref": "Ids"}, ["eu-west-1a"], ["rtb-1"]).subnet_ids == {"Ref": "Ids"}


def test_equal_objects_are_equal_and_hash_so_whatever_they_were_made_of() -> None:
    one = Subnets(["subnet-1"], ["eu-west-1a"], ["rtb-1"])
    assert one == Subnets(("subnet-1",), ("eu-west-1a",), ("rtb-1",))
    assert len({one, Subnets(("subnet-1",), ("eu-west-1a",), ("rtb-1",))}) == 1
    assert len({Bucket.of_resource("A"), Bucket.of_resource("A"), Bucket.of_resource("B")}) == 2
    assert EncryptedBucket("a", "b", Key("c", "d")) != Bucket("a", "b")


def test_what_every_such_object_has_cannot_be_missing() -> None:
    with pytest.raises(NotToldError, match=r"^bucket_arn of a bucket cannot be told by what it is made of"):
        Bucket(None, "assets")  # type: ignore[arg-type]


def test_an_empty_list_of_what_may_be_lacking_is_none() -> None:
    vpc = Vpc("vpc-1", nat_gateway_ids=[])
    assert vpc == Vpc("vpc-1")
    assert written(vpc) == {"Parts": ["VpcId"], "VpcId": "vpc-1"}
    with pytest.raises(BadValueError, match="it is an empty list"):
        joined(("Net", "SubnetIds"), Subnets([], [], []).subnet_ids, lambda _: False)


def test_no_value_is_in_what_is_shown_of_an_object() -> None:
    shown = repr(EncryptedBucket("arn", "a-value-not-to-be-shown", Key("arn", "id")))
    assert shown == "EncryptedBucket(BucketArn, BucketName, EncryptionKey)"


def test_an_object_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Bucket("a", "b").bucket_name = "c"  # type: ignore[misc]


class Stream(
    Declared,
    type_name="AWS::Kinesis::Stream",
    arn=ArnForm("arn:{partition}:kinesis:{region}:{account}:stream/{name}", "[a-zA-Z0-9_.-]{1,128}"),
):
    """A stream of Kinesis."""

    stream_arn: Text = told("Arn", form="{arn}")
    stream_name: Text = told(REF, form="{name}")


def test_one_more_type_is_ten_lines() -> None:
    assert Stream in every_type()
    assert written(Stream.of_resource("Clicks"))["StreamArn"] == {"Fn::GetAtt": ["Clicks", "Arn"]}
    stream = Stream.from_arn("arn:aws:kinesis:eu-west-1:111111111111:stream/clicks")
    assert (stream.stream_name, stream.declared.label) == ("clicks", "stream")
    assert Stream.from_name("clicks", region="eu-west-1", account="111111111111") == stream
