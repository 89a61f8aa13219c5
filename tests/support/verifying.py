"""Verifiers of events, for tests that are about something else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.origin import ResponseHosts
from strongref.protocol.lag import ReadLag
from strongref.protocol.verification import EventVerifier

if TYPE_CHECKING:
    from datetime import datetime

    from strongref.arns import Arn
    from strongref.contract.event import Event, ResponseTarget
    from strongref.protocol.ports import Stacks
    from strongref.protocol.time import Clock


def _no_stacks(_account: str, _clock: Clock) -> Stacks:
    raise AssertionError


@dataclass(frozen=True, slots=True)
class CredulousVerifier(EventVerifier):
    """Believes every event."""

    def check_origin(self, sender: Event | ResponseTarget, function: Arn, now: datetime, timeout: float = 0) -> None:
        """Everything is fine."""

    def check_expected(self, event: Event, clock: Clock) -> None:
        """As is this."""


CREDULOUS = CredulousVerifier(ResponseHosts(), lambda _partition: "amazonaws.com", _no_stacks, ReadLag())
