"""What `Fn::GetAtt` can return of a resource: strings and lists of them, by name, with dots between the levels."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref.aws.cloud_control import Resource
from strongref.aws.errors import LookUpDeniedError
from strongref.errors import ErrorMetric
from strongref.lookup.attributes import attribute, returned_attributes
from strongref.lookup.errors import (
    AttributesTooLargeError,
    DynamicReferenceError,
    LookupPolicyError,
    NoSuchAttributeError,
    UnsupportedAttributeError,
)

QUEUE: dict[str, Any] = {
    "Arn": "arn:aws:sqs:us-east-1:111111111111:jobs",
    "DelaySeconds": 0,
    "FifoQueue": False,
    "RedriveAllowPolicy": {"redrivePermission": "byQueue", "sourceQueueArns": ["a", 1, True]},
    "Nothing": None,
    "Gaps": ["a", None],
    "Empty": [],
    "EmptyMap": {},
    "Tags": [{"Key": "team", "Value": "web"}],
}


def resource(**properties: object) -> Resource:
    return Resource("AWS::SQS::Queue", "jobs", properties)


def test_without_names_every_string_and_list_of_strings_is_returned() -> None:
    assert returned_attributes(resource(**QUEUE), None) == {
        "Identifier": "jobs",
        "Arn": "arn:aws:sqs:us-east-1:111111111111:jobs",
        "DelaySeconds": "0",
        "FifoQueue": "false",
        "RedriveAllowPolicy.redrivePermission": "byQueue",
        "RedriveAllowPolicy.sourceQueueArns": ["a", "1", "true"],
        "Empty": [],
    }


def test_names_choose_and_that_of_a_map_means_all_that_is_inside() -> None:
    assert returned_attributes(resource(**QUEUE), ["Arn"]) == {"Identifier": "jobs", "Arn": QUEUE["Arn"]}
    assert returned_attributes(resource(**QUEUE), ["RedriveAllowPolicy", "Identifier"]) == {
        "Identifier": "jobs",
        "RedriveAllowPolicy.redrivePermission": "byQueue",
        "RedriveAllowPolicy.sourceQueueArns": ["a", "1", "true"],
    }
    chosen = returned_attributes(resource(**QUEUE), ["RedriveAllowPolicy.redrivePermission", "DelaySeconds"])
    assert chosen == {"Identifier": "jobs", "RedriveAllowPolicy.redrivePermission": "byQueue", "DelaySeconds": "0"}


def test_the_identifier_is_cloud_controls_whatever_the_resource_calls_so() -> None:
    named_so = resource(Identifier="mine", Arn="x")
    assert returned_attributes(named_so, None)["Identifier"] == "jobs"
    assert returned_attributes(named_so, ["Identifier"]) == {"Identifier": "jobs"}


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("Tags", "a list of maps or of lists"),
        ("EmptyMap", "a map without a string in it"),
        ("Nothing", "null"),
        ("Gaps", "a list with null in it"),
    ],
)
def test_what_cannot_be_returned_is_refused_by_name(name: str, holds: str) -> None:
    with pytest.raises(UnsupportedAttributeError) as refused:
        returned_attributes(resource(**QUEUE), ["Arn", name])
    assert refused.value.counted is ErrorMetric.REJECTED
    assert str(refused.value) == (
        f"{name} of AWS::SQS::Queue is {holds}. Fn::GetAtt returns only strings and lists of strings. "
        "Remove it from Attributes."
    )


SECRET = "{{resolve:secretsmanager:prod/db}}"
POISONED: dict[str, Any] = {
    "Arn": QUEUE["Arn"],
    "Description": f"see {SECRET}",
    "Hosts": ["a", "{{resolve:ssm:/db/host}}"],
    "Variables": {"PASSWORD": "{{resolve:ssm-secure:/db/password:1}}", "STAGE": "prod"},
    "Template": "Dear {{name}}",
}


def test_a_dynamic_reference_is_never_returned() -> None:
    clean = {"Identifier": "jobs", "Arn": QUEUE["Arn"], "Variables.STAGE": "prod", "Template": "Dear {{name}}"}
    assert returned_attributes(resource(**POISONED), None) == clean
    assert returned_attributes(resource(**POISONED), ["Variables"]) == {"Identifier": "jobs", "Variables.STAGE": "prod"}


@pytest.mark.parametrize("name", ["Description", "Hosts", "Variables.PASSWORD"])
def test_a_dynamic_reference_that_is_requested_is_refused_by_name(name: str) -> None:
    with pytest.raises(DynamicReferenceError, match=f"{name} of AWS::SQS::Queue contains a dynamic") as refused:
        returned_attributes(resource(**POISONED), ["Arn", name])
    assert refused.value.counted is ErrorMetric.REJECTED
    assert "prod/db" not in str(refused.value)
    assert "/db/" not in str(refused.value)


def test_an_identifier_with_a_dynamic_reference_is_refused() -> None:
    with pytest.raises(DynamicReferenceError, match="Identifier of AWS::SQS::Queue contains a dynamic reference"):
        returned_attributes(Resource("AWS::SQS::Queue", SECRET, {"Arn": "x"}), ["Arn"])


def test_what_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(NoSuchAttributeError, match="has no attribute Arm"):
        returned_attributes(resource(**QUEUE), ["Arm"])


@pytest.mark.parametrize(
    ("named", "way_out"),
    [
        (True, "Move Policy and Description from Attributes to another lookup."),
        (False, "List only the attributes that you need in Attributes. The largest are Policy and Description."),
    ],
)
def test_too_much_says_what_to_do(named: bool, way_out: str) -> None:
    error = AttributesTooLargeError("AWS::SQS::Queue", 5206, ["Policy", "Description"], named=named)
    assert error.counted is ErrorMetric.REJECTED
    assert str(error) == (
        "The attributes of this AWS::SQS::Queue are too large for CloudFormation: the response has 5206 bytes, "
        f"the limit is 4096. {way_out}"
    )
    assert len(str(AttributesTooLargeError("A" * 196, 10**9, ["x" * 2000] * 20, named=named))) < 1000


def test_a_denied_lookup_says_where_to_allow_it() -> None:
    denied = LookUpDeniedError("GetResource", "AccessDeniedException", "AWS::SQS::Queue jobs", "us-east-1")
    assert str(LookupPolicyError(denied, "AWS::SQS::Queue")) == (
        "GetResource of AWS::SQS::Queue jobs in us-east-1 was denied (AccessDeniedException). Cloud Control reads with "
        "the permissions of the function's role: add a policy that allows to read AWS::SQS::Queue to LookupPolicies, "
        "a parameter of strongref's installation, and check that neither PermissionsBoundary nor a service control "
        "policy denies it."
    )
    longest = LookUpDeniedError("ListResources", "AccessDeniedException", "A" * 196 + "x" * 1025, "ap-southeast-1")
    assert len(str(LookupPolicyError(longest, "A" * 196))) < 1000


NAME = st.text("AbC_9", min_size=1, max_size=3)
SCALAR = st.text(max_size=4) | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
TREE = st.recursive(
    SCALAR | st.none() | st.lists(SCALAR, max_size=3),
    lambda below: st.dictionaries(NAME, below, max_size=3) | st.lists(below, max_size=2),
    max_leaves=8,
)


def texts(value: object) -> object:
    """A scalar, or a list of them, as CloudFormation has them."""
    if isinstance(value, list):
        return [texts(item) for item in value]
    return value if isinstance(value, str) else json.dumps(value)


@given(st.dictionaries(NAME, TREE, max_size=4))
def test_every_returned_attribute_is_the_resources_own(properties: dict[str, Any]) -> None:
    found = resource(**properties)
    reported = returned_attributes(found, None)
    for name, value in reported.items():
        if name != "Identifier":
            assert texts(attribute(found, name)) == value
            assert returned_attributes(found, [name]) == {"Identifier": "jobs", name: value}
    named = [name for name in reported if name != "Identifier"]
    assert returned_attributes(found, named) == reported
    json.dumps(reported)


def test_an_attribute_that_is_too_large_alone_is_not_to_be_moved() -> None:
    error = AttributesTooLargeError("AWS::SQS::Queue", 9206, ["Policy", "Name"], named=True, alone=["Policy"])
    assert str(error).endswith(
        "Leave Policy out of Attributes: a single value is too large. Move Name from Attributes to another lookup."
    )
    error = AttributesTooLargeError("AWS::SQS::Queue", 9206, ["Policy"], named=True, alone=["Policy"])
    assert str(error).endswith("Leave Policy out of Attributes: a single value is too large.")
