"""The protocol where reads lag, proven on the code: every order of calls, and every answer that a read may get.

A read returns what was stored up to one tick ago, each parameter for itself. Time passes between any two calls.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, cast

import pytest

from strongref.contract.fence import IN_FLIGHT
from strongref.contract.names import Key
from strongref.contract.values import ParameterType, Value
from strongref.errors import AlreadyExistsError
from strongref.protocol import lag
from strongref.protocol.claims import ClaimAttempt
from strongref.protocol.executor import PlanExecutor
from strongref.protocol.export_attempt import ExportAttempt
from strongref.protocol.export_index import ExportIndex
from strongref.protocol.fences import FENCE_SECONDS, OwnFence
from strongref.protocol.lag import MARGIN, MAX_LAG, ReadLag
from strongref.protocol.plan import Create, ExportPlan
from strongref.protocol.recreation import PatientWriter
from strongref.protocol.side_by_side import Work, carry_out, in_turn
from strongref.protocol.stored_exports import ExportIdentity
from strongref.protocol.time import CLOCK_SKEW_SECONDS
from strongref.refusals import ForeignParameterError
from tests.support.builders import SCOPE
from tests.support.explorer.cases import (
    BY_LABEL,
    CREATED_AND_CHANGED,
    DROPPED_BY_A_CREATE,
    KEYS,
    LATE_LARGE,
    LATE_LARGEST,
    LATE_PAIRS,
    LATE_SMALL,
    Case,
    params,
)
from tests.support.explorer.cast import PRODUCER, E, I, changes, nothing, there
from tests.support.explorer.session import NOW, SLOW
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from datetime import datetime

    from strongref.contract.fence import Fence
    from strongref.protocol.ports import Store
    from strongref.protocol.time import Clock


pytestmark = [pytest.mark.usefixtures("quiet"), pytest.mark.slow]


CASES = [
    *params(LATE_SMALL),
    *params(LATE_PAIRS + KEYS, pytest.mark.exhaustive),
    *params(LATE_LARGE, pytest.mark.exhaustive),
    *params(LATE_LARGEST, pytest.mark.largest),
]


@pytest.mark.parametrize("case", CASES)
def test_where_reads_lag_no_reference_is_lost_and_none_is_torn(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    report = case.explorer(lag=1).walk()
    with capsys.disabled():  # to stderr: the stdout of a worker of pytest-xdist's goes nowhere
        sys.stderr.write(f"\nEvery order of calls, late reads: {report.states:,} states: {case.label}\n")
    assert report.lost is None
    assert report.torn is None
    assert report.leftover is None
    assert {f"{actor.name} " for actor in case.actors} <= report.succeeded


@pytest.mark.parametrize("operations", [3, 6, 8, 10])
def test_a_fence_that_is_renewed_protects_all_along(monkeypatch: pytest.MonkeyPatch, operations: int) -> None:
    renewed: set[datetime] = set()
    put_up = OwnFence.put_up

    def noting(own: OwnFence, clock: Clock, fence: Fence) -> None:
        renewed.add(fence.expires_at)
        put_up(own, clock, fence)

    monkeypatch.setattr(OwnFence, "put_up", noting)
    slow = replace(changes("E", "v1", "v2"), slow_after=operations)
    report = Case(f"there: change, slow after {operations} x import", [slow, I("I")], there).explorer(lag=1).walk()
    assert report.holds
    fence = timedelta(seconds=FENCE_SECONDS) + IN_FLIGHT
    assert renewed == {NOW + fence, NOW + SLOW + fence}


WAITS = ["there: change x import", "there: drop x import", "there: cleanup x 2 imports"]


@pytest.mark.parametrize("label", WAITS)
@pytest.mark.parametrize(
    ("wait", "seconds"), [("before_reading", 0), ("before_reading", 2), ("after_writing", 0), ("after_writing", 1)]
)
def test_without_either_wait_a_reference_is_lost(
    monkeypatch: pytest.MonkeyPatch, wait: str, seconds: float, label: str
) -> None:
    """Nor is twice the lag enough, or once: it must be more."""
    monkeypatch.setattr(ReadLag, wait, property(lambda each: seconds * each.seconds))
    assert BY_LABEL[label].explorer(lag=1).walk().lost


def test_without_the_margin_a_reference_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lag, "MARGIN", 0)
    assert BY_LABEL["there: change x import"].explorer(lag=1).walk().lost


@pytest.mark.parametrize("case", params([DROPPED_BY_A_CREATE, CREATED_AND_CHANGED]))
def test_what_does_more_than_create_has_to_wait(monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    monkeypatch.setattr(ExportAttempt, "create_without_waiting", lambda self, fenced, _: self.carry_out(fenced))
    assert case.explorer(lag=1).walk().lost


def test_what_exists_is_never_touched_without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlanExecutor, "create", PlanExecutor.execute)
    # Both are one Export: its place could be named once.
    monkeypatch.setattr(ExportIndex, "create", lambda *given: given[-1]())
    twice = Case("nothing: 2 create x import", [E("v1"), E("v3", name="F"), I("I")], nothing)
    assert not twice.explorer(lag=1).walk().holds


class AppearingStore:
    """A store in which a parameter of somebody's has just appeared: its tags are not read yet."""

    region, account = "us-east-1", ""
    side_by_side = staticmethod(in_turn)

    def __init__(self) -> None:
        self.written: list[str] = []
        self.shows_everything = False

    def create(self, *_: object) -> None:
        raise AlreadyExistsError("PutParameter", "ParameterAlreadyExists", NAME, self.region)

    def tags(self, _name: str) -> dict[str, str] | None:
        return {"owner": "somebody"} if self.shows_everything else {"strongref:producer": PRODUCER}

    def overwrite(self, name: str, *_: object) -> int:
        self.written.append(name)
        return 2

    def tag(self, *_: object) -> bool:
        return True

    def wait(self, _slept: float) -> None:
        self.shows_everything = True


