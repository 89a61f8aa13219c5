"""Whether CloudFormation waits for the response to an event. Anyone who may invoke a function can send it any event.

CloudFormation sends an event after it has set the resource in progress, so it is asked about the resource. What it
answers may be out of date, so an answer that speaks against the event counts only if it stays the same for a while.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from strongref.contract.continuation import SERVICE_TIMEOUT
from strongref.contract.event import Event, RequestType, ResponseTarget
from strongref.contract.names import StackArn
from strongref.contract.origin import ResponseHosts, requested_at, response_key
from strongref.errors import OUT_OF_TIME, ErrorMetric, StackLookupError, StrongRefError, WaitInterruptedError
from strongref.protocol.time import Clock, Until

if TYPE_CHECKING:
    from strongref.arns import Arn
    from strongref.protocol.lag import ReadLag
    from strongref.protocol.ports import ResourceInfo, StackInfo, Stacks

ASKING_SECONDS = 60.0
"""How long CloudFormation is asked if it does not answer."""

LAST_SECONDS = 180.0
"""The same for a delivery that is the last one."""

LATE_DELIVERY = timedelta(seconds=30)
"""The age from which an event may be one that the function has raised: Lambda waits for one minute before it delivers
an event a second time, and for two before the last time (AWS: Lambda Developer Guide, asynchronous invocation)."""

MAY_RAISE = timedelta(minutes=2, seconds=30)
"""The age up to which an event comes again if it is raised. The last delivery is after three minutes, or a bit less."""

LATE_SECONDS = 5.0
"""How long it is asked again, in addition to the bound of lagging reads, while it says that it does not wait."""

AHEAD = timedelta(minutes=5)
"""How far in the future a response URL may be dated, for clocks that differ. The date decides the order of requests."""

PAUSE = 1.0

CANCELED = timedelta(minutes=1)
"""How much later than an event its resource must have been set in progress to count as set for another event. AWS does
not say that the response URL's date is the later one."""


class EventRejectedError(StrongRefError):
    """An event that CloudFormation did not send, or that it does not wait for anymore. It is not responded to."""

    counted = ErrorMetric.NOT_EXPECTED
    problem: str
    sentence = "The event was rejected: {problem}. Nothing was done for it."


class EventNotVerifiedError(StrongRefError):
    """CloudFormation could not be asked about an event. An earlier invocation for it may have done something."""

    error: StrongRefError
    sentence = "{error} So it is not known whether CloudFormation sent the event, and nothing more was done for it."


class EventPendingError(StrongRefError):
    """An event that may be verified later. The function has to raise this, so that Lambda delivers the event again."""

    error: StrongRefError
    sentence = "{error} Lambda delivers the event again."


@dataclass(frozen=True, slots=True)
class EventVerifier:
    """Accepts only events that CloudFormation waits for."""

    hosts: ResponseHosts
    suffix: Callable[[str], str]  # the DNS suffix of a partition
    stacks: Callable[[str, Clock], Stacks]  # stack lookups in an account
    lag: ReadLag

    def check_origin(
        self, sender: Event | ResponseTarget, function: Arn, now: datetime, timeout: float = SERVICE_TIMEOUT
    ) -> None:
        """Check what an event says about itself, before anything is called.

        Raises:
            BadArnError: `StackId` is not a stack's ARN.
            EventRejectedError: its stack is not in the function's account and region, its response would go to
                somebody else, or its time is over or still to come.
        """
        stack = StackArn.parse(sender.stack)
        if (stack.partition, stack.region, stack.account) != (function.partition, function.region, function.account):
            raise EventRejectedError("its StackId must be in the function's account and region")
        key, suffix = response_key(sender.stack, sender.logical_id), self.suffix(function.partition)
        if not self.hosts.accept(sender.response_url, function.region, suffix, key):
            raise EventRejectedError("its ResponseURL must be CloudFormation's, for that resource")
        requested = requested_at(sender.response_url)
        if requested and now >= requested + timedelta(seconds=timeout):
            raise EventRejectedError("CloudFormation does not wait for it anymore")
        if requested and requested > now + AHEAD:
            raise EventRejectedError("the date of its ResponseURL is in the future")

    def check_expected(self, event: Event, clock: Clock) -> None:
        """Ask CloudFormation whether it waits for the response to an event.

        Raises:
            EventPendingError: it does not, or it cannot be asked; both may have changed when the event comes again.
            EventRejectedError: it does not.
            EventNotVerifiedError: it cannot be asked.
        """
        is_last = not _comes_again(event, clock.now())
        try:
            self._ask(event, clock, LAST_SECONDS if is_last else ASKING_SECONDS)
        except (EventRejectedError, EventNotVerifiedError) as error:
            if is_last:
                raise
            raise EventPendingError(error) from None

    def _ask(self, event: Event, clock: Clock, seconds: float) -> None:
        asking = Until(clock, clock.now() + timedelta(seconds=seconds))
        stacks = self.stacks(event.stack_arn.account, asking)
        sent = None if event.continuation else event.requested
        if late := sent is not None and clock.now() >= sent + LATE_DELIVERY:
            self.lag.settle(clock)  # Meanwhile, CloudFormation may have sent another request.
        until = clock.now() + timedelta(seconds=2 * self.lag.seconds + LATE_SECONDS)
        unexpected = EventRejectedError("CloudFormation does not wait for it")
        was_asked = False
        try:
            while not self._is_expected(event, stacks, clock, late=late):
                was_asked = True
                if clock.now() >= until:
                    raise unexpected
                clock.sleep(PAUSE)
        except (StackLookupError, WaitInterruptedError) as error:
            failed = error.error if isinstance(error, WaitInterruptedError) else error
            if was_asked and isinstance(failed, StackLookupError) and failed.code == OUT_OF_TIME:
                raise unexpected from None
            raise EventNotVerifiedError(failed) from None

    def _is_expected(self, event: Event, stacks: Stacks, clock: Clock, *, late: bool) -> bool:
        resource = stacks.resource(event.stack, event.logical_id)
        if late and _is_older(event, resource):
            return False
        if is_in_progress(event, resource):
            return True
        if not _is_replaced(event, resource, stacks):
            return False
        if not self.lag.seconds:
            return True
        self.lag.settle(clock)  # What is not listed may have come back a moment ago.
        return _is_replaced(event, stacks.resource(event.stack, event.logical_id), stacks)


