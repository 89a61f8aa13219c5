"""Fences put up, met and taken away: the part of the protocol that everyone takes who changes or deletes values.

Fences stand side by side; nobody waits for a lock. Who changes values puts up a fence of its own, looks for others'
and steps back if there is one; who imports claims first and looks for fences then. So of a change and an import that
meet, at least one sees the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from strongref.contract.fence import IN_FLIGHT, Fence, TagScan
from strongref.contract.values import Kind
from strongref.errors import ChangingError, OutOfTimeError, StrongRefError, UnfinishedError
from strongref.log import logger
from strongref.protocol.time import Until

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from strongref.contract.names import ExportScope
    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock

T = TypeVar("T")

FENCE_SECONDS = 60.0
"""How long fences stand that are not renewed, besides `fence.IN_FLIGHT`."""

RESERVE_SECONDS = 5.0
RESERVE_SHARE = 0.2
"""Of the invocation's time, for the fences at its end: so many seconds, or a share of a short time."""


@dataclass(frozen=True, slots=True)
class FenceHolder:
    """Who puts up fences.

    Attributes:
        name: among the holders of a place; made unique by something never said before.
        says: who that is, for people.
        work: the request that is carried out, if another invocation can go on with it behind the same fences.
    """

    name: str
    says: str
    work: str = ""


@dataclass(frozen=True, slots=True)
class FencedStore:
    """Where somebody works behind a fence.

    Attributes:
        store: in which no call is begun after the fence's time.
        clock: that store's; its time goes on for as long as the fence is renewed, so nobody waits by it.
        looked: what was looked at already, by an invocation that handed over; to be kept up to date.
    """

    store: Store
    clock: Clock
    looked: TagScan


def live_fence(store: Store, scope: ExportScope, now: datetime) -> Fence | None:
    """A fence in a place that still stands; those whose time is up are taken away."""
    return next(iter(_all_standing(store, scope, now).values()), None)


def _all_standing(store: Store, scope: ExportScope, now: datetime, own: str = "") -> dict[str, Fence]:
    """The fences in a place that still stand, other than one's own, by name."""
    fences = {name: fence for name, fence in fences_below(store, scope.fences).items() if name != own}
    dead = delete_expired(store, fences, now)
    return {name: fence for name, fence in fences.items() if name not in dead}


def fences_below(store: Store, path: str) -> dict[str, Fence]:
    """Every fence below a path, by name."""
    return {name: Fence.decode(found) for name, found in store.under(path).items()}


def delete_expired(store: Store, fences: Mapping[str, Fence], now: datetime) -> list[str]:
    """Take away those of the fences whose time is up; their names."""
    dead = {name: fence for name, fence in fences.items() if not fence.stands(now)}
    for name, fence in dead.items():
        logger.warning("A fence past its time was taken away", extra={"fence": name, "holder": str(fence)})
    store.delete(dead)
    return list(dead)


@dataclass(slots=True)
class OwnFence:
    """One's own fence in a place."""

    ports: Ports
    region: str
    scope: ExportScope
    holder: FenceHolder
    token: str
    """What tells it from the holder's other ones: never used twice."""
    looked: TagScan = field(init=False)
    _taken_over: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.looked = TagScan(self.holder.work)

    @property
    def name(self) -> str:
        return f"{self.scope.fences}/{self.holder.name}.{self.token}"

    def put_up(self, ends: datetime, clock: Clock, left: TagScan | None = None) -> None:
        """Put it up, or say anew until when it stands."""
        fence = Fence(self.holder.says, ends + IN_FLIGHT, left)
        self.ports.stores(self.region, clock).overwrite(self.name, Kind.STRING, fence.encode())

    def others(self, clock: Clock) -> Fence | None:
        """Somebody else's standing fence. One that this holder has left is none: it is taken over, with its work."""
        store = self.ports.stores(self.region, clock)
        for name, fence in _all_standing(store, self.scope, clock.now(), own=self.name).items():
            if not (fence.left and name.startswith(f"{self.scope.fences}/{self.holder.name}.")):
                return fence
            self._taken_over.append(name)
            if self.holder.work and fence.left.work == self.holder.work:
                self.looked = fence.left
        return None

    def take_over(self, clock: Clock) -> None:
        """Take away what this holder had left, now that its successor stands."""
        if self._taken_over:
            self.ports.stores(self.region, clock).delete(self._taken_over)

    def leave(self, clock: Clock) -> None:
        """Let it stand for whoever goes on with the work."""
        try:
            self.put_up(clock.now() + timedelta(seconds=FENCE_SECONDS), clock, self.looked)
        except StrongRefError as error:
            logger.warning("A fence could not be left", extra={"fence": self.name, "error": str(error)})

    def take_away(self, clock: Clock) -> None:
        """A fence that cannot be taken away falls when its time is up: no reason to fail what has succeeded."""
        try:
            self.ports.stores(self.region, clock).delete([self.name])
        except StrongRefError as error:
            logger.warning("A fence could not be taken away", extra={"fence": self.name, "error": str(error)})


