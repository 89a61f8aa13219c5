"""`strongref list` and `who`: what is exported, and who imports it. Never a value."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

from strongref.contract.names import SHARED, Producer, consumer_text
from strongref.text import attribute_name, some
from strongref_cli.arguments import STATES
from strongref_cli.output import Result, TextTable, count, show
from strongref_cli.reading import reading, status, unread_document, uses_of, where_read
from strongref_overview.errors import no_such_filter
from strongref_overview.exports import ExportState, ImportState, Protection, participant_of
from strongref_toolkit.regions import chosen_regions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from strongref.contract.names import ExportScope, Key
    from strongref_overview.exports import Claim, ExportedValue
    from strongref_overview.graph import Participant
    from strongref_overview.who import Uses
    from strongref_toolkit.session import ToolSession

_REDEPLOY = "deploy again"


def list_exports(args: argparse.Namespace, session: ToolSession) -> int:
    chosen = chosen_regions(session, args.region, everywhere=args.all_regions)
    as_of = session.clock.now()
    with reading(session, "Reading exports") as reader:
        found = reader.regions(chosen)
        values = reader.values(found)
        regions = [each.region for each in found]
        for option, given, names_of in _FILTERS:
            wanted = getattr(args, given)
            if wanted:
                known = {name for value in values for name in names_of(value)}
                values = [value for value in values if wanted in names_of(value)]
                if not values:
                    raise no_such_filter(option, consumer_text(wanted), regions, sorted(map(consumer_text, known)))
    if args.state:
        values = [value for value in values if args.state in _states(value)]
    tables = _list_tables(values, _summary(values, regions, args), as_of)
    document = {**_list_document(values, regions, as_of), "unread": unread_document(reader.unread)}
    show(Result(tables, document), args.output)
    return status(reader.unread)


_FILTERS: tuple[tuple[str, str, Callable[[ExportedValue], Iterable[str]]], ...] = (
    ("--stack", "stack", lambda value: {value.producer.stack}),
    ("--consumer", "consumer", lambda value: {value.scope.consumer}),
    ("--importer", "importer", lambda value: {participant_of(claim.importer).name for claim in value.claims}),
)


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
            value.region,
            _stack(value.producer, value.region),
            attribute_name(value.key),
            consumer_text(value.scope.consumer),
            value.state.value,
            age_text((as_of - value.changed).total_seconds()) if value.changed else "-",
            _importers(value),
        )
        for value in values
    ]
    columns = ("REGION", "PRODUCER", "KEY", "CONSUMER", "STATE", "AGE", "IMPORTED BY")
    yield TextTable(columns, rows, notes=[f"{summary}. {as_of_text(as_of)}"])


def _summary(values: Sequence[ExportedValue], regions: Sequence[str], args: argparse.Namespace) -> str:
    """How many exports there are of those that were asked for, and in which states."""
    what, such = _STATE_TEXTS.get(args.state, ("export", ""))
    found = count(len(values), what) if values else f"No {what}s"
    of = f" of {args.stack}" if args.stack else ""
    whom = f" for {consumer_text(args.consumer)}" if args.consumer else ""
    by = f" imported by {args.importer}" if args.importer else ""
    counts = Counter(state for value in values for state in _states(value))
    counts.pop(args.state, None)
    parts = [f"{found}{of} to {some(regions, 5)}{whom}{by}{such}"]
    for state, text in (
        ("unused", "not imported"),
        (ExportState.MISSING, "missing"),
        (ExportState.WITHDRAWN, "withdrawn"),
        (ExportState.ORPHANED, "orphaned"),
        (ExportState.UNREADABLE, "unreadable"),
        (ImportState.OUTDATED, "with importers to deploy again"),
        (ImportState.GONE, "with importers that are gone"),
    ):
        parts += [f"{counts[state]:,} {text}"] if counts[state] else []
    if not values and not (args.all_regions or args.state or of or whom or by):
        parts[0] += f". {_WHERE}"
    return ", ".join(parts)


_WHERE = "A value is listed in the region of its consumers: name that with --region, or use --all-regions"
_STATE_TEXTS = {
    **{state: (f"{state} export", "") for state in STATES},
    ImportState.OUTDATED: ("export", " with importers to deploy again"),
    ImportState.GONE: ("export", " with importers that are gone"),
    Protection.UNHELD: ("export", " with importers that have no hold yet"),
}
"""What the exports that `--state` selects are called, and what follows their name and other options."""


def _list_document(values: Sequence[ExportedValue], regions: Sequence[str], as_of: datetime) -> dict[str, Any]:
    return {
        "asOf": time_text(as_of),
        "regions": list(regions),
        "exports": [_export_document(value) for value in values],
    }


def show_who(args: argparse.Namespace, session: ToolSession) -> int:
    as_of = session.clock.now()
    with reading(session, f"Looking for {args.stack}") as reader:
        uses = uses_of(args, session, reader)
    tables = (table for each in uses for table in _who_tables(each, where_read(reader.unread)))
    document = {
        "asOf": time_text(as_of),
        "stacks": [_uses_document(each) for each in uses],
        "unread": unread_document(reader.unread),
    }
    show(Result(chain(tables, [TextTable(notes=[as_of_text(as_of)])]), document), args.output)
    return status(reader.unread)


def _who_tables(uses: Uses, where: str) -> list[TextTable]:
    who = uses.participant
    exports = [
        (
            attribute_name(value.key),
            value.region,
            consumer_text(value.scope.consumer),
            value.state.value,
            _importers(value),
        )
        for value in uses.exports
    ]
    imports = [
        (
            attribute_name(value.key),
            _stack(value.producer, who.region),
            claim.state.value,
            claim.protection.value,
        )
        for value, claim in uses.imports
    ]
    name = participant_text(who)
    if not (exports or imports):
        return [TextTable(notes=[f"{name} exports and imports nothing{where}"])]
    tables = [
        TextTable(("KEY", "REGION", "CONSUMER", "STATE", "IMPORTED BY"), exports, title=f"{name} exports"),
        TextTable(("KEY", "FROM", "STATE", "HOLD"), imports, title=f"{name} imports"),
    ]
    return [each for each in tables if each.rows]


def _uses_document(uses: Uses) -> dict[str, Any]:
    return {
        **participant_document(uses.participant),
        "exports": [_export_document(value) for value in uses.exports],
        "imports": [
            {
                **place_document(value.region, value.scope, value.key),
                "state": claim.state,
                "protection": claim.protection,
            }
            for value, claim in uses.imports
        ],
    }


def _export_document(value: ExportedValue) -> dict[str, Any]:
    return {
        **place_document(value.region, value.scope, value.key),
        "state": value.state,
        "changedAt": time_text(value.changed) if value.changed else None,
        "importers": [
            {
                **participant_document(participant_of(claim.importer)),
                "id": claim.importer,
                "state": claim.state,
                "protection": claim.protection,
            }
            for claim in value.claims
        ],
    }


def place_document(region: str, scope: ExportScope, key: Key) -> dict[str, Any]:
    producer = scope.producer
    return {
        "region": region,
        "consumer": None if scope.consumer == SHARED else scope.consumer,
        "producer": {"account": producer.account, "region": producer.region, "stack": producer.stack},
        "key": attribute_name(key),
    }


def participant_document(who: Participant) -> dict[str, Any]:
    return {"kind": who.kind, "account": who.account or None, "region": who.region or None, "name": who.name}


def _importers(value: ExportedValue) -> str:
    """The importers as a list of names, with what is to be done about each."""
    return some(
        [
            f"{short_text(participant_of(claim.importer), value.region)}{_noted(_import_note(claim))}"
            for claim in value.claims
        ],
        5,
    )


def _noted(note: str) -> str:
    return f" ({note})" if note else ""


def _import_note(claim: Claim) -> str:
    if claim.state is ImportState.OUTDATED:
        return _REDEPLOY
    if claim.state is ImportState.GONE:
        return "gone"
    return "no hold yet" if claim.protection is Protection.UNHELD else ""


def short_text(who: Participant, region: str) -> str:
    """A stack by its name in the region that is shown, and with its region in others; anything else in full."""
    return _stack(Producer(who.account, who.region, who.name), region) if who.kind == "stack" else participant_text(who)


def participant_text(who: Participant) -> str:
    if who.kind == "unknown":
        return repr(who.name)
    where = ", ".join(each for each in (who.region, who.account) if each)
    return f"{'' if who.kind == 'stack' else 'manifests '}{who.name} ({where})"


def _stack(producer: Producer, region: str) -> str:
    return producer.stack if producer.region == region else f"{producer.stack} ({producer.region})"


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


def time_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")
