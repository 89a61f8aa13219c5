"""Scenarios as data: what brings the world there, and the one event that is then tried with every fault."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from strongref.contract.event import RequestType
from strongref.contract.names import PRODUCER_TAG, Site, claim_tag
from tests.support.abroad import OTHER
from tests.support.builders import ACCOUNT, stack_arn
from tests.support.cloudformation.stacks import CLEANUP, DELETING, ROLLBACK, made_up_id
from tests.support.faults.functions import SECONDS
from tests.support.faults.world import SECRET, JanitorVisit, World

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.cloudformation.requests import ResourceRequest
    from tests.support.invariants import Name

Resources = dict[str, dict[str, Any]]

EU, US, AP = "eu-west-1", "us-east-1", "ap-southeast-2"


def exports(values: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Properties of an Export to the stack web in us-east-1."""
    return {"Region": US, "Consumer": "web", "Values": values} | more


def imports(*names: str, **more: Any) -> dict[str, Any]:
    """Properties of an Import from the stack network in eu-west-1."""
    return {"From": {"Stack": "network", "Region": EU}} | ({"Names": list(names)} if names else {}) | more


def text(value: str) -> str:
    """A value's text, which can be found wherever it shows up."""
    return f"{SECRET}{value}"


def at(key: str, consumer: str = "web", region: str = US, account: str = "") -> Name:
    """The parameter with this key of the stack network."""
    return str(Site(region, account)), f"/strongref/exports/{consumer}/{ACCOUNT}/{EU}/network/{key}"


FOREIGN = (at("Theirs"), (US, f"/strongref/exports/web-2/{ACCOUNT}/{EU}/network/A"))
"""Parameters that are not strongref's, next to its own; in every scenario."""


class Step(Protocol):
    """Something that happens before."""

    def take(self, world: World) -> None: ...


@dataclass(frozen=True)
class StackStep:
    """Something that happens to a stack."""

    name: str
    region: str


@dataclass(frozen=True)
class Deploy(StackStep):
    """A stack is created or updated, and comes to rest; unless it stays in its cleanup phase."""

    resources: Resources
    root: str = ""
    cleanup: bool = True

    def take(self, world: World) -> None:
        root = world.stack(self.root, self.region).arn if self.root else ""
        stack = world.deploy(self.name, self.region, self.resources, root=root, cleanup=self.cleanup)
        assert not stack.reasons, stack.reasons


@dataclass(frozen=True)
class Vanish(StackStep):
    """A stack is deleted, and its resources are retained."""

    def take(self, world: World) -> None:
        world.vanish(self.name, self.region)


@dataclass(frozen=True)
class Withdraw(StackStep):
    """A stack's cleanup phase ends, and the Delete of an Export in it fails for its claimed values."""

    def take(self, world: World) -> None:
        stack = world.stack(self.name, self.region)
        world.clean_up(stack)
        assert len(stack.reasons) == 1
        stack.reasons.clear()


@dataclass(frozen=True)
class Unanswered(StackStep):
    """CloudFormation never got the answer to a Create, which succeeded, and made up a physical ID."""

    logical_id: str

    def take(self, world: World) -> None:
        stack = world.stack(self.name, self.region)
        resource = stack.resources[self.logical_id]
        create = stack.request(RequestType.CREATE, self.logical_id, resource.properties)
        stack.fail(create, made_up_id(create))


@dataclass(frozen=True)
class FailStacks:
    """From now on no hold stack can be made."""

    def take(self, world: World) -> None:
        world.fail_stacks("no more stacks")


@dataclass(frozen=True)
class Phase(StackStep):
    """A stack enters another phase."""

    status: str

    def take(self, world: World) -> None:
        world.stack(self.name, self.region).status = self.status


@dataclass(frozen=True)
class Erase:
    """Somebody deletes a parameter by hand."""

    name: Name

    def take(self, world: World) -> None:
        region, name = self.name
        world.ssm(region).delete_parameter(Name=name)


@dataclass(frozen=True)
class Claim:
    """A stack of another account imports a value there."""

    name: Name

    def take(self, world: World) -> None:
        site, name = self.name
        tag = {"Key": claim_tag("web's import"), "Value": stack_arn("web", US, OTHER)}
        world.ssm(site).add_tags_to_resource(ResourceType="Parameter", ResourceId=name, Tags=[tag])


@dataclass(frozen=True)
class Distrust:
    """From now on an account does not let this one in."""

    account: str

    def take(self, world: World) -> None:
        world.untrusting.add(self.account)


@dataclass(frozen=True)
class Lock:
    """From now on the KMS key of a region cannot be used."""

    region: str

    def take(self, world: World) -> None:
        world.ssm(self.region).lock()


@dataclass(frozen=True)
class Foreign:
    """A parameter that is not strongref's; with a stack's name, tagged as that stack's."""

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
        properties: that it is to have; None: it is to be deleted.
        phase: the stack's status; by default that of the resource's first change.
    """

    name: str
    region: str
    logical_id: str
    properties: Mapping[str, Any] | None
    phase: str = ""

    def begin(self, world: World) -> ResourceRequest:
        """Bring the stack into its phase; what the function is asked for."""
        stack = world.find(self.name, self.region)
        if stack is None:
            stack = world.new_stack(self.name, self.region)
        elif self.phase:
            stack.status = self.phase
        elif self.properties is None:
            stack.status = DELETING
        else:
            stack.begin_update()
        old = (stack.replaced if self.phase == CLEANUP else stack.resources).get(self.logical_id)
        if old is None:
            return stack.request(RequestType.CREATE, self.logical_id, self.properties)
        if self.properties is None:
            return stack.request(RequestType.DELETE, self.logical_id, old.properties, old.physical_id)
        return stack.request(RequestType.UPDATE, self.logical_id, self.properties, old.physical_id, old.properties)


@dataclass(frozen=True)
class Tend:
    """The janitor's visit that is tried."""

    region: str

    def begin(self, _world: World) -> JanitorVisit:
        return JanitorVisit(self.region)


@dataclass(frozen=True)
class Scenario:
    """An event, and all that is needed to judge its outcome.

    Attributes:
        name: for people.
        before: what brings the world there.
        change: the event.
        claimed: the values that imports rely on, other than one that is to be deleted.
        foreign: more parameters that must not be touched.
        ends: how the event ends if nothing goes wrong.
        propagates: claimed values change anyway; they keep their claims.
        mends: what is not as its record says is made right, and a rollback may leave it so: a value put back, a
            deleted stack's value adopted, a stale claim removed.
        strands: an interrupted import may leave a claim that is stale as soon as its stack is at rest, and that the
            next change of the value removes.
        heals: what changes these values, and back.
        writes_nothing: it is refused before anything is written anywhere, whatever else goes wrong.
        may_lack_hold: an import that must not fail goes on without its hold, which the janitor makes.
        seconds: how long the functions may run.
        again: after how many seconds the event is delivered again.
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
    writes_nothing: bool = False
    may_lack_hold: bool = False
    seconds: float = SECONDS
    again: float = 60.0
    environment: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    @property
    def same_again(self) -> bool:
        """Whether a failure is followed by the same event, as that of a Delete, or of an Update that rolls back."""
        return isinstance(self.change, Tend) or self.change.properties is None or self.change.phase == ROLLBACK
