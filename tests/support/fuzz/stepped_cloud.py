"""The cloud in memory, stopped before every call of every function: what `machine` plays with.

Each stack's operation is a task that sends events and waits for their answers; each invocation of a function for an
event is another. Invocations can be killed, started again, run twice, or hand over while they are still alive.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from strongref.contract.event import Event, RequestType
from strongref.contract.names import StackArn
from strongref.contract.response import Response
from strongref.errors import StrongRefError
from strongref.protocol.lag import ReadLag
from tests.support.abroad import OTHER, forbidden
from tests.support.cloud import Cloud
from tests.support.cloudformation.operations import NoAnswerError
from tests.support.cloudformation.requests import SIGNED_FORMAT
from tests.support.fake_ssm import EPOCH, error
from tests.support.fuzz.invocation import Invocation, PendingRequest
from tests.support.fuzz.properties import ACCOUNTS
from tests.support.fuzz.scheduler import BEGINS, Scheduler, Task, TaskState
from tests.support.half_deleted import HalfDeletedSsm
from tests.support.late_reads import Lateness, LateSsm, LateStacks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from strongref.contract.names import Key
    from strongref.contract.values import Value
    from tests.support.cloudformation.requests import ResourceRequest
    from tests.support.cloudformation.stacks import FakeStack


class SteppedCloud(Cloud):
    """The cloud in memory, a step at a time."""

    def __init__(self, lag: float = 0.0, *, remembers: bool = False) -> None:
        """Make an empty one.

        Args:
            lag: by how many seconds reads may lag.
            remembers: a deleted name cannot be used again at once, as in `half_deleted`.
        """
        super().__init__()
        self.scheduler = Scheduler()
        self.lag = ReadLag(lag)
        self.past = LateStacks(Lateness(lag, lambda: self.scheduler.seconds))
        if lag:
            self.late_stacks = self.past
            self._new_ssm = partial(LateSsm, lateness=self.past.lateness)
        if remembers:
            self._new_ssm = partial(HalfDeletedSsm, lateness=self.past.lateness)
        self.requests: list[PendingRequest] = []
        self.invocations: list[Invocation] = []
        self.operations: dict[tuple[str, str], Task] = {}
        self.outcomes: dict[tuple[str, str], StrongRefError | None] = {}
        self.away: set[str] = set()  # regions that functions of others cannot reach
        self.trusting = {OTHER: True}

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.scheduler.seconds)

    def new_stack(self, name: str, region: str, root: str = "") -> FakeStack:
        made = super().new_stack(name, region, root)
        if account := ACCOUNTS.get(name):
            del self.stacks[made.arn]
            made.arn = str(replace(StackArn.parse(made.arn), account=account))
            self.stacks[made.arn] = made
        return made

    def let_in(self, account: str) -> None:
        """Let a session in another account do something, or begin; raises `ClientError`."""
        if not self.trusting[account]:
            raise error("AccessDeniedException", "no", "any")

    def check_session(self, account: str, method: str, request: dict[str, Any]) -> None:
        """Check that a session's call is one that its role may ever make, and that its account lets it in now."""
        action = "".join(word.capitalize() for word in method.split("_"))
        assert not (problems := forbidden(action, request)), problems
        self.let_in(account)

    # -- what `watched_cloud` sees -------------------------------------------------------------------------------

    def before_call(self, invocation: Invocation, method: str, region: str, request: dict[str, Any]) -> None:
        """A call is made right now."""

    def after_success(self, event: Event, answer: Response, held: Mapping[Key, Value]) -> None:
        """CloudFormation took a SUCCESS."""

    def after_failure(self, request: ResourceRequest, why: StrongRefError) -> None:
        """CloudFormation took a FAILED, or waited in vain."""

    def before_delete(self, request: ResourceRequest) -> None:
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
            del self.operations[name, region]
            self.outcomes[name, region] = refused

        self.operations[name, region] = self.scheduler.start(f"{what} {name}", operation)

    def send(self, request: ResourceRequest) -> Response:
        task = self.operations[request.stack_name, request.region]
        event = request.event(f"request-{next(self.numbers)}", signed=self.now().strftime(SIGNED_FORMAT))
        if request.kind is RequestType.DELETE:
            self.before_delete(request)
        pending = PendingRequest(event, task)
        self.requests.append(pending)
        self.invoke(pending, event)
        task.stop(TaskState.WAITING, f"waits for {request.kind.value} of {request.logical_id}")
        self.requests.remove(pending)
        if not isinstance(pending.outcome, Response):
            self.after_failure(request, pending.outcome or NoAnswerError())
            raise pending.outcome or NoAnswerError
        if request.kind is not RequestType.DELETE:
            self.after_success(event, pending.outcome, pending.held)
        return pending.outcome

    def invoke(self, request: PendingRequest, event: Event) -> None:
        """Start an invocation of a function for an event, maybe one of several."""
        invocation = Invocation(self, request, event, 0.0)
        what = f"{event.request_type.value} {event.logical_id} of {event.stack_arn.name}"
        name = f"{what} ({event.request_id}, invocation {invocation.continuation.invocation})"
        invocation.task = self.scheduler.start(name, invocation.work)
        request.running.append(invocation)
        self.invocations.append(invocation)

    def settle(self) -> None:
        """Remove what ended, and resume operations whose requests are answered, or never will be."""
        while True:
            self.scheduler.remove_ended()
            ended = [invocation for invocation in self.invocations if invocation.task.state is TaskState.ENDED]
            self.invocations = [invocation for invocation in self.invocations if invocation not in ended]
            for invocation in ended:
                invocation.request.running.remove(invocation)
            answered = [
                request.operation
                for request in self.requests
                if request.operation.state is TaskState.WAITING
                and (request.outcome is not None or not any(each.may_answer for each in request.running))
            ]
            begun = [task for task in self.scheduler.tasks if task.state is TaskState.CALL and task.what == BEGINS]
            if not answered and not begun:
                return
            for task in answered + begun:
                task.resume()
