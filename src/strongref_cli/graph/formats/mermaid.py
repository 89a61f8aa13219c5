"""A graph as a Mermaid flowchart, for Markdown: GitHub and GitLab draw it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strongref_cli.graph.formats import NOT_HELD, OUTDATED, by_place, edge_label, marks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strongref_cli.overview.graph import Graph, Participant, Reference


def as_mermaid(graph: Graph) -> str:
    return "".join(f"{line}\n" for line in _lines(graph))


def _lines(graph: Graph) -> Iterator[str]:
    ids = {each: f"s{number}" for number, each in enumerate(graph.participants)}
    yield "flowchart LR"
    yield f"  %% as of {graph.as_of.isoformat(timespec='seconds')}"
    yield from (f"  %% not read: {each.region}" for each in graph.unread)
    if not ids:
        yield '  empty["No stacks export or import here"]'
    for at, (account, regions) in enumerate(by_place(graph.participants).items()):
        yield f"  subgraph a{at}[{_quoted(account)}]"
        for number, (region, members) in enumerate(regions.items()):
            yield f"    subgraph a{at}r{number}[{_quoted(region)}]"
            yield from (f"      {ids[each]}{_box(each)}" for each in members)
            yield "    end"
        yield "  end"
    yield from (f"  {_edge(each, ids)}" for each in graph.references)
    yield from _link_styles(graph)


def _box(participant: Participant) -> str:
    name = _quoted(participant.name)
    return f"[[{name}]]" if participant.kind == "manifests" else f"[{name}]"


def _edge(reference: Reference, ids: Mapping[Participant, str]) -> str:
    arrow = "-.->" if marks(reference) else "-->"
    return f"{ids[reference.producer]} {arrow}|{_quoted(edge_label(reference))}| {ids[reference.importer]}"


def _link_styles(graph: Graph) -> Iterator[str]:
    """Edges are styled by their number."""
    marked = {str(number): each for number, each in enumerate(graph.references) if marks(each)}
    outdated = [number for number, each in marked.items() if each.outdated]
    not_held = [number for number, each in marked.items() if not each.outdated]
    for numbers, color, dashes in ((outdated, OUTDATED, "8 4"), (not_held, NOT_HELD, "2 4")):
        if numbers:
            yield f"  linkStyle {','.join(numbers)} stroke:{color},stroke-width:2px,stroke-dasharray:{dashes}"


def _quoted(text: str) -> str:
    """A label that Mermaid shows as it is: whatever could be its syntax, Markdown or HTML is a character code.

    A list would begin with a number and a period, or with a dash.
    """
    return f'"{re.sub("^-|[^A-Za-z0-9 ,-]", lambda found: f"#{ord(found[0])};", text)}"'
