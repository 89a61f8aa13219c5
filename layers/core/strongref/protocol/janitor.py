"""The janitor: looks through everything that strongref stores in a region, heals what is safe by rule, tells the rest.

It looks without a fence, and behind one only at what is to be healed: where all is well, nobody ever waits for it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.names import SHARED, ExportScope
from strongref.contract.record import decode
from strongref.contract.values import Value
from strongref.errors import AlreadyExistsError, ChangingError
from strongref.log import logger
from strongref.protocol.apply import write_record
from strongref.protocol.fences import FenceHolder, behind_fences, delete_expired, fences_below, live_fence
from strongref.protocol.findings import Finding, FindingType, Repairs, Resolution, ScopeSnapshot, examine
from strongref.protocol.inspection import TagInspector
from strongref.protocol.steps import one_after_the_other

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strongref.contract.names import Key
    from strongref.contract.values import Parameter
    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock

HOLDER = FenceHolder("janitor", "the janitor")

PART = 200
"""Values of a place that are looked at before what was found is healed: a function that runs out of time loses no more
than that."""

Checkpoint = tuple[str, str]
"""The path of a place's values and a key of it: where a part of the store ends."""


@dataclass(frozen=True, slots=True)
class JanitorProgress:
    """What was done in a part of the store.

    Attributes:
        mark: up to where all is done.
        values: how many were looked at.
        findings: what was found, whatever became of it.
        busy: somebody is changing the place: what is to be healed there is left for the next time.
    """

    mark: Checkpoint
    values: int
    findings: tuple[Finding, ...]
    busy: bool = False

    def counts(self) -> Counter[str]:
        """Numbers by name: of what was found, and what became of it; what is left for the next time does not count."""
        found = Counter(Values=self.values)
        for finding in self.findings:
            fate = finding.what.fate
            if self.busy and fate is Resolution.HEALED:
                continue
            found[finding.what.value] += 1
            if fate is not Resolution.NOTED:
                found["Healed" if fate is Resolution.HEALED else "Unhealed"] += 1
        return found


