"""Time: how much of it there is, and how to wait for others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from strongref.errors import StrongRefError, WaitInterruptedError

if TYPE_CHECKING:
    from datetime import datetime


CLOCK_SKEW_SECONDS = 1.0
"""By how much the clocks of two functions, or of a function and AWS, may differ (AWS: Amazon Time Sync Service keeps
them within milliseconds)."""

READING = ("Get", "List", "Describe")
"""How the names of API actions begin that change nothing."""


class Clock(Protocol):
    def now(self) -> datetime:
        """UTC, aware."""

    def earliest(self) -> datetime:
        """The time that it is at least, however far this clock is off: fences are judged by it."""

    def sleep(self, seconds: float) -> None: ...

    def remaining(self) -> float:
        """Seconds in which AWS calls may begin."""

    def before_call(self, action: str) -> None:
        """Called before each AWS call with its action, to renew what the remaining time depends on, such as a fence."""


@dataclass(slots=True)
class OnClock:
    """What the clocks have in common that show another one's time, but end by themselves."""

    clock: Clock

    def now(self) -> datetime:
        return self.clock.now()

    def earliest(self) -> datetime:
        return self.clock.earliest()

    def sleep(self, seconds: float) -> None:
        self.clock.sleep(seconds)

    def remaining(self) -> float:
        return self.clock.remaining()

    def before_call(self, action: str) -> None:
        self.clock.before_call(action)


@dataclass(slots=True)
class Until(OnClock):
    """`Clock` of work that has to begin before a certain time."""

    ends: datetime

    def remaining(self) -> float:
        return min(self.clock.remaining(), (self.ends - self.clock.now()).total_seconds())


@dataclass(frozen=True, slots=True)
class Patience:
    """Wait for others up to `seconds`, in pauses of up to `pause` seconds."""

    seconds: float
    pause: float
    chance: Callable[[], float]  # between 0 and 1, as from `random.random`: so that nobody waits in lockstep

    def begin(self, clock: Clock, *, endless: bool = False) -> Waiting:
        """Start to wait: until patience is over or, if `endless`, the invocation, which ends every wait."""
        return Waiting(self, clock, 0.0 if endless else clock.remaining() - self.seconds)


@dataclass(slots=True)
class Waiting:
    patience: Patience
    clock: Clock
    until: float

    def pause(self, before: Callable[[float], object] = lambda _: None) -> bool:
        """Sleep a little; False, at once, when patience or time is over.

        Before it sleeps, it calls `before` with the seconds for which patience still lasts.
        """
        remaining = self.clock.remaining()
        left = remaining - max(self.until, 0)
        if left <= 0:
            return False
        before(left)
        self.clock.sleep(min(self.patience.pause * (0.5 + self.patience.chance() / 2), remaining))
        return True

    @property
    def is_over(self) -> bool:
        """Whether patience is over, and the time is not."""
        return 0 < self.clock.remaining() <= self.until

    def over(self, why: StrongRefError) -> StrongRefError:
        """What to raise after the last pause: if only the time was over, another invocation may continue the wait."""
        return WaitInterruptedError(why) if self.until <= 0 else why
