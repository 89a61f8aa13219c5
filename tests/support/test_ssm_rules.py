"""Each rule of the real Parameter Store, on both sides of its border."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.ssm_rules import Stored, refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

INVALID = "ValidationException"
THERE = "/app/there"
PREFIX = len("arn:aws:ssm:us-east-1:123456789012:parameter")


def put(name: str = "/app/new", value: str = "v", **more: object) -> dict[str, Any]:
    return {"Name": name, "Value": value, "Type": "String", **more}


def overwrite(**more: object) -> dict[str, Any]:
    return {**put(THERE, Overwrite=True), **more}


def tagging(tags: list[dict[str, str]], name: str = THERE) -> dict[str, Any]:
    return {"ResourceType": "Parameter", "ResourceId": name, "Tags": tags}


def tags(count: int, first: int = 0) -> list[dict[str, str]]:
    return [{"Key": f"k{number}", "Value": "v"} for number in range(first, first + count)]


def tag(key: str = "k", value: str = "v") -> list[dict[str, str]]:
    return [{"Key": key, "Value": value}]


def names(count: int) -> dict[str, list[str]]:
    return {"Names": [f"/n{number}" for number in range(count)]}


def code(action: str, request: Mapping[str, Any], tier: str = "Standard") -> str | None:
    there = Stored("String", tier, frozenset(f"k{number}" for number in range(49)))
    found = refusal(action, request, {THERE: there}.get)
    return found[0] if found else None


@pytest.mark.parametrize(
    ("action", "request_", "expected"),
    [
        ("GetParameters", names(11), INVALID),
        ("GetParameters", names(0), INVALID),
        ("DeleteParameters", names(11), INVALID),
        ("GetParametersByPath", {"Path": "/a", "MaxResults": 11}, INVALID),
        ("GetParametersByPath", {"Path": "a"}, INVALID),
        ("DescribeParameters", {"MaxResults": 51}, INVALID),
        ("DescribeParameters", {"MaxResults": 0}, INVALID),
        ("PutParameter", put("/a b"), INVALID),
        ("PutParameter", put("/a:b"), INVALID),
        ("PutParameter", put("/a//b"), INVALID),
        ("PutParameter", put("/a/"), INVALID),
        ("PutParameter", put("a/b"), INVALID),
        ("PutParameter", put("/ssm-mine"), INVALID),
        ("PutParameter", put("SSM"), INVALID),
        ("PutParameter", put("/aws/x"), "AccessDeniedException"),
        ("PutParameter", put("awsome"), "AccessDeniedException"),
        ("PutParameter", put("/a" * 16), "HierarchyLevelLimitExceededException"),
        ("PutParameter", put("/" + "a" * (1011 - PREFIX)), INVALID),
        ("PutParameter", put(value=""), INVALID),
        ("PutParameter", put(value="{{x}}"), INVALID),
        ("PutParameter", put(value="x" * 4097), INVALID),
        ("PutParameter", put(value="é" * 2049), INVALID),
        ("PutParameter", put(value="x" * 8193, Tier="Advanced"), INVALID),
        ("PutParameter", put(value="x" * 8193, Tier="Intelligent-Tiering"), INVALID),
        ("PutParameter", put(value="a,,b", Type="StringList"), INVALID),
        ("PutParameter", put(Type="Text"), INVALID),
        ("PutParameter", {"Name": "/app/new", "Value": "v"}, INVALID),
        ("PutParameter", put(Tags=tags(51)), "TooManyTagsError"),
        ("PutParameter", put(Tags=tag(key="")), INVALID),
        ("PutParameter", overwrite(Tags=tag()), INVALID),
        ("PutParameter", overwrite(Type="SecureString"), "HierarchyTypeMismatchException"),
        ("PutParameter", overwrite(Type="StringList"), "HierarchyTypeMismatchException"),
        ("AddTagsToResource", tagging(tags(2, first=49)), "TooManyTagsError"),
        ("AddTagsToResource", tagging(tag(key="k" * 129)), INVALID),
        ("AddTagsToResource", tagging(tag(value="v" * 257)), INVALID),
        ("AddTagsToResource", tagging(tag(value="a,b")), INVALID),
        ("AddTagsToResource", tagging(tag(value="a\nb")), INVALID),
        ("AddTagsToResource", tagging(tag(), "/app/absent"), "InvalidResourceId"),
        ("RemoveTagsFromResource", tagging([], "/app/absent"), "InvalidResourceId"),
        ("ListTagsForResource", tagging([], "/app/absent"), "InvalidResourceId"),
        ("ListTagsForResource", tagging([], THERE.removeprefix("/")), "InvalidResourceId"),
    ],
)
def test_what_the_service_refuses(action: str, request_: dict[str, Any], expected: str) -> None:
    assert code(action, request_) == expected


@pytest.mark.parametrize(
    ("action", "request_"),
    [
        ("GetParameters", names(10)),
        ("DeleteParameters", names(10)),
        ("GetParametersByPath", {"Path": "/", "MaxResults": 10}),
        ("DescribeParameters", {"MaxResults": 50}),
        ("PutParameter", put("/a" * 15)),
        ("PutParameter", put("/" + "a" * (1010 - PREFIX))),
        ("PutParameter", put("plain.name_-")),
        ("PutParameter", put("/mine/aws/ssm")),
        ("PutParameter", put(value='{"a":{"b":"c"}}')),
        ("PutParameter", put(value="x" * 4096)),
        ("PutParameter", put(value="x" * 8192, Tier="Advanced")),
        ("PutParameter", put(value="x" * 8192, Tier="Intelligent-Tiering")),
        ("PutParameter", put(value="a,b", Type="StringList")),
        ("PutParameter", put(value="a,,b")),
        ("PutParameter", put(Tags=tags(50))),
        ("PutParameter", overwrite()),
        ("PutParameter", {"Name": THERE, "Value": "v", "Overwrite": True}),
        ("PutParameter", put(THERE, Type="SecureString")),  # The answer is ParameterAlreadyExists.
        ("AddTagsToResource", tagging(tags(1, first=49))),
        ("AddTagsToResource", tagging(tags(49))),
        ("AddTagsToResource", tagging(tag("k" * 128, "v" * 256))),
        ("AddTagsToResource", tagging(tag("é 1_.:/=+-@", ""))),
        ("AddTagsToResource", {**tagging(tags(51)), "ResourceType": "Document"}),
        ("RemoveTagsFromResource", tagging([])),
        ("ListTagsForResource", tagging([])),
        ("DeleteParameter", {"Name": "/app/absent"}),
        ("LabelParameterVersion", {}),
    ],
)
def test_what_it_lets_pass(action: str, request_: dict[str, Any]) -> None:
    assert code(action, request_) is None


def test_an_advanced_parameter_never_becomes_standard_again() -> None:
    assert code("PutParameter", overwrite(Tier="Standard"), tier="Advanced") == INVALID
    assert code("PutParameter", overwrite(Tier="Intelligent-Tiering"), tier="Advanced") is None
    assert code("PutParameter", overwrite(Tier="Standard"), tier="Standard") is None


def test_a_longer_region_leaves_less_for_the_name() -> None:
    request = put("/" + "a" * (1010 - PREFIX))
    assert refusal("PutParameter", request, lambda _: None, region="ap-southeast-1") is not None
