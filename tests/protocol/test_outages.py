"""Places that go away and come back, proven on the code: every order of an update, its rollback and what fails."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from strongref.contract.index import IndexEntry
from strongref.protocol import certain_refusal, unreached
from strongref.protocol.export_index import ExportIndex
from strongref.protocol.fences import live_fence
from strongref.protocol.lag import ReadLag
from strongref.protocol.out_of_reach import may_pass_over
from strongref.protocol.phases import Phase
from strongref.protocol.unreached import EventPlaces
from tests.support.explorer.outages import ABROAD, MOVES, MOVES_ABROAD, VERSIONS, Left, Outage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    from strongref.contract.index import Place
    from strongref.errors import StoreError
    from strongref.protocol.snapshot import Destination
    from tests.support.explorer.outages import Properties

pytestmark = pytest.mark.usefixtures("quiet")

ONCE = Left(continued=0)
CANCELED = Left(continued=0, cancels=1)
LATER = 100
"""Seconds. An update that comes again within a minute of its rollback is a limit of its own: docs/how-it-works.md."""

CASES = (
    Outage("a change", ONCE, wanted=(2,)),
    Outage("a drop", ONCE, wanted=(0,)),
    Outage("a first value", ONCE, begins=0, wanted=(1,)),
)
MANY = (
    Outage("a change, continued", Left(), wanted=(2,)),
    Outage("a change that dies", Left(deaths=1, continued=0), wanted=(2,)),
    Outage("a change, all in one second", ONCE, wanted=(2,), ties=True),
    Outage("a move there", ONCE, begins=0, wanted=(1,), versions=MOVES),
    Outage("a move away", ONCE, wanted=(0,), versions=MOVES),
    Outage("any update, dies, continued", Left(deaths=1)),
    Outage("any update, all in one second, continued", Left(), ties=True),
    Outage("a first value, then any update", Left(updates=2, continued=0), begins=0),
    Outage("a change is canceled", CANCELED, wanted=(2,), later=LATER),
    Outage("a change is canceled after one was denied", CANCELED, wanted=(2,), later=LATER, denied=True),
    Outage("a first value is canceled after it was denied", CANCELED, begins=0, wanted=(1,), later=LATER, denied=True),
    Outage("a change, late reads", ONCE, wanted=(2,), lag=1),
    Outage("a change, reads later still", ONCE, wanted=(2,), lag=2),
    Outage("a first value, late reads", ONCE, begins=0, wanted=(1,), lag=1),
    Outage("a drop that dies, late reads", Left(deaths=1, continued=0), wanted=(0,), lag=1),
)


def abroad(case: Outage) -> Outage:
    """The same where the place is in another account, whose role may be denied at any call."""
    versions = MOVES_ABROAD if case.versions is MOVES else ABROAD
    return replace(case, label=f"{case.label}, another account", versions=versions)


IS_CANCELED = "canceled"
"""In the labels of those that have more states than memory that every machine has."""
LARGE = ("any update", "a move", IS_CANCELED, "late")
MANY_ABROAD = tuple(map(abroad, (*CASES, *(case for case in MANY if not any(each in case.label for each in LARGE)))))
"""Without the largest: another account takes one more call, which has many times as many states."""


def _walk(case: Outage, capsys: pytest.CaptureFixture[str]) -> None:
    report = case.walk(20_000_000 if IS_CANCELED in case.label else 3_000_000)
    with capsys.disabled():  # to stderr: the stdout of a worker of pytest-xdist's goes nowhere
        sys.stderr.write(f"\nOutages in every order: {report.states:,} states: {case.label}\n")
    assert report.torn is None
    assert report.stuck is None
    assert report.ends == {"UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "UPDATE_ROLLBACK_FAILED"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [pytest.param(CASES[0], marks=pytest.mark.deep), *CASES[1:]], ids=lambda case: case.label
)
def test_a_place_that_goes_away_is_never_torn_and_sticks_nobody(
    case: Outage, capsys: pytest.CaptureFixture[str]
) -> None:
    _walk(case, capsys)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=pytest.mark.largest if IS_CANCELED in case.label else pytest.mark.deep)
        for case in MANY + MANY_ABROAD
    ],
    ids=lambda case: case.label,
)
def test_nor_where_more_happens(case: Outage, capsys: pytest.CaptureFixture[str]) -> None:
    _walk(case, capsys)


ANYTHING = Left(updates=2, deaths=1, doubles=1, cancels=1)
PATHS = 20


@pytest.mark.slow
@pytest.mark.parametrize("lag", [0, 1, 2])
@pytest.mark.parametrize(
    "versions",
    [VERSIONS, MOVES, pytest.param(MOVES_ABROAD, marks=pytest.mark.deep)],
    ids=["changes", "moves", "moves to another account"],
)
def test_nor_on_paths_where_anything_may_happen(versions: Sequence[Properties], lag: int) -> None:
    case = Outage("anything", ANYTHING, versions=versions, lag=lag, later=LATER, denied=True)
    for number in range(int(os.environ.get("STRONGREF_PATHS", PATHS))):
        assert case.wander(Random(number)).torn is None, number  # noqa: S311 (an order of calls)


# -- without a rule ----------------------------------------------------------------------------------------------------

name, go_on_without, are_right = ExportIndex.name, EventPlaces.go_on_without, EventPlaces._are_right


def unstamped(index: ExportIndex, entry: IndexEntry, places: Collection[Place], hold: str, at: datetime) -> IndexEntry:
    """Named, without the date of a later write."""
    return name(index, entry, [place for place in places if place not in entry.wrote], hold, at)


def tied(entry: IndexEntry, place: Place) -> bool:
    wrote, denied = entry.wrote.get(place), entry.denied.get(place)
    return wrote is not None and denied is not None and denied.at >= wrote


def at_once(places: EventPlaces, error: StoreError) -> None:
    """The phase and the index are read at once, so that they may be those before the event."""
    with patch.object(ReadLag, "before_reading", 0.0):
        go_on_without(places, error)


def values_first(places: EventPlaces, out: list[Destination]) -> bool:
    """What is stored is read before the fences are listed."""
    return all(places.is_done(at) for at in out) and are_right(places, out)


def without_fences(places: EventPlaces, out: list[Destination]) -> bool:
    with patch(f"{EventPlaces.__module__}.{live_fence.__name__}", lambda *_: None):
        return are_right(places, out)


def always(phase: Phase, at: Destination, entry: IndexEntry) -> bool:
    return phase is Phase.ROLLBACK or may_pass_over(phase, at, entry)


def denied_once(entry: IndexEntry, place: Place) -> bool:
    """Whatever was written since then."""
    return place in entry.denied


SECOND_CANCELED = Outage("", CANCELED, wanted=(2,), later=LATER, denied=True)
RULES: dict[str, tuple[Outage, dict[tuple[object, str], Callable[..., object]]]] = {
    "`wrote` is kept": (Outage("", ONCE, wanted=(2,)), {(ExportIndex, "name"): unstamped}),
    "a tie is not later": (Outage("", ONCE, wanted=(2,), ties=True), {(IndexEntry, "is_untouched"): tied}),
    "a rollback that another account denies passes over nothing but what was denied before": (
        Outage("", ONCE, wanted=(0,), versions=ABROAD),
        {(unreached, "may_pass_over"): always},
    ),
    "what was written in another account since it was denied counts": (
        Outage("", ONCE, wanted=(0,), versions=ABROAD),
        {(IndexEntry, "is_untouched"): denied_once},
    ),
    "a place is named before its values": (
        Outage("", ONCE, begins=0, wanted=(1,)),
        {(EventPlaces, "name"): lambda *_, **__: None},
    ),
    "a rollback waits until reads show what was written": (
        Outage("", Left(), wanted=(2,), lag=1),
        {(EventPlaces, "go_on_without"): at_once, (ReadLag, "settle"): lambda *_: None},
    ),
    "a rollback lists fences where all is right": (
        SECOND_CANCELED,
        # Without the look before the fence, which nobody needs here, there are fewer states.
        {(EventPlaces, "_are_right"): without_fences, (certain_refusal, "refuse_if_certain"): lambda *_: None},
    ),
}


SLOWEST = "a rollback waits until reads show what was written"
LARGEST = {SLOWEST, "a rollback lists fences where all is right"}


def _mark(rule: str) -> object:
    return pytest.param(rule, marks=pytest.mark.deep if rule in LARGEST else ())


@pytest.mark.parametrize("rule", [_mark(rule) for rule in RULES])
def test_without_any_one_rule_a_place_is_torn(rule: str) -> None:
    case, without = RULES[rule]
    with ExitStack() as patches:
        for (owner, part), instead in without.items():
            patches.enter_context(patch.object(owner, part, instead))
        assert Outage(**{at: getattr(case, at) for at in case.__dataclass_fields__}).walk(deep=rule != SLOWEST).torn
