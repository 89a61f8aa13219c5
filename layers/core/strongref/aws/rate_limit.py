"""Rate limits of all AWS calls. Time comes from the clock only.

`RateLimiter` does not space calls until AWS throttles one; from then on, it finds the rate that the quota has room for
(docs/decisions/0014).
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, NamedTuple

from strongref.contract.properties import parse_number

if TYPE_CHECKING:
    from datetime import datetime

_ACTIONS_OF_RATE = {
    "reads": ("GetParameters", "GetParametersByPath"),
    "writes": ("PutParameter",),
    "deletes": ("DeleteParameters",),
    "tags": ("AddTagsToResource", "RemoveTagsFromResource", "ListTagsForResource", "DescribeParameters"),
    "stacks": (
        *("DescribeStacks", "DescribeStackEvents", "DescribeStackResource", "ListStackResources", "ListStacks"),
        *("CreateStack", "UpdateStack", "DeleteStack", "GetTemplate", "GetTemplateSummary", "ListExports"),
        *("DescribeChangeSet", "CreateChangeSet", "DeleteChangeSet", "ExecuteChangeSet", "ListImports"),
        "UpdateTerminationProtection",
    ),
    "invocations": ("Invoke", "GetFunctionConfiguration", "GetAccountSettings"),
    "resources": ("GetResource", "GetResources", "ListResources"),
    "others": (
        *("AssumeRole", "DescribeRegions", "GetCallerIdentity", "GetObject", "GetSecretValue"),
        *("CreateBucket", "DeleteBucket", "DeleteObjects", "HeadBucket", "HeadObject", "ListObjectsV2", "PutObject"),
        *("PutBucketEncryption", "PutPublicAccessBlock"),
    ),
}
RATE_OF_ACTION = {action: rate for rate, actions in _ACTIONS_OF_RATE.items() for action in actions}
"""The field of `RateLimits` for each API action that strongref calls."""

FIRST_IN_FLIGHT, IN_FLIGHT = 10, 24
"""Calls that a process makes at the same time in one region, at most: at first, and one more after each call that is
not throttled. With more than 24, 100 values take no less time, because the processor is busy (docs/performance.md)."""

_BURST_SECONDS = 1.0
"""Calls of so many seconds may be made at once after a rest, so a small event does not wait."""
_SLOWDOWN = 0.93
"""The factor by which a throttled call lowers the rate. Small steps: a rate below the rest of a quota wastes it."""
_SLOWEST = 1 / 16
"""The lowest rate, as a share of the first one."""
_CAUTION = 0.97
"""The factor for the first rate: at the very rate of a quota, others find nothing left, and this process cannot see
it."""
_REST_SECONDS = 0.75
_REST_CALLS = 8
"""How long no call is made after a throttled one, and for how many calls at most. The quota recovers meanwhile, so
others find something left."""
_CLIMB_SECONDS = 120.0
"""Time in which the rate doubles if nothing is throttled: slowly at first, then faster and faster."""
_QUIET_SECONDS = 20.0
"""A call that is throttled sooner than this after another one belongs to the same series."""
_DOUBLING_SECONDS = 0.25
_MOST_DOUBLINGS = 12
_PROBE_REST = 0.85
"""After `_QUIET_SECONDS` without a throttled call, the rate doubles that often: a probe. If a call is throttled, the
quota is as it was, and so is the rate after a rest, which can be this much shorter. Otherwise nothing limits it anymore
after so many doublings."""
_LONGEST_SERIES = 6
"""After so many throttled calls in a series, calls of others come at random moments, and a lower rate does not help."""
_RECOVERY_SECONDS = 20.0
"""Time in which the rate of a longer series recovers from 0. It stays a little above what others leave, and so notices
when they leave more."""
_LONGEST_GAP = 10.0
"""Seconds between two calls that count as time without a throttled one, at most: rest proves nothing."""
_FORGOTTEN_SECONDS = 300.0
"""After so much rest, nothing is known about the quota anymore."""
_EARLIEST_RETRY, _LATEST_RETRY = 0.5, 1.5
"""When a throttled call is retried, in rests. The moment is random, so that callers that were throttled together do not
retry together."""

_SCATTER = 1.0
"""How much later than its turn a call is made at most, in intervals between two calls. The moment is random, since of
two callers at the same pace one would always come first, and the other be throttled."""


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The calls per second and region that this process makes at most; 0 for no limit."""

    reads: float = 0
    writes: float = 0
    tags: float = 0
    deletes: float = 0
    stacks: float = 0
    invocations: float = 0
    resources: float = 0
    others: float = 0

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> RateLimits:
        """Limits from variables such as `STRONGREF_READS_PER_SECOND`; none for each that is not set.

        Raises:
            BadRequestError: a variable is not a number from 0.
        """
        names = {field.name: f"STRONGREF_{field.name.upper()}_PER_SECOND" for field in fields(cls)}
        unit = "calls per second, or 0 for no limit"
        given = {name: parse_number(var, environment[var], unit) for name, var in names.items() if environment.get(var)}
        return cls(**given)

    def share(self, part: float) -> RateLimits:
        """A share of these limits, and of the first rates where there are none, for work that can wait."""
        names = [field.name for field in fields(self)]
        return RateLimits(**{name: (getattr(self, name) or getattr(FIRST_RATES, name)) * part for name in names})


