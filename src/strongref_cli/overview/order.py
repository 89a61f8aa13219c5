"""In which order stacks can be deployed or deleted, as waves of stacks that can go side by side.

A wave holds the stacks whose producers are all in earlier waves. Stacks that import from each other in a circle have no
order among themselves: they share a wave, and the circle is named.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from strongref_cli.overview.graph import Graph, Participant


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
    producers, importers = graph.producers(), graph.importers()
    wave_of: dict[Participant, int] = {}
    waves: list[list[Participant]] = []
    cycles = []
    for component in _components(producers, importers):
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


def _components(
    producers: Mapping[Participant, AbstractSet[Participant]], importers: Mapping[Participant, AbstractSet[Participant]]
) -> Iterator[set[Participant]]:
    """The strongly connected components, producers first, by Kosaraju's algorithm."""
    seen: set[Participant] = set()
    for start in reversed(_finished(importers)):
        component: set[Participant] = set()
        todo = [start]
        while todo:
            each = todo.pop()
            if each not in seen:
                seen.add(each)
                component.add(each)
                todo += producers[each]
        if component:
            yield component


def _finished(neighbors: Mapping[Participant, AbstractSet[Participant]]) -> list[Participant]:
    """Participants as a search in depth is done with them. Chains can be longer than Python's stack."""
    finished: list[Participant] = []
    seen: set[Participant] = set()
    for start in neighbors:
        todo = [(start, False)]
        while todo:
            each, is_done = todo.pop()
            if is_done:
                finished.append(each)
            elif each not in seen:
                seen.add(each)
                todo.append((each, True))
                todo += [(neighbor, False) for neighbor in neighbors[each]]
    return finished


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
