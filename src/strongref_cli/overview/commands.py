"""`strongref list` and `who`: what is exported, and who imports it. Never a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from strongref.text import attribute_name, some
from strongref_cli.overview.errors import no_such_filter
from strongref_cli.overview.exports import ExportedValue, PlaceAbroad, participant_of
from strongref_cli.overview.region_reading import Uses, reading, status, uses_of, where_read
from strongref_cli.overview.states import STATES, ExportState, ImportState, Protection
from strongref_cli.overview.texts import (
    ALL_IMPORTERS,
    MOST_IMPORTERS,
    age_text,
    as_of_text,
    export_document,
    importers_text,
    participant_document,
    participant_text,
    place_document,
    place_text,
    places_document,
    producer_text,
    unread_document,
)
from strongref_cli.terminal.output import Result, TextTable, count, show
from strongref_toolkit.session import ToolSession, chosen_regions

if TYPE_CHECKING:
    import argparse
    from datetime import datetime


def list_exports(args: argparse.Namespace, session: ToolSession) -> int:
    chosen = chosen_regions(session, args.region, everywhere=args.all_regions)
    with reading(session, "Reading exports", args.role) as reader:
        found = reader.regions(chosen)
        values, places = reader.exports(found)
        # Who imports at these is unknown, so none of them is left out for its importers.
        places = [each for each in places if args.stack in (None, each.producer.stack)]
        places = [each for each in places if args.consumer in (None, each.place.consumer)]
        regions = [each.region for each in found]
        for option, names_of in _FILTERS.items():
            if wanted := getattr(args, option):
                known = {name for value in values for name in names_of(value)}
                values = [value for value in values if wanted in names_of(value)]
                if not (values or places):
                    raise no_such_filter(f"--{option}", wanted, regions, sorted(known))
    if args.state:
        values = [value for value in values if args.state in _states(value)]
        places = [each for each in places if each.is_imported and args.state == "imported"]
    regions_read = list(dict.fromkeys([*regions, *(value.where for value in values)]))
    tables = chain(_list_tables(values, _summary(values, regions_read, args), args.as_of), _places_table(places))
    exports = [export_document(value) for value in values]
    unread = unread_document(reader.unread)
    document = {"regions": regions, "exports": exports, "places": places_document(places), "unread": unread}
    show(Result(tables, document), args)
    return status(reader.unread)


_FILTERS: Mapping[str, Callable[[ExportedValue], Collection[str]]] = {
    "stack": lambda value: {value.producer.stack},
    "consumer": lambda value: {value.scope.consumer},
    "importer": lambda value: {participant_of(claim.importer).name for claim in value.claims},
}


def _states(value: ExportedValue) -> set[str]:
    """What `--state` may be for a value to be listed."""
    imports = {claim.state.value for claim in value.claims}
    held = {claim.protection.value for claim in value.claims}
    # The claims on a value that was deleted are lost: nobody knows whether it is used.
    uses = {"imported"} if value.claims else {"unused"} if value.state is ExportState.PUBLISHED else set()
    return {value.state.value, *imports, *held, *uses}


def _list_tables(values: Sequence[ExportedValue], summary: str, as_of: datetime) -> Iterator[TextTable]:
    rows = [
        (
            value.where,
            producer_text(value, value),
            attribute_name(value.key),
            value.scope.consumer,
            value.state.value,
            age_text((as_of - value.changed).total_seconds()) if value.changed else "-",
            importers_text(value),
        )
        for value in values
    ]
    columns = ("REGION", "PRODUCER", "KEY", "CONSUMER", "STATE", "AGE", "IMPORTED BY")
    cut = [ALL_IMPORTERS] if any(len(value.claims) > MOST_IMPORTERS for value in values) else []
    yield TextTable(columns, rows, notes=[f"{summary}. {as_of_text(as_of)}", *cut])


def _places_table(places: Sequence[PlaceAbroad], title: str = "Exports to other accounts") -> Iterator[TextTable]:
    if places:
        rows = [(*each.place[:2], producer_text(each, each.place), each.place[2], place_text(each)) for each in places]
        notes = ["Only --role shows what is exported there, and who imports it."]
        yield TextTable(("ACCOUNT", "REGION", "PRODUCER", "CONSUMER", "IMPORTED BY"), rows, title=title, notes=notes)


def _summary(values: Sequence[ExportedValue], regions: Sequence[str], args: argparse.Namespace) -> str:
    """How many exports there are of those that were asked for, and in which states."""
    what, such = _STATE_TEXTS.get(args.state, ("export", ""))
    found = count(len(values), what) if values else f"No {what}s"
    of = f" of {args.stack}" if args.stack else ""
    whom = f" for {args.consumer}" if args.consumer else ""
    by = f" imported by {args.importer}" if args.importer else ""
    counts = Counter(state for value in values for state in _states(value))
    counts.pop(args.state, None)
    targets = {value.where for value in values}
    where = some(regions, 5) if len(regions) <= 5 else f"{len(targets):,} of {len(regions):,} regions"  # noqa: PLR2004
    parts = [f"{found}{of} to {where}{whom}{by}{such}"]
    late: dict[str, str] = {ImportState.OUTDATED: "with outdated imports", ImportState.STALE: "with stale claims"}
    wrong = (ExportState.MISSING, ExportState.WITHDRAWN, ExportState.ORPHANED, ExportState.UNREADABLE)
    texts = {each: each for each in ("unused", *map(str, wrong))} | late
    parts += [f"{counts[state]:,} {text}" for state, text in texts.items() if counts[state]]
    if not values and not (args.all_regions or args.state or of or whom or by):
        parts[0] += ". A value is listed in the region of its consumers: name that with --region, or use --all-regions"
    return ", ".join(parts)


_STATE_TEXTS = {
    **{state: (f"{state} export", "") for state in STATES},
    **{state: ("export", f" with {state} imports") for state in (ImportState.OUTDATED, *Protection)},
    ImportState.STALE: ("export", " with stale claims"),
}
"""What the exports that `--state` selects are called, and what follows their name and other options."""


def show_who(args: argparse.Namespace, session: ToolSession) -> int:
    with reading(session, f"Looking for {args.stack}", args.role) as reader:
        uses = uses_of(args, session, reader)
    tables = (table for each in uses for table in _who_tables(each, where_read(reader.unread), whole=bool(args.key)))
    document = {"stacks": [_uses_document(each) for each in uses], "unread": unread_document(reader.unread)}
    show(Result(chain(tables, [TextTable(notes=[as_of_text(args.as_of)])]), document), args)
    return status(reader.unread)


def _who_tables(uses: Uses, where: str, *, whole: bool) -> list[TextTable]:
    """The tables of one participant; `whole` names every importer."""
    who, longest = uses.participant, max((len(value.claims) for value in uses.exports), default=0)
    most = longest if whole else MOST_IMPORTERS
    exports = [
        (attribute_name(value.key), value.where, value.scope.consumer, value.state, importers_text(value, most))
        for value in uses.exports
    ]
    imports = [
        (attribute_name(value.key), producer_text(value, who), claim.state, claim.protection)
        for value, claim in uses.imports
    ]
    name = participant_text(who)
    if not (exports or imports or uses.places):
        return [TextTable(notes=[f"{name} exports and imports nothing{where}"])]
    columns = ("KEY", "REGION", "CONSUMER", "STATE", "IMPORTED BY")
    cut = [ALL_IMPORTERS] if longest > most else []
    tables = [
        TextTable(columns, exports, title=f"{name} exports", notes=cut),
        TextTable(("KEY", "FROM", "STATE", "HOLD"), imports, title=f"{name} imports"),
        *_places_table(uses.places, f"{name} exports to other accounts"),
    ]
    return [each for each in tables if each.rows]


def _uses_document(uses: Uses) -> dict[str, Any]:
    return {
        **participant_document(uses.participant),
        "exports": [export_document(value) for value in uses.exports],
        "imports": [
            place_document(value.region, value.scope, value.key, value.abroad)
            | {"state": claim.state, "protection": claim.protection}
            for value, claim in uses.imports
        ],
        "places": places_document(uses.places),
    }
