"""What SSM and CloudFormation admit: a model of the quotas of every account and region, shared with other traffic.

Pure, with the standard library only. The caller gives the time, so that a test's second costs nothing and a server's is
real.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

CLASSES: Final[Mapping[str, str]] = {
    "GetParameter": "reads",
    "GetParameters": "reads",
    "GetParametersByPath": "reads",
    "PutParameter": "puts",
    "DeleteParameter": "deletes",
    "DeleteParameters": "deletes",
    "ListTagsForResource": "tags",
    "AddTagsToResource": "tags",
    "RemoveTagsFromResource": "tags",
    "DescribeParameters": "describe",
    "GetResources": "resources",
    "DescribeStackResource": "stacks",
    "DescribeStacks": "stacks",
    "ListStackResources": "stacks",
}
"""Actions that share a quota."""

UNLIMITED: Final = frozenset({"Invoke"})
"""A function's own invocations: their quota is thousands a second."""


@dataclass(slots=True)
class Quotas:
    """Calls a second and class. Those of reads and puts are published, the others are guesses.

    Attributes:
        others: the share of every quota that other traffic uses up, from 0 to below 1. It comes at random moments and
            takes its tokens before anyone else does: when there are none, the next ones.
        seed: what makes those moments the same in every run.
    """

    reads: float = 40
    puts: float = 3
    deletes: float = 5
    tags: float = 10
    describe: float = 10
    resources: float = 10
    stacks: float = 10
    others: float = 0.0
    seed: int = 0
    _buckets: dict[tuple[str, str, str], _Bucket] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if min(getattr(self, each) for each in set(CLASSES.values())) <= 0:
            raise ValueError("every rate must be above 0")
        if not 0 <= self.others < 1:
            raise ValueError("others must leave something: 0 <= others < 1")

    def rate(self, action: str) -> float:
        """The quota that an action counts towards, in calls a second.

        Raises:
            KeyError: no such action is known.
        """
        found: float = getattr(self, CLASSES[action])
        return found

    def admit(self, action: str, account: str, region: str, now_seconds: float) -> bool:
        """Whether a call that comes now is carried out; if it is, it is counted.

        Args:
            action: as the API calls it.
            account: whose quota it counts towards.
            region: likewise.
            now_seconds: of any clock. What lies before an earlier call's counts as that call's.

        Raises:
            KeyError: no such action is known.
        """
        if action in UNLIMITED:
            return True
        key = account, region, CLASSES[action]
        bucket = self._buckets.get(key)
        if bucket is None:
            chance = random.Random("/".join((str(self.seed), *key)))  # noqa: S311 (traffic, not secrets)
            bucket = self._buckets[key] = _Bucket(self.rate(action), self.others, chance, now_seconds)
        return bucket.admit(now_seconds)

    def least_seconds(self, calls: Mapping[str, int]) -> float:
        """The time that these calls take at least in one account and region: the slowest class's, over what is left.

        What a full bucket gives at once, one second's worth, is left out: it is the same for everybody.
        """
        by_class: dict[str, float] = {}
        for action, count in calls.items():
            if action not in UNLIMITED:
                by_class[CLASSES[action]] = by_class.get(CLASSES[action], 0.0) + count / self.rate(action)
        return max(by_class.values(), default=0.0) / (1 - self.others)


class _Bucket:
    """A second's worth of tokens at most. Others may leave it in debt; a call of `admit` needs a whole token."""

    def __init__(self, rate: float, others: float, chance: random.Random, now: float) -> None:
        self._rate = rate
        self._capacity = self._tokens = max(1.0, rate)
        self._others = rate * others
        self._chance = chance
        self._at = now
        self._next = self._arrival(now)

    def admit(self, now: float) -> bool:
        while self._next <= now:
            self._refill(self._next)
            self._tokens -= 1
            self._next = self._arrival(self._next)
        self._refill(now)
        # Tokens are sums of many small parts: what lacks a billionth of a token is one.
        if self._tokens < 1 - 1e-9:
            return False
        self._tokens -= 1
        return True

    def _refill(self, now: float) -> None:
        passed = max(0.0, now - self._at)
        self._at += passed
        self._tokens = min(self._capacity, self._tokens + passed * self._rate)

    def _arrival(self, after: float) -> float:
        """When the next call of others comes: they know nothing of each other."""
        return after + self._chance.expovariate(self._others) if self._others else float("inf")
