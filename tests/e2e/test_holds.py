"""CloudFormation itself protects what is imported: a producer's deletion, and the cleanup of its updates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.hold_stacks import HOLDS, HoldStack
from strongref.contract.names import ExportScope, StackArn, claim_tag
from strongref.contract.requests import ImportRequest
from strongref.protocol.imports import physical_id
from tests.e2e.templates import (
    EMPTY,
    EU,
    US,
    Template,
    export,
    exporting,
    held,
    hold_output,
    imported,
    importing,
    stack,
    topic,
)
from tests.e2e.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

ROLLED_BACK = "UPDATE_ROLLBACK_COMPLETE"
_LIVING = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "ROLLBACK_COMPLETE", "DELETE_FAILED", "CREATE_IN_PROGRESS")


@pytest.fixture
def world(aws: Aws, names: Callable[[str], str]) -> World:
    return World.of(aws, names)


def hold_stacks(world: World, region: str = EU, consumer: str | None = None) -> list[str]:
    """The names of the hold stacks for a consumer."""
    pages = world.aws.client("cloudformation", region).get_paginator("list_stacks").paginate()
    found = [each for page in pages for each in page["StackSummaries"] if each["StackStatus"] != "DELETE_COMPLETE"]
    start = f"strongref-hold-{world.aws.account}-{(consumer or world.consumer)[:80]}-"
    return sorted(each["StackName"] for each in found if each["StackName"].startswith(start))


def holds(world: World, region: str = EU) -> list[str]:
    """The names of the CloudFormation exports that the consumer holds."""
    names = world.aws.parameters(region, HOLDS)
    return sorted(name.split("/")[3] for name in names if name.split("/")[6] == world.consumer)


def producing(world: World, **more: Any) -> Template:
    """A topic, an Export of its ARN, and something that neither depends on."""
    exports = export({"Arn": {"Ref": "Topic"}}, consumer=world.consumer, **more)
    return {"Topic": topic(), "Exports": exports, "Independent": topic()}


@pytest.fixture
def protected(world: World) -> World:
    """A topic of the producer is imported, and its Export has a hold."""
    world.aws.deploy(world.producer, held(producing(world)), EU, "CREATE_COMPLETE")
    world.consume("Arn", expect="CREATE_COMPLETE")
    return world


def resources(world: World) -> dict[str, str]:
    return world.aws.physical_ids(world.producer, EU)


def topics(world: World) -> list[str]:
    pages = world.aws.client("sns", EU).get_paginator("list_topics").paginate()
    return [each["TopicArn"] for page in pages for each in page["Topics"]]


@pytest.mark.story
def test_a_deletion_of_the_producer_is_refused_before_anything_is_deleted(protected: World) -> None:
    before = resources(protected)
    protected.aws.delete(protected.producer, EU, expect="CREATE_COMPLETE")
    assert f"Delete canceled. Cannot delete export {protected.producer}-Exports" in protected.why()
    assert f"in use by strongref-hold-{protected.aws.account}-{protected.consumer}-" in protected.why()
    assert resources(protected) == before
    assert {before["Topic"], before["Independent"]} <= {*topics(protected)}
    assert (holds(protected), protected.claims("Arn")) == ([f"{protected.producer}-Exports"], [protected.consumer])


@pytest.mark.story
@pytest.mark.parametrize("left", [{}, {"Topic": topic()}], ids=["with its resource", "alone"])
def test_an_update_that_removes_the_export_fails_before_its_cleanup(protected: World, left: Template) -> None:
    before = resources(protected)
    protected.aws.deploy(protected.producer, stack({"Other": topic(), **left}), EU, ROLLED_BACK)
    assert f"Cannot delete export {protected.producer}-Exports as it is in use by strongref-hold-" in protected.why()
    assert resources(protected) == before
    assert {before["Topic"], before["Independent"]} <= {*topics(protected)}
    assert list(protected.values()) == ["Arn"]


def test_an_update_whose_condition_turns_false_fails_before_its_cleanup(world: World) -> None:
    template = held(producing(world))
    template["Parameters"] = {"On": {"Type": "String", "Default": "yes"}}
    template["Conditions"] = {"IsOn": {"Fn::Equals": [{"Ref": "On"}, "yes"]}}
    for each in ("Topic", "Exports"):
        template["Resources"][each]["Condition"] = "IsOn"
    template["Outputs"]["ExportsHold"]["Condition"] = "IsOn"
    world.aws.deploy(world.producer, template, EU, "CREATE_COMPLETE")
    world.consume("Arn", expect="CREATE_COMPLETE")
    before = resources(world)
    template["Parameters"]["On"]["Default"] = "no"
    world.aws.deploy(world.producer, template, EU, ROLLED_BACK)
    assert resources(world) == before


@pytest.mark.parametrize("how", ["deleted", "emptied"])
def test_when_the_imports_are_gone_both_go_through(protected: World, how: str) -> None:
    if how == "deleted":
        protected.aws.delete(protected.consumer, US)
    else:
        protected.aws.deploy(protected.consumer, EMPTY, US, "UPDATE_COMPLETE")
    assert (hold_stacks(protected), holds(protected)) == ([], [])
    before = resources(protected)
    protected.aws.deploy(protected.producer, stack({"Other": topic()}), EU, "UPDATE_COMPLETE")
    assert before["Topic"] not in topics(protected)
    protected.aws.delete(protected.producer, EU)
    assert protected.all_stored() == {}


def test_without_hold_the_same_deletes_resources_under_the_consumer(world: World) -> None:
    """What a hold is for."""
    world.aws.deploy(world.producer, stack(producing(world)), EU, "CREATE_COMPLETE")
    world.consume("Arn", expect="CREATE_COMPLETE")
    before = resources(world)
    world.aws.deploy(world.producer, stack({"Other": topic()}), EU, "UPDATE_COMPLETE")
    assert before["Topic"] not in topics(world)
    assert hold_stacks(world) == []


def test_the_hold_stack_says_whose_it_is(protected: World) -> None:
    (name,) = hold_stacks(protected)
    (found,) = protected.aws.client("cloudformation", EU).describe_stacks(StackName=name)["Stacks"]
    tags = {each["Key"]: each["Value"] for each in found["Tags"]}
    assert protected.consumer in found["Description"]
    assert tags["strongref:consumer"] == protected.aws.stack_arn(protected.consumer, US)
    assert (tags["strongref:region"], tags["strongref:account"]) == (US, protected.aws.account)


def test_a_hold_whose_import_someone_took_out_imports_again_with_the_next_event(protected: World) -> None:
    client, export = protected.aws.client("cloudformation", EU), f"{protected.producer}-Exports"
    (name,) = hold_stacks(protected)
    template = client.get_template(StackName=name)["TemplateBody"]
    text = (template if isinstance(template, str) else json.dumps(template)).replace("Fn::ImportValue", "Fn::Sub")
    client.update_stack(StackName=name, TemplateBody=text)
    protected.aws.wait(name, EU, "UPDATE_COMPLETE")
    with pytest.raises(client.exceptions.ClientError, match="not imported"):
        client.list_imports(ExportName=export)
    protected.consume("Arn", Revision="2", expect="UPDATE_COMPLETE")
    assert client.list_imports(ExportName=export)["Imports"] == [name]


def test_a_new_generation_and_a_rollback_hold_all_the_time(protected: World) -> None:
    values = {"Arn": {"Ref": "Topic"}, "More": "x"}
    protected.aws.deploy(
        protected.producer, held(producing(protected) | {"Exports": export(values, consumer=protected.consumer)}), EU
    )
    (first,) = hold_stacks(protected)
    failing = importing(protected.producer, "Arn", "More")
    failing["Resources"]["Late"] = {
        "Type": "AWS::SSM::Parameter",
        "DependsOn": "Imports",
        "Properties": {"Type": "String", "Name": "aws-is-reserved", "Value": "x"},
    }
    protected.aws.deploy(protected.consumer, failing, US, ROLLED_BACK)
    assert hold_stacks(protected) == [first]
    protected.consume("Arn", "More", expect="UPDATE_COMPLETE")
    (second,) = hold_stacks(protected)
    assert second != first


def test_a_forgotten_output_is_refused_in_its_own_words(world: World) -> None:
    world.aws.deploy(world.producer, exporting({"A": "a"}, consumer=world.consumer, Hold=f"{world.producer}-X"), EU)
    world.consume("A", expect="ROLLBACK_COMPLETE")
    assert f"has Hold: {world.producer}-X, but no output of that stack exports this name" in world.why(
        world.consumer, US
    )
    assert (world.claims("A"), hold_stacks(world)) == ([], [])


def test_a_hold_that_fails_is_a_refusal_and_does_not_stay(world: World) -> None:
    """Its parameter exists already, of somebody else's."""
    world.aws.deploy(world.producer, held(producing(world)), EU, "CREATE_COMPLETE")
    world.aws.deploy(world.consumer, EMPTY, US, "CREATE_COMPLETE")
    consumer = StackArn.parse(world.aws.stack_arn(world.consumer, US))
    template = importing(world.producer, "Arn")
    request = ImportRequest.parse(template["Resources"]["Imports"]["Properties"], consumer)
    claim = claim_tag(physical_id(consumer, "Imports", request))
    assert request.producer
    stack = HoldStack.of_import(consumer, claim, ExportScope(world.consumer, request.producer))
    taken = stack.parameter(f"{world.producer}-Exports")
    ssm = world.aws.client("ssm", EU)
    ssm.put_parameter(Name=taken, Type="String", Value="x")
    world.aws.deploy(world.consumer, template, US, ROLLED_BACK)
    assert f"stack {stack.name}, which protects what is imported, could not be made" in world.why(world.consumer, US)
    assert (world.claims("Arn"), hold_stacks(world)) == ([], [])
    ssm.delete_parameter(Name=taken)
    world.aws.deploy(world.consumer, template, US, "UPDATE_COMPLETE")
    assert hold_stacks(world) == [stack.name]


