"""Where the boxes of the page stand. Pure, and the same for the same graph.

Columns are the waves of deployment: values go from left to right, except in a cycle. Each account and region is a lane
across all columns, with rows of its own. Participants without references fill the rows below the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from strongref.grouping import grouped
from strongref_cli.graph.formats.diagrams import by_place
from strongref_cli.overview.graph import Cycle, Graph, Participant, deploy_order

LEAST_COLUMNS, MOST_SIDE_BY_SIDE = 2, 3
"""The room that a cycle needs, and how many boxes without references are side by side, if there are few waves."""


@dataclass(frozen=True, slots=True)
class Box:
    """A participant and its place in its lane; the first column and row are 1."""

    participant: Participant
    column: int
    row: int
    is_connected: bool


@dataclass(frozen=True, slots=True)
class Lane:
    account: str
    region: str
    boxes: tuple[Box, ...]  # column by column


@dataclass(frozen=True, slots=True)
class Placement:
    """All lanes, account by account."""

    lanes: tuple[Lane, ...]
    columns: int
    waves: int  # of what is connected
    cycles: tuple[Cycle, ...]


def place(graph: Graph) -> Placement:
    producers, importers = graph.neighbors()
    order = deploy_order(graph)
    connected = [[each for each in wave if producers[each] or importers[each]] for wave in order.waves]
    column_of = {each: column for column, wave in enumerate(connected, 1) for each in wave}
    alone = sum(each not in column_of for each in graph.participants)
    columns = max(len(order.waves), LEAST_COLUMNS, min(alone, MOST_SIDE_BY_SIDE))
    lanes = [
        (account, region, members)
        for account, regions in by_place(graph.participants).items()
        for region, members in regions.items()
    ]
    row_of = _rows([_cells(members, column_of) for _, _, members in lanes], (producers, importers, producers))
    return Placement(
        tuple(Lane(account, region, _boxes(members, column_of, row_of, columns)) for account, region, members in lanes),
        columns,
        len(order.waves) if column_of else 0,
        order.cycles,
    )


def _boxes(
    members: Sequence[Participant],
    column_of: Mapping[Participant, int],
    row_of: Mapping[Participant, int],
    columns: int,
) -> tuple[Box, ...]:
    """A lane's boxes: those with references by column, then the others in rows below."""
    connected = [Box(each, column_of[each], row_of[each], is_connected=True) for each in members if each in column_of]
    first_free = max((box.row for box in connected), default=0) + 1
    alone = [each for each in members if each not in column_of]
    return (
        *sorted(connected, key=lambda box: (box.column, box.row)),
        *(Box(each, 1 + at % columns, first_free + at // columns, is_connected=False) for at, each in enumerate(alone)),
    )


def _cells(members: Sequence[Participant], column_of: Mapping[Participant, int]) -> list[list[Participant]]:
    """A lane's participants with references, by column."""
    return list(grouped((column_of[each], each) for each in members if each in column_of).values())


def _rows(
    lanes: Sequence[Sequence[list[Participant]]], sweeps: Sequence[Mapping[Participant, set[Participant]]]
) -> dict[Participant, int]:
    """Rows that put a participant near the others that it is connected with, so that few arrows cross.

    Each sweep sorts every cell by where the participants' neighbors stand on average.
    """
    top: dict[Participant, int] = {}
    height = 0
    for lane in lanes:
        top |= {each: height for cell in lane for each in cell}
        height += max(map(len, lane), default=0)
    row = {each: number for lane in lanes for cell in lane for number, each in enumerate(cell, 1)}
    for neighbors in sweeps:
        at = {each: top[each] + row[each] for each in row}
        wish = {each: fmean(at[other] for other in neighbors[each] or {each}) for each in row}
        for lane in lanes:
            for cell in lane:
                cell.sort(key=lambda each: (wish[each], each))
                row |= {each: number for number, each in enumerate(cell, 1)}
    return row
