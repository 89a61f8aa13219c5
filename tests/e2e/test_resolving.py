"""Manifests, resolved by the command itself from stacks that were really deployed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.templates import EU, US, export, stack

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws, Template

COMMAND = Path(sys.executable).with_name("strongref")
HIDDEN = "a-value-not-to-be-shown"


def ref(resource: str) -> Template:
    return {"Ref": resource}


def topics(*logical_ids: str, **outputs: Any) -> Template:
    return stack({name: {"Type": "AWS::SNS::Topic"} for name in logical_ids}, outputs)


def strongref(aws: Aws, *arguments: str | Path, **given: Any) -> subprocess.CompletedProcess[str]:
    environment = aws.emulator.env(aws.account, EU)
    command = [str(COMMAND), *map(str, arguments)]
    return subprocess.run(  # noqa: S603 (our own)
        command, env=environment, capture_output=True, text=True, check=False, **given
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "manifests"
    folder.mkdir()
    return folder


def test_values_come_from_stacks_of_any_region_account_and_depth(
    aws: Aws, other_account: Aws, names: Callable[[str], str], folder: Path, tmp_path: Path
) -> None:
    name, role, bucket = names("site"), names("reader"), names("templates")
    here = aws.deploy(name, topics("Topic", Where="here", Arn=ref("Topic")), EU, "CREATE_COMPLETE")
    aws.deploy(name, topics("Topic", Where="there"), US, "CREATE_COMPLETE")
    other_account.deploy(name, topics("Topic", Where="theirs"), EU, "CREATE_COMPLETE")
    trust = {"Statement": [{"Effect": "Allow", "Principal": {"AWS": aws.account}, "Action": "sts:AssumeRole"}]}
    allowed = {"Statement": [{"Effect": "Allow", "Action": "cloudformation:DescribeStacks", "Resource": "*"}]}
    iam = other_account.client("iam", EU)
    iam.create_role(RoleName=role, AssumeRolePolicyDocument=json.dumps(trust))
    iam.put_role_policy(RoleName=role, PolicyName="reads", PolicyDocument=json.dumps(allowed))
    s3 = aws.client("s3", EU)
    s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": EU})
    s3.put_object(Bucket=bucket, Key="inner.json", Body=json.dumps(topics("Topic", Where="inside", Arn=ref("Topic"))))
    url = f"{aws.emulator.url}/{bucket}/inner.json"
    inner = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": url}}
    outer = names("outer")
    aws.deploy(outer, stack({"Inner": inner}), EU, "CREATE_COMPLETE")
    aws.deploy(names("exporting"), stack({"Exports": export({"Vpc": "vpc-1", "Zones": ["a", "b"]}, region=EU)}), EU)
    (folder / "app.yaml").write_text(
        f"- ${{cfn:{name}.Where}} # in the run's own region\n"
        f"- ${{cfn:{name}.Where@{US}}}\n"
        f"- ${{cfn:{name}.Where#{other_account.account}}}\n"
        f"- ${{cfn:{outer}.Inner.Where}}\n"
        f"- ${{cfn-attr:{name}.Topic.Ref}}\n"
        f"- ${{cfn-attr:{outer}.Inner.Topic.Ref}}\n"
        f"- [x, '${{export:{names('exporting')}.Zones|typed}}', \"<${{export:{names('exporting')}.Vpc}}>\"]\n"
    )
    way_in = f"arn:aws:iam::ACCOUNT:role/{role}"
    done = strongref(aws, "resolve", folder, "-o", tmp_path / "out", "--with", "export", "--role", way_in, "--strict")
    assert done.returncode == 0, done.stderr
    inside = strongref(aws, "resolve", "-", input=f"${{cfn:{outer}.Inner.Arn}}").stdout
    assert inside.startswith("arn:aws:sns:")
    assert (tmp_path / "out/app.yaml").read_text() == (
        "- here # in the run's own region\n"
        "- there\n"
        "- theirs\n"
        "- inside\n"
        f"- {here.outputs['Arn']}\n"
        f"- {inside}\n"
        '- [x, ["a", "b"], "<vpc-1>"]\n'
    )


def test_a_failure_tells_every_path_writes_nothing_and_shows_no_value(
    aws: Aws, names: Callable[[str], str], folder: Path, tmp_path: Path
) -> None:
    name = names("app")
    aws.deploy(name, topics("Topic", Hidden=HIDDEN), EU, "CREATE_COMPLETE")
    aws.client("ssm", EU).put_parameter(Name=f"/{name}", Type="SecureString", Value=HIDDEN)
    (folder / "a.yaml").write_text(f"a: 1\n---\nspec:\n  env: [{{value: '${{cfn:{name}.BucketName}}'}}]\n")
    (folder / "b.json").write_text(f'{{"hidden": "${{cfn:{name}.Hidden}}", "x": "${{ssm:/{name}}}"}}')
    done = strongref(aws, "resolve", folder, "-o", tmp_path / "out", "--with", "ssm")
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == (
        f"{folder}/a.yaml, document 2, spec.env[0].value: Failed fetching output value for output key 'BucketName' "
        f"(stack: {name}). Error: Output not found. Are you sure you deployed the CDK stack?"
    )
    assert f"{folder}/b.json, document 1, x: ${{ssm:/{name}}} is a SecureString." in done.stderr
    assert HIDDEN not in done.stderr + done.stdout
    assert not (tmp_path / "out").exists()
    assert strongref(aws, "resolve", folder).returncode == 2


def test_attributes_come_from_cloud_control_by_single_and_composite_identifiers(
    aws: Aws, names: Callable[[str], str], folder: Path
) -> None:
    name = names("attributes")
    resources: Template = {
        "Bucket": {"Type": "AWS::S3::Bucket"},
        "Topic": {"Type": "AWS::SNS::Topic"},
        "Api": {"Type": "AWS::ApiGateway::RestApi", "Properties": {"Name": name}},
        "Deployment": {"Type": "AWS::ApiGateway::Deployment", "Properties": {"RestApiId": ref("Api")}},
        "Stage": {
            "Type": "AWS::ApiGateway::Stage",
            "Properties": {
                "RestApiId": ref("Api"),
                "DeploymentId": ref("Deployment"),
                "StageName": "prod",
                "Variables": {"Colour": "blue"},
            },
        },
    }
    aws.deploy(name, stack(resources), EU, "CREATE_COMPLETE")
    file = folder / "a.yaml"
    file.write_text(
        f"bucket: ${{cfn-attr:{name}.Bucket.Arn}}\n"
        f"topic: ${{cfn-attr:{name}.Topic.TopicName}}\n"
        f"stage: ${{cfn-attr:{name}.Stage.Variables}} # whose identifier is RestApiId|StageName\n"
    )
    done = strongref(aws, "resolve", file, "--in-place")
    assert done.returncode == 0, done.stderr
    bucket, topic = (aws.physical_ids(name, EU)[each] for each in ("Bucket", "Topic"))
    assert file.read_text() == (
        f"bucket: arn:aws:s3:::{bucket}\n"
        f"topic: {topic.rpartition(':')[2]}\n"
        'stage: {"Colour": "blue"} # whose identifier is RestApiId|StageName\n'
    )
