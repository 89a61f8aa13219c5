"""Scenarios 12, 19 to 22, 24: stale claims, bad properties, repeated events, renamed, retained, withdrawn exports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.names import StackArn
from strongref.contract.requests import ExportRequest, ImportRequest
from strongref.errors import StrongRefError
from tests.e2e.harness import failing_resource
from tests.e2e.templates import EMPTY, EU, US, export, exporting, imported, importing, stack
from tests.e2e.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

SECRET = "value-that-must-not-be-reported"


@pytest.fixture
def world(aws: Aws, names: Callable[[str], str]) -> World:
    return World.of(aws, names)


@pytest.fixture
def claimed(world: World) -> World:
    world.publish({"A": "a1", "B": "b1"}, "CREATE_COMPLETE")
    world.consume("A", expect="CREATE_COMPLETE")
    return world


def test_12_a_claim_whose_stack_is_gone_heals_and_the_log_says_so(world: World) -> None:
    world.publish({"A": "a1"}, "CREATE_COMPLETE")
    template = importing(world.producer, "A")
    template["Resources"]["Imports"]["DeletionPolicy"] = "Retain"
    world.aws.deploy(world.consumer, template, US, "CREATE_COMPLETE")
    world.aws.delete(world.consumer, US)
    assert world.claims("A") == [world.consumer]
    world.publish({"A": "a2"}, "UPDATE_COMPLETE")
    assert world.values() == {"A": "a2"}
    assert world.claims("A") == []
    lines = [json.loads(line) for line in world.aws.logged(EU, "A stale claim", f"/{world.consumer}/")]
    assert any(line["key"] == "A" and f"/{world.consumer}/" in line["importer"] for line in lines)


BAD_EXPORTS: list[tuple[str, dict[str, Any], str]] = [
    ("values missing", {"Values": None}, "Values"),
    ("values no map", {"Values": ["a"]}, "Values"),
    ("values deep list", {"Values": {"A": [["x"]]}}, "Values.A"),
    ("empty value", {"Values": {"A": ""}}, "Values.A"),
    ("empty list", {"Values": {"A": []}}, "Values.A"),
    ("empty map", {"Values": {"A": {}}}, "Values.A"),
    ("bad characters", {"Values": {"A b": SECRET}}, "Values.A b"),
    (
        "too deep",
        {"Values": {"A": {"B": {"C": {"D": {"E": {"F": {"G": {"H": {"I": {"J": SECRET}}}}}}}}}}},
        "Values.A.B",
    ),
    ("too long", {"Values": {"A" * 900: SECRET}}, "Values.A"),
    ("over 8 KB", {"Values": {"A": SECRET * 400}}, "Values.A"),
    ("comma in an item", {"Values": {"A": [f"{SECRET},x"]}}, "Values.A"),
    ("unknown property", {"Vaules": {"A": "a"}}, "Vaules"),
    ("bad region", {"Region": "Frankfurt"}, "Region"),
    ("bad account in a list", {"Account": ["222222222222", "2"]}, "Account[1]"),
    ("bad account", {"Account": "12"}, "Account"),
    ("bad consumer", {"Consumer": "_web"}, "Consumer"),
    ("bad choice", {"OnChange": "allow"}, "OnChange"),
    ("unknown secure key", {"SecureKeys": ["X"]}, "SecureKeys"),
    ("secure keys no list", {"SecureKeys": "A"}, "SecureKeys"),
    ("revision no string", {"Revision": ["1"]}, "Revision"),
]
BAD_IMPORTS: list[tuple[str, dict[str, Any], str]] = [
    ("from missing", {"From": None, "Names": None}, "From"),
    ("from without stack", {"From": {"Region": EU}}, "From.Stack"),
    ("from with more", {"From": {"Stack": "x", "Stage": "y"}}, "From.Stage"),
    ("from bad region", {"From": {"Stack": "x", "Region": "EU"}}, "From.Region"),
    ("names no list", {"Names": "A"}, "Names"),
    ("name no string", {"Names": [["A"]]}, "Names[0]"),
    ("bad name", {"Names": ["A b"]}, "Names[0]"),
    ("shared no boolean", {"Shared": "yes"}, "Shared"),
    ("bad strength", {"Strength": "medium"}, "Strength"),
    ("bad consumer", {"Consumer": "a/b"}, "Consumer"),
    ("unknown property", {"Name": ["A"]}, "Name"),
]


def spoiled(resource: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    properties = {**resource["Properties"], **change}
    return {**resource, "Properties": {name: value for name, value in properties.items() if value is not None}}


def refusal(parse: Callable[[Any, StackArn], object], resource: dict[str, Any], stack_arn: str) -> str:
    """The text of the error that a resource's properties are refused with."""
    properties = {name: value for name, value in resource["Properties"].items() if name != "ServiceToken"}
    with pytest.raises(StrongRefError) as refused:
        parse(properties, StackArn.parse(stack_arn))
    return str(refused.value)


