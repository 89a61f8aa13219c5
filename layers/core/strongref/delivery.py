"""An answer's way to CloudFormation: a PUT to the event's presigned URL, tried again while that may help."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

# What boto3 itself calls AWS with, so it is loaded anyway; time-outs, http and https alike, no redirects on request.
import urllib3

from strongref.errors import StrongRefError

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.ports import Clock

TRIES = 6
CONNECT_SECONDS = 3.0
READ_SECONDS = 7.0
FIRST_PAUSE = 0.5
_TOO_MANY = 429
_SERVER_FAULT = 500


class DeliveryError(StrongRefError):
    """CloudFormation did not take the answer. The address is not told: it is presigned."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return f"CloudFormation did not take the answer: {self.problem}."


def deliver(url: str, body: bytes, clock: Clock, chance: Callable[[], float] = random.random) -> None:
    """PUT an answer.

    Raises:
        DeliveryError: it was refused, or nobody answered in several tries.
    """
    http = urllib3.PoolManager(retries=False, timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS))
    problem = ""
    for tried in range(TRIES):
        if tried:
            clock.sleep(FIRST_PAUSE * 2 ** (tried - 1) * (0.5 + chance() / 2))
        try:
            # An empty content type is part of what the URL was signed for.
            status = http.request("PUT", url, body=body, headers={"Content-Type": ""}, redirect=False).status
        except (urllib3.exceptions.HTTPError, OSError) as error:
            problem = type(error).__name__
            continue
        if status < 300:  # noqa: PLR2004 (HTTP: success)
            return
        problem = f"HTTP {status}"
        if status < _SERVER_FAULT and status != _TOO_MANY:
            break
    raise DeliveryError(problem)
