"""Work that is made of steps, a call to AWS at each, so that whoever does it decides what comes in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ENDED = object()


def side_by_side(works: Iterable[Iterator[None]]) -> None:
    """Do several works a step of each in turn: each region has quotas of its own, so they wait together."""
    going = list(works)
    while going:
        going = [work for work in going if next(work, _ENDED) is not _ENDED]


def one_after_the_other(works: Iterable[Iterator[None]]) -> None:
    """Do each work to its end before the next begins."""
    for work in works:
        side_by_side([work])
