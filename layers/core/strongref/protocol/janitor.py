"""The janitor: reads everything that strongref stores in a region, repairs what is safe, and reports the rest.

It reads without a fence, and puts one up only where something is to be repaired: nobody waits for it elsewhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from strongref.contract.names import RESTORED, SHARED, ExportScope
from strongref.contract.notices import Observation, findings_reported, repairs_made
from strongref.contract.record import decode
from strongref.contract.releases import RELEASES, Release
from strongref.errors import AlreadyExistsError, ChangingError, StrongRefError, UnfinishedError
from strongref.log import logger
from strongref.protocol.executor import write_record
from strongref.protocol.fences import FenceHolder, behind_fences, delete_expired, fences_below
from strongref.protocol.findings import Finding, FindingType, Repairs, Resolution, ScopeSnapshot, examine
from strongref.protocol.inspection import TagInspector
from strongref.protocol.janitor_holds import HoldTender, add_claims, log_failure
from strongref.protocol.janitor_index import IndexTender
from strongref.protocol.published import RecordedExports
from strongref.protocol.side_by_side import Work, carry_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from strongref.contract.names import Key
    from strongref.contract.notices import Notice
    from strongref.contract.values import Parameter
    from strongref.protocol.janitor_holds import Claim, Failed
    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock

HOLDER = FenceHolder("janitor", "the janitor")

PART = 200
"""Values of a scope that are read before what was found is repaired: a function that runs out of time loses no more
than that."""

LAST = "~"
"""Sorts after every path and key."""

Checkpoint = tuple[str, str]
"""The path of a scope's values and a key in it: where a part of the store ends."""


@dataclass(frozen=True, slots=True)
class JanitorProgress:
    """What was done in one part of the store."""

    mark: Checkpoint  # everything up to here is done
    values: int  # how many were read
    findings: tuple[Finding, ...]  # what was found, whatever was done about it
    busy: bool = False  # the scope is being changed: what was found is left for the next run

    def counts(self) -> Counter[str]:
        """Numbers by name, for the metrics; what is left for the next run does not count."""
        found = Counter(Values=self.values)
        for finding in self.settled:
            found[finding.kind.value] += 1
            resolution = finding.kind.resolution
            if resolution is not Resolution.NOTED:
                found["Healed" if resolution is Resolution.HEALED else "Unhealed"] += 1
        return found

    @property
    def settled(self) -> tuple[Finding, ...]:
        """The findings, unless the scope is being changed: half a change looks like damage. The next run decides."""
        return () if self.busy else self.findings


