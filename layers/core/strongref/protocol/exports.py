"""What a `Custom::CrossRegionExport` does: publish values for a consumer, and never change or drop a claimed one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from strongref.contract.event import Event, RequestType
from strongref.contract.index import IndexEntry
from strongref.errors import BadRequestError, PartialCreateError, StoreError, StrongRefError, UnfinishedError
from strongref.protocol.behind_fences import behind_fences
from strongref.protocol.export_attempt import ExportAttempt, ExportResult
from strongref.protocol.export_event import ExportEvent
from strongref.protocol.fences import FenceHolder
from strongref.protocol.inspection import TagInspector
from strongref.protocol.phases import Phase, phase_of
from strongref.protocol.planner import is_up_to_date
from strongref.protocol.snapshot import read_scope
from strongref.protocol.stored_exports import StoredExports, physical_id
from strongref.protocol.unreached import EventPlaces, note_denied
from strongref.protocol.verification import LATE_DELIVERY, is_in_use

if TYPE_CHECKING:
    from strongref.contract.response import Response
    from strongref.protocol.ports import Ports
    from strongref.protocol.time import Clock


@dataclass(frozen=True, slots=True)
class Exporter:
    ports: Ports

    def handle(self, event: Event, clock: Clock) -> Response:
        """Carry out one event: parse, fence, then read, plan and apply (`ExportAttempt.carry_out`), respond.

        Raises:
            StrongRefError: it is refused, or failed; a `PartialCreateError` where a Create may have begun to write, so
                that CloudFormation's Delete finds what it left.
        """
        try:
            wanted = ExportEvent.parse(event)
            self._check_service_timeout(event, clock)
        except BadRequestError:
            if event.request_type is RequestType.UPDATE:
                note_denied(self.ports, event, clock)
            raise
        own_id = physical_id(event.stack_arn, event.logical_id)
        # A Delete may be of an ID that CloudFormation made up, while the Export goes on under its own.
        is_made_up = event.request_type is RequestType.DELETE and event.physical_id != own_id
        if is_made_up and is_in_use(self.ports.stacks, event.stack, event.logical_id, own_id):
            return wanted.response
        if wanted.unchanged and (stored := self._up_to_date(wanted, clock)):
            return wanted.responded(stored)
        if event.request_type is not RequestType.CREATE:
            wanted = wanted.with_named(self.ports, clock)
        if not wanted.destinations:
            return wanted.response
        if event.request_type is RequestType.UPDATE and event.continuation is None:
            from strongref.protocol.certain_refusal import refuse_if_certain  # noqa: PLC0415 (a Create needs none)

            refuse_if_certain(self.ports, event, wanted, clock)
        now, continues = clock.now(), event.continuation is not None
        says, until = f"{event.logical_id} of {wanted.export.producer}", event.invocation(now).continues_until
        holder = FenceHolder(event.logical_id, says, event.request_id, until, continues=continues)
        places = EventPlaces(self.ports, event, wanted, clock, list(wanted.destinations), IndexEntry(event.stack))
        attempt = ExportAttempt(self.ports, event, wanted, clock, now, may_have_written=continues, places=places)
        creates = event.request_type is RequestType.CREATE and not continues
        is_prompt = now < (event.requested or now) + LATE_DELIVERY
        done = self._carry_out(attempt, holder, at_first=creates and is_prompt)
        reasons = filter(None, (done.reason, attempt.warning(done)))
        return wanted.responded([each.stored for each in done.snapshots], " ".join(reasons))

    def _carry_out(self, attempt: ExportAttempt, holder: FenceHolder, *, at_first: bool) -> ExportResult:
        """Carry out the event behind fences in every place that can be reached."""
        ports, clock, first = self.ports, attempt.clock, attempt.create_without_waiting if at_first else None
        try:
            if at_first and ports.lag.seconds:
                attempt.read_early()
            while True:
                sites = [(each.site, each.scope) for each in attempt.places.visited]
                try:
                    for site, _ in sites:  # Each account lets this one in, or nothing is written anywhere.
                        ports.at(site, clock)
                    if sites:
                        return behind_fences(ports, clock, sites, holder, attempt.carry_out, without_waiting=first)
                    ports.lag.settle(clock)
                    return attempt.carry_out([])
                except StoreError as error:
                    attempt.places.go_on_without(error)
        except StrongRefError as error:
            has_left = attempt.may_have_written and attempt.event.request_type is RequestType.CREATE
            if has_left and not isinstance(error, UnfinishedError):
                raise PartialCreateError(error, attempt.wanted.response.physical_id) from error
            raise

    def _check_service_timeout(self, event: Event, clock: Clock) -> None:
        """Refuse a Create or an Update that CloudFormation does not wait for long enough; a rollback must go on."""
        if event.request_type is RequestType.DELETE:
            return
        try:
            self.ports.lag.check_service_timeout(event.service_timeout)
        except BadRequestError:
            self.ports.lag.settle(clock)
            if phase_of(event.request_type, partial(self.ports.stacks.by_arn, event.stack)) is not Phase.ROLLBACK:
                raise

    def _up_to_date(self, wanted: ExportEvent, clock: Clock) -> list[StoredExports] | None:
        """What is stored, if every destination has what it should: then nothing is written, not even a fence."""
        inspector, found = TagInspector(self.ports.stacks), []
        try:
            for each in wanted.destinations:
                store = self.ports.at(each.site, clock)
                found.append(read_scope(store, each.scope, wanted.export, inspector))
                if not is_up_to_date(wanted.export, each.wanted, found[-1], each.hold):
                    return None
        except StoreError:  # What is done behind fences fails likewise, or passes over it.
            return None
        return found
