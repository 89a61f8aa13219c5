"""A change of imported values is refused before a fence is put up, where reads make it certain; else behind one."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest
from botocore.exceptions import ClientError

from strongref.contract.continuation import Continuation
from strongref.contract.fence import Fence
from strongref.contract.names import claim_tag
from strongref.contract.notices import NoticeType
from strongref.contract.record import part_name
from strongref.errors import AccessDeniedError, StrongRefError
from strongref.protocol import certain_refusal
from strongref.protocol.certain_refusal import refuse_if_certain
from strongref.protocol.lag import ReadLag
from strongref.refusals import ExportsInUseError
from tests.protocol.test_scenarios import AP, EU, US, exports, imports, name
from tests.support.builders import SCOPE
from tests.support.cloud import Cloud
from tests.support.cloudformation.operations import LaterResourceError
from tests.support.cloudformation.requests import SIGNED_FORMAT

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from strongref.aws.parameter_store import SsmStore
    from strongref.contract.event import Event
    from strongref.contract.response import Response
    from strongref.protocol.ports import StackInfo
    from strongref.protocol.time import Clock
    from tests.support.cloudformation.requests import ResourceRequest

D = 2.0
SOON = D + 3
"""Seconds after an event was signed in which a change of what is imported is refused."""


@dataclass
class Sent:
    """What one event did."""

    seconds: float  # since it was signed
    calls: list[tuple[str, dict[str, Any]]]
    error: StrongRefError | None = None

    @property
    def puts(self) -> list[str]:
        return [request["Name"] for action, request in self.calls if action == "PutParameter"]


class Signing(Cloud):
    """Response URLs say when they were signed, in whole seconds, and events take their time to arrive."""

    def __init__(self) -> None:
        super().__init__()
        self.lag = ReadLag(D)
        self.sent: list[Sent] = []
        self.takes, self.says_when = 0.4, True
        self.continued = False
        self.on_event: Callable[[Event], object] = lambda _: None
        self.before_send: list[Callable[[], object]] = []  # the next event's, and so on

    def event(self, request: ResourceRequest) -> Event:
        signed = (self.clock.now() - timedelta(seconds=self.takes)).strftime(SIGNED_FORMAT) if self.says_when else ""
        event = request.event(f"request-{next(self.numbers)}", signed=signed)
        continuation = Continuation(2, self.clock.now())
        self.on_event(event)
        return replace(event, continuation=continuation) if self.continued else event

    def send(self, request: ResourceRequest) -> Response:
        if self.before_send:
            self.before_send.pop(0)()
        began, calls = self.clock.now(), len(self.calls)
        self.clock.slept.append(self.takes)
        error = None
        try:
            return super().send(request)
        except StrongRefError as failed:
            error = failed
            raise
        finally:
            self.sent.append(Sent((self.clock.now() - began).total_seconds(), self.calls[calls:], error))


@pytest.fixture
def cloud() -> Signing:
    return imported()


def imported() -> Signing:
    """A is imported by web, B is not."""
    cloud = Signing()
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"}, Region=[US, AP])})
    cloud.clock.slept.append(10.7)
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.clock.slept.append(10)
    cloud.sent.clear()
    return cloud


def update(cloud: Signing, values: dict[str, Any], **more: Any) -> Sent:
    """What the Update did that asked for these values; its rollback has events of its own."""
    with suppress(StrongRefError):
        cloud.deploy("network", EU, {"Exports": exports(values, Region=[US, AP], **more)})
    return cloud.sent[0]


CHANGES: dict[str, dict[str, Any]] = {
    "changed": {"A": "a2", "B": "b1"},
    "given another type": {"A": ["a2"], "B": "b1"},
    "dropped": {"B": "b1"},
    "all dropped": {},
    "changed with others": {"A": "a2", "B": "b2", "C": "c1"},
}


def without_fences(cloud: Signing) -> dict[str, str]:
    """What is stored; the fence of the creation has expired, and whoever puts up the next one deletes it."""
    return {name: text for name, text in cloud.texts(US).items() if "/fences/" not in name}


@pytest.mark.parametrize("takes", [0.4, 2.9], ids=["soon", "late"])
@pytest.mark.parametrize("says_when", [True, False], ids=["signed", "unsigned"])
@pytest.mark.parametrize("values", CHANGES.values(), ids=CHANGES)
def test_a_change_of_what_is_imported_is_refused_without_a_fence(
    cloud: Signing, values: dict[str, Any], says_when: bool, takes: float
) -> None:
    cloud.takes, cloud.says_when, before = takes, says_when, without_fences(cloud)
    sent = update(cloud, values)
    assert isinstance(sent.error, ExportsInUseError)
    assert cloud.stack("network", EU).status == "UPDATE_ROLLBACK_COMPLETE"
    assert sent.puts == []
    assert sent.seconds <= (SOON if says_when else takes + SOON)
    assert without_fences(cloud) == before
    assert [notice.type for notice in cloud.notices] == [NoticeType.CHANGE_REFUSED]


def test_moving_away_what_is_imported_is_refused_without_a_fence(cloud: Signing) -> None:
    with pytest.raises(ExportsInUseError):
        cloud.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"}, Region=AP)})
    assert cloud.sent[0].puts == []


MANY = {f"K{number}": "k1" for number in range(10)}
ALLOWED: dict[str, dict[str, Any]] = {
    "nobody imports it": {"A": "a1", "B": "b2"},
    "nobody imports any of many": {"A": "a1", "B": "b1", **dict.fromkeys(MANY, "k2")},
    "it is propagated": {"A": "a2", "B": "b2", "OnChange": "propagate"},
    "the claim is stale": {"A": "a2", "B": "b1"},
}


@pytest.mark.parametrize("change", ALLOWED.values(), ids=ALLOWED)
def test_a_change_that_is_allowed_makes_two_calls_more_a_place_and_waits_no_longer(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    done = []
    for before in (refuse_if_certain, lambda *_: None):
        monkeypatch.setattr(certain_refusal, "refuse_if_certain", before)
        cloud = imported()
        if change is ALLOWED["the claim is stale"]:
            del cloud.stack("web", US).resources["Imports"]
        update(cloud, {"A": "a1", "B": "b1", **MANY})
        cloud.clock.slept.append(10)
        cloud.sent.clear()
        more = {key: value for key, value in change.items() if key == "OnChange"}
        done.append(update(cloud, MANY | {key: value for key, value in change.items() if key != "OnChange"}, **more))
    with_look, without = done
    assert (with_look.error, without.error) == (None, None)
    assert len(with_look.calls) <= len(without.calls) + 2 * len([US, AP])
    assert with_look.seconds == pytest.approx(without.seconds)


def test_neither_a_rollback_nor_what_another_export_takes_over_waits_longer(cloud: Signing) -> None:
    with pytest.raises(ExportsInUseError):
        cloud.deploy("network", EU, {"Exports": exports({"A": "a2", "B": "b1"}, Region=[US, AP])})
    refusal, rollback = cloud.sent
    assert rollback.seconds <= ReadLag(D).before_reading + cloud.takes
    assert refusal.seconds < SOON
    cloud.clock.slept.append(10)
    cloud.sent.clear()
    moved = {"Other": exports({"A": "a1"}, Region=[US, AP]), "Exports": exports({"B": "b1"}, Region=[US, AP])}
    cloud.deploy("network", EU, moved)
    taken, dropped = cloud.sent
    assert (taken.error, dropped.error) == (None, None)
    assert dropped.seconds <= ReadLag(D).before_reading + ReadLag(D).after_writing + cloud.takes


def missing(cloud: Signing) -> None:
    cloud.ssm(AP).delete_parameter(Name=f"/strongref/exports/{name('B')}")


def stray(cloud: Signing) -> None:
    """A change that died halfway has left it."""
    tags = [{"Key": key, "Value": value} for key, value in cloud.tags(AP, name("B")).items()]
    cloud.ssm(AP).put_parameter(Name=f"/strongref/exports/{name('Z')}", Type="String", Value="z", Tags=tags)


@pytest.mark.parametrize("make", [missing, stray])
def test_what_another_region_cannot_write_is_noted_for_the_rollback(
    cloud: Signing, make: Callable[[Signing], None]
) -> None:
    """It has something to correct there; an update that had put up a fence would have met that, too."""

    def denied(action: str, _request: dict[str, Any]) -> None:
        if not action.startswith(("Get", "List")):
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, action)

    make(cloud)
    cloud.ssm(AP).delete_parameters(Names=cloud.parameters_below(AP, SCOPE.path("fences")))
    cloud.clock.slept.append(10)
    cloud.ssm(AP).before_call = denied
    sent = update(cloud, {"A": "a2", "B": "b1"})
    assert isinstance(sent.error, AccessDeniedError)
    assert cloud.stack("network", EU).status == "UPDATE_ROLLBACK_COMPLETE"


def test_a_change_that_adds_a_region_looks_at_no_value_there(cloud: Signing) -> None:
    for values, error in (({"A": "a2", "B": "b1"}, ExportsInUseError), ({"A": "a1", "B": "b2"}, type(None))):
        cloud.sent.clear()
        with suppress(ExportsInUseError):
            cloud.deploy("network", EU, {"Exports": exports(values, Region=[US, AP, EU])})
        assert isinstance(cloud.sent[0].error, error)
        assert bool(cloud.sent[0].puts) is (error is not ExportsInUseError)
        cloud.clock.slept.append(10)
    read = [request["ResourceId"] for action, request in cloud.sent[0].calls if action == "ListTagsForResource"]
    assert read == [f"/strongref/exports/{name('B')}"] * 4  # in two regions, before the fences and behind them


def test_another_type_is_refused_without_a_fence_even_where_changes_are_propagated(cloud: Signing) -> None:
    sent = update(cloud, {"A": ["a2"], "B": "b1"}, OnChange="propagate")
    assert isinstance(sent.error, ExportsInUseError)
    assert sent.puts == []


def test_an_importer_that_begins_to_change_meanwhile_is_left_to_the_fence(cloud: Signing) -> None:
    cloud.clock.on_sleep = lambda _: at_work(cloud)
    sent = update(cloud, {"A": "a2", "B": "b1"})
    assert isinstance(sent.error, ExportsInUseError)
    assert sent.puts


def test_an_update_that_writes_its_values_again_meets_its_fences_first(cloud: Signing) -> None:
    assert update(cloud, {"A": "a2", "B": "b1"}, Revision="2").puts


def test_an_old_generation_whose_claim_stayed_does_not_hide_the_one_that_counts(cloud: Signing) -> None:
    stale = {"Key": claim_tag("an older generation"), "Value": cloud.stack("web", US).arn}
    path, (tag,) = f"/strongref/exports/{name('A')}", [each for each in cloud.tags(US, name("A")) if "claim" in each]
    for tags in ([stale], [{"Key": tag, "Value": stale["Value"]}]):
        cloud.ssm(US).remove_tags_from_resource(ResourceType="Parameter", ResourceId=path, TagKeys=[tag])
        cloud.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=path, Tags=tags)
    cloud.clock.slept.append(10)
    assert update(cloud, {"A": "a2", "B": "b1"}).puts == []


def test_manifests_that_claim_as_well_do_not_hide_an_import(cloud: Signing) -> None:
    path, (tag,) = f"/strongref/exports/{name('A')}", [each for each in cloud.tags(US, name("A")) if "claim" in each]
    ssm, manifests = cloud.ssm(US), [{"Key": claim_tag("shop"), "Value": "strongref:manifests:111111111111:shop"}]
    importer = [{"Key": tag, "Value": cloud.stack("web", US).arn}]
    ssm.remove_tags_from_resource(ResourceType="Parameter", ResourceId=path, TagKeys=[tag])
    for tags in (manifests, importer):
        ssm.add_tags_to_resource(ResourceType="Parameter", ResourceId=path, Tags=tags)
    assert update(cloud, {"A": "a2", "B": "b1"}).puts == []


def stored(cloud: Signing, path: str, text: str) -> None:
    cloud.ssm(US).put_parameter(Name=path, Type="String", Value=text, Overwrite=True)


def with_record(change: Callable[[str], str]) -> Callable[[Signing], None]:
    def changed(cloud: Signing) -> None:
        head = part_name(SCOPE, "Exports", 0)
        stored(cloud, head, change(cloud.texts(US)[head[1:]]))
        cloud.clock.slept.append(10)

    return changed


def lost_record(cloud: Signing) -> None:
    cloud.ssm(US).delete_parameter(Name=part_name(SCOPE, "Exports", 0))


def another_fence(cloud: Signing) -> None:
    fence = Fence("another Export", cloud.clock.now() + timedelta(seconds=20), lifetime=timedelta(seconds=20))
    stored(cloud, f"{SCOPE.path('fences')}/Other.token", fence.encode())


def continued(cloud: Signing) -> None:
    cloud.continued = True


def begun_already(cloud: Signing) -> None:
    """A first delivery of the event has begun to write."""

    def begun(event: Event) -> None:
        head, stamp = part_name(SCOPE, "Exports", 0), event.stamp
        assert stamp
        text = json.loads(cloud.texts(US)[head[1:]])
        stored(cloud, head, json.dumps({**text, "last": [stamp.at.isoformat(), stamp.request_id]}))
        cloud.on_event = lambda _: None

    cloud.on_event = begun


def locked_record(cloud: Signing) -> None:
    values = {"A": "a1", "B": "b1", "S": "s1"}
    cloud.deploy("network", EU, {"Exports": exports(values, Region=[US, AP], SecureKeys=["S"])})
    cloud.ssm(US).lock()
    cloud.clock.slept.append(10)
    cloud.sent.clear()


def at_work(cloud: Signing) -> None:
    cloud.stack("web", US).status = "UPDATE_IN_PROGRESS"


UNCERTAIN: dict[str, Callable[[Signing], None]] = {
    "its record is open": with_record(lambda text: text.replace('"stack"', '"open":true,"stack"', 1)),
    "its record is unreadable": with_record(lambda _: "{"),
    "its record is lost": lost_record,
    "the key of its record cannot be used": locked_record,
    "its record is of this request": begun_already,
    "its record is of a later request": with_record(lambda text: text.replace('"last":["2025', '"last":["2035', 1)),
    "another fence stands": another_fence,
    "an earlier invocation has begun": continued,
    "no import is listed in a stack at rest": at_work,
}


@pytest.mark.parametrize("make", UNCERTAIN.values(), ids=UNCERTAIN)
def test_where_it_is_not_certain_it_is_refused_behind_a_fence(cloud: Signing, make: Callable[[Signing], None]) -> None:
    make(cloud)
    sent = update(cloud, {"A": "a2", "B": "b1"})
    assert sent.error is not None
    assert any("/fences/" in each for each in sent.puts)
    assert cloud.values(US)[name("A")] == "a1"


def test_a_call_that_fails_before_the_fence_is_left_to_those_behind_it(cloud: Signing) -> None:
    def denied(action: str, request: dict[str, Any]) -> None:
        cloud.calls.append((action, request))
        if action == "ListTagsForResource" and not any(action == "PutParameter" for action, _ in cloud.calls):
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, action)

    cloud.calls.clear()
    cloud.ssm(US).before_call = denied
    sent = update(cloud, {"A": "a2", "B": "b1"})
    assert isinstance(sent.error, ExportsInUseError)
    assert sent.puts


class LatePhase(Signing):
    """CloudFormation's answers lag by up to `D`: they show an update when its rollback has begun."""

    rolled_back: datetime | None = None

    def event(self, request: ResourceRequest) -> Event:
        if "ROLLBACK" in self.stack(request.stack_name, request.region).status:
            self.rolled_back = self.clock.now() - timedelta(seconds=self.takes)  # when it was sent
        return super().event(request)

    def by_arn(self, arn: str) -> StackInfo | None:
        found, since = super().by_arn(arn), self.rolled_back
        is_late = since and self.clock.now() <= since + timedelta(seconds=D)
        return replace(found, status="UPDATE_IN_PROGRESS") if found and found.name == "network" and is_late else found


