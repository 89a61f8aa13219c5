"""What an Export's event does behind its fences, rule by rule: stores are in memory, and CloudFormation is given."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NoReturn, cast

import pytest

from strongref.contract.record import RequestStamp, part_name
from strongref.errors import InvocationTimeoutError, UndecryptableError
from strongref.protocol.behind_fences import FencedStore
from strongref.protocol.export_attempt import ExportAttempt, plans_for
from strongref.protocol.lag import MustWaitError
from strongref.protocol.phases import Phase
from strongref.protocol.plan import Create, ExportPlan
from strongref.protocol.ports import StackInfo
from strongref.protocol.snapshot import Snapshot
from strongref.protocol.unreached import EventPlaces
from tests.protocol.test_event_places import (
    AP,
    CREATE,
    EU,
    IN_AP,
    IN_US,
    KEY,
    NOTHING,
    ROLLING_BACK,
    SENT,
    UPDATING,
    US,
    A,
    World,
    at,
    out,
)
from tests.protocol.test_out_of_reach import forget, lose, restore
from tests.protocol.test_scenarios import exports, imports, name
from tests.support.builders import FORMER, NETWORK, SCOPE, WEB, ours, record, stock, values
from tests.support.cloud import Cloud
from tests.support.fake_ssm import EPOCH, FakeClock

if TYPE_CHECKING:
    from datetime import datetime

    from strongref.contract.notices import Notice
    from strongref.contract.record import Record
    from strongref.contract.response import Response
    from strongref.errors import StrongRefError
    from tests.support.cloudformation.requests import ResourceRequest


def attempt(places: EventPlaces, notices: list[Notice] | None = None) -> ExportAttempt:
    notices = [] if notices is None else notices
    ports = replace(places.ports, notify=notices.append)
    return ExportAttempt(ports, places.event, places.wanted, places.clock, EPOCH, may_have_written=False, places=places)


def test_calls_behind_fences_renew_them(monkeypatch: pytest.MonkeyPatch) -> None:
    world, lease, clocks = World(), FakeClock(), []

    def read(_self: ExportAttempt, _fenced: object, clock: FakeClock) -> NoReturn:
        clocks.append(clock)
        raise MustWaitError

    monkeypatch.setattr(ExportAttempt, "_read_completely", read)
    for fenced in ([FencedStore(cast("Any", None), lease)], []):
        with pytest.raises(MustWaitError):
            attempt(world.places()).carry_out(fenced)
    assert clocks == [lease, world.cloud.clock]


@pytest.mark.parametrize("residual", [True, False])
def test_only_places_that_the_properties_name_are_reported_as_passed_over(residual: bool) -> None:
    notices: list[Notice] = []
    places = World(ROLLING_BACK).places()
    places.unreached = [(at(IN_AP, NOTHING, residual=residual), out())]
    assert bool(attempt(places, notices)._passed_over()) is not residual
    assert bool(notices) is not residual


SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("begun", "requested", "status", "changed", "waits"),
    [
        pytest.param(0, 3, None, None, False, id="at once, nobody asks"),
        pytest.param(2, 3, "CREATE_IN_PROGRESS", None, False, id="in progress"),
        pytest.param(2, 3, None, None, True, id="gone"),
        pytest.param(0, 11, None, None, True, id="gone, and delivered late"),
        pytest.param(2, 3, "DELETE_IN_PROGRESS", None, True, id="being deleted"),
        pytest.param(2, 3, "CREATE_IN_PROGRESS", EPOCH + 61 * SECOND, True, id="asked for something else"),
    ],
)
def test_a_creation_that_may_be_given_up_is_looked_at_after_a_wait(
    begun: float, requested: float, status: str | None, changed: datetime | None, waits: bool
) -> None:
    world = World("CREATE_IN_PROGRESS", status, changed)
    places, clock = world.places(CREATE), world.cloud.clock
    places.event = replace(places.event, requested=EPOCH - requested * SECOND)
    acting = replace(attempt(places), since=EPOCH - begun * SECOND)
    fenced = [FencedStore(world.cloud.stores(each.site.region, clock), clock) for each in places.visited]
    with pytest.raises(MustWaitError) if waits else nullcontext():
        acting.create_without_waiting(fenced, lambda: (None, False))
    assert bool(world.cloud.values(US)) is not waits


@pytest.mark.parametrize(
    ("before", "exported", "after"),
    [(False, "", False), (True, "", True), (False, NETWORK, True), (False, FORMER, False)],
)
def test_what_was_written_is_known_from_what_is_read_or_from_before(
    monkeypatch: pytest.MonkeyPatch, before: bool, exported: str, after: bool
) -> None:
    """What a former stack of the same name has left, whatever its date is, was not written for this event."""
    world, later = World(), RequestStamp(SENT + SECOND, "2")
    monkeypatch.setattr(
        world, "by_arn", lambda arn: StackInfo(arn, "network", UPDATING, arn) if arn != FORMER else None
    )
    if exported:
        world.export(US, "1", exported, later if exported == FORMER else None)
    places, clock = world.places(CREATE), world.cloud.clock
    acting = replace(attempt(places), may_have_written=before)
    acting._read([FencedStore(world.cloud.stores(each.site.region, clock), clock) for each in places.visited], clock)
    assert acting.may_have_written is after


def test_a_creation_does_not_go_on_without_waiting_where_the_index_names_a_place() -> None:
    world = World("CREATE_IN_PROGRESS", "CREATE_IN_PROGRESS")
    world.name(IN_US)
    places, clock = world.places(CREATE), world.cloud.clock
    with pytest.raises(MustWaitError):
        attempt(places).create_without_waiting(
            [FencedStore(world.cloud.stores(each.site.region, clock), clock) for each in places.visited],
            lambda: (None, False),
        )
    assert world.cloud.values(US) == {}


@pytest.mark.parametrize("before", [True, False])
def test_a_plan_without_instructions_writes_nothing(before: bool) -> None:
    acting = replace(attempt(World().places()), may_have_written=before)
    acting._apply((), Phase.UPDATE)
    assert acting.may_have_written is before


def test_the_index_is_written_behind_the_fences_that_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    world, lease, clocks = World(), FakeClock(), list[object]()
    monkeypatch.setattr(EventPlaces, "name", lambda _places, _phase, _planned, clock: clocks.append(clock))
    fenced = FencedStore(world.cloud.stores(US, lease), lease)
    found = Snapshot(fenced, at(IN_US), stock(), (), {})
    attempt(world.places())._apply([(found, ExportPlan(SCOPE))], Phase.UPDATE)
    assert clocks == [lease]


def test_what_only_creates_touches_nothing_that_has_appeared_meanwhile() -> None:
    world = World("CREATE_IN_PROGRESS", "CREATE_IN_PROGRESS")
    places, clock = world.places(CREATE), world.cloud.clock
    world.put(US, SCOPE.parameter_name(KEY), "theirs")
    found = Snapshot(FencedStore(world.cloud.stores(US, clock), clock), at(IN_US), stock(), (), {})
    creating = ExportPlan(SCOPE, (Create(KEY, A[KEY], places.wanted.export.tags),))
    with pytest.raises(MustWaitError):
        attempt(places)._apply([(found, creating)], Phase.CREATE, lambda: (None, False))
    assert ([*world.cloud.values(US).values()], clock.slept) == (["theirs"], [])


@pytest.mark.parametrize("changed", [SENT, EPOCH])
def test_a_rollback_that_overrides_no_claim_is_one_whatever_dates_say(changed: datetime) -> None:
    """It takes its value back from an Export that the update has created; an update may not."""
    places = World(ROLLING_BACK, ROLLING_BACK, changed).places()
    found = Snapshot(cast("Any", None), at(IN_US), stock(A, others={"Other": record(A="2")}), (KEY,), {KEY: ours()})
    for phase, is_refused in ((Phase.ROLLBACK, False), (Phase.UPDATE, True)):
        ((_, plan),) = plans_for(places.event, places.wanted, phase, [found], places.ports.stacks)
        assert bool(plan.refusals) is is_refused


@pytest.mark.parametrize(("phase", "is_refused"), [(Phase.UPDATE, True), (Phase.ROLLBACK, False)])
def test_only_a_rollback_goes_by_what_the_former_properties_ask_for(phase: Phase, is_refused: bool) -> None:
    places = World(changed=SENT).places(OnChange="propagate")
    stored = stock(values(A="0"), record(A="0"))
    found = Snapshot(cast("Any", None), at(IN_US), stored, (KEY,), {KEY: ours(by=(WEB,))})
    ((_, plan),) = plans_for(places.event, places.wanted, phase, [found], places.ports.stacks)
    assert bool(plan.refusals) is is_refused


HEAD = part_name(SCOPE, "Exports", 0)
LOCKED = UndecryptableError("GetParameters", "AccessDeniedException", "name", US)
LATER, SAME = RequestStamp(SENT - SECOND, "0"), RequestStamp(SENT, "1")


@pytest.mark.parametrize(
    ("own", "head", "dated", "is_marked"),
    [
        pytest.param(replace(record(A="1"), last=LATER), True, True, True, id="of an earlier event"),
        pytest.param(replace(record(A="1"), last=SAME), True, True, False, id="of this event"),
        pytest.param(replace(record(A="1"), last=SAME), True, False, True, id="of an event without a date"),
        pytest.param(replace(record(A="1"), last=LATER), False, True, False, id="gone"),
        pytest.param(None, True, False, False, id="none that can be read"),
    ],
)
def test_a_record_that_the_update_had_not_begun_to_write_is_marked(
    own: Record | None, head: bool, dated: bool, is_marked: bool
) -> None:
    world = World()
    if head:
        world.export(US, "1")
    before = world.cloud.texts(US)
    places, clock = world.places(), world.cloud.clock
    places.event = places.event if dated else replace(places.event, requested=None)
    fenced = FencedStore(world.cloud.stores(US, clock), clock)
    stored = replace(stock(mine=own), why=LOCKED)
    attempt(places)._mark_untouched([Snapshot(fenced, at(IN_US), stored, (), {})])
    assert (world.cloud.texts(US) != before) is is_marked
    assert ('"untouched":true' in world.cloud.texts(US).get(HEAD[1:], "")) is is_marked


@pytest.mark.parametrize(
    ("status", "error", "begun", "is_marked"),
    [
        pytest.param(UPDATING, out(), False, True, id="not begun"),
        pytest.param(UPDATING, out(), True, False, id="begun"),
        pytest.param(ROLLING_BACK, out(), False, False, id="a rollback"),
        pytest.param(UPDATING, InvocationTimeoutError(), False, False, id="goes on in another invocation"),
    ],
)
def test_only_what_the_update_had_not_begun_to_write_is_marked_when_it_fails(
    monkeypatch: pytest.MonkeyPatch, status: str, error: StrongRefError, begun: bool, is_marked: bool
) -> None:
    def fail(*_: object) -> NoReturn:
        raise error

    world = World(status)
    world.export(US, "1")
    places, clock = world.places(), world.cloud.clock
    stored = replace(stock(mine=replace(record(A="1"), last=LATER)), why=LOCKED)
    found = Snapshot(FencedStore(world.cloud.stores(US, clock), clock), at(IN_US), stored, (), {})
    monkeypatch.setattr(ExportAttempt, "_read_completely", lambda *_: [found])
    monkeypatch.setattr(ExportAttempt, "_apply", fail)
    with pytest.raises(type(error)):
        replace(attempt(places), _begun=[found] if begun else []).carry_out([])
    assert ('"untouched":true' in world.cloud.texts(US)[HEAD[1:]]) is is_marked


def test_what_was_withdrawn_before_is_not_reported_as_kept_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The index names a place that the properties do not: it was forgotten, and can be reached again."""
    reasons: list[str] = []
    cloud = Cloud()
    send = cloud.send

    def note(request: ResourceRequest) -> Response:
        answer = send(request)
        reasons.append(answer.reason)
        return answer

    monkeypatch.setattr(cloud, "send", note)
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}, Region=[US, AP])})
    cloud.deploy("web", AP, {"Imports": imports("A")})
    lose(cloud)
    forget(cloud)
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}, Region=US)})
    restore(cloud)
    for number, is_reported in ((2, True), (3, False)):
        cloud.deploy("network", EU, {"Exports": exports({"A": f"a{number}"}, Region=US)})
        assert bool(reasons[-1]) is is_reported
    assert cloud.values(AP) == {name("A"): "a1"}
