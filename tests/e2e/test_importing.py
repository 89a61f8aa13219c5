"""Scenarios 6 to 11, 14, 18, 25: claims are made before they are let go, and let go when they should."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.harness import failing_resource
from tests.e2e.templates import EMPTY, EU, US, exporting, imported, importing, stack
from tests.e2e.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws


@pytest.fixture
def world(aws: Aws, names: Callable[[str], str]) -> World:
    return World.of(aws, names)


@pytest.fixture
def published(world: World) -> World:
    world.publish({"A": "a1", "B": "b1"}, "CREATE_COMPLETE")
    return world


def watched(world: World, template: dict[str, Any]) -> list[tuple[list[str], list[str]]]:
    """Who claims A and B, again and again while the consumer is updated, and after it."""
    seen = [(world.claims("A"), world.claims("B"))]
    world.aws.begin(world.consumer, template, US)
    while (world.aws.status(world.consumer, US) or "").endswith("_IN_PROGRESS"):
        seen.append((world.claims("A"), world.claims("B")))
    return [*seen, (world.claims("A"), world.claims("B"))]


def test_06_the_new_is_claimed_before_the_old_is_released(published: World) -> None:
    published.consume("A", expect="CREATE_COMPLETE")
    generation = published.aws.physical_ids(published.consumer, US)["Imports"]
    claims = watched(published, importing(published.producer, "B"))
    assert ([published.consumer], []) in claims  # before
    assert ([], []) not in claims
    assert claims[-1] == ([], [published.consumer])
    assert published.aws.status(published.consumer, US) == "UPDATE_COMPLETE"
    assert published.aws.outputs(published.consumer, US) == {"B": "b1"}
    assert published.aws.physical_ids(published.consumer, US)["Imports"] != generation
    events = [
        (event["LogicalResourceId"], event["ResourceStatus"])
        for event in published.aws.events(published.consumer, US)
        if event["LogicalResourceId"] == "Imports"
    ]
    assert [status for _, status in events].index("UPDATE_COMPLETE") < [s for _, s in events].index("DELETE_COMPLETE")


def test_07_an_update_that_fails_later_keeps_the_old_claim_all_along(published: World) -> None:
    published.consume("A", expect="CREATE_COMPLETE")
    template = importing(published.producer, "B")
    template["Resources"]["Later"] = failing_resource("Imports")
    claims = watched(published, template)
    assert published.aws.status(published.consumer, US) == "UPDATE_ROLLBACK_COMPLETE"
    assert all(on_a == [published.consumer] for on_a, _ in claims)
    assert claims[-1] == ([published.consumer], [])
    assert published.aws.outputs(published.consumer, US) == {"A": "a1"}
    published.publish({"A": "a2", "B": "b2"}, "UPDATE_ROLLBACK_COMPLETE")
    published.publish({"A": "a1", "B": "b2"}, "UPDATE_COMPLETE")


def test_08_a_create_that_fails_later_leaves_the_exports_and_no_claim(published: World) -> None:
    before = published.all_stored()
    template = importing(published.producer, "A", "B")
    template["Resources"]["Later"] = failing_resource("Imports")
    published.aws.deploy(published.consumer, template, US, "ROLLBACK_COMPLETE")
    assert published.all_stored() == before
    assert published.claims("A") == published.claims("B") == []


@pytest.mark.story
def test_09_a_deleted_consumer_leaves_a_clean_prefix_but_for_what_others_claim(
    published: World, names: Callable[[str], str]
) -> None:
    other = names("other")
    published.consume("A", expect="CREATE_COMPLETE")
    template = importing(published.producer, "B", Consumer=published.consumer)
    published.aws.deploy(other, template, US, "CREATE_COMPLETE")
    published.aws.delete(published.consumer, US)
    assert published.values() == {"B": "b1"}
    assert published.claims("B") == [other]
    published.aws.delete(other, US)
    published.publish({"A": "a2", "B": "b2"}, "UPDATE_COMPLETE")
    assert published.values() == {"A": "a2", "B": "b2"}
    published.aws.delete(published.producer, EU)
    assert published.all_stored() == {}


def test_09_a_consumer_created_again_gets_its_values_back_by_itself(published: World) -> None:
    published.consume("A", expect="CREATE_COMPLETE")
    published.aws.delete(published.consumer, US)
    assert published.values() == {}
    published.consume("A", expect="CREATE_COMPLETE")
    assert published.values() == {"A": "a1"}
    assert published.claims("A") == [published.consumer]
    published.publish({"A": "a2", "B": "b1"}, "UPDATE_ROLLBACK_COMPLETE")
    published.aws.delete(published.consumer, US)
    published.aws.delete(published.producer, EU)
    assert published.all_stored() == {}


def test_10_an_import_taken_out_releases_its_claims_and_keeps_the_exports(published: World) -> None:
    published.consume("A", expect="CREATE_COMPLETE")
    published.aws.deploy(published.consumer, EMPTY, US, "UPDATE_COMPLETE")
    assert published.values() == {"A": "a1", "B": "b1"}
    assert published.claims("A") == []


def test_11_one_release_of_a_shared_export_leaves_the_other_claims(world: World, names: Callable[[str], str]) -> None:
    other = names("other")
    world.publish({"A": "a1"}, "CREATE_COMPLETE", consumer=None)
    two = {name: imported(world.producer, "A", Shared=True) for name in ("One", "Two")}
    world.aws.deploy(world.consumer, stack(two), US, "CREATE_COMPLETE")
    world.aws.deploy(other, importing(world.producer, "A", Shared=True), US, "CREATE_COMPLETE")
    assert world.claims("A", consumer="_shared") == sorted([other, world.consumer, world.consumer])
    world.aws.deploy(world.consumer, stack({"One": two["One"]}), US, "UPDATE_COMPLETE")
    assert world.claims("A", consumer="_shared") == sorted([other, world.consumer])
    world.aws.delete(other, US)
    assert world.claims("A", consumer="_shared") == [world.consumer]
    world.publish({"A": "a2"}, "UPDATE_ROLLBACK_COMPLETE", consumer=None)
    world.aws.delete(world.consumer, US)
    world.aws.delete(world.producer, EU)
    assert world.all_stored() == {}


def test_14_a_missing_export_tells_which_it_is(world: World) -> None:
    def refused(*names: str) -> str:
        world.consume(*names, expect="ROLLBACK_COMPLETE")
        why = world.why(world.consumer, US)
        world.aws.delete(world.consumer, US)
        return why

    producer = f"stack {world.producer} ({EU}, {world.aws.account})"
    assert f"{producer} does not exist. Check From (Stack, Region, Account)" in refused("CertArn")
    world.publish({"CertArn": "arn:x"}, "CREATE_COMPLETE", consumer="somebody-else")
    assert f"{producer} exists, but exports nothing to consumer {world.consumer} in {US}" in refused("CertArn")
    world.publish({"CertArn": "arn:x"}, "UPDATE_COMPLETE")
    assert f"{producer[1:]} does not export CertAnr (did you mean CertArn?) to this consumer" in refused("CertAnr")
    assert world.claims("CertArn") == []


def test_18_a_hundred_and_fifty_values_in_as_few_imports_as_the_answers_allow(world: World) -> None:
    keys = [f"Key{number:03d}" for number in range(150)]
    world.publish({key: f"value-of-{key}" for key in keys}, "CREATE_COMPLETE")
    world.consume(*keys, expect="ROLLBACK_COMPLETE")
    assert "too large for one CloudFormation response" in world.why(world.consumer, US)
    assert world.claims(keys[0]) == []
    world.aws.delete(world.consumer, US)
    halves = {"First": imported(world.producer, *keys[:90]), "Second": imported(world.producer, *keys[90:])}
    outputs = {"Last": {"Fn::GetAtt": ["Second", keys[-1]]}, "First": {"Fn::GetAtt": ["First", keys[0]]}}
    done = world.aws.deploy(world.consumer, stack(halves, outputs), US, "CREATE_COMPLETE")
    assert done.outputs == {"Last": "value-of-Key149", "First": "value-of-Key000"}
    assert [world.claims(key) for key in keys] == [[world.consumer]] * 150
    world.aws.delete(world.consumer, US)
    world.aws.delete(world.producer, EU)
    assert world.all_stored() == {}


def test_25_a_nested_stacks_import_uses_the_roots_prefix_and_cleans_it_with_the_root(
    world: World, names: Callable[[str], str]
) -> None:
    nested = world.aws.nested(names("nested"), importing(world.producer, "A"), US)
    neighbour = f"{world.consumer}-2"  # web beside web-2
    world.publish({"A": "a1"}, "CREATE_COMPLETE")
    other = names("other")
    world.aws.deploy(other, exporting({"A": "x"}, consumer=neighbour), EU, "CREATE_COMPLETE")
    world.aws.deploy(neighbour, importing(other, "A"), US, "CREATE_COMPLETE")
    world.aws.deploy(world.consumer, stack({"Nested": nested}), US, "CREATE_COMPLETE")
    assert [name.split("-Nested-")[0] for name in world.claims("A")] == [world.consumer]
    world.aws.delete(world.consumer, US)
    assert world.values() == {}
    assert world.values(consumer=neighbour) == {"A": "x"}
    world.aws.delete(neighbour, US)
    assert world.values(consumer=neighbour) == {}
