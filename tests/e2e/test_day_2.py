"""Values are replaced, renamed, moved and deleted as the pages of day 2 say, with the pages' own templates.

In every step that can be carried out, the consumers have their value.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.page_steps import page_step
from tests.e2e.templates import EMPTY, EU, US, export, held, hold_output, imported, importing, stack, topic
from tests.e2e.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws
    from tests.e2e.templates import Template

ROLLED_BACK = "UPDATE_ROLLBACK_COMPLETE"


@pytest.fixture
def world(aws: Aws, names: Callable[[str], str]) -> World:
    return World.of(aws, names)


def produce(world: World, resources: Template, expect: str, **outputs: Any) -> None:
    """Deploy the producer with these resources and the topics that its Exports refer to."""
    topics = {name: topic() for name in ("Certificate", "Certificate2") if f"'{name}'" in str(resources)}
    template = stack({**topics, **copy.deepcopy(resources)})
    world.aws.deploy(world.producer, template | ({"Outputs": outputs} if outputs else {}), EU, expect)


def with_values(step: Template, **values: str) -> Template:
    """A step with other values: keys, and the topics that they refer to."""
    changed = copy.deepcopy(step)
    changed["Exports"]["Properties"]["Values"] = {key: {"Ref": name} for key, name in values.items()}
    return changed


def topic_arn(world: World, logical_id: str = "Certificate") -> str:
    arn: str = world.aws.physical_ids(world.producer, EU)[logical_id]
    return arn


def imported_value(world: World, key: str, consumer: str | None = None, region: str = US) -> str:
    return world.aws.outputs(consumer or world.consumer, region)[key]


# replace.md


def test_a_value_is_replaced_with_two_names(world: World) -> None:
    both = page_step(world, "replace.md", "second name")
    before, after = with_values(both, CertArn="Certificate"), with_values(both, CertArn2="Certificate2")
    produce(world, before, "CREATE_COMPLETE")
    old = topic_arn(world)
    world.consume("CertArn", expect="CREATE_COMPLETE")
    produce(world, with_values(both, CertArn="Certificate2"), ROLLED_BACK)
    produce(world, after, ROLLED_BACK)  # too early
    assert f"imported by {world.importers()}" in world.why()

    produce(world, both, "UPDATE_COMPLETE")
    new = topic_arn(world, "Certificate2")
    assert world.values() == {"CertArn": old, "CertArn2": new}
    assert (world.claims("CertArn"), topic_arn(world)) == ([world.consumer], old)
    world.consume("CertArn2", expect="UPDATE_COMPLETE")
    assert imported_value(world, "CertArn2") == new
    assert (world.claims("CertArn"), world.claims("CertArn2")) == ([], [world.consumer])
    produce(world, after, "UPDATE_COMPLETE")
    assert world.values() == {"CertArn2": new}


def test_a_value_is_propagated(world: World) -> None:
    before = with_values(page_step(world, "replace.md", "second name"), CertArn="Certificate")
    produce(world, before, "CREATE_COMPLETE")
    world.consume("CertArn", expect="CREATE_COMPLETE")
    changed = with_values(before, CertArn="Certificate2")
    propagating = copy.deepcopy(changed)
    propagating["Exports"]["Properties"]["OnChange"] = "propagate"
    produce(world, propagating, "UPDATE_COMPLETE")
    world.consume("CertArn", expect="UPDATE_COMPLETE", Revision="2")
    assert imported_value(world, "CertArn") == topic_arn(world, "Certificate2")
    produce(world, changed, "UPDATE_COMPLETE")
    produce(world, before, ROLLED_BACK)


# rename.md


def test_a_key_is_renamed(world: World) -> None:
    both = page_step(world, "rename.md", "both keys")
    produce(world, with_values(both, CertArn="Certificate"), "CREATE_COMPLETE")
    world.consume("CertArn", expect="CREATE_COMPLETE")
    renamed = with_values(both, CertificateArn="Certificate")
    produce(world, renamed, ROLLED_BACK)  # too early
    produce(world, both, "UPDATE_COMPLETE")
    world.consume("CertificateArn", expect="UPDATE_COMPLETE")
    produce(world, renamed, "UPDATE_COMPLETE")
    assert (
        world.values()
        == {"CertificateArn": topic_arn(world)}
        == {"CertificateArn": imported_value(world, "CertificateArn")}
    )
    assert world.claims("CertificateArn") == [world.consumer]


@pytest.mark.parametrize("holds", [False, True], ids=["without a hold", "with a hold"])
def test_an_export_gets_another_logical_id(world: World, *, holds: bool) -> None:
    before = with_values(page_step(world, "rename.md", "both keys"), CertArn="Certificate")
    if holds:
        before["Exports"]["Properties"]["Hold"] = {"Fn::Sub": "${AWS::StackName}-Exports"}
    name = f"{world.producer}-Exports"
    produce(world, before, "CREATE_COMPLETE", **({"Hold": hold_output("Exports", name)} if holds else {}))
    world.consume("CertArn", expect="CREATE_COMPLETE")
    outputs = {"Hold": hold_output("NewName", name)} if holds else {}
    produce(world, {"NewName": before["Exports"]}, "UPDATE_COMPLETE", **outputs)
    assert world.values() == {"CertArn": topic_arn(world)}
    assert world.claims("CertArn") == [world.consumer]
    produce(world, {"NewName": with_values(before)["Exports"]}, ROLLED_BACK, **outputs)


@pytest.mark.parametrize("holds", [False, True], ids=["without a hold", "with a hold"])
def test_an_import_gets_another_logical_id(world: World, *, holds: bool) -> None:
    resources = with_values(page_step(world, "rename.md", "both keys"), CertArn="Certificate")
    template = stack({**resources, "Certificate": topic()})
    world.aws.deploy(world.producer, held(template["Resources"]) if holds else template, EU, "CREATE_COMPLETE")
    world.consume("CertArn", expect="CREATE_COMPLETE")
    renamed = stack(
        {"NewName": imported(world.producer, "CertArn")}, {"CertArn": {"Fn::GetAtt": ["NewName", "CertArn"]}}
    )
    world.aws.begin(world.consumer, renamed, US)
    claims = [world.claims("CertArn")]
    while (world.aws.status(world.consumer, US) or "").endswith("_IN_PROGRESS"):
        claims.append(world.claims("CertArn"))
    world.aws.wait(world.consumer, US, "UPDATE_COMPLETE")
    assert all(claims)
    assert world.claims("CertArn") == [world.consumer]
    assert imported_value(world, "CertArn") == topic_arn(world)


# move.md


def test_an_export_moves_to_another_region(world: World) -> None:
    both = page_step(world, "move.md", "both regions")
    first, second = copy.deepcopy(both), copy.deepcopy(both)
    first["Exports"]["Properties"]["Region"] = US
    second["Exports"]["Properties"]["Region"] = EU
    produce(world, first, "CREATE_COMPLETE")
    world.consume("CertArn", expect="CREATE_COMPLETE")
    produce(world, second, ROLLED_BACK)  # too early
    produce(world, both, "UPDATE_COMPLETE")
    world.aws.deploy(world.consumer, importing(world.producer, "CertArn"), EU, "CREATE_COMPLETE")
    world.aws.delete(world.consumer, US)
    produce(world, second, "UPDATE_COMPLETE")
    assert imported_value(world, "CertArn", region=EU) == topic_arn(world)
    assert (world.values(region=EU), world.all_stored(US)) == ({"CertArn": topic_arn(world)}, {})
    assert world.claims("CertArn", region=EU) == [world.consumer]


@pytest.mark.parametrize("shared", [False, True], ids=["to another one", "to all"])
def test_an_export_moves_to_another_consumer(world: World, *, shared: bool, names: Callable[[str], str]) -> None:
    other = None if shared else names("shop")
    values = {"CertArn": {"Ref": "Certificate"}}
    exports = {"Exports": export(values, consumer=world.consumer), "Others": export(values, consumer=other)}
    world.aws.deploy(
        world.producer, held({"Certificate": topic(), "Exports": exports["Exports"]}), EU, "CREATE_COMPLETE"
    )
    world.consume("CertArn", expect="CREATE_COMPLETE")
    moved = held({"Certificate": topic(), "Others": exports["Others"]}, "Others")
    world.aws.deploy(world.producer, copy.deepcopy(moved), EU, ROLLED_BACK)  # too early: held
    world.aws.deploy(
        world.producer, held({"Certificate": topic(), **exports}, "Exports", "Others"), EU, "UPDATE_COMPLETE"
    )
    if shared:
        world.consume("CertArn", expect="UPDATE_COMPLETE", Shared=True)
    else:
        world.aws.deploy(str(other), importing(world.producer, "CertArn"), US, "CREATE_COMPLETE")
        world.aws.delete(world.consumer, US)
    world.aws.deploy(world.producer, copy.deepcopy(moved), EU, "UPDATE_COMPLETE")
    assert world.values() == {}
    assert world.values(consumer=other or "_shared")
    importer = other or world.consumer
    assert world.claims("CertArn", consumer=other or "_shared") == [importer]
    assert imported_value(world, "CertArn", importer) == topic_arn(world)


def test_an_export_moves_to_another_stack(world: World, names: Callable[[str], str]) -> None:
    values = {"CertArn": {"Ref": "Certificate"}}
    before = held({"Certificate": topic(), "Exports": export(values, consumer=world.consumer)})
    world.aws.deploy(world.producer, before, EU, "CREATE_COMPLETE")
    world.consume("CertArn", expect="CREATE_COMPLETE")
    new, arn = names("new"), topic_arn(world)
    after = held({"Exports": export(values, consumer=world.consumer)})
    parameters = {"Parameters": {"Certificate": {"Type": "String"}}}
    given = [{"ParameterKey": "Certificate", "ParameterValue": arn}]
    world.aws.deploy(new, after | parameters, EU, "CREATE_COMPLETE", Parameters=given)
    world.aws.deploy(world.producer, stack({"Certificate": topic()}), EU, ROLLED_BACK)  # too early
    world.aws.deploy(world.consumer, importing(new, "CertArn"), US, "UPDATE_COMPLETE")
    assert imported_value(world, "CertArn") == arn
    world.aws.deploy(world.producer, stack({"Certificate": topic()}), EU, "UPDATE_COMPLETE")
    assert topic_arn(world) == arn
    assert world.aws.values(US, f"/strongref/exports/{world.consumer}/").keys() == {world.name("CertArn", producer=new)}


def test_a_value_moves_to_another_export_of_its_stack(world: World) -> None:
    def exports(first: str, second: str) -> Template:
        values = [{key: {"Ref": "Certificate"} for key in keys.split()} for keys in (first, second)]
        made = [export(each, consumer=world.consumer) for each in values]
        return {"Exports": made[0], "Others": made[1]}

    produce(world, exports("CertArn Left", "Right"), "CREATE_COMPLETE")
    world.consume("CertArn", expect="CREATE_COMPLETE")
    produce(world, exports("CertArn Left", "CertArn Right"), "UPDATE_COMPLETE")
    produce(world, exports("Left", "CertArn Right"), "UPDATE_COMPLETE")
    assert world.claims("CertArn") == [world.consumer]
    produce(world, exports("Left", "Right"), ROLLED_BACK)


# delete.md


@pytest.mark.parametrize("holds", [False, True], ids=["without a hold", "with a hold"])
def test_an_export_is_removed_from_its_template(world: World, *, holds: bool) -> None:
    def template(values: Template) -> Template:
        resources = {"Certificate": topic(), "Exports": export(values, consumer=world.consumer)}
        return held(resources) if holds else stack(resources)

    without = stack({"Certificate": topic()})
    world.aws.deploy(world.producer, template({"CertArn": {"Ref": "Certificate"}}), EU, "CREATE_COMPLETE")
    world.consume("CertArn", expect="CREATE_COMPLETE")
    world.aws.deploy(world.producer, template({}), EU, ROLLED_BACK)  # too early
    world.aws.deploy(world.consumer, EMPTY, US, "UPDATE_COMPLETE")
    world.aws.deploy(world.producer, template({}), EU, "UPDATE_COMPLETE")
    world.aws.deploy(world.producer, without, EU, "UPDATE_COMPLETE")
    assert world.all_stored() == {}


def test_a_consumer_is_deleted_and_created_again(world: World) -> None:
    world.publish({"CertArn": "arn", "Other": "x"}, "CREATE_COMPLETE")
    world.consume("CertArn", expect="CREATE_COMPLETE")
    world.aws.delete(world.consumer, US)
    assert world.values() == {}
    world.consume("CertArn", expect="CREATE_COMPLETE")
    assert imported_value(world, "CertArn") == "arn"
