"""What is copied is as it was made, and what a test does to a copy stays in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import boto3

from tests.support.empty_aws import empty_aws
from tests.support.moto_copies import made_once

if TYPE_CHECKING:
    import pytest

EU = "eu-west-1"


def test_each_test_begins_with_what_was_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def make() -> list[str]:
        template = json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})
        made.append(boto3.client("cloudformation", EU).create_stack(StackName="a", TemplateBody=template)["StackId"])
        ssm = boto3.client("ssm", EU)
        ssm.put_parameter(Name="/a", Value="x", Type="String", Tags=[{"Key": "team", "Value": "web"}])
        return ["returned"]

    for _ in range(3):
        with empty_aws(monkeypatch):
            returned = made_once("one", make)
            ssm, stacks = boto3.client("ssm", EU), boto3.client("cloudformation", EU)
            found = ssm.get_parameters_by_path(Path="/")["Parameters"]
            assert (returned, [each["Value"] for each in found]) == (["returned"], ["x"])
            assert ssm.list_tags_for_resource(ResourceType="Parameter", ResourceId="/a")["TagList"]
            assert [each["StackId"] for each in stacks.describe_stacks()["Stacks"]] == made
            assert len(boto3.client("sns", EU).list_topics()["Topics"]) == 1
            returned.append("changed")
            ssm.put_parameter(Name="/a", Value="y", Overwrite=True)
            ssm.put_parameter(Name="/b", Value="x", Type="String")
            stacks.delete_stack(StackName="a")
    assert len(made) == 1
