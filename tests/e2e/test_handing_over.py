"""Functions that have a few seconds only: they continue in further invocations, and answer once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.harness import waiting_resource
from tests.e2e.templates import EMPTY, EU, US, export, exporting, held, importing, looking_up
from tests.e2e.world import World
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

SECRET = "value-that-must-not-be-reported"
COUNT = 32
"""Values that take 10 seconds to write, see `conftest.SLOW`: longer than one invocation works. Of the twelve that an
event has, others may wait for the fence of one that died, which stands for 90 seconds."""


@pytest.fixture
def world(hurried: Aws, names: Callable[[str], str]) -> World:
    return World.of(hurried, names)


def values(count: int, text: str = SECRET) -> dict[str, str]:
    return {f"Key{number:03d}": f"{text}-{number}" for number in range(count)}


def continued(world: World, stack: str, region: str) -> list[dict[str, Any]]:
    """What the functions logged each time that they left the rest of a stack's work to another invocation."""
    lines = world.aws.logged(region, '"Continued in another invocation"', f"/{stack}/")
    return [json.loads(line) for line in lines]


def answered(world: World, stack: str) -> list[int]:
    """How often each request of a stack was answered."""
    return [each.count for each in world.aws.answers(stack)]


def test_an_export_that_takes_longer_than_an_invocation_continues_in_the_next_ones(world: World) -> None:
    """Created, changed and deleted, each in several invocations, each answered once."""
    world.publish(values(COUNT), "CREATE_COMPLETE")
    assert world.values() == values(COUNT)
    first = continued(world, world.producer, EU)
    assert [line["invocation_number"] for line in first] == list(range(1, len(first) + 1))
    world.publish(values(COUNT, "changed"), "UPDATE_COMPLETE")
    assert world.values() == values(COUNT, "changed")
    assert len(continued(world, world.producer, EU)) > len(first)
    world.aws.deploy(world.producer, EMPTY, EU, "UPDATE_COMPLETE")
    assert world.all_stored() == {}
    assert answered(world, world.producer) == [1, 1, 1]
    assert SECRET not in world.aws.logs(EU)


def put_up_fence(world: World) -> Callable[[], object]:
    """Another exporter is changing values at the producer's address, until the returned function is called."""
    fence = {"by": "somebody", "until": "2099-01-01T00:00:00+00:00"}
    path = f"/strongref/fences/{world.consumer}/{world.aws.account}/{EU}/{world.producer}/Others.1"
    world.aws.put_foreign(US, path, value=json.dumps(fence))
    return lambda: world.aws.client("ssm", US).delete_parameter(Name=path)


def test_an_import_waits_for_an_exporter_in_one_invocation_after_the_other(world: World) -> None:
    world.publish({"A": "a1"}, "CREATE_COMPLETE")
    take_away = put_up_fence(world)
    world.aws.begin(world.consumer, importing(world.producer, "A"), US)
    assert continued(world, world.consumer, US)
    assert answered(world, world.consumer) == []
    take_away()
    world.aws.wait(world.consumer, US, "CREATE_COMPLETE")
    assert world.claims("A") == [world.consumer]
    assert answered(world, world.consumer) == [1]


@pytest.mark.slow
def test_what_cloudformation_does_not_wait_for_is_answered_in_time_and_rolled_back(world: World) -> None:
    """It waits for 120 seconds; in the last 30 no other invocation is begun. The fence outlasts them.

    The rollback has as long, which is several invocations: enough on a busy machine, too.
    """
    take_away = put_up_fence(world)
    template = exporting(values(3), consumer=world.consumer)
    template["Resources"]["Exports"]["Properties"]["ServiceTimeout"] = 120
    world.aws.begin(world.producer, template, EU)
    refusal, *_ = wait_until(lambda: world.aws.answers(world.producer), "the refusal")
    take_away()  # The rollback is not in anybody's way.
    assert "CloudFormation waits for ServiceTimeout (120 s)" in (refusal.body or {})["Reason"]
    world.aws.wait(world.producer, EU, "ROLLBACK_COMPLETE")
    # At the end of its time, an answer that is not acknowledged at once, on a busy machine, is sent again as it is.
    texts = {json.dumps(each.body, sort_keys=True) for each in world.aws.answers(world.producer)}
    assert len(texts) == len({each.token for each in world.aws.answers(world.producer)}) == 2
    assert world.all_stored() == {}


def test_a_lookup_that_is_throttled_continues_when_there_is_room_again(world: World) -> None:
    aws, name = world.aws, world.consumer
    topic = aws.client("sns", EU).create_topic(Name=name)["TopicArn"]
    unlimited = dict.fromkeys(("reads", "puts", "deletes", "tags", "stacks"), 1000.0)
    aws.emulator.limit(aws.account, describe=0.001, **unlimited)
    try:
        wanted = {"TypeName": "AWS::SNS::Topic", "Identifier": topic}
        aws.client("cloudcontrol", EU).get_resource(**wanted)  # Nobody else can make a call now.
        aws.begin(name, looking_up("AWS::SNS::Topic", "TopicName", PhysicalId=topic), EU)
        assert continued(world, name, EU)
        assert answered(world, name) == []
    finally:
        aws.emulator.limit(aws.account)
    assert aws.wait(name, EU, "CREATE_COMPLETE").outputs == {"TopicName": name}
    assert answered(world, name) == [1]
    aws.delete(name, EU)


def test_an_import_waits_for_its_producers_deployment_in_one_invocation_after_the_other(world: World) -> None:
    """Both are deployed for the first time: what the import holds exists only when the producer's stack is complete."""
    template = held({"Exports": export({"A": "a1"}, consumer=world.consumer), "Late": waiting_resource("Exports")})
    world.aws.begin(world.producer, template, EU)
    wait_until(lambda: "A" in world.values(), "the value")
    world.aws.begin(world.consumer, importing(world.producer, "A"), US)
    assert continued(world, world.consumer, US)
    assert answered(world, world.consumer) == []
    world.aws.signal(world.producer, "Late", EU, "SUCCESS")
    world.aws.wait(world.producer, EU, "CREATE_COMPLETE")
    world.aws.wait(world.consumer, US, "CREATE_COMPLETE")
    assert world.claims("A") == [world.consumer]
    assert f"/strongref/holds/{world.producer}-Exports/" in "\n".join(world.aws.parameters(EU, "/strongref/holds"))
    assert world.aws.delete(world.producer, EU, expect="CREATE_COMPLETE")
