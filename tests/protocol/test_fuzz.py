"""Long histories of a whole system, as hypothesis makes them up: no reference is lost, and nothing is left over."""

from __future__ import annotations

import os
import sys
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from strongref.contract.names import PRODUCER_TAG
from strongref.protocol import inspection, unreached
from strongref.protocol.claims import ClaimAttempt
from strongref.protocol.inspection import TagInspector
from strongref.protocol.janitor_abroad import AbroadTender
from strongref.protocol.lag import DEFAULT_LAG, ReadLag
from tests.support.fuzz.history import History
from tests.support.fuzz.invocation import remember_held
from tests.support.fuzz.machine import Machine

pytestmark = pytest.mark.slow

FEW = 10_000
STEPS = int(os.environ.get("STRONGREF_FUZZ_STEPS", FEW))
"""Calls to make at least: few compared to the other tests, many in `make fuzz`."""

SEED = int(os.environ.get("STRONGREF_FUZZ_SEED", "1"))
"""Which histories are played: the same each time, unless the environment says otherwise."""

ENOUGH = 100_000
"""Calls in which a fault is found: it takes some 6,000, in histories that change whenever the code does."""

HISTORIES = 10
ROUNDS = 60


def play(steps: int, number: int, *, shrink: bool = True, **kind: float) -> int:
    """Play histories of a kind of `Machine`, from one seed on, until so many calls were made; return how many."""
    Machine.steps = 0
    while Machine.steps < steps:
        run_state_machine_as_test(
            seed(number)(type("Played", (Machine,), kind)),
            settings=settings(
                max_examples=HISTORIES,
                stateful_step_count=ROUNDS,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
                phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
            ),
        )
        number += 1
    return Machine.steps


@pytest.mark.parametrize(
    ("lag", "remembers", "abroad"),
    [
        (0.0, False, False),
        (DEFAULT_LAG, False, False),
        (DEFAULT_LAG, True, False),
        (DEFAULT_LAG, False, True),
        pytest.param(0.0, False, True, marks=pytest.mark.deep),
    ],
    ids=[
        "reads lag by 0 s",
        f"reads lag by {DEFAULT_LAG:g} s",
        "deleted names are remembered",
        "two accounts, late reads",
        "two accounts",
    ],
)
def test_in_long_histories_no_reference_is_lost_and_nothing_is_left_over(
    *, lag: float, remembers: bool, abroad: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    least = STEPS // 2 if abroad else STEPS
    steps = play(least, SEED, lag=lag, remembers=remembers, abroad=abroad)
    with capsys.disabled():  # to stderr: the stdout of a worker of pytest-xdist's goes nowhere
        sys.stderr.write(f"\nLong histories: {steps:,} calls, from seed {SEED}, reads lag by {lag:g} seconds\n")
    assert steps >= least


@pytest.mark.parametrize(
    ("owner", "part", "without"),
    [
        (ClaimAttempt, "_check_fences", lambda *_: None),
        (TagInspector, "interpret", lambda *_, **__: {}),
        (inspection, "is_stale", lambda *_: False),
        (unreached, "may_pass_over", lambda *_: False),
    ],
    ids=["fence", "claims", "stale claims", "passing over what is away"],
)
def test_without_a_part_of_the_protocol_a_loss_is_found_and_reported(
    monkeypatch: pytest.MonkeyPatch, owner: type, part: str, without: object
) -> None:
    monkeypatch.setattr(owner, part, without)
    with pytest.raises(AssertionError, match="The story:"):
        play(ENOUGH, 1, shrink=False)


@pytest.mark.parametrize(
    ("owner", "part", "without"),
    [
        (TagInspector, "_of_another_account", lambda each, tags, *_: each.unclaimed(tags.get(PRODUCER_TAG, ""))),
        (AbroadTender, "tend", lambda *_: ()),
        (AbroadTender, "_without_holds", lambda *_: ()),
    ],
    ids=["claims", "holds", "the end of holds"],
)
def test_without_a_part_that_is_about_other_accounts_a_fault_is_found_and_reported(
    monkeypatch: pytest.MonkeyPatch, owner: type, part: str, without: object
) -> None:
    monkeypatch.setattr(owner, part, without)
    with pytest.raises(AssertionError, match="The story:"):
        play(ENOUGH, 1, shrink=False, abroad=True)


def test_without_the_wait_for_claims_that_reads_do_not_show_yet_a_loss_is_found_and_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The wait after writing is needed in orders of calls too rare for this: the explorer finds them."""
    monkeypatch.setattr(ReadLag, "before_reading", 0.0)
    with pytest.raises(AssertionError, match="The story:"):
        play(ENOUGH, 1, shrink=False, lag=DEFAULT_LAG)


def test_what_a_stack_has_to_go_back_to_is_not_dropped_while_its_rollback_is_stuck() -> None:
    history = History()
    network, web = ("network", "eu-west-1"), ("web", "us-east-1")
    with patch.object(*remember_held()):
        history.deploy(*network, {"X": {"Region": web[1], "Consumer": "web", "Values": {"A": "one", "B": "one"}}})
        history.finish()
        for names, fails in ((["A"], False), (["B"], True)):
            source = {"Stack": network[0], "Region": network[1]}
            history.deploy(*web, {"P": {"From": source, "Names": names}}, fails=fails)
            if not fails:
                history.finish()
        while history.cloud.stack(*web).status != "UPDATE_ROLLBACK_IN_PROGRESS":
            history.step(history.cloud.scheduler.ready()[0])
        history.cloud.invocations[0].task.kill()
        history.settle()
        assert history.cloud.stack(*web).status == "UPDATE_ROLLBACK_FAILED"
        history.deploy(*network, {"X": {"Region": web[1], "Consumer": "web", "Values": {"B": "one"}}})
        history.finish()