@pytest.mark.parametrize(("change", "name"), [case[1:] for case in BAD_EXPORTS], ids=[case[0] for case in BAD_EXPORTS])
def test_19_a_bad_property_of_an_export_is_named_and_nothing_written(
    world: World, change: dict[str, Any], name: str
) -> None:
    resource = spoiled(export({"A": SECRET}, consumer=world.consumer), change)
    done = world.aws.deploy(world.producer, stack({"Exports": resource}), EU, "ROLLBACK_COMPLETE")
    text = refusal(ExportRequest.parse, resource, done.arn)
    assert text.startswith(name)
    assert text in world.why()
    assert SECRET not in world.why()
    assert world.all_stored() == {}


@pytest.mark.parametrize(("change", "name"), [case[1:] for case in BAD_IMPORTS], ids=[case[0] for case in BAD_IMPORTS])
def test_19_a_bad_property_of_an_import_is_named_and_nothing_claimed(
    world: World, change: dict[str, Any], name: str
) -> None:
    resource = spoiled(importing(world.producer, "A")["Resources"]["Imports"], change)
    done = world.aws.deploy(world.consumer, stack({"Imports": resource}), US, "ROLLBACK_COMPLETE")
    text = refusal(ImportRequest.parse, resource, done.arn)
    assert text.startswith(name)
    assert text in world.why(world.consumer, US)


def test_20_the_same_event_twice_a_delete_of_what_never_was_and_a_malformed_event(claimed: World) -> None:
    arn = claimed.aws.stack_arn(claimed.consumer, US)
    event = {
        "RequestType": "Create",
        "StackId": arn,
        "RequestId": "r-1",
        "LogicalResourceId": "Imports",
        "ResourceType": "Custom::CrossRegionImport",
        "ResourceProperties": {"ServiceToken": "x", "From": {"Stack": claimed.producer, "Region": EU}, "Names": ["A"]},
    }
    twice = [claimed.aws.invoke("Importer", event, US).answers for _ in range(2)]
    assert twice[0] == twice[1]
    assert [answer["Status"] for answer in twice[0]] == ["SUCCESS"]
    assert twice[0][0]["PhysicalResourceId"] == claimed.aws.physical_ids(claimed.consumer, US)["Imports"]
    assert claimed.claims("A") == [claimed.consumer]

    producer = claimed.aws.stack_arn(claimed.producer, EU)
    before = claimed.all_stored()
    never = {
        **event,
        "RequestType": "Delete",
        "StackId": producer,
        "LogicalResourceId": "NeverWas",
        "PhysicalResourceId": "strongref-export/never",
        "ResourceProperties": {"Region": US, "Consumer": claimed.consumer, "Values": {"A": "a1"}},
    }
    gone = claimed.aws.invoke("Exporter", never, EU)
    assert [answer["Status"] for answer in gone.answers] == ["SUCCESS"]
    assert claimed.all_stored() == before

    malformed = {name: value for name, value in event.items() if name not in ("StackId", "RequestId")}
    nothing = claimed.aws.invoke("Importer", malformed, US)
    assert nothing.answers == []
    assert not nothing.failed


@pytest.mark.parametrize("fails", [False, True], ids=["accepted", "rolled back"])
@pytest.mark.parametrize("claim", [False, True], ids=["unclaimed", "claimed"])
def test_21_renaming_an_export_loses_nothing_and_leaves_nothing_over(world: World, *, claim: bool, fails: bool) -> None:
    world.publish({"A": "a1", "M": {"B": "b1"}}, "CREATE_COMPLETE")
    if claim:
        world.consume("A", "M.B", expect="CREATE_COMPLETE")
    resources = {"Renamed": export({"A": "a1", "M": {"B": "b1"}}, consumer=world.consumer)}
    if fails:
        resources["Later"] = failing_resource("Renamed")
    world.aws.deploy(world.producer, stack(resources), EU, "UPDATE_ROLLBACK_COMPLETE" if fails else "UPDATE_COMPLETE")
    assert world.values() == {"A": "a1", "M/B": "b1"}
    logical_id = "Exports" if fails else "Renamed"
    records = [name.rsplit("/", 1)[1] for name in world.all_stored() if name.startswith("/strongref/records/")]
    assert records == [logical_id]
    owners = [
        value for tag, value in world.aws.tags(US, world.name("A")).items() if tag.startswith("strongref:export:")
    ]
    assert owners == [logical_id]
    if claim:
        assert world.claims("M/B") == [world.consumer]
        world.aws.delete(world.consumer, US)
    world.aws.delete(world.producer, EU)
    assert world.all_stored() == {}