def test_the_property_goes_first_and_then_the_output(protected: World) -> None:
    plain = stack(producing(protected))
    protected.aws.deploy(protected.producer, plain, EU, ROLLED_BACK)
    assert "Cannot delete export" in protected.why()
    with_output = plain | {"Outputs": {"ExportsHold": hold_output()}}
    protected.aws.deploy(protected.producer, with_output, EU, "UPDATE_COMPLETE")
    protected.aws.deploy(protected.consumer, EMPTY, US, "UPDATE_COMPLETE")
    protected.aws.deploy(protected.producer, plain, EU, "UPDATE_COMPLETE")


def test_an_export_is_renamed_while_it_is_held(protected: World) -> None:
    template = producing(protected)
    renamed = template.pop("Exports")
    renamed["Properties"]["Hold"] = {"Fn::Sub": "${AWS::StackName}-Exports"}
    outputs = {"ExportsHold": hold_output("Renamed", name=f"{protected.producer}-Exports")}
    protected.aws.deploy(
        protected.producer, stack(template | {"Renamed": renamed}) | {"Outputs": outputs}, EU, "UPDATE_COMPLETE"
    )
    assert (holds(protected), protected.claims("Arn")) == ([f"{protected.producer}-Exports"], [protected.consumer])


def test_a_consumer_whose_name_is_as_long_as_can_be_holds_in_two_regions(world: World) -> None:
    consumer = world.consumer + "x" * (128 - len(world.consumer))
    long = World(world.aws, world.producer, consumer)
    for region, other in ((EU, US), (US, EU)):
        values = export({"A": region}, consumer=consumer, region=other)
        world.aws.deploy(world.producer, held({"Exports": values}), region, "CREATE_COMPLETE")
    for region, other in ((EU, US), (US, EU)):
        world.aws.deploy(consumer, importing(world.producer, "A", region=other), region, "CREATE_COMPLETE")
    assert [len(hold_stacks(long, region)) for region in (EU, US)] == [1, 1]
    assert max(len(name) for name in hold_stacks(long)) == 125
    for region in (EU, US):
        world.aws.delete(consumer, region)
    assert [hold_stacks(long, region) for region in (EU, US)] == [[], []]


