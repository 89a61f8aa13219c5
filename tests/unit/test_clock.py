"""Time as a Lambda function has it."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from strongref.clock import ANSWER_SECONDS, DEADLINE_SECONDS, LAST_SECONDS, SystemClock

if TYPE_CHECKING:
    import pytest

    from strongref.ports import Clock


class Context:
    """Lambda's, with so many seconds left."""

    aws_request_id = "x"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def get_remaining_time_in_millis(self) -> int:
        return int(self.seconds * 1000)


def test_what_remains_leaves_time_to_answer() -> None:
    clock: Clock = SystemClock(Context(900))
    assert clock.remaining() == 900 - ANSWER_SECONDS
    assert SystemClock(Context(1)).remaining() < 0


def test_what_remains_is_asked_anew_each_time() -> None:
    context = Context(900)
    clock = SystemClock(context, LAST_SECONDS)
    context.seconds = 10
    assert clock.remaining() == 10 - LAST_SECONDS


def test_use_cases_end_before_they_are_answered_for_and_that_before_the_end() -> None:
    assert ANSWER_SECONDS > DEADLINE_SECONDS > LAST_SECONDS > 0


def test_now_is_aware_and_in_utc() -> None:
    assert SystemClock(Context(9)).now().tzinfo is UTC


def test_sleeping_takes_time(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    SystemClock(Context(9)).sleep(timedelta(seconds=2).total_seconds())
    assert slept == [2]
