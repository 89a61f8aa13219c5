"""How long to wait for somebody else, and how (never in lockstep); how long others may have to wait for us."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.ports import Clock


@dataclass(frozen=True, slots=True)
class Patience:
    """Up to `seconds`, in pauses of up to `pause` seconds."""

    seconds: float
    pause: float
    chance: Callable[[], float]
    """Between 0 and 1, as from `random.random`."""

    def begin(self, clock: Clock) -> Waiting:
        """Start to wait; the time runs from here, and no longer than the invocation does."""
        return Waiting(self, clock, clock.remaining() - self.seconds)


@dataclass(slots=True)
class Waiting:
    """One wait for others, in pauses."""

    patience: Patience
    clock: Clock
    until: float

    def pause(self) -> bool:
        """Sleep a little; False, at once, when patience or time is at its end."""
        remaining = self.clock.remaining()
        if remaining <= max(self.until, 0):
            return False
        self.clock.sleep(self.patience.pause * (0.5 + self.patience.chance() / 2))
        return True


SECONDS_AT_LEAST = 60
SECONDS_A_VALUE = 2


@dataclass(frozen=True, slots=True)
class Allowance:
    """The invocation's clock, with no more time left than a fence is to stand.

    What is done behind a fence is done by this clock: no call is begun after `ends`. A function that dies leaves its
    fence behind, and everybody else waits for that to fall; so it stands for what the work may take, no longer.
    """

    clock: Clock
    ends: datetime

    @classmethod
    def of(cls, clock: Clock, values: int) -> Allowance:
        """Time enough to look at, write and delete so many values at the slowest pace."""
        seconds = min(clock.remaining(), SECONDS_AT_LEAST + SECONDS_A_VALUE * values)
        return cls(clock, clock.now() + timedelta(seconds=seconds))

    def now(self) -> datetime:
        return self.clock.now()

    def sleep(self, seconds: float) -> None:
        self.clock.sleep(seconds)

    def remaining(self) -> float:
        return min(self.clock.remaining(), (self.ends - self.clock.now()).total_seconds())
