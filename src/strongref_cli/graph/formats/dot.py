"""A graph in Graphviz's language: `dot -Tsvg`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strongref.text import some
from strongref_cli.graph.formats import NOT_HELD, OUTDATED, by_place, edge_label, marks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strongref_cli.overview.graph import Graph, Participant, Reference


def as_dot(graph: Graph) -> str:
    return "".join(f"{line}\n" for line in _lines(graph))


def _lines(graph: Graph) -> Iterator[str]:
    ids = {each: f"s{number}" for number, each in enumerate(graph.participants)}
    yield "digraph strongref {"
    yield '  graph [rankdir=LR, newrank=true, fontname="sans-serif", labelloc=b, nodesep=0.3, ranksep=1.2,'
    yield f"    label={_quoted(_caption(graph))}]"
    yield '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif", fontsize=11]'
    yield '  edge [fontname="sans-serif", fontsize=9, color="#5b6675"]'
    for at, (account, regions) in enumerate(by_place(graph.participants).items()):
        yield f"  subgraph cluster_{at} {{"
        yield f"    label={_quoted(account)}"
        for number, (region, members) in enumerate(regions.items()):
            yield f"    subgraph cluster_{at}_{number} {{"
            yield f"      label={_quoted(region)}"
            yield from (f"      {ids[each]} [{_node(each)}]" for each in members)
            yield "    }"
        yield "  }"
    yield from (f"  {_edge(each, ids)}" for each in graph.references)
    yield "}"


def _caption(graph: Graph) -> str:
    as_of = f"as of {graph.as_of.isoformat(timespec='seconds')}"
    unread = f", not read: {some([each.region for each in graph.unread], 5)}" if graph.unread else ""
    return f"{'' if graph.participants else 'No stacks export or import here, '}{as_of}{unread}"


def _node(participant: Participant) -> str:
    shape = ", shape=component" if participant.kind == "manifests" else ""
    return f"label={_quoted(participant.name)}{shape}"


def _edge(reference: Reference, ids: Mapping[Participant, str]) -> str:
    style = ""
    if reference.outdated:
        style = f', style=dashed, color="{OUTDATED}", fontcolor="{OUTDATED}"'
    elif marks(reference):
        style = f', style=dotted, color="{NOT_HELD}", fontcolor="{NOT_HELD}"'
    return f"{ids[reference.producer]} -> {ids[reference.importer]} [label={_quoted(edge_label(reference))}{style}]"


def _quoted(text: str) -> str:
    """A label that Graphviz shows as it is.

    It knows backslashes, and HTML's entities; it cannot draw control characters or halves of surrogate pairs.
    """
    drawn = re.sub("[\x00-\x1f\x7f-\x9f\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text)
    escaped = drawn.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
