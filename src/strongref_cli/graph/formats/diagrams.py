"""A graph in languages of diagrams: Graphviz's and Mermaid's. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from strongref.errors import where_text
from strongref.text import some
from strongref_cli.overview.states import ImportState, Protection
from strongref_toolkit.json_values import time_text

if TYPE_CHECKING:
    from strongref_cli.overview.graph import Graph, Participant, Reference

MANIFESTS = "manifests"
"""What stands in a region's place for manifests, which import from many regions."""

OUTDATED, NOT_HELD = "#b25f00", "#8b3fb8"
"""Colors of references that are outdated, and of those that no hold protects: readable on white and on black."""


def by_place(participants: Iterable[Participant]) -> dict[str, dict[str, list[Participant]]]:
    """Participants by account and region. Manifests, which have no region, come last in their account."""
    places: dict[str, dict[str, list[Participant]]] = {}
    for each in sorted(participants, key=lambda each: (each.account, not each.region, each)):
        places.setdefault(each.account, {}).setdefault(each.region or MANIFESTS, []).append(each)
    return places


def edge_label(reference: Reference) -> str:
    """What is imported, in a few words, and what is wrong with it."""
    if not reference.keys:  # The importers' account was not read.
        return "not read" if marks(reference) else "at least one import"
    keys = reference.keys[0] if len(reference.keys) == 1 else f"{len(reference.keys)} keys"
    is_there = reference.region == reference.importer.region and reference.account in ("", reference.importer.account)
    where = "" if is_there else f" in {where_text(reference.region, reference.account)}"
    return ", ".join([f"{keys}{where}", *marks(reference)])


def box_label(who: Participant) -> str:
    return f"{who.name} (not read)" if who.kind == "consumer" else who.name


def marks(reference: Reference) -> list[str]:
    """What is wrong with a reference."""
    outdated = [f"{len(reference.outdated)} {ImportState.OUTDATED}"] if reference.outdated else []
    return outdated + ([] if reference.protection is Protection.HELD else [mark_text(reference.protection)])


def mark_text(mark: str) -> str:
    """The word that pictures show."""
    return "no hold" if mark == Protection.UNPROTECTED else mark


def as_dot(graph: Graph) -> str:
    """The graph in Graphviz's language: `dot -Tsvg`."""
    return "".join(f"{line}\n" for line in _dot_lines(graph))


def _dot_lines(graph: Graph) -> Iterator[str]:
    ids = {each: f"s{number}" for number, each in enumerate(graph.participants)}
    yield "digraph strongref {"
    yield '  graph [rankdir=LR, newrank=true, fontname="sans-serif", labelloc=b, nodesep=0.3, ranksep=1.2,'
    yield f"    label={_dot_quoted(_caption(graph))}]"
    yield '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif", fontsize=11]'
    yield '  edge [fontname="sans-serif", fontsize=9, color="#5b6675"]'
    for at, (account, regions) in enumerate(by_place(graph.participants).items()):
        yield f"  subgraph cluster_{at} {{"
        yield f"    label={_dot_quoted(account)}"
        for number, (region, members) in enumerate(regions.items()):
            yield f"    subgraph cluster_{at}_{number} {{"
            yield f"      label={_dot_quoted(region)}"
            for each in members:
                shape = ", shape=component" if each.kind == "manifests" else ""
                yield f"      {ids[each]} [label={_dot_quoted(box_label(each))}{shape}]"
            yield "    }"
        yield "  }"
    yield from (f"  {_dot_edge(each, ids)}" for each in graph.references)
    yield "}"


def _caption(graph: Graph) -> str:
    as_of = f"as of {time_text(graph.as_of)}"
    unread = f", not read: {some([each.where for each in graph.unread], 5)}" if graph.unread else ""
    return f"{'' if graph.participants else 'No stacks export or import here, '}{as_of}{unread}"


def _dot_edge(reference: Reference, ids: Mapping[Participant, str]) -> str:
    style = ""
    if reference.outdated:
        style = f', style=dashed, color="{OUTDATED}", fontcolor="{OUTDATED}"'
    elif marks(reference):
        style = f', style=dotted, color="{NOT_HELD}", fontcolor="{NOT_HELD}"'
    return f"{ids[reference.producer]} -> {ids[reference.importer]} [label={_dot_quoted(edge_label(reference))}{style}]"


def _dot_quoted(text: str) -> str:
    """A label that Graphviz shows as it is.

    It knows backslashes, and HTML's entities; it cannot draw control characters or halves of surrogate pairs.
    """
    drawn = re.sub("[\x00-\x1f\x7f-\x9f\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text)
    escaped = drawn.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def as_mermaid(graph: Graph) -> str:
    """The graph as a Mermaid flowchart, for Markdown: GitHub and GitLab draw it."""
    return "".join(f"{line}\n" for line in _mermaid_lines(graph))


def _mermaid_lines(graph: Graph) -> Iterator[str]:
    ids = {each: f"s{number}" for number, each in enumerate(graph.participants)}
    yield "flowchart LR"
    yield f"  %% as of {time_text(graph.as_of)}"
    yield from (f"  %% not read: {each.where}" for each in graph.unread)
    if not ids:
        yield '  empty["No stacks export or import here"]'
    for at, (account, regions) in enumerate(by_place(graph.participants).items()):
        yield f"  subgraph a{at}[{_mermaid_quoted(account)}]"
        for number, (region, members) in enumerate(regions.items()):
            yield f"    subgraph a{at}r{number}[{_mermaid_quoted(region)}]"
            yield from (f"      {ids[each]}{_box(each)}" for each in members)
            yield "    end"
        yield "  end"
    for each in graph.references:
        label = f"{'-.->' if marks(each) else '-->'}|{_mermaid_quoted(edge_label(each))}|"
        yield f"  {ids[each.producer]} {label} {ids[each.importer]}"
    yield from _link_styles(graph)


def _box(participant: Participant) -> str:
    name = _mermaid_quoted(box_label(participant))
    return f"[[{name}]]" if participant.kind == "manifests" else f"[{name}]"


def _link_styles(graph: Graph) -> Iterator[str]:
    """Edges are styled by their number."""
    marked = {str(number): each for number, each in enumerate(graph.references) if marks(each)}
    outdated = [number for number, each in marked.items() if each.outdated]
    not_held = [number for number, each in marked.items() if not each.outdated]
    for numbers, color, dashes in ((outdated, OUTDATED, "8 4"), (not_held, NOT_HELD, "2 4")):
        if numbers:
            yield f"  linkStyle {','.join(numbers)} stroke:{color},stroke-width:2px,stroke-dasharray:{dashes}"


def _mermaid_quoted(text: str) -> str:
    """A label that Mermaid shows as it is: whatever could be its syntax, Markdown or HTML is a character code.

    A list would begin with a number and a period, or with a dash.
    """
    return f'"{re.sub("^-|[^A-Za-z0-9 ,-]", lambda found: f"#{ord(found[0])};", text)}"'
