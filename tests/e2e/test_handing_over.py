"""Functions that have a few seconds only: they go on in further invocations, and answer once."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.templates import EMPTY, EU, US, exporting, looking_up
from tests.e2e.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

SECRET = "value-that-must-not-be-told"


@pytest.fixture
def world(hurried: Aws, names: Callable[[str], str]) -> World:
    return World.of(hurried, names)


def values(count: int, text: str = SECRET) -> dict[str, str]:
    return {f"Key{number:03d}": f"{text}-{number}" for number in range(count)}


def lines(world: World, stack: str, region: str, message: str) -> list[dict[str, Any]]:
    """What the functions logged for a stack."""
    found = (json.loads(line) for line in world.aws.logs(region).splitlines() if line.startswith("{"))
    return [line for line in found if line.get("message") == message and f"/{stack}/" in line.get("stack", "")]


def answers(world: World, stack: str) -> list[int]:
    """How often each request of a stack was answered."""
    found = world.aws.emulator.answers()
    return [each.count for each in found if each.body and f"/{stack}/" in each.body.get("StackId", "")]


def test_an_export_that_takes_longer_than_an_invocation_goes_on_in_the_next_ones(world: World) -> None:
    """Created, changed and deleted, each in several invocations, each answered once."""
    count = 45
    world.publish(values(count), "CREATE_COMPLETE")
    assert world.values() == values(count)
    first = lines(world, world.producer, EU, "Continued in another invocation")
    assert [line["turn"] for line in first] == list(range(1, len(first) + 1))
    assert first
    world.publish(values(count, "changed"), "UPDATE_COMPLETE")
    assert world.values() == values(count, "changed")
    assert len(lines(world, world.producer, EU, "Continued in another invocation")) > len(first)
    world.aws.deploy(world.producer, EMPTY, EU, "UPDATE_COMPLETE")
    assert world.all_stored() == {}
    assert answers(world, world.producer) == [1, 1, 1]
    assert SECRET not in world.aws.logs(EU)


def put_up_fence(world: World, seconds: float) -> datetime:
    """Somebody is at work in the producer's place for so long; until when."""
    until = datetime.now(UTC) + timedelta(seconds=seconds)
    fence = {"by": "somebody", "until": until.isoformat(timespec="seconds")}
    path = f"/strongref/fences/{world.consumer}/{world.aws.account}/{EU}/{world.producer}/Others.1"
    world.aws.put_foreign(US, path, value=json.dumps(fence))
    return until


def test_an_import_waits_for_an_exporter_in_one_invocation_after_the_other(world: World) -> None:
    world.publish({"A": "a1"}, "CREATE_COMPLETE")
    until = put_up_fence(world, 8)
    world.consume("A", expect="CREATE_COMPLETE")
    assert datetime.now(UTC) > until - timedelta(seconds=1)
    assert world.claims("A") == [world.consumer]
    assert lines(world, world.consumer, US, "Continued in another invocation")
    assert answers(world, world.consumer) == [1]


def test_what_cloudformation_does_not_wait_for_is_answered_in_time_and_rolled_back(world: World) -> None:
    """It waits for 45 seconds, of which 15 are worth another invocation; somebody stands in the way for longer."""
    put_up_fence(world, 25)
    template = exporting(values(3), consumer=world.consumer)
    template["Resources"]["Exports"]["Properties"]["ServiceTimeout"] = 45
    world.aws.deploy(world.producer, template, EU, "ROLLBACK_COMPLETE")
    assert "CloudFormation waits for ServiceTimeout (45 s)" in world.why()
    assert answers(world, world.producer) == [1, 1]
    assert world.all_stored() == {}


def test_a_look_up_that_is_throttled_goes_on_when_there_is_room_again(world: World) -> None:
    aws, name = world.aws, world.consumer
    topic = aws.client("sns", EU).create_topic(Name=name)["TopicArn"]
    unlimited = dict.fromkeys(("reads", "puts", "deletes", "tags", "stacks"), 1000.0)
    aws.emulator.limit(aws.account, describe=0.1, **unlimited)
    try:
        wanted = {"TypeName": "AWS::SNS::Topic", "Identifier": topic}
        aws.client("cloudcontrol", EU).get_resource(**wanted)  # The next call has to wait for ten seconds.
        found = looking_up("AWS::SNS::Topic", "TopicName", PhysicalId=topic)
        assert aws.deploy(name, found, EU, "CREATE_COMPLETE").outputs == {"TopicName": name}
    finally:
        aws.emulator.limit(aws.account)
    assert lines(world, name, EU, "Continued in another invocation")
    assert answers(world, name) == [1]
    aws.delete(name, EU)
