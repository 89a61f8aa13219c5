"""Tokens of the real AWS CDK in real cdk8s apps: which output is asked for, where, and what is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import boto3
import cdk8s
import cdk8s_plus_31 as kplus
import jsii
import pytest
from aws_cdk import aws_s3 as s3
from cdk8s_plus_31 import k8s
from moto import mock_aws

from strongref.aws.rate_limit import RateLimiter, Turn
from strongref_cdk8s import AwsCdkResolver, TokenResolver
from strongref_cdk8s.dry_run import AppRun
from strongref_cdk8s.errors import OutputNotDefinedError, in_program_terms
from strongref_manifests.errors import NoSuchStateError, OutputNotFetchedError, SensitiveError
from strongref_manifests.sources import attributes
from strongref_manifests.sources.attributes import StackAttributes, StackTemplates
from strongref_manifests.sources.outputs import StackOutputs, StackResource, StackResources
from strongref_toolkit.errors import NoWayInError
from tests.support.cdk8s_apps import Manifests
from tests.support.fake_cloudcontrol import FakeCloudControl, finder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from strongref_manifests.tokens import Token

EU, US = "eu-west-1", "us-east-1"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What is asked of CloudFormation; every output's value names it, but for those called like other things."""
    asked: list[tuple[object, ...]] = []

    def value(
        _outputs: StackOutputs, stack: str, key: str, region: str | None = None, account: str | None = None
    ) -> str:
        asked.append((stack, key, region, account))
        special = {
            "Port": "8080",
            "Ratio": "0.5",
            "NoNumber": "x",
            "Parts": "a,b",
            "Evil": "${Token[TOKEN.1]} ${env:X} {{resolve:ssm:x}}",
            "Empty": "",
        }
        if key == "Missing":
            raise OutputNotFetchedError(key, stack)
        return special.get(key, f"<{stack}/{key}>")

    monkeypatch.setattr(StackOutputs, "value", value)
    return asked


@pytest.fixture
def stack() -> cdk.Stack:
    return cdk.Stack(cdk.App(), "aws")


@pytest.fixture
def bucket(stack: cdk.Stack) -> s3.Bucket:
    return s3.Bucket(stack, "Bucket")


def failing(manifests: Manifests) -> str:
    with pytest.raises(RuntimeError) as failed:
        manifests.written()
    return str(failed.value)


def test_the_attribute_and_the_output_s_value_are_the_same_output(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]]
) -> None:
    output = cdk.CfnOutput(stack, "BucketName", value=bucket.bucket_name)
    manifests = Manifests(AwsCdkResolver())
    manifests.config_map("C", {"attribute": bucket.bucket_name, "output": output.value, "plain": "x"})
    assert manifests.data() == {"attribute": "<aws/BucketName>", "output": "<aws/BucketName>", "plain": "x"}
    assert asked == [("aws", "BucketName", None, None)]


def test_a_plus_app_is_written_with_it(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]], tmp_path: Path
) -> None:
    del asked
    cdk.CfnOutput(stack, "BucketName", value=bucket.bucket_name)
    manifests = Manifests(AwsCdkResolver(), outdir=tmp_path)
    name = kplus.EnvValue.from_value(bucket.bucket_name)
    containers = [kplus.ContainerProps(image="job", env_variables={"BUCKET_NAME": name})]
    kplus.CronJob(manifests.chart, "CronJob", schedule=cdk8s.Cron.daily(), containers=containers)
    manifests.app.synth()
    assert "name: BUCKET_NAME\n                  value: <aws/BucketName>" in next(tmp_path.iterdir()).read_text()


def test_a_stack_s_own_region_account_name_and_the_output_s_own_logical_id_are_asked(
    asked: list[tuple[object, ...]],
) -> None:
    app = cdk.App()
    env = cdk.Environment(region=EU, account="222222222222")
    one = cdk.Stack(app, "One", env=env, stack_name="prod-one")
    two = cdk.Stack(cdk.Stage(app, "Stage", env=cdk.Environment(region=US)), "Two")
    first, second = s3.Bucket(one, "Bucket"), s3.Bucket(two, "Bucket")
    cdk.CfnOutput(one, "Name", value=first.bucket_name).override_logical_id("Renamed")
    inner = cdk.CfnOutput(second, "Inner", value=second.bucket_name)
    manifests = Manifests(AwsCdkResolver())
    manifests.config_map("C", {"first": first.bucket_name, "second": second.bucket_name})
    logical_id = two.resolve(inner.logical_id)
    assert manifests.data() == {"first": "<prod-one/Renamed>", "second": f"<Stage-Two/{logical_id}>"}
    assert asked == [("prod-one", "Renamed", EU, "222222222222"), ("Stage-Two", logical_id, US, None)]


def test_an_output_of_a_nested_stack_is_reached_by_the_logical_ids_that_lead_to_it(
    stack: cdk.Stack, asked: list[tuple[object, ...]]
) -> None:
    outer = cdk.NestedStack(stack, "Outer")
    inner = cdk.NestedStack(outer, "Inner")
    bucket = s3.Bucket(inner, "Bucket")
    cdk.CfnOutput(inner, "Name", value=bucket.bucket_name)
    manifests = Manifests(AwsCdkResolver())
    manifests.config_map("C", {"name": bucket.bucket_name})
    first = stack.resolve(outer.nested_stack_resource.logical_id)
    second = outer.resolve(inner.nested_stack_resource.logical_id)
    manifests.data()
    assert asked == [(f"aws.{first}.{second}", "Name", None, None)]


