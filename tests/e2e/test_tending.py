"""The janitor, deployed: heals what dead stacks left behind, with its own narrow role, and counts it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.templates import EU, US, exporting, importing
from tests.e2e.world import World
from tests.support.emulator.sam import APPLICATION, REGIONS
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

SECRET = "value-that-must-not-be-reported"


@pytest.fixture
def world(tended: Aws, names: Callable[[str], str], alone: None) -> World:
    del alone
    return World.of(tended, names)


def tend(world: World) -> list[dict[str, Any]]:
    """Have the janitor of the consumer's region go through it: its log lines about the producer, and its counts."""
    invoked = world.aws.invoke("Janitor", {"detail-type": "Scheduled Event"}, US)
    assert not invoked.failed, invoked.result
    return log(world)


def log(world: World) -> list[dict[str, Any]]:
    return [json.loads(line) for line in world.aws.logs(US).splitlines() if line.startswith("{")]


def retained(template: dict[str, Any], name: str) -> dict[str, Any]:
    template["Resources"][name]["DeletionPolicy"] = "Retain"
    return template


@pytest.mark.story
def test_what_dead_stacks_left_behind_is_healed_counted_and_reported(world: World) -> None:
    producer = retained(exporting({"A": SECRET, "B": SECRET}, consumer=world.consumer), "Exports")
    world.aws.deploy(world.producer, producer, EU, "CREATE_COMPLETE")
    consumer = retained(importing(world.producer, "A"), "Imports")
    world.aws.deploy(world.consumer, consumer, US, "CREATE_COMPLETE")
    gone = world.aws.stack_arn(world.consumer, US)
    world.aws.delete(world.consumer, US)
    world.aws.delete(world.producer, EU)
    assert world.values() == {"A": SECRET, "B": SECRET}
    logged = tend(world)
    assert world.all_stored() == {}
    ours = [line for line in logged if f"/{world.producer}/" in line.get("parameter", "")]
    assert [(line["finding"], line["parameter"].rpartition("/")[2]) for line in ours] == [
        ("orphaned", "A"),
        ("orphaned", "B"),
        ("orphaned", "Exports"),
        ("stale-claim", "A"),
    ]
    assert {line["message"] for line in ours} == {"Found and repaired"}
    assert ours[-1]["stacks"] == [gone]

    def counted() -> list[dict[str, Any]]:
        """Where other work is going on, the janitor goes on in another invocation, which counts for itself."""
        counts = [line for line in log(world) if "RepairsMade" in line]
        repaired = sum(line["RepairsMade"][0] for line in counts if line["service"] == "strongref")
        return counts if repaired >= 4 else []

    counts = wait_until(counted, "the counts of four repairs")
    assert all(line["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "StrongRef" for line in counts)
    assert SECRET not in world.aws.logs(US)


def test_where_stacks_live_the_janitor_changes_nothing(world: World) -> None:
    world.publish({"A": "a1", "B": "b1"}, "CREATE_COMPLETE")
    world.consume("A", expect="CREATE_COMPLETE")
    before = world.aws.parameters(US, f"/strongref/exports/{world.consumer}")
    claims = world.claims("A")
    logged = tend(world)
    assert world.aws.parameters(US, f"/strongref/exports/{world.consumer}") == before
    assert world.claims("A") == claims == [world.consumer]
    assert [line for line in logged if f"/{world.producer}/" in line.get("parameter", "")] == []


@pytest.mark.parametrize("region", REGIONS)
def test_a_schedule_calls_the_janitor(aws: Aws, region: str) -> None:
    function = aws.physical_ids(APPLICATION, region)["Janitor"]
    events = aws.client("events", region)
    targets = {
        rule["Name"]: events.list_targets_by_rule(Rule=rule["Name"])["Targets"] for rule in events.list_rules()["Rules"]
    }
    called = [target["Arn"] for found in targets.values() for target in found]
    assert f"arn:aws:lambda:{region}:{aws.account}:function:{function}" in called
