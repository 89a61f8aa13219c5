"""Fences: created, respected, renewed and removed. Every function that changes or deletes values uses them.

Several fences can exist at the same time; there is no lock. A function that changes values creates its own fence, then
looks for other fences, and gives way if it finds one. A function that imports claims first and looks for fences
afterwards. So when a change and an import meet, at least one of them sees the other.

Reads may lag (`lag`), so a function that changes values waits twice: before it reads behind its fence, and before it
deletes the fence. What only creates values waits for nothing, see `behind_fences`: its fence expires a moment later.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from strongref.contract.fence import IN_FLIGHT, Fence, TagScan
from strongref.contract.values import ParameterType
from strongref.errors import InvocationTimeoutError, OutOfTimeError, StrongRefError, UnfinishedError
from strongref.log import logger
from strongref.protocol.lag import MustWaitError
from strongref.protocol.time import OnClock, Until
from strongref.refusals import ChangingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from strongref.contract.names import ExportScope
    from strongref.protocol.lag import ReadLag
    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock

T = TypeVar("T")

FENCE_SECONDS = 60.0
"""How long a fence stands that is not renewed, in addition to `fence.IN_FLIGHT`."""

CLOCK_SKEW_SECONDS = 1.0
"""By how much the clocks of two functions may differ (AWS: Amazon Time Sync Service keeps them within milliseconds)."""

RESERVE_SECONDS = 5.0
RESERVE_SHARE = 0.2
"""What is kept of the invocation's time for taking fences away at its end: seconds, or a share of a short time."""


@dataclass(frozen=True, slots=True)
class FenceHolder:
    """Who puts up fences."""

    name: str  # among the holders of a scope; a random token makes it unique
    says: str  # who that is, for people
    work: str = ""  # the request being carried out, if another invocation can continue it behind the same fences
    until: datetime | None = None  # until when one may be asked to continue it
    # whether an earlier invocation left a fence for this one. Events that say so without knowing the request take no
    # fence over
    continues: bool = False


@dataclass(frozen=True, slots=True)
class FencedStore:
    """A store to work in behind a fence."""

    store: Store  # begins no call after the fence has expired, and renews the fence before a call
    clock: Clock  # the store's. Its time goes on for as long as the fence is renewed, so no patience ends by it
    scan: TagScan  # how far an earlier invocation has read tags; to be kept up to date


def live_fence(store: Store, scope: ExportScope, now: datetime) -> Fence | None:
    """A fence in a scope that has not expired; expired ones are deleted."""
    fences = fences_below(store, scope.fences)
    expired = delete_expired(store, fences, now)
    return next((fence for name, fence in fences.items() if name not in expired), None)


def fences_below(store: Store, path: str) -> dict[str, Fence]:
    """Every fence below a path, by parameter name."""
    return {name: Fence.decode(found) for name, found in store.under(path).items()}


def delete_expired(store: Store, fences: Mapping[str, Fence], now: datetime) -> list[str]:
    """Delete the expired ones among the fences; return their names. Those of a later format are left."""
    expired = {name: fence for name, fence in fences.items() if not fence.is_live(now)}
    deleted = {name: fence for name, fence in expired.items() if not fence.newer}
    for name, fence in deleted.items():
        log = logger.debug if fence.finished else logger.warning  # The others' holders died.
        log("An expired fence was deleted", extra={"fence": name, "holder": str(fence)})
    store.delete(deleted)
    return list(expired)


_READING = ("Get", "List", "Describe")
"""How the names of API actions begin that change nothing."""