FIRST_RATES = RateLimits(reads=40, writes=3, tags=10, deletes=5, stacks=5, invocations=10, resources=5, others=10)
"""The rates after the first throttled call.

AWS's quotas are shared by all callers of an account: 40 reads and 3 puts by default (AWS General Reference, Systems
Manager quotas). The other quotas are not published; these are guesses.
"""


class Turn(NamedTuple):
    """When a call may be made."""

    wait: float  # in seconds from now
    slowdowns: int  # how many times the rate had been lowered when the turn was given


@dataclass(eq=False, slots=True)
class InFlight:
    """What a call holds while it is made: as many as a region may have at the same time can."""

    _most: int = FIRST_IN_FLIGHT
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def acquire(self) -> bool:
        """Whether the call may be made now."""
        with self._lock:
            self._now += (begins := self._now < self._most)
        return begins

    def release(self, *, throttled: bool) -> None:
        with self._lock:
            self._now -= 1
            self._most = FIRST_IN_FLIGHT if throttled else min(IN_FLIGHT, self._most + 1)


class RateLimiter:
    """One rate for each class of actions and region, shared by all threads of the process."""

    def __init__(self, limits: RateLimits) -> None:
        self._limits = limits
        self._buckets: dict[tuple[str, str], _Bucket] = {}
        self.in_flight: dict[str, InFlight] = {}  # by region
        self._lock = threading.Lock()

    def take(self, action: str, region: str, now: datetime, within: float, chance: float = 0.0) -> Turn | None:
        """Take a turn: how long to wait before the call.

        Returns None and takes no turn if the wait would be `within` seconds or more. `chance` is a random number from 0
        to 1: where a call was throttled before, how much later than its turn this one is made.
        """
        with self._lock:
            return self._bucket(action, region).take(now, within, chance)

    def is_valid(self, action: str, region: str, turn: Turn) -> bool:
        """Whether a turn still is one after its wait. It is not if a call was throttled meanwhile: take another."""
        with self._lock:
            return self._bucket(action, region).slowdowns == turn.slowdowns

    def throttled(self, action: str, region: str, turn: Turn, now: datetime, chance: float) -> float:
        """Slow down after AWS throttled the call of a turn; return the seconds between two calls from now on.

        Of calls that are throttled together, only the first one counts. `chance` is a random number from 0 to 1: how
        soon the next call may be made.
        """
        with self._lock:
            return self._bucket(action, region).slow_down(turn, now, chance)

    def _bucket(self, action: str, region: str) -> _Bucket:
        name = RATE_OF_ACTION[action]
        found = self._buckets.get((name, region))
        if found is None:
            found = self._buckets[name, region] = _Bucket(getattr(FIRST_RATES, name), getattr(self._limits, name))
        return found


