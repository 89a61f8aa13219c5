"""What may go wrong with a call, and for how long. Plain data; `wire` carries it out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

ANSWER = "Answer"
"""The PUT of a response to CloudFormation; all other actions have AWS's names."""

ABROAD = "Abroad"
"""What follows in the name of an action that is called with the role of another account."""


class FaultType(Enum):
    """What happens at a call."""

    THROTTLED = auto()
    BROKEN = auto()
    """An internal error of the service."""
    DENIED = auto()
    TIMED_OUT = auto()
    """It takes effect, and no answer arrives."""
    UNREACHED = auto()
    """No connection, no effect."""
    KILLED_BEFORE = auto()
    KILLED_AFTER = auto()
    EXPIRED = auto()
    """The session of another account's role is over."""
    HANGING = auto()
    """It takes effect, and takes nearly all of the function's time."""


class FaultDuration(Enum):
    """Which other calls it happens to, in the same invocation."""

    ONCE = auto()
    EVERY_TRY = auto()
    """Each retry of the request."""
    ACTION = auto()
    """Every later call of the same action."""
    SESSION = auto()
    """Every later call with the role of that account."""
    SERVICE = auto()
    """Every later call of AWS, or every later attempt to answer."""


@dataclass(frozen=True)
class Fault:
    """One way in which one call can go wrong."""

    name: str
    type: FaultType
    duration: FaultDuration = FaultDuration.ONCE

    def applies_to(self, action: str) -> bool:
        """Whether this can happen to such a call. An answer has a timeout of its own, so it never hangs."""
        if self.type is FaultType.EXPIRED:
            return action.endswith(ABROAD)
        return not (action == ANSWER and self.type is FaultType.HANGING)


FAULTS = (
    Fault("throttled", FaultType.THROTTLED),
    Fault("internal error", FaultType.BROKEN),
    Fault("denied", FaultType.DENIED),
    Fault("timed out after it took effect", FaultType.TIMED_OUT),
    Fault("no connection", FaultType.UNREACHED),
    Fault("timed out at every try", FaultType.TIMED_OUT, FaultDuration.EVERY_TRY),
    Fault("denied from here on", FaultType.DENIED, FaultDuration.ACTION),
    Fault("its session expires", FaultType.EXPIRED, FaultDuration.SESSION),
    Fault("throttled until the time is up", FaultType.THROTTLED, FaultDuration.SERVICE),
    Fault("hangs until the time is up", FaultType.HANGING),
    Fault("killed before", FaultType.KILLED_BEFORE),
    Fault("killed after", FaultType.KILLED_AFTER),
)
