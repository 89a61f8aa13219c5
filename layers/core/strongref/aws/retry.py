"""Retries of all AWS calls, within the rate limits. Time comes from the clock only.

Every AWS call is retried in one place, `RetryingCaller.call`; botocore's own retries are off, since they know no
deadline. `_classify` decides what is retried: throttling and faults of the service until the deadline, a lost
connection a few times, everything else never.

What fails in the end is a `CallFailedError` with AWS's error code. Error texts are dropped: they may quote a value.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as UnreachableError

from strongref.aws.rate_limit import InFlight, RateLimiter, Turn
from strongref.codes import THROTTLED
from strongref.errors import OUT_OF_TIME

if TYPE_CHECKING:
    from strongref.protocol.time import Clock

C = TypeVar("C")
T = TypeVar("T")

_POLL_SECONDS = 0.01
"""How often a call looks whether another one has ended, if there are so many."""

THROTTLING_CODES = {*THROTTLED, "TooManyUpdates"}  # the last one: concurrent updates of one parameter
_FAULT_CODES = {"InternalServerError", "InternalFailure", "ServiceUnavailable"}
_FAULT_STATUS = 500

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 20.0
_TRIES_WITHOUT_PAUSE = 5
"""Throttled tries of one call that only the rate limit spaces. Each further one also pauses, longer every time."""
_CONNECTION_TRIES = 5
"""Not until the deadline: a region that does not exist never gets an endpoint."""


@dataclass(eq=False)
class CallFailedError(Exception):
    """A call failed for good. The API's own module turns this into an error that says on what."""

    code: str  # AWS's error code, or the name of botocore's error if there was no response
    throttled: bool = field(default=False, kw_only=True)  # AWS throttled it until the deadline
    max_tries: float = field(default=math.inf, kw_only=True)  # how often such a call is tried
    unknown: bool = field(default=False, kw_only=True)  # no response came, so AWS may have carried it out anyway
    request_id: str = field(default="", kw_only=True)  # AWS's, of the last try; empty if there was no response

    def log(self, action: str, region: str) -> None:
        """Log the failure of a call that had to succeed. AWS's text is not logged: it may quote a value."""
        from strongref.log import logger  # noqa: PLC0415 (programs that only read parameters need no Powertools)

        keys = {"action": action, "region": region, "code": self.code, "aws_request_id": self.request_id}
        logger.info("A call to AWS failed", extra=keys)

    @property
    def out_of_time(self) -> bool:
        """Whether more time might have been enough."""
        return self.throttled or self.code == OUT_OF_TIME


def client_for(client_in: Callable[[str], C], region: str) -> C:
    """The client of a region; raises `CallFailedError` if botocore does not accept the region's name."""
    try:
        return client_in(region)
    except BotoCoreError as error:
        failure = CallFailedError(type(error).__name__)
    raise failure


