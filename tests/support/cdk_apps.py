"""CDK apps for tests: what the real package makes of them."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import boto3
import pytest
from moto import mock_aws

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mypy_boto3_cloudformation import CloudFormationClient

EU, US = "eu-west-1", "us-east-1"
ACCOUNT = "123456789012"


def stack(scope: Any, name: str, region: str | None = EU, account: str | None = ACCOUNT) -> cdk.Stack:
    """A stack in a region; None for one that may be deployed anywhere. Its template has nothing about bootstrapping."""
    env = cdk.Environment(region=region, account=account)
    synthesizer = cdk.DefaultStackSynthesizer(generate_bootstrap_version_rule=False)
    return cdk.Stack(scope, name, env=env, synthesizer=synthesizer)


def template(of: cdk.Stack) -> dict[str, Any]:
    """A stack's template, as the CDK writes it."""
    assembly = cdk.Stage.of(of).synth(force=True)
    found: dict[str, Any] = json.loads((Path(assembly.directory) / of.template_file).read_text())
    return found


def resources(of: cdk.Stack, type_name: str) -> dict[str, Any]:
    """The resources of a type in a stack's template, by logical id."""
    found = template(of).get("Resources", {})
    return {logical_id: each for logical_id, each in found.items() if each["Type"] == type_name}


def deploy(exports: Mapping[str, str], name: str = "Network", region: str = EU) -> None:
    """CloudFormation exports this, as a deployed stack would."""
    named = enumerate(exports.items())
    outputs = {f"O{number}": {"Value": value, "Export": {"Name": export}} for number, (export, value) in named}
    body = json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}, "Outputs": outputs})
    cloudformation(region).create_stack(StackName=name, TemplateBody=body)


@functools.cache
def cloudformation(region: str) -> CloudFormationClient:
    """One client for all tests: it takes longer to make than to use."""
    session = boto3.Session(aws_access_key_id="testing", aws_secret_access_key="testing")
    return session.client("cloudformation", region)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The context file is written where the program runs, and AWS is empty."""
    monkeypatch.chdir(tmp_path)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        yield
