"""One invocation of a function for an event: the real use case, stopped before each of its calls."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from strongref.aws.parameter_store import SsmStore
from strongref.aws.rate_limit import RateLimiter
from strongref.contract.continuation import SERVICE_TIMEOUT, Continuation
from strongref.contract.event import Event, RequestType
from strongref.contract.names import Site
from strongref.errors import ServiceTimeoutError, StrongRefError, UnfinishedError
from strongref.protocol.claims import ClaimAttempt
from strongref.protocol.ports import NewStack, Ports, ResourceInfo, StackInfo
from strongref.protocol.time import CLOCK_SKEW_SECONDS, OnClock, Patience
from strongref.runtime.clock import RESPONSE_SECONDS
from strongref.runtime.wiring import PATIENCE, PATIENCE_TO_CREATE_AN_IMPORT, PAUSE
from tests.support.abroad import OTHER, SessionClients
from tests.support.builders import ACCOUNT
from tests.support.cloud import UNLIMITED, carry_out
from tests.support.cloudformation.requests import IMPORT
from tests.support.fuzz.lookups import Lookups
from tests.support.fuzz.scheduler import Task, TaskState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from strongref.aws.accounts import Accounts
    from strongref.contract.names import Key
    from strongref.contract.response import Response
    from strongref.contract.values import Value
    from strongref.protocol.time import Clock
    from tests.support.fuzz.stepped_cloud import SteppedCloud

FUNCTION_SECONDS = 900.0
"""The functions' timeout."""

ANSWERS = "answers"
"""Where an invocation stops that has finished."""


@dataclass(eq=False)
class PendingRequest:
    """What CloudFormation asks for, until it is answered.

    Attributes:
        event: as sent.
        operation: the task that waits for the answer.
        running: the invocations for it that are alive.
        outcome: the first answer.
        held: what an import holds with that.
    """

    event: Event
    operation: Task
    running: list[Invocation] = field(default_factory=list)
    outcome: Response | StrongRefError | None = None
    held: Mapping[Key, Value] = field(default_factory=dict)


