"""One account: its regions' parameters, and CloudFormation that delivers raw events to the real functions."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from strongref.contract.continuation import service_timeout
from strongref.contract.event import RequestType
from strongref.contract.names import StackArn, claim_tag, short_hash
from strongref.contract.origin import requested_at
from strongref.contract.requests import ImportRequest
from strongref.contract.response import Response
from strongref.errors import StrongRefError
from strongref.protocol.imports import PHYSICAL_ID_PREFIX, physical_id
from tests.support import orders
from tests.support.abroad import SessionClients
from tests.support.builders import ACCOUNT
from tests.support.cloudformation.client import CloudFormationClient
from tests.support.cloudformation.operations import CloudFormation
from tests.support.cloudformation.requests import IMPORT, SIGNED_FORMAT, ResourceRequest
from tests.support.cloudformation.stacks import DELETED, FakeStack, made_up_id
from tests.support.fake_ssm import error
from tests.support.faults.fake_time import FakeTime
from tests.support.faults.functions import SECONDS, Delivery, Functions
from tests.support.faults.state import AccountState
from tests.support.faults.wire import Wire
from tests.support.invariants import FENCES, Name, stored
from tests.support.late_reads import Lateness, LateSsm, LateStacks, Past, PastStacks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from strongref.protocol.ports import SideBySide
    from tests.support.fake_ssm import Slot, Snapshot

SECRET = "zz-"
"""What every value's text contains, and the presigned URL: nothing printed may."""


@dataclass(eq=False)
class FailedDeliveryError(StrongRefError):
    """A function did not answer SUCCESS."""

    delivery: Delivery

    def __str__(self) -> str:
        return str(self.delivery.answer or self.delivery.errors)


@dataclass(frozen=True)
class JanitorVisit:
    """What a schedule asks of the janitor: to clean up a region. It has nobody to answer."""

    region: str


Request = ResourceRequest | JanitorVisit


@dataclass(frozen=True)
class Moment:
    """A whole world, to go back to."""

    seconds: float
    stacks: Mapping[str, FakeStack]
    parameters: Mapping[str, Snapshot]
    signed: Mapping[str, str]
    past_parameters: Mapping[str, Mapping[str, Past[Slot]]]
    past_stacks: PastStacks