def _comes_again(event: Event, arrived: datetime) -> bool:
    """Whether Lambda delivers an event again, in time, if the function raises it.

    A continuation comes from an event that was verified. Without a date, or with one ahead, the last delivery looks
    like the first.
    """
    if event.continuation or event.requested is None or event.requested > arrived + timedelta(seconds=LATE_SECONDS):
        return False
    return arrived < event.requested + min(MAY_RAISE, timedelta(seconds=event.service_timeout) - MAY_RAISE)


def _is_replaced(event: Event, resource: ResourceInfo | None, stacks: Stacks) -> bool:
    """Whether the event may delete what a resource was before: its stack does not list that anymore.

    CloudFormation deletes that once the resource has been replaced for good.
    """
    is_listed = resource is not None and (resource.physical_id == (event.physical_id or "") or resource.in_progress)
    if is_listed or event.request_type is not RequestType.DELETE:
        return False
    return removes_resources(stacks.by_arn(event.stack))


def is_in_progress(event: Event, resource: ResourceInfo | None) -> bool:
    """Whether the resource is being created, updated or deleted, as the event says."""
    if not resource or resource.type != event.resource_type or not resource.in_progress:
        return False
    return resource.being_deleted is (event.request_type is RequestType.DELETE)


def is_in_use(stacks: Stacks, stack: str, logical_id: str, physical_id: str) -> bool:
    resource = stacks.resource(stack, logical_id)
    return resource is not None and resource.physical_id == physical_id and not resource.being_deleted


def is_superseded(event: Event, stacks: Stacks, tolerance: timedelta = timedelta()) -> bool:
    """Whether CloudFormation has asked for something else since it sent an event, as far as dates tell."""
    if event.requested is None:
        return False
    resource = stacks.resource(event.stack, event.logical_id)
    return resource is None or not resource.in_progress or _is_older(event, resource, tolerance)


def _is_older(event: Event, resource: ResourceInfo | None, tolerance: timedelta = timedelta()) -> bool:
    """Whether a resource's status has changed after an event was sent. The event's date has whole seconds."""
    if event.requested is None or resource is None or resource.updated is None:
        return False
    return resource.updated.replace(microsecond=0) > event.requested + tolerance


def is_given_up(event: Event, stacks: Stacks) -> bool:
    """Whether CloudFormation does not wait for a Create or an Update any more.

    It cancels what is in progress when another resource fails, and rolls it back: if its rollback has found nothing to
    do, this event must not do it now. What a Delete was sent for is to go in any case.
    """
    return event.request_type is not RequestType.DELETE and is_superseded(event, stacks, CANCELED)


def removes_resources(stack: StackInfo | None) -> bool:
    return stack is not None and (
        stack.cleaning_up or stack.being_deleted or stack.status.endswith("ROLLBACK_IN_PROGRESS")
    )
