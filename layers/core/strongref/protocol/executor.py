"""Carries out export plans: one AWS call after the other, no decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.record import encode, part_name
from strongref.contract.values import Value
from strongref.errors import AlreadyExistsError, ForeignParameterError, StoreError
from strongref.log import logger
from strongref.protocol.lag import NotAtOnceError
from strongref.protocol.plan import (
    CloseRecord,
    Create,
    Delete,
    GiveUpOwnership,
    Overwrite,
    RemoveClaims,
    TakeOwnership,
    WriteRecord,
    show,
)
from strongref.protocol.planner import split_tags
from strongref.protocol.ports import BATCH
from strongref.protocol.recreation import PatientWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from strongref.contract.names import ExportScope, Key
    from strongref.contract.record import Record
    from strongref.protocol.lag import ReadLag
    from strongref.protocol.plan import ExportPlan, Instruction
    from strongref.protocol.planner import ExportIdentity
    from strongref.protocol.ports import Store
    from strongref.protocol.time import Clock

OTHER_TYPE = "HierarchyTypeMismatchException"
"""The code of an overwrite that would change a parameter's type (AWS: PutParameter)."""

_ENDED = object()


def side_by_side(works: Iterable[Iterator[None]]) -> None:
    """Carry out several works, one step of each in turn: each region has quotas of its own, so they wait together."""
    going = list(works)
    while going:
        going = [work for work in going if next(work, _ENDED) is not _ENDED]


@dataclass(frozen=True, slots=True)
class PlanExecutor:
    """Carries out one Export's plans in one store."""

    store: Store  # where; it begins no call after the fence has expired
    export: ExportIdentity  # whose plans
    clock: Clock  # the store's
    lag: ReadLag
    recorded: Callable[[], None] = lambda: None  # is called as soon as the Export's new record is there

    def execute(self, plan: ExportPlan) -> Iterator[None]:
        """Carry out a plan, one call in each step.

        Raises:
            ForeignParameterError: another stack's parameter appeared where a value is to go.
        """
        report(self.store.region, plan)
        for position, instruction in enumerate(plan.instructions):
            until_recorded = 0 if position else _calls_until_recorded(instruction)
            for call, _ in enumerate(self._execute(plan.scope, instruction), start=1):
                if call == until_recorded:
                    self.recorded()
                yield

    def create(self, plan: ExportPlan) -> Iterator[None]:
        """Carry out a plan that only creates, one call in each step, and touch nothing that exists.

        Raises:
            NotAtOnceError: something of it exists.
        """
        report(self.store.region, plan)
        for name, value, tags in _created(plan):
            try:
                self.store.create(name, value.type, value.text, tags)
            except AlreadyExistsError:
                raise NotAtOnceError from None
            yield

    def _execute(self, scope: ExportScope, instruction: Instruction) -> Iterator[None]:
        match instruction:
            case WriteRecord(logical_id, record, used):
                yield from write_record(self.store, scope, logical_id, record, used)
                return
            case CloseRecord(logical_id, record, used):
                self._close_record(scope, logical_id, record, used)
            case Create(key, value, tags):
                self._create(scope.value(key), value, tags)
            case Overwrite(key, value):
                self._overwrite(scope.value(key), value)
            case TakeOwnership(key, value, tags):
                if not self.store.tag(scope.value(key), tags):
                    self._create(scope.value(key), value, tags)
            case GiveUpOwnership(key):
                self.store.untag(scope.value(key), [self.export.owner_tag])
            case RemoveClaims(key, claims):
                self.store.untag(scope.value(key), claims)
            case Delete(keys):
                self.store.delete([scope.value(key) for key in keys])
        yield

    def _create(self, name: str, value: Value, tags: Mapping[str, str]) -> None:
        """Create a parameter, or correct the one that appeared since the scope was read."""
        found = self._patiently.create(name, value, tags)
        if found is None:
            return
        # This very call, retried after its answer was lost; or an import that put the value back from the old record,
        # and releases it because our fence exists.
        producer, _, claims = split_tags(found)
        if producer != self.export.stack:
            raise ForeignParameterError({name: producer})
        try:
            self.store.overwrite(name, value.type, value.text)
        except StoreError as error:
            if error.code != OTHER_TYPE:
                raise
            self.store.delete([name])
            self._patiently.create(name, value, {**tags, **claims})
        else:
            self._patiently.tag(name, tags)

    def _overwrite(self, name: str, value: Value) -> None:
        if self.store.overwrite(name, value.type, value.text) == 1:
            self._patiently.tag(name, self.export.tags)  # it had just gone, and came back without an owner

    @property
    def _patiently(self) -> PatientWriter:
        return PatientWriter(self.store, self.clock, self.lag)

    def _close_record(self, scope: ExportScope, logical_id: str, record: Record | None, used: frozenset[int]) -> None:
        """Write the head again, complete now; the other parts are the same."""
        if record:
            head = encode(record, used)[-1]
            self.store.overwrite(head.name(scope.records, logical_id), head.kind, head.text)
        else:
            self.store.delete([part_name(scope.records, logical_id, 0)])


def _calls_until_recorded(first: Instruction) -> int:
    """After how many calls of a plan's first instruction the new record is there; 0 if it writes none."""
    if not isinstance(first, WriteRecord):
        return 0
    return len(encode(first.record, first.used)) if first.record else 1


def _created(plan: ExportPlan) -> Iterator[tuple[str, Value, Mapping[str, str]]]:
    """The parameters of a plan that only creates: names, values and tags, in its order."""
    for instruction in plan.instructions:
        match instruction:
            case Create(key, value, tags):
                yield plan.scope.value(key), value, tags
            case WriteRecord(logical_id, record, used) if record:
                for part in encode(record, used):
                    yield part.name(plan.scope.records, logical_id), Value(part.kind, part.text), {}


def write_record(
    store: Store, scope: ExportScope, logical_id: str, record: Record | None, used: frozenset[int]
) -> Iterator[None]:
    """Replace a record at once, one call in each step: its tails first, then its head; then the old tails go.

    Without a new one, the record is deleted. The parts that it has now have the numbers `used`.
    """
    parts = encode(record, used) if record else []
    for part in parts:
        store.overwrite(part.name(scope.records, logical_id), part.kind, part.text)
        yield
    left = sorted(used - {part.number for part in parts})
    names = [part_name(scope.records, logical_id, number) for number in left]
    for at in range(0, len(names), BATCH):
        store.delete(names[at : at + BATCH])
        yield


def report(region: str, plan: ExportPlan) -> None:
    """Log what a plan does, and who is concerned; never a value."""
    where = {"scope": plan.scope.values, "region": region}
    for key, stale in plan.stale.items():
        for importer in stale.values():
            logger.warning(
                "A stale claim was ignored: its stack is deleted, or no longer has that import",
                extra=where | {"key": key, "importer": importer},
            )
    _warn("A claimed value was changed", plan.propagated, where)
    _warn("A claimed value was kept", plan.kept, where)
    logger.debug("The plan", extra={**where, "instructions": show(plan)})
    logger.info("Exports were written", extra={**where, **plan.counts()})


def _warn(message: str, claimed: Mapping[Key, tuple[str, ...]], where: Mapping[str, str]) -> None:
    for key, importers in claimed.items():
        logger.warning(message, extra={**where, "key": key, "importers": list(importers)})
