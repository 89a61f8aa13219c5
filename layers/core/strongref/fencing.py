"""Fences put up, met and taken away: the part of the protocol that everyone takes who changes or deletes values.

Fences stand side by side; nobody waits for a lock. Who changes values puts up a fence of its own, looks for others'
and steps back if there is one; who imports claims first and looks for fences then. So of a change and an import that
meet, at least one sees the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.errors import StrongRefError
from strongref.fence import Fence
from strongref.log import logger
from strongref.ports import Kind

if TYPE_CHECKING:
    from datetime import datetime

    from strongref.address import Place
    from strongref.ports import Store


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
