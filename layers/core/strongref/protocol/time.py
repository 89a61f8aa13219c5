"""How long to wait for somebody else, and how: never in lockstep, and never longer than there is time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from strongref.errors import WaitInterruptedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from strongref.errors import StrongRefError


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
        self.clock.sleep(min(self.patience.pause * (0.5 + self.patience.chance() / 2), remaining))
        return True

    def over(self, why: StrongRefError) -> StrongRefError:
        """What to raise after the last pause: if only the time was at its end, another invocation may wait on."""
        return WaitInterruptedError(why) if self.until < 0 else why


class Clock(Protocol):
    """Time, and how much of it this invocation has."""

    def now(self) -> datetime:
        """UTC, aware."""
        ...

    def sleep(self, seconds: float) -> None: ...

    def remaining(self) -> float:
        """Seconds until this invocation has to have answered."""
        ...


@dataclass(frozen=True, slots=True)
class Until:
    """`ports.Clock` of something that has to be begun before a certain time."""

    clock: Clock
    ends: datetime

    def now(self) -> datetime:
        return self.clock.now()

    def sleep(self, seconds: float) -> None:
        self.clock.sleep(seconds)

    def remaining(self) -> float:
        return min(self.clock.remaining(), (self.ends - self.clock.now()).total_seconds())


@dataclass(frozen=True, slots=True)
class Sooner:
    """`ports.Clock`: another one, whose time is up no later than that of a second one."""

    clock: Clock
    other: Clock

    def now(self) -> datetime:
        return self.clock.now()

    def sleep(self, seconds: float) -> None:
        self.clock.sleep(seconds)

    def remaining(self) -> float:
        return min(self.clock.remaining(), self.other.remaining())
