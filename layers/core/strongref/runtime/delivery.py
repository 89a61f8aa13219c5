"""Delivery of a response to CloudFormation: a PUT to the event's presigned URL, with retries."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

# boto3 loads urllib3 anyway. It has timeouts, supports http and https, and can leave redirects alone.
import urllib3

from strongref.errors import StrongRefError

if TYPE_CHECKING:
    from strongref.protocol.time import Clock

TRIES = 6
TRY_SECONDS = 10.0
"""Timeout of one try, connecting and reading together. At most half of the time left, so that a second try fits."""

FIRST_PAUSE = 0.5
_TOO_MANY_REQUESTS = 429
_SERVER_FAULT = 500


class DeliveryError(StrongRefError):
    """The response could not be delivered. The URL is not shown: it is presigned."""

    problem: str
    sentence = "The response could not be delivered to CloudFormation: {problem}."


def deliver(url: str, body: bytes, clock: Clock, chance: Callable[[], float] = random.random) -> None:
    """PUT a response: at least once, and again on transient failures while the clock has time.

    It does not use urllib3's Retry, which knows no deadline and logs URLs.

    Raises:
        DeliveryError: the response was rejected, or every try failed.
    """
    problem = ""
    with urllib3.PoolManager(retries=False) as http:
        for tried in range(TRIES):
            pause = FIRST_PAUSE * 2 ** (tried - 1) * (0.5 + chance() / 2) if tried else 0.0
            if tried and pause >= clock.remaining():
                break
            clock.sleep(pause)
            problem, transient = _put(http, url, body, min(TRY_SECONDS, max(clock.remaining() / 2, 0.1)))
            if not problem:
                return
            if not transient:
                break
    raise DeliveryError(problem)


def _put(http: urllib3.PoolManager, url: str, body: bytes, seconds: float) -> tuple[str, bool]:
    """The problem, empty on success, and whether it is transient."""
    try:
        # The URL is signed for an empty content type.
        headers = {"Content-Type": ""}
        timeout = urllib3.Timeout(total=seconds)
        response = http.request("PUT", url, body=body, headers=headers, redirect=False, timeout=timeout)
    except (urllib3.exceptions.HTTPError, OSError) as error:
        return type(error).__name__, True
    if 200 <= response.status < 300:  # noqa: PLR2004 (HTTP: success)
        return "", False
    return f"HTTP {response.status}", response.status >= _SERVER_FAULT or response.status == _TOO_MANY_REQUESTS