@pytest.mark.parametrize("synthesized", [False, True])
def test_what_is_in_a_nested_stack_may_be_an_output_of_its_parent_or_of_another_stack(
    stack: cdk.Stack, asked: list[tuple[object, ...]], *, synthesized: bool
) -> None:
    """Before and after the CDK has written the references between stacks."""
    nested = cdk.NestedStack(stack, "Nested")
    inside, beside = s3.Bucket(nested, "Inside"), s3.Bucket(stack, "Beside")
    other = cdk.Stack(stack.node.root, "Other")
    cdk.CfnOutput(stack, "Inside", value=inside.bucket_name)
    cdk.CfnOutput(other, "Beside", value=beside.bucket_arn)
    if synthesized:
        cdk.App.of(stack).synth()
    manifests = Manifests(AwsCdkResolver())
    manifests.config_map("C", {"inside": inside.bucket_name, "beside": beside.bucket_arn})
    manifests.data()
    if synthesized:  # The CDK has made outputs of what another stack needs, in the stacks that have it.
        assert {str(stack_name).partition(".")[0] for stack_name, *_ in asked} == {"aws"}
    else:
        assert sorted(asked) == [("Other", "Beside", None, None), ("aws", "Inside", None, None)]


def test_the_token_s_own_stack_comes_before_another_one(stack: cdk.Stack, asked: list[tuple[object, ...]]) -> None:
    early = cdk.Stack(stack.node.root, "A")
    late = cdk.Stack(stack.node.root, "Z")
    bucket = s3.Bucket(late, "Bucket")
    for each in (early, late):
        cdk.CfnOutput(each, "Name", value=bucket.bucket_name)
    s3.Bucket(early, "Bucket")  # with the same logical id
    manifests = Manifests(AwsCdkResolver())
    manifests.config_map("C", {"name": bucket.bucket_name})
    manifests.data()
    assert asked == [("Z", "Name", None, None)]


def test_text_with_several_tokens_is_one_output_or_several(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]]
) -> None:
    cdk.CfnOutput(stack, "Name", value=bucket.bucket_name)
    cdk.CfnOutput(stack, "Arn", value=bucket.bucket_arn)
    cdk.CfnOutput(stack, "Url", value=f"s3://{bucket.bucket_name}/in")
    manifests = Manifests(AwsCdkResolver())
    data = {
        "whole": f"s3://{bucket.bucket_name}/in",
        "parts": f"{bucket.bucket_name}={bucket.bucket_arn};",
        "joined": cdk.Fn.join("+", [bucket.bucket_name, "x"]),
        "selected": cdk.Fn.select(0, cdk.Fn.split("/", bucket.bucket_name)),
    }
    manifests.config_map("C", data)
    assert manifests.data() == {
        "whole": "<aws/Url>",
        "parts": "<aws/Name>=<aws/Arn>;",
        "joined": "<aws/Name>+x",
        "selected": "<aws",
    }
    assert sorted(str(key) for _, key, *_ in asked) == ["Arn", "Name", "Name", "Name", "Url"]


def test_lists_and_numbers_are_written_as_such(stack: cdk.Stack, asked: list[tuple[object, ...]]) -> None:
    del asked
    listed = cdk.CfnParameter(stack, "Listed", type="CommaDelimitedList")
    port = cdk.CfnParameter(stack, "PortNumber", type="Number")
    cdk.CfnOutput(stack, "Parts", value=cdk.Fn.join(",", listed.value_as_list))
    cdk.CfnOutput(stack, "Port", value=port.value_as_string)
    manifests = Manifests(AwsCdkResolver())
    manifests.pod("P", args=listed.value_as_list, ports=[{"containerPort": port.value_as_number}])
    container = manifests.container()
    assert container["args"] == ["a", "b"]
    assert container["ports"] == [{"containerPort": 8080}]


def test_a_list_is_found_by_the_output_that_joins_its_items_with_a_separator(
    stack: cdk.Stack, asked: list[tuple[object, ...]]
) -> None:
    listed = cdk.CfnParameter(stack, "Listed", type="CommaDelimitedList")
    cdk.CfnOutput(stack, "Run", value=cdk.Fn.join("", listed.value_as_list))
    manifests = Manifests(AwsCdkResolver())
    manifests.pod("P", args=listed.value_as_list)
    reported = failing(manifests)
    assert 'Unable to find output defined for token: {"Ref":"Listed"}' in reported
    assert 'It is a list: output its items joined by a separator, as in Fn.join(",", …).' in reported
    cdk.CfnOutput(stack, "Parts", value=cdk.Fn.join(",", listed.value_as_list))
    assert manifests.container()["args"] == ["a", "b"]
    assert [key for _, key, *_ in asked] == ["Parts"]


