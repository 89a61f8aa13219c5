"""Puts deleted values back from their records, and finds out whose claims were lost with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.hold_stacks import HOLDS, HoldParameter
from strongref.contract.names import RESTORED, SHARED, ExportScope, Key
from strongref.protocol.behind_fences import FencedStore, behind_fences
from strongref.protocol.fences import FenceHolder
from strongref.protocol.published import RecordedExports
from strongref.protocol.recreation import PatientWriter
from strongref.refusals import ChangingError
from strongref_cli.overview.graph import Participant

if TYPE_CHECKING:
    from collections.abc import Collection

    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock


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

    def look(store: Store) -> tuple[RecordedExports, list[Key]]:
        published = RecordedExports.read(store, scope).readable()
        stored = store.under(scope.path("exports"), decrypted=False)
        lost = [key for key in sorted(published.values) if scope.parameter_name(key) not in stored]
        return published, [key for key in lost if keys is None or key in keys]

    def work(fenced: FencedStore) -> tuple[RecordedExports, list[Key]]:
        published, lost = look(fenced.store)
        return published, [key for key in lost if create(fenced, key, published)]

    def create(fenced: FencedStore, key: Key, published: RecordedExports) -> bool:
        writer, tags = PatientWriter(fenced.store, fenced.clock, ports.lag), published.tags(key) | RESTORED
        found = writer.create(scope.parameter_name(key), published.values[key], tags)
        return found is None  # Otherwise an import has restored it, with its claim.

    _, lost = look(ports.stores(region, clock))
    if not lost:
        return Restored(region, scope, (), (), may_have_more=False)
    published, lost = behind_fences(
        ports,
        clock,
        [(region, scope)],
        holder,
        lambda fenced: work(fenced[0]),
        busy=lambda fence: StillChangingError(str(scope.producer), str(fence)),
    )
    importers = _importers(ports, clock, region, scope, published.holds(lost))
    return Restored(region, scope, tuple(lost), importers, may_have_more=scope.consumer == SHARED)


def _importers(
    ports: Ports, clock: Clock, region: str, scope: ExportScope, holds: Collection[str]
) -> tuple[Participant, ...]:
    """The stacks that hold what these values name, and the consumer that they are exported to."""
    store = ports.stores(scope.producer.region, clock)
    names = [name for hold in holds for name in store.under(f"{HOLDS}/{hold.replace(':', '.')}", decrypted=False)]
    found = [hold for name in names if (hold := HoldParameter.of(name)) and hold.region == region]
    importers = {Participant(hold.account, hold.region, hold.label) for hold in found}
    if scope.consumer != SHARED and (info := ports.stacks.by_name(scope.consumer, region)):
        importers.add(Participant(scope.producer.account, region, info.name))
    return tuple(sorted(importers))
