"""Which identifier a physical id is that of: the rules as values."""

from __future__ import annotations

import pytest

from strongref.lookup.base import LookupScope
from strongref.lookup.errors import MissingPropertyError
from strongref.lookup.identify import Asked, Listed, way_of
from strongref.lookup.inputs import first_model, with_asked, with_derived
from strongref.lookup.matching import Fit, complete, fit, put_together, telling
from strongref.lookup.overrides import STRATEGIES, Identifier, Strategy
from strongref.lookup.table import Input, Shape

REGION = "eu-west-1"
HERE = LookupScope(REGION)
TOPIC = Shape("T", ("TopicArn",), name="TopicName")
STAGE = Shape("S", ("RestApiId", "StageName"), own=1)
LINK = Shape("L", ("LeftArn", "RightArn"))
PARENT = "arn:aws:x:eu-west-1:1:api/abc"


def arn(resource: str) -> str:
    return f"arn:aws:sns:{REGION}:111111111111:{resource}"


@pytest.mark.parametrize(
    ("identifier", "physical_id", "fits"),
    [
        (arn("topic"), arn("topic"), Fit.YES),
        (arn("topic"), "topic", Fit.YES),
        (arn("other-topic"), "topic", Fit.NO),
        (arn("topic-other"), "topic", Fit.NO),
        (arn("topic"), "", Fit.NO),
        (arn("topic"), "Topic", Fit.NO),
        (arn("role/a/b/MyRole"), "MyRole", Fit.IF_CALLED_SO),
        (arn("role/a/b/MyRole"), "a/b/MyRole", Fit.YES),
        (arn("role/a/b/MyRole"), "b/MyRole", Fit.NO),
        (arn("role/a/b/MyRole"), "role/a/b/MyRole", Fit.NO),
        (arn("role/a/b/MyRole"), "role", Fit.NO),
        (arn("topic"), "111111111111:topic", Fit.NO),
        (arn("topic"), REGION, Fit.NO),
        ("a|b", "a|b", Fit.YES),
        ("a|b", "a", Fit.NO),
    ],
)
def test_a_single_identifier_is_compared_as_a_whole(identifier: str, physical_id: str, fits: Fit) -> None:
    assert fit(TOPIC, identifier, physical_id, {}, HERE) is fits


@pytest.mark.parametrize(
    ("identifier", "physical_id", "known", "fits"),
    [
        ("abc|prod", "abc|prod", {}, Fit.YES),
        ("abc|prod", "abc|prod", {"RestApiId": "xyz"}, Fit.NO),
        ("abc|prod", "prod", {}, Fit.YES),
        ("abc|prod", "prod", {"RestApiId": "abc"}, Fit.YES),
        ("abc|prod", "prod", {"RestApiId": "xyz"}, Fit.NO),
        ("abc|prod", "abc", {}, Fit.NO),
        ("abc|prod", "abc", {"StageName": "prod"}, Fit.YES),
        ("abc|prod", "prod|abc", {}, Fit.NO),
        ("a|b|prod", "prod", {}, Fit.NO),
        ("a|b|prod", "a|b|prod", {"RestApiId": "other"}, Fit.YES),
        ("abc|prod", "pro", {}, Fit.NO),
        (f"{PARENT}|prod", "prod", {"RestApiId": "abc"}, Fit.YES),
        ("abc|prod", "prod", {"RestApiId": PARENT}, Fit.YES),
        ("abc|prod", "prod", {"RestApiId": PARENT.replace(REGION, "us-east-1")}, Fit.NO),
        (f"{PARENT}|prod", "prod", {"RestApiId": PARENT.replace("abc", "ab")}, Fit.NO),
    ],
)
def test_of_a_composite_identifier_the_own_part_is_compared_and_the_others_have_to_agree(
    identifier: str, physical_id: str, known: dict[str, str], fits: Fit
) -> None:
    assert fit(STAGE, identifier, physical_id, known, HERE) is fits


def test_without_an_own_part_a_physical_id_tells_only_beside_all_others() -> None:
    assert telling(LINK, {}) == []
    assert telling(LINK, {"LeftArn": "x"}) == [1]
    assert telling(LINK, {"LeftArn": "x", "RightArn": "y"}) == [0, 1]
    assert telling(STAGE, {}) == [1]
    assert telling(TOPIC, {}) == [0]


