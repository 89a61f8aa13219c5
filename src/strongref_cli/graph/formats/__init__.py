"""A graph and an order as text: one pure module a format, and here what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref_cli.overview.states import ImportState, Protection

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strongref_cli.overview.graph import Participant, Reference

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
    keys = reference.keys[0] if len(reference.keys) == 1 else f"{len(reference.keys)} keys"
    where = "" if reference.region == reference.importer.region else f" in {reference.region}"
    return ", ".join([f"{keys}{where}", *marks(reference)])


def marks(reference: Reference) -> list[str]:
    """What is wrong with a reference."""
    outdated = [f"{len(reference.outdated)} {ImportState.OUTDATED}"] if reference.outdated else []
    return outdated + ([] if reference.protection is Protection.HELD else [reference.protection])
