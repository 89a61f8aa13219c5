"""One account: its regions' parameters, its stacks, and CloudFormation that asks the real functions for changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from strongref.contract.event import RequestType
from strongref.contract.names import StackArn, claim_tag, short_hash
from strongref.contract.requests import ImportRequest
from strongref.protocol.imports import PHYSICAL_ID_PREFIX, physical_id
from tests.support.builders import ACCOUNT, stack_arn
from tests.support.fake_ssm import FakeSsm, Snapshot
from tests.support.faults.formation import DELETED, EXPORT, IMPORT, FakeCloudFormation, Resource, Stack
from tests.support.faults.functions import SECONDS, Delivery, Functions
from tests.support.faults.passing import Time
from tests.support.faults.state import FENCES, Name, State, stored
from tests.support.faults.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Mapping

SECRET = "zz-"
"""What every value's text has in it, and the presigned URL: nothing printed may."""

FUNCTIONS = {EXPORT: "exporter", IMPORT: "importer"}
CLEAN_UP = "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"
ROLL_BACK = "UPDATE_ROLLBACK_IN_PROGRESS"
ROLL_BACK_CLEAN_UP = "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS"


@dataclass(frozen=True)
class Request:
    """What CloudFormation asks of a function: a change of one resource."""

    kind: RequestType
    stack: str
    logical_id: str
    properties: Mapping[str, Any]
    physical_id: str = ""
    old: Mapping[str, Any] | None = None

    @property
    def type(self) -> str:
        return IMPORT if "From" in self.properties else EXPORT

    @property
    def function(self) -> str:
        return FUNCTIONS[self.type]

    @property
    def region(self) -> str:
        return StackArn.parse(self.stack).region

    @property
    def lets_go(self) -> str:
        """The tag of the claim that is to be let go, if that is what is asked for."""
        if self.kind is not RequestType.DELETE or self.type == EXPORT:
            return ""
        if self.physical_id.startswith(PHYSICAL_ID_PREFIX):
            return claim_tag(self.physical_id)
        stack = StackArn.parse(self.stack)  # the id is CloudFormation's, since the Create was never answered
        return claim_tag(physical_id(stack, self.logical_id, ImportRequest.parse(self.properties, stack)))

    def outcome(self, delivery: Delivery) -> str:
        return delivery.status

    def event(self) -> dict[str, Any]:
        """What the function gets; the same whenever it is delivered."""
        number = short_hash(repr(self))
        event: dict[str, Any] = {
            "RequestType": self.kind.value,
            "StackId": self.stack,
            "LogicalResourceId": self.logical_id,
            "RequestId": f"request-{number}",
            "ResponseURL": f"https://answers.example/{number}?X-Amz-Signature={SECRET}signature",
            "ResourceType": self.type,
            "ResourceProperties": {"ServiceToken": "token", **self.properties},
        }
        if self.kind is not RequestType.CREATE:
            event["PhysicalResourceId"] = self.physical_id
        if self.old is not None:
            event["OldResourceProperties"] = {"ServiceToken": "token", **self.old}
        return event


@dataclass(frozen=True)
class Visit:
    """What a schedule asks of the janitor: to look after a region. Nobody is answered."""

    region: str

    function = "janitor"
    lets_go = ""

    def event(self) -> dict[str, Any]:
        """What the function gets."""
        return {}

    def outcome(self, delivery: Delivery) -> str:
        if delivery.died:
            return "NONE"
        return "FAILED" if delivery.raised else "SUCCESS"


@dataclass(frozen=True)
class Moment:
    """A whole world, to go back to."""

    seconds: float
    stacks: Mapping[str, Stack]
    parameters: Mapping[str, Snapshot]


