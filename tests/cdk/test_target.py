"""A stack of the real AWS CDK as a target: what is put into it stands in the template that the CDK writes."""

from __future__ import annotations

import aws_cdk as cdk
import pytest
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_ssm as ssm

from strongref_cdk.target import CdkTarget
from strongref_toolkit.intrinsics import REFERENCE
from tests.support import cdk_apps
from tests.support.cdk_apps import ACCOUNT, EU

IMPORT = "Custom::CrossRegionImport"


@pytest.fixture
def stack() -> cdk.Stack:
    return cdk_apps.stack(cdk.App(), "Web")


@pytest.fixture
def target(stack: cdk.Stack) -> CdkTarget:
    return CdkTarget(stack)


@pytest.fixture
def bucket(stack: cdk.Stack) -> s3.Bucket:
    return s3.Bucket(stack, "Bucket")


BUCKET = "Bucket83908E77"


def test_a_stack_is_where_it_says_and_nowhere_known_if_it_says_nothing() -> None:
    app = cdk.App()
    said = CdkTarget(cdk_apps.stack(app, "Said"))
    silent = CdkTarget(cdk.Stack(app, "Silent", stack_name="named"))
    staged = CdkTarget(cdk.Stack(cdk.Stage(app, "Prod", env=cdk.Environment(region=EU)), "Staged"))
    assert (said.name, said.region, said.account) == ("Said", EU, ACCOUNT)
    assert (silent.name, silent.region, silent.account) == ("named", None, None)
    assert (staged.name, staged.region, staged.account) == ("Prod-Staged", EU, None)


def test_a_nested_stack_is_called_as_the_stack_that_is_deployed(stack: cdk.Stack) -> None:
    inner = CdkTarget(cdk.NestedStack(cdk.NestedStack(stack, "Outer"), "Inner"))
    assert (inner.name, inner.region, inner.account) == ("Web", EU, ACCOUNT)


def test_an_output_is_put_and_replaced(stack: cdk.Stack, target: CdkTarget, bucket: s3.Bucket) -> None:
    target.put_output("First", "x", export=None, description="to go")
    target.put_output("First", bucket.bucket_arn, export="The-First", description=None)
    target.put_output("Second", {"Fn::Sub": "${AWS::Region}"}, export="The-Second", description="The region")
    assert cdk_apps.template(stack)["Outputs"] == {
        "First": {"Value": {"Fn::GetAtt": [BUCKET, "Arn"]}, "Export": {"Name": "The-First"}},
        "Second": {
            "Description": "The region",
            "Value": {"Fn::Sub": "${AWS::Region}"},
            "Export": {"Name": "The-Second"},
        },
    }


def test_a_resource_that_is_dropped_is_not_written_and_its_logical_id_is_free(
    stack: cdk.Stack, target: CdkTarget
) -> None:
    target.put_resource("First", IMPORT, {"Names": ["A"]})
    assert not target.has("Other")
    target.drop_resource("First")
    assert not target.has("First")
    target.put_resource("Second", IMPORT, {"Names": ["A"]})
    assert list(cdk_apps.template(stack)["Resources"]) == ["Second"]


def test_what_the_stack_s_own_outputs_are_exported_as_is_known(
    stack: cdk.Stack, target: CdkTarget, bucket: s3.Bucket
) -> None:
    cdk.CfnOutput(stack, "Mine", value="m", export_name="Mine-Too")
    cdk.CfnOutput(stack, "Plain", value="p")
    cdk.CfnOutput(stack, "Later", value="p", export_name=f"{bucket.bucket_name}-x")
    cdk.CfnOutput(cdk.NestedStack(stack, "Inner"), "Mine", value="m", export_name="Inner-Mine")
    target.put_output("Put", "p", export="Put", description=None)
    assert target.exports() == {"Mine-Too": "Mine"}