def test_a_token_as_a_separator_is_resolved_or_refused(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]]
) -> None:
    del asked
    cdk.CfnOutput(stack, "Arn", value=bucket.bucket_arn)
    manifests = Manifests(AwsCdkResolver())
    name = cdk.CfnParameter(stack, "Sign").value_as_string
    manifests.config_map("C", {"text": cdk.Fn.join(name, ["a", bucket.bucket_arn])})
    assert 'data.text: Unable to find output defined for token: {"Fn::Join":[{"Ref":"Sign"},["a",' in failing(manifests)
    cdk.CfnOutput(stack, "Sign-", value=name).override_logical_id("Ratio")
    assert manifests.data() == {"text": "a0.5<aws/Arn>"}


def test_apps_that_the_cdks_made_themselves_are_the_same_each_time(asked: list[tuple[object, ...]]) -> None:
    """In Python, jsii shows them as another object each time."""
    stack = cdk.Stack(stack_name="solo")
    bucket = s3.Bucket(stack, "Bucket")
    cdk.CfnOutput(stack, "Name", value=bucket.bucket_name)
    cdk.CfnOutput(stack, "Region", value=cdk.Aws.REGION)
    app = cdk8s.Testing.app(resolvers=[AwsCdkResolver(app=stack.node.root)])
    chart = cdk8s.Chart(app, "Manifest")
    data = {"name": bucket.bucket_name, "region": cdk.Aws.REGION}
    k8s.KubeConfigMap(chart, "C", data=data)
    for _ in range(2):
        (written,) = cdk8s.Testing.synth(chart)
        assert written["data"] == {"name": "<solo/Name>", "region": "<solo/Region>"}
    assert [key for _, key, *_ in asked] == ["Name", "Region"] * 2


def test_what_the_cdk_knows_itself_costs_no_call(stack: cdk.Stack, asked: list[tuple[object, ...]]) -> None:
    class Name:
        def produce(self) -> str:
            return "produced"

    name = cdk.Lazy.string(jsii.implements(cdk.IStableStringProducer)(Name)())
    manifests = Manifests(AwsCdkResolver(app=stack.node.root))
    manifests.config_map("C", {"lazy": name, "text": f"x-{name}", "logical": s3.CfnBucket(stack, "B").logical_id})
    assert manifests.data() == {"lazy": "produced", "text": "x-produced", "logical": "B"}
    assert asked == []


def test_an_output_that_is_not_defined_is_named_as_cloudformation_would_be_given_it(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]]
) -> None:
    del stack, asked
    manifests = Manifests(AwsCdkResolver())
    manifests.config_map("C", {"name": bucket.bucket_name, "arn": f"x {bucket.bucket_arn}"})
    text = failing(manifests)
    end = "Make sure you defined a CfnOutput for this value."
    assert "2 values could not be resolved:" in text
    unable = "Unable to find output defined for token:"
    assert f'\n  Manifest/C, data.arn: {unable} {{"Fn::GetAtt":["Bucket83908E77","Arn"]}}. {end}' in text
    assert (
        f'\n  Manifest/C, data.name: Unable to find output defined for token: {{"Ref":"Bucket83908E77"}}. {end}' in text
    )


def test_every_failing_value_of_all_charts_is_reported_and_no_manifest_is_written(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]], tmp_path: Path
) -> None:
    del asked
    cdk.CfnOutput(stack, "Missing", value=bucket.bucket_name)
    manifests = Manifests(AwsCdkResolver(), outdir=tmp_path)
    manifests.config_map("First", {"plain": "x"})
    second = cdk8s.Chart(manifests.app, "Second")
    manifests.config_map("C", {"a": bucket.bucket_name, "both": f"{bucket.bucket_name}{bucket.bucket_arn}"}, second)
    manifests.config_map("D", {"d": bucket.bucket_website_url}, second)
    for _ in range(2):  # the second time is no different
        with pytest.raises(RuntimeError) as failed:
            manifests.app.synth()
        lines = str(failed.value).splitlines()
        assert lines[0].endswith("4 values could not be resolved:")
        places = [line.split(": ")[0].strip() for line in lines[1:]]
        assert places == ["Second/C, data.a", "Second/C, data.both", "Second/C, data.both", "Second/D, data.d"]
        assert (
            "Failed fetching output value for output key 'Missing' (stack: aws). Error: Output not found. "
            "Are you sure you deployed the CDK stack?"
        ) in lines[1]
        assert list(tmp_path.iterdir()) == []


def test_a_value_is_written_as_it_is_whatever_it_looks_like(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]]
) -> None:
    cdk.CfnOutput(stack, "Evil", value=bucket.bucket_name)
    manifests = Manifests(AwsCdkResolver())
    manifests.config_map("C", {"a": bucket.bucket_name, "b": f"-{bucket.bucket_name}"})
    evil = "${Token[TOKEN.1]} ${env:X} {{resolve:ssm:x}}"
    for _ in range(2):
        assert manifests.data() == {"a": evil, "b": f"-{evil}"}
    assert asked == [("aws", "Evil", None, None)] * 2  # CloudFormation itself is asked once.