@dataclass(frozen=True, slots=True)
class Janitor:
    """Tends one region's store.

    Attributes:
        ports: what calls go through; its patience is how long to wait for an exporter at work.
        region: where.
    """

    ports: Ports
    region: str

    def tend(self, clock: Clock, after: Checkpoint = ("", "")) -> Iterator[JanitorProgress]:
        """Look after one part of the store after the other; tell of each what was done.

        Args:
            clock: the invocation's.
            after: the mark of the part up to which all is done already.

        Raises:
            UnfinishedError: the time ran short.
        """
        store = self.ports.stores(self.region, clock)
        dead = delete_expired(store, fences_below(store, "/strongref/fences"), clock.now())
        yield JanitorProgress(after, 0, tuple(Finding(FindingType.DEAD_FENCE, name) for name in dead))
        inspector = TagInspector(self.ports.stacks)
        stored = _by_scope("exports", store.under("/strongref/exports"))
        recorded = _by_scope("records", store.under("/strongref/records"))
        for scope in sorted({*stored, *recorded}, key=lambda scope: scope.values):
            here, there = stored.get(scope, {}), recorded.get(scope, {})
            for keys in _parts(sorted(scope.key(name) for name in here)):
                mark = (scope.values, keys[-1] if keys else "")
                if mark > after:
                    suspicion = examine(scope, self._see(store, scope, here, there, inspector, keys))
                    care, busy = self._attend(clock, scope, suspicion)
                    tended = JanitorProgress(mark, len(keys), tuple(sorted(care.findings)), busy=busy)
                    report(self.region, tended)
                    yield tended

    def _attend(self, clock: Clock, scope: ExportScope, suspicion: Repairs) -> tuple[Repairs, bool]:
        """Make sure of a suspicion, and heal; whether somebody is changing the place, so that it has to wait.

        What was read before may be minutes old, and a change half-way looks like damage: so all is read once more,
        behind a fence if something is to be done.
        """
        keys = sorted(suspicion.suspects)
        if suspicion.heals:
            try:
                sites = [(self.region, scope)]
                care = behind_fences(
                    self.ports, clock, sites, HOLDER, lambda posts: self._heal(posts[0].store, scope, keys)
                )
            except ChangingError:
                return suspicion, True
            return care, False
        if not suspicion.findings:
            return suspicion, False
        store = self.ports.stores(self.region, clock)
        _, care = self._look_again(store, scope, keys)
        return care, live_fence(store, scope, clock.now()) is not None

    def _look_again(self, store: Store, scope: ExportScope, keys: list[Key]) -> tuple[ScopeSnapshot, Repairs]:
        here, there = store.under(scope.values), store.under(scope.records)
        seen = self._see(store, scope, here, there, TagInspector(self.ports.stacks), keys)
        return seen, examine(scope, seen)

    def _heal(self, store: Store, scope: ExportScope, keys: list[Key]) -> Repairs:
        """Look again, now that nobody can claim or change anything, and do what is to be done."""
        seen, care = self._look_again(store, scope, keys)
        used = {logical_id: found.numbers for logical_id, found in seen.records.items()}
        one_after_the_other(
            write_record(store, scope, logical_id, record, used) for logical_id, record in care.records.items()
        )
        for key, stale in care.untag.items():
            store.untag(scope.value(key), stale)
        store.delete([scope.value(key) for key in care.delete])
        store.delete(care.litter)
        for key, (value, tags) in care.put_back.items():
            try:
                store.create(scope.value(key), value.kind, value.text, tags)
            except AlreadyExistsError:
                logger.info("A value came back by itself", extra={"parameter": scope.value(key)})
        return care

    def _see(  # noqa: PLR0913, PLR0917
        self,
        store: Store,
        scope: ExportScope,
        stored: Mapping[str, Parameter],
        recorded: Mapping[str, Parameter],
        inspector: TagInspector,
        keys: list[Key],
    ) -> ScopeSnapshot:
        """What stands in a place, with the tags of these keys."""
        values = {scope.key(name): Value(found.kind, found.text) for name, found in stored.items()}
        records = decode(scope.records, recorded)
        stacks = {found.record.stack for found in records.values() if found.record}
        return ScopeSnapshot(
            records=records,
            stored=values,
            holdings=inspector.survey(store, scope, [key for key in keys if key in values]),
            gone=frozenset(stack for stack in stacks if not inspector.exists(stack)),
            awaited=scope.consumer == SHARED or self._is_there(scope.consumer),
        )

    def _is_there(self, consumer: str) -> bool:
        info = self.ports.stacks.by_name(consumer, self.region)
        return info is not None and not info.being_deleted


def _parts(keys: list[Key]) -> list[list[Key]]:
    """Of a place without values, one part that has none: it may have records."""
    return [keys[at : at + PART] for at in range(0, len(keys), PART)] or [[]]


def _by_scope(branch: str, parameters: Mapping[str, Parameter]) -> dict[ExportScope, dict[str, Parameter]]:
    found: dict[ExportScope, dict[str, Parameter]] = defaultdict(dict)
    for name, parameter in parameters.items():
        scope = ExportScope.of(branch, name)
        if scope:
            found[scope][name] = parameter
    return found


def report(region: str, tended: JanitorProgress) -> None:
    """Log what was found: a line each, never a value."""
    for finding in tended.findings:
        said = {
            "finding": finding.what.value,
            "parameter": finding.parameter,
            "region": region,
            "stacks": list(finding.stacks),
        }
        fate = finding.what.fate
        if tended.busy and fate is Resolution.HEALED:
            logger.info("Found, and left for the next time: the place is being changed", extra=said)
        elif fate is Resolution.HEALED:
            logger.warning("Found and healed", extra=said)
        elif fate is Resolution.TOLD:
            logger.error("Found, and not to be healed by rule", extra=said)
        else:
            logger.info("Found, and as it should be for now", extra=said)
