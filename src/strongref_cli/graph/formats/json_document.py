"""A graph and an order as JSON, each with a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref_cli.overview.texts import participant_document, unread_document
from strongref_toolkit.json_values import document_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strongref_cli.overview.graph import Graph, Order, Participant, Reference


def graph_as_json(graph: Graph) -> str:
    document = {
        "participants": _listed(graph.participants),
        "references": [
            reference_document(each)
            | {"producer": participant_document(each.producer), "importer": participant_document(each.importer)}
            for each in graph.references
        ],
        "unread": unread_document(graph.unread),
    }
    return document_text(document, graph.as_of)


def order_as_json(order: Order, graph: Graph) -> str:
    """An order of deployment or of deletion of a graph."""
    document = {
        "waves": list(map(_listed, order.waves)),
        "cycles": [{"participants": _listed(each.participants), "chain": _listed(each.chain)} for each in order.cycles],
        "unread": unread_document(graph.unread),
    }
    return document_text(document, graph.as_of)


def _listed(participants: Iterable[Participant]) -> list[dict[str, Any]]:
    return list(map(participant_document, participants))


def reference_document(each: Reference) -> dict[str, Any]:
    """A reference without its ends."""
    return {
        "region": each.region,
        "keys": list(each.keys),
        "outdated": list(each.outdated),
        "protection": each.protection,
    }
