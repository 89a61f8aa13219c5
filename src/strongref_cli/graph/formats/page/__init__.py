"""A graph as one HTML page that loads nothing: `page.html`, `page.css` and the scripts of this folder, filled in."""

from __future__ import annotations

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import groupby
from string import Template
from typing import TYPE_CHECKING

from strongref.errors import where_text
from strongref.text import some
from strongref_cli.graph.formats.diagrams import box_label, mark_text
from strongref_cli.graph.formats.page.placement import Box, Lane, Placement, place
from strongref_cli.overview.states import ImportState, Protection
from strongref_cli.terminal.output import count
from strongref_toolkit.json_values import time_text

if TYPE_CHECKING:
    from strongref_cli.overview.graph import Graph, Participant

SCRIPTS = ("edges.js", "details.js", "keyboard.js", "page.js")
"""They make one script, so the first one's "use strict" is that of all."""

MOST_AT_ONCE = 150
"""A larger graph begins with its lanes collapsed."""


def as_page(graph: Graph) -> str:
    placement = place(graph)
    numbers = {each: number for number, each in enumerate(graph.participants)}
    style = _file("page.css") + _grid_rules(placement)
    script = "".join(map(_file, SCRIPTS))
    as_of = graph.as_of.astimezone(UTC)
    return Template(_file("page.html")).substitute(
        policy=f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        as_of=time_text(as_of),
        as_of_text=as_of.strftime("%Y-%m-%d %H:%M UTC"),
        size=_size(graph),
        unread=_unread(graph),
        legend="".join(_legend(graph, len(placement.cycles))),
        waves="".join(_wave_heads(placement)),
        lanes="".join(_accounts(graph, placement, numbers)) or _file("empty.html"),
        data=_data(graph, placement, numbers),
    )


MARKS = {
    ImportState.OUTDATED: "A value changed after the importer read it. Deploy the importer with another Revision.",
    Protection.UNHELD: "The importer has no hold, although the Export names one.",
    Protection.UNPROTECTED: "The Export names no hold. Only the Export refuses a deletion of the producer, and by then "
    "CloudFormation may have deleted other resources.",
    Protection.UNKNOWN: "Whether a hold protects the producer is unknown: its region or its record was not read.",
    "cycle": "These stacks import from each other, so neither can be deployed first.",
}
"""What can be wrong with references. Only the first is written next to one that has several."""


def _legend(graph: Graph, cycles: int) -> Iterator[str]:
    counts = Counter[str](each.protection for each in graph.references)
    counts |= {ImportState.OUTDATED: sum(bool(each.outdated) for each in graph.references), "cycle": cycles}
    for mark, meaning in MARKS.items():
        yield (
            f'<li><button type="button" data-only="{mark}" aria-pressed="false" '
            f'title="{meaning} Click to show only these."><svg viewBox="0 0 34 10" aria-hidden="true">'
            f'<g class="edge {mark}"><path d="M0 5H28"/><polygon points="34,5 27,1.500 27,8.500"/></g></svg>'
            f"{mark_text(mark)} <b>{counts[mark]}</b></button></li>"
        )


def _file(name: str) -> str:
    return files(__name__).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _size(graph: Graph) -> str:
    kinds = Counter(each.kind for each in graph.participants)
    sets, unread = kinds["manifests"], kinds["consumer"]
    members = [count(len(graph.participants) - sets - unread, "stack")] + [count(sets, "manifest set")] * bool(sets)
    members += [f"{count(unread, 'consumer')} (not read)"] * bool(unread)
    return ", ".join([*members, count(sum(bool(each.keys) for each in graph.references), "reference")])


def _unread(graph: Graph) -> str:
    if not graph.unread:
        return ""
    reasons = escape(" ".join(f"{each.where}: {each.error}" for each in graph.unread))
    regions = escape(some([each.where for each in graph.unread], 5))
    return f'<p class="unread" title="{reasons}">Not read: {regions}</p>'


def _grid_rules(placement: Placement) -> str:
    """Places as classes, since the policy allows no style attributes."""
    rows = max((box.row for lane in placement.lanes for box in lane.boxes), default=0)
    columns_rules = "".join(f".c{number}{{grid-column:{number}}}" for number in range(1, placement.columns + 1))
    rows_rules = "".join(f".r{number}{{grid-row:{number}}}" for number in range(1, rows + 1))
    return f":root{{--columns:{placement.columns}}}\n{columns_rules}{rows_rules}\n"