class World(CloudFormation):
    """One account, as it is right now.

    Attributes:
        deliveries: of the requests that CloudFormation sent.
    """

    def __init__(self, seconds: float = SECONDS, lag: float = 0.0, side_by_side: SideBySide = orders.in_flight) -> None:
        """Make an empty one.

        Args:
            seconds: how long its functions may run.
            lag: by how many seconds reads may lag.
            side_by_side: as for `Functions`.
        """
        super().__init__()
        self.time = FakeTime()
        self._lateness = Lateness(lag, lambda: self.time.seconds)
        self._past = LateStacks(self._lateness)
        if lag:
            self.late_stacks = self._past
            self.time.before_passing = lambda: self._past.remember(self.stacks)
        self.regions: dict[str, LateSsm] = {}  # those of other accounts by the text of their sites
        self.untrusting: set[str] = set()  # accounts that do not let this one in
        self.deliveries: list[Delivery] = []
        self.functions = Functions(
            self.time,
            {
                "ssm": self.ssm,
                "sts": lambda _region: SessionClients(self._let_in, lambda *_: None),
                "cloudformation": lambda region: CloudFormationClient(region, self),
                "functions": lambda _region: self.functions,
            },
            side_by_side,
        )
        self._seconds = seconds
        self._signed: dict[str, str] = {}  # when each request was sent

    def now(self) -> datetime:
        return self.time.now()

    def ssm(self, region: str) -> LateSsm:
        if region not in self.regions:
            self.regions[region] = LateSsm(region, ACCOUNT, self._lateness, clock=self.now)
        return self.regions[region]

    def _let_in(self, account: str) -> None:
        """Let a session of an account's role begin, unless nobody gets there."""
        if account in self.untrusting:
            raise error("AccessDenied", "no", "AssumeRole")
        for at, ssm in self.regions.items():
            if at.endswith(account) and ssm.before_call:
                ssm.before_call("AssumeRole", {})
                return

    def moment(self) -> Moment:
        stacks = {arn: stack.copy() for arn, stack in self.stacks.items()}
        parameters = {region: ssm.snapshot() for region, ssm in self.regions.items()}
        past = {region: dict(ssm.past) for region, ssm in self.regions.items()}
        return Moment(self.time.seconds, stacks, parameters, dict(self._signed), past, self._past.moment())

    def go_back(self, moment: Moment) -> None:
        self.time.seconds = moment.seconds
        self._signed = dict(moment.signed)
        self.stacks = {arn: stack.copy() for arn, stack in moment.stacks.items()}
        self.numbers = count(len(self.stacks) + 1)  # as after the steps before, however often it is gone back
        self._past.go_back(moment.past_stacks)
        for region, ssm in self.regions.items():
            ssm.restore(moment.parameters.get(region, frozenset()))
            ssm.past = dict(moment.past_parameters.get(region, {}))

    def state(self) -> AccountState:
        return AccountState.of(self.regions)

    def holds(self) -> frozenset[tuple[str, frozenset[str]]]:
        """The hold stacks that exist, by name, with what each holds."""
        living = (stack for stack in self.stacks.values() if stack.imports and stack.status != DELETED)
        return frozenset((stack.name, stack.imports) for stack in living)

    def fences(self) -> frozenset[Name]:
        """The fences, without those of new Exports, which expire by themselves as soon as reads show the values."""
        soon = self.now() + timedelta(seconds=2 * self._lateness.seconds)
        return frozenset(
            name
            for name, found in stored(self.regions).items()
            if name[1].startswith(FENCES) and datetime.fromisoformat(json.loads(found.text)["until"]) > soon
        )

    def protects(self, tag: str, arn: str) -> bool:
        """Whether a claim of that tag protects: its stack is at work, or has that generation of an import.

        Nobody here knows that of a stack of another account.
        """
        if StackArn.parse(arn).account != ACCOUNT:
            return True
        stack = self.existing(arn)
        if stack is None:
            return False
        resources = (*stack.resources.values(), *stack.replaced.values())
        return stack.status.endswith("_IN_PROGRESS") or tag in (claim_tag(each.physical_id) for each in resources)

    def send(self, request: ResourceRequest) -> Response:
        delivery = self.deliver(request)
        self.deliveries.append(delivery)
        if not delivery.answer or delivery.status != "SUCCESS":
            raise FailedDeliveryError(delivery)
        return Response(delivery.answer["PhysicalResourceId"], delivery.answer["Data"])

    def deliver(self, request: Request, wire: Wire | None = None) -> Delivery:
        """Deliver an event, once; `note` gives CloudFormation the outcome."""
        wire, raw = wire or Wire(self.time), self._raw(request)
        self._lateness.random.seed(0)  # the same reads lag in each run
        if isinstance(request, JanitorVisit):
            return self.functions.deliver("janitor", request.region, raw, wire, self._seconds)
        function = "importer" if request.type == IMPORT else "exporter"
        with self.stacks[request.stack].asking(request, requested_at(raw["ResponseURL"])):
            return self.functions.deliver(function, request.region, raw, wire, self._seconds)

    def is_over(self, request: Request) -> bool:
        """Whether CloudFormation has stopped waiting for the answer to what it sent."""
        if isinstance(request, JanitorVisit):
            return False
        sent = requested_at(self._raw(request)["ResponseURL"])
        return sent is not None and (self.now() - sent).total_seconds() >= service_timeout(request.properties)

    def _raw(self, request: Request) -> dict[str, Any]:
        """What the function gets; the same whenever it is delivered."""
        if isinstance(request, JanitorVisit):
            return {}
        number = _number(request)
        signed = self._signed.setdefault(number, self.time.now().strftime(SIGNED_FORMAT))
        return request.raw(f"request-{number}-{signed}", signed=signed, signature=f"{SECRET}signature")

    def note(self, request: Request, delivery: Delivery) -> None:
        """CloudFormation has an answer, or has waited in vain."""
        if isinstance(request, JanitorVisit):
            return
        stack, answer = self.stacks[request.stack], delivery.answer
        if answer and delivery.status == "SUCCESS":
            stack.succeed(request, answer["PhysicalResourceId"], answer["Data"])
        else:
            stack.fail(request, answer["PhysicalResourceId"] if answer else made_up_id(request))

    @contextmanager
    def counted(self) -> Iterator[dict[str, int]]:
        """How many calls are made to each region's store, as long as this lasts."""
        calls: dict[str, int] = {}

        def count(region: str) -> None:
            calls[region] = calls.get(region, 0) + 1

        with self._before_calls(count):
            yield calls

    @contextmanager
    def away(self, gone: str, at: int) -> Iterator[None]:
        """A region's store answers so many calls, and then denies all, as long as this lasts."""
        left = at

        def answer(region: str) -> None:
            nonlocal left
            left -= region == gone
            if region == gone and left < 0:
                raise error("AccessDeniedException", "no", "any")

        with self._before_calls(answer):
            yield

    @contextmanager
    def _before_calls(self, see: Callable[[str], None]) -> Iterator[None]:
        for region, ssm in self.regions.items():
            ssm.before_call = lambda *_, region=region: see(region)
        try:
            yield
        finally:
            for ssm in self.regions.values():
                ssm.before_call = None

    def status(self, request: Request) -> str:
        return "" if isinstance(request, JanitorVisit) else self.stacks[request.stack].status

    def is_at_rest(self, request: Request) -> bool:
        return not self.status(request).endswith(("_FAILED", "_IN_PROGRESS"))

    def undo(self, request: Request, *, again: bool) -> list[Delivery]:
        """Roll back the operation that a request was part of; the stack comes to rest.

        Args:
            request: what failed.
            again: it cannot be rolled back: the same is asked again.
        """
        self.deliveries = []
        self._signed.clear()  # what is asked again is another request
        if again or isinstance(request, JanitorVisit):
            self.deliveries.append(self.deliver(request))
            self.note(request, self.deliveries[0])
        else:
            stack = self.stacks[request.stack]
            with suppress(FailedDeliveryError):
                self.delete(stack.name, stack.region) if stack.status == "ROLLBACK_FAILED" else self.roll_back(stack)
        return self.deliveries