def test_a_producer_imports_from_its_own_consumer(world: World) -> None:
    """Each holds the other. The way out is to remove one import first."""
    first, second = world.producer, world.consumer
    values = export({"A": "a"}, consumer=second)
    back = export({"B": "b"}, consumer=first, region=EU)
    world.aws.deploy(first, held({"Exports": values}), EU, "CREATE_COMPLETE")
    world.aws.deploy(second, held({"Exports": back}, more={"Imports": imported(first, "A")}), US, "CREATE_COMPLETE")
    both = held({"Exports": values}, more={"Imports": imported(second, "B", region=US)})
    world.aws.deploy(first, both, EU, "UPDATE_COMPLETE")
    for name, region in ((first, EU), (second, US)):
        world.aws.delete(name, region, expect="UPDATE_COMPLETE" if name == first else "CREATE_COMPLETE")
    world.aws.deploy(first, held({"Exports": values}), EU, "UPDATE_COMPLETE")
    world.aws.delete(second, US)
    world.aws.delete(first, EU)


def test_a_stack_does_not_hold_itself_and_another_one_in_its_region_does(world: World) -> None:
    name, other = world.producer, world.consumer
    own = export({"A": "a"}, consumer=name, region=EU)
    given = held({"Exports": own, "Shared": export({"B": "b"}, region=EU)}, "Exports", "Shared")
    given["Resources"]["Imports"] = imported(name, "A") | {"DependsOn": "Exports"}
    world.aws.deploy(name, given, EU, "CREATE_COMPLETE")
    assert (hold_stacks(world, consumer=name), world.claims("A", consumer=name, region=EU)) == ([], [name])
    world.aws.deploy(other, importing(name, "B", Shared="true"), EU, "CREATE_COMPLETE")
    assert holds(world) == [f"{name}-Shared"]
    world.aws.delete(name, EU, expect="CREATE_COMPLETE")
    world.aws.delete(other, EU)
    world.aws.delete(name, EU)


