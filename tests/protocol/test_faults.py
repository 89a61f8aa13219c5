"""Every event, with everything that can go wrong at every call of it."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from strongref.protocol.lag import DEFAULT_LAG
from strongref.protocol.side_by_side import in_turn
from tests.support import orders
from tests.support.faults.abroad import ABROAD, FIRST
from tests.support.faults.exporting import EXPORTING
from tests.support.faults.fault_types import FAULTS
from tests.support.faults.importing import IMPORTING
from tests.support.faults.tally import Tally, missing, table, tally
from tests.support.faults.tending import TENDING
from tests.support.faults.trial import trial

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from strongref.protocol.ports import SideBySide
    from tests.support.faults.fault_types import Fault
    from tests.support.faults.scenario import Scenario
    from tests.support.faults.trial import Trial

pytestmark = pytest.mark.slow

FEW = (*EXPORTING, *FIRST, *IMPORTING, *TENDING)
SCENARIOS = (*FEW, *ABROAD)
MARKED = (*FEW, *(pytest.param(each, marks=pytest.mark.deep) for each in ABROAD))
ALIKE = {"internal error", "no connection", "killed before"}
"""The first two are tried again as what is throttled: tests/aws/test_retry_and_rate_limit.py. Who is killed before a
call has done the same as who is killed after the one before it. All calls meet them in `make deep`."""
OTHERS = [fault for fault in FAULTS if fault.name not in ALIKE]
OUTAGES = (*EXPORTING, *(pytest.param(each, marks=pytest.mark.deep) for each in FIRST + ABROAD))


def problems_of(trying: Trial, faults: Iterable[Fault]) -> Iterator[str]:
    """What does not hold if any of these goes wrong at any call."""
    yield from trying.flaws
    for fault in faults:
        for point in trying.points(fault):
            yield from trying.problems(point)


def check_none(problems: Iterator[str]) -> None:
    """Fail with the first of them: where one thing is wrong, thousands may follow from it."""
    first = list(islice(problems, 10))
    assert not first, "\n".join(first)


@pytest.mark.parametrize("scenario", MARKED, ids=str)
def test_whatever_goes_wrong_nothing_claimed_is_lost_and_the_next_event_makes_it_right(scenario: Scenario) -> None:
    with trial(scenario) as trying:
        check_none(problems_of(trying, OTHERS))


@pytest.mark.deep
@pytest.mark.parametrize("side_by_side", [orders.in_flight, in_turn, orders.turned_round_in_flight])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_in_any_order_of_what_is_done_side_by_side_nothing_claimed_is_lost_either(
    scenario: Scenario, side_by_side: SideBySide
) -> None:
    """Nor if others are not in flight when one of them fails; and what follows is tried for each fault at each call."""
    with trial(scenario, side_by_side=side_by_side, each=True) as trying:
        check_none(problems_of(trying, FAULTS))


@pytest.mark.deep
@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_where_reads_lag_nothing_claimed_is_lost_either(scenario: Scenario) -> None:
    """Of Parameter Store and of CloudFormation, and each item of a list for itself."""
    with trial(scenario, DEFAULT_LAG) as trying:
        check_none(problems_of(trying, FAULTS))


def test_every_kind_of_call_meets_every_fault(capsys: pytest.CaptureFixture[str]) -> None:
    counted = Tally()
    for scenario in SCENARIOS:
        with trial(scenario) as trying:
            counted += tally(trying.all_points())
    with capsys.disabled():  # to stderr: the stdout of a worker of pytest-xdist's goes nowhere
        sys.stderr.write(f"\nFaults: {len(SCENARIOS)} events, {table(counted)}\n")
    assert missing(counted) == []


@pytest.mark.parametrize("lag", [0.0, DEFAULT_LAG])
@pytest.mark.parametrize("scenario", OUTAGES, ids=str)
def test_a_region_that_goes_away_at_any_call_and_comes_back_leaves_nothing_lost_torn_or_stuck(
    scenario: Scenario, lag: float
) -> None:
    with trial(scenario, lag) as trying:
        check_none(problem for outage in trying.outages() for problem in trying.outage_problems(*outage))
