"""What a `Custom::CrossRegionExport` does: publish values for a consumer, and never change or drop a claimed one.

What is to be done follows from what is stored and what is wanted, so an event delivered twice, or the Update that rolls
a refused Update back, does no harm. The properties before an Update only tell where else to look.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from strongref.contract.event import RequestType
from strongref.contract.names import StackArn
from strongref.contract.requests import ExportRequest, OnChange
from strongref.contract.response import Response
from strongref.errors import (
    BadRequestError,
    ExportsInUseError,
    ExportsKeptError,
    InUse,
    PartialCreateError,
    StrongRefError,
    UnfinishedError,
)
from strongref.protocol.plan import ExportIdentity, WhenClaimed
from strongref.protocol.publishing import Destination, Publishing
from strongref.text import some, stack_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strongref.contract.event import Event
    from strongref.protocol.plan import ExportPlan
    from strongref.protocol.ports import Ports
    from strongref.protocol.time import Clock


def physical_id(stack: StackArn, logical_id: str) -> str:
    """The same for an Export's whole life, whatever it publishes and wherever: it is never replaced."""
    return f"strongref-export/{stack.name}/{stack.unique}/{logical_id}"


@dataclass(frozen=True, slots=True)
class Exporter:
    """The exporter."""

    ports: Ports

    def handle(self, event: Event, clock: Clock) -> Response:
        """Carry out one event of CloudFormation's.

        Raises:
            StrongRefError: it is refused, or could not be done; a `PartialCreateError` where a Create has begun
                to write, so that CloudFormation's cleanup finds what it left.
        """
        if event.request_type is RequestType.DELETE:
            return self._delete(event, clock)
        return self._put(event, clock)

    def _put(self, event: Event, clock: Clock) -> Response:
        stack = StackArn.parse(event.stack)
        request = ExportRequest.parse(event.properties, stack)
        former = _former(event, stack)
        # Asked at once: later, another event may be on its way.
        rolls_back = former is not None and self._rolls_back(event)
        new = [Destination(region, request.scope, request.values) for region in request.regions]
        here = {(site.region, site.scope) for site in new}
        old = [Destination(region, former.scope, {}) for region in former.regions] if former else []
        sites = new + [site for site in old if (site.region, site.scope) not in here]
        again = request.values.keys() if former and former.revision != request.revision else ()
        run = Publishing(
            self.ports,
            clock,
            ExportIdentity(event.stack, event.logical_id),
            sites,
            rewrite=again,
            request=event.request_id,
        )
        when_claimed = WhenClaimed.PROPAGATE if request.on_change is OnChange.PROPAGATE else WhenClaimed.REFUSE
        answer = Response(
            physical_id(stack, event.logical_id), {"Prefix": request.scope.values, "Count": str(len(request.values))}
        )
        if former and _same(former, request) and not again and run.is_up_to_date():
            return answer
        try:
            plans = self._carry_out(event, run, when_claimed, former if rolls_back else None)
        except UnfinishedError:
            raise
        except StrongRefError as error:
            if (run.wrote or event.turn) and event.request_type is RequestType.CREATE:
                raise PartialCreateError(error, answer.physical_id) from error
            raise
        return replace(answer, reason=_notice(plans))

    def _carry_out(
        self, event: Event, run: Publishing, when_claimed: WhenClaimed, failed: ExportRequest | None
    ) -> list[ExportPlan]:
        """Do it; in the roll-back of a failed update, from its beginning to its end, refuse as little as can be.

        What is refused there leaves the stack stuck. What the update published and somebody claimed at once is
        withdrawn, but kept; what it propagated is propagated back. A value that it changed and somebody claimed since
        cannot go back: that is refused all the same.
        """
        try:
            return run.carry_out(when_claimed)
        except ExportsInUseError:
            if failed is None or not self._rolls_back(event):
                raise
        propagated = failed.on_change is OnChange.PROPAGATE
        return run.carry_out(WhenClaimed.KEEP | (WhenClaimed.PROPAGATE if propagated else when_claimed))

    def _rolls_back(self, event: Event) -> bool:
        info = self.ports.stacks.by_arn(event.stack)
        return info is not None and info.rolling_back

    def _delete(self, event: Event, clock: Clock) -> Response:
        stack = StackArn.parse(event.stack)
        answer = Response(event.physical_id or physical_id(stack, event.logical_id))
        try:
            request = ExportRequest.parse(event.properties, stack)
        except BadRequestError:
            return answer  # such properties were refused when they came: nothing was ever published for them
        sites = [Destination(region, request.scope, {}) for region in request.regions]
        run = Publishing(
            self.ports, clock, ExportIdentity(event.stack, event.logical_id), sites, request=event.request_id
        )
        info = self.ports.stacks.by_arn(event.stack)
        if not (info and info.cleaning_up):
            run.carry_out(WhenClaimed.REFUSE)
            return answer
        plans = run.carry_out(WhenClaimed.KEEP)
        if kept := _kept(plans):
            raise ExportsKeptError(kept)
        return answer


def _same(former: ExportRequest, request: ExportRequest) -> bool:
    """Whether an Update wants what was wanted before, so that there may be nothing to do."""
    return (former.regions, former.scope, former.values) == (request.regions, request.scope, request.values)


def _former(event: Event, stack: StackArn) -> ExportRequest | None:
    """What the properties before this Update asked for; None if they were refused, and so published nothing."""
    if event.old_properties is None:
        return None
    try:
        return ExportRequest.parse(event.old_properties, stack)
    except BadRequestError:
        return None


def _kept(plans: Sequence[ExportPlan]) -> list[InUse]:
    return [InUse(key, "kept", importers) for plan in plans for key, importers in plan.kept.items()]


def _notice(plans: Sequence[ExportPlan]) -> str:
    """What is to be told of claimed values that were changed or kept all the same."""
    told = {key: importers for plan in plans for key, importers in plan.told.items()}
    importers = sorted({stack_text(arn) for arns in told.values() for arn in arns})
    notices = []
    if told:
        notices.append(
            f"{some(told)} changed although imported by {some(importers, 5)}: deploy these anew to use the new value."
        )
    if kept := _kept(plans):
        notices.append(str(ExportsKeptError(kept)))
    return " ".join(notices)
