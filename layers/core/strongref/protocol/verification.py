"""Whether CloudFormation waits for the response to an event. Anyone who may invoke a function can send it any event.

CloudFormation sends an event after it has set the resource in progress, so it is asked about the resource. What it
answers may be out of date, so an answer that speaks against the event counts only if it stays the same for a while.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from strongref.contract.event import RequestType
from strongref.contract.origin import response_key
from strongref.errors import ErrorMetric, StackLookupError, StrongRefError, WaitInterruptedError
from strongref.protocol.time import Until

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from strongref.arns import Arn
    from strongref.contract.event import Event
    from strongref.contract.origin import ResponseHosts
    from strongref.protocol.lag import ReadLag
    from strongref.protocol.ports import ResourceInfo, StackInfo, Stacks
    from strongref.protocol.time import Clock

ASKING_SECONDS = 60.0
"""How long CloudFormation is asked if it does not answer."""

LATE_SECONDS = 5.0
"""How long it is asked again, in addition to the bound of lagging reads, while it says that it does not wait."""

PAUSE = 1.0


class EventRejectedError(StrongRefError):
    """An event that CloudFormation did not send, or that it does not wait for anymore. It is not responded to."""

    counted = ErrorMetric.NOT_EXPECTED
    problem: str
    sentence = "The event was rejected: {problem}. Nothing was done for it."


class EventNotVerifiedError(StrongRefError):
    """CloudFormation could not be asked about an event. An earlier invocation for it may have done something."""

    error: StrongRefError
    sentence = "{error} So it is not known whether CloudFormation sent the event, and nothing more was done for it."


@dataclass(frozen=True, slots=True)
class EventVerifier:
    """Accepts only events that CloudFormation waits for."""

    hosts: ResponseHosts
    suffix: Callable[[str], str]  # the DNS suffix of a partition
    stacks: Callable[[str, Clock], Stacks]  # stack lookups in an account
    lag: ReadLag

    def may_respond(self, url: str, stack: str, logical_id: str, function: Arn) -> bool:
        """Whether a URL is where a function may respond for this resource."""
        key = response_key(stack, logical_id)
        return self.hosts.accept(url, function.region, self.suffix(function.partition), key)

    def check_origin(self, event: Event, function: Arn, now: datetime) -> None:
        """Check what an event says about itself, before anything is called.

        Raises:
            EventRejectedError: its stack is not in the function's account and region, its response would go to
                somebody else, or its time is over.
        """
        stack = event.stack_arn
        if (stack.partition, stack.region, stack.account) != (function.partition, function.region, function.account):
            raise EventRejectedError("its StackId must be in the function's account and region")
        if not self.may_respond(event.response_url, event.stack, event.logical_id, function):
            raise EventRejectedError("its ResponseURL must be CloudFormation's, for that resource")
        if event.is_over(now):
            raise EventRejectedError("CloudFormation does not wait for it anymore")

    def check_expected(self, event: Event, clock: Clock) -> None:
        """Ask CloudFormation whether it waits for the response to an event.

        Raises:
            EventRejectedError: it does not.
            EventNotVerifiedError: it cannot be asked.
        """
        asking = Until(clock, clock.now() + timedelta(seconds=ASKING_SECONDS))
        stacks = self.stacks(event.stack_arn.account, asking)
        until = clock.now() + timedelta(seconds=2 * self.lag.seconds + LATE_SECONDS)
        try:
            while not _is_expected(event, stacks):
                if clock.now() >= until:
                    raise EventRejectedError("CloudFormation does not wait for it")
                clock.sleep(PAUSE)
        except (StackLookupError, WaitInterruptedError) as error:
            failed = error.error if isinstance(error, WaitInterruptedError) else error
            raise EventNotVerifiedError(failed) from None


def _is_expected(event: Event, stacks: Stacks) -> bool:
    resource = stacks.resource(event.stack, event.logical_id)
    if is_in_progress(event, resource):
        return True
    return may_be_replaced(event, resource) and removes_resources(stacks.by_arn(event.stack))


def is_in_progress(event: Event, resource: ResourceInfo | None) -> bool:
    """Whether the resource is being created, updated or deleted, as the event says."""
    if not resource or resource.type != event.resource_type or not resource.in_progress:
        return False
    return (resource.status == "DELETE_IN_PROGRESS") is (event.request_type is RequestType.DELETE)


def may_be_replaced(event: Event, resource: ResourceInfo | None) -> bool:
    """Whether the event may delete what a resource was before: its stack does not list that anymore."""
    return event.request_type is RequestType.DELETE and (
        resource is None or resource.physical_id != (event.physical_id or "")
    )


def removes_resources(stack: StackInfo | None) -> bool:
    """Whether a stack is in a phase in which it deletes resources."""
    return stack is not None and (
        stack.cleaning_up or stack.being_deleted or stack.status.endswith("ROLLBACK_IN_PROGRESS")
    )
