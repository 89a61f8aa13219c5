"""How fast AWS is called, and how often a call is tried again. Time comes from the clock only.

`RateLimiter` keeps calls under the quotas; `RetryingCaller` wraps each call, retries what may succeed later, and
turns botocore's errors into a code. Codes and types are kept, texts never: they may quote a parameter's value.
"""

from __future__ import annotations

import math
import os
import random
import threading
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as UnreachableError

from strongref.errors import BadRequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from strongref.protocol.time import Clock

T = TypeVar("T")

OUT_OF_TIME = "OutOfTime"
"""The code of a call that was never made, since its turn would have come after the deadline."""

_CLASS = {
    "GetParameters": "reads",
    "GetParametersByPath": "reads",
    "PutParameter": "writes",
    "DeleteParameters": "deletes",
    "AddTagsToResource": "tags",
    "RemoveTagsFromResource": "tags",
    "ListTagsForResource": "tags",
    "DescribeStacks": "stacks",
    "DescribeStackResource": "stacks",
    "GetTemplate": "stacks",
    "ListExports": "stacks",
    "ListStackResources": "stacks",
    "Invoke": "invocations",
    "GetResource": "resources",
    "GetResources": "resources",
    "ListResources": "resources",
    "AssumeRole": "others",
    "GetCallerIdentity": "others",
    "GetObject": "others",
    "GetSecretValue": "others",
}
_BURST_SECONDS = 1.0
"""What was not used of the rate may be made up for: so that a small event needs no waiting."""
_EASE = 0.9
"""What a throttled call leaves of the rate: little by little, since a rate below what is left of a quota wastes it."""
_RECOVERY_SECONDS = 20.0
"""From nothing to the whole rate: so it stays a little above what others leave, and finds out when they leave more."""
_SLOWEST = 1 / 16
_SOONEST, _LATEST = 0.5, 1.5
"""Of the time between two calls: when a throttled one is tried again. By chance in between, so that callers that were
throttled together do not come back together."""

