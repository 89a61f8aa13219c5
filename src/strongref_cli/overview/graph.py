"""Stacks, the references between them, and the order in which stacks can be deployed or deleted. Pure.

An order is made of waves of stacks that can go side by side: a wave holds the stacks whose producers are all in earlier
waves. Stacks that import from each other in a circle have no order among themselves: they share a wave, and the circle
is named.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, NamedTuple

from strongref.errors import where_text

if TYPE_CHECKING:
    from datetime import datetime

    from strongref_cli.overview.states import Protection


@dataclass(frozen=True, slots=True, order=True)
class Participant:
    """A stack, or a manifest set, that exports or imports."""

    account: str
    region: str  # empty for a manifest set: it imports from many
    name: str
    kind: str = "stack"  # or "manifests", or "consumer": whoever imports at a place in another account

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
    account: str = ""  # of the store that has the values; empty for the caller's own


class Unread(NamedTuple):
    """A region that could not be read."""

    region: str
    error: str  # a sentence
    account: str = ""  # empty for the caller's own

    @property
    def where(self) -> str:
        return where_text(self.region, self.account)


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

    def neighbors(self) -> tuple[dict[Participant, set[Participant]], dict[Participant, set[Participant]]]:
        """By participant, the others that it imports from; and likewise, the others that import from it."""
        producers, importers = ({each: set[Participant]() for each in self.participants} for _ in range(2))
        for each in self.references:
            producers[each.importer] |= {each.producer} - {each.importer}
            importers[each.producer] |= {each.importer} - {each.producer}
        return producers, importers


@dataclass(frozen=True, slots=True)
class Cycle:
    """Participants that all depend on each other."""

    participants: tuple[Participant, ...]  # sorted
    chain: tuple[Participant, ...]  # the shortest circle among them: each exports to the next, the last is the first


@dataclass(frozen=True, slots=True)
class Order:
    """Waves in the order in which they go. Each depends only on earlier ones."""

    waves: tuple[tuple[Participant, ...], ...]
    cycles: tuple[Cycle, ...]


def deploy_order(graph: Graph) -> Order:
    """Producers first. A stack is in the first wave that is possible for it."""
    producers, importers = graph.neighbors()
    wave_of: dict[Participant, int] = {}
    waves: list[list[Participant]] = []
    cycles = []
    for component in _components(producers):
        wave = max((wave_of[each] + 1 for member in component for each in producers[member] - component), default=0)
        wave_of |= dict.fromkeys(component, wave)
        waves += [[]] if wave == len(waves) else []
        waves[wave] += component
        if len(component) > 1:
            members = sorted(component)
            circles = (_circle_through(each, component, importers) for each in members)
            cycles.append(Cycle(tuple(members), min(circles, key=len)))
    cycles.sort(key=lambda cycle: cycle.participants)
    return Order(tuple(tuple(sorted(wave)) for wave in waves), tuple(cycles))


def delete_order(graph: Graph) -> Order:
    """Importers first: the order of deployment, reversed."""
    order = deploy_order(graph)
    return Order(order.waves[::-1], order.cycles)


def _components(producers: Mapping[Participant, AbstractSet[Participant]]) -> list[frozenset[Participant]]:
    """The strongly connected components, producers first: as long as there is a circle, it is merged into one.

    A few circles, as a landscape has them by mistake, take no time; 500 among 2,000 stacks take seconds.
    """
    component_of = {each: frozenset([each]) for each in producers}
    while True:
        neighbors: dict[frozenset[Participant], set[frozenset[Participant]]] = {}
        for each, component in component_of.items():
            neighbors.setdefault(component, set()).update(component_of[other] for other in producers[each])
            neighbors[component].discard(component)
        try:
            return list(TopologicalSorter(neighbors).static_order())
        except CycleError as error:
            together = frozenset[Participant]().union(*error.args[1])
            component_of |= dict.fromkeys(together, together)


def _circle_through(
    start: Participant, component: AbstractSet[Participant], importers: Mapping[Participant, AbstractSet[Participant]]
) -> tuple[Participant, ...]:
    """The shortest circle from a member of a component to itself, by a search in breadth."""
    found = {start}
    todo: deque[tuple[Participant, tuple[Participant, ...]]] = deque([(start, (start,))])
    while start not in importers[todo[0][0]]:
        each, chain = todo.popleft()
        nearest = sorted(importers[each] & component - found)
        found.update(nearest)
        todo.extend((neighbor, (*chain, neighbor)) for neighbor in nearest)
    return (*todo[0][1], start)
