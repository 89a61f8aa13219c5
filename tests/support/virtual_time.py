"""Time that passes only when everybody waits: many callers side by side, for minutes, in a moment.

Each caller is a thread, so that it may be the real code, but only one runs at a time, and in the same order each time:
a caller that sleeps gives way to the one that wakes first, and time jumps to then.
"""

from __future__ import annotations

import heapq
import threading
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, TypeVar

from strongref.aws.in_threads import Batch
from strongref.protocol.time import CLOCK_SKEW_SECONDS
from tests.support.fake_ssm import EPOCH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

T = TypeVar("T")


@dataclass
class VirtualTime:
    """A world's time, in seconds from its beginning."""

    seconds: float = 0.0
    _sleepers: list[tuple[float, int, threading.Lock]] = field(default_factory=list)
    _order: count[int] = field(default_factory=count)
    _failures: list[BaseException] = field(default_factory=list)
    _ended: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def run(self, *callers: Callable[[], object]) -> None:
        """Let callers run side by side, all from now on, until the last one has ended.

        Raises:
            BaseException: the first that one of them raised.
        """
        threads = []
        for caller in callers:
            turn = self._queue(0.0)
            threads.append(threading.Thread(target=self._caller, args=[caller, turn], daemon=True))
        for thread in threads:
            thread.start()
        self._wake_next()
        for _ in callers:
            self._ended.acquire()
        if self._failures:
            raise self._failures[0]

    def side_by_side(self, queues: Sequence[Sequence[Callable[[], T]]]) -> list[list[T]]:
        """As `in_threads`, for a caller."""
        batch = Batch(queues)
        if workers := batch.workers():
            self._together(workers)
        return batch.results()

    def _together(self, workers: Sequence[Callable[[], None]]) -> None:
        """Let workers run side by side with all others, and the caller when the last one has ended."""
        caller, working = _taken(), len(workers)

        def work(worker: Callable[[], None], turn: threading.Lock) -> None:
            nonlocal working
            turn.acquire()
            worker()
            working -= 1
            if not working:
                self._queue(0.0, caller)
            self._wake_next()

        for worker in workers:
            threading.Thread(target=work, args=[worker, self._queue(0.0)], daemon=True).start()
        self._wake_next()
        caller.acquire()

    def sleep(self, seconds: float) -> None:
        """Let so much time pass, and others run meanwhile."""
        wakes = self.seconds + max(seconds, 0.0)
        if not self._sleepers or wakes < self._sleepers[0][0]:
            self.seconds = wakes  # Nobody else wakes before: another thread need not run.
            return
        turn = self._queue(max(seconds, 0.0))
        self._wake_next()
        turn.acquire()

    def _caller(self, caller: Callable[[], object], turn: threading.Lock) -> None:
        turn.acquire()
        try:
            caller()
        except BaseException as error:  # noqa: BLE001 (raised by run)
            self._failures.append(error)
        self._ended.release()
        self._wake_next()

    def _queue(self, seconds: float, turn: threading.Lock | None = None) -> threading.Lock:
        turn = turn or _taken()
        heapq.heappush(self._sleepers, (self.seconds + seconds, next(self._order), turn))
        return turn

    def _wake_next(self) -> None:
        if self._sleepers:
            self.seconds, _, turn = heapq.heappop(self._sleepers)
            turn.release()


def _taken() -> threading.Lock:
    """What a thread waits for until another one releases it: a semaphore takes ten times as long."""
    turn = threading.Lock()
    turn.acquire()
    return turn


@dataclass
class VirtualClock:
    """`ports.Clock` of one invocation in a world's time."""

    time: VirtualTime
    ends: float

    @classmethod
    def lasting(cls, time: VirtualTime, seconds: float) -> VirtualClock:
        return cls(time, time.seconds + seconds)

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.time.seconds)

    def earliest(self) -> datetime:
        return self.now() - timedelta(seconds=CLOCK_SKEW_SECONDS)

    def sleep(self, seconds: float) -> None:
        self.time.sleep(seconds)

    def remaining(self) -> float:
        return self.ends - self.time.seconds

    def before_call(self, action: str) -> None:
        """Nothing to renew."""
