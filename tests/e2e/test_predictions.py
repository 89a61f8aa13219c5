"""What `strongref check` predicts from a template alone, and what the deployment then does: change by change.

Each deployment is predicted first (`agreement`). The verdict that is expected here is of the template alone, as strict
as it can be: a change whose verdict is unknown is one that nobody can know.
"""

from __future__ import annotations

import json
import os
from copy import deepcopy
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from strongref_cli.check.checking import StackCheck
from strongref_cli.check.reading import StackReader
from strongref_cli.check.report import Verdict
from strongref_manifests.text.templates import read
from strongref_toolkit.session import ToolSession
from tests.e2e.agreement import compare
from tests.e2e.templates import EU, US, Template, export, stack
from tests.e2e.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

IMPORTER = {"Fn::ImportValue": "strongref-importer"}
ACCEPTED, REFUSED = Verdict.ACCEPTED, Verdict.REFUSED
TAGS = [{"Key": "team", "Value": "blue"}]
SUITE: dict[str, tuple[Template, dict[str, Any]]] = {
    "Certificate": (
        {"Type": "AWS::CertificateManager::Certificate", "Properties": {"DomainName": "a.example.com"}},
        {"Certificate": {"Ref": "Certificate"}},
    ),
    "Topic": (
        {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "NAME"}},
        {"TopicArn": {"Ref": "Topic"}, "TopicName": {"Fn::GetAtt": "Topic.TopicName"}},
    ),
    "Queue": (
        {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "NAME"}},
        {"QueueUrl": {"Ref": "Queue"}, "QueueArn": {"Fn::GetAtt": "Queue.Arn"}},
    ),
    "Bucket": (
        {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "NAME"}},
        {"Bucket": {"Ref": "Bucket"}, "BucketArn": {"Fn::GetAtt": "Bucket.Arn"}},
    ),
    "Table": (
        {
            "Type": "AWS::DynamoDB::Table",
            "Properties": {
                "TableName": "NAME",
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            },
        },
        {"Table": {"Ref": "Table"}, "TableArn": {"Fn::GetAtt": "Table.Arn"}},
    ),
    "Setting": (
        {"Type": "AWS::SSM::Parameter", "Properties": {"Name": "/NAME", "Type": "String", "Value": "one"}},
        {"Setting": {"Ref": "Setting"}, "SettingValue": {"Fn::GetAtt": "Setting.Value"}},
    ),
    "Log": (
        {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "/NAME"}},
        {"Log": {"Ref": "Log"}, "LogArn": {"Fn::GetAtt": "Log.Arn"}},
    ),
    "Role": (
        {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "NAME", "AssumeRolePolicyDocument": {"Statement": []}}},
        {"Role": {"Ref": "Role"}, "RoleArn": {"Fn::GetAtt": "Role.Arn"}},
    ),
}
"""Resources by logical ID, and what is exported of each. NAME is the stack's."""

CHANGES: tuple[tuple[str, dict[str, Any], Verdict], ...] = (
    ("Certificate", {"DomainName": "b.example.com"}, REFUSED),
    ("Certificate", {"Tags": TAGS}, ACCEPTED),
    ("Topic", {"TopicName": "NAME-new"}, REFUSED),
    ("Topic", {"DisplayName": "another"}, ACCEPTED),
    ("Topic", {"Tags": TAGS}, ACCEPTED),
    ("Queue", {"QueueName": "NAME-new"}, REFUSED),
    ("Queue", {"VisibilityTimeout": 60}, ACCEPTED),
    ("Queue", {"Tags": TAGS}, ACCEPTED),
    ("Bucket", {"BucketName": "NAME-new"}, REFUSED),
    ("Bucket", {"Tags": TAGS}, ACCEPTED),
    ("Bucket", {"VersioningConfiguration": {"Status": "Enabled"}}, ACCEPTED),
    ("Table", {"TableName": "NAME-new"}, REFUSED),
    ("Table", {"Tags": TAGS}, ACCEPTED),
    ("Setting", {"Name": "/NAME-new"}, REFUSED),
    ("Setting", {"Value": "two"}, REFUSED),
    ("Setting", {"Description": "another"}, ACCEPTED),
    ("Log", {"LogGroupName": "/NAME-new"}, REFUSED),
    ("Log", {"RetentionInDays": 7}, ACCEPTED),
    ("Role", {"RoleName": "NAME-new"}, REFUSED),
    ("Role", {"Description": "another"}, ACCEPTED),
)


