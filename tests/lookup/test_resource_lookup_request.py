"""What a `Custom::ResourceLookup` may be asked, and how it says what is wrong with the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strongref.contract.names import StackArn
from strongref.errors import BadRequestError, ErrorMetric, StrongRefError
from strongref.lookup.base import Wanted
from strongref.lookup.request import LookupRequest
from tests.support.builders import ACCOUNT, WEB

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
        Wanted("AWS::S3::Bucket", physical_id="photos", account=ACCOUNT), "us-east-1", None, ""
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
    wanted = Wanted("AWS::ApiGateway::Stage", physical_id="prod", properties={"RestApiId": "abc"}, account=ACCOUNT)
    assert request == LookupRequest(wanted, "eu-west-1", ("DeploymentId", "Variables.Colour"), "2")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"PhysicalId": "a b"}, Wanted("AWS::SNS::Topic", physical_id="a b")),
        ({"Name": "news"}, Wanted("AWS::SNS::Topic", name="news")),
        ({"Arn": ARN}, Wanted("AWS::SNS::Topic", arn=ARN)),
        ({"Tags": {"team": "web", "use": ""}}, Wanted("AWS::SNS::Topic", tags={"team": "web", "use": ""})),
    ],
)
def test_a_resource_is_named_in_one_of_four_ways(given: dict[str, object], wanted: Wanted) -> None:
    assert parsed(**TOPIC, **given).wanted == replace(wanted, account=ACCOUNT)


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
                "Type: no such property; allowed are TypeName, PhysicalId, Arn, Name, Tags, Properties, Attributes, "
                "Region and Revision"
            ),
        ),
        ({}, "TypeName: nothing came; a type of resource is needed, as in AWS::S3::Bucket"),
        (
            {"TypeName": "S3::Bucket", "Name": "a"},
            "TypeName: 'S3::Bucket' came; a type of resource is needed, as in AWS::S3::Bucket",
        ),
        (
            {"TypeName": ["AWS::S3::Bucket"]},
            "TypeName: a list came; a type of resource is needed, as in AWS::S3::Bucket",
        ),
        (BUCKET, "PhysicalId: nothing says which resource; give it, or one of Arn, Name and Tags"),
        ({**BUCKET, "Name": "a", "Tags": {"b": "c"}}, f"Name and Tags: one of {WAYS} names a resource; keep one"),
        ({**BUCKET, "PhysicalId": "", "Arn": ""}, f"PhysicalId and Arn: one of {WAYS} names a resource; keep one"),
        ({**BUCKET, "PhysicalId": " "}, "PhysicalId: an empty string came, which is no resource's"),
        ({**BUCKET, "PhysicalId": ["a"]}, "PhysicalId: a string is needed, a list came"),
        ({**BUCKET, "Name": "x" * 1025}, "Name: 1025 characters came; a resource's has at most 1024"),
        ({**TOPIC, "Arn": "news"}, "Arn: 'news' came; an ARN is needed. Is it a PhysicalId, or a Name?"),
        (
            {**TOPIC, "Arn": "arn:aws:sns:eu-west-1:222222222222:news"},
            (
                f"Arn: it is of account 222222222222; the function looks into the stack's own account ({ACCOUNT}) "
                "only. Deploy this in a stack of that account, and export what is needed"
            ),
        ),
        (
            {**TOPIC, "PhysicalId": "arn:aws:sns:eu-west-1:222222222222:news"},
            (
                "PhysicalId: it is of account 222222222222; the function looks into the stack's own account "
                f"({ACCOUNT}) only. Deploy this in a stack of that account, and export what is needed"
            ),
        ),
        (
            {**TOPIC, "Arn": ARN, "Region": "us-east-1"},
            "Region: us-east-1 came, but the ARN is of eu-west-1; leave Region out",
        ),
        ({**TOPIC, "Tags": ["team"]}, "Tags: a map of keys to values is needed, a list came"),
        ({**TOPIC, "Tags": {}}, "Tags: 0 tags came; from 1 to 50 can be asked for"),
        ({**TOPIC, "Tags": {str(each): "" for each in range(51)}}, "Tags: 51 tags came; from 1 to 50 can be asked for"),
        ({**TOPIC, "Tags": {"": "a"}}, "Tags: a key of 0 characters came; it has from 1 to 128"),
        ({**TOPIC, "Tags": {"x" * 129: "a"}}, "Tags: a key of 129 characters came; it has from 1 to 128"),
        ({**TOPIC, "Tags": {"team": "x" * 257}}, "Tags.team: 257 characters came; at most 256 fit"),
        ({**TOPIC, "Tags": {"team": {}}}, "Tags.team: a string is needed, a map came"),
        (
            {**BUCKET, "Name": "a", "Properties": "b"},
            "Properties: a map of properties to their values is needed, 'b' came",
        ),
        (
            {**BUCKET, "Name": "a", "Properties": {"RestApiId": ["b"]}},
            "Properties.RestApiId: a string is needed, a list came",
        ),
        (
            {**BUCKET, "Name": "a", "Properties": {"RestApiId": ""}},
            "Properties.RestApiId: an empty string came, which is no resource's",
        ),
        ({**BUCKET, "Name": "a", "Attributes": "Arn"}, "Attributes: a list of strings is needed, 'Arn' came"),
        (
            {**BUCKET, "Name": "a", "Attributes": []},
            "Attributes: an empty list came; name an attribute, or leave it out for all of them",
        ),
        (
            {**BUCKET, "Name": "a", "Attributes": ["Arn", "Endpoint."]},
            "Attributes[1]: 'Endpoint.' came; an attribute's name is needed, as in Endpoint.Address",
        ),
        (
            {**BUCKET, "Name": "a", "Region": "Ireland"},
            "Region: 'Ireland' came; a region's code is needed, as in us-east-1",
        ),
        ({**BUCKET, "Name": "a", "Revision": ["2"]}, "Revision: a string is needed, a list came"),
    ],
)
def test_what_is_wrong_is_named_with_what_came_and_what_is_allowed(given: dict[str, object], text: str) -> None:
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


@settings(max_examples=500)
@given(ANY)
def test_whatever_comes_is_a_request_or_a_short_refusal_without_values(properties: dict[str, Any]) -> None:
    outcome = outcome_of(properties)
    if isinstance(outcome, StrongRefError):
        assert len(str(outcome)) < 1000
        assert MARK not in str(outcome)
    else:
        wanted = outcome.wanted
        assert sum(map(bool, (wanted.physical_id, wanted.arn, wanted.name, wanted.tags))) == 1