class _Bucket:
    """Tokens arrive at a rate that is unlimited at first. Missing tokens are a time to wait."""

    def __init__(self, first_rate: float, limit: float) -> None:
        self._limit = limit or math.inf
        self._first_rate = min(first_rate, self._limit)
        self._at: datetime | None = None
        self.slowdowns = 0  # how many times the rate was lowered
        self._forget()

    def _forget(self) -> None:
        self._lowered: float | None = None  # the rate right after the last throttled call; None before the first
        self._before = self._first_rate  # the rate before the first throttled call of the series
        self._length = 0  # of the series, in throttled calls after the first
        self._since = 0.0  # seconds since a throttled call lowered the rate, without rests
        self._quiet = 0.0  # seconds since the last throttled call, likewise
        self._tokens = max(1.0, self._limit * _BURST_SECONDS)

    @property
    def _is_crowded(self) -> bool:
        """Whether the quota is so much in use that a lower rate does not prevent throttled calls."""
        return self._length > _LONGEST_SERIES

    @property
    def _rate(self) -> float:
        if self._lowered is None:
            return self._limit
        if self._is_crowded:
            return min(self._before, self._lowered + self._before * self._since / _RECOVERY_SECONDS)
        climbed = self._lowered * (1 + (self._since / _CLIMB_SECONDS) ** 3)
        return min(self._limit, climbed * math.exp2(self._doublings))

    @property
    def _doublings(self) -> float:
        """How often the rate has doubled, because nothing was throttled for long enough."""
        return 0.0 if self._lowered is None else max(0.0, self._quiet - _QUIET_SECONDS) / _DOUBLING_SECONDS

    def take(self, now: datetime, within: float, chance: float) -> Turn | None:
        self._pass(now)
        rate = self._rate
        wait = max(0.0, (1 - self._tokens) / rate) if rate < math.inf else 0.0
        if self._lowered is not None:
            wait += chance * _SCATTER / rate
        if wait >= within:
            return None
        self._tokens -= 1
        return Turn(wait, self.slowdowns)

    def _pass(self, now: datetime) -> None:
        passed = max(0.0, (now - (self._at or now)).total_seconds())
        self._at = now
        if passed >= _FORGOTTEN_SECONDS:
            self._forget()
            return
        rate = self._rate
        self._tokens = min(max(1.0, rate * _BURST_SECONDS), self._tokens + passed * rate) if passed else self._tokens
        self._since += min(passed, _LONGEST_GAP)
        self._quiet += min(passed, _LONGEST_GAP)
        if self._is_crowded and self._since > _QUIET_SECONDS:
            self._lowered, self._length, self._since = self._rate, 0, 0.0
        if self._doublings > _MOST_DOUBLINGS:
            self._lowered = None

    def slow_down(self, turn: Turn, now: datetime, chance: float) -> float:
        if turn.slowdowns == self.slowdowns:
            self._pass(now)
            if not (was_probe := self._doublings > 0):
                self._lower()
            self._quiet = 0.0
            interval = 1 / self._rate
            rest = interval if self._is_crowded else max(interval, min(_REST_SECONDS, _REST_CALLS * interval))
            if was_probe:
                rest *= _PROBE_REST
            self._tokens = 1 - self._rate * rest * (_EARLIEST_RETRY + chance * (_LATEST_RETRY - _EARLIEST_RETRY))
            self.slowdowns += 1
        return 1 / self._rate

    def _lower(self) -> None:
        rate = self._rate
        self._length = self._length + 1 if self._lowered is not None and self._since < _QUIET_SECONDS else 0
        if not self._length:
            self._before = min(rate, self._limit) if rate < math.inf else self._first_rate
        if self._lowered is None and self._first_rate < self._limit:
            self._lowered = self._first_rate * _CAUTION
        else:
            self._lowered = max(rate * _SLOWDOWN, self._first_rate * _SLOWEST)
        self._since = 0.0
