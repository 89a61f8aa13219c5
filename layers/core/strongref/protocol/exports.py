"""What a `Custom::CrossRegionExport` does: publish values for a consumer, and never change or drop a claimed one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from strongref.contract.event import Event, RequestType
from strongref.errors import BadRequestError
from strongref.protocol.behind_fences import FencedStore, behind_fences
from strongref.protocol.export_attempt import ExportAttempt, plans_for
from strongref.protocol.export_event import ExportEvent, physical_id
from strongref.protocol.export_index import ExportIndex
from strongref.protocol.fences import FenceHolder
from strongref.protocol.inspection import TagInspector
from strongref.protocol.phases import Phase, phase_of
from strongref.protocol.planner import is_up_to_date
from strongref.protocol.snapshot import read_behind_fences, read_scope, with_named
from strongref.protocol.verification import is_in_use

if TYPE_CHECKING:
    from strongref.contract.response import Response
    from strongref.protocol.plan import ExportPlan
    from strongref.protocol.ports import Ports
    from strongref.protocol.stored_exports import StoredExports
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
        wanted = ExportEvent.parse(event).with_recorded(self.ports, clock)
        own_id = physical_id(event.stack_arn, event.logical_id)
        # A Delete may be of an ID that CloudFormation made up, while the Export goes on under its own.
        is_made_up = event.request_type is RequestType.DELETE and event.physical_id != own_id
        if not wanted.destinations or (
            is_made_up and is_in_use(self.ports.stacks, event.stack, event.logical_id, own_id)
        ):
            return wanted.response
        self._check_service_timeout(event, clock)
        if wanted.unchanged and (stored := self._up_to_date(wanted, clock)):
            return wanted.responded(stored)
        now, continues = clock.now(), event.continuation is not None
        says, until = f"{event.logical_id} of {wanted.export.producer}", event.invocation(now).continues_until
        holder = FenceHolder(event.logical_id, says, event.request_id, until, continues=continues)
        sites = [(each.region, each.scope) for each in wanted.destinations]
        attempt = ExportAttempt(self.ports, event, wanted, clock, now, may_have_written=continues)
        creates = event.request_type is RequestType.CREATE and not continues
        first = attempt.create_without_waiting if creates else None
        with attempt.leftovers_reported():
            done = behind_fences(self.ports, clock, sites, holder, attempt.carry_out, without_waiting=first)
        return wanted.responded(done.stored, done.reason)

    def preview(self, event: Event, clock: Clock) -> list[ExportPlan]:
        """The plans for an event, refusals included, without a fence and without writing anything: a dry run."""
        wanted = ExportEvent.parse(event).with_recorded(self.ports, clock)
        destinations, stacks = wanted.destinations, self.ports.stacks
        fenced = [FencedStore(self.ports.stores(each.region, clock), clock) for each in destinations]
        snapshots = read_behind_fences(fenced, destinations, wanted.export, TagInspector(stacks), wanted.rewrite)
        index = ExportIndex(self.ports.stores(wanted.export.producer.region, clock), wanted.export)
        snapshots = with_named(snapshots, wanted.export, index.read)
        phase = phase_of(event.request_type, partial(stacks.by_arn, event.stack))
        return plans_for(event, wanted, phase, snapshots, stacks)

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
        for each in wanted.destinations:
            store = self.ports.stores(each.region, clock)
            found.append(read_scope(store, each.scope, wanted.export, inspector))
            if not is_up_to_date(wanted.export, each.wanted, found[-1], each.hold):
                return None
        return found