def test_a_token_where_cdk8s_resolves_nothing_is_reported(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]]
) -> None:
    """In a key, and in a JSON patch, which is applied afterwards."""
    del asked
    cdk.CfnOutput(stack, "Name", value=bucket.bucket_name)
    manifests = Manifests(AwsCdkResolver())
    manifests.config_map("Key", {bucket.bucket_name: "x"})
    patched = manifests.config_map("Patched", {"a": "x"})
    patched.add_json_patch(cdk8s.JsonPatch.add("/data/b", f"-{bucket.bucket_name}"))
    patched.add_json_patch(cdk8s.JsonPatch.add("/data/c", ["x", cdk.Token.as_number(bucket.bucket_arn)]))
    text = failing(manifests)
    assert f"Manifest/Key, data.{bucket.bucket_name}: {bucket.bucket_name} stands in a key" in text
    assert f"Manifest/Patched, data.b: {bucket.bucket_name} is in a place that cdk8s does not resolve" in text
    assert "Manifest/Patched, data.c[1]: -1.88" in text


def test_a_token_that_the_cdk_does_not_know_is_reported(asked: list[tuple[object, ...]]) -> None:
    del asked
    manifests = Manifests(AwsCdkResolver())
    manifests.config_map("C", {"unknown": "${Token[TOKEN.99999]}", "list": "#{Token[TOKEN.99999]}"})
    text = failing(manifests)
    assert "data.unknown: ${Token[TOKEN.99999]} cannot be read: " in text
    assert "data.list: #{Token[TOKEN.99999]} cannot be read: " in text


def test_a_value_that_is_not_a_number_is_reported(stack: cdk.Stack, asked: list[tuple[object, ...]]) -> None:
    del asked
    given = cdk.CfnParameter(stack, "Given", type="Number")
    cdk.CfnOutput(stack, "NoNumber", value=given.value_as_string)
    manifests = Manifests(AwsCdkResolver())
    manifests.pod("P", ports=[{"containerPort": given.value_as_number}])
    assert 'must be a number, but the value of {"Ref":"Given"} is not one' in failing(manifests)


def test_what_is_another_value_in_each_stack_is_only_taken_from_its_own(
    stack: cdk.Stack, asked: list[tuple[object, ...]]
) -> None:
    other = cdk.Stack(stack.node.root, "Other")
    for each in (other, stack):
        cdk.CfnOutput(each, "Here", value=cdk.Aws.REGION)
    bucket = s3.Bucket(stack, "Bucket")
    there = f"{bucket.bucket_name} in {cdk.Aws.REGION}"
    cdk.CfnOutput(other, "Where", value=there)
    manifests = Manifests(AwsCdkResolver(app=stack.node.root))
    manifests.config_map("C", {"region": cdk.Aws.REGION, "mixed": there, "nowhere": cdk.Aws.STACK_ID})
    text = failing(manifests)
    assert 'data.region: {"Ref":"AWS::Region"} may belong to Other and aws, and has another value in each' in text
    assert "data.nowhere: Unable to find output defined" in text
    assert asked == []


def test_what_only_one_stack_defines_is_found_in_a_given_app(stack: cdk.Stack, asked: list[tuple[object, ...]]) -> None:
    cdk.CfnOutput(stack, "Here", value=cdk.Aws.REGION)
    manifests = Manifests(AwsCdkResolver(app=stack.node.root))
    manifests.config_map("C", {"region": cdk.Aws.REGION})
    assert manifests.data() == {"region": "<aws/Here>"}
    assert asked == [("aws", "Here", None, None)]


def test_attributes_are_looked_up_where_there_is_no_output_if_that_is_asked_for(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens: list[str] = []

    def fetch(_attributes: StackAttributes, token: Token) -> str:
        tokens.append(str(token))
        return f"<{token.reference}>"

    monkeypatch.setattr(StackAttributes, "fetch", fetch)
    cdk.CfnOutput(stack, "Name", value=bucket.bucket_name)
    there = s3.Bucket(cdk.Stack(stack.node.root, "There", env=cdk.Environment(region=EU)), "Bucket")
    manifests = Manifests(AwsCdkResolver(attributes=True))
    data = {"name": bucket.bucket_name, "arn": bucket.bucket_arn, "there": there.bucket_name}
    manifests.config_map("C", data)
    assert manifests.data() == {
        "name": "<aws/Name>",
        "arn": "<aws.Bucket83908E77.Arn>",
        "there": "<There.Bucket83908E77.Ref>",
    }
    assert sorted(tokens) == ["${cfn-attr:There.Bucket83908E77.Ref@eu-west-1}", "${cfn-attr:aws.Bucket83908E77.Arn}"]
    assert len(asked) == 1
    manifests = Manifests(AwsCdkResolver(attributes=True))
    manifests.config_map("C", {"id": stack.stack_id, "split": cdk.Fn.import_value("x")})
    text = failing(manifests)
    assert "data.split: Unable to find output defined" in text
    assert "data.id: Unable to find output defined" in text


def test_the_cdk_s_own_objects_are_resolved_too(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]]
) -> None:
    """Where cdk8s takes anything: it would ask them to resolve themselves, and write what CloudFormation would get."""
    del asked
    cdk.CfnOutput(stack, "Arn", value=bucket.bucket_arn)
    resolver = AwsCdkResolver()
    attribute = bucket.node.default_child.get_att("Arn")
    assert resolver.concerns(attribute)
    assert not resolver.concerns(bucket.node)
    assert not resolver.concerns(cdk8s.Size.gibibytes(1))
    assert resolver.whole(attribute) == "<aws/Arn>"