_THROTTLED = frozenset(
    {
        "ThrottlingException",
        "Throttling",
        "ThrottledException",
        "RequestThrottled",
        "RequestThrottledException",
        "TooManyRequestsException",
        "RequestLimitExceeded",
        "TooManyUpdates",  # Several at once on one parameter.
    }
)
_BROKEN = frozenset({"InternalServerError", "InternalFailure", "ServiceUnavailable"})
_SERVER_FAULT = 500

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 20.0
_PATIENT_TRIES = 5
"""Throttled tries of one call at the limiter's pace alone; who has had more of them waits longer each time."""
_CONNECTION_TRIES = 5
"""A region that does not exist has no endpoint, however long one waits."""


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Calls a second, per region, that this process allows itself.

    AWS shares its quotas among all of an account's callers: 40 reads and 3 puts by default (AWS General Reference,
    Systems Manager quotas). The others are not published; these are guesses, which throttling corrects.
    """

    reads: float = 40
    writes: float = 3
    tags: float = 10
    deletes: float = 5
    stacks: float = 5
    invocations: float = 10
    resources: float = 5
    others: float = 10

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> RateLimits:
        """Rates of `STRONGREF_READS_PER_SECOND` and its like; the defaults for what is not set.

        Raises:
            BadRequestError: naming the variable that is no number above zero.
        """
        names = {field.name: f"STRONGREF_{field.name.upper()}_PER_SECOND" for field in fields(cls)}
        return cls(**{name: _rate(var, environment[var]) for name, var in names.items() if environment.get(var)})

    def share(self, part: float) -> RateLimits:
        """A part of these rates, for who is in no hurry."""
        return RateLimits(**{field.name: getattr(self, field.name) * part for field in fields(self)})


def _rate(variable: str, text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = math.nan
    if not 0 < rate < math.inf:
        raise BadRequestError(variable, f"a number of calls a second above 0 is needed, {text!r} came")
    return rate


class RateLimiter:
    """A token bucket per class of action and region; it lives as long as the process, and serves all its threads."""

    def __init__(self, rates: RateLimits) -> None:
        self._rates = rates
        self._buckets: dict[tuple[str, str], _Bucket] = {}
        self._lock = threading.Lock()

    def take(self, action: str, region: str, now: datetime, within: float) -> float | None:
        """Take a token; the seconds to wait before it may be used. None, and no token, if that is `within` or more."""
        with self._lock:
            return self._bucket(action, region).take(now, within)

    def throttled(self, action: str, region: str, chance: float) -> float:
        """AWS found that we are too fast: go slower for a while; the seconds between two calls from now on.

        Args:
            action: that was throttled.
            region: where.
            chance: from 0 to 1: how soon the next call may be made.
        """
        with self._lock:
            return self._bucket(action, region).slow_down(chance)

    def _bucket(self, action: str, region: str) -> _Bucket:
        kind = _CLASS[action]
        if (kind, region) not in self._buckets:
            self._buckets[kind, region] = _Bucket(getattr(self._rates, kind))
        return self._buckets[kind, region]


class _Bucket:
    """Tokens come in at a rate; a debt of tokens is a time to wait."""

    def __init__(self, rate: float) -> None:
        self._full_rate = self._rate = rate
        self._burst = max(1.0, rate * _BURST_SECONDS)
        self._tokens = self._burst
        self._at: datetime | None = None

    def take(self, now: datetime, within: float) -> float | None:
        passed = max(0.0, (now - (self._at or now)).total_seconds())
        self._at = now
        self._tokens = min(self._burst, self._tokens + passed * self._rate)
        self._rate = min(self._full_rate, self._rate + self._full_rate * passed / _RECOVERY_SECONDS)
        wait = max(0.0, (1 - self._tokens) / self._rate)
        if wait >= within:
            return None
        self._tokens -= 1
        return wait

    def slow_down(self, chance: float) -> float:
        self._rate = max(self._rate * _EASE, self._full_rate * _SLOWEST)
        self._tokens = min(self._tokens, 0.0) + 1 - _SOONEST - chance * (_LATEST - _SOONEST)
        return 1 / self._rate


@dataclass(eq=False)
class CallFailedError(Exception):
    """A call that failed, before it is told in the words of whoever made it.

    Attributes:
        code: AWS's error code, or the name of botocore's error where no answer came.
        throttled: AWS throttled it until the time was up.
        tries: how many in all are worth it.
        unknown: no answer came, so that it may have been carried out all the same.
    """

    code: str
    throttled: bool = field(default=False, kw_only=True)
    tries: float = field(default=math.inf, kw_only=True)
    unknown: bool = field(default=False, kw_only=True)


class RetryingCaller:
    """Makes calls in one region, at the limiter's pace, and again while that may help and time is left."""

    def __init__(
        self, region: str, limiter: RateLimiter, clock: Clock, jitter: Callable[[], float] = random.random
    ) -> None:
        """Make a caller.

        Args:
            region: where the calls go.
            limiter: shared by everyone who calls there.
            clock: time, and how much of it is left.
            jitter: a number from 0 to 1: the share of the longest pause that is waited.
        """
        self.region = region
        self._limiter = limiter
        self._clock = clock
        self._jitter = jitter

    def call(self, action: str, function: Callable[..., T], **request: Any) -> T:  # noqa: ANN401 (as botocore)
        """What the function returns for the request.

        Raises:
            CallFailedError: with no other error behind it, since botocore's may quote values.
        """
        failure = CallFailedError(OUT_OF_TIME)
        tried = 0
        unknown = False
        while True:
            self._clock.renew()
            turn = self._limiter.take(action, self.region, self._clock.now(), self._clock.remaining())
            if turn is None:
                break
            if turn:
                self._clock.sleep(turn)
            try:
                return function(**request)
            except (ClientError, BotoCoreError) as error:
                failure = _read(error)
            tried += 1
            unknown = failure.unknown = unknown or failure.unknown
            if tried >= failure.tries:
                break
            if failure.throttled:
                apart = self._limiter.throttled(action, self.region, self._jitter())
                if tried > _PATIENT_TRIES:
                    self._pause(apart, tried - _PATIENT_TRIES)
            else:
                self._pause(_FIRST_PAUSE, tried)
        raise failure  # Out here botocore's error is no longer in its context.

    def _pause(self, first: float, tried: int) -> None:
        """Full jitter: anything from no pause to one that doubles with each try."""
        longest = min(_LONGEST_PAUSE, first * 2.0 ** min(tried, 10), max(0.0, self._clock.remaining()))
        self._clock.sleep(longest * self._jitter())


def _read(error: ClientError | BotoCoreError) -> CallFailedError:
    if not isinstance(error, ClientError):
        lost = isinstance(error, (HTTPClientError, UnreachableError))
        return CallFailedError(type(error).__name__, tries=_CONNECTION_TRIES if lost else 1, unknown=lost)
    code = error.response.get("Error", {}).get("Code", "Unknown")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    passing = code in _THROTTLED | _BROKEN or status >= _SERVER_FAULT
    return CallFailedError(code, throttled=code in _THROTTLED, tries=math.inf if passing else 1)


C = TypeVar("C")


class RegionalApi(Generic[C]):
    """One API, of one account and region."""

    def __init__(
        self,
        client_in: Callable[[str], C],
        region: str,
        limiter: RateLimiter,
        clock: Clock,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Make one.

        Args:
            client_in: the client of a region, as the methods of `clients.Clients`.
            region: where resources are looked for.
            limiter: shared by everyone who calls.
            clock: time, and how much of it is left.
            jitter: as in `limiter.Caller`.
        """
        self.region = region
        self._client_in = client_in
        self._caller = RetryingCaller(region, limiter, clock, jitter)