@dataclass(slots=True)
class FenceClock:
    """`ports.Clock` of what is done behind fences: it ends before they fall, and renews them as long as time goes on.

    A function that dies leaves its fences behind, and everybody else waits for them to fall. So they stand for
    `FENCE_SECONDS` only, however long the work takes, and are put up anew while it goes on.

    Attributes:
        fencings: the fences.
        clock: the invocation's.
        reserve: the seconds of it that are left for taking the fences away.
        ends: until when calls are begun, if the fences are not renewed until then.
    """

    fencings: Sequence[OwnFence]
    clock: Clock
    reserve: float
    ends: datetime

    @classmethod
    def put_up(cls, fencings: Sequence[OwnFence], clock: Clock, reserve: float) -> FenceClock:
        """Put the fences up, and begin."""
        behind = cls(fencings, clock, reserve, clock.now())
        behind._renew(clock)
        return behind

    def now(self) -> datetime:
        return self.clock.now()

    def sleep(self, seconds: float) -> None:
        self.clock.sleep(seconds)

    def remaining(self) -> float:
        """Seconds in which calls may be begun; asked before each, so this is where fences are renewed in time."""
        left = self.clock.remaining() - self.reserve
        stands = (self.ends - self.clock.now()).total_seconds()
        if 0 < stands < min(FENCE_SECONDS / 2, left):
            # Not begun after they have ended: somebody may take them for void by the time it is done.
            self._renew(Until(self.clock, self.ends))
            stands = (self.ends - self.clock.now()).total_seconds()
        return min(left, stands)

    @property
    def fell(self) -> bool:
        """Whether the fences' time is up, and not the invocation's."""
        return (self.ends - self.clock.now()).total_seconds() < self.clock.remaining() - self.reserve

    def _renew(self, clock: Clock) -> None:
        ends = clock.now() + timedelta(seconds=FENCE_SECONDS)
        for fencing in self.fencings:
            fencing.put_up(ends, clock)
        self.ends = ends


def behind_fences(  # noqa: PLR0913 (who, what, where, for how long)
    ports: Ports,
    clock: Clock,
    sites: Sequence[tuple[str, ExportScope]],
    holder: FenceHolder,
    work: Callable[[list[FencedStore]], T],
    *,
    busy: Callable[[Fence], StrongRefError] | None = None,
) -> T:
    """Do something behind a fence in each of several places, giving way to whoever is at work in one of them.

    Args:
        ports: what calls go through.
        clock: the invocation's.
        sites: regions and places.
        holder: who works.
        work: what to do at these posts. It may be done again from the beginning, so it has to find what it did before.
        busy: the error if somebody else goes on being at work; by default that the first place's exports are changing.

    Raises:
        ChangingError: somebody else still was at work when patience was at its end.
        UnfinishedError: the invocation's time ran short. If the holder names a work, the fences go on standing for a
            while, for the invocation that goes on with it.
    """
    waiting = ports.patience.begin(clock)
    reserve = min(RESERVE_SECONDS, clock.remaining() * RESERVE_SHARE)
    while True:
        fencings = [OwnFence(ports, region, scope, holder, ports.token()) for region, scope in sites]
        put_away = OwnFence.take_away
        behind = None
        try:
            behind = FenceClock.put_up(fencings, clock, reserve)
            other = next((fence for fencing in fencings if (fence := fencing.others(clock))), None)
            if other is None:
                for fencing in fencings:
                    fencing.take_over(clock)
                return work([FencedStore(ports.stores(each.region, behind), behind, each.looked) for each in fencings])
        except UnfinishedError as error:
            if isinstance(error, OutOfTimeError) and behind and behind.fell:
                continue  # the fences' time is up, not the invocation's: what is left is done behind new ones
            if holder.work:
                put_away = OwnFence.leave
            raise
        finally:
            for fencing in fencings:
                put_away(fencing, clock)
        if not waiting.pause():
            raise waiting.over(busy(other) if busy else ChangingError(str(sites[0][1].producer), str(other)))
