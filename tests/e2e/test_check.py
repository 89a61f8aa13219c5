"""`strongref check` on real stacks: change sets, nested stacks, holds, and what is lost without them.

Every deployment here, as in all other scenarios, is predicted first and compared with its outcome (`agreement`).
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

import strongref_cli as cli
from strongref_cli.check.checking import StackCheck
from strongref_cli.check.reading import StackReader
from strongref_cli.check.report import ChangeKind, StackFinding, StackReport, Verdict
from strongref_toolkit.session import ToolSession
from tests.e2e.agreement import compare, compare_values
from tests.e2e.templates import EMPTY, EU, US, Template, export, held, stack, topic
from tests.e2e.world import World

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.e2e.harness import Aws

REFUSED = "UPDATE_ROLLBACK_COMPLETE"


@pytest.fixture
def world(aws: Aws, names: Callable[[str], str]) -> World:
    return World.of(aws, names)


def producing(world: World, *, name: str = "", value: object = None, **more: Any) -> Template:
    """A topic and its ARN, exported."""
    topic_name = f"{world.producer}{name}"
    values = {"Arn": value or {"Ref": "Topic"}}
    return {"Topic": topic(topic_name), "Exports": export(values, consumer=world.consumer, **more)}


def last(world: World) -> StackReport:
    """What was predicted for the last deployment."""
    assert world.aws.agreement
    return world.aws.agreement.reports[-1]


def ask(world: World, question: Callable[[StackCheck], StackReport], region: str = EU) -> StackReport:
    with patch.dict(os.environ, world.aws.emulator.env(world.aws.account, region)):
        return question(StackCheck(StackReader(ToolSession.start(), region)))


def change_set(world: World, template: Template, name: str = "next") -> StackReport:
    """What a new change set of the producer would do."""
    client = world.aws.client("cloudformation", EU)
    given = {"StackName": world.producer, "ChangeSetName": name}
    client.create_change_set(**given, TemplateBody=json.dumps(template))
    return ask(world, lambda check: check.change_set(world.producer, name))


@pytest.fixture
def imported(world: World) -> World:
    world.aws.deploy(world.producer, stack(producing(world)), EU, "CREATE_COMPLETE")
    world.consume("Arn", expect="CREATE_COMPLETE")
    return world


@pytest.mark.story
def test_a_replacement_is_refused_from_a_template_and_from_a_change_set(imported: World) -> None:
    replaced = stack(producing(imported, name="-new"))
    assert change_set(imported, replaced).verdict is Verdict.REFUSED
    imported.aws.client("cloudformation", EU).delete_change_set(StackName=imported.producer, ChangeSetName="next")
    imported.aws.deploy(imported.producer, replaced, EU, REFUSED)
    assert last(imported).verdict is Verdict.REFUSED
    assert "Arn cannot be changed: it is imported by" in imported.why()


def test_a_change_in_place_is_accepted_from_a_change_set(imported: World) -> None:
    template = stack(producing(imported))
    template["Resources"]["Topic"]["Properties"]["DisplayName"] = "another"
    report = change_set(imported, template)
    assert report.verdict is Verdict.ACCEPTED
    client = imported.aws.client("cloudformation", EU)
    client.execute_change_set(StackName=imported.producer, ChangeSetName="next")
    imported.aws.wait(imported.producer, EU, "UPDATE_COMPLETE")
    assert list(imported.values()) == ["Arn"]


def test_a_change_set_that_takes_a_resource_and_its_export_out_is_lost(imported: World) -> None:
    report = change_set(imported, EMPTY)
    assert report.verdict is Verdict.LOST
    assert "Topic is removed with it" in "".join(report.exports[0].reasons)


def test_what_is_predicted_as_lost_is_lost(imported: World) -> None:
    arn = imported.aws.physical_ids(imported.producer, EU)["Topic"]
    imported.aws.deploy(imported.producer, stack({"Other": topic()}), EU, "UPDATE_COMPLETE")
    assert last(imported).verdict is Verdict.LOST
    assert [each.kind for each in last(imported).exports[0].changes] == [ChangeKind.WITHDRAWN]
    assert arn not in topics(imported)
    assert list(imported.values()) == ["Arn"]


def topics(world: World) -> list[str]:
    pages = world.aws.client("sns", EU).get_paginator("list_topics").paginate()
    return [each["TopicArn"] for page in pages for each in page["Topics"]]


def test_a_value_that_stays_as_text_does_not_keep_its_resource(world: World) -> None:
    """Not even with a hold: the Export finds no change."""
    world.aws.deploy(world.producer, held(producing(world)), EU, "CREATE_COMPLETE")
    world.consume("Arn", expect="CREATE_COMPLETE")
    arn = world.aws.physical_ids(world.producer, EU)["Topic"]
    text = held({"Exports": producing(world, value=arn)["Exports"]})
    world.aws.deploy(world.producer, text, EU, "UPDATE_COMPLETE")
    assert last(world).verdict is Verdict.LOST
    assert last(world).exports[0].reasons == (
        "Arn stays the same, and Topic, which it comes from, is deleted while stacks use it.",
    )
    assert (arn in topics(world), list(world.values())) == (False, ["Arn"])


def test_a_retained_export_protects_nothing_once_it_has_left(world: World) -> None:
    template = producing(world)
    template["Exports"]["DeletionPolicy"] = "Retain"
    world.aws.deploy(world.producer, stack(template), EU, "CREATE_COMPLETE")
    world.consume("Arn", expect="CREATE_COMPLETE")
    arn = world.aws.physical_ids(world.producer, EU)["Topic"]
    world.aws.deploy(world.producer, stack({"Topic": template["Topic"]}), EU, "UPDATE_COMPLETE")
    assert last(world).verdict is Verdict.LOST
    assert list(world.values()) == ["Arn"]
    report = ask(world, lambda check: check.template(world.producer, EMPTY, {}))
    (note,) = report.findings
    assert note.text.startswith(f"Exports is no longer in the template, and stack {world.consumer} ({US}")
    assert ask(world, lambda check: check.deletion(world.producer)).verdict is Verdict.LOST
    world.aws.delete(world.producer, EU)
    assert (arn in topics(world), list(world.values())) == (False, ["Arn"])


def test_a_deletion_loses_what_the_export_does_not_refer_to(world: World) -> None:
    template = stack(producing(world) | {"Independent": topic(f"{world.producer}-i")})
    world.aws.deploy(world.producer, template, EU, "CREATE_COMPLETE")
    world.consume("Arn", expect="CREATE_COMPLETE")
    world.aws.delete(world.producer, EU, "DELETE_FAILED")
    assert [each.text.split(" before")[0] for each in last(world).findings] == [
        "CloudFormation deletes Independent and Nothing"
    ]
    assert "Independent" not in _left(world)
    assert "Topic" in _left(world)


def _left(world: World) -> list[str]:
    pages = (
        world.aws.client("cloudformation", EU).get_paginator("list_stack_resources").paginate(StackName=world.producer)
    )
    found = [each for page in pages for each in page["StackResourceSummaries"]]
    return [each["LogicalResourceId"] for each in found if each["ResourceStatus"] != "DELETE_COMPLETE"]


def test_with_a_hold_all_of_that_is_refused_and_nothing_is_lost(world: World) -> None:
    world.aws.deploy(world.producer, held(producing(world)), EU, "CREATE_COMPLETE")
    world.consume("Arn", expect="CREATE_COMPLETE")
    world.aws.deploy(world.producer, stack({"Other": topic()}), EU, REFUSED)
    assert last(world).verdict is Verdict.REFUSED
    world.aws.delete(world.producer, EU, expect=REFUSED)
    assert last(world).verdict is Verdict.REFUSED
    assert "Nothing is deleted." in last(world).findings[0].text
    assert [each.text for each in last(world).findings if "not protected" in each.text] == []


def test_what_a_stack_imports_with_cloudformations_own_function_is_refused_too(imported: World) -> None:
    """The prediction is compared with the outcome."""
    name, user = f"{imported.producer}-Plain", f"{imported.consumer}-plain"
    outputs = {"Plain": {"Value": {"Ref": "Topic"}, "Export": {"Name": name}}}
    with_output = stack(producing(imported)) | {"Outputs": outputs}
    imported.aws.deploy(imported.producer, with_output, EU, "UPDATE_COMPLETE")
    imported.aws.deploy(user, stack({"T": topic()}, {"Plain": {"Fn::ImportValue": name}}), EU, "CREATE_COMPLETE")
    imported.aws.deploy(imported.producer, stack(producing(imported)), EU, REFUSED)
    assert f"{name}: it is in use by stack {user}. Nothing is changed then." in last(imported).findings[0].text
    imported.aws.deploy(imported.consumer, EMPTY, US, "UPDATE_COMPLETE")
    imported.aws.delete(imported.producer, EU, "UPDATE_ROLLBACK_COMPLETE")
    assert last(imported).verdict is Verdict.REFUSED
    imported.aws.delete(user, EU)
    imported.aws.delete(imported.producer, EU)


def test_an_import_that_is_older_than_the_hold_is_reported(imported: World) -> None:
    imported.aws.deploy(imported.producer, held(producing(imported)), EU, "UPDATE_COMPLETE")
    report = ask(imported, lambda check: check.deletion(imported.producer))
    assert "is unheld" in "".join(each.text for each in report.findings)
    imported.consume("Arn", expect="UPDATE_COMPLETE", Revision="2")
    report = ask(imported, lambda check: check.deletion(imported.producer))
    assert "has no hold" not in "".join(each.text for each in report.findings)


def test_a_wrong_prediction_fails_its_scenario(world: World) -> None:
    world.publish({"A": "1"}, "CREATE_COMPLETE")
    compare(last(world), world.aws, world.producer, EU)
    wrong = replace(last(world), findings=(StackFinding(Verdict.REFUSED, "It is refused."),))
    with pytest.raises(AssertionError, match="was predicted as"):
        compare(wrong, world.aws, world.producer, EU)
    (export_of,) = last(world).exports
    gone = tuple(replace(each, kind=ChangeKind.DROPPED) for each in export_of.changes)
    with pytest.raises(AssertionError, match="was predicted"):
        compare_values(replace(last(world), exports=(replace(export_of, changes=gone),)), world.aws, {})


def test_the_roots_own_resources_are_not_protected_by_a_nested_stacks_exports(world: World) -> None:
    nested = stack(producing(world))
    nested["Resources"]["Exports"]["Properties"]["Consumer"] = world.consumer
    root = stack({"Below": world.aws.nested(f"{world.producer}-1", nested, EU), "Own": topic()})
    world.aws.deploy(world.producer, root, EU, "CREATE_COMPLETE")
    below = world.aws.physical_ids(world.producer, EU)["Below"].split("/")[1]
    inner = World(world.aws, below, world.consumer)
    inner.consume("Arn", expect="CREATE_COMPLETE")

    updated = ask(world, lambda check: check.template(world.producer, root, {}))
    assert updated.verdict is Verdict.UNKNOWN
    assert "Below with exports may change: create a change set" in "".join(each.text for each in updated.findings)
    deleted = ask(world, lambda check: check.deletion(world.producer))
    assert (deleted.verdict, deleted.nested[0].verdict) == (Verdict.REFUSED, Verdict.REFUSED)
    assert "its own resources may be deleted before a nested stack refuses" in deleted.findings[-1].text
    without = ask(world, lambda check: check.template(world.producer, stack({"Own": topic()}), {}))
    assert "Nested stack Below is removed in the cleanup" in "".join(each.text for each in without.findings)
    world.aws.deploy(world.consumer, EMPTY, US, "UPDATE_COMPLETE")
    world.aws.delete(world.producer, EU)


def test_the_command_shows_no_value_of_real_stacks(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "a-value-that-is-not-shown"
    world.publish({"A": secret, "B": secret}, "CREATE_COMPLETE", SecureKeys=["B"])
    world.consume("A", expect="CREATE_COMPLETE")
    file = tmp_path / "template.json"
    file.write_text(json.dumps(stack({"Exports": export({"A": f"{secret}-2"}, consumer=world.consumer)})))
    with patch.dict(os.environ, world.aws.emulator.env(world.aws.account, EU)):
        for output in ("table", "json", "markdown"):
            arguments = ["check", "--stack", world.producer, "--template", str(file), "--output", output]
            assert cli.main(arguments) == 1
    shown = capsys.readouterr().out
    assert secret not in shown
    assert shown.count("A cannot be changed: it is imported by") == 3
