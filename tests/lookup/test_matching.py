"""Which identifier a physical ID is that of: the rules as values."""

from __future__ import annotations

import pytest

from strongref.lookup.errors import MissingPropertyError, RejectedPropertyError
from strongref.lookup.identify import ListSearch, interpret, is_whole, join_parts
from strongref.lookup.matching import Match, match, unique_positions
from strongref.lookup.overrides import STRATEGIES, Candidates, Identifier, with_derived
from strongref.lookup.query import LookupScope
from strongref.lookup.reader import extend_model, first_model
from strongref.lookup.resource_types import ResourceType

REGION = "eu-west-1"
HERE = LookupScope(REGION)
TOPIC = ResourceType("T", ("TopicArn",), name_property="TopicName")
STAGE = ResourceType("S", ("RestApiId", "StageName"), own=1)
LINK = ResourceType("L", ("LeftArn", "RightArn"))
PARENT = "arn:aws:x:eu-west-1:1:api/abc"


def arn(resource: str) -> str:
    return f"arn:aws:sns:{REGION}:111111111111:{resource}"


@pytest.mark.parametrize(
    ("identifier", "physical_id", "fits"),
    [
        (arn("topic"), arn("topic"), Match.YES),
        (arn("topic"), "topic", Match.YES),
        (arn("other-topic"), "topic", Match.NO),
        (arn("topic-other"), "topic", Match.NO),
        (arn("topic"), "", Match.NO),
        (arn("topic"), "Topic", Match.NO),
        (arn("role/a/b/MyRole"), "MyRole", Match.IF_NAMED_SO),
        (arn("role/a/b/MyRole"), "a/b/MyRole", Match.YES),
        (arn("role/a/b/MyRole"), "b/MyRole", Match.NO),
        (arn("role/a/b/MyRole"), "role/a/b/MyRole", Match.NO),
        (arn("role/a/b/MyRole"), "role", Match.NO),
        (arn("topic"), "111111111111:topic", Match.NO),
        (arn("topic"), REGION, Match.NO),
        ("a|b", "a|b", Match.YES),
        ("a|b", "a", Match.NO),
    ],
)
def test_a_single_identifier_is_compared_as_a_whole(identifier: str, physical_id: str, fits: Match) -> None:
    assert match(TOPIC, identifier, physical_id, {}, HERE) is fits


@pytest.mark.parametrize(
    ("identifier", "physical_id", "known", "fits"),
    [
        ("abc|prod", "abc|prod", {}, Match.YES),
        ("abc|prod", "abc|prod", {"RestApiId": "xyz"}, Match.NO),
        ("abc|prod", "prod", {}, Match.YES),
        ("abc|prod", "prod", {"RestApiId": "abc"}, Match.YES),
        ("abc|prod", "prod", {"RestApiId": "xyz"}, Match.NO),
        ("abc|prod", "abc", {}, Match.NO),
        ("abc|prod", "abc", {"StageName": "prod"}, Match.YES),
        ("abc|prod", "prod|abc", {}, Match.NO),
        ("a|b|prod", "prod", {}, Match.NO),
        ("a|b|prod", "a|b|prod", {"RestApiId": "other"}, Match.YES),
        ("abc|prod", "pro", {}, Match.NO),
        (f"{PARENT}|prod", "prod", {"RestApiId": "abc"}, Match.YES),
        ("abc|prod", "prod", {"RestApiId": PARENT}, Match.YES),
        ("abc|prod", "prod", {"RestApiId": PARENT.replace(REGION, "us-east-1")}, Match.NO),
        (f"{PARENT}|prod", "prod", {"RestApiId": PARENT.replace("abc", "ab")}, Match.NO),
    ],
)
def test_of_a_composite_identifier_the_own_part_is_compared_and_the_others_have_to_agree(
    identifier: str, physical_id: str, known: dict[str, str], fits: Match
) -> None:
    assert match(STAGE, identifier, physical_id, known, HERE) is fits


def test_without_an_own_part_a_physical_id_tells_only_next_to_all_others() -> None:
    assert unique_positions(LINK, {}) == []
    assert unique_positions(LINK, {"LeftArn": "x"}) == [1]
    assert unique_positions(LINK, {"LeftArn": "x", "RightArn": "y"}) == [0, 1]
    assert unique_positions(STAGE, {}) == [1]
    assert unique_positions(TOPIC, {}) == [0]


