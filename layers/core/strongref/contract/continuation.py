"""Continuation: work that takes longer than one invocation. Pure.

A function that runs out of time invokes itself again with the same event. What is left to do follows from what is
stored, so the event gets only one more field: which invocation for this event it is, and when the first one started.
CloudFormation waits for `ServiceTimeout` seconds from then, and takes one response.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

CONTINUATION_FIELD = "StrongrefHandOver"
"""The field that a continued event has in addition to CloudFormation's own."""

MAX_INVOCATIONS = 12
"""Invocations for one event. Lambda stops functions that invoke themselves after 16 invocations in a chain: it drops
the event, and nothing would respond (AWS: Lambda Developer Guide, recursive loop detection)."""

SERVICE_TIMEOUT = 3600.0
"""Default seconds that CloudFormation waits for a response (AWS: custom resources, ServiceTimeout)."""

MIN_SECONDS_LEFT = 30.0
"""Seconds that CloudFormation must still wait for another invocation to be worth it: start, work and response."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """One of the invocations that work on an event."""

    invocation: int  # its number; CloudFormation made number 1
    since: datetime  # when CloudFormation sent the event or, if that is not known, when number 1 started (UTC)
    timeout: float = SERVICE_TIMEOUT  # the seconds that CloudFormation waits from then

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Continuation | None:
        """Read the continuation field of an event; None if the event comes from CloudFormation.

        Raises:
            KeyError, TypeError, ValueError, OverflowError: the field was not written by this code.
        """
        if CONTINUATION_FIELD not in raw:
            return None
        invocation = int(raw[CONTINUATION_FIELD]["Turn"])
        since = datetime.fromisoformat(raw[CONTINUATION_FIELD]["Since"]).astimezone(UTC)
        if invocation < 2:  # noqa: PLR2004 (CloudFormation made the first)
            raise ValueError(CONTINUATION_FIELD)
        return cls(invocation, since, service_timeout(raw.get("ResourceProperties")))

    def seconds_left(self, now: datetime) -> float:
        """How long CloudFormation still waits."""
        return min(self.timeout - (now - self.since).total_seconds(), self.timeout)  # clocks may differ

    @property
    def continues_until(self) -> datetime:
        """Until when another invocation may be asked to continue, so that it has time for it."""
        if self.invocation >= MAX_INVOCATIONS:
            return datetime.min.replace(tzinfo=UTC)
        return self.since + timedelta(seconds=self.timeout - MIN_SECONDS_LEFT)

    def next_event(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        since = self.since.isoformat(timespec="milliseconds")
        return {**raw, CONTINUATION_FIELD: {"Turn": self.invocation + 1, "Since": since}}


def service_timeout(properties: object) -> float:
    """The seconds of the property `ServiceTimeout`, which arrives as a string like every scalar.

    For an invalid number it is the default: CloudFormation itself rejects those.
    """
    given = properties.get("ServiceTimeout") if isinstance(properties, Mapping) else None
    try:
        seconds = float(given) if isinstance(given, str | int | float) else SERVICE_TIMEOUT
    except ValueError:
        return SERVICE_TIMEOUT
    return seconds if 0 < seconds < SERVICE_TIMEOUT else SERVICE_TIMEOUT
