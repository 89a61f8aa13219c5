"""What an Export's event does behind its fences: read, plan, apply.

What to do follows from what is stored and what is wanted. So an event that is delivered twice, or the Update that rolls
a refused Update back, does no harm. The old properties of an Update only tell where else to look.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from strongref.contract import notices
from strongref.contract.event import Event, RequestType
from strongref.contract.names import Key
from strongref.contract.notices import Notice, NoticeType
from strongref.contract.record import as_untouched, part_name
from strongref.errors import OutdatedRequestError, StrongRefError, UnfinishedError, UnreadableRecordError, or_else
from strongref.log import logger
from strongref.protocol.behind_fences import FencedStore, FirstLook
from strongref.protocol.executor import PlanExecutor
from strongref.protocol.inspection import TagInspector
from strongref.protocol.lag import MARGIN, MustWaitError
from strongref.protocol.phases import ClaimPolicy, Phase, claim_policy, phase_of
from strongref.protocol.plan import ExportPlan, Importers, refusal_of
from strongref.protocol.recreation import PatientWriter, Recreation
from strongref.protocol.side_by_side import Work, call_beside, carry_out
from strongref.protocol.snapshot import Snapshot, read_behind_fences, with_named
from strongref.protocol.time import Clock, Until
from strongref.protocol.verification import is_given_up, is_superseded
from strongref.refusals import ExportsInUseError, ExportsKeptError, InUse, PassedOverError, RecordLeftError

if TYPE_CHECKING:
    from strongref.protocol.export_event import ExportEvent
    from strongref.protocol.ports import Ports, Stacks
    from strongref.protocol.unreached import EventPlaces

Planned = tuple["Snapshot", "ExportPlan"]
"""What was found in one place, and what to do there."""

PROMPT = timedelta(seconds=1)
PROMPT_DELIVERY = timedelta(seconds=10)
"""A creation that began, or was requested, longer ago asks whether CloudFormation still waits for it."""


@dataclass(frozen=True, slots=True)
class ExportResult:
    snapshots: Sequence[Snapshot]  # what was stored before
    reason: str = ""  # what to report in the stack's events about claimed values that were changed or kept


@dataclass(slots=True)
class ExportAttempt:
    """One event of an Export, behind its fences."""

    ports: Ports
    event: Event
    wanted: ExportEvent
    clock: Clock  # the invocation's, which has some time left when that behind the fences is over
    since: datetime  # when it began
    may_have_written: bool  # an earlier invocation, or this one
    places: EventPlaces
    _begun: list[Snapshot] = field(default_factory=list)  # where this invocation may have written a record
    _early: list[Snapshot] = field(default_factory=list)  # what was read before the first fences were put up
    _installed: dict[str, bool] = field(default_factory=dict)  # by region, whether strongref is

    def carry_out(self, fenced: list[FencedStore]) -> ExportResult:
        """Read, plan, apply.

        Since the event came, reads have had the time to show its phase.
        """
        self.places.is_read = False
        clock = fenced[0].clock if fenced else self.clock  # Calls behind fences renew them.
        snapshots = self._read_completely(fenced, clock)
        stacks = self.ports.stacks
        phase = phase_of(self.event.request_type, partial(stacks.by_arn, self.event.stack))
        if self.places.unreached:
            self.places.check(phase, clock)
        planned = plans_for(self.event, self.wanted, phase, snapshots, stacks)
        try:
            check_not_refused(self.ports, self.event, planned)
            if any(plan.instructions for _, plan in planned) and is_given_up(self.event, stacks):
                raise OutdatedRequestError(self.event.logical_id)
            self._apply(planned, phase)
        except StrongRefError as error:
            if phase is Phase.UPDATE and not isinstance(error, UnfinishedError):
                self._mark_untouched(snapshots)
            raise
        kept = [
            InUse(key, "kept", importers)
            for snapshot, plan in planned
            for key, importers in plan.kept.items()
            if not snapshot.destination.is_residual or key in snapshot.stored.recorded
        ]
        if phase is Phase.CLEANUP and kept:
            raise ExportsKeptError(kept)
        changed = [each for _, plan in planned for each in plan.propagated.items()]
        reasons = [notices.propagated_text(changed)] if changed else []
        reasons += [str(ExportsKeptError(kept))] if kept else []
        if phase is Phase.ROLLBACK:
            reasons += [str(RecordLeftError(why)) for each in snapshots if (why := each.left(self.wanted.former))]
        if self.places.unreached:
            self.places.note_dropped(clock)
            reasons += self._passed_over()
        return ExportResult(snapshots, " ".join(reasons))

    def _passed_over(self) -> list[str]:
        """Report what was passed over; the texts for the stack's events."""
        passed = {at.site: error for at, error in self.places.unreached if not at.is_residual}
        texts = [str(PassedOverError(why)) for why in passed.values()]
        if texts:
            self.ports.notify(notices.of_export(NoticeType.PLACE_PASSED_OVER, self.event, [], " ".join(texts)))
        return texts

    def warning(self, done: ExportResult) -> str:
        """What to say of regions that the Export is new in, and where nothing can import; empty if there are none."""
        if self.event.request_type is RequestType.DELETE or not self.ports.sees_installations:
            return ""
        own = [each for each in done.snapshots if not each.destination.site.account]
        known = {self.event.stack_arn.region, *(at.destination.site.region for at in own if at.stored.recorded)}
        wanted = {each.destination.site.region for each in own if each.destination.wanted}
        without = [each for each in wanted - known if not self._is_installed(each)]
        if not without:
            return ""
        from strongref.protocol.installations import not_installed_text  # noqa: PLC0415 (hardly ever needed)

        return not_installed_text(without)

    def _is_installed(self, region: str) -> bool:
        if region not in self._installed:
            from strongref.protocol.installations import PATIENCE, is_installed  # noqa: PLC0415 (most need it not)

            clock = Until(self.clock, self.clock.now() + PATIENCE)
            self._installed[region] = is_installed(self.ports.stores(region, clock))
        return self._installed[region]

    def read_early(self) -> None:
        """Read for `create_without_waiting` before the fences are put up, while the event is being verified."""

        def read() -> list[Snapshot]:
            at = [FencedStore(self.ports.at(each.site, self.clock), self.clock) for each in self.places.visited]
            others = {each.store.region for each in at if not each.store.account}
            others -= {self.event.stack_arn.region}  # It is where this runs.
            looks = [partial(self._is_installed, region) for region in others if self.ports.sees_installations]
            return call_beside(at[0].store, partial(self._read, at, self.clock), *looks)

        self._early = or_else(read, [])  # It is read again.

    def create_without_waiting(self, fenced: list[FencedStore], look: FirstLook) -> ExportResult:
        """Carry out what only creates, from reads that may lag: whatever they say, what exists is not touched.

        Raises:
            MustWaitError: there is more to do, or what was read is in the way.
        """
        now, requested = fenced[0].clock.now(), self.event.requested or self.since
        is_late = now - self.since > PROMPT or now - requested > PROMPT_DELIVERY
        if is_late and (is_given_up(self.event, self.ports.stacks) or self.places.is_over):
            raise MustWaitError
        try:
            is_fresh = len(self._early) == len(fenced) and now - self.since < timedelta(seconds=MARGIN)
            early = self._early if is_fresh else []
            snapshots = [replace(each, fenced=at) for each, at in zip(early, fenced, strict=False)]
            snapshots = snapshots or self._read(fenced, fenced[0].clock)
            planned = plans_for(self.event, self.wanted, Phase.CREATE, snapshots, self.ports.stacks)
            creating = [(snapshot, plan) for snapshot, each in planned if (plan := each.as_creation())]
            if len(creating) < len(planned) or any(snapshot.inspected for snapshot in snapshots):
                raise MustWaitError
            self._apply(creating, Phase.CREATE, look)
        except UnfinishedError:
            raise
        except StrongRefError:
            raise MustWaitError from None
        return ExportResult(snapshots)

    def _read_completely(self, fenced: list[FencedStore], clock: Clock) -> list[Snapshot]:
        """Read again while another Export's record lacks a part: its name may have been deleted a moment before."""
        waiting = Recreation(clock, self.ports.lag)
        while True:
            try:
                return self._read(fenced, clock)
            except UnreadableRecordError:
                if not waiting.pause():
                    raise

    def _read(self, fenced: list[FencedStore], clock: Clock) -> list[Snapshot]:
        export, inspector = self.wanted.export, TagInspector(self.ports.stacks)
        found = read_behind_fences(fenced, self.places.visited, export, inspector, self.wanted.rewrite)
        read = partial(self.places.read_index, clock)
        found = with_named(found, export, read) if any(each.tags for each in found) else found
        inspector.confirm_stale([each.tags for each in found], clock, self.ports.lag)
        written = [each.stored.own or each.stored.withdrawn for each in found]
        own = [each for each in written if each and each.stack == export.stack]
        stamp = self.event.stamp
        if stamp and any(stamp.is_outdated_by(record.last) for record in own):
            raise OutdatedRequestError(self.event.logical_id)
        self.may_have_written = self.may_have_written or bool(own)
        return found

    def _mark_untouched(self, snapshots: Iterable[Snapshot]) -> None:
        """Mark records that cannot be read where this Update fails before it began to write them, for its rollback."""
        for each in snapshots:
            if not each.stored.why or each in self._begun:
                continue
            name, store = part_name(each.destination.scope, self.event.logical_id, 0), each.fenced.store
            own = each.stored.own
            is_later = own is not None and (self.event.stamp is None or own.last != self.event.stamp)
            try:
                head = store.get([name]).get(name)
                if is_later and head and (text := as_untouched(head.text)):
                    store.overwrite(name, head.type, text)
            except StrongRefError as error:  # The update's own reason is what its user has to see.
                logger.warning("A record could not be marked", extra={"parameter": name, "error": str(error)})

    def _apply(self, planned: Sequence[Planned], phase: Phase, look: FirstLook | None = None) -> None:
        """Carry the plans out: destinations that are published to before those that are left. With a `look`, create."""
        self.may_have_written = self.may_have_written or any(plan.instructions for _, plan in planned)
        export, lag = self.wanted.export, self.ports.lag
        clock = planned[0][0].fenced.clock if planned else self.clock
        placed = [(at.destination, plan) for at, plan in planned]
        self.places.has_begun = True
        if look:
            self.places.create(placed, look)
        elif self.event.request_type is not RequestType.DELETE:
            self.places.name(phase, placed, clock)
        recorded: list[Planned] = []
        works: list[tuple[PlanExecutor, Snapshot, ExportPlan]] = []
        for at, plan in planned:
            writer, begins = PatientWriter(at.fenced.store, at.fenced.clock, lag), partial(self._begun.append, at)
            works.append((PlanExecutor(writer, export, begins, partial(recorded.append, (at, plan))), at, plan))
        try:
            for publishes in (True, False):
                carry_out(
                    Work(executor.writer.store, executor.create(plan) if look else executor.execute(plan))
                    for executor, at, plan in works
                    if bool(at.destination.wanted) is publishes
                )
            try:
                carry_out(
                    Work(executor.writer.store, executor.delete_unseen(plan))
                    for executor, _, plan in works
                    if plan.unseen
                )
            except UnfinishedError:
                # A record may name many keys that its Create never stored. Names that the plan saw are deleted first;
                # then those that may be hidden, as long as there is time. No call of the Create is in flight: its
                # fence would still exist.
                if not all(self.places.is_done(at) for at, _ in placed):
                    raise
                clock = self.clock
        finally:
            if any(plan.overrides_claims for _, plan in planned):
                for notice in notices_of_overrides(self.event, recorded):
                    self.ports.notify(notice)
        if not all(at.wanted for at, _ in placed):
            self.places.remove(planned, clock)


