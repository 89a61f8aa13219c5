"""A dry run of an Export: the plan that an event would carry out, shown without a fence and without a write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.event import RequestType
from strongref.protocol.exports import Exporter
from strongref.protocol.plan import refusal_of, show
from strongref.protocol.ports import Ports
from strongref.protocol.time import Patience
from tests.protocol.test_scenarios import EU, US, exports, imports
from tests.support.cloud import Cloud

if TYPE_CHECKING:
    from strongref.protocol.plan import ExportPlan

READS = {"GetParametersByPath", "GetParameters", "ListTagsForResource"}


@pytest.fixture
def cloud() -> Cloud:
    made = Cloud()
    made.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1", "C": "c1"})})
    made.deploy("web", US, {"Imports": imports("A")})
    return made


def preview(cloud: Cloud, values: dict[str, Any], **more: Any) -> list[ExportPlan]:
    stack = cloud.stack("network", EU)
    before = stack.resources["Exports"]
    given = exports(values, **more), before.physical_id, before.properties
    event = cloud.event(stack.request(RequestType.UPDATE, "Exports", *given))
    ports = Ports(cloud.stores, cloud, Patience(120, 2, lambda: 0.5), cloud.token)
    return Exporter(ports).preview(event, cloud.clock)


def test_a_preview_shows_each_instruction_and_writes_nothing(cloud: Cloud) -> None:
    before, done = cloud.values(US), len(cloud.calls)
    (plan,) = preview(cloud, {"A": "a1", "B": "b2", "D": "d1"})
    assert show(plan) == ["write the record of Exports", "overwrite B", "create D", "delete C"]
    assert cloud.values(US) == before
    assert {action for action, _ in cloud.calls[done:]} <= READS


def test_a_preview_shows_what_would_be_refused_and_nothing_to_do_also(cloud: Cloud) -> None:
    (plan,) = preview(cloud, {"A": "a2", "B": "b2", "C": "c1"})
    assert plan.instructions == ()
    assert show(plan) == [str(refusal_of([plan]))]
    assert "A cannot be changed: it is imported by stack web" in show(plan)[0]


def test_a_preview_never_shows_a_value(cloud: Cloud) -> None:
    (plan,) = preview(cloud, {"A": "a1", "B": "a secret", "C": ["x", "y"]}, SecureKeys=["B"])
    assert "a secret" not in "".join(show(plan)) + repr(plan)


def test_a_preview_of_nothing_new_is_empty(cloud: Cloud) -> None:
    (plan,) = preview(cloud, {"A": "a1", "B": "b1", "C": "c1"})
    assert show(plan) == []