NAME = SCOPE.parameter_name(Key("K"))


@pytest.mark.parametrize("waits", [True, False])
def test_what_appears_where_a_value_is_to_go_is_read_after_a_wait(*, waits: bool) -> None:
    """It was deleted and created again: its tags may be those of before."""
    store, clock = AppearingStore(), FakeClock()
    clock.on_sleep = store.wait
    export = ExportIdentity(PRODUCER, "Exports")
    executor = PlanExecutor(PatientWriter(cast("Store", store), clock, ReadLag(2.0 if waits else 0.0)), export)
    steps = executor.execute(ExportPlan(SCOPE, (Create(Key("K"), Value(ParameterType.STRING, "v"), export.tags),)))
    with pytest.raises(ForeignParameterError) if waits else nullcontext():
        carry_out([Work(cast("Store", store), steps)])
    assert store.written == ([] if waits else [NAME])


@pytest.mark.largest
def test_a_fence_that_was_not_waited_behind_stands_until_reads_show_what_was_created(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(OwnFence, "let_expire", lambda self, clock, **_: self.take_away(clock))
    assert BY_LABEL["gone: drop, change x 2 imports"].explorer(lag=1).walk().torn


@pytest.mark.exhaustive
def test_exports_of_one_stack_give_way_to_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decision 3 says what a name that moves from one to the other would need."""
    others = OwnFence.others

    def ignoring(own: OwnFence, clock: Clock, *, at_first: bool = False) -> Fence | None:
        found = others(own, clock, at_first=at_first)
        return None if found and found.held_by == "somebody" else found

    case = BY_LABEL["two Exports: a value moves and changes x import"]
    monkeypatch.setattr(OwnFence, "others", ignoring)
    assert case.explorer(lag=1).walk().torn


@pytest.mark.parametrize("part", ["_check_fences", "_check_unchanged"])
def test_an_import_needs_every_look(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    monkeypatch.setattr(ClaimAttempt, part, lambda *_: None)
    assert not BY_LABEL["there: cleanup x 2 imports"].explorer(lag=1).walk().holds


def test_no_lag_is_no_wait() -> None:
    assert (ReadLag(0).before_reading, ReadLag(0).after_writing) == (0, 0)


def test_the_times_of_fences_are_made_for_the_longest_lag() -> None:
    longest = ReadLag(MAX_LAG)
    in_flight = IN_FLIGHT.total_seconds()
    # A renewed fence: whoever still reads the text before the renewal must not take the fence for expired.
    assert FENCE_SECONDS / 2 + in_flight > MAX_LAG + CLOCK_SKEW_SECONDS + MARGIN
    # The last write begins more than a lag before the fence expires.
    assert in_flight > MAX_LAG + CLOCK_SKEW_SECONDS + MARGIN
    # A fence does not expire while its holder waits behind it.
    assert longest.before_reading < FENCE_SECONDS / 2
