"""The page of lookups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.reader import Reader, reading
from tests.e2e.templates import EU, stack

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.harness import Aws


PAGES = ("docs/extras/lookups.md",)

pytestmark = pytest.mark.story


ROLE = {
    "Type": "AWS::IAM::Role",
    "Properties": {
        "AssumeRolePolicyDocument": {
            "Statement": [
                {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
            ]
        }
    },
}
NOTHING = {
    "Code": {"ZipFile": "def handler(*_): pass"},
    "Handler": "index.handler",
    "Runtime": "python3.13",
    "Role": {"Fn::GetAtt": ["Role", "Arn"]},
}
"""A function that does nothing, and its role."""


def test_each_command_of_the_page_does_what_it_says(bare: Aws, tmp_path: Path) -> None:
    with reading(bare.emulator, PAGES, tmp_path) as reader:  # The page's bucket is another test's, too.
        reader.install()
        _look_up(reader)


def _look_up(reader: Reader) -> None:
    """The look-ups' page: a rule, a topic, a bucket, and a function that the topic may invoke."""
    aws = reader.aws
    tags = [{"Key": "team", "Value": "web"}, {"Key": "purpose", "Value": "news"}]
    topic = aws.client("sns", EU).create_topic(Name="news", Tags=tags)["TopicArn"]
    aws.client("sns", EU).create_topic(Name="other-news", Tags=tags[:1])
    aws.client("s3", EU).create_bucket(Bucket="photos", CreateBucketConfiguration={"LocationConstraint": EU})
    functions = {"Type": "AWS::Lambda::Function", "Properties": {**NOTHING, "FunctionName": "web"}}
    aws.deploy("web-function", stack({"Role": ROLE, "Web": functions}), EU, "CREATE_COMPLETE")
    aws.client("lambda", EU).add_permission(
        FunctionName="web",
        StatementId="web-invoked-by-news",
        Action="lambda:InvokeFunction",
        Principal="sns.amazonaws.com",
    )
    rule = aws.client("events", EU).put_rule(Name="nightly", ScheduleExpression="rate(1 day)")["RuleArn"]
    assert reader.run("strongref lookup AWS::Events::Rule nightly") == f"{rule}\n"
    assert reader.run("strongref lookup AWS::Lambda::Permission").endswith("|web-invoked-by-news\n")
    by_tags, by_name, *attributes = reader.run("strongref lookup AWS::SNS::Topic --tag").splitlines()
    assert by_tags == by_name == topic
    assert attributes == ["arn:aws:s3:::photos", f"photos.s3.{EU}.amazonaws.com"]
