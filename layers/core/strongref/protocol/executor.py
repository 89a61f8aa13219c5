"""Carries out export plans: what they say, step by step, no decisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from strongref.contract.record import encode, part_name
from strongref.contract.values import Value
from strongref.errors import AlreadyExistsError, StoreError
from strongref.log import logger
from strongref.protocol.lag import MustWaitError
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
from strongref.protocol.ports import BATCH
from strongref.protocol.recreation import PatientWriter
from strongref.protocol.stored_exports import split_tags
from strongref.refusals import ForeignParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strongref.contract.names import ExportScope, Key
    from strongref.contract.record import Record
    from strongref.protocol.lag import ReadLag
    from strongref.protocol.plan import ExportPlan, Instruction
    from strongref.protocol.ports import Store
    from strongref.protocol.stored_exports import ExportIdentity
    from strongref.protocol.time import Clock

OTHER_TYPE = "HierarchyTypeMismatchException"
"""The code of an overwrite that would change a parameter's type (AWS: PutParameter)."""

Call = Callable[[], object]
Step = Sequence[Call]
"""Calls that do not depend on each other."""


@dataclass(frozen=True, slots=True)
class PlanExecutor:
    """Carries out one Export's plans in one store."""

    store: Store  # where; it begins no call after the fence has expired
    export: ExportIdentity  # whose plans
    clock: Clock  # the store's
    lag: ReadLag
    recorded: Callable[[], None] = lambda: None  # is called as soon as the Export's new record is there

    def execute(self, plan: ExportPlan) -> Iterator[Step]:
        """The steps of a plan. Instructions of a kind that follow each other are one: each has values of its own.

        Raises:
            ForeignParameterError: another stack's parameter appeared where a value is to go; raised by a step's call.
        """
        report(self.store.region, plan)
        for number, (_, group) in enumerate(groupby(plan.instructions, type)):
            for position, instruction in enumerate(instructions := list(group)):
                if not isinstance(instruction, WriteRecord):
                    yield [partial(self._execute, plan.scope, each) for each in instructions]
                    break
                is_first = number == position == 0
                yield from self._write_record(plan.scope, instruction, _steps_until_recorded(instruction) * is_first)

    def create(self, plan: ExportPlan) -> Iterator[Step]:
        """The steps of a plan that only creates; they touch nothing that exists.

        Raises:
            MustWaitError: something of it exists; raised by a step's call.
        """
        report(self.store.region, plan)
        for step in _created(plan):
            yield [partial(self._create_first, *each) for each in step]

    def _create_first(self, name: str, value: Value, tags: Mapping[str, str]) -> None:
        try:
            self.store.create(name, value.type, value.text, tags)
        except AlreadyExistsError:
            raise MustWaitError from None

    def _write_record(self, scope: ExportScope, instruction: WriteRecord, until_recorded: int) -> Iterator[Step]:
        """The steps of an instruction; the last call of one of them, by its number from 1, records the change."""
        steps = write_record(self.store, scope, instruction.logical_id, instruction.record, instruction.used)
        for number, step in enumerate(steps, start=1):
            yield [*step[:-1], partial(self._record, step[-1])] if number == until_recorded else step

    def _record(self, call: Call) -> None:
        call()
        self.recorded()

    def _execute(self, scope: ExportScope, instruction: Instruction) -> None:
        match instruction:
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


def _steps_until_recorded(first: WriteRecord) -> int:
    """After how many steps of a plan's first instruction the new record is there."""
    return 2 if first.record and len(encode(first.record, first.used)) > 1 else 1


def _created(plan: ExportPlan) -> Iterator[list[tuple[str, Value, Mapping[str, str]]]]:
    """The parameters of a plan that only creates: names, values and tags, in steps."""
    yield [
        (plan.scope.value(each.key), each.value, each.tags) for each in plan.instructions if isinstance(each, Create)
    ]
    for each in plan.instructions:
        if isinstance(each, WriteRecord) and each.record:
            *tails, head = encode(each.record, each.used)
            for parts in (tails, [head]):
                yield [
                    (part.name(plan.scope.records, each.logical_id), Value(part.kind, part.text), {}) for part in parts
                ]


def write_record(
    store: Store, scope: ExportScope, logical_id: str, record: Record | None, used: frozenset[int]
) -> Iterator[Step]:
    """The steps that replace a record at once: its tails first, then its head; then the old tails go.

    Without a new one, the record is deleted. The parts that it has now have the numbers `used`.
    """
    parts = encode(record, used) if record else []
    for step in (parts[:-1], parts[-1:]):
        if step:
            yield [
                partial(store.overwrite, part.name(scope.records, logical_id), part.kind, part.text) for part in step
            ]
    left = sorted(used - {part.number for part in parts})
    names = [part_name(scope.records, logical_id, number) for number in left]
    for at in range(0, len(names), BATCH):
        yield [partial(store.delete, names[at : at + BATCH])]


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