@pytest.fixture
def world(aws: Aws, names: Callable[[str], str]) -> World:
    return World.of(aws, names)


def named(node: Any, name: str) -> Any:
    """With the stack's name for NAME."""
    if isinstance(node, dict):
        return {key: named(each, name) for key, each in node.items()}
    if isinstance(node, list):
        return [named(each, name) for each in node]
    return node.replace("NAME", name) if isinstance(node, str) else node


def producing(world: World, logical_id: str, changes: dict[str, Any] | None = None) -> Template:
    resource, values = deepcopy(SUITE[logical_id])
    resource["Properties"] |= changes or {}
    exports = export(values, consumer=world.consumer)
    return stack(named({logical_id: resource}, world.producer) | {"Exports": exports})


def verdict(world: World) -> Verdict:
    assert world.aws.agreement
    return world.aws.agreement.reports[-1].verdict


@pytest.mark.parametrize("logical_id", SUITE)
def test_what_a_change_of_a_resource_does_to_what_is_exported_of_it(world: World, logical_id: str) -> None:
    world.aws.deploy(world.producer, producing(world, logical_id), EU, "CREATE_COMPLETE")
    world.consume(*SUITE[logical_id][1], expect="CREATE_COMPLETE")
    for changed, properties, expected in CHANGES:
        if changed == logical_id:
            status = "UPDATE_ROLLBACK_COMPLETE" if expected is REFUSED else "UPDATE_COMPLETE"
            world.aws.deploy(world.producer, producing(world, logical_id, properties), EU, status)
            assert verdict(world) is expected, properties


WRITTEN = ("012345670123", "0x1F", "1_000", "+5", "12:30:45", "yes", "1.50")


def test_a_scalar_without_quotes_is_what_it_is_with_the_quotes_that_cloudformation_takes_away(world: World) -> None:
    """All of them at once: unchanged as they are, and others with quotes around them."""

    def text(quote: str, *, only: str = "") -> str:
        values = "".join(
            f"        V{at}: {quote if only in ('', each) else ''}{each}{quote if only in ('', each) else ''}\n"
            for at, each in enumerate(WRITTEN)
        )
        return (
            "Resources:\n  Exports:\n    Type: Custom::CrossRegionExport\n    Properties:\n"
            "      ServiceToken: !ImportValue strongref-exporter\n      Region: us-east-1\n"
            f"      Consumer: {world.consumer}\n      Values:\n{values}"
        )

    world.aws.deploy(world.producer, text(""), EU, "CREATE_COMPLETE")
    world.consume(*(f"V{at}" for at in range(len(WRITTEN))), expect="CREATE_COMPLETE")
    for each in WRITTEN:
        world.aws.deploy(world.producer, text("'", only=each), EU, "UPDATE_ROLLBACK_COMPLETE")
        assert verdict(world) is REFUSED, each


def consuming(world: World, *attributes: str, path: str = "", **properties: Any) -> Template:
    """A consumer with an Import of CertArn and of a map, unless the properties say something else."""
    given = {"From": {"Stack": world.producer, "Region": EU}, "Names": ["CertArn", "Vpc"], **properties}
    outputs = {f"O{at}": {"Fn::GetAtt": ["Imports", each]} for at, each in enumerate(attributes)}
    resources = {"Imports": {"Type": "Custom::CrossRegionImport", "Properties": {"ServiceToken": IMPORTER, **given}}}
    if path:
        value = f"{{{{resolve:ssm:{world.name(path)}}}}}"
        resources["Copy"] = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}}
    return stack({name: {k: v for k, v in each.items() if v is not None} for name, each in resources.items()}, outputs)


