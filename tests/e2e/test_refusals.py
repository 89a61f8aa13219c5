"""Scenarios 1 to 5, 15 to 17: values arrive, and what is claimed is neither changed nor dropped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.index import INDEX
from tests.e2e.templates import EU, US, export, exporting, imported, stack
from tests.e2e.world import World
from tests.support.emulator.sam import APPLICATION

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

REFUSED = "UPDATE_ROLLBACK_COMPLETE"


@pytest.fixture
def world(aws: Aws, names: Callable[[str], str]) -> World:
    return World.of(aws, names)


@pytest.fixture
def claimed(world: World) -> World:
    """A is imported, B is not."""
    world.publish({"A": "a1", "B": "b1"}, "CREATE_COMPLETE")
    world.consume("A", expect="CREATE_COMPLETE")
    return world


@pytest.mark.story
def test_01_strings_lists_and_maps_arrive_by_getatt_and_by_resolve(world: World) -> None:
    values = {"Arn": "arn:x", "Ids": ["s-1", "s-2"], "Alb": {"Arn": "alb", "Sg": {"Id": "sg-1"}}}
    reported = {name: {"Fn::GetAtt": ["Exports", name]} for name in ("Prefix", "Count")}
    exports = {"Exports": export(values, consumer=world.consumer)}
    done = world.aws.deploy(world.producer, stack(exports, reported), EU, "CREATE_COMPLETE")
    assert done.outputs == {"Prefix": world.name("")[:-1], "Count": "4"}
    template = stack(
        {
            "Imports": imported(world.producer, "Arn", "Ids", "Alb"),
            "Resolved": {
                "Type": "AWS::SSM::Parameter",
                "DependsOn": "Imports",
                "Properties": {
                    "Type": "String",
                    "Name": f"/used/{world.consumer}",
                    "Value": f"{{{{resolve:ssm:{world.name('Alb/Arn')}}}}}",
                },
            },
        },
        {
            "Arn": {"Fn::GetAtt": ["Imports", "Arn"]},
            "Ids": {"Fn::Join": ["|", {"Fn::GetAtt": ["Imports", "Ids"]}]},
            "Second": {"Fn::Select": [1, {"Fn::GetAtt": ["Imports", "Ids"]}]},
            "SgId": {"Fn::GetAtt": ["Imports", "Alb.Sg.Id"]},
        },
    )
    done = world.aws.deploy(world.consumer, template, US, "CREATE_COMPLETE")
    assert done.outputs == {"Arn": "arn:x", "Ids": "s-1|s-2", "Second": "s-2", "SgId": "sg-1"}
    assert world.aws.values(US, "/used/")[f"/used/{world.consumer}"] == "alb"
    assert world.values() == {"Arn": "arn:x", "Ids": "s-1,s-2", "Alb/Arn": "alb", "Alb/Sg/Id": "sg-1"}
    for key in world.values():
        assert world.claims(key) == [world.consumer]
    assert world.aws.parameters(US, world.name("Ids").rsplit("/", 1)[0])[world.name("Ids")]["Type"] == "StringList"


@pytest.mark.story
def test_02_a_claimed_value_is_not_changed(claimed: World) -> None:
    before = claimed.all_stored()
    claimed.publish({"A": "a2", "B": "b1"}, REFUSED)
    assert (
        f"A cannot be changed: it is imported by {claimed.importers()}. Remove that import first, "
        "or set OnChange: propagate. Nothing was changed."
    ) in claimed.why()
    assert claimed.all_stored() == before
    assert claimed.claims("A") == [claimed.consumer]


def test_02_a_refusal_needs_no_fence_nor_does_its_rollback(claimed: World) -> None:
    iam, role = claimed.aws.client("iam", US), claimed.aws.physical_ids(APPLICATION, EU)["ExporterRole"]
    fences = f"arn:aws:ssm:*:*:parameter/strongref/fences/{claimed.consumer}/*"
    denied = {"Effect": "Deny", "Action": "ssm:PutParameter", "Resource": fences}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [denied]})
    iam.put_role_policy(RoleName=role, PolicyName=claimed.producer, PolicyDocument=policy)
    try:
        claimed.publish({"A": "a2", "B": "b1"}, REFUSED)
    finally:
        iam.delete_role_policy(RoleName=role, PolicyName=claimed.producer)
    assert f"A cannot be changed: it is imported by {claimed.importers()}." in claimed.why()
    assert "fence" not in claimed.why()


@pytest.mark.parametrize(
    ("values", "more"),
    [({"B": "b1"}, {}), ({"A": "a1", "B": "b1"}, {"region": EU}), ({"A": "a1", "B": "b1"}, {"consumer": "other"})],
    ids=["dropped", "moved to another region", "moved to another consumer"],
)
def test_03_a_claimed_value_is_not_dropped(claimed: World, values: dict[str, str], more: dict[str, Any]) -> None:
    before = claimed.all_stored(), claimed.all_stored(EU)
    claimed.publish(values, REFUSED, **more)
    assert f"A cannot be dropped: it is imported by {claimed.importers()}. Remove that import" in claimed.why()
    assert (claimed.all_stored(), claimed.all_stored(EU)) == before


@pytest.mark.story
def test_03_a_claimed_producer_is_not_deleted_and_is_once_it_is_released(claimed: World) -> None:
    before = claimed.all_stored()
    claimed.aws.delete(claimed.producer, EU, "DELETE_FAILED")
    assert f"A cannot be dropped: it is imported by {claimed.importers()}" in claimed.why()
    assert claimed.all_stored() == before
    claimed.aws.delete(claimed.consumer, US)
    claimed.aws.delete(claimed.producer, EU)
    assert claimed.all_stored() == {}


def test_03_a_move_is_made_once_it_is_released(claimed: World) -> None:
    claimed.aws.deploy(claimed.consumer, stack({}), US, "UPDATE_COMPLETE")
    claimed.publish({"A": "a1"}, "UPDATE_COMPLETE", region=EU)
    assert claimed.all_stored(US) == {}
    assert claimed.values(region=EU) == {"A": "a1"}


def test_04_unclaimed_values_next_to_claimed_ones_change_freely(claimed: World) -> None:
    claimed.publish({"A": "a1", "B": "b2", "C": "c1"}, "UPDATE_COMPLETE")
    assert claimed.values() == {"A": "a1", "B": "b2", "C": "c1"}
    claimed.publish({"A": "a1", "C": ["x", "y"]}, "UPDATE_COMPLETE")
    assert claimed.values() == {"A": "a1", "C": "x,y"}
    assert claimed.claims("A") == [claimed.consumer]


def test_05_of_a_change_that_is_refused_in_part_nothing_is_applied(claimed: World) -> None:
    before = claimed.all_stored()
    claimed.publish({"A": "a2", "B": "b2", "C": "c1"}, REFUSED)
    assert claimed.all_stored() == before
    claimed.publish({"A": "a1", "B": "b2", "C": "c1"}, "UPDATE_COMPLETE")  # both stacks are healthy
    claimed.consume("A", "B", expect="UPDATE_COMPLETE")


@pytest.mark.story
def test_15_propagate_writes_a_claimed_value_and_names_its_importers(claimed: World) -> None:
    claimed.publish({"A": "a2", "B": "b1"}, "UPDATE_COMPLETE", OnChange="propagate")
    assert claimed.values() == {"A": "a2", "B": "b1"}
    assert claimed.claims("A") == [claimed.consumer]
    reasons = [(answer.body or {}).get("Reason", "") for answer in claimed.aws.answers(claimed.producer)]
    assert any(reason.startswith(f"A changed while imported by {claimed.importers()}") for reason in reasons)
    assert claimed.aws.logged(EU, "A claimed value was changed", claimed.consumer)
    claimed.publish({"B": "b1"}, REFUSED, OnChange="propagate")
    assert "A cannot be dropped" in claimed.why()


def test_16_a_revision_brings_a_value_back_that_was_deleted_by_hand(claimed: World) -> None:
    for key in ("A", "B"):
        claimed.aws.client("ssm", US).delete_parameter(Name=claimed.name(key))
    claimed.publish({"A": "a1", "B": "b1"}, "UPDATE_COMPLETE", Revision=2)
    assert claimed.values() == {"A": "a1", "B": "b1"}
    claimed.consume("A", expect="UPDATE_COMPLETE", Revision=2)
    assert claimed.claims("A") == [claimed.consumer]
    claimed.publish({"A": "a2", "B": "b1"}, REFUSED, Revision=2)


def test_17_a_fan_out_is_refused_in_all_regions_if_claimed_in_one(world: World) -> None:
    world.publish({"A": "a1"}, "CREATE_COMPLETE", region=[EU, US])
    world.consume("A", expect="CREATE_COMPLETE")
    before = world.all_stored(EU), world.all_stored(US)
    world.publish({"A": "a2"}, REFUSED, region=[EU, US])
    assert f"A cannot be changed: it is imported by {world.importers()}" in world.why()
    assert (world.all_stored(EU), world.all_stored(US)) == before
    world.publish({"A": "a1"}, "UPDATE_COMPLETE", region=[US])
    assert [name for name in world.all_stored(EU) if not name.startswith(INDEX)] == []  # which is of the producer
    assert world.all_stored(US) == before[1]


def test_13_a_foreign_parameter_is_not_touched(world: World) -> None:
    world.aws.put_foreign(US, world.name("A"))
    done = world.publish({"A": "a1", "B": "b1"})
    assert done.status == "ROLLBACK_COMPLETE"
    assert f"Parameter {world.name('A')} does not belong to this stack: it was not made by strongref" in world.why()
    assert world.all_stored() == {world.name("A"): "somebody else's"}
    assert world.aws.tags(US, world.name("A")) == {}


def test_13_two_producers_at_one_address_the_second_is_refused_and_the_owner_named(
    world: World, names: Callable[[str], str]
) -> None:
    other = names("other")
    owner = world.aws.deploy(other, stack({}), EU, "CREATE_COMPLETE").arn
    world.aws.put_foreign(US, world.name("A"), tags={"strongref:producer": owner})
    assert world.publish({"A": "a1"}).status == "ROLLBACK_COMPLETE"
    assert f"it belongs to stack {other} ({EU}, {world.aws.account})" in world.why()
    assert world.all_stored() == {world.name("A"): "somebody else's"}
    assert world.aws.tags(US, world.name("A")) == {"strongref:producer": owner}


def test_23_two_exports_in_one_stack(world: World) -> None:
    def both(second: dict[str, str]) -> dict[str, Any]:
        first = export({"A": "a", "B": "b"}, consumer=world.consumer)
        return stack({"One": first, "Two": export(second, consumer=world.consumer) | {"DependsOn": "One"}})

    world.aws.deploy(world.producer, both({"C": "c"}), EU, "CREATE_COMPLETE")
    assert world.values() == {"A": "a", "B": "b", "C": "c"}
    world.aws.deploy(world.producer, both({"B": "b"}), EU, "UPDATE_COMPLETE")
    assert world.values() == {"A": "a", "B": "b"}
    world.aws.deploy(world.producer, both({"B": "other"}), EU, REFUSED)
    assert "B cannot be exported: One in the same stack exports the same name with another value" in world.why()
    world.aws.deploy(world.producer, exporting({"X": "x"}, consumer=world.consumer), EU, "UPDATE_COMPLETE")
    assert world.values() == {"X": "x"}