@pytest.mark.parametrize("takes", [0.4, 1.9, 2.9])
@pytest.mark.parametrize("says_when", [True, False], ids=["signed", "unsigned"])
def test_a_rollback_is_never_refused_however_late_the_phase_is_read(takes: float, says_when: bool) -> None:
    """What the update has added was imported meanwhile: it is kept, and does not hold the rollback up."""
    cloud = LatePhase()
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    cloud.clock.slept.append(10.7)
    cloud.takes, cloud.says_when = takes, says_when
    cloud.before_send = [lambda: None, lambda: cloud.deploy("web", US, {"Imports": imports("C")})]
    with pytest.raises(LaterResourceError):
        cloud.deploy("network", EU, {"Exports": exports({"A": "a1", "C": "c1"})}, fails=True)
    assert cloud.stack("network", EU).status == "UPDATE_ROLLBACK_COMPLETE"
    assert cloud.claims(US, name("C")) == ["web"]


class LateClaims(Signing):
    """Tags and lists show for up to `D` what an import that has gone had claimed."""

    def __init__(self) -> None:
        super().__init__()
        self.late_until = self.clock.now()
        self.before: tuple[dict[str, str], frozenset[str]] = ({}, frozenset())

    def release(self) -> None:
        """The import goes; the next event is sent at once."""
        self.before = self.tags(US, name("A")), self.physical_ids(self.stack("web", US).arn)
        self.deploy("web", US, {})
        self.late_until = self.clock.now() + timedelta(seconds=D)
        self.sent.clear()

    @property
    def is_late(self) -> bool:
        return self.clock.now() < self.late_until

    def physical_ids(self, arn: str) -> frozenset[str]:
        return self.before[1] if self.is_late else super().physical_ids(arn)

    def stores(self, region: str, clock: Clock) -> SsmStore:
        store = super().stores(region, clock)
        real = store.client

        def list_tags(**request: Any) -> Any:
            if self.is_late and request["ResourceId"].endswith("/A"):
                return {"TagList": [{"Key": key, "Value": value} for key, value in self.before[0].items()]}
            return real.list_tags_for_resource(**request)

        return replace(store, client=cast("Any", Redirected(real, list_tags_for_resource=list_tags)))


class Redirected:
    """A client some of whose methods are others."""

    def __init__(self, client: object, **methods: Callable[..., Any]) -> None:
        self._client, self._methods = client, methods

    def __getattr__(self, method: str) -> Any:
        return self._methods.get(method) or getattr(self._client, method)


@pytest.mark.parametrize("takes", [0.0, 1.0])
def test_a_claim_that_has_gone_before_the_event_refuses_nothing(takes: float) -> None:
    cloud = LateClaims()
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    cloud.clock.slept.append(10.7)
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.clock.slept.append(10)
    cloud.takes = takes
    cloud.release()
    cloud.deploy("network", EU, {"Exports": exports({"A": "a2"})})
    assert cloud.values(US) == {name("A"): "a2"}
