"""ARNs: their fields, and the parts of the resource."""

from __future__ import annotations

import pytest

from strongref.arns import Arn, is_arn, partition_of

REGION = "eu-west-1"
ACCOUNT = "111111111111"


def arn(resource: str) -> str:
    return f"arn:aws:sns:{REGION}:{ACCOUNT}:{resource}"


@pytest.mark.parametrize(
    ("resource", "resource_type", "resource_id", "last"),
    [
        ("topic", "", "topic", "topic"),
        ("function:web", "function", "web", "web"),
        ("role/a/b/MyRole", "role", "a/b/MyRole", "MyRole"),
        ("/restapis/abc", "restapis", "abc", "abc"),
        ("stateMachine:a/b", "stateMachine", "a/b", "b"),
        ("log-group:/aws/x:*", "log-group", "/aws/x:*", "*"),
    ],
)
def test_an_arns_resource_is_split_into_type_and_id(
    resource: str, resource_type: str, resource_id: str, last: str
) -> None:
    parsed = Arn.parse(arn(resource))
    assert parsed
    assert (parsed.resource_type, parsed.resource_id, parsed.last_segment) == (resource_type, resource_id, last)
    assert str(parsed.with_resource("rule/x")) == arn("rule/x")


@pytest.mark.parametrize(
    "text", ["", "topic", "arn:aws:sns", "arn:aws:sns:eu-west-1:1:", "x" + arn("topic"), arn(" a")]
)
def test_a_text_that_lacks_a_field_is_not_an_arn(text: str) -> None:
    assert not is_arn(text)
    assert Arn.parse(text) is None


def test_an_arn_is_written_as_it_was_read() -> None:
    for text in (arn("topic:a b"), "arn:aws:s3:::bucket", "arn:aws:iam::aws:policy/Admin"):
        assert str(Arn.parse(text)) == text


@pytest.mark.parametrize(
    ("account", "is_other"), [(ACCOUNT, False), ("222222222222", True), ("", False), ("aws", False), ("1", False)]
)
def test_only_an_account_id_can_be_that_of_another_account(account: str, is_other: bool) -> None:
    assert Arn("aws", "iam", "", account, "policy/x").is_in_account_other_than(ACCOUNT) is is_other


@pytest.mark.parametrize(
    ("region", "partition"),
    [("eu-west-1", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov"), ("us-isob-east-1", "aws-iso-b")],
)
def test_a_region_code_tells_its_partition(region: str, partition: str) -> None:
    assert partition_of(region) == partition