def plans_for(
    event: Event, wanted: ExportEvent, phase: Phase, snapshots: Sequence[Snapshot], stacks: Stacks
) -> list[Planned]:
    """What was found in every place, with a plan for it.

    A plan of a rollback that overrides claims counts only for the rollback's own event: this may be a second delivery
    of it, or of the update that failed.
    """
    failed = wanted.former.on_change if wanted.former and phase is Phase.ROLLBACK else None
    policy = claim_policy(phase, wanted.on_change, failed)
    planned: list[Planned] = []
    for each in snapshots:
        at, is_left = each.destination, phase is Phase.ROLLBACK and each.left(wanted.former)
        # What is left of a place that was dropped, or forgotten, is withdrawn: that was decided before.
        here = policy | ClaimPolicy.KEEP if at.is_residual else policy
        plan = ExportPlan(at.scope) if is_left else each.plan(wanted.export, here, wanted.rewrite, event.stamp)
        planned.append((each, plan))
    overrides = phase is Phase.ROLLBACK and any(plan.overrides_claims for _, plan in planned)
    if overrides and is_superseded(event, stacks):
        return plans_for(event, wanted, Phase.UPDATE, snapshots, stacks)
    return planned


def check_not_refused(ports: Ports, event: Event, planned: Sequence[Planned]) -> None:
    """Raise why these plans cannot be carried out, if they cannot.

    There is a notice of what claims forbid. A refusal for another reason concerns only the person who deploys.
    """
    refusal = refusal_of([plan for _, plan in planned])
    if isinstance(refusal, ExportsInUseError):
        in_use = [
            notices.ImportedValue(snapshot.destination.site, plan.scope, Key(use.key), use.importers, use.verb)
            for snapshot, plan in planned
            for each in plan.refusals
            if isinstance(each, ExportsInUseError)
            for use in each.in_use
        ]
        ports.notify(notices.of_export(NoticeType.CHANGE_REFUSED, event, in_use, str(refusal)))
    if refusal:
        raise refusal


def notices_of_overrides(event: Event, recorded: Sequence[Planned]) -> Iterator[Notice]:
    """The notices of claimed values that were changed or withdrawn, given the places whose record says so by now.

    A plan for the same place that is made later finds them in the record, or no longer in it: each value counts once,
    however many invocations work on the event.
    """
    if changed := [each for snapshot, plan in recorded for each in _imported(snapshot, plan, plan.propagated)]:
        summary = notices.propagated_text((each.key, each.importers) for each in changed)
        yield notices.of_export(NoticeType.VALUES_PROPAGATED, event, changed, summary)
    if kept := [
        each
        for snapshot, plan in recorded
        for each in _imported(snapshot, plan, plan.kept)
        if snapshot.stored.lost or each.key in snapshot.stored.recorded
    ]:
        summary = str(ExportsKeptError([InUse(each.key, "kept", each.importers) for each in kept]))
        yield notices.of_export(NoticeType.VALUES_KEPT, event, kept, summary)


def _imported(snapshot: Snapshot, plan: ExportPlan, values: Mapping[Key, Importers]) -> Iterator[notices.ImportedValue]:
    for key, importers in values.items():
        yield notices.ImportedValue(snapshot.destination.site, plan.scope, key, importers)
