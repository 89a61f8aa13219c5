"""The janitor: reads everything that strongref stores in a region, repairs what is safe, and reports the rest.

It reads without a fence, and puts one up only where something is to be repaired: nobody waits for it elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from strongref.contract.hold_stacks import HOLDS
from strongref.contract.index import INDEX, IndexEntry, Place, index_name, read_index
from strongref.contract.names import RESTORED, SHARED, ExportScope, Key, Site, StackArn, by_scope, claim_tag
from strongref.contract.notices import Notice, NoticeType, Observation, of_janitor
from strongref.contract.record import decode, part_name
from strongref.contract.releases import RELEASES, Release
from strongref.contract.unclaimed import UNCLAIMED, Unclaimed
from strongref.errors import AlreadyExistsError, StrongRefError, UnfinishedError
from strongref.log import logger
from strongref.protocol.behind_fences import FencedStore, behind_fences
from strongref.protocol.executor import write_record
from strongref.protocol.fences import delete_expired, fences_below, live_fence
from strongref.protocol.findings import Finding, FindingType, Repairs, Resolution, ScopeSnapshot, examine, lost_records
from strongref.protocol.inspection import TagInspector
from strongref.protocol.janitor_abroad import AbroadTender
from strongref.protocol.janitor_failures import HOLDER, Failed, log_failure, tolerated
from strongref.protocol.janitor_holds import Claims, HoldTender, add_claims
from strongref.protocol.janitor_index import IndexTender
from strongref.protocol.plan import WriteRecord
from strongref.protocol.published import RecordedExports
from strongref.protocol.side_by_side import Work, carry_out
from strongref.protocol.staleness import is_stale, is_stale_twice
from strongref.protocol.stored_exports import physical_id
from strongref.refusals import ChangingError

if TYPE_CHECKING:
    from strongref.contract.values import Parameter
    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock

PART = 200
"""Values of a scope that are read before what was found is repaired: a function that runs out of time loses no more
than that."""

EXPORTS, RECORDS, FENCES = "/strongref/exports", "/strongref/records", "/strongref/fences"

LAST = "~"
"""Sorts after every path and key."""

ABROAD = 2 * LAST
"""The path in the marks of places in other accounts."""

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
            found[finding.kind.metric] += 1
            if metric := finding.kind.resolution.value:
                found[metric] += 1
        return found

    @property
    def settled(self) -> tuple[Finding, ...]:
        """The findings, unless the scope is being changed: half a change looks like damage. The next run decides."""
        return () if self.busy else self.findings


@dataclass(frozen=True, slots=True)
class Janitor:
    ports: Ports  # what calls go through; its patience is how long to wait for an exporter at work
    region: str
    account: str
    repairs: bool = True  # whether it repairs what it finds, or only looks twice
    failed: Failed = log_failure  # takes what could not be looked after, in addition to the findings
    tends_abroad: bool = False  # whether it looks after the places of its region's Exports in other accounts, too
    there: str = ""  # the account of the store that it looks after, if that is another one: for one such place

    def tend(
        self, clock: Clock, after: Checkpoint = ("", ""), *, skip: bool = False, only_abroad: bool = False
    ) -> Iterator[JanitorProgress]:
        """Look after one part of the store after the other, and yield what was done in each.

        Everything up to the mark `after` is done already. `skip` leaves out the next part, which took an invocation all
        its time. What cannot be read, asked about or repaired is reported, and stops nothing else. Places in other
        accounts come last; `only_abroad` leaves out all else.

        Raises:
            UnfinishedError: the time ran out.
            StrongRefError: the region's exports, records or fences cannot be listed.
        """
        store = self.ports.stores(self.region, clock)
        if not only_abroad:
            yield JanitorProgress(after, 0, tuple(self._expired(store, clock)))
        visit = _Visit(self, clock, after, skip)
        if not only_abroad:
            visit.stored = by_scope("exports", store.under(EXPORTS))
            visit.recorded = by_scope("records", store.under(RECORDS))
            for scope in visit.scopes():
                yield from visit.values(scope)
                yield from visit.holds_and_index(scope)
            yield from visit.rest()
        if self.tends_abroad:
            yield from visit.abroad()

    def _expired(self, store: Store, clock: Clock) -> Iterator[Finding]:
        """The fences whose holder died. A repair deletes all that expired, and old traces of released claims."""
        now, earliest = clock.now(), clock.earliest()
        fences = fences_below(store, FENCES)
        failed: list[Finding] = []
        if self.repairs:
            with tolerated(self.failed, failed, "Expired fences could not be deleted", FENCES):
                delete_expired(store, fences, earliest)
            with tolerated(self.failed, failed, "Old traces could not be deleted", RELEASES):
                releases = {name: Release.decode(name, each.text) for name, each in store.under(RELEASES).items()}
                store.delete([name for name, each in releases.items() if each and each.is_over(now)])
        yield from failed
        for name, fence in fences.items():
            if fence.newer:
                yield Finding(FindingType.NEWER_FORMAT, name, (), str(fence.newer))
            elif not (fence.is_live(earliest) or fence.finished or failed):
                yield Finding(FindingType.EXPIRED_FENCE, name)

    @property
    def site(self) -> Site:
        return Site(self.region, self.there)

    def place(self, scope: ExportScope) -> Place:
        """Where an Export of this scope publishes, as the index names it."""
        return Place(self.there or self.account, self.region, scope.consumer)

    def attend(self, clock: Clock, scope: ExportScope, suspicion: Repairs, first: TagInspector) -> tuple[Repairs, bool]:
        """Verify a suspicion, and repair; return whether the scope is being changed, so that repairs have to wait.

        What was read before may be minutes old, and a change halfway looks like damage: so everything is read again,
        behind a fence if something is to be repaired.
        """
        if suspicion.needed and self.repairs:
            try:
                sites = [(self.site, scope)]
                repairs = behind_fences(
                    self.ports, clock, sites, HOLDER, lambda fenced: self._heal(fenced[0], scope, suspicion, first)
                )
            except ChangingError:
                return suspicion, True
            return repairs, False
        if all(each.kind is FindingType.CLEANED_UP for each in suspicion.findings):
            return suspicion, False
        at = FencedStore(self.ports.at(self.site, clock), clock)
        if not self.repairs:
            self.ports.lag.settle(clock)  # Behind a fence, the second look would be as late.
        _, repairs = self._look_again(at, scope, suspicion, first)
        return repairs, live_fence(at.store, scope, clock) is not None

    def _look_again(
        self, at: FencedStore, scope: ExportScope, suspicion: Repairs, first: TagInspector
    ) -> tuple[ScopeSnapshot, Repairs]:
        """The second look: a stack is deleted, and a claim stale, if the first look found it so, too."""
        here, there = at.store.under(scope.path("exports")), at.store.under(scope.path("records"))
        inspector = TagInspector(self.ports.stacks)
        # What the first look could not see is left to the next run, which looks at it twice.
        inspector.unread |= first.unread
        inspector.unasked |= first.unasked
        seen = self.see(at, scope, here, there, inspector, sorted(suspicion.suspects))
        tags = dict(seen.tags)
        inspector.agree(first, [tags])
        deleted = frozenset(stack for stack in seen.deleted_stacks if first.found_deleted(stack))
        dropped = {each for each in suspicion.dropped if self._is_dropped(at.clock, scope, each, first, inspector)}
        seen = replace(seen, tags=tags, deleted_stacks=deleted, dropped=dropped)
        return seen, examine(scope, seen)

    def _heal(self, at: FencedStore, scope: ExportScope, suspicion: Repairs, first: TagInspector) -> Repairs:
        """Read again, now that nobody can claim or change anything, and repair."""
        store = at.store
        seen, repairs = self._look_again(at, scope, suspicion, first)
        failed: list[Finding] = []
        message = "Something could not be repaired"
        for logical_id, record in repairs.records.items():
            with tolerated(self.failed, failed, message, part_name(scope, logical_id, 0)):
                write = WriteRecord(logical_id, record, seen.records[logical_id].numbers)
                carry_out([Work(store, write_record(store, scope, write))])
        for key, stale in repairs.untag.items():
            with tolerated(self.failed, failed, message, scope.parameter_name(key)):
                store.untag(scope.parameter_name(key), stale)
        for name in (*(scope.parameter_name(key) for key in repairs.delete), *repairs.delete_parts):
            with tolerated(self.failed, failed, message, name):
                store.delete([name])
        for key, (value, tags) in repairs.put_back.items():
            name = scope.parameter_name(key)
            with tolerated(self.failed, failed, message, name):
                try:
                    store.create(name, value.type, value.text, {**tags, **RESTORED})
                except AlreadyExistsError:
                    logger.info("A missing value was put back by someone else", extra={"parameter": name})
        repairs.note_failures(failed)
        return repairs

    def see(  # noqa: PLR0913, PLR0917
        self,
        at: FencedStore,
        scope: ExportScope,
        stored: Mapping[str, Parameter],
        recorded: Mapping[str, Parameter],
        inspector: TagInspector,
        keys: list[Key],
    ) -> ScopeSnapshot:
        """What is stored in a scope, with the tags of these keys."""
        values = {scope.key(name): found.value for name, found in stored.items()}
        records = decode(scope.path("records"), recorded)
        stacks = {found.record.stack for found in records.values() if found.record}
        deleted = frozenset(stack for stack in stacks if not inspector.may_exist(stack))
        readable = [key for key in keys if key in values and scope.parameter_name(key) not in inspector.unread]
        tags = inspector.inspect_readable(at.store, scope, readable)
        published = {key for each in records.values() if each.readable for key in each.readable.values}
        unrecorded = {each for key in tags.keys() - published for each in lost_records(tags[key], records)}
        lost = {each for each in unrecorded if self._is_named(at.clock, scope, each)}
        unread = {key: str(error) for key in keys if (error := inspector.unread.get(scope.parameter_name(key)))}
        return ScopeSnapshot(
            records=records,
            stored=values,
            tags=tags,
            deleted_stacks=deleted,
            awaited=not self.there and (scope.consumer == SHARED or self._is_there(scope.consumer)),
            unread=unread,
            unasked={stack: str(error) for stack, error in inspector.unasked.items()},
            lost=lost,
            withdrawn=unrecorded - lost,
        )

    def _is_named(self, clock: Clock, scope: ExportScope, logical_id: str) -> bool:
        """Whether the index says that an Export publishes here; an index that cannot be read may say so."""
        if scope.producer.account != self.account:
            return False  # It cannot be asked about.
        name = index_name(scope.producer.stack, logical_id)
        try:
            entries = self._entries(clock, scope)
        except UnfinishedError:
            raise
        except StrongRefError as error:
            self.failed("An entry of the index could not be read, and may name an Export", error, parameter=name)
            return True
        return any(self.place(scope) in each.places for (at, _), each in entries.items() if at == name)

    def _is_dropped(
        self, clock: Clock, scope: ExportScope, export: tuple[str, str], first: TagInspector, second: TagInspector
    ) -> bool:
        """Whether an Export has still left this place, and no update of its stack began between two looks."""
        if _is_removed(export, first, second):
            return True
        logical_id, stack = export
        before, now = first.info(stack), second.info(stack)
        if not (before and now and now.at_rest and now.updated == before.updated):
            return False
        entry = self._entries(clock, scope).get((index_name(scope.producer.stack, logical_id), stack))
        return entry is not None and self.place(scope) in entry.dropped

    def _entries(self, clock: Clock, scope: ExportScope) -> Mapping[tuple[str, str], IndexEntry]:
        store = self.ports.stores(scope.producer.region, clock)
        return read_index(store.under(f"{INDEX}/{scope.producer.stack}"))

    def _is_there(self, consumer: str) -> bool:
        info = self.ports.stacks.by_name(consumer, self.region)
        return info is not None and not info.being_deleted


class _Visit:
    """One run of a janitor, from a mark on."""

    def __init__(
        self, janitor: Janitor, clock: Clock, after: Checkpoint, skip: bool, index: IndexTender | None = None
    ) -> None:
        self.janitor, self.clock, self.store = janitor, clock, janitor.ports.at(janitor.site, clock)
        self.after = after
        self.skip = skip  # whether the next part is left out
        self.inspector = TagInspector(janitor.ports.stacks)
        # what was read of the scopes to tend to
        self.stored: Mapping[ExportScope, Mapping[str, Parameter]] = {}
        self.recorded: Mapping[ExportScope, Mapping[str, Parameter]] = {}
        self._of = (janitor.ports, janitor.region, janitor.account, clock, janitor.repairs, janitor.failed)
        self._holds, self._index = HoldTender(*self._of), index or IndexTender(*self._of)
        self._claims: Claims = {}  # of the scope that is being tended
        self._withdrawn: set[str] = set()  # of its Exports, those that are, although no mark says so
        self._done: list[Key] = []  # of its keys, those that an earlier invocation has tended

    def scopes(self) -> list[ExportScope]:
        return sorted({*self.stored, *self.recorded}, key=lambda scope: scope.path("exports"))

    def values(self, scope: ExportScope) -> Iterator[JanitorProgress]:
        """Tend to the values and records of a scope, part by part."""
        here, there, path = self.stored.get(scope, {}), self.recorded.get(scope, {}), scope.path("exports")
        message, at = "Exports could not be looked after", FencedStore(self.store, self.clock)
        self._claims, self._done, self._withdrawn = {}, [], set()
        known = sorted(scope.key(name) for name in here)
        for begin in range(0, len(known) or 1, PART):  # Without values, one part that has none: there may be records.
            keys = known[begin : begin + PART]
            mark = (path, keys[-1] if keys else "")
            if mark <= self.after:
                self._done += keys
                continue
            failed, repairs, busy = self._left_out(path), Repairs(), False
            if not failed:
                with tolerated(self.janitor.failed, failed, message, path, records=scope.path("records")):
                    seen = self.janitor.see(at, scope, here, there, self.inspector, keys)
                    left = self._index.dropped(self.janitor.place(scope), scope, self.inspector)
                    dropped = left | self._removed(scope, seen)
                    seen = replace(seen, dropped=dropped)
                    add_claims(self._claims, seen.tags)
                    self._withdrawn |= set(seen.withdrawn)
                    repairs, busy = self.janitor.attend(self.clock, scope, examine(scope, seen), self.inspector)
            values = 0 if failed else len(keys)
            yield JanitorProgress(mark, values, (*sorted(repairs.findings), *failed), busy=busy)

    def _removed(self, scope: ExportScope, seen: ScopeSnapshot) -> set[tuple[str, str]]:
        """The Exports that their stack has no more, although they have records; see `_is_removed`."""
        is_own = scope.producer.account == self.janitor.account
        written = {(logical_id, each.record.stack) for logical_id, each in seen.records.items() if each.record}
        return {each for each in written if is_own and _is_removed(each, self.inspector, self.inspector)}

    def holds_and_index(self, scope: ExportScope) -> Iterator[JanitorProgress]:
        """Tend to the holds of a scope's imports, and to the index entries of its Exports."""
        if (scope.path("exports"), 2 * LAST) <= self.after:
            return
        if failed := self._left_out(scope.path("exports")):
            yield JanitorProgress((scope.path("exports"), 2 * LAST), 0, tuple(failed))
            return
        living = _of_living_stacks(scope, self.recorded.get(scope, {}), self.inspector)
        last = self.after[1].removeprefix(LAST) if self.after >= (scope.path("exports"), LAST) else ""
        if missing := tuple(self._index.add_missing(scope, living.records)):
            yield JanitorProgress((scope.path("exports"), LAST + last), 0, missing)
        self._holds.withdrawn = self._withdrawn
        for tag, found in self._holds.make_missing(scope, living, self._claims, self._done, self.inspector, last):
            yield JanitorProgress((scope.path("exports"), LAST + tag), 0, found)

    def rest(self) -> Iterator[JanitorProgress]:
        """Confirm the holds that were begun, and tend to the holds and the index of the region."""
        if made := tuple(self._holds.confirm()):
            yield JanitorProgress(max(self.after, (LAST, "")), 0, made)
        works = (
            ("holds", HOLDS, self._holds.delete_stale),
            ("index", INDEX, self._index.correct),
            ("unclaimed", UNCLAIMED, self._unclaimed),
        )
        for name, path, work in works:
            if (LAST, name) <= self.after:
                continue
            if not (found := self._left_out(path)):
                with tolerated(self.janitor.failed, found, "A part of the store could not be looked after", path):
                    found += work()
            yield JanitorProgress((LAST, name), 0, tuple(found))

    def abroad(self) -> Iterator[JanitorProgress]:
        """Tend to the places of this region's Exports in other accounts."""
        janitor, tender = self.janitor, AbroadTender(*self._of, index=self._index, holds=self._holds)
        for path, (site, scope) in tender.scopes().items():
            if (ABROAD, path) <= self.after:
                continue
            found, values = self._left_out(path), 0
            if not found:
                message, about = "A place in another account could not be looked after", {"account": site.account}
                with tolerated(janitor.failed, found, message, scope.path("exports"), **about):
                    if read := tender.read(site, scope, found):
                        visit = self._elsewhere(site, scope, *read)
                        for progress in visit.values(scope):
                            found += progress.settled
                            values += progress.values
                        found += tender.tend(site, scope, visit.inspector, *visit.published(scope))
            yield JanitorProgress((ABROAD, path), values, tuple(replace(each, site=site) for each in found))
        if self.after < (ABROAD, LAST):
            yield JanitorProgress((ABROAD, LAST), 0, (*tender.loose_holds(), *self._holds.confirm()))

    def _elsewhere(
        self, site: Site, scope: ExportScope, stored: Mapping[str, Parameter], recorded: Mapping[str, Parameter]
    ) -> _Visit:
        """The visit of one scope in another account, given what is stored there."""
        there = replace(self.janitor, region=site.region, there=site.account)
        visit = _Visit(there, self.clock, ("", ""), skip=False, index=self._index)
        visit.stored, visit.recorded = {scope: stored}, {scope: recorded}
        # Stacks are asked about once for all places; what could not be read of values is of this one.
        visit.inspector = replace(self.inspector, unread={})
        return visit

    def published(self, scope: ExportScope) -> tuple[RecordedExports, Claims]:
        """What the records of a scope say, and the claims there, once its values were tended to."""
        recorded = RecordedExports.of(decode(scope.path("records"), self.recorded[scope]))
        return replace(recorded, complete={*recorded.complete, *self._withdrawn}), self._claims

    def _unclaimed(self) -> Iterator[Finding]:
        """The imports that a rollback left without protection. The notes of those that are gone are deleted."""
        found = [Unclaimed.decode(name, each.text) for name, each in self.store.under(UNCLAIMED).items()]
        notes, ports = [each for each in found if each], self.janitor.ports
        first, second = self.inspector.claiming_stack, TagInspector(ports.stacks).claiming_stack
        stale = [each for each in notes if is_stale(each.claim, first(each.importer))]
        if stale and self.janitor.repairs:
            ports.lag.settle(self.clock)
            stale = [each for each in stale if is_stale_twice(each.claim, first(each.importer), second(each.importer))]
            self.store.delete([each.name for each in stale])
        for each in notes:
            if each not in stale:
                yield Finding(FindingType.UNCLAIMED, each.name, (each.importer,), each.names)

    def _left_out(self, path: str) -> list[Finding]:
        """What to report if this is the part that took an invocation all its time, which is left out once."""
        why, skip, self.skip = "It takes longer than an invocation of the janitor may.", self.skip, False
        return [Finding(FindingType.FAILED_CALL, path, (), why)] if skip else []


