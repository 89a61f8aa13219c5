"""Fences: small parameters that announce who is changing or deleting values in a scope, and until when. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from strongref.contract.format import check_format
from strongref.errors import NewerFormatError
from strongref.text import cut

if TYPE_CHECKING:
    from strongref.contract.values import Parameter

IN_FLIGHT = timedelta(seconds=30)
"""How long a fence outlives its holder's last possible write: calls in flight, clock skew."""

UNREADABLE_LIFETIME = timedelta(minutes=15)
"""How long a fence with unreadable text is respected: the longest time that a function can run (AWS Lambda: quotas).
No fence is respected for longer after it was written."""

_LIFETIME, _FINISHED_LIFETIME = timedelta(seconds=90), timedelta(seconds=12)
"""Of fences that do not say their own, which version 0.2.0 wrote: at work, or finished."""

MAX_EXCEPTIONS = 20
"""Keys that a fence lists one by one, so that it stays small."""


@dataclass(slots=True)
class TagScan:
    """How far the tags of a scope's values have been read, in the order of the keys.

    A value that was read behind a fence, without a claim or an owner that matters, need not be read again while the
    fence exists: a function that claims it meanwhile sees the fence, and releases the claim.
    """

    work: str = ""  # the request that it belongs to
    upto: str = ""  # the last key that was read
    exceptions: list[str] = field(default_factory=list)  # keys up to there that must be read again

    def needs(self, key: str) -> bool:
        return key > self.upto or key in self.exceptions

    def note(self, key: str, *, unclaimed: bool) -> None:
        """Record that a key was read; `unclaimed` means that it has neither a claim nor an owner that matters."""
        if key <= self.upto or len(self.exceptions) >= MAX_EXCEPTIONS:
            return
        self.upto = key
        if not unclaimed:
            self.exceptions.append(key)


@dataclass(frozen=True, slots=True)
class Fence:
    """The content of a fence's parameter.

    It expires when both its holder's clock and the store's say so. The holder's clock may be wrong, and decides about
    nobody: a laptop's that is late would end its fence before it exists. The store's is the date of the last write.
    """

    held_by: str  # who is changing values, for people
    expires_at: datetime  # when it expires (UTC); of one that was read, by both clocks
    # set if the holder ran out of time: the invocation that continues the work takes the fence over
    unfinished: TagScan | None = None
    finished: bool = False  # the work is done; the fence stands until reads show what was written, and then expires
    readable: bool = True  # whether its text could be read
    newer: NewerFormatError | None = None  # a later version wrote it: it is respected, and never deleted
    lifetime: timedelta = _LIFETIME  # how long it stands after it was written, by the store's clock

    def encode(self) -> str:
        until, seconds = self.expires_at.isoformat(timespec="milliseconds"), self.lifetime.total_seconds()
        stored: dict[str, object] = {"by": self.held_by, "until": until, "for": seconds}
        if self.unfinished:
            stored["left"] = asdict(self.unfinished)
        if self.finished:
            stored["done"] = True
        return json.dumps(stored, separators=(",", ":"))

    @classmethod
    def decode(cls, parameter: Parameter) -> Fence:
        """Read a fence's parameter.

        One with unreadable text, or of a later format, expires `UNREADABLE_LIFETIME` after it was written.
        """
        held_by, newer = "an unknown holder", None
        try:
            written = datetime.fromisoformat(parameter.modified).astimezone(UTC)
        except (ValueError, OverflowError):
            written = datetime.min.replace(tzinfo=UTC)
        latest = written + UNREADABLE_LIFETIME
        try:
            stored = json.loads(parameter.text)
            check_format(parameter.name, stored)
            until = datetime.fromisoformat(stored["until"]).astimezone(UTC)
            left = None if stored.get("left") is None else _tag_scan(stored["left"])
            finished = stored.get("done") is True
            unsaid = _FINISHED_LIFETIME if finished else _LIFETIME
            lifetime = timedelta(seconds=stored["for"]) if "for" in stored else unsaid
            expires_at = min(max(until, written + lifetime), latest)
            return cls(str(stored["by"]), expires_at, left, finished, lifetime=lifetime)
        except NewerFormatError as error:
            held_by, newer = f"strongref {cut(error.writer, 40)}", error
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            pass
        return cls(held_by, latest, readable=newer is not None, newer=newer)

    def is_live(self, earliest: datetime) -> bool:
        """Whether it may still stand, given the earliest time that it can be (`Clock.earliest`) when it is read."""
        return earliest < self.expires_at

    def __str__(self) -> str:
        return f"{self.held_by}, until {self.expires_at:%Y-%m-%d %H:%M:%S} UTC"


def _tag_scan(stored: dict[str, object]) -> TagScan:
    exceptions = stored["exceptions"]
    if not isinstance(exceptions, list):
        raise TypeError
    return TagScan(str(stored["work"]), str(stored["upto"]), [str(key) for key in exceptions])
