"""Work that waits for AWS, side by side in threads."""

from __future__ import annotations

from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")

MAX_THREADS = 32

GRACE = 15.0
"""Seconds that interrupted work has to clean up: longer than reads lag, and than one call usually takes."""


def in_threads(work: Iterable[Callable[[], T]], interrupt: Callable[[], None] | None = None) -> list[T]:
    """The results, in the order of the work.

    After Ctrl-C, `interrupt` is called; then the work that has begun has `GRACE` seconds to end.

    Raises:
        Exception: the first failure, in the order of the work. What has not begun by then never does.
    """
    pool = ThreadPoolExecutor(MAX_THREADS)
    futures: list[Future[T]] = []  # also of the part that Ctrl-C lets begin
    try:
        futures.extend(pool.submit(each) for each in work)
        wait(futures, return_when=FIRST_EXCEPTION)
        for each in futures:
            if each.done() and (error := each.exception()):
                raise error
        return [each.result() for each in futures]
    except KeyboardInterrupt:
        if interrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            interrupt()
            wait(futures, GRACE)
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
