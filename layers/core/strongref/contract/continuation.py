"""Work longer than one invocation: who goes on with an event, and for how long. Pure.

A function whose time runs short invokes itself with the same event. What is left to do follows from what is stored, so
nothing else goes along but which invocation for this event it is, and when the first one began: CloudFormation waits
for `ServiceTimeout` seconds from then, and takes one answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

CONTINUATION_FIELD = "StrongrefHandOver"
"""What an event that was handed over has beside CloudFormation's own fields."""

MAX_INVOCATIONS = 12
"""Invocations for one event. Lambda's own guard against functions that invoke themselves without end drops the event
after 16 in a chain, and then nobody would answer (AWS: Lambda Developer Guide, recursive loop detection)."""

SERVICE_TIMEOUT = 3600.0
"""Seconds that CloudFormation waits for an answer, if the template says nothing (AWS: custom resources)."""

MIN_SECONDS_LEFT = 30.0
"""Seconds that CloudFormation still has to wait for another invocation to begin: its start, its work, its answer."""


class BadContinuationError(ValueError):
    """An event says that it was handed over, but not how."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """One of the invocations that work on an event.

    Attributes:
        number: 1 for the one that CloudFormation made.
        since: when that one began (UTC).
        timeout: the seconds that CloudFormation waits from then.
    """

    number: int
    since: datetime
    timeout: float = SERVICE_TIMEOUT

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Continuation | None:
        """Which turn it is for an event that was handed over; None for one that comes from CloudFormation.

        Raises:
            BadContinuationError: it was not handed over by this code.
        """
        if CONTINUATION_FIELD not in raw:
            return None
        try:
            number = int(raw[CONTINUATION_FIELD]["Turn"])
            since = datetime.fromisoformat(raw[CONTINUATION_FIELD]["Since"]).astimezone(UTC)
        except (KeyError, TypeError, ValueError, OverflowError):
            raise BadContinuationError from None
        if number < 2:  # noqa: PLR2004 (the first one is CloudFormation's)
            raise BadContinuationError
        return cls(number, since, service_timeout(raw.get("ResourceProperties")))

    def left(self, now: datetime) -> float:
        """Seconds that CloudFormation goes on waiting."""
        return self.timeout - (now - self.since).total_seconds()

    def may_hand_over(self, now: datetime) -> bool:
        """Whether another invocation may go on, and has time for it."""
        return self.number < MAX_INVOCATIONS and self.left(now) > MIN_SECONDS_LEFT

    def next(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """The event for the invocation after this one."""
        since = self.since.isoformat(timespec="milliseconds")
        return {**raw, CONTINUATION_FIELD: {"Turn": self.number + 1, "Since": since}}


def service_timeout(properties: object) -> float:
    """The seconds of `ServiceTimeout`, which comes among the properties, as every scalar a string.

    One that is no such number is CloudFormation's to refuse.
    """
    given = properties.get("ServiceTimeout") if isinstance(properties, Mapping) else None
    try:
        seconds = float(given) if isinstance(given, str | int | float) else SERVICE_TIMEOUT
    except ValueError:
        return SERVICE_TIMEOUT
    return seconds if 0 < seconds < SERVICE_TIMEOUT else SERVICE_TIMEOUT
