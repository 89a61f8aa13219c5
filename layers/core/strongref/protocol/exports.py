"""What a `Custom::CrossRegionExport` does: publish values for a consumer, and never change or drop a claimed one.

What to do follows from what is stored and what is wanted. So an event that is delivered twice, or the Update that rolls
a refused Update back, does no harm. The old properties of an Update only tell where else to look.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from strongref.contract.event import RequestType
from strongref.contract.fence import TagScan
from strongref.contract.notices import propagated_text
from strongref.contract.requests import ExportRequest, OnChange, readable_regions
from strongref.contract.response import Response
from strongref.errors import (
    BadRequestError,
    ExportsKeptError,
    InUse,
    OutdatedRequestError,
    PartialCreateError,
    StrongRefError,
    UnfinishedError,
    UnreadableRecordError,
)
from strongref.protocol.executor import PlanExecutor
from strongref.protocol.export_index import ExportIndex
from strongref.protocol.export_notices import notices_of_overrides, notices_of_refusal
from strongref.protocol.fences import FencedStore, FenceHolder, behind_fences
from strongref.protocol.inspection import TagInspector
from strongref.protocol.lag import NotAtOnceError
from strongref.protocol.phases import Phase, claim_policy, phase_of
from strongref.protocol.plan import refusal_of
from strongref.protocol.planner import ExportIdentity, StoredExports, is_up_to_date
from strongref.protocol.recreation import Recreation
from strongref.protocol.side_by_side import Work, carry_out
from strongref.protocol.snapshot import Destination, Snapshot, read_behind_fences, read_scope, recorded_scopes
from strongref.protocol.verification import is_in_use
from strongref.text import stack_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from datetime import datetime

    from strongref.contract.event import Event
    from strongref.contract.names import Key, StackArn
    from strongref.contract.notices import Notice
    from strongref.contract.properties import Properties
    from strongref.protocol.export_notices import Planned
    from strongref.protocol.plan import ExportPlan
    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock


def physical_id(stack: StackArn, logical_id: str) -> str:
    """The same for an Export's whole life, whatever it publishes and wherever: it is never replaced."""
    return f"strongref-export/{stack.name}/{stack.unique}/{logical_id}"


PROMPT = timedelta(seconds=1)
PROMPT_DELIVERY = timedelta(seconds=10)
"""A creation that began, or was requested, longer ago asks whether CloudFormation still waits for it."""

CANCELED = timedelta(minutes=1)
"""How much later than an event its resource must have been set in progress to count as set for another event. AWS does
not say that the response URL's date is the later one."""


@dataclass(frozen=True, slots=True)
class ExportEvent:
    """One event of an Export, parsed."""

    export: ExportIdentity
    # where to publish what, in the order in which they are written: new ones before those that it leaves
    destinations: tuple[Destination, ...]
    response: Response  # what to answer if nothing needs to be reported
    rewrite: Collection[Key] = ()  # keys to write again although they are right
    on_change: OnChange = OnChange.REFUSE  # what the properties ask for
    hold: str = ""  # the CloudFormation export that imports are to hold; empty if there is none
    former: ExportRequest | None = None  # what the old properties of an Update asked for; None if they were refused
    unchanged: bool = False  # the Update asks for what was asked for before, so there may be nothing to do
    # where it may have left something for properties that cannot be understood. They were refused, or understood by
    # another version; what is stored says which
    unclear_regions: tuple[str, ...] = ()

    @classmethod
    def parse(cls, event: Event) -> ExportEvent:
        """Read an event.

        Raises:
            BadRequestError: a property of a Create or Update cannot be understood, or the region of a Delete.
        """
        stack = event.stack_arn
        export = ExportIdentity(event.stack, event.logical_id)
        if event.request_type is RequestType.DELETE:
            leaving, own_id = _accepted(event.properties, stack), physical_id(stack, event.logical_id)
            destinations = tuple(_destinations(leaving, publish=False)) if leaving else ()
            unclear = () if leaving else readable_regions(event.properties, stack)
            if not leaving and not unclear and event.physical_id == own_id:
                raise BadRequestError("Region", _UNCLEAR)
            return cls(export, destinations, Response(event.physical_id or own_id), unclear_regions=unclear)
        request = ExportRequest.parse(event.properties, stack)
        former = _accepted(event.old_properties, stack)
        new = _destinations(request, publish=True)
        here = {(each.region, each.scope) for each in new}
        old = _destinations(former, publish=False) if former else []
        rewrite = request.values.keys() if former and former.revision != request.revision else ()
        return cls(
            export=export,
            destinations=(*new, *(each for each in old if (each.region, each.scope) not in here)),
            response=Response(
                physical_id(stack, event.logical_id),
                {"Prefix": request.scope.values, "Count": str(len(request.values))},
            ),
            rewrite=rewrite,
            on_change=request.on_change,
            hold=request.hold,
            former=former,
            unchanged=former is not None and not rewrite and former.publishes_the_same_as(request),
            unclear_regions=()
            if former or event.old_properties is None
            else (*request.regions, *readable_regions(event.old_properties, stack)),
        )

    def response_with_hold(self, found: Collection[StoredExports]) -> Response:
        """The response with the attribute `Hold`, given what was stored.

        It does not change when the property is removed: while imports hold the output, CloudFormation refuses to change
        its value.
        """
        former = [self.former.hold if self.former else "", *(each.hold for each in found)]
        hold = self.hold or next(filter(None, former), "")
        if not hold or not self.response.data:
            return self.response
        return replace(self.response, data={**self.response.data, "Hold": hold})

    def with_recorded(self, stores: Callable[[str], Store]) -> ExportEvent:
        """The same, with every place of the unclear regions where the Export's records say that it publishes."""
        known = {(each.region, each.scope) for each in self.destinations}
        found = {
            (region, scope): Destination(region, scope, {})
            for region in self.unclear_regions
            for scope in recorded_scopes(stores(region), self.export)
        }
        return replace(
            self, destinations=(*self.destinations, *(each for key, each in found.items() if key not in known))
        )