def test_attributes_of_resources_with_one_physical_id_are_distinguished(
    stack: cdk.Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud = FakeCloudControl()
    names = {}
    for group in ("shop", "web"):
        made = cdk.CfnResource(stack, group, type="AWS::Logs::MetricFilter")
        names[group] = made.get_att("FilterPattern").to_string()
        given = {"FilterName": "errors", "LogGroupName": group, "FilterPattern": f"of-{group}"}
        cloud.add(made.cfn_resource_type, f"{group}|errors", **given)
    monkeypatch.setenv("AWS_REGION", EU)
    found = StackResource("AWS::Logs::MetricFilter", "errors")
    monkeypatch.setattr(StackResources, "resource", lambda *_: found)
    monkeypatch.setattr(StackTemplates, "properties", lambda *given: {"LogGroupName": given[-1]})
    monkeypatch.setattr(StackTemplates, "given", lambda *_: {})
    monkeypatch.setattr(attributes, "finder_in", lambda *_: finder(cloud))
    manifests = Manifests(AwsCdkResolver(attributes=True))
    manifests.config_map("C", names)
    assert manifests.data() == {"shop": "of-shop", "web": "of-web"}


def test_a_list_under_a_key_that_cdk8s_renames_is_reported_once(
    stack: cdk.Stack, asked: list[tuple[object, ...]]
) -> None:
    del asked
    listed = cdk.CfnParameter(stack, "Listed", type="CommaDelimitedList").value_as_list
    manifests = Manifests(AwsCdkResolver())
    schema = k8s.CustomResourceValidation(open_apiv3_schema=k8s.JsonSchemaProps(x_kubernetes_list_map_keys=listed))
    version = k8s.CustomResourceDefinitionVersion(name="v1", served=True, storage=True, schema=schema)
    names = k8s.CustomResourceDefinitionNames(kind="Shop", plural="shops")
    spec = k8s.CustomResourceDefinitionSpec(group="g.example", names=names, scope="Cluster", versions=[version])
    k8s.KubeCustomResourceDefinition(manifests.chart, "Shop", spec=spec)
    reported = failing(manifests)
    assert "1 value could not be resolved" in reported
    assert "JSON patch" not in reported


def test_a_construct_is_no_value(stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]]) -> None:
    cdk.CfnOutput(stack, "Arn", value=bucket.bucket_arn)
    given = s3.Bucket.from_bucket_arn(stack, "Given", bucket.bucket_arn)
    data = {"bucket": bucket, "arn": [bucket.bucket_arn], "resource": bucket.node.default_child, "given": given}
    manifests = Manifests(AwsCdkResolver())
    k8s.KubeControllerRevision(manifests.chart, "R", revision=1, data=data | {"stack": stack})
    reported = failing(manifests)
    assert "4 values could not be resolved" in reported
    for key, path in {"bucket": "Bucket", "resource": "Bucket/Resource", "given": "Given"}.items():
        assert f"data.{key}: The construct aws/{path} is not a value. Use one of its attributes" in reported
    assert "data.stack: The construct aws is not a value" in reported
    assert [key for _, key, *_ in asked] == ["Arn"]
    json_value = cdk.CfnJson(stack, "Json", value={"a": "b"})  # a construct and a token
    with pytest.raises(OutputNotDefinedError):
        AwsCdkResolver().whole(json_value)


class Counting(RateLimiter):
    calls: list[str] = []  # noqa: RUF012 (one for all, emptied by the test)

    def take(self, action: str, region: str, now: datetime, within: float, chance: float = 0.0) -> Turn | None:
        self.calls.append(f"{action} {region}")
        return super().take(action, region, now, within, chance)


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    for name in ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("strongref_toolkit.session.RateLimiter", Counting)
    Counting.calls.clear()
    with mock_aws():
        template = {
            "Resources": {"Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "site-4711"}}},
            "Outputs": {"Name": {"Value": {"Ref": "Bucket"}}, "Arn": {"Value": {"Fn::GetAtt": ["Bucket", "Arn"]}}},
        }
        client = boto3.client("cloudformation", EU)
        client.create_stack(StackName="site", TemplateBody=json.dumps(template))
        yield client


@pytest.mark.usefixtures("aws")
def test_a_stack_is_described_once_however_many_values_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", EU)
    stack = cdk.Stack(cdk.App(), "site")
    bucket = s3.Bucket(stack, "Bucket")
    cdk.CfnOutput(stack, "Name", value=bucket.bucket_name)
    cdk.CfnOutput(stack, "Arn", value=bucket.bucket_arn)
    manifests = Manifests(AwsCdkResolver())
    for number in range(3):
        manifests.config_map(f"C{number}", {"name": bucket.bucket_name, "arn": f"{number} {bucket.bucket_arn}"})
    assert [each["data"] for each in manifests.written()] == [
        {"name": "site-4711", "arn": f"{number} arn:aws:s3:::site-4711"} for number in range(3)
    ]
    assert Counting.calls == ["DescribeStacks eu-west-1"]


@pytest.mark.usefixtures("aws")
def test_a_region_comes_from_the_stack_or_the_resolver_or_is_asked_for() -> None:
    def manifests(env: cdk.Environment | None, region: str | None) -> Manifests:
        stack = cdk.Stack(cdk.App(), "site", env=env)
        bucket = s3.Bucket(stack, "Bucket")
        cdk.CfnOutput(stack, "Name", value=bucket.bucket_name)
        made = Manifests(AwsCdkResolver(region=region))
        made.config_map("C", {"name": bucket.bucket_name})
        return made

    assert manifests(cdk.Environment(region=EU), US).data() == {"name": "site-4711"}
    assert manifests(None, EU).data() == {"name": "site-4711"}
    assert "There is no stack site in us-east-1." in failing(manifests(None, US))
    assert "No region: " in failing(manifests(None, None))


def test_objects_that_come_after_a_first_writing_get_a_dry_run_when_they_fail(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]]
) -> None:
    del asked, stack
    manifests = Manifests(AwsCdkResolver())
    manifests.config_map("First", {"a": "x"})
    assert manifests.data() == {"a": "x"}
    manifests.config_map("Second", {"a": bucket.bucket_name, "b": bucket.bucket_arn})
    assert "2 values could not be resolved" in failing(manifests)