@pytest.mark.parametrize(
    ("physical_id", "known", "whole", "together"),
    [
        ("abc|prod", {}, "abc|prod", None),
        ("abc|", {}, "abc|", None),
        ("|", {}, None, None),
        ("abc|prod", {"RestApiId": "xyz"}, None, None),
        ("prod", {"RestApiId": "abc"}, None, "abc|prod"),
        ("prod", {"StageName": "prod"}, None, None),
        ("prod", {"StageName": "prod", "RestApiId": "abc"}, None, "abc|prod"),
        ("other", {"StageName": "prod", "RestApiId": "abc"}, None, None),
        ("c", {"RestApiId": "a|b"}, None, None),
        ("prod", {}, None, None),
    ],
)
def test_an_identifier_is_whole_already_or_is_put_together(
    physical_id: str, known: dict[str, str], whole: str | None, together: str | None
) -> None:
    assert complete(STAGE, physical_id, known, HERE) == whole
    assert put_together(STAGE, physical_id, known) == together


def test_the_rules_are_tried_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def way(shape: Shape, physical_id: str, known: dict[str, str] | None = None) -> object:
        return way_of(shape, physical_id, known or {}, HERE)

    assert way(TOPIC, arn("topic")) == Identifier(arn("topic"))
    assert way(TOPIC, "topic") == Listed("topic")
    assert way(Shape("T", ("TableARN",)), "topic") == Listed("topic")
    assert way(Shape("B", ("BucketName",)), "photos") == Identifier("photos")
    assert way(STAGE, "abc|prod") == Asked("abc|prod")
    assert way(STAGE, "prod", {"RestApiId": "abc"}) == Listed("prod", "abc|prod")
    assert way(STAGE, "prod") == Listed("prod", None)
    with pytest.raises(MissingPropertyError, match="without LeftArn and RightArn"):
        way(LINK, "x")
    monkeypatch.setitem(STRATEGIES, "T", {"TopicArn": Strategy.AS_IS})
    assert way(TOPIC, "topic") == Identifier("topic")


def test_a_service_is_told_what_it_needs_and_no_more() -> None:
    known = {"RestApiId": "abc", "StageName": "prod", "Workspace": "w", "Password": "x"}
    assert first_model(STAGE, known) == {"RestApiId": "abc", "StageName": "prod"}
    asking = Shape("S", STAGE.identifier, 1, ((Input("RestApiId", "RestApiId"),),), ())
    assert first_model(asking, known) == {"RestApiId": "abc"}
    another = Shape("S", STAGE.identifier, 1, ((Input("Arn", "Workspace"),),), ("StageName",))
    assert first_model(another, known) == {"Arn": "w", "StageName": "prod"}
    either = Shape("S", ("Id",), None, ((Input("A", "A"), Input("B", "B")), (Input("C", "C"),)), ())
    assert first_model(either, {"A": "1", "C": "3"}) == {"C": "3"}
    with pytest.raises(MissingPropertyError, match="without B"):
        first_model(either, {"A": "1"})


def test_what_a_service_asks_for_is_added_to_what_it_was_told() -> None:
    assert with_asked(STAGE, {"A": "1"}, ["B", "B"], {"B": "2", "C": "3"}) == {"A": "1", "B": "2"}
    with pytest.raises(MissingPropertyError, match="without D and E"):
        with_asked(STAGE, {"A": "1"}, ["B", "D", "E"], {"B": "2"})
    with pytest.raises(MissingPropertyError, match="without A"):
        with_asked(STAGE, {"A": "1"}, ["A"], {"A": "1"})


def test_what_follows_from_what_is_known_does_not_replace_it_and_nothing_is_empty() -> None:
    kind = "AWS::ApplicationAutoScaling::ScalingPolicy"
    target = {"ScalingTargetId": "service/web/api|ecs:service:DesiredCount|ecs"}
    derived = {"ServiceNamespace": "ecs", "ScalableDimension": "ecs:service:DesiredCount"}
    assert with_derived(kind, target) == target | derived
    assert with_derived(kind, {**target, "ServiceNamespace": "x"})["ServiceNamespace"] == "x"
    assert with_derived(kind, {"ScalingTargetId": "x"}) == {"ScalingTargetId": "x", "ServiceNamespace": "x"}
    assert with_derived(kind, {"ScalableDimension": ""}) == {}
    assert with_derived("AWS::S3::Bucket", {"A": "1", "B": ""}) == {"A": "1"}