_UNCLEAR = (
    "must be a region or a list of regions: without it, what is to be deleted cannot be found. Deploy valid properties "
    "first, or delete the stack and retain this resource: the janitor of the region removes what deleted stacks left"
)


@dataclass(frozen=True, slots=True)
class Exporter:
    """Carries out the events of Exports."""

    ports: Ports

    def handle(self, event: Event, clock: Clock) -> Response:
        """Carry out one event: parse, fence, read, plan, apply, answer.

        Raises:
            StrongRefError: it is refused, or failed; a `PartialCreateError` where a Create may have begun to write, so
                that CloudFormation's Delete finds what it left.
        """
        wanted = self._parse(event, clock)
        destinations = wanted.destinations
        if not destinations or self._deletes_another(event):
            return wanted.response
        self._check_service_timeout(event, clock)
        if wanted.unchanged and (found := self._up_to_date(wanted.export, destinations, clock)):
            return wanted.response_with_hold(found)
        index = ExportIndex(self.ports, wanted.export, wanted.hold)
        attempt = ExportAttempt(self, event, wanted, index, event.continuation is not None, clock.now())
        creates = event.request_type is RequestType.CREATE and not attempt.began
        says = f"{event.logical_id} of {stack_text(event.stack)}"
        until = event.invocation(clock.now()).continues_until
        holder = FenceHolder(event.logical_id, says, event.request_id, until, continues=event.continuation is not None)
        sites = [(each.region, each.scope) for each in destinations]
        try:
            plans = behind_fences(
                self.ports,
                clock,
                sites,
                holder,
                attempt.carry_out,
                at_once=attempt.create_at_once if creates else None,
            )
        except UnfinishedError:
            raise
        except StrongRefError as error:
            if attempt.began and event.request_type is RequestType.CREATE:
                raise PartialCreateError(error, wanted.response.physical_id) from error
            raise
        return replace(wanted.response_with_hold(attempt.found), reason=_reason(plans))

    def preview(self, event: Event, clock: Clock) -> list[ExportPlan]:
        """The plans for an event, refusals included, without a fence and without writing anything: a dry run."""
        wanted = self._parse(event, clock)
        destinations = wanted.destinations
        fenced = [FencedStore(self.ports.stores(each.region, clock), clock, TagScan()) for each in destinations]
        inspector = TagInspector(self.ports.stacks)
        snapshots = read_behind_fences(fenced, destinations, wanted.export, inspector, wanted.rewrite)
        return self.plans(event, wanted, self.phase(event), snapshots)

    def _parse(self, event: Event, clock: Clock) -> ExportEvent:
        return ExportEvent.parse(event).with_recorded(lambda region: self.ports.stores(region, clock))

    def phase(self, event: Event) -> Phase:
        """What CloudFormation is doing with the stack; not asked where it makes no difference."""
        ask = event.request_type is not RequestType.CREATE
        return phase_of(event.request_type, self.ports.stacks.by_arn(event.stack) if ask else None)

    def _deletes_another(self, event: Event) -> bool:
        """Whether a Delete is of an ID that CloudFormation made up, while the Export goes on under its own."""
        own_id = physical_id(event.stack_arn, event.logical_id)
        if event.request_type is not RequestType.DELETE or event.physical_id == own_id:
            return False
        return is_in_use(self.ports.stacks, event.stack, event.logical_id, own_id)

    def _check_service_timeout(self, event: Event, clock: Clock) -> None:
        """Refuse a Create or an Update that CloudFormation does not wait for long enough; a rollback must go on."""
        if event.request_type is RequestType.DELETE:
            return
        try:
            self.ports.lag.check_service_timeout(event.service_timeout)
        except BadRequestError:
            self.ports.lag.settle(clock)
            if self.phase(event) is not Phase.ROLLBACK:
                raise

    def _up_to_date(
        self, export: ExportIdentity, destinations: Sequence[Destination], clock: Clock
    ) -> list[StoredExports] | None:
        """What is stored, if every destination has what it should: then nothing is written, not even a fence."""
        inspector, found = TagInspector(self.ports.stacks), []
        for each in destinations:
            store = self.ports.stores(each.region, clock)
            found.append(read_scope(store, each.scope, export, inspector))
            if not is_up_to_date(export, each.wanted, found[-1], each.hold):
                return None
        return found

    def plans(self, event: Event, wanted: ExportEvent, phase: Phase, snapshots: Sequence[Snapshot]) -> list[ExportPlan]:
        """A plan for every destination.

        A plan of a rollback that overrides claims counts only for the rollback's own event: this may be a second
        delivery of it, or of the update that failed.
        """
        failed = wanted.former.on_change if wanted.former and phase is Phase.ROLLBACK else None
        policy = claim_policy(phase, wanted.on_change, failed)
        plans = [snapshot.plan(wanted.export, policy, wanted.rewrite, event.stamp) for snapshot in snapshots]
        overrides = phase is Phase.ROLLBACK and any(plan.overrides_claims for plan in plans)
        if overrides and self._is_superseded(event):
            return self.plans(event, wanted, Phase.UPDATE, snapshots)
        return plans

    def _is_superseded(self, event: Event, tolerance: timedelta = timedelta()) -> bool:
        """Whether CloudFormation has asked for something else since it sent an event, as far as dates tell."""
        if event.requested is None:
            return False
        resource = self.ports.stacks.resource(event.stack, event.logical_id)
        if resource is None or not resource.in_progress:
            return True
        updated = resource.updated and resource.updated.replace(microsecond=0)
        return updated is not None and updated > event.requested + tolerance

    def is_given_up(self, event: Event) -> bool:
        """Whether CloudFormation does not wait for a Create or an Update any more.

        It cancels what is in progress when another resource fails, and rolls it back: if its rollback has found nothing
        to do, this event must not do it now. What a Delete was sent for is to go in any case.
        """
        return event.request_type is not RequestType.DELETE and self._is_superseded(event, CANCELED)