def test_what_fails_for_other_reasons_is_left_to_cdk8s(asked: list[tuple[object, ...]]) -> None:
    del asked

    @jsii.implements(cdk8s.IResolver)
    class Other:
        def resolve(self, context: Any) -> None:
            if context.value == "broken":
                raise KeyError("other")

    manifests = Manifests(AwsCdkResolver(), Other())
    manifests.config_map("C", {"a": "broken"})
    text = failing(manifests)
    assert "other" in text
    assert "could not be resolved" not in text


def test_an_object_that_fails_for_other_reasons_does_not_hide_the_others_or_let_them_be_written(
    bucket: s3.Bucket, asked: list[tuple[object, ...]], tmp_path: Path
) -> None:
    del asked
    for data, text in (({"a": bucket.bucket_name}, "1 value could not be resolved"), ({}, "'Second/Broken'")):
        manifests = Manifests(AwsCdkResolver(), outdir=tmp_path)
        manifests.config_map("Fine", {"a": "x"})
        second = cdk8s.Chart(manifests.app, "Second")
        broken = manifests.config_map("Broken", {"a": "x"}, second)
        broken.add_json_patch(cdk8s.JsonPatch.replace("/nowhere/b", "x"))
        manifests.config_map("C", data, second)
        with pytest.raises(RuntimeError) as failed:
            manifests.app.synth()
        assert text in str(failed.value)
        assert ("could not be resolved" in str(failed.value)) is bool(data)
        assert list(tmp_path.iterdir()) == []


def test_what_is_added_after_a_first_writing_gets_a_dry_run_before_the_next(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]], tmp_path: Path
) -> None:
    del asked
    cdk.CfnOutput(stack, "Name", value=bucket.bucket_name)
    manifests = Manifests(AwsCdkResolver(), outdir=tmp_path)
    first = manifests.config_map("First", {"a": bucket.bucket_name})
    assert first.to_json()["data"] == {"a": "<aws/Name>"}
    manifests.app.synth()
    (file,) = tmp_path.iterdir()
    before = file.read_text()
    manifests.config_map("New", {"a": bucket.bucket_name})
    manifests.config_map("Late", {"a": bucket.bucket_arn}, cdk8s.Chart(manifests.app, "Second"))
    with pytest.raises(RuntimeError, match="1 value could not be resolved"):
        manifests.app.synth()
    assert list(tmp_path.iterdir()) == [file]
    assert file.read_text() == before
    cdk.CfnOutput(stack, "Arn", value=bucket.bucket_arn)
    manifests.app.synth()
    assert "<aws/Arn>" in next(each for each in tmp_path.iterdir() if each != file).read_text()
    assert "manifest-new" not in before
    assert file.read_text() != before


