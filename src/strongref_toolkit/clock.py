"""AWS's time, on a machine whose own clock may be wrong: everyone's fences are judged by it.

Each answer of AWS has a date. So AWS's time less this machine's monotonic clock, which only runs, lies between two
bounds. Dates are cut to seconds, and answers take their time: the bounds are a second and a round trip apart, and each
answer narrows them. They do not notice that the machine was suspended, since its monotonic clock was, too. Its wall
clock was not: writes compare both.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from strongref.protocol.time import CLOCK_SKEW_SECONDS
from strongref.runtime.clock import SystemClock
from strongref.untyped import Untyped
from strongref_toolkit.errors import ClockJumpedError, UnknownTimeError

JUMP_SECONDS = 3.0
"""By how much the wall clock may leave the monotonic one: less than a fence outlasts a call that begins in its last
moment, and more than an adjusted clock drifts during a command."""

WRITES = frozenset(
    {
        *("ssm.PutParameter", "ssm.DeleteParameters", "ssm.AddTagsToResource", "ssm.RemoveTagsFromResource"),
        *("cloudformation.CreateStack", "cloudformation.UpdateStack", "cloudformation.DeleteStack"),
    }
)
"""What is done behind fences, as in botocore's events."""


class AwsClock(SystemClock):
    """`time.Clock` that shows AWS's time: this machine's until AWS has answered, and then corrected by each answer."""

    def __init__(
        self, seconds: float, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic
    ) -> None:
        """Set the deadline, in seconds from now; `wall` and `steady` are the machine's clocks."""
        super().__init__(seconds)
        self._wall, self._steady = wall, steady
        self._apart = wall() - steady()
        self._bounds: tuple[float, float] | None = None  # of AWS's time less `steady`
        self._sent = threading.local()  # when the thread's call was sent, by `steady`

    def now(self) -> datetime:
        bounds = self._bounds
        return datetime.fromtimestamp(sum(bounds) / 2 + self._steady() if bounds else self._wall(), UTC)

    def earliest(self) -> datetime:
        """Raises `UnknownTimeError`: no answer had a date."""
        return datetime.fromtimestamp(self._known()[0] + self._steady() - CLOCK_SKEW_SECONDS, UTC)

    def watch(self, events: Untyped) -> None:
        """Follow the calls of a client, given its events: each answer corrects the clock, and each write checks it."""
        events.register_first("before-send", self._before_send)
        events.register_last("before-parse", self._before_parse)

    def check(self) -> None:
        """Check that this machine can judge what it is about to change.

        Raises:
            UnknownTimeError: no answer had a date.
            ClockJumpedError: the machine was suspended, or its clock was set.
        """
        self._known()
        jump = self._wall() - self._steady() - self._apart
        if abs(jump) > JUMP_SECONDS:
            raise ClockJumpedError(round(jump))

    def correct(self, date: float, sent: float) -> None:
        """Correct the clock by the date of an answer that has just arrived; `sent`: when the call was, by `steady`."""
        low, high = date - self._steady(), date + 1 - sent
        known = self._bounds or (low, high)
        narrowed = max(low, known[0]), min(high, known[1])
        self._bounds = narrowed if narrowed[0] <= narrowed[1] else (low, high)  # Else the machine was suspended.

    def _known(self) -> tuple[float, float]:
        if self._bounds is None:
            raise UnknownTimeError
        return self._bounds

    def _before_send(self, event_name: str, **_: object) -> None:
        """An event handler of botocore, after signing: a call that was signed in time is not sent later."""
        if event_name.removeprefix("before-send.") in WRITES:
            self.check()
        self._sent.at = self._steady()

    def _before_parse(self, response_dict: Mapping[str, Any], **_: object) -> None:
        """An event handler of botocore, for every answer, errors included."""
        try:
            date = parsedate_to_datetime(response_dict["headers"]["Date"])
        except (KeyError, ValueError):
            return
        self.correct(date.timestamp(), self._sent.at)
