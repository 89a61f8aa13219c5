"""Work behind fences: put up, respected, and put away. Every function that changes or deletes values does it this way.

Several fences can exist at the same time; there is no lock. A function that changes values creates its own fence, then
looks for other fences, and gives way if it finds one. A function that imports claims first and looks for fences
afterwards. So when a change and an import meet, at least one of them sees the other.

Reads may lag (`lag`), so a function that changes values waits twice: before it reads behind its fence, and before it
deletes the fence. What only creates values waits for nothing, see `behind_fences`: its fence expires a moment later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

from strongref.contract.fence import Fence, TagScan
from strongref.errors import OutOfTimeError, StrongRefError, UnfinishedError
from strongref.protocol.fences import FenceHolder, FenceLease, OwnFence, with_each
from strongref.protocol.lag import MustWaitError, ReadLag
from strongref.refusals import ChangingError

if TYPE_CHECKING:
    from strongref.contract.names import ExportScope, Site
    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock

T = TypeVar("T")

FirstLook = Callable[[], tuple[Fence | None, bool]]
"""Returns another holder's fence, and whether an earlier invocation left fences: without waiting, so it may be late."""

RESERVE_SECONDS = 5.0
RESERVE_SHARE = 0.2
"""What is kept of the invocation's time for taking fences away at its end: seconds, or a share of a short time."""


@dataclass(frozen=True, slots=True)
class FencedStore:
    """A store to work in behind a fence."""

    store: Store  # begins no call after the fence has expired, and renews the fence before a call
    clock: Clock  # the store's. Its time goes on for as long as the fence is renewed, so no patience ends by it
    # how far an earlier invocation has read tags; to be kept up to date
    scan: TagScan = field(default_factory=TagScan)


def behind_fences(  # noqa: PLR0913 (who, what, where, for how long)
    ports: Ports,
    clock: Clock,
    sites: Sequence[tuple[Site, ExportScope]],
    holder: FenceHolder,
    work: Callable[[list[FencedStore]], T],
    *,
    without_waiting: Callable[[list[FencedStore], FirstLook], T] | None = None,
    busy: Callable[[Fence], StrongRefError] | None = None,
) -> T:
    """Do some work behind a fence in each scope of a site, giving way to other fences there.

    The work may be done again from the beginning, so it has to find what it did before. `without_waiting` is tried
    before it, without the waits for reads that lag: it must only create what does not exist, or raise `MustWaitError`,
    as it has to if its first look finds somebody.

    Raises:
        ChangingError: another holder was still at work when patience was over, and no other invocation can continue the
            wait. `busy` makes another error of it.
        UnfinishedError: the invocation ran out of time. The fences stay for a while, if another one can continue.
    """
    waiting, lag = ports.patience.begin(clock, endless=holder.until is not None), ports.lag
    reserve = min(RESERVE_SECONDS, clock.remaining() * RESERVE_SHARE) + lag.after_writing
    while True:
        fences = [OwnFence.of(ports, site, scope, holder) for site, scope in sites]
        put_away: Callable[[OwnFence, Clock], None] = OwnFence.take_away
        lease = None
        try:
            lease = FenceLease.begin(fences, clock, reserve)
            look = cache(partial(_first_look, fences, clock))
            if without_waiting and lag.seconds:
                with suppress(MustWaitError):
                    # Tags that are read before the wait must be read again.
                    stores = [FencedStore(ports.at(own.site, lease), lease) for own in fences]
                    done = without_waiting(stores, look)
                    put_away = _leave_alone
                    ports.later(partial(with_each, fences, clock, partial(OwnFence.let_expire, lag=lag)))
                    return done
            other, _ = look() if lag.seconds else (None, True)
            if other is None:
                lease.wait_before_reading(lag)
                other = next(filter(None, with_each(fences, clock, OwnFence.others)), None)
            if other is None:
                return work([FencedStore(ports.at(own.site, lease), lease, own.scan) for own in fences])
        except BaseException as error:
            if isinstance(error, OutOfTimeError) and lease and lease.expired:
                continue  # the fences' time is over, not the invocation's: the rest is done behind new ones
            put_away = _put_away_after(error, holder, lease, clock)
            raise
        finally:
            if put_away is not OwnFence.take_away or _wait_after_writing(lease, clock, lag):
                with_each(fences, clock, put_away)
        while other:  # Only look meanwhile: the fences of those who wait would keep each other waiting.
            if not waiting.pause(partial(ports.waits, sites[0][1], other)):
                raise waiting.over(busy(other) if busy else ChangingError(str(sites[0][1].producer), str(other)))
            other, _ = _first_look(fences, clock)


def _put_away_after(
    error: BaseException, holder: FenceHolder, lease: FenceLease | None, clock: Clock
) -> Callable[[OwnFence, Clock], None]:
    """What is done with the fences after work that did not end."""
    if isinstance(error, UnfinishedError) and holder.until and clock.now() < holder.until:
        return OwnFence.leave
    if not isinstance(error, Exception) and lease and lease.has_written:
        return _leave_alone  # Calls in flight may still be carried out. The fences expire after them.
    return OwnFence.take_away


def _leave_alone(_own: OwnFence, _clock: Clock) -> None:
    """Put nothing away: a fence that nobody renews expires."""


def _first_look(fences: Sequence[OwnFence], clock: Clock) -> tuple[Fence | None, bool]:
    """Another holder's fence, to give way to without waiting; and whether an earlier invocation left fences.

    None of those is taken over yet: others may not see the fences that were just put up.
    """
    others = with_each(fences, clock, partial(OwnFence.others, at_first=True))
    other = next(filter(None, others), None)
    continues = any(own.taken_over for own in fences)
    for own in fences:
        own.taken_over, own.scan = [], TagScan(own.holder.work)
    return other, continues


def _wait_after_writing(lease: FenceLease | None, clock: Clock, lag: ReadLag) -> bool:
    """Wait until reads show what was written behind the fences. False without enough time: then the fences expire."""
    if lease and lease.has_written and lag.seconds:
        if clock.remaining() < lag.after_writing:
            return False
        lag.settle(clock)
    return True
