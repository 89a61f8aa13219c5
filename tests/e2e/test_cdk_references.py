"""The CDK's cross-region references become strong by one line, and can go back, with the CDK's own code from npm.

All the while, a thread looks whether each value that a stack uses is stored where the stack reads it, and protected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.requests import IMPORT_TYPE
from strongref_cli.check.report import Verdict
from tests.e2e.cdk_stacks import NEWEST, OLD, REGIONS, Stacks, Way
from tests.e2e.templates import EU

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.e2e.harness import Aws

IN_USE = "in use by strongref-hold-"
NETWORK = ("certificate", "site", "hub", "edge")
SHOP = ("base", "front")
ALL = (*NETWORK, "blog", *SHOP)
READING = ("site", "hub", "edge", "blog", "front")

LINE: dict[str, Any] = {"cdk": NEWEST, "line": True}
WITHOUT_WRITERS = LINE | {"setting": True}  # The page shows this one.
WITH_READERS = LINE | {"settings": {each: {"Readers": "keep"} for each in REGIONS}}
REFUSED = {
    "changed": LINE | {"topics": "second"},
    "dropped": LINE | {"without": ["site.Alarms", "hub.Alarms"]},
    "gone": LINE | {"without": ["News"]},
}


@pytest.mark.story
def test_references_become_strong_by_one_line(aws: Aws, names: Callable[[str], str], tmp_path: Path) -> None:
    variants: dict[str, Any] = {"before": {"cdk": NEWEST}, "line": LINE, "without writers": WITHOUT_WRITERS, **REFUSED}
    variants["lost"] = {**REFUSED["dropped"], "line": False}
    stacks = Stacks.of(aws, names, tmp_path, ["network"], variants)
    stacks.deploy("before", "certificate", "site")
    before = stacks.stored("/cdk/exports/")
    stacks.deploy("lost", "certificate")  # The newest Writer deletes what the site uses.
    assert stacks.predicted("certificate") is Verdict.LOST
    assert stacks.stored("/cdk/exports/") < before
    stacks.watch.look()
    assert len(stacks.watch.missing) == 1
    stacks.watch.missing.clear()
    stacks.deploy("before", "certificate")

    with stacks.watch:
        stacks.deploy_failing_once("line", "certificate", "site")
        assert stacks.watch.ways == {stacks.names["site"]: frozenset({Way.IMPORT})}
        stacks.refuse("dropped", "certificate", "cannot be dropped: it is imported by")
        stacks.deploy("without writers", "certificate")
        assert stacks.stored("/cdk/exports/") == set()
    assert stacks.watch.seen.keys() == {(stacks.names["site"], way) for way in Way}
    stacks.delete("site", "certificate")
    assert stacks.left() == []


def test_one_stack_imports_120_values(aws: Aws, names: Callable[[str], str], tmp_path: Path) -> None:
    stacks = Stacks.of(aws, names, tmp_path, ["many"], {"new": WITHOUT_WRITERS})
    stacks.deploy("new", "topics", "reader")
    topics = stacks.others("topics") or {}
    assert len(topics) == 120
    assert sorted(aws.outputs(stacks.names["reader"], EU).values()) == sorted(topics.values())
    types = [each["ResourceType"] for each in stacks.resources("reader")]
    assert set(types) == {IMPORT_TYPE}
    assert len(types) < 12  # About eight: the names' hashes deal them out.
    assert stacks.stored("/cdk/exports/") == set()
    stacks.refuse_deletion("topics", IN_USE)
    stacks.delete("reader", "topics")
    assert stacks.left() == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(OLD, NEWEST, id="upgraded"),
        pytest.param(NEWEST, NEWEST, id="newest"),
        pytest.param(OLD, OLD, id="old", marks=pytest.mark.deep),
    ],
)
def test_every_step_of_the_way_in_and_of_the_way_out(
    aws: Aws, names: Callable[[str], str], tmp_path: Path, before: str, after: str
) -> None:
    variants: dict[str, Any] = {
        "staged": LINE | {"settings": {"blog": {"Readers": "keep"}}},
        "line": LINE,
        "without writers": WITHOUT_WRITERS,
        "with readers": WITH_READERS,
        "without line": {"line": False},
        **REFUSED,
    }
    variants = {"before": {"cdk": before}, **{name: {**each, "cdk": after} for name, each in variants.items()}}
    stacks = Stacks.of(aws, names, tmp_path, ["network", "shop"], variants)
    stacks.deploy("before", *ALL)
    assert stacks.stored("/cdk/exports/") == stacks.written("before")
    with stacks.watch:
        stacks.deploy_failing_once("staged", *NETWORK)
        stacks.deploy("staged", "blog", *SHOP)
        _refuses(stacks)
        stacks.deploy_failing_once("line", "blog")
        assert set(stacks.watch.ways.values()) == {frozenset({Way.IMPORT})}

        stacks.deploy_failing_once("without writers", "certificate", "hub")
        stacks.deploy("without writers", "site", "blog", "edge", *SHOP)
        assert stacks.stored("/cdk/exports/") == set()
        _refuses(stacks)

        stacks.watch.tagged = after == OLD
        for variant in ("with readers", "without line"):
            stacks.deploy_failing_once(variant, "certificate", "site", "hub")
            stacks.deploy(variant, "blog", "edge", *SHOP)
            assert stacks.stored("/cdk/exports/") == stacks.written("without line")
        assert stacks.stored("/strongref/") == set()
    assert set(stacks.watch.seen) == {(stacks.names[each], way) for each in READING for way in Way}
    stacks.delete(*reversed(ALL))
    assert stacks.left() == []


def _refuses(stacks: Stacks) -> None:
    """What the CDK lost is refused: a changed value, a dropped one, the last one with its resource, and all at once."""
    stacks.refuse("changed", "certificate", "cannot be changed: it is imported by")
    stacks.refuse("dropped", "certificate", "cannot be dropped: it is imported by")
    stacks.refuse("gone", "hub", IN_USE)
    stacks.refuse_deletion("certificate", IN_USE)
