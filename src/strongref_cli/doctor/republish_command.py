"""`strongref republish`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from strongref.text import attribute_name, some
from strongref_cli.doctor.republishing import Restored, republish
from strongref_cli.install.installed import kms_keys, read_lag
from strongref_cli.overview.region_reading import reading, regions_of, status, unread_document, uses_of, where_read
from strongref_cli.overview.texts import participant_document
from strongref_cli.terminal.consumers import consumer_text
from strongref_cli.terminal.output import Result, TextTable, WaitNotice, progress, show
from strongref_toolkit.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from strongref_cli.overview.graph import Unread
    from strongref_toolkit.session import ToolSession


def republish_exports(args: argparse.Namespace, session: ToolSession) -> int:
    """`strongref republish`."""
    with reading(session, f"Looking for {args.stack}") as reader:
        uses = uses_of(args, session, reader)
    if args.key and not any(each.exports for each in uses):
        raise UsageError(f"{args.stack} imports {args.key}: republish the stack that exports it")
    exported = [value for each in uses for value in each.exports]
    lag = read_lag(session, regions_of(exported))
    ports = session.ports(session.aws(None, None).accounts.own, kms_keys(session), lag)
    done = []
    with progress(f"Restoring what {args.stack} exports") as step:
        keys = {value.key for value in exported} if args.key else None
        ports = replace(ports, waits=WaitNotice(step))
        for region, scope in sorted({(value.region, value.scope) for value in exported}):
            step(region)
            done.append(republish(ports, session.clock, region, scope, keys))
    restored = [each for each in done if each.keys]
    show(_restored(args.stack, restored, reader.unread), args.output)
    return status(reader.unread)


def _restored(stack: str, done: Sequence[Restored], unread: Sequence[Unread]) -> Result:
    rows = [
        (
            each.region,
            attribute_name(key),
            consumer_text(each.scope.consumer),
            some([who.name for who in each.importers], 5) + (" and perhaps others" if each.may_have_more else ""),
        )
        for each in done
        for key in each.keys
    ]
    notes = ["Deploy those stacks with another Revision of their Import: their claims were deleted with the values."]
    if not rows:
        notes = [f"Nothing that {stack} exports was missing{where_read(unread)}."]
    document = {
        "restored": [
            {
                "region": each.region,
                "consumer": consumer_text(each.scope.consumer),
                "keys": [attribute_name(key) for key in each.keys],
                "importers": [participant_document(who) for who in each.importers],
                "mayHaveMoreImporters": each.may_have_more,
            }
            for each in done
        ],
        "unread": unread_document(unread),
    }
    return Result([TextTable(("REGION", "KEY", "CONSUMER", "DEPLOY AGAIN"), rows, notes=notes)], document)
