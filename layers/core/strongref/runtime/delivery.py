"""An answer's way to CloudFormation: a PUT to the event's presigned URL, tried again while that may help."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

# What boto3 itself calls AWS with, so it is loaded anyway; time-outs, http and https alike, no redirects on request.
import urllib3

from strongref.errors import StrongRefError

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.protocol.time import Clock

TRIES = 6
TRY_SECONDS = 10.0
"""For connecting and reading together; less when less than twice that is left, so that there is a second try."""

FIRST_PAUSE = 0.5
_TOO_MANY = 429
_SERVER_FAULT = 500


@dataclass(eq=False)
class DeliveryError(StrongRefError):
    """CloudFormation did not take the answer. The address is not told: it is presigned."""

    problem: str

    def __str__(self) -> str:
        return f"CloudFormation did not take the answer: {self.problem}."


def deliver(url: str, body: bytes, clock: Clock, chance: Callable[[], float] = random.random) -> None:
    """PUT an answer, once at least, and again while the clock has time.

    Trying again is done here, not by urllib3's Retry: that knows no deadline, and logs URLs.

    Raises:
        DeliveryError: it was refused, or nobody took it in several tries.
    """
    problem = ""
    with urllib3.PoolManager(retries=False) as http:
        for tried in range(TRIES):
            pause = FIRST_PAUSE * 2 ** (tried - 1) * (0.5 + chance() / 2) if tried else 0.0
            if tried and pause >= clock.remaining():
                break
            clock.sleep(pause)
            problem, may_pass = _put(http, url, body, min(TRY_SECONDS, max(clock.remaining() / 2, 0.1)))
            if not problem:
                return
            if not may_pass:
                break
    raise DeliveryError(problem)


def _put(http: urllib3.PoolManager, url: str, body: bytes, seconds: float) -> tuple[str, bool]:
    """What went wrong, if anything did, and whether that may pass."""
    try:
        # An empty content type is part of what the URL was signed for.
        headers = {"Content-Type": ""}
        timeout = urllib3.Timeout(total=seconds)
        response = http.request("PUT", url, body=body, headers=headers, redirect=False, timeout=timeout)
    except (urllib3.exceptions.HTTPError, OSError) as error:
        return type(error).__name__, True
    if 200 <= response.status < 300:  # noqa: PLR2004 (HTTP: success)
        return "", False
    return f"HTTP {response.status}", response.status >= _SERVER_FAULT or response.status == _TOO_MANY
