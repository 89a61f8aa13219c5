"""Fences: written, listed, renewed and deleted. `behind_fences` says how they are used."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from strongref.contract.fence import IN_FLIGHT, Fence, TagScan
from strongref.contract.values import ParameterType
from strongref.errors import InvocationTimeoutError, StrongRefError
from strongref.log import logger
from strongref.protocol.time import READING, Clock, OnClock, Until

if TYPE_CHECKING:
    from strongref.contract.names import ExportScope, Site
    from strongref.protocol.lag import ReadLag
    from strongref.protocol.ports import Ports, Store

T = TypeVar("T")

FENCE_SECONDS = 60.0
"""How long a fence stands that is not renewed, in addition to `fence.IN_FLIGHT`."""

LIFETIME = timedelta(seconds=FENCE_SECONDS) + IN_FLIGHT
"""How long a fence is respected that is not renewed."""


@dataclass(frozen=True, slots=True)
class FenceHolder:
    name: str  # among the holders of a scope; a random token makes it unique
    says: str  # who that is, for people
    work: str = ""  # the request being carried out, if another invocation can continue it behind the same fences
    until: datetime | None = None  # until when one may be asked to continue it
    # whether an earlier invocation left a fence for this one. Events that say so without knowing the request take no
    # fence over
    continues: bool = False


def live_fence(store: Store, scope: ExportScope, clock: Clock) -> Fence | None:
    """A fence in a scope that has not expired. Those that have are left to the next holder, and to the janitor."""
    return next(iter(live_fences(store, scope.path("fences"), clock).values()), None)


def live_fences(store: Store, path: str, clock: Clock) -> dict[str, Fence]:
    """Every fence below a path that has not expired, by parameter name."""
    earliest = clock.earliest()  # Before the read: a fence may be renewed after it.
    return {name: each for name, each in fences_below(store, path).items() if each.is_live(earliest)}


def fences_below(store: Store, path: str) -> dict[str, Fence]:
    """Every fence below a path, by parameter name."""
    return {name: Fence.decode(found) for name, found in store.under(path).items()}


def delete_expired(store: Store, fences: Mapping[str, Fence], earliest: datetime) -> list[str]:
    """Delete the expired ones among the fences; return their names. Those of a later format are left.

    `earliest` is as for `Fence.is_live`.
    """
    expired = {name: fence for name, fence in fences.items() if not fence.is_live(earliest)}
    deleted = {name: fence for name, fence in expired.items() if not fence.newer}
    for name, fence in deleted.items():
        log = logger.debug if fence.finished else logger.warning  # The others' holders died.
        log("An expired fence was deleted", extra={"fence": name, "holder": str(fence)})
    store.delete(deleted)
    return list(expired)


@dataclass(slots=True)
class OwnFence:
    """One holder's fence in one scope."""

    ports: Ports
    site: Site
    scope: ExportScope
    holder: FenceHolder
    name: str  # of its parameter: the holder's in the scope, with a token that is never used twice
    scan: TagScan  # how far tags were read behind it, or behind those that it takes over
    taken_over: list[str] = field(default_factory=list)  # names of fences that this holder left behind

    @classmethod
    def of(cls, ports: Ports, site: Site, scope: ExportScope, holder: FenceHolder) -> OwnFence:
        """A new fence, which is not put up yet."""
        name = f"{scope.path('fences')}/{holder.name}.{ports.token()}"
        return cls(ports, site, scope, holder, name, TagScan(holder.work))

    def put_up(self, clock: Clock, fence: Fence) -> None:
        """Put it up, or renew it."""
        self.ports.at(self.site, clock).overwrite(self.name, ParameterType.STRING, fence.encode())

    def others(self, clock: Clock, *, at_first: bool = False) -> Fence | None:
        """Another holder's live fence. One that this holder left behind does not count: it is taken over.

        A list without this fence itself is out of date, and counts as if it had another one; but not `at_first`, right
        after this fence was put up.
        """
        store, earliest = self.ports.at(self.site, clock), clock.earliest()
        fences = fences_below(store, self.scope.path("fences"))
        self.taken_over, self.scan = [], TagScan(self.holder.work)
        if fences.pop(self.name, None) is None and not at_first:
            return Fence("another deployment", clock.now())
        expired = delete_expired(store, fences, earliest)
        for name, fence in fences.items():
            if name in expired:
                continue
            is_own = fence.unfinished and name.startswith(f"{self.scope.path('fences')}/{self.holder.name}.")
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
            self.put_up(clock, Fence(self.holder.says, clock.now() + LIFETIME, self.scan, lifetime=LIFETIME))
            self.ports.at(self.site, clock).delete(self.taken_over)
        except StrongRefError as error:
            logger.warning("A fence could not be left", extra={"fence": self.name, "error": str(error)})

    def let_expire(self, clock: Clock, lag: ReadLag) -> None:
        """Let it stand until reads show what was written behind it, without waiting for that.

        Who reads it adds what clocks may be off by.
        """
        lifetime = timedelta(seconds=lag.after_writing)
        try:
            self.put_up(clock, Fence(self.holder.says, clock.now() + lifetime, finished=True, lifetime=lifetime))
        except StrongRefError as error:
            logger.warning("A fence expires later", extra={"fence": self.name, "error": str(error)})

    def take_away(self, clock: Clock) -> None:
        """Delete it, with those that it took over: at no time can a list lack both.

        If that fails it expires: no reason to fail what has succeeded.
        """
        try:
            self.ports.at(self.site, clock).delete([self.name, *self.taken_over])
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
    began: float  # what remained of the invocation when the last of them was created, at the latest
    has_written: bool = False  # whether a call was made behind the fences that may change what others read
    _renewing: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def begin(cls, fences: Sequence[OwnFence], clock: Clock, reserve: float) -> FenceLease:
        lease = cls(clock, fences, reserve, clock.now(), clock.remaining())
        lease._put_up(clock)
        lease.began = clock.remaining()  # A duration: a clock that is corrected meanwhile does not shorten it.
        return lease

    def remaining(self) -> float:
        return min(self._left, self._stands)

    def before_call(self, action: str) -> None:
        """Renew the fences if half of their time is over. One of the calls side by side does; the others go on."""
        self.has_written = self.has_written or not action.startswith(READING)
        if self._renewing.acquire(blocking=False):
            try:
                if 0 < self._stands < min(FENCE_SECONDS / 2, self._left):
                    # The renewal itself may not begin after the fences have ended: by then others may take them for
                    # expired.
                    self._put_up(Until(self.clock, self.ends))
            finally:
                self._renewing.release()

    def wait_before_reading(self, lag: ReadLag) -> None:
        """Wait until reads show everything that a function did that may not see the fences.

        Raises:
            InvocationTimeoutError: the invocation has no time for it.
        """
        seconds = lag.before_reading - (self.began - self.clock.remaining())
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
        now = clock.now()
        fence = Fence(self.fences[0].holder.says, now + LIFETIME, lifetime=LIFETIME)
        with_each(self.fences, clock, partial(OwnFence.put_up, fence=fence))
        self.ends = now + timedelta(seconds=FENCE_SECONDS)


def with_each(fences: Sequence[OwnFence], clock: Clock, act: Callable[[OwnFence, Clock], T]) -> list[T]:
    """Do something with every fence, side by side in each site: each has quotas of its own."""
    first = fences[0]
    queues: dict[Site, list[Callable[[], T]]] = {}
    for own in fences:
        queues.setdefault(own.site, []).append(partial(act, own, clock))
    found = first.ports.at(first.site, clock).side_by_side(list(queues.values()))
    results = {site: iter(each) for site, each in zip(queues, found, strict=True)}
    return [next(results[own.site]) for own in fences]
