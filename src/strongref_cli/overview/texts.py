"""How exports, their importers and moments are shown, in tables and in documents. Never a value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from strongref.text import attribute_name, some
from strongref_cli.overview.exports import Claim, ExportedValue, PlaceAbroad, participant, participant_of
from strongref_cli.overview.states import ImportState, Protection
from strongref_toolkit.json_values import time_text

if TYPE_CHECKING:
    from datetime import datetime

    from strongref.contract.index import Place
    from strongref.contract.names import ExportScope, Key
    from strongref_cli.overview.graph import Participant, Unread


def export_document(value: ExportedValue) -> dict[str, Any]:
    return {
        **place_document(value.region, value.scope, value.key, value.abroad),
        "state": value.state,
        "changedAt": time_text(value.changed) if value.changed else None,
        "importers": [
            importer_document(claim.importer) | {"state": claim.state, "protection": claim.protection}
            for claim in value.claims
        ],
    }


def place_document(region: str, scope: ExportScope, key: Key, account: str = "") -> dict[str, Any]:
    """Where a value is; `account` is empty for the caller's own."""
    return {
        **({"account": account} if account else {}),
        "region": region,
        "consumer": scope.consumer,
        "producer": participant_document(participant(scope.producer)),
        "key": attribute_name(key),
    }


def places_document(places: Iterable[PlaceAbroad]) -> list[dict[str, Any]]:
    return [
        {**each.place._asdict(), "producer": participant_document(participant(each.producer))}
        | {"isForgotten": each.is_forgotten, "isImported": each.is_imported or None}
        for each in places
    ]


def place_text(place: PlaceAbroad) -> str:
    """Who imports at a place in another account that was not read."""
    known = "forgotten" if place.is_forgotten else "not read"
    return "at least one import" if place.is_imported else f"{place.place.account} ({known})"


def participant_document(who: Participant) -> dict[str, Any]:
    return {"kind": who.kind, "account": who.account or None, "region": who.region or None, "name": who.name}


def importer_document(claimant: str) -> dict[str, Any]:
    """An importer, from what a claim's tag says."""
    return participant_document(participant_of(claimant)) | {"id": claimant}


def unread_document(unread: Iterable[Unread]) -> list[dict[str, Any]]:
    return [{name: text for name, text in each._asdict().items() if text} for each in unread]


MOST_IMPORTERS = 5
"""Importers that are named where there are other values, too."""
ALL_IMPORTERS = "strongref who STACK KEY names every importer."


def importers_text(value: ExportedValue, most: int = MOST_IMPORTERS) -> str:
    """The importers as a list of names, with the state of each that is not as it should be."""
    return some([_importer_text(claim, value) for claim in value.claims], most)


def _importer_text(claim: Claim, value: ExportedValue) -> str:
    name = short_text(participant_of(claim.importer), value.region, value.account)
    if claim.state in (ImportState.OUTDATED, ImportState.STALE):
        return f"{name} ({claim.state})"
    return f"{name} ({claim.protection})" if claim.protection is Protection.UNHELD else name


def producer_text(of: ExportedValue | PlaceAbroad, at: Participant | ExportedValue | Place) -> str:
    return short_text(participant(of.producer), at.region, at.account)


def short_text(who: Participant, region: str, account: str = "") -> str:
    """A stack by its name in the region that is shown, and with its region in others; anything else in full.

    If the `account` that is shown is given, a stack of another one has its account, too.
    """
    if who.kind != "stack" or account not in ("", who.account):
        return participant_text(who)
    return who.name if who.region == region else f"{who.name} ({who.region})"


def participant_text(who: Participant) -> str:
    if who.kind == "unknown":
        return repr(who.name)
    where = ", ".join(each for each in (who.region, who.account) if each)
    return f"{'' if who.kind == 'stack' else f'{who.kind} '}{who.name} ({where})"


def age_text(seconds: float) -> str:
    """How long ago something was, in its largest unit."""
    seconds = max(0, int(seconds))
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def as_of_text(moment: datetime) -> str:
    """When what is shown was read, for people."""
    return f"As of {moment:%Y-%m-%d %H:%M:%S} UTC."
