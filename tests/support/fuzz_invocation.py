"""One invocation of a function for an event: the real use case, stopped before each of its calls."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from strongref.aws.parameter_store import SsmStore
from strongref.aws.retry_and_rate_limit import RateLimiter, RateLimits
from strongref.contract.continuation import SERVICE_TIMEOUT, Continuation
from strongref.contract.event import Event, RequestType
from strongref.contract.response import Response
from strongref.errors import ServiceTimeoutError, StrongRefError, UnfinishedError
from strongref.protocol.claims import ClaimAttempt
from strongref.protocol.exports import Exporter
from strongref.protocol.imports import Importer
from strongref.protocol.ports import Ports, StackInfo
from strongref.protocol.time import Patience
from strongref.runtime.clock import RESPONSE_SECONDS
from strongref.runtime.custom_resource import is_failed_create
from strongref.runtime.wiring import PATIENCE, PATIENCE_TO_CREATE_AN_IMPORT, PAUSE
from tests.support.fake_ssm import EPOCH
from tests.support.fuzz_baton import At, Runner

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from strongref.contract.names import Key
    from strongref.contract.values import Value
    from strongref.protocol.time import Clock
    from tests.support.fuzz_cloud import SteppedCloud

FUNCTION_SECONDS = 900.0
"""The functions' time-out."""

ANSWERS = "answers"
"""Where an invocation stands that has come to its end."""


class NeverAnsweredError(StrongRefError):
    """CloudFormation has waited for `ServiceTimeout`."""


@dataclass(eq=False)
class Request:
    """What CloudFormation asks for, until it is answered.

    Attributes:
        event: as sent.
        operation: who waits for the answer.
        running: the invocations for it that are alive.
        outcome: the first answer.
        held: what an import holds with that.
    """

    event: Event
    operation: Runner
    running: list[Invocation] = field(default_factory=list)
    outcome: Response | StrongRefError | None = None
    held: Mapping[Key, Value] = field(default_factory=dict)


@dataclass(eq=False)
class Invocation:
    """One invocation of a function: its clock and its view of the cloud.

    Attributes:
        request: what it is for.
        event: what it was given.
        ends: when its time is up, in the baton's seconds.
        listened_to: its answer counts: it has not handed over.
        held: what it imports.
        runner: its thread.
        turn: which of the invocations for its event it is.
    """

    cloud: SteppedCloud
    request: Request
    event: Event
    ends: float
    listened_to: bool = True
    held: Mapping[Key, Value] = field(default_factory=dict)
    runner: Runner = field(init=False)
    continuation: Continuation = field(init=False)

    def __post_init__(self) -> None:
        self.continuation = self.event.continuation or Continuation(1, self.now(), SERVICE_TIMEOUT)

    # -- ports.Clock ---------------------------------------------------------------------------------------------

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.cloud.baton.seconds)

    def sleep(self, seconds: float) -> None:
        self.runner.wakes = self.cloud.baton.seconds + seconds
        self.runner.stop(At.PAUSE, "pauses")

    def remaining(self) -> float:
        return self.ends - self.cloud.baton.seconds

    def renew(self) -> None:
        """Nothing to renew."""

    # -- ports.Stacks --------------------------------------------------------------------------------------------

    def by_arn(self, arn: str) -> StackInfo | None:
        self.runner.stop(At.CALL, f"DescribeStacks {arn.split('/')[1]}")
        return self.cloud.by_arn(arn)

    def by_name(self, name: str, region: str) -> StackInfo | None:
        self.runner.stop(At.CALL, f"DescribeStacks {name}")
        return self.cloud.by_name(name, region)

    def physical_ids(self, arn: str) -> frozenset[str]:
        self.runner.stop(At.CALL, f"ListStackResources {arn.split('/')[1]}")
        return self.cloud.physical_ids(arn)

    # -- what it is wired to -------------------------------------------------------------------------------------

    def stores(self, region: str, clock: Clock) -> SsmStore:
        limiter = RateLimiter(RateLimits(1e6, 1e6, 1e6, 1e6, 1e6))
        return SsmStore(_Client(self, region), region, limiter, clock, lambda: 0.0)  # type: ignore[arg-type]

    def handle(self) -> Response:
        """What the real use case answers."""
        if self.event.request_type is RequestType.DELETE and is_failed_create(self.event.physical_id):
            return Response(self.event.physical_id or "")
        imports = "From" in self.event.properties
        create = self.event.request_type is RequestType.CREATE
        patience = Patience(PATIENCE_TO_CREATE_AN_IMPORT if imports and create else PATIENCE, PAUSE, lambda: 0.5)
        ports = Ports(self.stores, self, patience, self.cloud.token)
        return (Importer(ports) if imports else Exporter(ports)).handle(self.event, self)

    def work(self) -> None:
        """Carry the event out, and answer or hand over, as `resource.CustomResource` does."""
        self.ends = self.cloud.baton.seconds + self._time()
        outcome: Response | StrongRefError
        try:
            outcome = self.handle()
        except UnfinishedError as error:
            if self.listened_to and self.continuation.may_continue(self.now()):
                self.hand_over()
                return
            outcome = ServiceTimeoutError(self.continuation.invocation, self.continuation.timeout, error)
        except StrongRefError as error:
            outcome = error
        self.runner.stop(At.CALL, ANSWERS)  # time passes before CloudFormation gets to know it
        if self.listened_to and self.request.outcome is None:
            self.request.outcome = outcome
            self.request.held = self.held

    def hand_over(self) -> None:
        """Another invocation goes on; this one makes at most the call that it is about to make."""
        following = Continuation(self.continuation.invocation + 1, self.continuation.since, self.continuation.timeout)
        self.listened_to = False
        self.ends = self.cloud.baton.seconds
        self.cloud.invoke(self.request, replace(self.event, continuation=following))

    def _time(self) -> float:
        return min(FUNCTION_SECONDS, self.continuation.seconds_left(self.now())) - RESPONSE_SECONDS


class _Client:
    """An SSM client that stops before each call."""

    def __init__(self, invocation: Invocation, region: str) -> None:
        self._invocation = invocation
        self._region = region

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:  # noqa: ANN401
            target = request.get("Name") or request.get("ResourceId") or request.get("Path") or request.get("Names")
            self._invocation.runner.stop(At.CALL, f"{method} {target} in {self._region}".replace("/strongref/", ""))
            cloud = self._invocation.cloud
            cloud.about_to(self._invocation, method, self._region, request)
            return getattr(cloud.ssm(self._region), method)(**request)

        return call


def remember_held() -> tuple[type[ClaimAttempt], str, Callable[[ClaimAttempt], Mapping[Key, Value]]]:
    """For `patch.object`: what an import holds is noted with its invocation, secure values included."""
    hold = ClaimAttempt.hold

    def holding(claiming: ClaimAttempt) -> Mapping[Key, Value]:
        held = hold(claiming)
        if isinstance(claiming.clock, Invocation):
            claiming.clock.held = held
        return held

    return ClaimAttempt, "hold", holding
