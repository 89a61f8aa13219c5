"""A graph and an order as JSON. Schemas describe both documents; within a version, each only gains properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref_toolkit.json_values import document_text

if TYPE_CHECKING:
    from strongref_cli.overview.graph import Graph, Order, Participant, Reference

GRAPH_VERSION, ORDER_VERSION = 2, 1


def graph_as_json(graph: Graph) -> str:
    return document_text(
        {
            **_head(graph, GRAPH_VERSION),
            "participants": [participant_document(each) for each in graph.participants],
            "references": [reference_document(each) for each in graph.references],
        }
    )


def order_as_json(order: Order, graph: Graph) -> str:
    """An order of deployment or of deletion of a graph."""
    return document_text(
        {
            **_head(graph, ORDER_VERSION),
            "waves": [[participant_document(each) for each in wave] for wave in order.waves],
            "cycles": [
                {"participants": [each.id for each in cycle.participants], "chain": [each.id for each in cycle.chain]}
                for cycle in order.cycles
            ],
        }
    )


def _head(graph: Graph, version: int) -> dict[str, Any]:
    unread = [each._asdict() for each in graph.unread]
    return {"version": version, "asOf": graph.as_of.isoformat(timespec="seconds"), "unread": unread}


def participant_document(each: Participant) -> dict[str, str]:
    return {"id": each.id, "kind": each.kind, "account": each.account, "region": each.region, "name": each.name}


def reference_document(each: Reference) -> dict[str, Any]:
    return {
        "producer": each.producer.id,
        "importer": each.importer.id,
        "region": each.region,
        "keys": list(each.keys),
        "outdated": list(each.outdated),
        "protection": each.protection,
    }
