"""Steps of the protocol: calls that do not depend on each other, so they may be made at the same time, in any order.

Who makes the calls decides whether they are: the functions and the command do (`strongref.aws.in_threads`), what works
slowly on purpose does not, and neither do tests that try every order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from strongref.protocol.ports import Store

T = TypeVar("T")

PART = 30
"""Calls of a step whose results are used before the next calls, where an invocation that times out would lose them."""


def in_turn(queues: Sequence[Sequence[Callable[[], T]]]) -> list[list[T]]:
    """`ports.SideBySide` of one call after the other, the first ones of all regions first."""
    results: list[list[T]] = [[] for _ in queues]
    for calls in zip_longest(*queues):
        for call, found in zip(calls, results, strict=True):
            if call is not None:
                found.append(call())
    return results


def call_all(store: Store, calls: Iterable[Callable[[], T]]) -> list[T]:
    """Make calls of one store; see `ports.SideBySide`."""
    (found,) = store.side_by_side([list(calls)])
    return found


def call_beside(store: Store, call: Callable[[], T], *others: Callable[[], object]) -> T:
    """Make a call of a store beside others, which only may fail; see `ports.SideBySide`."""
    found: list[T] = []
    call_all(store, [*others, lambda: found.append(call())])
    return found[0]


class Work(NamedTuple):
    """What is to be done in one store."""

    store: Store
    steps: Iterator[Sequence[Callable[[], object]]]  # each is made when the one before is done


def carry_out(works: Iterable[Work]) -> None:
    """Carry out several works, one step of each at the same time: each site has quotas of its own."""
    going = list(works)
    while going:
        step: dict[tuple[str, str], list[Callable[[], object]]] = {}
        left = []
        for work in going:
            calls = next(work.steps, None)
            if calls is not None:
                step.setdefault((work.store.account, work.store.region), []).extend(calls)
                left.append(work)
        if step:
            left[0].store.side_by_side(list(step.values()))
        going = left
