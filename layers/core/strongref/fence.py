"""Fences: small parameters that say who is about to change or delete values in a place, and until when. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strongref.ports import Parameter

IN_FLIGHT = timedelta(seconds=30)
"""How long after its holder's last possible write a fence goes on standing: calls in flight, clocks apart."""

UNREADABLE = timedelta(minutes=15)
"""How long a fence that says nothing readable is respected: as long as a function can run (AWS Lambda: quotas)."""


@dataclass(frozen=True, slots=True)
class Fence:
    """Who stands in front of a place, and until when (UTC)."""

    by: str
    until: datetime

    def encode(self) -> str:
        return json.dumps({"by": self.by, "until": self.until.isoformat(timespec="seconds")}, separators=(",", ":"))

    @classmethod
    def decode(cls, parameter: Parameter) -> Fence:
        """What a fence's parameter says; one that says nothing readable stands for a while, then is void."""
        try:
            said = json.loads(parameter.text)
            return cls(str(said["by"]), datetime.fromisoformat(said["until"]).astimezone(UTC))
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
