"""Time as a Lambda function has it."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

import pytest

from strongref.protocol.time import CLOCK_SKEW_SECONDS
from strongref.runtime.clock import RESPONSE_SECONDS, SHUTDOWN_SECONDS, SystemClock
from tests.support.response_server import FakeContext

if TYPE_CHECKING:
    from strongref.protocol.time import Clock


@pytest.fixture(autouse=True)
def _no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 100.0)


def test_what_remains_leaves_time_to_answer() -> None:
    clock: Clock = SystemClock.of(FakeContext(900))
    assert clock.remaining() == pytest.approx(900 - RESPONSE_SECONDS)


def test_of_a_short_time_half_is_kept_back() -> None:
    assert SystemClock.of(FakeContext(10)).remaining() == pytest.approx(5)


def test_to_answer_there_is_nearly_all_that_is_left() -> None:
    assert SystemClock.of(FakeContext(900), SHUTDOWN_SECONDS).remaining() == pytest.approx(900 - SHUTDOWN_SECONDS)


def test_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    clock = SystemClock.of(FakeContext(900))
    now = 110.0
    assert clock.remaining() == pytest.approx(890 - RESPONSE_SECONDS)


def test_now_is_aware_and_in_utc() -> None:
    assert SystemClock.of(FakeContext(9)).now().tzinfo is UTC


def test_a_functions_clock_may_be_a_second_ahead() -> None:
    clock = SystemClock.of(FakeContext(9))
    assert (clock.now() - clock.earliest()).total_seconds() == pytest.approx(CLOCK_SKEW_SECONDS, abs=0.1)


def test_sleeping_takes_time(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    SystemClock.of(FakeContext(9)).sleep(2.0)
    assert slept == [2.0]
