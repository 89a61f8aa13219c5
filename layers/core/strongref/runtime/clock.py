"""The real clock, and how much time an invocation has."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from strongref.protocol.time import CLOCK_SKEW_SECONDS, READING, OnClock

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


RESPONSE_SECONDS = 15.0
"""Reserved at the end of every invocation for the response to CloudFormation, including retries."""

WATCHDOG_SECONDS = 5.0
"""How long before the function times out the watchdog responds, or reinvokes it, for a use case that still runs."""

SHUTDOWN_SECONDS = 0.5
"""How long before the function times out nothing is started anymore, not even a response."""


class SystemClock:
    """`time.Clock` of the machine."""

    def __init__(self, seconds: float) -> None:
        """Set the deadline, in seconds from now."""
        self._deadline = time.monotonic() + seconds

    @classmethod
    def of(cls, context: LambdaContext, reserve: float = RESPONSE_SECONDS, at_most: float = math.inf) -> SystemClock:
        """The time of an invocation, or `at_most`, without the reserve, which takes at most half of it."""
        left = min(context.get_remaining_time_in_millis() / 1000, at_most)
        return cls(max(left - reserve, left / 2))

    def now(self) -> datetime:
        return datetime.now(UTC)

    def earliest(self) -> datetime:
        return self.now() - timedelta(seconds=CLOCK_SKEW_SECONDS)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def remaining(self) -> float:
        return self._deadline - time.monotonic()

    def before_call(self, action: str) -> None:
        """Does nothing: an invocation's time cannot be extended."""


@dataclass(slots=True)
class VerifiedFirst(OnClock):
    """`time.Clock` of work that may only read, and wait for nothing, until its event is verified."""

    check: Callable[[], None]  # waits until it is, and raises why it is not

    def sleep(self, seconds: float) -> None:
        self.check()
        self.clock.sleep(seconds)

    def before_call(self, action: str) -> None:
        """Hold back what changes something."""
        if not action.startswith(READING):
            self.check()