@dataclass(frozen=True, slots=True)
class RetryingCaller:
    """Makes the calls in one site: within the rate limits, with retries, until the clock's deadline."""

    region: str  # after an account, if it is another one: each has quotas of its own
    limiter: RateLimiter  # shared by all callers of the process
    clock: Clock  # time, and how much of it is left
    jitter: Callable[[], float] = random.random  # a random number from 0 to 1: the share of the longest pause to wait

    def call(self, action: str, function: Callable[..., T], **request: Any) -> T:
        """Call the function with the request until it succeeds, cannot succeed, or the deadline has come.

        Raises:
            CallFailedError: it never has botocore's error in its context, since that may quote values.
        """
        failure = CallFailedError(OUT_OF_TIME)
        in_flight = self.limiter.in_flight.setdefault(self.region, InFlight())
        tries = 0
        unknown = False
        while True:
            self.clock.before_call(action)
            turn = self._begin(action, in_flight)
            if turn is None:
                break
            throttled = False
            try:
                return function(**request)
            except _failures() as error:
                failure = _classify(error)
                throttled = failure.throttled
            finally:
                in_flight.release(throttled=throttled)
            tries += 1
            unknown = failure.unknown = unknown or failure.unknown
            if tries >= failure.max_tries:
                break
            self._wait_before_retry(action, turn, failure, tries)
        raise failure  # Outside of the except block, so botocore's error is not in its context.

    def _begin(self, action: str, in_flight: InFlight) -> Turn | None:
        """Wait until the call may be made, and count it as in flight; None, at once, if that is after the deadline."""
        clock = self.clock
        while turn := self.limiter.take(action, self.region, clock.now(), clock.remaining(), self.jitter()):
            if turn.wait:
                clock.sleep(turn.wait)
            while self.limiter.is_valid(action, self.region, turn):
                if in_flight.acquire():
                    return turn
                if clock.remaining() <= _POLL_SECONDS:
                    return None
                clock.sleep(_POLL_SECONDS)
        return None

    def _wait_before_retry(self, action: str, turn: Turn, failure: CallFailedError, tries: int) -> None:
        if not failure.throttled:
            self._pause(_FIRST_PAUSE, tries)
            return
        interval = self.limiter.throttled(action, self.region, turn, self.clock.now(), self.jitter())
        if tries > _TRIES_WITHOUT_PAUSE:
            self._pause(interval, tries - _TRIES_WITHOUT_PAUSE)

    def _pause(self, first: float, tries: int) -> None:
        """Exponential backoff with full jitter."""
        longest = min(_LONGEST_PAUSE, first * 2.0 ** min(tries, 10), max(0.0, self.clock.remaining()))
        self.clock.sleep(longest * self.jitter())


_TOKENS = {"NextToken": "NextToken", "PaginationToken": "PaginationToken", "NextContinuationToken": "ContinuationToken"}
"""The fields of responses that lead to the next page, and what its request calls them."""


def pages(call: Callable[..., Any], **request: Any) -> Iterator[Any]:
    """Every page of a response, up to one that is None. A page may be empty and not be the last."""
    while (page := call(**request)) is not None:
        yield page
        following = {asked: page[given] for given, asked in _TOKENS.items() if page.get(given)}
        if not following:
            return
        request |= following


@cache
def _failures() -> tuple[type[Exception], ...]:
    """What botocore raises if a call fails. Its parsers take long to import, and clients have done that by then."""
    from botocore.parsers import ResponseParserError  # noqa: PLC0415

    return ClientError, BotoCoreError, ResponseParserError


def _classify(error: Exception) -> CallFailedError:
    """What failed, given one of `_failures`, and how often such a call is tried."""
    if not isinstance(error, ClientError):
        # A response that cannot be read comes from a proxy or from a connection that was cut, and is not AWS's.
        lost = isinstance(error, (HTTPClientError, UnreachableError)) or not isinstance(error, BotoCoreError)
        return CallFailedError(type(error).__name__, max_tries=_CONNECTION_TRIES if lost else 1, unknown=lost)
    code = error.response.get("Error", {}).get("Code", "Unknown")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    throttled = code in THROTTLING_CODES
    transient = throttled or code in _FAULT_CODES or status >= _FAULT_STATUS
    request_id = error.response.get("ResponseMetadata", {}).get("RequestId", "")
    tries = math.inf if transient else 1
    return CallFailedError(code, throttled=throttled, max_tries=tries, request_id=request_id)


@dataclass(eq=False)
class RegionalApi(Generic[C]):
    """The base of an API's class: one API of one account and region."""

    client_in: Callable[[str], C]  # the client of a region, as from the methods of `clients.Clients`
    region: str
    limiter: RateLimiter
    clock: Clock

    def _call(self, action: str, method: Callable[[C], Callable[..., T]], **request: Any) -> T:
        """Call a method of the region's client; raises `CallFailedError`."""
        caller = RetryingCaller(self.region, self.limiter, self.clock)
        return caller.call(action, method(client_for(self.client_in, self.region)), **request)
