"""Scenarios as data: what brings the world there, and the one event that is then tried with every fault."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from strongref.contract.event import RequestType
from strongref.contract.names import PRODUCER_TAG
from tests.support.builders import ACCOUNT
from tests.support.faults.formation import DELETED
from tests.support.faults.functions import SECONDS
from tests.support.faults.world import CLEAN_UP, ROLL_BACK, SECRET, Request, Visit, World

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.faults.state import Name

Resources = dict[str, dict[str, Any]]

EU, US, AP = "eu-west-1", "us-east-1", "ap-southeast-2"


def exports(values: dict[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Properties of an Export to the stack web in us-east-1."""
    return {"Region": US, "Consumer": "web", "Values": values} | more


def imports(*names: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Properties of an Import from the stack network in eu-west-1."""
    return {"From": {"Stack": "network", "Region": EU}} | ({"Names": list(names)} if names else {}) | more


def text(value: str) -> str:
    """A value's text, that one would recognise anywhere."""
    return f"{SECRET}{value}"


def at(key: str, consumer: str = "web", region: str = US) -> Name:
    """Where the value of the stack network stands that has this key."""
    return region, f"/strongref/exports/{consumer}/{ACCOUNT}/{EU}/network/{key}"


class Step(Protocol):
    """Something that happens before."""

    def take(self, world: World) -> None: ...


@dataclass(frozen=True)
class Deploy:
    """A stack is created or updated, and comes to rest; unless it is to stay in its clean-up phase."""

    name: str
    region: str
    resources: Resources
    root: str = ""
    clean_up: bool = True

    def take(self, world: World) -> None:
        stack = world.find(self.name, self.region)
        if stack:
            world.in_phase(stack.arn, "UPDATE_IN_PROGRESS")
            stack = world.stacks[stack.arn]
        else:
            root = world.find(self.root, self.region) if self.root else None
            stack = world.new_stack(self.name, self.region, root.arn if root else "")
        world.deploy(stack, self.resources, clean_up=self.clean_up)


@dataclass(frozen=True)
class Vanish:
    """A stack is deleted, and everything in it retained."""

    name: str
    region: str

    def take(self, world: World) -> None:
        stack = world.stack(self.name, self.region)
        world.stacks[stack.arn] = replace(stack, status=DELETED, resources={})


@dataclass(frozen=True)
class Withdraw:
    """An Export that was taken out of its stack is deleted, which fails for its claimed values; the stack rests."""

    name: str
    region: str
    logical_id: str

    def take(self, world: World) -> None:
        stack = world.stack(self.name, self.region)
        old = stack.pending[self.logical_id]
        delivery = world.ask(Request(RequestType.DELETE, stack.arn, self.logical_id, old.properties, old.physical_id))
        assert delivery.status == "FAILED"
        world.stacks[stack.arn] = replace(stack, status="UPDATE_COMPLETE", pending={})


@dataclass(frozen=True)
class Unanswered:
    """CloudFormation never got the answer to a Create, though it succeeded, and has made up a physical id."""

    name: str
    region: str
    logical_id: str

    def take(self, world: World) -> None:
        stack = world.stack(self.name, self.region)
        made_up = f"{self.name}-{self.logical_id}-1ABCDEF"
        resource = replace(stack.resources[self.logical_id], physical_id=made_up, status="CREATE_FAILED")
        world.stacks[stack.arn] = stack.having(self.logical_id, resource)


@dataclass(frozen=True)
class Phase:
    """A stack goes over to a phase of its own."""

    name: str
    region: str
    status: str

    def take(self, world: World) -> None:
        stack = world.stack(self.name, self.region)
        world.in_phase(stack.arn, self.status)


@dataclass(frozen=True)
class Erase:
    """Somebody deletes a parameter by hand."""

    name: Name

    def take(self, world: World) -> None:
        region, name = self.name
        world.ssm(region).delete_parameter(Name=name)


@dataclass(frozen=True)
class Foreign:
    """Somebody's parameter; with a stack's name, tagged as that one's."""

    name: Name
    producer: str = ""

    def take(self, world: World) -> None:
        owner = world.find(self.producer, EU) if self.producer else None
        tags = {"team": "theirs"} | ({PRODUCER_TAG: owner.arn} if owner else {})
        region, name = self.name
        world.ssm(region).put_parameter(
            Name=name,
            Type="String",
            Value=text("theirs"),
            Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
        )


@dataclass(frozen=True)
class Change:
    """The event that is tried.

    Attributes:
        name: the stack's.
        region: the stack's.
        logical_id: the resource's.
        properties: that it is to have; none: it is to be deleted.
        phase: the stack's status; by default that of the resource's first change.
    """

    name: str
    region: str
    logical_id: str
    properties: Mapping[str, Any] | None
    phase: str = ""

    def begin(self, world: World) -> Request:
        """Bring the stack into its phase; what the function is asked for."""
        stack = world.find(self.name, self.region) or world.new_stack(self.name, self.region)
        old = stack.resources.get(self.logical_id)
        if self.phase == CLEAN_UP:
            old = stack.pending[self.logical_id]
        if stack.status != "CREATE_IN_PROGRESS":
            world.in_phase(stack.arn, self.phase or ("UPDATE_IN_PROGRESS" if self.properties else "DELETE_IN_PROGRESS"))
        if old is None:
            assert self.properties
            return Request(RequestType.CREATE, stack.arn, self.logical_id, self.properties)
        if self.properties is None:
            return Request(RequestType.DELETE, stack.arn, self.logical_id, old.properties, old.physical_id)
        update = RequestType.UPDATE
        return Request(update, stack.arn, self.logical_id, self.properties, old.physical_id, old.properties)


@dataclass(frozen=True)
class Tend:
    """The janitor's visit that is tried."""

    region: str

    def begin(self, _world: World) -> Visit:
        return Visit(self.region)


@dataclass(frozen=True)
class Scenario:
    """An event, and all that is to be known to judge what came of it.

    Attributes:
        name: for people.
        before: what brings the world there.
        change: the event.
        claimed: the values that imports rely on, other than one that is to be deleted.
        foreign: the parameters that are nobody's to touch.
        ends: how the event ends if nothing goes wrong.
        propagates: claimed values change all the same; they keep their claims.
        mends: what is not as its record says is made right, and a roll-back may leave that so: a value put back, a
            dead stack's value taken over, a stale claim taken off.
        strands: a cut-off import may leave a claim that is stale as soon as its stack is at rest, and heals with the
            next change of the value.
        heals: what changes these values, and back.
        seconds: how long the functions may run.
        again: after how many seconds the event is delivered once more.
        environment: variables of the functions.
    """

    name: str
    before: tuple[Step, ...]
    change: Change | Tend
    claimed: tuple[Name, ...] = ()
    foreign: tuple[Name, ...] = ()
    ends: str = "SUCCESS"
    propagates: bool = False
    mends: bool = False
    strands: bool = False
    heals: tuple[Step, ...] = ()
    seconds: float = SECONDS
    again: float = 60.0
    environment: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    @property
    def same_again(self) -> bool:
        """Whether a failure is followed by the same event, as that of a Delete, or of an Update that rolls back."""
        return isinstance(self.change, Tend) or self.change.properties is None or self.change.phase == ROLL_BACK