def test_an_app_has_one_dry_run_for_each_writing_whatever_is_in_it(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects that hold other ones, or what looks like that, are no other writing; neither is a second resolver."""
    del asked
    cdk.CfnOutput(stack, "Name", value=bucket.bucket_name)
    dry_runs: list[object] = []
    dry_run = AppRun.dry_run

    def counting(run: AppRun, app: object) -> None:
        dry_runs.append(app)
        dry_run(run, app)

    monkeypatch.setattr(AppRun, "dry_run", counting)
    manifests = Manifests(AwsCdkResolver(), TokenResolver("env"))
    inner = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": bucket.bucket_name}}
    for number in range(3):
        made = cdk8s.ApiObject(manifests.chart, f"C{number}", api_version="v1", kind="List")
        made.metadata.add("items", [inner, inner])
        manifests.config_map(f"D{number}", {"a": bucket.bucket_name})
    for count in (1, 2):
        manifests.written()
        assert len(dry_runs) == count


def test_one_resolver_does_for_two_apps(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]], tmp_path: Path
) -> None:
    del asked
    cdk.CfnOutput(stack, "Name", value=bucket.bucket_name)
    resolver = AwsCdkResolver()
    one, two = Manifests(resolver), Manifests(resolver, outdir=tmp_path)
    one.config_map("C", {"a": bucket.bucket_name})
    assert one.data() == {"a": "<aws/Name>"}
    two.config_map("C", {"a": bucket.bucket_name})
    two.config_map("D", {"a": bucket.bucket_arn}, cdk8s.Chart(two.app, "Second"))
    with pytest.raises(RuntimeError, match="1 value could not be resolved"):
        two.app.synth()
    assert list(tmp_path.iterdir()) == []


def test_tokens_that_no_resolver_knows_are_not_written(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]]
) -> None:
    del asked
    port = cdk.CfnParameter(stack, "Number", type="Number")
    cdk.CfnOutput(stack, "Port", value=port.value_as_string)
    cdk.CfnOutput(stack, "Evil", value=bucket.bucket_name)
    manifests = Manifests(AwsCdkResolver())
    data = {
        "secret": cdk.SecretValue.secrets_manager("db", json_field="password").unsafe_unwrap(),
        "number": f"--port={port.value_as_number}",
        "other": "${TfToken[TOKEN.7]}",
        "lower": bucket.bucket_name.lower(),
        "beside": f"{port.value_as_string} ${{TfToken[TOKEN.8]}}",
        "evil": bucket.bucket_name,
        "programs": "${HOME} ${__field.name} {{ .Values.x }}",
    }
    manifests.config_map("C", data)
    text = failing(manifests)
    assert "5 values could not be resolved" in text
    assert "data.lower: ${token[token." in text
    assert "The program changed the case of its letters" in text
    assert "data.secret: {{resolve:secretsmanager:db:SecretString:password::}} is a dynamic reference" in text
    assert "TokenResolver('secret', 'ssm', sensitive=True)" in text
    assert "data.number: -1.888154" in text  # the digits after these count the tokens of the whole process
    assert "turn it into text with Token.as_string" in text
    for key, number in (("other", 7), ("beside", 8)):
        shown = f"data.{key}: ${{TfToken[TOKEN.{number}]}} is a token of the CDK for Terraform, which no resolver"
        assert shown in text
    assert "data.evil" not in text


def test_a_logical_id_that_a_program_names_itself_is_looked_for_in_the_given_app(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]]
) -> None:
    own = cdk.Fn.get_att(stack.get_logical_id(bucket.node.default_child), "Arn").to_string()
    raw = cdk.Token.as_string({"Fn::GetAtt": ["Bucket83908E77", "DomainName"]})
    manifests = Manifests(AwsCdkResolver(app=stack.node.root, attributes=True))
    manifests.config_map("C", {"own": own, "raw": raw})
    text = failing(manifests)
    assert 'data.own: Unable to find output defined for token: {"Fn::GetAtt":["Bucket83908E77","Arn"]}' in text
    assert 'data.raw: Unable to find output defined for token: {"Fn::GetAtt":["Bucket83908E77","DomainName"]}' in text
    cdk.CfnOutput(stack, "Own", value=own)
    cdk.CfnOutput(stack, "Raw", value=raw)
    assert manifests.data() == {"own": "<aws/Own>", "raw": "<aws/Raw>"}
    assert {key for _, key, *_ in asked} == {"Own", "Raw"}


@pytest.mark.parametrize("first", [0, 1])
def test_what_refers_to_nothing_is_found_in_the_given_app_alone_whatever_comes_before_it(
    bucket: s3.Bucket, stack: cdk.Stack, asked: list[tuple[object, ...]], first: int
) -> None:
    del asked
    cdk.CfnOutput(stack, "Name", value=bucket.bucket_name)
    cdk.CfnOutput(stack, "Here", value=stack.region)
    values = [bucket.bucket_name, stack.region]
    data = {"a": values[first], "b": values[1 - first]}
    manifests = Manifests(AwsCdkResolver())
    manifests.config_map("C", data)
    text = failing(manifests)
    assert "1 value could not be resolved" in text
    assert f'data.{"ba"[first]}: Unable to find output defined for token: {{"Ref":"AWS::Region"}}' in text
    assert "It refers to no resource of an app: also give AwsCdkResolver(app=…)." in text
    manifests = Manifests(AwsCdkResolver(app=stack.node.root))
    manifests.config_map("C", data)
    assert sorted(manifests.data().values()) == ["<aws/Here>", "<aws/Name>"]


def test_what_is_asked_for_its_stack_is_found(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]], tmp_path: Path
) -> None:
    """Nested stacks' names, mappings and what is imported."""
    nested = cdk.NestedStack(stack, "Nested")
    mapping = cdk.CfnMapping(stack, "Map", mapping={"a": {"b": "c"}})
    exported = cdk.CfnOutput(stack, "Exported", value=bucket.bucket_name, export_name="the-export")
    automatic = stack.export_value(bucket.bucket_arn)
    found = mapping.find_in_map("a", "b")
    for name, value in (("NestedId", nested.stack_id), ("NestedName", nested.stack_name), ("Mapped", found)):
        cdk.CfnOutput(stack, name, value=value)
    data = {
        "id": nested.stack_id,
        "name": nested.stack_name,
        "mapped": found,
        "import": exported.import_value,
        "named": cdk.Fn.import_value("the-export"),
        "automatic": automatic,
    }
    manifests = Manifests(AwsCdkResolver(app=stack.node.root))
    manifests.config_map("C", data)
    assert {key: value.split("/")[1].rstrip(">")[:20] for key, value in manifests.data().items()} == {
        "id": "NestedId",
        "name": "NestedName",
        "mapped": "Mapped",
        "import": "Exported",
        "named": "Exported",
        "automatic": "ExportsOutputFnGetAt",
    }
    assert asked
    assert list(tmp_path.iterdir()) == []


def test_the_first_output_of_a_value_that_is_deployed_is_taken(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]]
) -> None:
    cdk.CfnOutput(stack, "Missing", value=bucket.bucket_name)
    manifests = Manifests(AwsCdkResolver())
    manifests.config_map("C", {"a": bucket.bucket_name})
    assert "Failed fetching output value for output key 'Missing'" in failing(manifests)
    cdk.CfnOutput(stack, "Deployed", value=bucket.bucket_name)
    assert manifests.data() == {"a": "<aws/Deployed>"}
    assert {key for _, key, *_ in asked} == {"Missing", "Deployed"}


