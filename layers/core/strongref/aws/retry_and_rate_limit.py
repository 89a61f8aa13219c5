"""Rate limits and retries of all AWS calls. Time comes from the clock only.

Every AWS call is retried in one place, `RetryingCaller.call`; botocore's own retries are off, since they know no
deadline. `_classify` decides what is retried: throttling and faults of the service until the deadline, a lost
connection a few times, everything else never. `RateLimiter` spaces the calls, and slows down when AWS throttles one.

What fails in the end is a `CallFailedError` with AWS's error code. Error texts are dropped: they may quote a value.
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
from botocore.parsers import ResponseParserError

from strongref.errors import OUT_OF_TIME, BadRequestError
from strongref.log import logger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from strongref.protocol.time import Clock

C = TypeVar("C")
T = TypeVar("T")

_ACTIONS_OF_RATE = {
    "reads": ("GetParameters", "GetParametersByPath"),
    "writes": ("PutParameter",),
    "deletes": ("DeleteParameters",),
    "tags": ("AddTagsToResource", "RemoveTagsFromResource", "ListTagsForResource", "DescribeParameters"),
    "stacks": (
        "DescribeChangeSet",
        "DescribeStacks",
        "DescribeStackEvents",
        "DescribeStackResource",
        "GetTemplate",
        "ListExports",
        "ListImports",
        "ListStackResources",
        "CreateStack",
        "UpdateStack",
        "DeleteStack",
        *("CreateChangeSet", "DeleteChangeSet", "ExecuteChangeSet", "GetTemplateSummary", "ListStacks"),
        "UpdateTerminationProtection",
    ),
    "invocations": ("Invoke",),
    "resources": ("GetResource", "GetResources", "ListResources"),
    "others": (
        *("AssumeRole", "DescribeRegions", "GetCallerIdentity", "GetObject", "GetSecretValue"),
        *("CreateBucket", "DeleteBucket", "DeleteObjects", "HeadBucket", "HeadObject", "ListObjectsV2", "PutObject"),
        *("PutBucketEncryption", "PutPublicAccessBlock"),
    ),
}
RATE_OF_ACTION = {action: rate for rate, actions in _ACTIONS_OF_RATE.items() for action in actions}
"""The field of `RateLimits` for each API action that strongref calls."""

_BURST_SECONDS = 1.0
"""Calls of so many seconds may be made at once after a rest, so a small event does not wait."""
_SLOWDOWN = 0.9
"""The factor by which a throttled call lowers the rate. Small steps: a rate below the rest of a quota wastes it."""
_RECOVERY_SECONDS = 20.0
"""Time in which the rate recovers from 0. It stays a little above what other callers leave, and so notices when they
leave more."""
_SLOWEST = 1 / 16
"""The lowest rate, as a share of the full one."""
_EARLIEST_RETRY, _LATEST_RETRY = 0.5, 1.5
"""When a throttled call is retried, in intervals between two calls. The moment is random, so that callers that were
throttled together do not retry together."""

_THROTTLING_CODES = frozenset(
    {
        "ThrottlingException",
        "Throttling",
        "ThrottledException",
        "RequestThrottled",
        "RequestThrottledException",
        "TooManyRequestsException",
        "RequestLimitExceeded",
        "TooManyUpdates",  # Concurrent updates of one parameter.
    }
)
_FAULT_CODES = frozenset({"InternalServerError", "InternalFailure", "ServiceUnavailable"})
_FAULT_STATUS = 500

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 20.0
_TRIES_WITHOUT_PAUSE = 5
"""Throttled tries of one call that only the rate limit spaces. Each further one also pauses, longer every time."""
_CONNECTION_TRIES = 5
"""Not until the deadline: a region that does not exist never gets an endpoint."""


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The calls per second and region that this process makes at most.

    AWS's quotas are shared by all callers of an account: 40 reads and 3 puts by default (AWS General Reference,
    Systems Manager quotas). The other quotas are not published; these are guesses, which throttling corrects.
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
        """Rates from variables such as `STRONGREF_READS_PER_SECOND`; the default for each that is not set.

        Raises:
            BadRequestError: a variable is not a number above 0.
        """
        names = {field.name: f"STRONGREF_{field.name.upper()}_PER_SECOND" for field in fields(cls)}
        return cls(**{name: _rate(var, environment[var]) for name, var in names.items() if environment.get(var)})

    def share(self, part: float) -> RateLimits:
        """A share of these rates, for work that can wait."""
        return RateLimits(**{field.name: getattr(self, field.name) * part for field in fields(self)})


def _rate(variable: str, text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = math.nan
    if not 0 < rate < math.inf:
        raise BadRequestError(variable, f"must be a number of calls per second above 0, got {text!r}")
    return rate


class RateLimiter:
    """One token bucket for each rate and region, shared by all threads of the process."""

    def __init__(self, rates: RateLimits) -> None:
        self._rates = rates
        self._buckets: dict[tuple[str, str], _Bucket] = {}
        self._lock = threading.Lock()

    def take(self, action: str, region: str, now: datetime, within: float) -> float | None:
        """Take a token and return the seconds to wait before the call.

        Returns None and takes no token if the wait would be `within` seconds or more.
        """
        with self._lock:
            return self._bucket(action, region).take(now, within)

    def throttled(self, action: str, region: str, chance: float) -> float:
        """Slow down after AWS throttled a call; return the seconds between two calls from now on.

        `chance` is a random number from 0 to 1: how soon the next call may be made.
        """
        with self._lock:
            return self._bucket(action, region).slow_down(chance)

    def _bucket(self, action: str, region: str) -> _Bucket:
        rate = RATE_OF_ACTION[action]
        return self._buckets.setdefault((rate, region), _Bucket(getattr(self._rates, rate)))


class _Bucket:
    """Tokens arrive at a rate. Missing tokens are a time to wait."""

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
        self._rate = max(self._rate * _SLOWDOWN, self._full_rate * _SLOWEST)
        self._tokens = min(self._tokens, 0.0) + 1 - _EARLIEST_RETRY - chance * (_LATEST_RETRY - _EARLIEST_RETRY)
        return 1 / self._rate


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
        keys = {"action": action, "region": region, "code": self.code, "aws_request_id": self.request_id}
        logger.info("A call to AWS failed", extra=keys)

    @property
    def out_of_time(self) -> bool:
        """Whether more time might have been enough."""
        return self.throttled or self.code == OUT_OF_TIME


def client_for(client_in: Callable[[str], C], region: str) -> C:
    """The client of a region.

    Raises:
        CallFailedError: botocore does not accept the region's name.
    """
    try:
        return client_in(region)
    except BotoCoreError as error:
        failure = CallFailedError(type(error).__name__)
    raise failure


@dataclass(frozen=True, slots=True)
class RetryingCaller:
    """Makes the calls in one region: within the rate limit, with retries, until the clock's deadline."""

    region: str
    limiter: RateLimiter  # shared by all callers of the process
    clock: Clock  # time, and how much of it is left
    jitter: Callable[[], float] = random.random  # a random number from 0 to 1: the share of the longest pause to wait

    def call(self, action: str, function: Callable[..., T], **request: Any) -> T:  # noqa: ANN401 (as botocore)
        """Call the function with the request until it succeeds, cannot succeed, or the deadline has come.

        Raises:
            CallFailedError: it never has botocore's error in its context, since that may quote values.
        """
        failure = CallFailedError(OUT_OF_TIME)
        tries = 0
        unknown = False
        while self._wait_for_rate_limit(action):
            try:
                return function(**request)
            except (ClientError, BotoCoreError, ResponseParserError) as error:
                failure = _classify(error)
            tries += 1
            unknown = failure.unknown = unknown or failure.unknown
            if tries >= failure.max_tries:
                break
            self._wait_before_retry(action, failure, tries)
        raise failure  # Outside of the except block, so botocore's error is not in its context.

    def _wait_for_rate_limit(self, action: str) -> bool:
        """Wait until the call may be made; False, at once, if that is after the deadline."""
        self.clock.before_call(action)
        wait = self.limiter.take(action, self.region, self.clock.now(), self.clock.remaining())
        if wait:
            self.clock.sleep(wait)
        return wait is not None

    def _wait_before_retry(self, action: str, failure: CallFailedError, tries: int) -> None:
        if not failure.throttled:
            self._pause(_FIRST_PAUSE, tries)
            return
        interval = self.limiter.throttled(action, self.region, self.jitter())
        if tries > _TRIES_WITHOUT_PAUSE:
            self._pause(interval, tries - _TRIES_WITHOUT_PAUSE)

    def _pause(self, first: float, tries: int) -> None:
        """Exponential backoff with full jitter."""
        longest = min(_LONGEST_PAUSE, first * 2.0 ** min(tries, 10), max(0.0, self.clock.remaining()))
        self.clock.sleep(longest * self.jitter())


def _classify(error: ClientError | BotoCoreError | ResponseParserError) -> CallFailedError:
    """What failed, and how often such a call is tried."""
    if not isinstance(error, ClientError):
        # A response that cannot be read comes from a proxy or from a connection that was cut, and is not AWS's.
        lost = isinstance(error, (HTTPClientError, UnreachableError, ResponseParserError))
        return CallFailedError(type(error).__name__, max_tries=_CONNECTION_TRIES if lost else 1, unknown=lost)
    code = error.response.get("Error", {}).get("Code", "Unknown")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    throttled = code in _THROTTLING_CODES
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

    def _call(self, action: str, method: Callable[[C], Callable[..., T]], **request: Any) -> T:  # noqa: ANN401 (as botocore)
        """Call a method of the region's client; raises `CallFailedError`."""
        caller = RetryingCaller(self.region, self.limiter, self.clock)
        return caller.call(action, method(client_for(self.client_in, self.region)), **request)