@dataclass(frozen=True, slots=True)
class Janitor:
    """Looks after one region's store."""

    ports: Ports  # what calls go through; its patience is how long to wait for an exporter at work
    region: str
    account: str
    repairs: bool = True  # whether it repairs what it finds, or only looks twice
    failed: Failed = log_failure  # takes what could not be looked after

    def tend(self, clock: Clock, after: Checkpoint = ("", "")) -> Iterator[JanitorProgress]:
        """Look after one part of the store after the other, and yield what was done in each.

        Everything up to the mark `after` is done already. What cannot be repaired in a scope stops no other one.

        Raises:
            UnfinishedError: the time ran out.
            StrongRefError: a call failed; if that was a repair, everything else has been done.
        """
        failures: list[StrongRefError] = []
        yield from self._tend(clock, after, failures)
        if failures:
            raise failures[0]

    def _tend(self, clock: Clock, after: Checkpoint, failures: list[StrongRefError]) -> Iterator[JanitorProgress]:
        """The same, but failed repairs are added to `failures`."""
        store = self.ports.stores(self.region, clock)
        yield JanitorProgress(after, 0, tuple(self._expired(store, clock)))
        inspector = TagInspector(self.ports.stacks)
        stored = _by_scope("exports", store.under("/strongref/exports"))
        recorded = _by_scope("records", store.under("/strongref/records"))
        holds = HoldTender(self.ports, self.region, clock, HOLDER, self.repairs, self.failed)
        index = IndexTender(self.ports, self.region, self.account, clock, self.repairs, self.failed)
        for scope in sorted({*stored, *recorded}, key=lambda scope: scope.values):
            here, there = stored.get(scope, {}), recorded.get(scope, {})
            claims: dict[Claim, set[Key]] = {}
            done: list[Key] = []  # by an earlier invocation
            for keys in _parts(sorted(scope.key(name) for name in here)):
                mark = (scope.values, keys[-1] if keys else "")
                if mark <= after:
                    done += keys
                    continue
                seen = self._see(store, scope, here, there, inspector, keys)
                repairs, busy = self._attend(clock, scope, examine(scope, seen), inspector, failures)
                yield JanitorProgress(mark, len(keys), tuple(sorted(repairs.findings)), busy=busy)
                add_claims(claims, seen.tags)
            if (scope.values, 2 * LAST) > after:
                living = _of_living_stacks(scope, there, inspector)
                last = after[1].removeprefix(LAST) if after >= (scope.values, LAST) else ""
                if missing := tuple(index.add_missing(scope, living.records)):
                    yield JanitorProgress((scope.values, LAST + last), 0, missing)
                for tag, found in holds.make_missing(scope, living, claims, done, inspector, last):
                    yield JanitorProgress((scope.values, LAST + tag), 0, found)
        made = tuple(holds.confirm())
        if made:
            yield JanitorProgress(max(after, (LAST, "")), 0, made)
        for mark, work in (((LAST, "holds"), holds.delete_stale), ((LAST, "index"), index.correct)):
            if mark > after:
                yield JanitorProgress(mark, 0, tuple(work()))

    def _expired(self, store: Store, clock: Clock) -> Iterator[Finding]:
        """The fences whose holder died. A repair deletes all that expired, and old traces of released claims."""
        fences, now = fences_below(store, "/strongref/fences"), clock.now()
        if self.repairs:
            delete_expired(store, fences, now)
            releases = {name: Release.decode(name, each.text) for name, each in store.under(RELEASES).items()}
            store.delete([name for name, each in releases.items() if each and each.is_over(now)])
        for name, fence in fences.items():
            if not (fence.is_live(now) or fence.finished):
                yield Finding(FindingType.DEAD_FENCE, name)

    def _attend(
        self,
        clock: Clock,
        scope: ExportScope,
        suspicion: Repairs,
        first: TagInspector,
        failures: list[StrongRefError],
    ) -> tuple[Repairs, bool]:
        """Verify a suspicion, and repair; return whether the scope is being changed, so that repairs have to wait.

        What was read before may be minutes old, and a change halfway looks like damage: so everything is read again,
        behind a fence if something is to be repaired. A repair that fails is added to `failures`: nothing is known of
        what is left to do.
        """
        keys = sorted(suspicion.suspects)
        if suspicion.needed and self.repairs:
            try:
                sites = [(self.region, scope)]
                repairs = behind_fences(
                    self.ports, clock, sites, HOLDER, lambda fenced: self._heal(fenced[0].store, scope, keys, first)
                )
            except ChangingError:
                return suspicion, True
            except UnfinishedError:
                raise
            except StrongRefError as error:
                failures.append(error)
                self.failed("Exports could not be repaired", error, path=scope.values, records=scope.records)
                return Repairs(), False
            return repairs, False
        if not suspicion.findings:
            return suspicion, False
        store = self.ports.stores(self.region, clock)
        if not self.repairs:
            self.ports.lag.settle(clock)  # Behind a fence, the second look would be as late.
        _, repairs = self._look_again(store, scope, keys, first)
        fences = fences_below(store, scope.fences).values()
        return repairs, any(fence.is_live(clock.now()) for fence in fences)

    def _look_again(
        self, store: Store, scope: ExportScope, keys: list[Key], first: TagInspector
    ) -> tuple[ScopeSnapshot, Repairs]:
        """The second look: a stack is deleted, and a claim stale, if the first look found it so, too."""
        here, there = store.under(scope.values), store.under(scope.records)
        inspector = TagInspector(self.ports.stacks)
        seen = self._see(store, scope, here, there, inspector, keys)
        tags = dict(seen.tags)
        inspector.agree(first, [tags])
        deleted = frozenset(stack for stack in seen.deleted_stacks if first.found_deleted(stack))
        seen = replace(seen, tags=tags, deleted_stacks=deleted)
        return seen, examine(scope, seen)

    def _heal(self, store: Store, scope: ExportScope, keys: list[Key], first: TagInspector) -> Repairs:
        """Read again, now that nobody can claim or change anything, and repair."""
        seen, repairs = self._look_again(store, scope, keys, first)
        for logical_id, record in repairs.records.items():
            carry_out([Work(store, write_record(store, scope, logical_id, record, seen.records[logical_id].numbers))])
        for key, stale in repairs.untag.items():
            store.untag(scope.value(key), stale)
        store.delete([scope.value(key) for key in repairs.delete])
        store.delete(repairs.delete_parts)
        for key, (value, tags) in repairs.put_back.items():
            try:
                store.create(scope.value(key), value.type, value.text, {**tags, **RESTORED})
            except AlreadyExistsError:
                logger.info("A missing value was put back by someone else", extra={"parameter": scope.value(key)})
        return repairs

    def _see(  # noqa: PLR0913, PLR0917
        self,
        store: Store,
        scope: ExportScope,
        stored: Mapping[str, Parameter],
        recorded: Mapping[str, Parameter],
        inspector: TagInspector,
        keys: list[Key],
    ) -> ScopeSnapshot:
        """What is stored in a scope, with the tags of these keys."""
        values = {scope.key(name): found.value for name, found in stored.items()}
        records = decode(scope.records, recorded)
        stacks = {found.record.stack for found in records.values() if found.record}
        return ScopeSnapshot(
            records=records,
            stored=values,
            tags=inspector.survey(store, scope, [key for key in keys if key in values]),
            deleted_stacks=frozenset(stack for stack in stacks if not inspector.exists(stack)),
            awaited=scope.consumer == SHARED or self._is_there(scope.consumer),
        )

    def _is_there(self, consumer: str) -> bool:
        info = self.ports.stacks.by_name(consumer, self.region)
        return info is not None and not info.being_deleted


