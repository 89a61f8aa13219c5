"""The graph of what exports and imports, from exported values. Pure."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from strongref.text import attribute_name
from strongref_cli.overview.exports import participant, participant_of
from strongref_cli.overview.graph import Graph, Participant, Reference
from strongref_cli.overview.states import ExportState, ImportState, Protection

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from strongref_cli.overview.exports import Claim, ExportedValue
    from strongref_cli.overview.graph import Unread


def graph_of(values: Iterable[ExportedValue], as_of: datetime, unread: tuple[Unread, ...] = ()) -> Graph:
    """All participants and references. A reference joins the claims of one importer on one producer in one region.

    A stale claim is no reference, and a foreign parameter is no export.
    """
    claims: dict[tuple[Participant, Participant, str], list[tuple[str, Claim]]] = defaultdict(list)
    participants = set()
    for value in values:
        if value.state is ExportState.FOREIGN:
            continue
        producer = participant(value.producer)
        participants.add(producer)
        for claim in value.claims:
            if claim.state is ImportState.STALE:
                continue
            importer = participant_of(claim.importer)
            participants.add(importer)
            claims[producer, importer, value.region].append((attribute_name(value.key), claim))
    references = [
        Reference(
            producer,
            importer,
            region,
            keys=tuple(sorted({key for key, _ in found})),
            outdated=tuple(sorted({key for key, claim in found if claim.state is ImportState.OUTDATED})),
            protection=Protection.worst(claim.protection for _, claim in found),
        )
        for (producer, importer, region), found in claims.items()
    ]
    return Graph(tuple(sorted(participants)), tuple(sorted(references)), as_of, unread)
