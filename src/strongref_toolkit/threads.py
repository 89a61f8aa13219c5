"""Work that waits for AWS, side by side in threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import TypeVar

from strongref.errors import StrongRefError

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


def in_regions(regions: Iterable[str], work: Callable[[str], T]) -> tuple[dict[str, T], dict[str, StrongRefError]]:
    """The results of some work in regions, side by side, and the errors of the regions where it failed."""

    def attempt(region: str) -> T | StrongRefError:
        try:
            return work(region)
        except StrongRefError as error:
            return error

    names = list(regions)
    done = dict(zip(names, in_threads([partial(attempt, each) for each in names]), strict=True))
    failed = {region: each for region, each in done.items() if isinstance(each, StrongRefError)}
    return {region: each for region, each in done.items() if not isinstance(each, StrongRefError)}, failed