LEFT = re.compile(r'"finding": ?"(failed-call|unknown-claim)"|left for the next run')
"""What the janitor logs about what it could not look after, or could not put a fence around in time."""


def outcome(request: Request, delivery: Delivery) -> str:
    """`SUCCESS`, `FAILED`, or `NONE` where no answer came, or the janitor was killed.

    A janitor that could not look after something has left that to its next run.
    """
    if isinstance(request, ResourceRequest):
        return delivery.status
    if delivery.died:
        return "NONE"
    return "FAILED" if delivery.raised or LEFT.search(delivery.printed) else "SUCCESS"


def released_claim(request: Request) -> str:
    """The tag of the claim that a request releases; empty if it releases none."""
    if isinstance(request, JanitorVisit) or request.kind is not RequestType.DELETE or request.type != IMPORT:
        return ""
    if request.physical_id.startswith(PHYSICAL_ID_PREFIX):
        return claim_tag(request.physical_id)
    stack = StackArn.parse(request.stack)  # the Create was never answered, so CloudFormation made the ID up
    return claim_tag(physical_id(stack, request.logical_id, ImportRequest.parse(request.properties, stack)))


def _number(request: Request) -> str:
    """Tells requests apart that ask for different things."""
    return short_hash(repr((request, request.properties, request.old) if isinstance(request, ResourceRequest) else ""))