@dataclass(eq=False)
class Invocation:
    """One invocation of a function: its clock and its view of the cloud.

    Attributes:
        request: what it is for.
        event: what it was given.
        ends: when its time is up, in the scheduler's seconds.
        may_answer: its answer counts: it has not handed over.
        held: what it imports.
        task: its thread.
        continuation: which of the invocations for its event it is.
    """

    cloud: SteppedCloud
    request: PendingRequest
    event: Event
    ends: float
    may_answer: bool = True
    held: Mapping[Key, Value] = field(default_factory=dict)
    task: Task = field(init=False)
    continuation: Continuation = field(init=False)
    account: str = field(init=False, default=ACCOUNT)  # whose functions these are

    def __post_init__(self) -> None:
        self.account = self.event.stack_arn.account
        self.continuation = self.event.continuation or Continuation(1, self.now(), SERVICE_TIMEOUT)

    # -- ports.Clock ---------------------------------------------------------------------------------------------

    def now(self) -> datetime:
        return self.cloud.now()

    def earliest(self) -> datetime:
        return self.now() - timedelta(seconds=CLOCK_SKEW_SECONDS)

    def sleep(self, seconds: float) -> None:
        self.task.wakes = self.cloud.scheduler.seconds + seconds
        self.task.stop(TaskState.PAUSE, "pauses")

    def remaining(self) -> float:
        return self.ends - self.cloud.scheduler.seconds

    def before_call(self, action: str) -> None:
        """Nothing to renew."""

    # -- ports.Stacks --------------------------------------------------------------------------------------------

    def by_arn(self, arn: str) -> StackInfo | None:
        self.lookups.check(arn)
        self.task.stop(TaskState.CALL, f"DescribeStacks {arn.split('/')[1]}")
        return self.cloud.by_arn(arn)

    def by_name(self, name: str, region: str) -> StackInfo | None:
        self.task.stop(TaskState.CALL, f"DescribeStacks {name}")
        return self.lookups.by_name(name, region)

    def resource(self, arn: str, logical_id: str) -> ResourceInfo | None:
        self.task.stop(TaskState.CALL, f"DescribeStackResource {arn.split('/')[1]}")
        return self.cloud.resource(arn, logical_id)

    def physical_ids(self, arn: str) -> frozenset[str]:
        self.lookups.check(arn)
        self.task.stop(TaskState.CALL, f"ListStackResources {arn.split('/')[1]}")
        return self.cloud.physical_ids(arn)

    def importing_stacks(self, export: str, region: str) -> frozenset[str]:
        self.task.stop(TaskState.CALL, f"ListImports {export}")
        return self.cloud.importing_stacks(export, region)

    def create_stack(self, stack: NewStack) -> str:
        self.task.stop(TaskState.CALL, f"CreateStack {stack.name}")
        return self.cloud.create_stack(stack)

    def update_stack(self, stack: NewStack) -> None:
        self.task.stop(TaskState.CALL, f"UpdateStack {stack.name}")
        self.cloud.update_stack(stack)

    def delete_stack(self, stack: str, region: str) -> None:
        self.task.stop(TaskState.CALL, f"DeleteStack {stack}")
        self.cloud.delete_stack(stack, region)

    def failure(self, arn: str) -> str:
        self.task.stop(TaskState.CALL, f"DescribeStackEvents {arn.split('/')[1]}")
        return self.cloud.failure(arn)

    # -- what it is wired to -------------------------------------------------------------------------------------

    @property
    def lookups(self) -> Lookups:
        return Lookups(self.cloud, self.account)

    def stores(self, region: str, clock: Clock) -> SsmStore:
        client: Any = _SteppedClient(self, site_text(region, self.account))
        return SsmStore(client, region, RateLimiter(UNLIMITED), clock, lambda: 0.0)

    def abroad(self) -> Accounts:
        """`ports.Abroad`: each role is assumed once, in a call of its own."""

        def assume(account: str) -> None:
            self.task.stop(TaskState.CALL, f"AssumeRole in account {account}")
            self.cloud.let_in(account)

        clients = SessionClients(assume, lambda account, at: _SteppedClient(self, site_text(at, account), account))
        return clients.accounts((OTHER,), RateLimiter(UNLIMITED))

    def handle(self) -> Response:
        """What the real use case answers."""
        creates_import = self.event.resource_type == IMPORT and self.event.request_type is RequestType.CREATE
        waits = PATIENCE_TO_CREATE_AN_IMPORT if creates_import else PATIENCE
        patience = Patience(waits.under(self.cloud.lag), PAUSE, self.cloud.past.lateness.random.random)
        ports = Ports(self.stores, self, patience, self.cloud.token, self.cloud.lag, abroad=self.abroad().store)
        return carry_out(self.event, ports, self)

    def work(self) -> None:
        """Carry the event out, and answer or hand over, as `custom_resource.CustomResource` does."""
        seconds = min(FUNCTION_SECONDS, self.continuation.seconds_left(self.now())) - RESPONSE_SECONDS
        self.ends = self.cloud.scheduler.seconds + seconds
        outcome: Response | StrongRefError
        try:
            outcome = self.handle()
        except UnfinishedError as error:
            if self.may_hand_over():
                self.hand_over()
                return
            outcome = ServiceTimeoutError(self.continuation.invocation, self.continuation.timeout, error)
        except StrongRefError as error:
            outcome = error
        self.task.stop(TaskState.CALL, ANSWERS)  # time passes before CloudFormation has the answer
        if self.may_answer and self.request.outcome is None:
            self.request.outcome = outcome
            self.request.held = self.held

    def may_hand_over(self) -> bool:
        return self.may_answer and self.now() < self.continuation.continues_until

    def hand_over(self) -> None:
        """Another invocation goes on; this one makes at most the call that it is about to make."""
        following = Continuation(self.continuation.invocation + 1, self.continuation.since, self.continuation.timeout)
        self.may_answer = False
        self.ends = self.cloud.scheduler.seconds
        self.cloud.invoke(self.request, replace(self.event, continuation=following))

    def answered(self) -> None:
        """A call of it got an answer."""

    def may_repeat(self) -> bool:
        """Whether its event may be delivered again: CloudFormation still waits for its answer."""
        return self.may_answer and self.request.outcome is None

    def repeat(self) -> None:
        """Deliver its event again."""
        self.cloud.invoke(self.request, self.event)


class _SteppedClient:
    """An SSM client that stops before each call; of a session in another account, or of its own."""

    def __init__(self, invocation: Invocation, region: str, session: str = "") -> None:
        self._invocation = invocation
        self._region = region
        self._session = session

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            target = request.get("Name") or request.get("ResourceId") or request.get("Path") or request.get("Names")
            what = f"{method} {target} in {self._region}".replace("/strongref/", "")
            self._invocation.task.stop(TaskState.CALL, what)
            cloud = self._invocation.cloud
            if self._session:
                cloud.check_session(self._session, method, request)
            cloud.before_call(self._invocation, method, self._region, request)
            try:
                return getattr(cloud.ssm(self._region), method)(**request)
            finally:
                self._invocation.answered()

        return call


def site_text(region: str, account: str) -> str:
    """The name of a store among the cloud's regions."""
    return str(Site(region, "" if account == ACCOUNT else account))


def remember_held() -> tuple[type[ClaimAttempt], str, Callable[[ClaimAttempt], Mapping[Key, Value]]]:
    """For `patch.object`: what an import holds is noted with its invocation, secure values included."""
    claim = ClaimAttempt.claim

    def holding(claiming: ClaimAttempt) -> Mapping[Key, Value]:
        held = claim(claiming)
        clock = claiming.clock
        while isinstance(clock, OnClock):
            clock = clock.clock
        if isinstance(clock, Invocation):
            clock.held = held
        return held

    return ClaimAttempt, "claim", holding