@dataclass(slots=True)
class ExportAttempt:
    """One event of an Export, behind its fences."""

    exporter: Exporter
    event: Event
    wanted: ExportEvent
    index: ExportIndex
    began: bool  # whether it may have written something already
    since: datetime  # when it began
    found: list[StoredExports] = field(default_factory=list)  # what was stored when it was read last

    def carry_out(self, fenced: list[FencedStore]) -> list[ExportPlan]:
        """Read, plan, apply.

        Since the event came, reads have had the time to show its phase.
        """
        snapshots = self._read_completely(fenced)
        phase = self.exporter.phase(self.event)
        plans = self.exporter.plans(self.event, self.wanted, phase, snapshots)
        if refusal := refusal_of(plans):
            self._notify(notices_of_refusal(self.event, refusal, list(zip(snapshots, plans, strict=True))))
            raise refusal
        if any(plan.instructions for plan in plans) and self.exporter.is_given_up(self.event):
            raise OutdatedRequestError(self.event.logical_id)
        self._apply(plans, snapshots, phase)
        if phase is Phase.CLEANUP and (kept := _kept(plans)):
            raise ExportsKeptError(kept)
        return plans

    def create_at_once(self, fenced: list[FencedStore]) -> list[ExportPlan]:
        """The same if it only creates, from reads that may lag: whatever they say, what exists is not touched.

        Raises:
            NotAtOnceError: it does not, or what was read is in the way.
        """
        now, requested = fenced[0].clock.now(), self.event.requested or self.since
        is_late = now - self.since > PROMPT or now - requested > PROMPT_DELIVERY
        if is_late and self.exporter.is_given_up(self.event):
            raise NotAtOnceError
        try:
            snapshots = self._read(fenced)
            plans = self.exporter.plans(self.event, self.wanted, Phase.CREATE, snapshots)
            creating = [plan for each in plans if (plan := each.at_once())]
            if len(creating) < len(plans) or any(snapshot.inspected for snapshot in snapshots):
                raise NotAtOnceError
            self._apply(creating, snapshots, Phase.CREATE, at_once=True)
        except UnfinishedError:
            raise
        except StrongRefError:
            raise NotAtOnceError from None
        return creating

    def _read_completely(self, fenced: list[FencedStore]) -> list[Snapshot]:
        """Read again while another Export's record lacks a part: its name may have been deleted a moment before."""
        waiting = Recreation(fenced[0].clock, self.exporter.ports.lag)
        while True:
            try:
                return self._read(fenced)
            except UnreadableRecordError:
                if not waiting.pause():
                    raise

    def _read(self, fenced: list[FencedStore]) -> list[Snapshot]:
        export, inspector = self.wanted.export, TagInspector(self.exporter.ports.stacks)
        found = read_behind_fences(fenced, self.wanted.destinations, export, inspector, self.wanted.rewrite)
        self.found = [each.stored for each in found]
        inspector.confirm_stale([each.tags for each in found], fenced[0].clock, self.exporter.ports.lag)
        own = [each.stored.own for each in found if _has_own_record(each, export)]
        stamp = self.event.stamp
        if stamp and any(record and stamp.is_outdated_by(record.last) for record in own):
            raise OutdatedRequestError(self.event.logical_id)
        self.began = self.began or bool(own)
        return found

    def _apply(
        self, plans: Sequence[ExportPlan], snapshots: Sequence[Snapshot], phase: Phase, *, at_once: bool = False
    ) -> None:
        """Carry the plans out: destinations that are published to before those that are left."""
        self.began = self.began or any(plan.instructions for plan in plans)
        export, lag, clock = self.wanted.export, self.exporter.ports.lag, snapshots[0].fenced.clock
        entry = None
        recorded: list[Planned] = []
        if self.event.request_type is not RequestType.DELETE:
            rolls_back = phase is Phase.ROLLBACK
            entry = self.index.add(self.wanted.destinations, clock, is_new=at_once, must_not_fail=rolls_back)
        works = [
            (
                PlanExecutor(at.fenced.store, export, at.fenced.clock, lag, partial(recorded.append, (at, plan))),
                at,
                plan,
            )
            for plan, at in zip(plans, snapshots, strict=True)
        ]
        try:
            for publishes in (True, False):
                carry_out(
                    Work(executor.store, executor.create(plan) if at_once else executor.execute(plan))
                    for executor, at, plan in works
                    if bool(at.destination.wanted) is publishes
                )
        finally:
            self._notify(notices_of_overrides(self.event, recorded))
        self.index.remove(entry, self.wanted.destinations, clock)

    def _notify(self, notices: Iterable[Notice]) -> None:
        for notice in notices:
            self.exporter.ports.notify(notice)


def _accepted(properties: Properties | None, stack: StackArn) -> ExportRequest | None:
    """What these properties asked for; None if there are none, or they were refused and so published nothing."""
    if properties is None:
        return None
    try:
        return ExportRequest.parse(properties, stack)
    except BadRequestError:
        return None


def _destinations(request: ExportRequest, *, publish: bool) -> list[Destination]:
    values, hold = (request.values, request.hold) if publish else ({}, "")
    return [Destination(region, request.scope, values, hold) for region in request.regions]


def _has_own_record(snapshot: Snapshot, export: ExportIdentity) -> bool:
    return snapshot.stored.own is not None and snapshot.stored.own.stack == export.stack


def _kept(plans: Sequence[ExportPlan]) -> list[InUse]:
    return [InUse(key, "kept", importers) for plan in plans for key, importers in plan.kept.items()]


def _reason(plans: Sequence[ExportPlan]) -> str:
    """What to report in the stack's events about claimed values that were changed or kept."""
    changed = [each for plan in plans for each in plan.propagated.items()]
    reasons = [propagated_text(changed)] if changed else []
    if kept := _kept(plans):
        reasons.append(str(ExportsKeptError(kept)))
    return " ".join(reasons)
