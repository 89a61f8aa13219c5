"""Carries out export plans: what they say, step by step, no decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from strongref.contract.names import ExportScope, owner_tag
from strongref.contract.record import Record, encode, part_name
from strongref.contract.values import Value
from strongref.errors import AlreadyExistsError, StoreError
from strongref.log import logger
from strongref.protocol.lag import MustWaitError
from strongref.protocol.plan import (
    CloseRecord,
    Create,
    Delete,
    ExportPlan,
    GiveUpOwnership,
    Instruction,
    Overwrite,
    RemoveClaims,
    TakeOwnership,
    WriteRecord,
)
from strongref.protocol.ports import BATCH, Store
from strongref.protocol.side_by_side import in_turn
from strongref.protocol.stored_exports import ExportIdentity, split_tags
from strongref.refusals import ForeignParameterError

if TYPE_CHECKING:
    from strongref.protocol.recreation import PatientWriter

OTHER_TYPE = "HierarchyTypeMismatchException"
"""The code of an overwrite that would change a parameter's type (AWS: PutParameter)."""

Step = Sequence[Callable[[], object]]
"""Calls that do not depend on each other."""


def _nothing() -> None:
    """Does nothing."""


@dataclass(frozen=True, slots=True)
class PlanExecutor:
    writer: PatientWriter  # of the store, which begins no call after the fence has expired
    export: ExportIdentity  # whose plans
    begins: Callable[[], None] = _nothing  # is called before the first record is written
    recorded: Callable[[], None] = _nothing  # is called as soon as the Export's new record is there

    def execute(self, plan: ExportPlan) -> Iterator[Step]:
        """The steps of a plan. Instructions of a kind that follow each other are one: each has values of its own.

        Raises:
            ForeignParameterError: another stack's parameter appeared where a value is to go; raised by a step's call.
        """
        store, recorded = self.writer.store, self.recorded
        report(store.region, plan)
        for _, group in groupby(plan.instructions, type):
            instructions = list(group)
            records = [each for each in instructions if isinstance(each, WriteRecord)]
            for each in records:
                yield from write_record(store, plan.scope, each, recorded, self.begins)
                recorded = _nothing
            if not records:
                yield [partial(self._execute, plan.scope, each) for each in instructions]
                recorded = _nothing  # The Export's own record is the first instruction, if it changes.

    def delete_unseen(self, plan: ExportPlan) -> Iterator[Step]:
        """The one step that follows those of a plan, and that may end halfway if nothing is there."""
        yield [partial(self._execute, plan.scope, each) for each in plan.unseen]

    def create(self, plan: ExportPlan) -> Iterator[Step]:
        """The steps of a plan that only creates; they touch nothing that exists.

        Raises:
            MustWaitError: something of it exists; raised by a step's call.
        """
        report(self.writer.store.region, plan)
        scope, create = plan.scope, self._create_first
        values = [each for each in plan.instructions if isinstance(each, Create)]
        yield [partial(create, scope.parameter_name(each.key), each.value, each.tags) for each in values]
        for each in plan.instructions:
            if isinstance(each, WriteRecord) and each.record:
                *tails, head = encode(each.record, each.used)
                for parts in (tails, [head]):
                    named = [(part_name(scope, each.logical_id, part.number), part) for part in parts]
                    yield [partial(create, name, Value(part.kind, part.text), {}) for name, part in named]

    def _create_first(self, name: str, value: Value, tags: Mapping[str, str]) -> None:
        try:
            self.writer.store.create(name, value.type, value.text, tags)
        except AlreadyExistsError:
            raise MustWaitError from None

    def _execute(self, scope: ExportScope, instruction: Instruction) -> None:
        match instruction:
            case CloseRecord(logical_id, Record() as record, used):
                head = encode(record, used)[-1]  # It is complete now; the other parts are the same.
                self.writer.store.overwrite(part_name(scope, logical_id, head.number), head.kind, head.text)
            case CloseRecord(logical_id):
                self.writer.store.delete([part_name(scope, logical_id, 0)])
            case Create(key, value, tags):
                self._create(scope.parameter_name(key), value, tags)
            case Overwrite(key, value, tags):
                self._overwrite(scope.parameter_name(key), value, tags)
            case TakeOwnership(key, value, tags):
                if not self.writer.store.tag(scope.parameter_name(key), tags):
                    self._create(scope.parameter_name(key), value, tags)
            case GiveUpOwnership(key):
                self.writer.store.untag(scope.parameter_name(key), [owner_tag(self.export.logical_id)])
            case RemoveClaims(key, claims):
                self.writer.store.untag(scope.parameter_name(key), claims)
            case Delete(keys):
                self.writer.store.delete([scope.parameter_name(key) for key in keys])

    def _create(self, name: str, value: Value, tags: Mapping[str, str]) -> None:
        """Create a parameter, or correct the one that appeared since the scope was read."""
        found = self.writer.create(name, value, tags)
        if found is None:
            return
        # This very call, retried after its answer was lost; or an import that put the value back from the old record,
        # and releases it because our fence exists.
        producer, _, claims = split_tags(found)
        if producer != self.export.stack:
            raise ForeignParameterError({name: producer})
        try:
            self.writer.store.overwrite(name, value.type, value.text)
        except StoreError as error:
            if error.code != OTHER_TYPE:
                raise
            self.writer.store.delete([name])
            self.writer.create(name, value, {**tags, **claims})
        else:
            self.writer.tag(name, tags)

    def _overwrite(self, name: str, value: Value, tags: Mapping[str, str]) -> None:
        if self.writer.store.overwrite(name, value.type, value.text) == 1:
            self.writer.tag(name, tags)  # it had just gone, and came back without an owner


def write_record(
    store: Store,
    scope: ExportScope,
    write: WriteRecord,
    recorded: Callable[[], None] = _nothing,
    begins: Callable[[], None] = _nothing,
) -> Iterator[Step]:
    """The steps that replace a record at once: its tails first, then its head; then the old tails go.

    Without a new one, the record is deleted. `begins` is called before the change, `recorded` as soon as it is there.
    """
    parts = encode(write.record, write.used) if write.record else []
    writes = [
        partial(store.overwrite, part_name(scope, write.logical_id, part.number), part.kind, part.text)
        for part in parts
    ]
    left = sorted(write.used - {part.number for part in parts})
    names = [part_name(scope, write.logical_id, number) for number in left]
    deletes = [partial(store.delete, names[at : at + BATCH]) for at in range(0, len(names), BATCH)]
    steps: list[Step] = [writes[:-1], writes[-1:], *([each] for each in deletes)]
    decisive = 1 if writes[1:] else 0  # the head's, or the first deletion
    for number, step in enumerate(filter(None, steps)):
        yield [partial(in_turn, [[begins, step[0], recorded]])] if number == decisive else step


def report(region: str, plan: ExportPlan) -> None:
    """Log what a plan does, and who is concerned; never a value."""
    where = {"scope": plan.scope.path("exports"), "region": region}
    for key, stale in plan.stale.items():
        for importer in stale.values():
            logger.warning(
                "A stale claim was ignored: its stack is deleted, or no longer has that import",
                extra=where | {"key": key, "importer": importer},
            )
    for message, claimed in (("A claimed value was changed", plan.propagated), ("A claimed value was kept", plan.kept)):
        for key, importers in claimed.items():
            logger.warning(message, extra={**where, "key": key, "importers": list(importers)})
    logger.info("Exports were written", extra={**where, **plan.counts()})
