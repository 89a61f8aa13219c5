"""Ready types: what each writes and reads, what its resource's attributes are, and how one more is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from strongref_objects import types
from strongref_objects.base.errors import (
    BadDeclarationError,
    BadValueError,
    MissingMembersError,
    NothingToImportError,
    UnevenListsError,
    UnknownMembersError,
    WrongTypeError,
)
from strongref_objects.base.values import Collector, joined
from strongref_objects.channels.texts import JsonSerializationContext, from_json
from strongref_objects.types import (
    READY,
    REF,
    ApplicationLoadBalancer,
    ArnForm,
    Bucket,
    Declared,
    EncryptedBucket,
    HostedZone,
    Key,
    Listener,
    Queue,
    SecurityGroup,
    Subnets,
    Vpc,
    every_type,
    text,
)
from strongref_objects.types.members import key_of, members
from tests.support.schemas import schema_of_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref_objects.base import Text

RESOURCES = {name: each for name, each in READY.items() if each.declared.type_name}
GROUP = ["SecurityGroupId", "AllowAllOutbound", "AllowAllIpv6Outbound"]
COMMAND = [
    *("Logging", "KmsKey.KeyArn", "KmsKey.KeyId", "LogGroupName", "CloudWatchEncryptionEnabled"),
    *("BucketName", "S3EncryptionEnabled"),
]
TABLE = ["TableArn", "TableName", "GrantIndexPermissions", "ReplicationRegions"]
ROLE = ["Role.RoleArn", "Role.RoleName", "Role.Path"]
KEYS = {
    "ApplicationLoadBalancer": [
        *("LoadBalancerArn", "LoadBalancerDnsName", "LoadBalancerCanonicalHostedZoneId"),
        *(f"SecurityGroup.{key}" for key in GROUP),
        *("Listener.ListenerArn", "Listener.DefaultPort"),
    ],
    "Bucket": ["BucketArn", "BucketName", "IsWebsite"],
    "Certificate": ["CertificateArn"],
    "Cluster": [
        *("ClusterArn", "ClusterName", "HasEc2Capacity"),
        *(f"SecurityGroups{number}.{key}" for number in (1, 2) for key in GROUP),
        *(f"ExecuteCommandConfiguration.{key}" for key in COMMAND),
    ],
    "EksCluster": [
        *("ClusterArn", "ClusterName", "ClusterEndpoint", "ClusterCertificateAuthorityData", "ClusterSecurityGroupId")
    ],
    "EncryptedBucket": ["BucketArn", "BucketName", "IsWebsite", "EncryptionKey.KeyArn", "EncryptionKey.KeyId"],
    "EncryptedQueue": ["QueueArn", "QueueName", "QueueUrl", "EncryptionMasterKey.KeyArn", "EncryptionMasterKey.KeyId"],
    "EncryptedTable": [*TABLE, "EncryptionKey.KeyArn", "EncryptionKey.KeyId"],
    "EncryptedTopic": ["TopicArn", "TopicName", "ContentBasedDeduplication", "MasterKey.KeyArn", "MasterKey.KeyId"],
    "ExecuteCommand": COMMAND,
    "Function": ["FunctionArn", "FunctionName"],
    "FunctionInVpc": [*("FunctionArn", "FunctionName", *ROLE), *(f"SecurityGroup.{key}" for key in GROUP)],
    "FunctionWithRole": ["FunctionArn", "FunctionName", *ROLE],
    "HostedZone": ["HostedZoneId", "ZoneName"],
    "Key": ["KeyArn", "KeyId"],
    "Listener": ["ListenerArn", "DefaultPort"],
    "Queue": ["QueueArn", "QueueName", "QueueUrl"],
    "Role": ["RoleArn", "RoleName", "Path"],
    "Secret": ["SecretArn"],
    "SecurityGroup": GROUP,
    "StreamedTable": [*TABLE, "TableStreamArn", "EncryptionKey.KeyArn", "EncryptionKey.KeyId"],
    "Subnets": ["SubnetIds", "AvailabilityZones", "RouteTableIds"],
    "Table": TABLE,
    "Topic": ["TopicArn", "TopicName", "ContentBasedDeduplication"],
    "Vpc": [
        *("Parts", "VpcId", "VpcCidrBlock"),
        *(
            f"{tier}Subnets.{each}"
            for tier in ("Public", "Private", "Isolated")
            for each in ("SubnetIds", "AvailabilityZones", "RouteTableIds")
        ),
        "NatGatewayIds",
        *(f"{tier}Subnet{each}" for each in ("Names", "Ipv4CidrBlocks") for tier in ("Public", "Private", "Isolated")),
    ],
}


def sample(of: type[Declared], prefix: str = "") -> Any:
    """An object of a type that has everything that one can have."""
    given: dict[str, Any] = {}
    for name, member in members(of).items():
        if member.of:
            parts = [sample(member.of, f"{prefix}{name}{number}.") for number in (1, 2)]
            given[name] = parts if member.is_list else parts[0]
        else:
            given[name] = [f"{prefix}{name}-1", f"{prefix}{name}-2"] if member.is_list else f"{prefix}{name}"
    return of(**given)


def written(obj: Declared) -> dict[str, Any]:
    """What an object writes, by the keys with dots between them."""
    ctx = Collector(("X",))
    obj.serialize(ctx)
    return {".".join(path[1:]): leaf.value for path, leaf in ctx.leaves.items()}


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
    schema = schema_of_type(str(declared.type_name))
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
    "AWS::EKS::Cluster": "cluster_name",
    "AWS::ElasticLoadBalancingV2::Listener": "listener_arn",
    "AWS::ElasticLoadBalancingV2::LoadBalancer": "load_balancer_arn",
    "AWS::IAM::Role": "role_name",
    "AWS::KMS::Key": "key_id",
    "AWS::Lambda::Function": "function_name",
    "AWS::Route53::HostedZone": "hosted_zone_id",
    "AWS::S3::Bucket": "bucket_name",
    "AWS::SQS::Queue": "queue_url",
    "AWS::SecretsManager::Secret": "secret_arn",
}
"""What `Ref` gives, type by type (AWS: CloudFormation Template Reference, return values)."""


def test_what_ref_gives_is_what_cloudformation_says_and_cloud_control_identifies_by() -> None:
    for each in RESOURCES.values():
        type_name = str(each.declared.type_name)
        refs = [name for name, member in members(each).items() if member.attribute == REF]
        assert refs == ([REFS[type_name]] if type_name in REFS else [])
        if refs:
            schema = schema_of_type(type_name).schema
            (identifier,) = schema["primaryIdentifier"]
            # The ID of a secret is its ARN.
            known = {"AWS::SecretsManager::Secret": "Arn"}.get(type_name, identifier.removeprefix("/properties/"))
            assert key_of(refs[0]).endswith(known)


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
    with pytest.raises(MissingMembersError) as raised:
        HostedZone.of_resource("Zone")
    assert str(raised.value) == (
        "zone_name of a hosted zone cannot be derived from its attributes in a template. Also pass zone_name=…."
    )
    assert HostedZone.of_resource("Zone", zone_name="example.com").hosted_zone_id == {"Ref": "Zone"}
    with pytest.raises(
        UnknownMembersError, match=r"A bucket has no key\. It has bucket_arn, bucket_name and is_website"
    ):
        Bucket.of_resource("Bucket", key="x")


def test_a_vpc_says_which_of_its_parts_it_has() -> None:
    private = Subnets(["subnet-1"], ["eu-west-1a"], ["rtb-1"])
    vpc = Vpc(vpc_id="vpc-1", private_subnets=private)
    assert written(vpc)["Parts"] == ["VpcId", "PrivateSubnets"]
    assert vpc.availability_zones == ["eu-west-1a"]
    assert Vpc(vpc_id="vpc-1").availability_zones == []


@pytest.mark.parametrize("zones", [[{"Fn::GetAtt": ["Subnet", "AvailabilityZone"]}], {"Fn::GetAZs": ""}])
def test_zones_that_functions_stand_for_are_not_reported(zones: Any) -> None:
    vpc = Vpc("vpc-1", public_subnets=Subnets([{"Ref": "Subnet"}], zones, [{"Ref": "Table"}]))
    with pytest.raises(
        MissingMembersError, match="availability_zones of a VPC cannot be derived from intrinsic functions"
    ):
        _ = vpc.availability_zones


def test_lists_that_belong_together_have_one_length() -> None:
    with pytest.raises(UnevenListsError) as uneven:
        Subnets(["subnet-1", "subnet-2"], ["eu-west-1a"], ["rtb-1", "rtb-2"])
    assert str(uneven.value) == (
        "The lists of a tier of subnets must have the same length: subnet_ids has 2, availability_zones has 1 and "
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
    with pytest.raises(MissingMembersError, match=r"^bucket_arn of a bucket cannot be derived from what it is made of"):
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

    stream_arn: Text = text("Arn", form="{arn}")
    stream_name: Text = text(REF, form="{name}")


def test_one_more_type_is_ten_lines() -> None:
    assert Stream in every_type()
    assert written(Stream.of_resource("Clicks"))["StreamArn"] == {"Fn::GetAtt": ["Clicks", "Arn"]}
    stream = Stream.from_arn("arn:aws:kinesis:eu-west-1:111111111111:stream/clicks")
    assert (stream.stream_name, stream.declared.label) == ("clicks", "stream")
    assert Stream.from_name("clicks", region="eu-west-1", account="111111111111") == stream


WITHOUT_FUTURE = """
from strongref_objects.base import Text, TextList
from strongref_objects.types import Declared, texts, text