def test_what_becomes_of_a_consumer(world: World) -> None:
    """Each is created, and rolled back if it was predicted to be refused."""
    values = {"CertArn": "arn", "Vpc": {"Id": "vpc-1"}, "Password": "secret"}
    world.publish(values, "CREATE_COMPLETE", SecureKeys=["Password"])
    elsewhere = {"Stack": world.producer, "Region": US}
    wrong: list[Template] = [
        consuming(world, Names=["CertArm"]),
        consuming(world, From={"Stack": f"{world.producer}x", "Region": EU}),
        consuming(world, From=elsewhere),
        consuming(world, From={"Stack": world.producer, "Region": EU, "Account": "999999999999"}),
        consuming(world, From={"Stack": world.producer, "Region": "cn-north-1"}),
        consuming(world, From={"Stak": world.producer}),
        consuming(world, Frm={"Stack": world.producer}),
        consuming(world, Consumer="others"),
        consuming(world, Strength="strongly"),
        consuming(world, Shared="ja"),
        consuming(world, Shared=True),
        consuming(world, Names="CertArn"),
        consuming(world, "CertArm"),
        consuming(world, "Vpc"),
        consuming(world, "Password", Names=["CertArn", "Password"]),
        consuming(world, path="CertArm"),
    ]
    for at, template in enumerate(wrong):
        world.aws.deploy(f"{world.consumer}-{at}", _as(template, world), US, "ROLLBACK_COMPLETE")
        assert verdict(world) is REFUSED, template
    right = [consuming(world), consuming(world, "CertArn", "Vpc.Id", path="CertArn"), consuming(world, Strength="weak")]
    for at, template in enumerate(right):
        world.aws.deploy(f"{world.consumer}-right-{at}", _as(template, world), US, "CREATE_COMPLETE")
        assert verdict(world) is ACCEPTED, template


def _as(template: Template, world: World) -> Template:
    """Exports are for one consumer, by whose name each of these stacks imports."""
    properties = template["Resources"]["Imports"]["Properties"]
    if not properties.get("Shared"):
        properties.setdefault("Consumer", world.consumer)
    return template


def test_what_an_export_refuses_of_itself(world: World) -> None:
    def with_properties(**more: Any) -> Template:
        return stack({"Exports": export({"A": "1"}, **({"consumer": world.consumer} | more))})

    world.aws.deploy(world.producer, with_properties(), EU, "CREATE_COMPLETE")
    world.consume("A", expect="CREATE_COMPLETE")
    wrong: list[dict[str, Any]] = [
        {"region": "cn-north-1"},
        {"region": "eu-west-1,us-east-1"},
        {"region": EU},
        {"consumer": "others"},
        {"OnChange": "propogate"},
        {"Holdd": "x"},
        {"Shared": True},
    ]
    for more in wrong:
        world.aws.deploy(world.producer, with_properties(**more), EU, "UPDATE_ROLLBACK_COMPLETE")
        assert verdict(world) is REFUSED, more
    for more in ({"region": [US, EU]}, {"OnChange": "propagate"}, {"Revision": "2"}):
        world.aws.deploy(world.producer, with_properties(**more), EU, "UPDATE_COMPLETE")
        assert verdict(world) is ACCEPTED, more


SAM_CHANGES: tuple[tuple[dict[str, Any], dict[str, Any], Verdict], ...] = (
    ({}, {"DisplayName": "another"}, ACCEPTED),
    ({}, {"TopicName": "NAME-new"}, REFUSED),
    ({"TableName": "NAME-new"}, {"DisplayName": "another"}, REFUSED),
    ({"Tags": {"team": "blue"}}, {"DisplayName": "another"}, ACCEPTED),
    ({}, {"DisplayName": "third", "Tags": TAGS}, ACCEPTED),
)


def test_what_a_change_set_shows_of_a_template_that_is_transformed(world: World) -> None:
    """`--create-change-set`: made, read and deleted, and then deployed."""

    def template(table: dict[str, Any], topic: dict[str, Any]) -> Template:
        resources = {
            "Table": {"Type": "AWS::Serverless::SimpleTable", "Properties": {"TableName": "NAME", **table}},
            "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "NAME", **topic}},
        }
        values = {"Table": {"Ref": "Table"}, "Topic": {"Ref": "Topic"}}
        given = stack(named(resources, world.producer) | {"Exports": export(values, consumer=world.consumer)})
        return {"Transform": "AWS::Serverless-2016-10-31", **given}

    world.aws.deploy(world.producer, template({}, {}), EU, "CREATE_COMPLETE")
    world.consume("Table", "Topic", expect="CREATE_COMPLETE")
    for table, topic, expected in SAM_CHANGES:
        given = template(table, topic)
        with patch.dict(os.environ, world.aws.emulator.env(world.aws.account, EU)):
            check = StackCheck(StackReader(ToolSession.start(), EU))
            report = check.made_change_set(world.producer, read("sam.json", json.dumps(given)), {})
        assert report.verdict is expected, (table, topic, report)
        world.aws.deploy(world.producer, given, EU)
        compare(report, world.aws, world.producer, EU)
    client = world.aws.client("cloudformation", EU)
    assert client.list_change_sets(StackName=world.producer)["Summaries"] == []
