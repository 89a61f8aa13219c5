"""How long to wait for somebody else, and how: never in lockstep, and never longer than there is time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.errors import CutShortError

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.errors import StrongRefError
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
        self.clock.sleep(min(self.patience.pause * (0.5 + self.patience.chance() / 2), remaining))
        return True

    def over(self, why: StrongRefError) -> StrongRefError:
        """What to raise after the last pause: if only the time was at its end, another invocation may wait on."""
        return CutShortError(why) if self.until < 0 else why
