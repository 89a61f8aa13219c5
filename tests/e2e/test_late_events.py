"""Events that come again after newer ones, and events that cannot be understood: what is stored decides."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.templates import EU, US
from tests.e2e.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

BAD = ["not a map of values"]


@pytest.fixture
def world(aws: Aws, names: Callable[[str], str]) -> World:
    """A producer of A and B."""
    world = World.of(aws, names)
    world.publish({"A": "a1", "B": "b1"}, "CREATE_COMPLETE")
    return world


def event(world: World, kind: str, **given: Any) -> dict[str, Any]:
    """An event of the producer's Export, in progress."""
    return {
        "RequestType": kind,
        "StackId": world.aws.stack_arn(world.producer, EU),
        "RequestId": f"{kind} by hand",
        "LogicalResourceId": "Exports",
        "ResourceType": "Custom::CrossRegionExport",
        "PhysicalResourceId": world.aws.physical_ids(world.producer, EU)["Exports"],
        **given,
    }


def properties(world: World, values: object, region: str = US) -> dict[str, Any]:
    return {"ServiceToken": "x", "Region": region, "Consumer": world.consumer, "Values": values}


def answered(world: World, sent: dict[str, Any]) -> dict[str, Any]:
    (answer,) = world.aws.invoke("Exporter", sent, EU).answers
    return answer


def test_an_older_event_that_comes_again_undoes_nothing(world: World) -> None:
    before = world.all_stored()
    older = event(world, "Create", ResourceProperties=properties(world, {"A": "a0"}))
    del older["PhysicalResourceId"]
    sent = datetime.now(UTC) - timedelta(minutes=30)
    url = world.aws.response_url(older["StackId"], "Exports", "older", sent)
    world.aws.invoke("Exporter", older | {"ResponseURL": url}, EU)
    assert not [each for each in world.aws.emulator.answers("older") if each.token == "older"]
    assert world.all_stored() == before


def test_a_delete_that_cannot_be_understood_deletes_what_the_records_say(world: World) -> None:
    world.consume("A", expect="CREATE_COMPLETE")
    before = world.all_stored()
    delete = event(world, "Delete", ResourceProperties=properties(world, BAD))
    assert f"A cannot be dropped: it is imported by {world.importers()}" in answered(world, delete)["Reason"]
    assert world.all_stored() == before
    world.aws.delete(world.consumer, US)
    assert answered(world, delete)["Status"] == "SUCCESS"
    assert world.all_stored() == {}


def test_an_update_leaves_the_region_of_properties_that_cannot_be_understood(world: World) -> None:
    moved = properties(world, {"A": "a1"}, EU)
    update = event(world, "Update", ResourceProperties=moved, OldResourceProperties=properties(world, BAD))
    assert answered(world, update)["Status"] == "SUCCESS"
    assert world.values() == {}
    assert world.values(region=EU) == {"A": "a1"}
