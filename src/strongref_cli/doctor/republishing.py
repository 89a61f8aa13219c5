"""`strongref republish`: restores deleted values from their records, and finds out whose claims were lost with them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from strongref.contract.hold_stacks import HOLDS, HoldParameter
from strongref.contract.names import RESTORED, SHARED, ExportScope, Key, Site
from strongref.protocol.behind_fences import FencedStore, behind_fences
from strongref.protocol.fences import FenceHolder
from strongref.protocol.published import RecordedExports
from strongref.protocol.recreation import PatientWriter
from strongref.refusals import ChangingError
from strongref.text import attribute_name, some
from strongref_cli.install.installed import read_lag, settings
from strongref_cli.overview.graph import Participant, Unread
from strongref_cli.overview.region_reading import reading, regions_of, status, uses_of, where_read
from strongref_cli.overview.texts import participant_document, unread_document
from strongref_cli.terminal.output import Result, TextTable, WaitNotice, ask_about, progress, show
from strongref_toolkit.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from strongref.contract.fence import Fence
    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock
    from strongref_toolkit.session import ToolSession


class StillChangingError(ChangingError):
    """The exports are still being changed after a command has waited."""

    sentence = (
        "The exports of {producer} are still being changed (by {by:500}). Run the command again when that has finished."
    )


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put back in one scope."""

    region: str
    scope: ExportScope
    keys: tuple[Key, ...]
    importers: tuple[Participant, ...]  # stacks whose claims may have been on it: to be deployed again
    # whether there may be more importers: exports for all stacks say nothing about them, except through holds
    may_have_more: bool


def missing(store: Store, scope: ExportScope, keys: Collection[Key] | None) -> tuple[RecordedExports, list[Key]]:
    """The records of a scope, and those of these keys, or of all, whose values were deleted; errors as `republish`."""
    published = RecordedExports.read(store, scope).readable()
    stored = store.under(scope.path("exports"), decrypted=False)
    lost = [key for key in sorted(published.values) if scope.parameter_name(key) not in stored]
    return published, [key for key in lost if keys is None or key in keys]


def republish(ports: Ports, clock: Clock, region: str, scope: ExportScope, keys: Collection[Key] | None) -> Restored:
    """Restore the deleted values among these keys, or among all, from the record. Existing values do not change.

    Claims are deleted with a parameter. An import claims again when it gets another `Revision`.

    Raises:
        StillChangingError: another deployment is changing the scope, and does not finish in time.
        NewerFormatError: a later version of strongref wrote a record of the scope.
        RecentlyDeletedError: Parameter Store does not accept the name of a deleted value again yet.
        StrongRefError: Parameter Store failed.
    """
    holder = FenceHolder("republish", "strongref republish")

    def work(stores: list[FencedStore]) -> tuple[RecordedExports, list[Key]]:
        (fenced,) = stores
        published, lost = missing(fenced.store, scope, keys)
        return published, [key for key in lost if create(fenced, key, published)]

    def busy(fence: Fence) -> StillChangingError:
        return StillChangingError(str(scope.producer), str(fence))

    def create(fenced: FencedStore, key: Key, published: RecordedExports) -> bool:
        writer, tags = PatientWriter(fenced.store, fenced.clock, ports.lag), published.tags(key) | RESTORED
        found = writer.create(scope.parameter_name(key), published.values[key], tags)
        return found is None  # Otherwise an import has restored it, with its claim.

    published, lost = behind_fences(ports, clock, [(Site(region), scope)], holder, work, busy=busy)
    found = importers(ports, clock, region, scope, published.holds(lost))
    return Restored(region, scope, tuple(lost), found, may_have_more=scope.consumer == SHARED)


def importers(
    ports: Ports, clock: Clock, region: str, scope: ExportScope, holds: Collection[str]
) -> tuple[Participant, ...]:
    """The stacks that hold what these values name, and the consumer that they are exported to."""
    store = ports.stores(scope.producer.region, clock)
    names = [name for hold in holds for name in store.under(f"{HOLDS}/{hold.replace(':', '.')}", decrypted=False)]
    own = (scope.producer.account, region)  # Holds of places in other accounts name no stacks.
    found = [hold for name in names if (hold := HoldParameter.of(name)) and (hold.account, hold.region) == own]
    stacks = {Participant(hold.account, hold.region, hold.label) for hold in found}
    if scope.consumer != SHARED and (info := ports.stacks.by_name(scope.consumer, region)):
        stacks.add(Participant(scope.producer.account, region, info.name))
    return tuple(sorted(stacks))


def republish_exports(args: argparse.Namespace, session: ToolSession) -> int:
    with reading(session, f"Looking for {args.stack}") as reader:
        uses = uses_of(args, session, reader)
    if args.key and not any(each.exports for each in uses):
        raise UsageError(f"{args.stack} imports {args.key}: republish the stack that exports it")
    exported = [value for each in uses for value in each.exports]
    lag = read_lag(session, regions_of(exported))
    ports = session.ports(session.aws(None, None).accounts.own, settings(session), lag)
    keys = {value.key for value in exported} if args.key else None
    lost: dict[tuple[str, ExportScope], list[Key]] = {}
    with progress(f"Looking for what {args.stack} exports") as step:
        for region, scope in sorted({(value.region, value.scope) for value in exported}):
            step(region)
            if found := missing(ports.stores(region, session.clock), scope, keys)[1]:
                lost[region, scope] = found
    plan = [Restored(*at, tuple(found), (), may_have_more=False) for at, found in lost.items()]
    if plan and not args.dry_run:
        if not args.yes:  # It asks, and shows first what for.
            lost_values = _restored(args.stack, plan, reader.unread, dry_run=True)
            ask_about(lost_values, args, f"Restore what {args.stack} exports?")
        with progress(f"Restoring what {args.stack} exports") as step:
            ports = replace(ports, waits=WaitNotice(step))
            plan = [republish(ports, session.clock, *at, keys) for at in lost]
    restored = [each for each in plan if each.keys]
    show(_restored(args.stack, restored, reader.unread, dry_run=args.dry_run), args)
    return status(reader.unread)


def _restored(stack: str, done: Sequence[Restored], unread: Sequence[Unread], *, dry_run: bool) -> Result:
    rows: list[Sequence[str]] = []
    for each in done:
        others = " and perhaps others" if each.may_have_more else ""
        again = some([who.name for who in each.importers], len(each.importers)) + others  # No claim names them anymore.
        rows += [(each.region, attribute_name(key), each.scope.consumer, again) for key in each.keys]
    notes = ["Deploy those stacks with another Revision of their Import: their claims were deleted with the values."]
    if dry_run:
        notes = ["These values were deleted, and can be restored from their records."]
    if not rows:
        notes = [f"Nothing that {stack} exports was missing{where_read(unread)}."]
    document = {
        "dryRun": dry_run,
        "restored": [
            {
                "region": each.region,
                "consumer": each.scope.consumer,
                "keys": [attribute_name(key) for key in each.keys],
                "importers": [participant_document(who) for who in each.importers],
                "mayHaveMoreImporters": each.may_have_more,
            }
            for each in done
        ],
        "unread": unread_document(unread),
    }
    return Result([TextTable(("REGION", "KEY", "CONSUMER", "DEPLOY AGAIN"), rows, notes=notes)], document)