@dataclass(slots=True)
class OwnFence:
    """One holder's fence in one scope."""

    ports: Ports
    region: str
    scope: ExportScope
    holder: FenceHolder
    token: str  # tells it from the holder's other fences: never used twice
    scan: TagScan = field(init=False)
    taken_over: list[str] = field(default_factory=list)  # names of fences that this holder left behind

    def __post_init__(self) -> None:
        self.scan = TagScan(self.holder.work)

    @property
    def name(self) -> str:
        return f"{self.scope.fences}/{self.holder.name}.{self.token}"

    def put_up(self, ends: datetime, clock: Clock, left: TagScan | None = None) -> None:
        """Put it up, or renew it until then."""
        self._write(Fence(self.holder.says, ends + IN_FLIGHT, left), clock)

    def _write(self, fence: Fence, clock: Clock) -> None:
        self.ports.stores(self.region, clock).overwrite(self.name, ParameterType.STRING, fence.encode())

    def others(self, clock: Clock, *, at_first: bool = False) -> Fence | None:
        """Another holder's live fence. One that this holder left behind does not count: it is taken over.

        A list without this fence itself is out of date, and counts as if it had another one; but not `at_first`, right
        after this fence was put up.
        """
        store = self.ports.stores(self.region, clock)
        fences = fences_below(store, self.scope.fences)
        self.taken_over, self.scan = [], TagScan(self.holder.work)
        if fences.pop(self.name, None) is None and not at_first:
            return Fence("another deployment", clock.now())
        expired = delete_expired(store, fences, clock.now())
        for name, fence in fences.items():
            if name in expired:
                continue
            is_own = fence.unfinished and name.startswith(f"{self.scope.fences}/{self.holder.name}.")
            is_same = fence.unfinished and self.holder.work == fence.unfinished.work
            if not is_own or (self.holder.continues and not is_same):
                return fence
            self.taken_over.append(name)
            if fence.unfinished and self.holder.work and is_same:
                self.scan = fence.unfinished
        return None

    def leave(self, clock: Clock) -> None:
        """Let it stand for the invocation that continues the work."""
        try:
            self.put_up(clock.now() + timedelta(seconds=FENCE_SECONDS), clock, self.scan)
            self.ports.stores(self.region, clock).delete(self.taken_over)
        except StrongRefError as error:
            logger.warning("A fence could not be left", extra={"fence": self.name, "error": str(error)})

    def let_expire(self, clock: Clock, lag: ReadLag) -> None:
        """Let it stand until reads show what was written behind it, without waiting for that."""
        ends = clock.now() + timedelta(seconds=lag.after_writing + CLOCK_SKEW_SECONDS)
        try:
            self._write(Fence(self.holder.says, ends, finished=True), clock)
        except StrongRefError as error:
            logger.warning("A fence expires later", extra={"fence": self.name, "error": str(error)})

    def take_away(self, clock: Clock) -> None:
        """Delete it, with those that it took over: at no time can a list lack both.

        If that fails it expires: no reason to fail what has succeeded.
        """
        try:
            self.ports.stores(self.region, clock).delete([self.name, *self.taken_over])
        except StrongRefError as error:
            logger.warning("A fence could not be deleted", extra={"fence": self.name, "error": str(error)})


@dataclass(slots=True)
class FenceLease(OnClock):
    """`time.Clock` of work behind fences: it ends before they expire, and renews them before a call.

    A function that dies leaves its fences behind, and everyone else waits until they expire. So they stand for
    `FENCE_SECONDS` only, however long the work takes, and are renewed while it goes on.
    """

    fences: Sequence[OwnFence]
    reserve: float  # the seconds of the invocation that are kept for taking the fences away
    ends: datetime  # until when calls may begin, if the fences are not renewed
    began: datetime  # when the last of them was created, at the latest
    has_written: bool = False  # whether a call was made behind the fences that may change what others read
    _renewing: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def begin(cls, fences: Sequence[OwnFence], clock: Clock, reserve: float) -> FenceLease:
        """Put the fences up."""
        lease = cls(clock, fences, reserve, clock.now(), clock.now())
        lease._put_up(clock)
        lease.began = clock.now()
        return lease

    def remaining(self) -> float:
        return min(self._left, self._stands)

    def before_call(self, action: str) -> None:
        """Renew the fences if half of their time is over. One of the calls side by side does; the others go on."""
        self.has_written = self.has_written or not action.startswith(_READING)
        if self._is_due and self._renewing.acquire(blocking=False):
            try:
                if self._is_due:
                    # The renewal itself may not begin after the fences have ended: by then others may take them for
                    # expired.
                    self._put_up(Until(self.clock, self.ends))
            finally:
                self._renewing.release()

    @property
    def _is_due(self) -> bool:
        return 0 < self._stands < min(FENCE_SECONDS / 2, self._left)

    def wait_before_reading(self, lag: ReadLag) -> None:
        """Wait until reads show everything that a function did that may not see the fences.

        Raises:
            InvocationTimeoutError: the invocation has no time for it.
        """
        seconds = lag.before_reading - (self.clock.now() - self.began).total_seconds()
        if seconds <= 0:
            return
        if seconds > self._left:
            raise InvocationTimeoutError
        self.clock.sleep(seconds)

    @property
    def expired(self) -> bool:
        """Whether the fences' time is over, and the invocation's is not."""
        return self._stands < self._left

    @property
    def _left(self) -> float:
        return self.clock.remaining() - self.reserve

    @property
    def _stands(self) -> float:
        return (self.ends - self.clock.now()).total_seconds()

    def _put_up(self, clock: Clock) -> None:
        ends = clock.now() + timedelta(seconds=FENCE_SECONDS)
        _with_each(self.fences, clock, lambda own, given: own.put_up(ends, given))
        self.ends = ends


