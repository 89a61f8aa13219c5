"""`strongref who`: who imports what a stack exports, and what it imports. Never a value."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from strongref.text import attribute_name
from strongref_cli.overview.region_reading import reading, status, unread_document, uses_of, where_read
from strongref_cli.overview.texts import (
    as_of_text,
    export_document,
    importers_text,
    participant_document,
    participant_text,
    place_document,
    stack_text,
    time_text,
)
from strongref_cli.terminal.consumers import consumer_text
from strongref_cli.terminal.output import Result, TextTable, show

if TYPE_CHECKING:
    import argparse

    from strongref_cli.overview.who import Uses
    from strongref_toolkit.session import ToolSession


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
            importers_text(value),
        )
        for value in uses.exports
    ]
    imports = [
        (attribute_name(value.key), stack_text(value.producer, who.region), claim.state.value, claim.protection.value)
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
        "exports": [export_document(value) for value in uses.exports],
        "imports": [
            {
                **place_document(value.region, value.scope, value.key),
                "state": claim.state,
                "protection": claim.protection,
            }
            for value, claim in uses.imports
        ],
    }