class Stream(Declared):
    stream_arn: Text = text("Arn")
    note: Text | None = text(default=None)
    consumers: TextList | None = texts(default=None)
"""


def test_a_type_needs_no_import_from_the_future() -> None:
    there: dict[str, Any] = {}
    exec(WITHOUT_FUTURE, there)  # noqa: S102 (as in a module of somebody's own, whose annotations are evaluated)
    assert written(there["Stream"]("arn", note="x")) == {
        "Parts": ["StreamArn", "Note"],
        "StreamArn": "arn",
        "Note": "x",
    }


def type_of(above: type[Declared] = Declared, arn: ArnForm | None = None, **fields: object) -> type[Any]:
    """A type that is declared with these members."""
    body = {**fields, "__annotations__": dict.fromkeys(fields, "Text")}
    return type("Thing", (above,), body, arn=arn, label="thing")


def test_what_python_has_a_word_for_is_called_with_an_underscore() -> None:
    thing = type_of(type_=text("Type"), from_=text())("a", "b")
    assert (repr(thing), written(thing)) == ("Thing(Type, From)", {"Type": "a", "From": "b"})


@pytest.mark.parametrize(
    ("declare", "problem"),
    [
        (lambda: type_of(a_b=text(), aB=text()), "the key of a_b and aB would be AB"),
        (lambda: type_of(type=text(), type_=text()), "the key of type and type_ would be Type"),
        (lambda: type_of(_=text()), "the key of _ would be empty"),
        (lambda: type_of(parts=text(), b=text(default=None)), "the key of Parts and parts would be Parts"),
        (
            lambda: type_of(arn=ArnForm("arn:{partition}:x:{region}:{account}:{name}/end"), a=text()),
            "{name} must occur once in an ARN, at its end",
        ),
        (
            lambda: type_of(arn=ArnForm("arn:{partition}:x:{region}:{account}:{name}/{name}"), a=text()),
            "{name} must occur once in an ARN, at its end",
        ),
        (
            lambda: type_of(arn=ArnForm("arn:{partition}:x"), a=text()),
            "an ARN must have six fields, as in arn:{partition}:sqs:{region}:{account}:{name}",
        ),
        (
            lambda: type_of(arn=ArnForm("arn:{partition}:x:{zone}:{account}:{name}"), a=text()),
            "an ARN must have six fields, as in arn:{partition}:sqs:{region}:{account}:{name}",
        ),
    ],
)
def test_a_type_of_which_no_object_can_be_reported_is_refused(declare: Callable[[], object], problem: str) -> None:
    with pytest.raises(BadDeclarationError) as raised:
        declare()
    assert str(raised.value) == f"A thing cannot be declared like this: {problem}."


def test_a_key_called_parts_is_one_where_nothing_can_be_lacking() -> None:
    assert written(type_of(parts=text())("a")) == {"Parts": "a"}


@pytest.mark.parametrize(
    ("came", "words"),
    [
        ("sg-1", "a string"),
        ({"Ref": "Group"}, "an intrinsic function"),
        (Bucket("a", "b"), "a bucket"),
        (7, "a number"),
    ],
)
def test_a_part_is_an_object_of_its_type(came: object, words: str) -> None:
    with pytest.raises(WrongTypeError) as raised:
        ApplicationLoadBalancer.of_resource("Alb", security_group=came, listener=Listener.of_resource("Https"))
    assert str(raised.value) == (
        f"security_group of an application load balancer must be an object of class SecurityGroup, got {words}."
    )
    assert EncryptedBucket("a", "b", type_of(Key, more=text())("c", "d", "e")).encryption_key


def test_what_is_needed_can_be_declared_behind_what_may_be_lacking() -> None:
    walled = type_of(Vpc, flow_log_id=text())
    assert walled.of_resource("Vpc", flow_log_id="fl-1").flow_log_id == "fl-1"
    assert walled("vpc-1", "10.0.0.0/16", flow_log_id="fl-1").vpc_cidr_block == "10.0.0.0/16"
    mixed = type_of(a=text(), b=text(default=None), c=text())
    assert written(mixed("1", c="3")) == {"Parts": ["A", "C"], "A": "1", "C": "3"}
    with pytest.raises(MissingMembersError, match="flow_log_id of a thing cannot be derived from its name"):
        walled.from_name("vpc-12345678")


def test_what_is_needed_is_read_whatever_its_parts_say() -> None:
    net = Vpc.deserialize(from_json({"parts": ["PublicSubnets"], "vpcId": "vpc-1", **json_of(VPC)}))
    assert (net.vpc_id, net.public_subnets) == ("vpc-1", VPC.public_subnets)
    with pytest.raises(NothingToImportError, match=r"There is no VpcId in the JSON"):
        Vpc.deserialize(from_json({"parts": ["PublicSubnets"], **json_of(VPC)}))


VPC = Vpc("vpc-1", public_subnets=Subnets(["subnet-1"], ["eu-west-1a"], ["rtb-1"]))


def json_of(vpc: Vpc) -> dict[str, Any]:
    ctx = JsonSerializationContext()
    vpc.serialize(ctx)
    return {"publicSubnets": ctx.json["publicSubnets"]}


def test_what_was_written_before_there_was_anything_to_lack_is_read_without_it() -> None:
    grown = type_of(name=text(), note=text(default=None))
    assert grown.deserialize(from_json({"name": "x", "note": "y"})) == grown("x")
    assert grown.deserialize(from_json({"parts": ["Name", "Note"], "name": "x", "note": "y"})) == grown("x", "y")
    with pytest.raises(NothingToImportError, match="There is no Name in"):
        grown.deserialize(from_json({}))
    with pytest.raises(NothingToImportError, match="There is no Parts in"):
        type_of(note=text(default=None)).deserialize(from_json({}))


@pytest.mark.parametrize("more", ["private_subnet_names", "private_subnet_ipv4_cidr_blocks"])
def test_a_tier_has_as_many_names_and_addresses_as_subnets(more: str) -> None:
    tier = Subnets(subnet_ids=["a", "b"], availability_zones=["x", "y"], route_table_ids=["r", "r"])
    fitting: list[dict[str, Any]] = [{more: ["1", "2"]}, {more: {"Fn::Split": [",", "1,2"]}}]
    for parts in fitting:
        assert Vpc(vpc_id="vpc-1", private_subnets=tier, **parts)
    uneven: list[dict[str, Any]] = [{"private_subnets": tier, more: ["1"]}, {more: ["1"]}]
    for parts in uneven:
        with pytest.raises(UnevenListsError, match="The lists of a VPC must have the same length"):
            Vpc(vpc_id="vpc-1", **parts)