def test_a_resource_grows_until_the_app_is_written(stack: cdk.Stack, target: CdkTarget, bucket: s3.Bucket) -> None:
    first = {"Names": ("A",), "From": {"Stack": "network"}, "Gone": "x"}
    target.put_resource("Imports", IMPORT, first)
    token = target.stand_in({"Fn::GetAtt": ["Imports", "A"]})
    ssm.StringParameter(stack, "Use", string_value=token)
    second = {"Names": ["A", "B"], "From": {"Stack": "network"}, "Values": {"Arn": bucket.bucket_arn, "None": []}}
    target.put_resource("Imports", IMPORT, second)
    found = cdk_apps.template(stack)["Resources"]
    assert found["Imports"] == {
        "Type": IMPORT,
        "Properties": {
            "Names": ["A", "B"],
            "From": {"Stack": "network"},
            "Values": {"Arn": {"Fn::GetAtt": [BUCKET, "Arn"]}, "None": []},
        },
    }
    (use,) = (each for each in found.values() if each["Type"] == "AWS::SSM::Parameter")
    assert use["Properties"]["Value"] == {"Fn::GetAtt": ["Imports", "A"]}


def test_a_resource_may_become_one_of_another_type(stack: cdk.Stack, target: CdkTarget) -> None:
    target.put_resource("Held", "AWS::CloudFormation::WaitConditionHandle", {})
    target.put_resource("Held", IMPORT, {"Names": ["A"]})
    assert cdk_apps.template(stack)["Resources"] == {"Held": {"Type": IMPORT, "Properties": {"Names": ["A"]}}}


def test_what_the_cdk_puts_into_metadata_stays(stack: cdk.Stack, target: CdkTarget) -> None:
    stack.node.set_context("aws:cdk:enable-path-metadata", True)
    for value in ("x", "y"):
        target.put_resource("Held", IMPORT, {"Names": [value]})
    held = cdk_apps.template(stack)["Resources"]["Held"]
    assert (held["Properties"], held["Metadata"]) == ({"Names": ["y"]}, {"aws:cdk:path": "Web/Strongref/ResourceHeld"})


def test_an_attribute_of_what_was_put_may_be_used_in_another_stack_and_in_a_nested_one(
    stack: cdk.Stack, target: CdkTarget
) -> None:
    """The CDK exports it by itself, or gives it to the nested stack as a parameter."""
    other = cdk_apps.stack(stack.node.root, "Other")
    nested = cdk.NestedStack(stack, "Nested")
    target.put_resource("Imports", IMPORT, {"Names": ["A", "B"]})
    cdk.CfnOutput(other, "Text", value=target.stand_in({"Fn::GetAtt": "Imports.A.Arn"}))
    cdk.CfnOutput(other, "List", value=cdk.Fn.join("|", target.stand_in_list({"Fn::GetAtt": ["Imports", "B"]})))
    cdk.CfnOutput(nested, "Inside", value=target.stand_in({"Fn::GetAtt": ["Imports", "A.Arn"]}))
    exported = cdk_apps.template(stack)["Outputs"]
    assert {"Fn::GetAtt": ["Imports", "A.Arn"]} in [each["Value"] for each in exported.values()]
    assert {"Fn::Join": ["||", {"Fn::GetAtt": ["Imports", "B"]}]} in [each["Value"] for each in exported.values()]
    imported = cdk_apps.template(other)["Outputs"]
    assert list(imported["Text"]["Value"]) == ["Fn::ImportValue"]
    (given,) = cdk_apps.resources(stack, "AWS::CloudFormation::Stack").values()
    assert list(given["Properties"]["Parameters"].values()) == [{"Fn::GetAtt": ["Imports", "A.Arn"]}]


@pytest.mark.parametrize(
    "function",
    [
        {"Fn::ImportValue": "x"},
        {"Fn::GetAtt": ["Another", "Arn"]},
        {"Ref": "Another"},
        {"Fn::GetAtt": ["Imports", "L"]},
    ],
)
def test_what_stands_for_a_value_becomes_that_function_again(
    stack: cdk.Stack, target: CdkTarget, function: dict[str, object]
) -> None:
    target.put_resource("Imports", IMPORT, {})
    text, items = target.stand_in(function), target.stand_in_list(function)
    assert target.is_unresolved(text)
    assert target.is_unresolved(items)
    assert stack.resolve(text) == function
    assert stack.resolve(items) == function