def _wave_heads(placement: Placement) -> Iterator[str]:
    for number in range(1, placement.columns + 1):
        text = f"Wave {number}" if number <= placement.waves else ""
        first = " <small>deploys first</small>" if number == 1 and placement.waves > 1 else ""
        last = " <small>deploys last</small>" if number == placement.waves > 1 else ""
        yield f'<div class="c{number}">{text}{first}{last}</div>'


def _accounts(graph: Graph, placement: Placement, numbers: Mapping[Participant, int]) -> Iterator[str]:
    collapsed = len(graph.participants) > MOST_AT_ONCE
    producers, importers = graph.neighbors()
    outdated = {each.importer for each in graph.references if each.outdated}
    number = 0
    for account, lanes in groupby(placement.lanes, key=lambda lane: lane.account):
        yield f'<section class="account" aria-label="Account {escape(account)}"><h2>Account {escape(account)}</h2>'
        for lane in lanes:
            yield _lane_head(lane, number, collapsed=collapsed)
            yield from _summaries(lane)
            for box in lane.boxes:
                ends = producers[box.participant], importers[box.participant]
                yield _box(box, numbers[box.participant], ends, is_outdated=box.participant in outdated)
            yield "</div></section>"
            number += 1
        yield "</section>"


def _lane_head(lane: Lane, number: int, *, collapsed: bool) -> str:
    return (
        f'<section class="lane{" collapsed" if collapsed else ""}" data-lane="{number}" '
        f'aria-label="{escape(lane.region)}"><h3><button type="button" class="fold" '
        f'aria-expanded="{"false" if collapsed else "true"}">'
        f'{escape(lane.region)} <small>{_members(lane.boxes)}</small></button></h3><div class="grid">'
    )


def _members(boxes: Sequence[Box]) -> str:
    kinds = {box.participant.kind for box in boxes}
    return count(len(boxes), {"manifests": "set", "consumer": "consumer"}.get("".join(kinds), "stack"))


def _summaries(lane: Lane) -> Iterator[str]:
    """What stands for a lane's boxes while it is collapsed."""
    for column, boxes in groupby(sorted(lane.boxes, key=lambda box: box.column), key=lambda box: box.column):
        text = _members(list(boxes))
        yield f'<button type="button" class="summary c{column} r1" data-column="{column}" tabindex="-1">{text}</button>'


def _box(box: Box, number: int, ends: tuple[set[Participant], set[Participant]], *, is_outdated: bool) -> str:
    each, (producers, importers) = box.participant, ends
    unread = [other.account for other in importers if other.kind == "consumer"]
    known = len(importers) - len(unread)
    parts = ["manifests"] * (each.kind == "manifests")
    parts += [count(len(producers), "producer")] * bool(producers) + [count(known, "importer")] * bool(known)
    parts += [f"{account} (not read)" for account in sorted({*unread})]
    classes = f"stack c{box.column} r{box.row}" + " manifests" * (each.kind == "manifests")
    return (
        f'<button type="button" class="{classes}{"" if box.is_connected else " alone"}" id="s{number}" '
        f'data-number="{number}" data-column="{box.column}" aria-pressed="false" tabindex="-1">'
        f'<span class="name">{escape(box_label(each))}</span>'
        f"{'<span class=mark>outdated</span>' if is_outdated else ''}"
        f'<span class="facts">{" · ".join(f"<span>{part}</span>" for part in parts) or "no importers"}</span></button>'
    )


def _data(graph: Graph, placement: Placement, numbers: Mapping[Participant, int]) -> str:
    """What the script knows, as JSON that cannot end its element: nothing in it is a tag or the start of a comment."""
    document = {
        "stacks": [asdict(each) | {"id": each.id, "name": box_label(each)} for each in graph.participants],
        "references": [
            asdict(each)
            | {"producer": numbers[each.producer], "importer": numbers[each.importer]}
            | {"where": where_text(each.region, each.account)}
            for each in graph.references
        ],
        "cycles": [
            {"members": [numbers[each] for each in cycle.participants], "chain": [each.name for each in cycle.chain]}
            for cycle in placement.cycles
        ],
        "marks": {mark: mark_text(mark) for mark in MARKS},
        "waves": placement.waves,
    }
    text = json.dumps(document, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
