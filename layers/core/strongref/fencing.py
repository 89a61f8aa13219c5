"""Fences put up, met and taken away: the part of the protocol that everyone takes who changes or deletes values.

Fences stand side by side; nobody waits for a lock. Who changes values puts up a fence of its own, looks for others'
and steps back if there is one; who imports claims first and looks for fences then. So of a change and an import that
meet, at least one sees the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from strongref.errors import ChangingError, OutOfTimeError, StrongRefError
from strongref.fence import IN_FLIGHT, Fence
from strongref.log import logger
from strongref.patience import Allowance
from strongref.ports import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from strongref.address import Place
    from strongref.ports import Clock, Ports, Store

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Holder:
    """Who puts up fences.

    Attributes:
        name: among the holders of a place; made unique by something never said before.
        says: who that is, for people.
    """

    name: str
    says: str


def standing(store: Store, place: Place, now: datetime, own: str = "") -> Fence | None:
    """A fence in a place that still stands, other than one's own; those whose time is up are taken away."""
    found = None
    for name, parameter in store.under(place.fences).items():
        if name == own:
            continue
        fence = Fence.decode(parameter)
        if fence.stands(now):
            found = found or fence
        else:
            logger.warning("A fence past its time was taken away", extra={"fence": name, "holder": str(fence)})
            store.delete([name])
    return found


@dataclass(frozen=True, slots=True)
class Fencing:
    """One's own fence in a place."""

    store: Store
    place: Place
    holder: str
    """What names it among others: never used twice."""

    @property
    def name(self) -> str:
        return f"{self.place.fences}/{self.holder}"

    def put_up(self, fence: Fence) -> None:
        self.store.overwrite(self.name, Kind.STRING, fence.encode())

    def others(self, now: datetime) -> Fence | None:
        """Somebody else's standing fence."""
        return standing(self.store, self.place, now, own=self.name)

    def take_away(self) -> None:
        """A fence that cannot be taken away falls when its time is up: no reason to fail what has succeeded."""
        try:
            self.store.delete([self.name])
        except StrongRefError as error:
            logger.warning("A fence could not be taken away", extra={"fence": self.name, "error": str(error)})


def behind_fences(  # noqa: PLR0913, PLR0917
    ports: Ports,
    clock: Clock,
    sites: Sequence[tuple[str, Place]],
    holder: Holder,
    values: int,
    work: Callable[[list[Store]], T],
) -> T:
    """Do something behind a fence in each of several places, giving way to whoever is at work in one of them.

    Args:
        ports: what calls go through.
        clock: the invocation's.
        sites: regions and places.
        holder: who works.
        values: about how many are concerned; that tells how long the fences may stand.
        work: what to do, given each site's store, in which no call is begun after the fences' time. It may be done
            again from the beginning, so it has to find what it did before.

    Raises:
        ChangingError: somebody else still was at work when patience was at its end.
    """
    waiting = ports.patience.begin(clock)
    while True:
        allowance = Allowance.of(clock, values)
        name = f"{holder.name}.{ports.token()}"
        fencings = [Fencing(ports.stores(region, clock), place, name) for region, place in sites]
        try:
            for fencing in fencings:
                fencing.put_up(Fence(holder.says, allowance.ends + IN_FLIGHT))
            other = next((fence for fencing in fencings if (fence := fencing.others(clock.now()))), None)
            if other is None:
                return work([ports.stores(region, allowance) for region, _ in sites])
        except OutOfTimeError:
            if clock.remaining() <= 0:
                raise
            continue  # the fences' time is up, not the invocation's: what is left is done behind new ones
        finally:
            for fencing in fencings:
                fencing.take_away()
        if not waiting.pause():
            raise ChangingError(str(sites[0][1].producer), str(other))
