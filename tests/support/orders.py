"""Calls that do not depend on each other, one after the other in some order: as threads may, and a test can repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from strongref.aws.rate_limit import IN_FLIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")


def in_flight(queues: Sequence[Sequence[Callable[[], T]]]) -> list[list[T]]:
    """Of calls that begin together, one that fails does not keep the others from being carried out."""
    failed: list[Exception] = []
    results: list[list[T]] = [[] for _ in queues]
    for at in range(0, max(map(len, queues), default=0), IN_FLIGHT):
        for queue, found in zip(queues, results, strict=True):
            for call in queue[at : at + IN_FLIGHT]:
                try:
                    found.append(call())
                except Exception as error:  # noqa: BLE001 (raised below)
                    failed.append(error)
        if failed:
            raise failed[0]
    return results


def turned_round_in_flight(queues: Sequence[Sequence[Callable[[], T]]]) -> list[list[T]]:
    """Make all calls as `in_flight` does, the last one first."""
    return [found[::-1] for found in in_flight([queue[::-1] for queue in queues[::-1]])][::-1]