class World:
    """One account, as it is right now."""

    def __init__(self, seconds: float = SECONDS) -> None:
        """Make an empty one.

        Args:
            seconds: how long its functions may run.
        """
        self.time = Time()
        self.stacks: dict[str, Stack] = {}
        self.regions: dict[str, FakeSsm] = {}
        self.functions = Functions(
            self.time,
            {
                "ssm": self.ssm,
                "cloudformation": lambda region: FakeCloudFormation(region, self.stacks),
                "functions": lambda _region: self.functions,
            },
        )
        self._seconds = seconds
        self._numbers = count(1)

    def ssm(self, region: str) -> FakeSsm:
        if region not in self.regions:
            self.regions[region] = FakeSsm(region, ACCOUNT)
        return self.regions[region]

    def moment(self) -> Moment:
        parameters = {region: ssm.snapshot() for region, ssm in self.regions.items()}
        return Moment(self.time.seconds, dict(self.stacks), parameters)

    def go_back(self, moment: Moment) -> None:
        self.time.seconds = moment.seconds
        self.stacks.clear()
        self.stacks.update(moment.stacks)
        for region, ssm in self.regions.items():
            ssm.restore(moment.parameters.get(region, frozenset()))

    # -- what is there -------------------------------------------------------------------------------------------

    def state(self) -> State:
        return State.of(self.regions)

    def fences(self) -> frozenset[Name]:
        return frozenset(name for name, _ in stored(self.regions) if name[1].startswith(FENCES))

    def find(self, name: str, region: str) -> Stack | None:
        """The stack of that name that is there."""
        for stack in self.stacks.values():
            if (stack.name, stack.region) == (name, region) and stack.status != DELETED:
                return stack
        return None

    def stack(self, name: str, region: str) -> Stack:
        """The stack of that name, which has to be there."""
        found = self.find(name, region)
        assert found
        return found

    def holds(self, tag: str, arn: str) -> bool:
        """Whether a claim of that tag protects: its stack is at work, or has that generation of an import."""
        stack = self.stacks.get(arn)
        if stack is None or stack.status == DELETED:
            return False
        ids = [each.physical_id for each in (*stack.resources.values(), *stack.pending.values())]
        return stack.status.endswith("_IN_PROGRESS") or tag in map(claim_tag, ids)

    # -- what CloudFormation does --------------------------------------------------------------------------------

    def new_stack(self, name: str, region: str, root: str = "") -> Stack:
        arn = stack_arn(name, region, unique=f"{next(self._numbers):08d}")
        self.stacks[arn] = Stack(arn, "CREATE_IN_PROGRESS", root)
        return self.stacks[arn]

    def in_phase(self, arn: str, status: str) -> None:
        """A stack goes over to another phase."""
        self.stacks[arn] = replace(self.stacks[arn], status=status)

    def ask(self, request: Request | Visit, wire: Wire | None = None) -> Delivery:
        """Deliver an event, once; what CloudFormation makes of the answer is left to `note`."""
        wire = wire or Wire(self.time)
        return self.functions.deliver(request.function, request.region, request.event(), wire, self._seconds)

    def note(self, request: Request | Visit, delivery: Delivery) -> None:
        """CloudFormation has an answer, or has waited in vain: what it tells of the resource from now on."""
        if isinstance(request, Visit):
            return
        stack = self.stacks[request.stack]
        done = delivery.status == "SUCCESS"
        now = str(delivery.answer["PhysicalResourceId"]) if delivery.answer else request.physical_id
        if request.kind is RequestType.DELETE:
            listed = stack.resources.get(request.logical_id)
            if done and listed and listed.physical_id == request.physical_id:
                stack = stack.having(request.logical_id, None)
        elif done or request.kind is RequestType.CREATE:
            status = f"{request.kind.value.upper()}_{'COMPLETE' if done else 'FAILED'}"
            stack = stack.having(request.logical_id, Resource(request.type, request.properties, now, status))
        self.stacks[stack.arn] = stack

    def must(self, request: Request) -> None:
        """Deliver an event that has to succeed."""
        delivery = self.ask(request)
        assert delivery.status == "SUCCESS", delivery.answer or delivery.errors
        self.note(request, delivery)

    def deploy(self, stack: Stack, wanted: Mapping[str, Mapping[str, Any]], *, clean_up: bool = True) -> None:
        """Create or update a stack's resources; leave it in its clean-up phase, or at rest."""
        arn, before = stack.arn, dict(stack.resources)
        for logical_id, properties in wanted.items():
            old = before.get(logical_id)
            if old is None:
                self.must(Request(RequestType.CREATE, arn, logical_id, properties))
            elif old.properties != properties:
                update = RequestType.UPDATE
                self.must(Request(update, arn, logical_id, properties, old.physical_id, old.properties))
        now = self.stacks[arn].resources
        pending = {
            logical_id: old
            for logical_id, old in before.items()
            if logical_id not in wanted or now[logical_id].physical_id != old.physical_id
        }
        kept = {logical_id: now[logical_id] for logical_id in wanted}
        self.stacks[arn] = Stack(arn, CLEAN_UP, stack.root, kept, pending)
        if not clean_up:
            return
        for logical_id, old in pending.items():
            self.must(Request(RequestType.DELETE, arn, logical_id, old.properties, old.physical_id))
        created = stack.status == "CREATE_IN_PROGRESS"
        self.stacks[arn] = Stack(arn, "CREATE_COMPLETE" if created else "UPDATE_COMPLETE", stack.root, kept)