def _parts(keys: list[Key]) -> list[list[Key]]:
    """Of a scope without values, one part that has none: it may have records."""
    return [keys[at : at + PART] for at in range(0, len(keys), PART)] or [[]]


def _of_living_stacks(
    scope: ExportScope, recorded: Mapping[str, Parameter], inspector: TagInspector
) -> RecordedExports:
    """What the records of stacks that exist publish."""
    found = RecordedExports.of(decode(scope.records, recorded))
    living = {logical_id: each for logical_id, each in found.records.items() if inspector.exists(each.stack)}
    return RecordedExports(living, found.torn)


def _by_scope(branch: str, parameters: Mapping[str, Parameter]) -> dict[ExportScope, dict[str, Parameter]]:
    found: dict[ExportScope, dict[str, Parameter]] = defaultdict(dict)
    for name, parameter in parameters.items():
        scope = ExportScope.of(branch, name)
        if scope:
            found[scope][name] = parameter
    return found


def notices(account: str, region: str, findings: Sequence[Finding]) -> Iterator[Notice]:
    """What to report about findings: one notice for what was repaired, and one for what needs a person."""
    for resolution, notice in ((Resolution.HEALED, repairs_made), (Resolution.REPORTED, findings_reported)):
        found = [
            Observation(each.kind.value, each.parameter, each.stacks)
            for each in findings
            if each.kind.resolution is resolution
        ]
        if found:
            yield notice(account, region, found)


def report(region: str, progress: JanitorProgress) -> None:
    """Log what was found: a line each, never a value."""
    for finding in progress.findings:
        kind, resolution = finding.kind.value, finding.kind.resolution
        said = {"finding": kind, "parameter": finding.parameter, "region": region, "stacks": list(finding.stacks)}
        if progress.busy:
            logger.info("Found, and left for the next run: the exports are being changed", extra=said)
        elif resolution is Resolution.HEALED:
            logger.warning("Found and repaired", extra=said)
        elif resolution is Resolution.REPORTED:
            logger.error("Found, and needs a decision", extra=said)
        else:
            logger.info("Found, and nothing to do for now", extra=said)
