"""Hold stacks: names, parameters and templates."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from strongref.contract.hold_stacks import HoldParameter, HoldStack, digest, is_export_name
from strongref.contract.names import Producer, claim_tag
from tests.support.builders import ACCOUNT, WEB

STACK = HoldStack(
    importer=WEB,
    label="web",
    claim=claim_tag("strongref-import/web/Imports/1"),
    account=ACCOUNT,
    region="us-east-1",
    consumer="web",
    producer=Producer(ACCOUNT, "eu-west-1", "network"),
)


def test_the_name_says_whose_it_is() -> None:
    assert re.fullmatch(rf"strongref-hold-{ACCOUNT}-web-[0-9a-f]{{16}}", STACK.name)


def test_a_long_name_is_cut_and_stays_unique() -> None:
    first, second = (replace(STACK, label="w" * 127 + last) for last in "ab")
    assert len(replace(STACK, label="w" * 128).name) == 125
    assert (first.name, first.parameter("x")) != (replace(second, importer=f"{WEB}b").name, second.parameter("x"))
    assert first.name != replace(second, importer=f"{WEB}b").name


def test_a_set_of_manifests_may_have_an_underscore_in_its_name() -> None:
    assert "-my-shop-" in replace(STACK, label="my_shop").name


@pytest.mark.parametrize("field", ["importer", "claim", "region"])
def test_another_import_has_another_stack(field: str) -> None:
    other: Any = {field: "other"}
    assert replace(STACK, **other).hash != STACK.hash


def test_each_region_of_producers_has_a_stack_of_its_own() -> None:
    assert replace(STACK, producer=Producer(ACCOUNT, "us-west-2", "network")).hash != STACK.hash
    assert replace(STACK, producer=Producer(ACCOUNT, "eu-west-1", "other")).hash == STACK.hash


def test_the_tags_say_which_import_it_is_for() -> None:
    assert HoldStack.of_tags(STACK.tags, "eu-west-1") == STACK
    assert HoldStack.of_tags({}, "eu-west-1") is None
    assert HoldStack.of_tags({**STACK.tags, "strongref:consumer": "strongref:manifests:1:x"}, "eu-west-1") is None


def test_a_parameters_name_says_what_it_holds_and_for_whom() -> None:
    name = STACK.parameter("network:Exports")
    assert name == f"/strongref/holds/network.Exports/{ACCOUNT}/us-east-1/web/{STACK.hash}"
    assert HoldParameter.of(name) == ("network:Exports", ACCOUNT, "us-east-1", "web", STACK.hash)
    assert HoldParameter.of("/strongref/holds/x") is None


def test_the_template_imports_each_export_and_has_nothing_else() -> None:
    template = json.loads(STACK.template(["b", "a"]))
    resources = list(template["Resources"].values())
    assert [each["Properties"]["Value"] for each in resources] == [{"Fn::ImportValue": name} for name in "ab"]
    assert {each["Type"] for each in resources} == {"AWS::SSM::Parameter"}
    assert {each["Properties"]["Name"] for each in resources} == {STACK.parameter("a"), STACK.parameter("b")}
    assert template["Outputs"]["Exports"]["Value"] == digest(["a", "b"]) != digest(["a"])
    assert "stack web (us-east-1" in template["Description"]


def test_the_largest_names_fit() -> None:
    largest = replace(STACK, label="w" * 128, importer=WEB.replace("/web/", f"/{'w' * 128}/"))
    template = json.loads(largest.template([("x" * 252) + f"{number:03}" for number in range(20)]))
    assert len(template["Description"]) <= 1000
    assert all(len(tag) <= 256 for tag in largest.tags.values())


@pytest.mark.parametrize(
    ("name", "valid"), [("a", True), ("a:b-C9", True), ("x" * 255, True), ("x" * 256, False), ("", False), ("_", False)]
)
def test_an_exports_name_is_cloudformations(name: str, valid: bool) -> None:
    assert bool(is_export_name(name)) is valid