def test_a_nested_producer_is_protected_and_its_root_is_not(world: World) -> None:
    aws, root = world.aws, world.producer
    own = {"Own": topic()}
    full = stack(own | {"Below": aws.nested(f"{root}-full", held(producing(world)), EU)})
    aws.deploy(root, full, EU, "CREATE_COMPLETE")
    below = aws.physical_ids(root, EU)["Below"].split("/")[1]
    nested = World(aws, below, world.consumer)
    nested.consume("Arn", expect="CREATE_COMPLETE")
    assert (holds(nested), before := resources(nested)) == ([f"{below}-Exports"], before)

    empty = stack(own | {"Below": aws.nested(f"{root}-empty", stack({"Independent": topic()}), EU)})
    aws.deploy(root, empty, EU, ROLLED_BACK)
    assert "in use by strongref-hold" in nested.why()
    assert resources(nested) == before

    aws.delete(root, EU, expect="DELETE_FAILED")
    assert resources(nested) == before
    assert "Own" not in resources(world)

    aws.delete(world.consumer, US)
    aws.delete(root, EU)
    assert nested.all_stored() == {}


def test_a_nested_producer_that_leaves_its_root_stays_while_it_is_held(world: World) -> None:
    aws, root = world.aws, world.producer
    own = {"Own": topic()}
    aws.deploy(root, stack(own | {"Below": aws.nested(root, held(producing(world)), EU)}), EU, "CREATE_COMPLETE")
    below = aws.physical_ids(root, EU)["Below"].split("/")[1]
    nested = World(aws, below, world.consumer)
    nested.consume("Arn", expect="CREATE_COMPLETE")
    before = resources(nested)
    aws.deploy(root, stack(own), EU, "UPDATE_COMPLETE")
    assert resources(nested) == before
    aws.delete(world.consumer, US)
    aws.delete(below, EU)


def test_forty_stacks_import_one_shared_export(world: World) -> None:
    world.aws.deploy(world.producer, held({"Exports": export({"A": "a"})}), EU, "CREATE_COMPLETE")
    consumers = [f"{world.consumer}-{number}" for number in range(40)]
    template = importing(world.producer, "A", Shared="true")
    for name in consumers:
        world.aws.begin(name, template, US)
    for name in consumers:
        world.aws.wait(name, US, "CREATE_COMPLETE")
    assert len(hold_stacks(world)) == len(world.claims("A", consumer="_shared")) == 40
    world.aws.delete(world.producer, EU, expect="CREATE_COMPLETE")
    for name in consumers:
        world.aws.client("cloudformation", US).delete_stack(StackName=name)
    for name in consumers:
        world.aws.wait(name, US, "DELETE_COMPLETE")
    assert hold_stacks(world) == []
    world.aws.delete(world.producer, EU)


def test_an_import_without_from_holds_and_releases_all_its_producers(world: World, names: Callable[[str], str]) -> None:
    database, queue = names("database"), names("queue")
    keys = {world.producer: ("A", EU), database: ("B", EU), queue: ("C", US)}
    for name, (key, region) in keys.items():
        template = held({"Exports": export({key: key.lower()}, consumer=world.consumer)})
        world.aws.deploy(name, template, region, "CREATE_COMPLETE")
    anywhere = importing("", "A", "B", "C")
    del anywhere["Resources"]["Imports"]["Properties"]["From"]
    done = world.aws.deploy(world.consumer, anywhere, US, "CREATE_COMPLETE")
    assert done.outputs == {"A": "a", "B": "b", "C": "c"}
    assert (holds(world), holds(world, US)) == (
        sorted(f"{each}-Exports" for each in (world.producer, database)),
        [f"{queue}-Exports"],
    )
    assert (len(hold_stacks(world)), len(hold_stacks(world, US))) == (1, 1)
    for name, (key, region) in keys.items():
        changed = held({"Exports": export({key: "x"}, consumer=world.consumer)})
        world.aws.deploy(name, changed, region, ROLLED_BACK)
        assert f"{key} cannot be changed: it is imported by {world.importers()}" in world.why(name, region)
        world.aws.delete(name, region, expect=ROLLED_BACK)
    second = held({"Exports": export({"A": "other"}, consumer=world.consumer)})
    world.aws.deploy(names("edge"), second, EU, "CREATE_COMPLETE")
    fewer = importing("", "A", "C")
    del fewer["Resources"]["Imports"]["Properties"]["From"]
    world.aws.deploy(world.consumer, fewer, US, ROLLED_BACK)
    assert "A is exported to" in world.why(world.consumer, US)
    assert world.claims("A") == [world.consumer]
    world.aws.delete(world.consumer, US)
    assert (hold_stacks(world), hold_stacks(world, US), world.values()) == ([], [], {})
    for name, (_, region) in keys.items():
        world.aws.delete(name, region)
