"""Real time, and how much of it an invocation has."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


ANSWER_SECONDS = 15.0
"""Kept back from every invocation to tell CloudFormation how it ended, tries included."""

LAST_CALL_SECONDS = 5.0
"""How long before the function's end somebody answers who does not wait for the use case any more."""

LAST_SECONDS = 0.5
"""Before the function's end: nothing is begun any more, not even a try to answer."""


class SystemClock:
    """`ports.Clock` of the machine."""

    def __init__(self, seconds: float) -> None:
        """Give out so much time, from here on."""
        self._deadline = time.monotonic() + seconds

    @classmethod
    def of(cls, context: LambdaContext, kept_back: float = ANSWER_SECONDS, at_most: float = math.inf) -> SystemClock:
        """An invocation's, or less; a share for the answer is kept back, at most half of the time."""
        left = min(context.get_remaining_time_in_millis() / 1000, at_most)
        return cls(max(left - kept_back, left / 2))

    def now(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def remaining(self) -> float:
        return self._deadline - time.monotonic()

    def renew(self) -> None:
        """Nothing: an invocation's time cannot be extended."""
