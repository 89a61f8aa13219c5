"""A secret that is imported is rotated as its page says, step by step, with the page's own templates."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.e2e.page_steps import page_step
from tests.e2e.templates import EU, US, Template
from tests.e2e.test_command_line import Shell
from tests.e2e.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.harness import Aws

OLD, NEW = "correct-horse", "battery-staple"
NO_ECHO = {"Type": "String", "NoEcho": True, "Default": ""}


@pytest.fixture
def world(aws: Aws, names: Callable[[str], str]) -> World:
    return World.of(aws, names)


def step(world: World, name: str) -> Template:
    """The template of a step, with its parameters."""
    resources = page_step(world, "rotate-a-secret.md", name)
    return {"Parameters": {"DbPassword": NO_ECHO, "DbPassword2": NO_ECHO}, "Resources": resources}


def produce(world: World, template: Template, expect: str | None = None, **secrets: str) -> None:
    parameters = [{"ParameterKey": name, "ParameterValue": value} for name, value in secrets.items()]
    world.aws.deploy(world.producer, template, EU, expect, Parameters=parameters)


def consume(world: World, template: Template, expect: str) -> None:
    world.aws.deploy(world.consumer, template, US, expect)


def renamed(template: Template, before: str, after: str) -> Template:
    """A template before or after a step, which differs from it in names only."""
    changed: Template = json.loads(json.dumps(template).replace(before, after))
    return changed


def without(template: Template, *properties: str) -> Template:
    changed: Template = json.loads(json.dumps(template))
    for name in properties:
        del changed["Resources"]["Exports"]["Properties"][name]
    return changed


def outdated(world: World) -> list[str]:
    """The keys that the consumer has not read since they changed, as the page's last command lists them."""
    shell = Shell({**os.environ, **world.aws.emulator.env(world.aws.account, EU)})
    listed = shell.ask("list", "--state", "outdated", "--region", US, "--stack", world.producer)
    return [each["key"] for each in listed["exports"]]


def test_with_two_names(world: World) -> None:
    both, moved, last = (step(world, name) for name in ("second name", "change of names", "first name removed"))
    produce(world, renamed(last, "DbPassword2", "DbPassword"), "CREATE_COMPLETE", DbPassword=OLD)
    consume(world, renamed(moved, "DbPassword2", "DbPassword"), "CREATE_COMPLETE")
    produce(world, last, "UPDATE_ROLLBACK_COMPLETE", DbPassword=OLD, DbPassword2=NEW)  # too early
    assert f"imported by {world.importers()}" in world.why()

    produce(world, both, "UPDATE_COMPLETE", DbPassword=OLD, DbPassword2=NEW)
    assert (world.values(), world.claims("DbPassword")) == ({"DbPassword": OLD, "DbPassword2": NEW}, [world.consumer])
    consume(world, moved, "UPDATE_COMPLETE")
    assert (world.claims("DbPassword"), world.claims("DbPassword2")) == ([], [world.consumer])
    produce(world, last, "UPDATE_COMPLETE", DbPassword2=NEW)
    assert world.values() == {"DbPassword2": NEW}
    (stored,) = world.aws.parameters(US, world.name("DbPassword2").rpartition("/")[0]).values()
    assert stored["Type"] == "SecureString"
    assert NEW not in world.aws.logs(US) + world.aws.logs(EU)
    world.aws.delete(world.consumer, US)
    world.aws.delete(world.producer, EU)


def test_in_place(world: World) -> None:
    propagated, again = step(world, "propagated"), step(world, "another version")
    as_usual = without(propagated, "OnChange")
    produce(world, as_usual, "CREATE_COMPLETE", DbPassword=OLD)
    first = renamed(renamed(again, "DbPassword:2", "DbPassword:1"), '"Revision": "2"', '"Revision": "1"')
    consume(world, first, "CREATE_COMPLETE")
    produce(world, as_usual, "UPDATE_ROLLBACK_COMPLETE", DbPassword=NEW)
    assert f"imported by {world.importers()}" in world.why()

    produce(world, propagated, "UPDATE_COMPLETE", DbPassword=NEW)
    ssm = world.aws.client("ssm", US)
    (found,) = ssm.get_parameters(Names=[world.name("DbPassword")])["Parameters"]
    assert (found["Version"], world.values()) == (2, {"DbPassword": NEW})
    assert outdated(world) == ["DbPassword"]
    consume(world, again, "UPDATE_COMPLETE")
    assert outdated(world) == []
    assert world.claims("DbPassword") == [world.consumer]
    produce(world, as_usual, "UPDATE_COMPLETE", DbPassword=NEW)
    produce(world, as_usual, "UPDATE_ROLLBACK_COMPLETE", DbPassword="a third one")
    assert world.values() == {"DbPassword": NEW}
    world.aws.delete(world.consumer, US)
    world.aws.delete(world.producer, EU)
