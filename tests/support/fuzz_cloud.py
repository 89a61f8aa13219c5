"""The small cloud, stopped before every call of every function: what `fuzz_machine` plays with.

Each stack's operation is a runner that sends events and waits for their answers; each invocation of a function for an
event is another. Invocations can be killed, begun again, made twice, or hand over while they are still alive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.contract.event import Event, RequestType
from strongref.contract.response import Response
from strongref.errors import PartialCreateError, ServiceTimeoutError, StrongRefError
from strongref.runtime.custom_resource import FAILED_CREATE, UNFINISHED_CREATE
from tests.support.cloud import Cloud, Deployed, Stack
from tests.support.fuzz_baton import BEGINS, At, Baton, Runner
from tests.support.fuzz_invocation import Invocation, NeverAnsweredError, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.contract.names import Key
    from strongref.contract.values import Value


class SteppedCloud(Cloud):
    """The small cloud, a step at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.baton = Baton()
        self.requests: list[Request] = []
        self.invocations: list[Invocation] = []
        self.operations: dict[tuple[str, str], Runner] = {}
        self.outcomes: dict[tuple[str, str], StrongRefError | None] = {}

    # -- what the ledger sees ------------------------------------------------------------------------------------

    def about_to(self, invocation: Invocation, method: str, region: str, request: dict[str, Any]) -> None:
        """A call is made right now."""

    def answered(self, stack: Stack, event: Event, answer: Response, held: Mapping[Key, Value]) -> None:
        """CloudFormation took a SUCCESS."""

    def lets_go(self, stack: Stack, physical_id: str) -> None:
        """CloudFormation begins to delete a resource."""

    # -- operations ----------------------------------------------------------------------------------------------

    def begin(self, name: str, region: str, what: str, work: Callable[[], object]) -> None:
        """Start an operation on a stack; a stack has one at a time."""

        def operation() -> None:
            refused = None
            try:
                work()
            except StrongRefError as error:
                refused = error
            stack = self.find(name, region)
            if stack and stack.status in ("ROLLBACK_IN_PROGRESS", "UPDATE_ROLLBACK_IN_PROGRESS"):
                stack.status = stack.status.replace("IN_PROGRESS", "FAILED")
            del self.operations[name, region]
            self.outcomes[name, region] = refused

        self.operations[name, region] = self.baton.start(f"{what} {name}", operation)

    def go_on_rolling_back(self, stack: Stack) -> None:
        """As `continue-update-rollback`."""
        before, _, failed, wanted = self.unrolled[stack.arn]
        self._roll_back(stack, before, failed, wanted)

    def send(  # noqa: PLR0913, PLR0917
        self,
        stack: Stack,
        kind: RequestType,
        logical_id: str,
        properties: dict[str, Any],
        physical_id: str | None = None,
        old: dict[str, Any] | None = None,
    ) -> Response:
        """Send one event, and wait for its answer."""
        name, region = stack.arn.split("/")[1], stack.arn.split(":")[3]
        runner = self.operations[name, region]
        event = self.event(stack, kind, logical_id, properties, physical_id, old)
        if kind is RequestType.DELETE:
            self.lets_go(stack, physical_id or "")
        request = Request(event, runner)
        self.requests.append(request)
        self.invoke(request, event)
        runner.stop(At.WAITING, f"waits for {kind.value} of {logical_id}")
        self.requests.remove(request)
        if isinstance(request.outcome, Response):
            if kind is not RequestType.DELETE:
                self.answered(stack, event, request.outcome, request.held)
            return request.outcome
        error = request.outcome or NeverAnsweredError()
        if kind is RequestType.CREATE:
            stack.resources[logical_id] = Deployed(properties, _physical_id(event, error))
        raise error

    def invoke(self, request: Request, event: Event) -> Invocation:
        """An invocation of a function for an event, one of several maybe."""
        invocation = Invocation(self, request, event, 0.0)
        what = f"{event.request_type.value} {event.logical_id} of {event.stack_name}"
        name = f"{what} ({event.request_id}, invocation {invocation.continuation.invocation})"
        invocation.runner = self.baton.start(name, invocation.work)
        request.running.append(invocation)
        self.invocations.append(invocation)
        return invocation

    def settle(self) -> None:
        """Take away who has ended, and let operations go on whose requests are answered, or never will be."""
        while True:
            self.baton.sweep()
            ended = [invocation for invocation in self.invocations if invocation.runner.at is At.ENDED]
            self.invocations = [invocation for invocation in self.invocations if invocation not in ended]
            for invocation in ended:
                invocation.request.running.remove(invocation)
            answered = [
                request
                for request in self.requests
                if request.operation.at is At.WAITING
                and (request.outcome is not None or not any(each.listened_to for each in request.running))
            ]
            begun = [runner for runner in self.baton.runners if runner.at is At.CALL and runner.what == BEGINS]
            if not answered and not begun:
                return
            for runner in [request.operation for request in answered] + begun:
                runner.go()

    def kill(self, invocation: Invocation) -> None:
        """Its process is gone."""
        invocation.runner.killed = True
        while invocation.runner.at is not At.ENDED:
            invocation.runner.go()


def _physical_id(event: Event, error: StrongRefError) -> str:
    """Of a Create that failed, as `resource.CustomResource` tells it; or as CloudFormation makes it up."""
    if isinstance(error, PartialCreateError):
        return error.physical_id
    if isinstance(error, NeverAnsweredError):
        return f"{event.stack_name}-{event.logical_id}-MADE1UP2"
    unknown = isinstance(error, ServiceTimeoutError)
    return f"{UNFINISHED_CREATE if unknown else FAILED_CREATE}{event.stack_name}/{event.logical_id}"