def test_an_empty_list_is_one(stack: cdk.Stack, asked: list[tuple[object, ...]]) -> None:
    del asked
    listed = cdk.CfnParameter(stack, "Listed", type="CommaDelimitedList")
    cdk.CfnOutput(stack, "Empty", value=cdk.Fn.join(",", listed.value_as_list))
    resolver = AwsCdkResolver()
    assert resolver.whole(listed.value_as_list) == []


def test_text_of_a_program_s_own_is_in_no_error(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]]
) -> None:
    del asked
    manifests = Manifests(AwsCdkResolver())
    data = {
        "unknown": "postgres://u:hunter2@${Token[TOKEN.99999]}",
        "text": f"postgres://u:hunter2@{bucket.bucket_name}",
        "joined": cdk.Fn.join("", ["pw=hunter2;", bucket.bucket_name]),
        "json": stack.to_json_string({"password": "hunter2", "bucket": bucket.bucket_name}),
    }
    manifests.config_map("C", data)
    text = failing(manifests)
    assert "4 values could not be resolved" in text
    assert "hunter2" not in text
    assert '{"Ref":"Bucket83908E77"}' in text


def test_what_is_to_be_given_is_called_as_in_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    stack = cdk.Stack(cdk.App(), "aws")
    bucket = s3.Bucket(stack, "Bucket")
    cdk.CfnOutput(stack, "Name", value=bucket.bucket_name)
    manifests = Manifests(AwsCdkResolver())
    manifests.config_map("C", {"a": bucket.bucket_name})
    text = failing(manifests)
    assert "give the resolver region=…, set AWS_REGION, or give the stack or the token a region of its own" in text
    assert "--region" not in text
    assert "role=arn:aws:iam::ACCOUNT:role/NAME" in in_program_terms(NoWayInError("222222222222"))
    assert "Give tf=x=STATE" in in_program_terms(NoSuchStateError("x", []))
    assert "Give the resolver allow=[…] with this address" in in_program_terms(SensitiveError("output.x"))


@pytest.mark.parametrize("for_good", [True, False])
def test_a_value_that_fails_only_after_the_dry_run_is_reported_then(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]], *, for_good: bool
) -> None:
    """What a program makes up anew each time may be another token when it is written."""
    del asked, stack

    @jsii.implements(cdk8s.IAnyProducer)
    class Later:
        calls = 0
        first_bad = 10**6

        def produce(self) -> str:
            self.calls += 1
            bad = self.calls >= self.first_bad if for_good else self.calls == self.first_bad
            return bucket.bucket_name if bad else "plain"

    later = Later()
    manifests = Manifests(AwsCdkResolver())
    made = cdk8s.ApiObject(manifests.chart, "C", api_version="v1", kind="Plain")
    made.metadata.add("later", cdk8s.Lazy.any(later))
    assert manifests.written()[0]["metadata"]["later"] == "plain"
    later.first_bad = later.calls + 1
    text = failing(manifests)
    assert "1 value could not be resolved:\n  Manifest/C, metadata.later: Unable to find output defined" in text


def test_what_an_output_or_a_text_is_made_of_may_be_beyond_the_cdk(
    stack: cdk.Stack, bucket: s3.Bucket, asked: list[tuple[object, ...]]
) -> None:
    del asked
    cdk.CfnOutput(stack, "Broken", value="${Token[TOKEN.99999]}")
    manifests = Manifests(AwsCdkResolver())
    manifests.config_map("C", {"a": bucket.bucket_name, "b": cdk.Token.as_string({"Fn::Join": "x"})})
    text = failing(manifests)
    assert "data.a: Unable to find output defined" in text
    assert "data.b: ${Token[TOKEN." in text
    assert "CloudFormation cannot join it as text" in text


def test_a_list_that_fails_is_reported_once(stack: cdk.Stack, asked: list[tuple[object, ...]]) -> None:
    del asked
    listed = cdk.CfnParameter(stack, "Listed", type="CommaDelimitedList")
    manifests = Manifests(AwsCdkResolver())
    manifests.pod("P", args=listed.value_as_list)
    text = failing(manifests)
    assert "1 value could not be resolved" in text
    assert 'containers[0].args: Unable to find output defined for token: {"Ref":"Listed"}.' in text
