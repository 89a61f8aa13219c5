"""What may go wrong with a call, and for how long. Plain data; `wire` makes it happen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

ANSWER = "Answer"
"""The PUT that tells CloudFormation how an event ended; all other actions are called as AWS calls them."""


class Trouble(Enum):
    """What happens at a call."""

    THROTTLED = auto()
    BROKEN = auto()
    """An error of the service's own."""
    DENIED = auto()
    TIMED_OUT = auto()
    """It takes effect, and no answer comes."""
    UNREACHED = auto()
    """No connection, no effect."""
    KILLED_BEFORE = auto()
    KILLED_AFTER = auto()
    HANGING = auto()
    """It takes effect, and so long that the function's time is as good as over."""


class Lasting(Enum):
    """What else it happens to, in the same invocation."""

    ONCE = auto()
    EVERY_TRY = auto()
    """The same request, whenever it is made again."""
    ACTION = auto()
    """Every later call of the same action."""
    SERVICE = auto()
    """Every later call of AWS, or every later try to answer."""


@dataclass(frozen=True)
class Fault:
    """One way in which one call can go wrong."""

    name: str
    trouble: Trouble
    lasting: Lasting = Lasting.ONCE

    def applies_to(self, action: str) -> bool:
        """Whether this can happen to such a call. An answer has a time-out of its own, so it never hangs."""
        return not (action == ANSWER and self.trouble is Trouble.HANGING)


FAULTS = (
    Fault("throttled", Trouble.THROTTLED),
    Fault("internal error", Trouble.BROKEN),
    Fault("denied", Trouble.DENIED),
    Fault("timed out after it took effect", Trouble.TIMED_OUT),
    Fault("no connection", Trouble.UNREACHED),
    Fault("timed out at every try", Trouble.TIMED_OUT, Lasting.EVERY_TRY),
    Fault("denied from here on", Trouble.DENIED, Lasting.ACTION),
    Fault("throttled until the time is up", Trouble.THROTTLED, Lasting.SERVICE),
    Fault("hangs until the time is up", Trouble.HANGING),
    Fault("killed before", Trouble.KILLED_BEFORE),
    Fault("killed after", Trouble.KILLED_AFTER),
)