def test_22_exports_retained_by_a_deleted_stack_are_adopted_by_its_successor(world: World) -> None:
    template = exporting({"A": "a1", "B": "b1"}, consumer=world.consumer)
    template["Resources"]["Exports"]["DeletionPolicy"] = "Retain"
    world.aws.deploy(world.producer, template, EU, "CREATE_COMPLETE")
    world.consume("A", expect="CREATE_COMPLETE")
    world.aws.delete(world.producer, EU)
    assert world.values() == {"A": "a1", "B": "b1"}
    world.publish({"A": "a2", "C": "c1"}, "ROLLBACK_COMPLETE")  # what is claimed stays claimed
    assert "A cannot be changed" in world.why()
    world.aws.delete(world.producer, EU)
    arn = world.publish({"A": "a1", "C": "c1"}, "CREATE_COMPLETE").arn
    assert world.values() == {"A": "a1", "C": "c1"}
    assert world.aws.tags(US, world.name("A"))["strongref:producer"] == arn
    world.aws.delete(world.consumer, US)
    world.aws.delete(world.producer, EU)
    assert world.all_stored() == {}


def test_24_an_export_is_emptied_only_when_it_is_not_claimed(claimed: World) -> None:
    before = claimed.all_stored()
    claimed.publish({}, "UPDATE_ROLLBACK_COMPLETE")
    assert "A cannot be dropped" in claimed.why()
    assert claimed.all_stored() == before
    claimed.aws.deploy(claimed.consumer, EMPTY, US, "UPDATE_COMPLETE")
    claimed.publish({}, "UPDATE_COMPLETE")
    assert claimed.all_stored() == {}


def test_24_an_export_taken_out_while_claimed_leaves_the_value_until_its_last_claim_goes(claimed: World) -> None:
    claimed.aws.deploy(claimed.producer, EMPTY, EU, "UPDATE_COMPLETE")
    assert f"A stays: imported by {claimed.importers()}. The export is withdrawn" in claimed.why()
    assert claimed.values() == {"A": "a1"}
    claimed.aws.deploy(claimed.consumer, EMPTY, US, "UPDATE_COMPLETE")
    assert claimed.values() == {}
    (mark,) = claimed.all_stored().values()
    assert '"withdrawn":true' in mark  # until the janitor comes


def test_24_an_export_taken_out_unclaimed_is_gone(world: World) -> None:
    world.publish({"A": "a1"}, "CREATE_COMPLETE")
    world.aws.deploy(world.producer, EMPTY, EU, "UPDATE_COMPLETE")
    assert world.all_stored() == {}


def test_no_value_and_no_presigned_url_reaches_a_log_and_every_event_is_answered_once(world: World) -> None:
    secret = {"Plain": SECRET, "Password": f"{SECRET}-2", "List": [f"{SECRET}-3"]}
    world.publish(secret, "CREATE_COMPLETE", SecureKeys=["Password"])
    template = stack({"Imports": imported(world.producer, "Plain", "List", "Password")})
    world.aws.deploy(world.consumer, template, US, "CREATE_COMPLETE")
    world.publish({**secret, "Plain": f"{SECRET}-4"}, "UPDATE_ROLLBACK_COMPLETE", SecureKeys=["Password"])
    world.publish({"Bad": [f"{SECRET},5"]}, "UPDATE_ROLLBACK_COMPLETE")
    assert SECRET not in world.why()
    world.aws.delete(world.consumer, US)
    world.aws.delete(world.producer, EU)
    logged = world.aws.logs(EU) + world.aws.logs(US)
    assert f"/{world.producer}/" in logged
    assert SECRET not in logged
    assert "cfn-response" not in logged
    ours = world.aws.emulator.answers(f"/{world.producer}/")
    assert len(ours) >= 6
    assert [(each.count, each.violations) for each in ours] == [(1, [])] * len(ours)


def test_the_service_tokens_stand_in_parameters_too(aws: Aws) -> None:
    for region in (EU, US):
        tokens = aws.values(region, "/strongref/service-tokens/")
        exports = aws.client("cloudformation", region).list_exports()["Exports"]
        found = {export["Name"]: export["Value"] for export in exports if export["Name"].startswith("strongref-")}
        assert tokens == {
            "/strongref/service-tokens/exporter": found["strongref-exporter"],
            "/strongref/service-tokens/importer": found["strongref-importer"],
            "/strongref/service-tokens/lookup": found["strongref-lookup"],
        }