@pytest.mark.parametrize(
    ("physical_id", "known", "whole", "joined"),
    [
        ("abc|prod", {}, True, None),
        ("abc|", {}, True, None),
        ("|", {}, False, None),
        ("abc|prod", {"RestApiId": "xyz"}, False, None),
        ("prod", {"RestApiId": "abc"}, False, "abc|prod"),
        ("prod", {"StageName": "prod"}, False, None),
        ("prod", {"StageName": "prod", "RestApiId": "abc"}, False, "abc|prod"),
        ("other", {"StageName": "prod", "RestApiId": "abc"}, False, None),
        ("c", {"RestApiId": "a|b"}, False, None),
        ("prod", {}, False, None),
    ],
)
def test_an_identifier_is_whole_already_or_is_joined_from_its_parts(
    physical_id: str, known: dict[str, str], whole: bool, joined: str | None
) -> None:
    assert is_whole(STAGE, physical_id, known, HERE) is whole
    assert join_parts(STAGE, physical_id, known) == joined


def test_the_rules_are_tried_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def way(resource_type: ResourceType, physical_id: str, known: dict[str, str] | None = None) -> object:
        return interpret(resource_type, physical_id, known or {}, HERE)

    assert way(TOPIC, arn("topic")) == Identifier(arn("topic"))
    assert way(TOPIC, "topic") == ListSearch("topic")
    assert way(ResourceType("T", ("TableARN",)), "topic") == ListSearch("topic")
    assert way(ResourceType("B", ("BucketName",)), "photos") == Identifier("photos")
    assert way(STAGE, "abc|prod") == Candidates(("abc|prod",), {})
    assert way(STAGE, "prod", {"RestApiId": "abc"}) == ListSearch("prod", "abc|prod")
    assert way(STAGE, "prod") == ListSearch("prod", None)
    with pytest.raises(MissingPropertyError, match="without LeftArn and RightArn"):
        way(LINK, "x")
    monkeypatch.setitem(STRATEGIES, "T", {"TopicArn": lambda physical_id, _: Identifier(physical_id)})
    assert way(TOPIC, "topic") == Identifier("topic")


def test_a_service_is_reported_what_it_needs_and_no_more() -> None:
    known = {"RestApiId": "abc", "StageName": "prod", "Workspace": "w", "Password": "x"}
    assert first_model(STAGE, known) == {"RestApiId": "abc", "StageName": "prod"}
    asking = ResourceType("S", STAGE.identifier, 1, ((("RestApiId", "RestApiId"),),), ())
    assert first_model(asking, known) == {"RestApiId": "abc"}
    another = ResourceType("S", STAGE.identifier, 1, ((("Arn", "Workspace"),),), ("StageName",))
    assert first_model(another, known) == {"Arn": "w", "StageName": "prod"}
    either = ResourceType("S", ("Id",), None, ((("A", "A"), ("B", "B")), (("C", "C"),)), ())
    assert first_model(either, {"A": "1", "C": "3"}) == {"C": "3"}
    with pytest.raises(MissingPropertyError, match="without B"):
        first_model(either, {"A": "1"})


def test_what_a_service_asks_for_is_added_to_what_it_was_reported() -> None:
    assert extend_model(STAGE, {"A": "1"}, ["B", "B"], {"B": "2", "C": "3"}) == {"A": "1", "B": "2"}
    with pytest.raises(MissingPropertyError, match="without D and E"):
        extend_model(STAGE, {"A": "1"}, ["B", "D", "E"], {"B": "2"})
    with pytest.raises(RejectedPropertyError, match="its service still requires A, although given"):
        extend_model(STAGE, {"A": "1"}, ["A"], {"A": "1"})


def test_what_follows_from_what_is_known_does_not_replace_it_and_nothing_is_empty() -> None:
    kind = "AWS::ApplicationAutoScaling::ScalingPolicy"
    target = {"ScalingTargetId": "service/web/api|ecs:service:DesiredCount|ecs"}
    derived = {"ServiceNamespace": "ecs", "ScalableDimension": "ecs:service:DesiredCount"}
    assert with_derived(kind, target) == target | derived
    assert with_derived(kind, {**target, "ServiceNamespace": "x"})["ServiceNamespace"] == "x"
    assert with_derived(kind, {"ScalingTargetId": "x"}) == {"ScalingTargetId": "x", "ServiceNamespace": "x"}
    assert with_derived(kind, {"ScalableDimension": ""}) == {}
    assert with_derived("AWS::S3::Bucket", {"A": "1", "B": ""}) == {"A": "1"}
