"""Stacks and the references between them. Data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from strongref_cli.overview.states import Protection


@dataclass(frozen=True, slots=True, order=True)
class Participant:
    """A stack, or a manifest set, that exports or imports."""

    account: str
    region: str  # empty for a manifest set: it imports from many
    name: str
    kind: str = "stack"  # or "manifests"

    @property
    def id(self) -> str:
        """A text that tells it from all others."""
        return f"{self.kind}/{self.account}/{self.region}/{self.name}"


@dataclass(frozen=True, slots=True, order=True)
class Reference:
    """What one participant imports from another in one region. It never has a value."""

    producer: Participant
    importer: Participant
    region: str  # where the values are stored, and so where they are imported
    keys: tuple[str, ...]  # the imported keys, as an Import names them, sorted
    outdated: tuple[str, ...]  # those of them whose value changed after the importer read it
    protection: Protection  # the worst that any of them has


class Unread(NamedTuple):
    """A region that could not be read."""

    region: str
    error: str  # a sentence


@dataclass(frozen=True, slots=True)
class Graph:
    """All participants and references of some regions.

    It is complete and sorted however it is made: a participant of a reference is one of the participants.
    """

    participants: tuple[Participant, ...]  # those too that only export, and that nobody imports from
    references: tuple[Reference, ...]
    as_of: datetime  # when it was read, with its time zone
    unread: tuple[Unread, ...] = ()  # regions of which nothing is in it

    def __post_init__(self) -> None:
        found = {*self.participants, *(end for each in self.references for end in (each.producer, each.importer))}
        object.__setattr__(self, "participants", tuple(sorted(found)))
        object.__setattr__(self, "references", tuple(sorted(self.references)))

    def producers(self) -> dict[Participant, set[Participant]]:
        """By participant, the others that it imports from."""
        return self._neighbors((each.importer, each.producer) for each in self.references)

    def importers(self) -> dict[Participant, set[Participant]]:
        """By participant, the others that import from it."""
        return self._neighbors((each.producer, each.importer) for each in self.references)

    def _neighbors(self, pairs: Iterable[tuple[Participant, Participant]]) -> dict[Participant, set[Participant]]:
        neighbors: dict[Participant, set[Participant]] = {each: set() for each in self.participants}
        for one, other in pairs:
            neighbors[one] |= {other} - {one}
        return neighbors
