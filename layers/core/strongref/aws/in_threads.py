"""Calls side by side, in threads: up to `IN_FLIGHT` of each region."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Generic, TypeVar

from strongref.aws.rate_limit import IN_FLIGHT

T = TypeVar("T")

MOST = 32
"""Threads of one batch, however many queues it has."""


def in_threads(queues: Sequence[Sequence[Callable[[], T]]]) -> list[list[T]]:
    """`ports.SideBySide` in threads; one call alone needs none."""
    batch = Batch(queues)
    workers = batch.workers()
    threads = [threading.Thread(target=_quietly, args=[worker], daemon=True) for worker in workers[1:]]
    for thread in threads:
        thread.start()
    _in_turn(workers[:1])
    for thread in threads:
        thread.join()
    return batch.results()


def _quietly(worker: Callable[[], None]) -> None:
    """Carry out a worker in a thread of its own; `Batch.results` raises what ends it."""
    with suppress(BaseException):
        worker()


def _in_turn(workers: Sequence[Callable[[], None]]) -> None:
    for worker in workers:
        worker()


class Batch(Generic[T]):
    """Calls that several workers make, each the next one of its region's queue."""

    def __init__(self, queues: Sequence[Sequence[Callable[[], T]]]) -> None:
        self._queues = queues
        self._results: dict[tuple[int, int], T] = {}  # by number of the call, and of its queue
        self._failures: dict[tuple[int, int], BaseException] = {}
        self._stopped = False
        self._lock = threading.Lock()

    def workers(self) -> list[Callable[[], None]]:
        """Carry out all calls if they are called at the same time. They raise nothing but what ends the process."""
        found: list[Callable[[], None]] = []
        share = max(1, MOST // max(1, len(self._queues)))
        for number, queue in enumerate(self._queues):
            calls = iter(enumerate(queue))
            found += [partial(self._work, calls, number)] * min(IN_FLIGHT, len(queue), share)
        return [partial(_in_turn, found[first::MOST]) for first in range(min(MOST, len(found)))]

    def _work(self, calls: Iterator[tuple[int, Callable[[], T]]], queue: int) -> None:
        try:
            while following := self._next(calls):
                at, call = following
                try:
                    self._results[at, queue] = call()
                except BaseException as error:
                    self._failures[at, queue] = error  # raised by `results`
                    if not isinstance(error, Exception):
                        raise
        except BaseException:
            self._stopped = True
            raise

    def _next(self, calls: Iterator[tuple[int, Callable[[], T]]]) -> tuple[int, Callable[[], T]] | None:
        """The next call of a queue, unless one has failed."""
        with self._lock:
            return None if self._failures or self._stopped else next(calls, None)

    def results(self) -> list[list[T]]:
        """The results of the calls; raises the first failure, in the order of the calls."""
        if self._failures:
            raise self._failures[min(self._failures)]
        return [[self._results[at, number] for at in range(len(queue))] for number, queue in enumerate(self._queues)]
