"""Events whose time is over before their work is done: what CloudFormation sends next ends well."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.event import RequestType
from strongref.errors import OutOfTimeError
from strongref.protocol.executor import PlanExecutor
from strongref.protocol.lag import ReadLag
from tests.protocol.test_scenarios import EU, US, exports, imports, name
from tests.support.cloud import Cloud
from tests.support.cloudformation.stacks import ROLLBACK, UPDATING
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from strongref.protocol.executor import Step
    from strongref.protocol.plan import ExportPlan
    from tests.support.cloudformation.requests import ResourceRequest

SECONDS = 0.2
"""What each call takes: a thousand values take 200 seconds, and deleting them blindly takes 20."""

MANY = exports({f"Key{number:04d}": "v" for number in range(1000)})
MADE_UP = "network-Exports-1ABCDEF"


class BusyClock(FakeClock):
    """Time passes with every call."""

    def __init__(self, cloud: Cloud, seconds: float) -> None:
        super().__init__(seconds)
        self._calls = cloud.calls
        self._before = len(cloud.calls)
        cloud.clock = self

    def now(self) -> datetime:
        return super().now() + self._spent

    def remaining(self) -> float:
        return super().remaining() - self._spent.total_seconds()

    @property
    def _spent(self) -> timedelta:
        return timedelta(seconds=SECONDS * (len(self._calls) - self._before))


def send(cloud: Cloud, request: ResourceRequest, seconds: float, status: str = "") -> Any:
    """Carry an event out in so many seconds."""
    stack = cloud.stack(*(("network", EU) if "Values" in request.properties else ("web", US)))
    stack.status = status or stack.status
    BusyClock(cloud, seconds)
    with stack.asking(request):
        return cloud.send(request)


def record(cloud: Cloud) -> list[str]:
    return [each for each in cloud.parameters_below(US, "/strongref/records") if each.endswith("/Exports")]


@pytest.mark.parametrize("lag", [0.0, 2.0])
def test_a_create_that_ran_out_of_time_is_deleted_in_the_same_time(lag: float) -> None:
    """It was delivered twice, so its record names a thousand values, of which it stored some."""
    cloud = Cloud()
    cloud.lag = ReadLag(lag)
    network = cloud.new_stack("network", EU)
    request = network.request(RequestType.CREATE, "Exports", MANY)
    for seconds in (8, 25 if lag else 15):
        with pytest.raises(OutOfTimeError):
            send(cloud, request, seconds)
    assert record(cloud)
    send(cloud, network.request(RequestType.DELETE, "Exports", MANY, MADE_UP), 25, "ROLLBACK_IN_PROGRESS")
    assert (cloud.texts(US), cloud.texts(EU)) == ({}, {})


def test_an_update_that_ran_out_of_time_is_rolled_back_in_the_same_time() -> None:
    cloud = Cloud()
    before = exports({"A": "a"})
    network = cloud.deploy("network", EU, {"Exports": before})
    own_id = network.resources["Exports"].physical_id
    with pytest.raises(OutOfTimeError):
        send(cloud, network.request(RequestType.UPDATE, "Exports", MANY, own_id, before), 15, UPDATING)
    send(cloud, network.request(RequestType.UPDATE, "Exports", before, own_id, MANY), 20, ROLLBACK)
    assert cloud.values(US) == {name("A"): "a"}
    assert cloud.parameters_below(US, "/strongref/fences") == []


def test_a_value_that_only_a_later_look_shows_is_not_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name was hidden, or its creation was in flight."""
    cloud = Cloud()
    network = cloud.new_stack("network", EU)
    with pytest.raises(OutOfTimeError):
        send(cloud, network.request(RequestType.CREATE, "Exports", MANY), 15)
    delete_unseen = PlanExecutor.delete_unseen

    def appears(executor: PlanExecutor, plan: ExportPlan) -> Iterator[Step]:
        cloud.ssm(US).put_parameter(Name=f"/strongref/exports/{name('Key0999')}", Value="v", Type="String")
        return delete_unseen(executor, plan)

    monkeypatch.setattr(PlanExecutor, "delete_unseen", appears)
    delete = network.request(RequestType.DELETE, "Exports", MANY, MADE_UP)
    with pytest.raises(OutOfTimeError):
        send(cloud, delete, 25, "ROLLBACK_IN_PROGRESS")
    assert cloud.values(US) == {name("Key0999"): "v"}


def test_a_delete_that_ran_out_of_time_fails_while_values_are_left() -> None:
    cloud = Cloud()
    values = exports({f"Key{number:03d}": "v" for number in range(150)})
    network = cloud.deploy("network", EU, {"Exports": values})
    own_id = network.resources["Exports"].physical_id
    delete = network.request(RequestType.DELETE, "Exports", values, own_id)
    with pytest.raises(OutOfTimeError):
        send(cloud, delete, 40, "DELETE_IN_PROGRESS")
    assert 0 < len(cloud.values(US)) < 150
    (head,) = record(cloud)
    assert '"withdrawn":true' in cloud.texts(US)[head[1:]]


@pytest.mark.parametrize("timeout", ["40", "3600"])
def test_an_import_that_has_no_time_to_release_its_claims_leaves_them_to_the_janitor(
    monkeypatch: pytest.MonkeyPatch, timeout: str
) -> None:
    """They are stale then. With time left, another invocation goes on."""
    cloud = Cloud()
    keys = {f"Key{number:03d}": "v" for number in range(200)}
    cloud.deploy("network", EU, {"Exports": exports(keys, SecureKeys=list(keys))})
    web, importing = cloud.new_stack("web", US), imports(ServiceTimeout=timeout)
    with pytest.raises(OutOfTimeError):
        send(cloud, web.request(RequestType.CREATE, "Imports", importing), 15)
    delete = web.request(RequestType.DELETE, "Imports", importing, "web-Imports-1ABCDEF")
    monkeypatch.setattr(cloud, "event", lambda request: replace(request.event("1"), requested=cloud.clock.now()))
    if timeout == "3600":
        with pytest.raises(OutOfTimeError):
            send(cloud, delete, 15, "ROLLBACK_IN_PROGRESS")
        return
    send(cloud, delete, 15, "ROLLBACK_IN_PROGRESS")
    web.status, web.asked, cloud.clock = "ROLLBACK_COMPLETE", None, FakeClock(100_000)
    cloud.deploy("network", EU, {"Exports": exports({"A": "a"})})
    assert cloud.values(US) == {name("A"): "a"}