def behind_fences(  # noqa: PLR0913 (who, what, where, for how long)
    ports: Ports,
    clock: Clock,
    sites: Sequence[tuple[str, ExportScope]],
    holder: FenceHolder,
    work: Callable[[list[FencedStore]], T],
    *,
    without_waiting: Callable[[list[FencedStore]], T] | None = None,
    busy: Callable[[Fence], StrongRefError] | None = None,
) -> T:
    """Do some work behind a fence in each site, a region and a scope, giving way to other fences there.

    The work may be done again from the beginning, so it has to find what it did before. `without_waiting` is tried
    before it, without the waits for reads that lag. It must only create what does not exist; if there is anything else
    to do, it raises `MustWaitError`, and the work follows.

    Raises:
        ChangingError: another holder was still at work when patience was over. `busy` makes another error of it.
        UnfinishedError: the invocation ran out of time. The fences stay for a while, if another invocation can continue
            the work.
    """
    waiting, lag = ports.patience.begin(clock), ports.lag
    reserve = min(RESERVE_SECONDS, clock.remaining() * RESERVE_SHARE) + lag.after_writing
    while True:
        fences = [OwnFence(ports, region, scope, holder, ports.token()) for region, scope in sites]
        put_away: Callable[[OwnFence, Clock], None] = OwnFence.take_away
        lease = None
        try:
            lease = FenceLease.begin(fences, clock, reserve)
            other, continues = _first_look(fences, clock) if lag.seconds else (None, True)
            if without_waiting and not (other or continues):
                with suppress(MustWaitError):
                    # Tags that are read before the wait must be read again.
                    stores = [FencedStore(ports.stores(own.region, lease), lease, TagScan()) for own in fences]
                    done = without_waiting(stores)
                    put_away = partial(OwnFence.let_expire, lag=lag)
                    return done
            other = other or _settled_look(fences, lease, lag)
            if other is None:
                return work([FencedStore(ports.stores(own.region, lease), lease, own.scan) for own in fences])
        except BaseException as error:
            if isinstance(error, OutOfTimeError) and lease and lease.expired:
                continue  # the fences' time is over, not the invocation's: the rest is done behind new ones
            put_away = _put_away_after(error, holder, lease, clock)
            raise
        finally:
            if put_away is not OwnFence.take_away or _wait_after_writing(lease, clock, lag):
                _with_each(fences, clock, put_away)
        if not waiting.pause(partial(ports.waits, sites[0][1], other)):
            raise waiting.over(busy(other) if busy else ChangingError(str(sites[0][1].producer), str(other)))


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
    others = _with_each(fences, clock, partial(OwnFence.others, at_first=True))
    other = next(filter(None, others), None)
    continues = any(own.taken_over for own in fences)
    for own in fences:
        own.taken_over, own.scan = [], TagScan(own.holder.work)
    return other, continues


def _settled_look(fences: Sequence[OwnFence], lease: FenceLease, lag: ReadLag) -> Fence | None:
    """Another holder's fence, once every function sees these."""
    lease.wait_before_reading(lag)
    return next(filter(None, _with_each(fences, lease.clock, OwnFence.others)), None)


def _with_each(fences: Sequence[OwnFence], clock: Clock, act: Callable[[OwnFence, Clock], T]) -> list[T]:
    """Do something with every fence, side by side in each region: each has quotas of its own."""
    first = fences[0]
    queues: dict[str, list[int]] = {}
    for at, own in enumerate(fences):
        queues.setdefault(own.region, []).append(at)
    run = first.ports.stores(first.region, clock).side_by_side
    found = run([[partial(act, fences[at], clock) for at in queue] for queue in queues.values()])
    done = {
        at: each
        for queue, results in zip(queues.values(), found, strict=True)
        for at, each in zip(queue, results, strict=True)
    }
    return [done[at] for at in range(len(fences))]


def _wait_after_writing(lease: FenceLease | None, clock: Clock, lag: ReadLag) -> bool:
    """Wait until reads show what was written behind the fences. False without enough time: then the fences expire."""
    if lease and lease.has_written and lag.seconds:
        if clock.remaining() < lag.after_writing:
            return False
        lag.settle(clock)
    return True