def test_what_is_unresolved(target: CdkTarget, bucket: s3.Bucket) -> None:
    unresolved = [
        bucket.bucket_arn,
        f"s3://{bucket.bucket_name}/",
        [bucket.bucket_arn],
        cdk.Fn.split(",", bucket.bucket_arn),
        {"Ref": "X"},
        {"Arn": {"Fn::GetAtt": ["X", "Arn"]}},
        ["a", {"Ref": "X"}],
        cdk.Fn.get_att("X", "Arn"),
    ]
    resolved = ["x", "", "${Token[unknown", ["a", "b"], [], {"A": "b"}, {}, 4, None]
    assert all(target.is_unresolved(each) for each in unresolved)
    assert not any(target.is_unresolved(each) for each in resolved)


def test_values_that_are_equal_in_the_template_are_equal(target: CdkTarget, bucket: s3.Bucket) -> None:
    arn = {"Fn::GetAtt": [BUCKET, "Arn"]}
    assert target.canonical(bucket.bucket_arn) == arn
    assert target.canonical(cdk.Fn.get_att(BUCKET, "Arn")) == arn
    assert target.canonical(arn) == arn
    assert target.canonical(f"{bucket.bucket_arn}/*") == {"Fn::Join": ["", [arn, "/*"]]}
    assert target.canonical(cdk.Fn.join("", [bucket.bucket_arn, "/", "*"])) == {"Fn::Join": ["", [arn, "/*"]]}
    assert target.canonical((bucket.bucket_arn, "x")) == [arn, "x"]


def test_values_of_two_stacks_differ_though_their_logical_ids_are_the_same(
    stack: cdk.Stack, target: CdkTarget, bucket: s3.Bucket
) -> None:
    there = s3.Bucket(cdk_apps.stack(stack.node.root, "There"), "Bucket")
    assert stack.resolve(there.bucket_name) == stack.resolve(bucket.bucket_name)
    assert target.canonical(there.bucket_name) == {REFERENCE: ["There/Bucket/Resource", "Ref"]}
    assert target.canonical(bucket.bucket_name) == {"Ref": BUCKET}


def test_what_another_stack_of_the_app_has_can_be_put_too(stack: cdk.Stack, target: CdkTarget) -> None:
    """The CDK exports it from there, and imports it here."""
    there = s3.Bucket(cdk_apps.stack(stack.node.root, "There"), "Bucket")
    target.put_resource("Exports", "Custom::CrossRegionExport", {"Values": {"Photos": {"Arn": there.bucket_arn}}})
    target.put_output("Arn", there.bucket_arn, export="Photos", description=None)
    template = cdk_apps.template(stack)
    imported = template["Outputs"]["Arn"]["Value"]
    assert list(imported) == ["Fn::ImportValue"]
    assert template["Resources"]["Exports"]["Properties"]["Values"]["Photos"]["Arn"] == imported


def test_logical_ids_of_the_program_s_own_are_known_and_those_put_are_not(
    stack: cdk.Stack, target: CdkTarget, bucket: s3.Bucket
) -> None:
    del bucket
    cdk.CfnOutput(stack, "Output", value="x").override_logical_id("Renamed")
    s3.Bucket(cdk.NestedStack(stack, "Nested"), "Other").node.default_child.override_logical_id("Inside")
    target.put_output("Ours", "x", export=None, description=None)
    target.put_resource("Held", IMPORT, {})
    assert [each for each in (BUCKET, "Renamed", "Ours", "Held", "Inside") if target.has(each)] == [BUCKET, "Renamed"]
    cdk.CfnOutput(stack, "Later", value="x")
    target.look_again()
    assert target.has("Later")
    assert not CdkTarget(stack).has("Held")
