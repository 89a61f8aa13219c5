"""What version 0.2.0 had stored when its function died in the middle of a change: this version goes on from there."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from strongref.contract.continuation import Continuation
from strongref.contract.event import Event
from strongref.contract.index import INDEX
from strongref.refusals import ExportsInUseError, UnsettledError
from tests.protocol.test_scenarios import EU, US, exports, imports, name
from tests.support.builders import ACCOUNT, SCOPE
from tests.support.cloud import Cloud

if TYPE_CHECKING:
    from tests.support.cloudformation.requests import ResourceRequest

BEFORE = {"A": "a1", "B": "b1", "C": "c1"}
AFTER = {"A": "a1", "B": "b2", "D": "d1"}


def stored(cloud: Cloud) -> list[str]:
    return [each for region in (EU, US) for each in cloud.texts(region)]


@pytest.fixture
def cloud() -> Cloud:
    """Web imports A. A change of B, C and D has written its record; one invocation died, one handed over."""
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports(BEFORE)})
    cloud.deploy("web", US, {"Imports": imports("A")})
    arn = cloud.stack("network", EU).arn
    cloud.ssm(EU).delete_parameters(Names=[f"/{each}" for each in cloud.texts(EU)])
    until = (cloud.clock.now() + timedelta(minutes=1)).isoformat(timespec="seconds")
    fence = {"by": f"Exports of stack network ({EU}, {ACCOUNT})", "until": until}
    record = {
        "stack": arn,
        "open": True,
        "writer": "0.2.0",
        "last": ["2025-01-01T00:00:00+00:00", "r"],
        "values": AFTER,
    }
    old = {
        (EU, f"{INDEX}/network/Exports"): {"stack": arn, "places": {ACCOUNT: {"web": [US]}}},
        (US, f"{SCOPE.path('records')}/Exports"): record | {"values": AFTER},
        (US, f"{SCOPE.path('fences')}/Exports.died"): fence,
        (US, f"{SCOPE.path('fences')}/Exports.left"): fence | {"left": {"work": "r", "upto": "A", "exceptions": ["A"]}},
    }
    for (region, path), text in old.items():
        cloud.ssm(region).put_parameter(Name=path, Type="String", Value=json.dumps(text), Overwrite=True)
    return cloud


@pytest.mark.parametrize("values", [BEFORE, AFTER], ids=["back", "on"])
def test_its_fences_are_waited_for_and_its_change_goes_on_or_back(cloud: Cloud, values: dict[str, str]) -> None:
    before = cloud.clock.now()
    cloud.deploy("network", EU, {"Exports": exports(values, Revision="2")})
    assert timedelta(seconds=60) < cloud.clock.now() - before < timedelta(seconds=120)
    assert cloud.values(US) == {name(key): value for key, value in values.items()}
    assert not [each for each in stored(cloud) if "fences" in each]
    with pytest.raises(ExportsInUseError, match="A cannot be dropped: it is imported by stack web"):
        cloud.deploy("network", EU, {"Exports": exports({"B": "b2"})})
    cloud.delete("web", US)
    cloud.delete("network", EU)
    assert stored(cloud) == []


def test_an_invocation_that_it_began_is_continued_behind_the_fence_that_it_left(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, seen = cloud.clock.now(), list[Event]()

    def event(request: ResourceRequest) -> Event:
        handed_over = {"StrongrefHandOver": {"Turn": 2, "Since": before.isoformat(timespec="milliseconds")}}
        seen.append(Event.parse(request.raw("r") | handed_over))
        return seen[-1]

    cloud.ssm(US).delete_parameters(Names=[f"{SCOPE.path('fences')}/Exports.died"])
    monkeypatch.setattr(cloud, "event", event)
    cloud.deploy("network", EU, {"Exports": exports(AFTER)})
    assert [each.continuation for each in seen] == [Continuation(2, before)]
    assert cloud.clock.now() - before < timedelta(seconds=15)
    assert cloud.values(US) == {name(key): value for key, value in AFTER.items()}
    assert not [each for each in stored(cloud) if "fences" in each]


def test_an_import_waits_for_the_export(cloud: Cloud) -> None:
    with pytest.raises(UnsettledError):
        cloud.deploy("api", US, {"Imports": imports("B", Consumer="web")})
    cloud.deploy("network", EU, {"Exports": exports(AFTER)})
    cloud.deploy("api", US, {"Imports": imports("B", Consumer="web")})
    assert cloud.get("api", US) == {"B": "b2"}
