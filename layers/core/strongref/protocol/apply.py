"""Carries an export's plan out: one call after the other, no decisions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from strongref.contract.names import owner_tag
from strongref.contract.record import Record, encode, part_name
from strongref.errors import AlreadyExistsError, ForeignParameterError
from strongref.log import logger
from strongref.protocol.plan import holding_of
from strongref.protocol.ports import BATCH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strongref.contract.names import ExportScope
    from strongref.contract.values import Value
    from strongref.protocol.plan import ExportIdentity, ExportPlan
    from strongref.protocol.ports import Store


@dataclass(frozen=True, slots=True)
class PlanExecutor:
    """One Export's plans, carried out in one store.

    Attributes:
        store: where; no call of it is begun after the fence's time.
        me: which Export.
    """

    store: Store
    me: ExportIdentity

    def apply(self, plan: ExportPlan, used: Mapping[str, frozenset[int]]) -> Iterator[None]:
        """Carry a plan out, a call at each step: the record first, so that what is lost on the way comes back from it.

        Args:
            plan: for this self.store.
            used: the numbers of the parts that records have there, by logical id.

        Raises:
            ForeignParameterError: somebody else's parameter has come to stand where a value is to go.
        """
        report(self.store.region, plan)
        yield from self._write_records(plan, used)
        yield from self._change(plan)
        yield from self._make(plan)
        yield from self._take_away(plan)
        if plan.retags:
            close_record(self.store, plan.scope, self.me.logical_id, plan.record, used)
            yield

    def _write_records(self, plan: ExportPlan, used: Mapping[str, frozenset[int]]) -> Iterator[None]:
        if plan.retags:
            record = replace(plan.record or Record(self.me.stack, {}), open=True)
            yield from write_record(self.store, plan.scope, self.me.logical_id, record, used)
        elif plan.rerecord:
            yield from write_record(self.store, plan.scope, self.me.logical_id, plan.record, used)
        for logical_id, record in plan.orphans.items():
            yield from write_record(self.store, plan.scope, logical_id, record if record.values else None, used)

    def _change(self, plan: ExportPlan) -> Iterator[None]:
        scope = plan.scope
        for key, stale in plan.heal.items():
            if key in plan.overwrite:
                self.store.untag(scope.value(key), stale)
                yield
        for key, value in plan.overwrite.items():
            if self.store.overwrite(scope.value(key), value.kind, value.text) == 1:
                self.store.tag(scope.value(key), self.me.tags)  # it had just gone, and came back as nobody's
            yield
        for key, tags in plan.adopt.items():
            if not self.store.tag(scope.value(key), tags):
                self._create(scope.value(key), plan.published[key], tags)
            yield

    def _make(self, plan: ExportPlan) -> Iterator[None]:
        scope = plan.scope
        yield from _delete(self.store, [scope.value(key) for key in plan.remake])
        for key, (value, tags) in (*plan.remake.items(), *plan.create.items()):
            self._create(scope.value(key), value, tags)
            yield

    def _take_away(self, plan: ExportPlan) -> Iterator[None]:
        scope = plan.scope
        for key in plan.disown:
            self.store.untag(scope.value(key), [owner_tag(self.me.logical_id)])
            yield
        yield from _delete(self.store, [scope.value(key) for key in plan.delete])

    def _create(self, name: str, value: Value, tags: Mapping[str, str]) -> None:
        """Make a value, or make right what came to stand there since it was looked for."""
        try:
            self.store.create(name, value.kind, value.text, tags)
        except AlreadyExistsError:
            # This very call, tried again after its answer was lost; or an import that put the value back from the
            # old record, and will let go of it because our fence stands.
            producer, _, _ = holding_of(self.store.tags(name) or {})
            if producer != self.me.stack:
                raise ForeignParameterError({name: producer}) from None
            self.store.overwrite(name, value.kind, value.text)
            self.store.tag(name, tags)


def write_record(
    store: Store, scope: ExportScope, logical_id: str, record: Record | None, used: Mapping[str, frozenset[int]]
) -> Iterator[None]:
    """Change a record at once, a call at each step: its tails first, then its head, then the old tails away.

    Args:
        store: where.
        scope: in it.
        logical_id: of the Export whose record it is.
        record: what it is to say; None: it goes.
        used: the numbers of the parts that records have there, by logical id.
    """
    before = used.get(logical_id, frozenset())
    parts = encode(record, before) if record else []
    for part in parts:
        store.overwrite(part.name(scope.records, logical_id), part.kind, part.text)
        yield
    left = sorted(before - {part.number for part in parts})
    yield from _delete(store, [part_name(scope.records, logical_id, number) for number in left])


def _delete(store: Store, names: list[str]) -> Iterator[None]:
    for at in range(0, len(names), BATCH):
        store.delete(names[at : at + BATCH])
        yield


def close_record(
    store: Store, scope: ExportScope, logical_id: str, record: Record | None, used: Mapping[str, frozenset[int]]
) -> None:
    """Say that the tags are right, after a record was written open: its head alone, since the rest is the same."""
    if record:
        head = encode(record, used.get(logical_id, frozenset()))[-1]
        store.overwrite(head.name(scope.records, logical_id), head.kind, head.text)
    else:
        store.delete([part_name(scope.records, logical_id, 0)])


def report(region: str, plan: ExportPlan) -> None:
    """Log what a plan does, and to whom; never a value."""
    where = {"place": plan.scope.values, "region": region}
    for key, stale in plan.heal.items():
        for importer in stale.values():
            logger.warning(
                "A stale claim protects nothing: its stack is gone, or has no such import any more",
                extra=where | {"key": key, "importer": importer},
            )
    for key, importers in plan.told.items():
        logger.warning("A claimed value is changed", extra=where | {"key": key, "importers": list(importers)})
    for key, importers in plan.kept.items():
        logger.warning("A claimed value is kept", extra=where | {"key": key, "importers": list(importers)})
    counts = {
        "made": len(plan.create),
        "changed": len(plan.overwrite) + len(plan.remake),
        "adopted": len(plan.adopt),
        "dropped": len(plan.delete) + len(plan.disown),
    }
    logger.info("Exports are written", extra={**where, **counts})