def _is_removed(export: tuple[str, str], first: TagInspector, second: TagInspector) -> bool:
    """Whether a stack that exists has an Export no more: in a cleanup, CloudFormation goes on if its Delete fails."""
    logical_id, stack = export
    before, now = first.claiming_stack(stack), second.claiming_stack(stack)
    if now is None or not now.exists:
        return False
    return is_stale_twice(claim_tag(physical_id(StackArn.parse(stack), logical_id)), before, now)


def _of_living_stacks(
    scope: ExportScope, recorded: Mapping[str, Parameter], inspector: TagInspector
) -> RecordedExports:
    """What the records of stacks that exist publish; `torn` if one cannot be read at all."""
    found = RecordedExports.of(decode(scope.path("records"), recorded))
    readable = {**found.records, **found.without_secure}
    living = {logical_id: each for logical_id, each in readable.items() if inspector.may_exist(each.stack)}
    return replace(found, records=living, torn=found.unreadable)


def notices(account: str, region: str, findings: Sequence[Finding]) -> Iterator[Notice]:
    """What to report about findings: one notice for what was repaired, and one for what needs a person."""
    kinds = {Resolution.REPAIRED: NoticeType.REPAIRS_MADE, Resolution.REPORTED: NoticeType.FINDINGS_REPORTED}
    for resolution, kind in kinds.items():
        found = [
            Observation(each.kind.value, each.parameter, each.stacks, each.site)
            for each in findings
            if each.kind.resolution is resolution
        ]
        if found:
            yield of_janitor(kind, account, region, found)


def report(region: str, progress: JanitorProgress) -> None:
    """Log what was found: a line each, never a value."""
    for finding in progress.findings:
        kind, resolution = finding.kind.value, finding.kind.resolution
        at = finding.site or Site(region)
        details = {"finding": kind, "parameter": finding.parameter, "region": at.region, "stacks": list(finding.stacks)}
        details |= {"account": at.account} if at.account else {}
        details |= {"why": finding.why} if finding.why else {}
        if progress.busy:
            logger.info("Found, and left for the next run: the exports are being changed", extra=details)
        elif resolution is Resolution.REPAIRED:
            logger.warning("Found and repaired", extra=details)
        elif resolution is Resolution.REPORTED:
            logger.error("Found, and needs a decision", extra=details)
        else:
            logger.info("Found, and nothing to do for now", extra=details)
