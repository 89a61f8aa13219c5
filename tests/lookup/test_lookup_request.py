"""What a `Custom::ResourceLookup` may be asked, and how it says what is wrong with the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref.contract.names import StackArn
from strongref.errors import BadRequestError, ErrorMetric, StrongRefError
from strongref.lookup.custom_resource import LookupRequest
from strongref.lookup.query import ResourceQuery
from tests.support.builders import ACCOUNT, WEB
from tests.support.examples import examples

if TYPE_CHECKING:
    from collections.abc import Mapping

STACK = StackArn.parse(WEB)
BUCKET = {"TypeName": "AWS::S3::Bucket"}
TOPIC = {"TypeName": "AWS::SNS::Topic"}
ARN = f"arn:aws:sns:eu-west-1:{ACCOUNT}:news"
MARK = "hidden"
"""Every value holds it, and nothing else does."""


def parsed(**given: object) -> LookupRequest:
    return LookupRequest.parse(given, STACK)


def refusal(given: Mapping[str, object]) -> str:
    with pytest.raises(BadRequestError) as refused:
        LookupRequest.parse(given, STACK)
    assert refused.value.counted is ErrorMetric.REJECTED
    return str(refused.value)


def test_what_is_left_out_has_a_default() -> None:
    assert parsed(**BUCKET, PhysicalId="photos") == LookupRequest(
        ResourceQuery("AWS::S3::Bucket", physical_id="photos", account=ACCOUNT), "us-east-1", None
    )


def test_everything_that_can_be_given_is_read() -> None:
    request = parsed(
        ServiceToken="arn:x",
        ServiceTimeout="60",
        TypeName="AWS::ApiGateway::Stage",
        PhysicalId="prod",
        Properties={"RestApiId": "abc"},
        Attributes=["DeploymentId", "Variables.Colour", "DeploymentId"],
        Region="eu-west-1",
        Revision="2",
    )
    query = ResourceQuery(
        "AWS::ApiGateway::Stage", physical_id="prod", properties={"RestApiId": "abc"}, account=ACCOUNT
    )
    assert request == LookupRequest(query, "eu-west-1", ("DeploymentId", "Variables.Colour"))


@pytest.mark.parametrize(
    ("given", "query"),
    [
        ({"PhysicalId": "a b"}, ResourceQuery("AWS::SNS::Topic", physical_id="a b")),
        ({"Name": "news"}, ResourceQuery("AWS::SNS::Topic", name="news")),
        ({"Arn": ARN}, ResourceQuery("AWS::SNS::Topic", arn=ARN)),
        ({"Tags": {"team": "web", "use": ""}}, ResourceQuery("AWS::SNS::Topic", tags={"team": "web", "use": ""})),
    ],
)
def test_a_resource_is_named_in_one_of_four_ways(given: dict[str, object], query: ResourceQuery) -> None:
    assert parsed(**TOPIC, **given).query == replace(query, account=ACCOUNT)


@pytest.mark.parametrize(
    ("arn", "region"),
    [
        (ARN, "eu-west-1"),
        ("arn:aws:s3:::photos", "us-east-1"),
        (f"arn:aws:iam::{ACCOUNT}:role/reader", "us-east-1"),
        ("arn:aws:iam::aws:policy/ReadOnlyAccess", "us-east-1"),
        (f"arn:aws-cn:sns:cn-north-1:{ACCOUNT}:news", "cn-north-1"),
    ],
)
def test_an_arn_tells_the_region_where_it_has_one(arn: str, region: str) -> None:
    assert parsed(**TOPIC, Arn=arn).region == region


def test_the_region_of_an_arn_without_one_can_be_given() -> None:
    assert parsed(**BUCKET, Arn="arn:aws:s3:::photos", Region="eu-west-1").region == "eu-west-1"
    assert parsed(**TOPIC, Arn=ARN, Region="eu-west-1").region == "eu-west-1"


WAYS = "PhysicalId, Arn, Name and Tags"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            {"Type": "AWS::S3::Bucket"},
            (
                "Type is unknown; must be one of TypeName, PhysicalId, Arn, Name, Tags, Properties, Attributes, "
                "Region and Revision (did you mean TypeName?)"
            ),
        ),
        ({}, "TypeName is missing; must be a resource type, as in AWS::S3::Bucket"),
        (
            {"TypeName": "S3::Bucket", "Name": "a"},
            "TypeName must be a resource type, as in AWS::S3::Bucket, got 'S3::Bucket'",
        ),
        ({"TypeName": ["AWS::S3::Bucket"]}, "TypeName must be a resource type, as in AWS::S3::Bucket, got a list"),
        (BUCKET, "PhysicalId must be given, or one of Arn, Name and Tags"),
        ({**BUCKET, "Name": "a", "Tags": {"b": "c"}}, f"Name and Tags: cannot be combined; give one of {WAYS}"),
        ({**BUCKET, "PhysicalId": "a", "Arn": ARN}, f"PhysicalId and Arn: cannot be combined; give one of {WAYS}"),
        ({**BUCKET, "PhysicalId": " "}, "PhysicalId must not be empty"),
        ({**BUCKET, "PhysicalId": ["a"]}, "PhysicalId must be a string, got a list"),
        ({**BUCKET, "Name": "x" * 1025}, "Name must have at most 1024 characters, got 1025"),
        ({**TOPIC, "Arn": "news"}, "Arn must be an ARN, got 'news'. Is it a PhysicalId, or a Name?"),
        (
            {**TOPIC, "Arn": "arn:aws:sns:eu-west-1:222222222222:news"},
            (
                f"Arn must be in the stack's own account ({ACCOUNT}), got an ARN of account 222222222222. Deploy "
                "this lookup in a stack of that account, and export what you need"
            ),
        ),
        (
            {**TOPIC, "PhysicalId": "arn:aws:sns:eu-west-1:222222222222:news"},
            (
                f"PhysicalId must be in the stack's own account ({ACCOUNT}), got an ARN of account 222222222222. "
                "Deploy this lookup in a stack of that account, and export what you need"
            ),
        ),
        (
            {**TOPIC, "Arn": ARN, "Region": "us-east-1"},
            "Region must be the ARN's region, eu-west-1, got us-east-1; omit Region",
        ),
        ({**TOPIC, "Tags": ["team"]}, "Tags must be a map of keys to values, got a list"),
        ({**TOPIC, "Tags": {}}, "Tags must have 1 to 50 tags, got 0"),
        ({**TOPIC, "Tags": {str(each): "" for each in range(51)}}, "Tags must have 1 to 50 tags, got 51"),
        ({**TOPIC, "Tags": {"": "a"}}, "Tags must have keys of 1 to 128 characters, got one of 0"),
        ({**TOPIC, "Tags": {"x" * 129: "a"}}, "Tags must have keys of 1 to 128 characters, got one of 129"),
        ({**TOPIC, "Tags": {"team": "x" * 257}}, "Tags.team must have at most 256 characters, got 257"),
        ({**TOPIC, "Tags": {"team": {}}}, "Tags.team must be a string, got a map"),
        ({**BUCKET, "Name": "a", "Properties": "b"}, "Properties must be a map of properties to values, got 'b'"),
        (
            {**BUCKET, "Name": "a", "Properties": {"RestApiId": ["b"]}},
            "Properties.RestApiId must be a string, got a list",
        ),
        ({**BUCKET, "Name": "a", "Properties": {"RestApiId": ""}}, "Properties.RestApiId must not be empty"),
        ({**BUCKET, "Name": "a", "Attributes": "Arn"}, "Attributes must be a list of strings, got 'Arn'"),
        (
            {**BUCKET, "Name": "a", "Attributes": []},
            "Attributes must not be an empty list; omit it to return all attributes",
        ),
        (
            {**BUCKET, "Name": "a", "Attributes": ["Arn", "Endpoint."]},
            "Attributes[1] must be the name of an attribute, as in Endpoint.Address, got 'Endpoint.'",
        ),
        ({**BUCKET, "Name": "a", "Region": "Ireland"}, "Region must be a region code such as us-east-1, got 'Ireland'"),
        ({**BUCKET, "Name": "a", "Revision": ["2"]}, "Revision must be a string, got a list"),
    ],
)
def test_an_error_names_the_property_what_it_must_be_and_what_it_is(given: dict[str, object], text: str) -> None:
    assert refusal(given) == text


SECRET = st.builds("{}{}{}".format, st.text(max_size=5), st.just(MARK), st.sampled_from(["", " ", "x" * 3000]))
SHORT = st.sampled_from(["", "AWS::S3::Bucket", "a", "x" * 3000, "A.B", "."]) | st.text(max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | SHORT,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(SHORT, below, max_size=3),
    max_leaves=5,
)
VALUES = st.dictionaries(SHORT, SECRET | st.lists(SECRET, max_size=2), max_size=3)
ANY = st.fixed_dictionaries(
    {"TypeName": st.just("AWS::S3::Bucket") | JSON},
    optional={
        "PhysicalId": SECRET | JSON,
        "Name": SECRET | JSON,
        "Arn": st.just(ARN) | st.just("arn:aws:s3:::a") | JSON,
        "Tags": VALUES | JSON,
        "Properties": VALUES | JSON,
        "Attributes": st.lists(SHORT, max_size=3) | JSON,
        "Region": st.just("eu-west-1") | JSON,
        "Revision": st.just("1") | JSON,
        "Other": JSON,
    },
)


def outcome_of(given: Mapping[str, object]) -> LookupRequest | StrongRefError:
    """The request, or the refusal."""
    try:
        return LookupRequest.parse(given, STACK)
    except StrongRefError as error:
        return error


@examples(500)
@given(ANY)
def test_whatever_comes_is_a_request_or_a_short_refusal_without_values(properties: dict[str, Any]) -> None:
    outcome = outcome_of(properties)
    if isinstance(outcome, StrongRefError):
        assert len(str(outcome)) < 1000
        assert MARK not in str(outcome)
    else:
        query = outcome.query
        assert sum(map(bool, (query.physical_id, query.arn, query.name, query.tags))) == 1
