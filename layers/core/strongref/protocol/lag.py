"""How long a read may lag behind a write, and what is waited for because of it. Pure.

AWS documents no read-after-write consistency for Parameter Store's reads, tags and paths, nor for CloudFormation's
lists. strongref assumes only a bound: a read returns what was stored at some time in the last `ReadLag.seconds`. Each
item of a list may be of another time, and a caller's own writes are no exception. Writes apply to what is stored.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from strongref.contract.properties import parse_number
from strongref.errors import BadRequestError

if TYPE_CHECKING:
    from strongref.protocol.time import Clock

T = TypeVar("T")

DEFAULT_LAG = 2.0
"""Seconds. `strongref selftest` measures your own."""

MAX_LAG = 10.0
"""Seconds: the largest bound that an installation can set. The times of fences are made for it."""

MARGIN = 0.5
"""Seconds in addition to the bound: the proof needs *more* than the bound, and clocks tick in steps."""

VARIABLE = "STRONGREF_READ_LAG"
"""The environment variable that has the bound in seconds."""

_WORK_SECONDS = 25.0
"""What a `ServiceTimeout` must allow in addition to the waits: calls, and the reserves at an invocation's end."""


class MustWaitError(Exception):
    """There is more to do than to create what does not exist, so it has to wait for reads that lag."""


@dataclass(frozen=True, slots=True)
class ReadLag:
    """The bound, and the waits that make the protocol hold under it (docs/how-it-works.md has the proof)."""

    seconds: float = 0.0  # 0: reads show every write at once, and nothing is waited for

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> ReadLag:
        """The bound of this installation; the default if the variable is not set.

        Raises:
            BadRequestError: it is not a number from 0 to `MAX_LAG`.
        """
        given = environment.get(VARIABLE) or str(DEFAULT_LAG)
        return cls(parse_number(VARIABLE, given, f"seconds from 0 to {MAX_LAG:g}", MAX_LAG))

    @property
    def before_reading(self) -> float:
        """Seconds between creating a fence and reading what it protects.

        A claim older than one lag is then seen. A younger one was put on more than a lag after the fence was created,
        so its importer sees the fence.
        """
        return 2 * self.seconds + MARGIN if self.seconds else 0.0

    @property
    def after_writing(self) -> float:
        """Seconds between the last write and deleting the fence: an importer that sees no fence sees the writes.

        Also the time between two looks that have to agree.
        """
        return self.seconds + MARGIN if self.seconds else 0.0

    def settle(self, clock: Clock) -> None:
        """Wait until reads show what is stored now; without a lag, they do."""
        if self.seconds:
            clock.sleep(self.after_writing)

    def certain(self, clock: Clock, look: Callable[[], T], is_certain: Callable[[T], bool]) -> T:
        """What a look finds. Unless that is certain, it looks again when reads show what is stored now."""
        found = look()
        if self.seconds and not is_certain(found):
            self.settle(clock)
            return look()
        return found

    def check_service_timeout(self, timeout: float) -> None:
        """Check that CloudFormation waits long enough; raises `BadRequestError`, with the least value, if not."""
        least = math.ceil(self.before_reading + 2 * self.after_writing + _WORK_SECONDS) if self.seconds else 0
        if timeout < least:
            why = f"changes wait for reads that lag by up to {self.seconds:g} seconds"
            problem = f"must be at least {least} seconds, got {timeout:g}: {why}. Raise it, or leave it out"
            raise BadRequestError("ServiceTimeout", problem)
