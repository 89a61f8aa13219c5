"""Fences: small parameters that say who is about to change or delete values in a place, and until when. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strongref.contract.values import Parameter

IN_FLIGHT = timedelta(seconds=30)
"""How long after its holder's last possible write a fence goes on standing: calls in flight, clocks apart."""

UNREADABLE = timedelta(minutes=15)
"""How long a fence that says nothing readable is respected: as long as a function can run (AWS Lambda: quotas)."""


MOST_EXCEPTIONS = 20
"""Keys that a fence names one by one, so that it stays small."""


@dataclass(slots=True)
class TagScan:
    """How far somebody has looked at the tags of a place's values, in the order of the keys.

    What was looked at behind a fence, and had no claim and no owner that matters, needs no second look for as long as
    the fence stands: whoever claims meanwhile sees the fence, and lets go.

    Attributes:
        work: the request that it was for.
        upto: the last key that was looked at.
        exceptions: keys up to there that have to be looked at again.
    """

    work: str = ""
    upto: str = ""
    exceptions: list[str] = field(default_factory=list)

    def needs(self, key: str) -> bool:
        """Whether a key is still to be looked at."""
        return key > self.upto or key in self.exceptions

    def note(self, key: str, *, plain: bool) -> None:
        """Take down that a key was looked at; `plain`: that there is nothing about it."""
        if key <= self.upto or len(self.exceptions) >= MOST_EXCEPTIONS:
            return
        self.upto = key
        if not plain:
            self.exceptions.append(key)


@dataclass(frozen=True, slots=True)
class Fence:
    """Who stands in front of a place, and until when (UTC).

    Attributes:
        by: who, for people.
        until: when it falls.
        left: its holder's time was up before the work was done: whoever goes on with it takes the fence over.
    """

    by: str
    until: datetime
    left: TagScan | None = None

    def encode(self) -> str:
        said: dict[str, object] = {"by": self.by, "until": self.until.isoformat(timespec="seconds")}
        if self.left:
            said["left"] = asdict(self.left)
        return json.dumps(said, separators=(",", ":"))

    @classmethod
    def decode(cls, parameter: Parameter) -> Fence:
        """What a fence's parameter says; one that says nothing readable stands for a while, then is void."""
        try:
            said = json.loads(parameter.text)
            until = datetime.fromisoformat(said["until"]).astimezone(UTC)
            return cls(str(said["by"]), until, _left(said.get("left")))
        except (ValueError, KeyError, TypeError, OverflowError):
            pass
        try:
            since = datetime.fromisoformat(parameter.modified).astimezone(UTC)
        except (ValueError, OverflowError):
            since = datetime.min.replace(tzinfo=UTC)
        return cls("somebody", since + UNREADABLE)

    def stands(self, now: datetime) -> bool:
        return now < self.until

    def __str__(self) -> str:
        return f"{self.by}, until {self.until:%Y-%m-%d %H:%M:%S} UTC"


def _left(said: dict[str, object] | None) -> TagScan | None:
    if said is None:
        return None
    exceptions = said["exceptions"]
    if not isinstance(exceptions, list):
        raise TypeError
    return TagScan(str(said["work"]), str(said["upto"]), [str(key) for key in exceptions])
