"""What the actors share: the store, CloudFormation's stacks, and the answers that it took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.builders import ACCOUNT
from tests.support.cloudformation.stacks import FakeStack, FakeStacks
from tests.support.explorer.session import Session
from tests.support.fake_ssm import EPOCH, FakeSsm, Slot
from tests.support.invariants import EXPORTS, FENCES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from strongref.contract.event import Event
    from tests.support import fake_ssm
    from tests.support.explorer.actors import Actor

REGION = "us-east-1"


class TakenAnswer(NamedTuple):
    """An answer that CloudFormation took: the first to a request."""

    stack: str
    request: str
    actor: str
    physical_id: str
    """Empty: FAILED."""


class WorldState(NamedTuple):
    """The world at one moment.

    Attributes:
        store: the parameters.
        stacks: the status of every stack that exists, by ARN.
        answers: those that CloudFormation took, to requests that more than one actor may answer.
        deaths: how many actors may still die.
        handed_over: the names of the actors that have.
    """

    store: fake_ssm.Snapshot
    stacks: frozenset[tuple[str, str]]
    answers: frozenset[TakenAnswer]
    deaths: int
    handed_over: frozenset[str]


class World(FakeStacks):
    """The store and the stacks, as the calls of one actor after the other change them."""

    def __init__(self, actors: Sequence[Actor], others: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.ssm = FakeSsm(REGION, ACCOUNT)
        self.set_statuses({actor.stack: actor.status for actor in actors if actor.status} | dict(others or {}))
        self.answers: frozenset[TakenAnswer] = frozenset()
        self.deaths = 0
        self.handed_over: frozenset[str] = frozenset()

    def set_statuses(self, statuses: Mapping[str, str]) -> None:
        """From now on these stacks exist, and no others."""
        self.stacks = {arn: FakeStack(arn, status) for arn, status in statuses.items()}

    def set_status(self, arn: str, status: str) -> None:
        """A stack enters another phase."""
        self.stacks[arn] = FakeStack(arn, status)

    def physical_ids(self, arn: str) -> frozenset[str]:
        """From the answers taken. IDs that only one actor can answer with are left out: its own code never asks."""
        return frozenset(answer.physical_id for answer in self.answers if answer.stack == arn and answer.physical_id)

    def take(self, actor: Actor, event: Event, physical_id: str) -> None:
        """An actor answers an event. The first answer counts, unless its actor has handed over."""
        answered = {(answer.stack, answer.request) for answer in self.answers}
        if actor.name not in self.handed_over and (event.stack, event.request_id) not in answered:
            self.answers |= {TakenAnswer(event.stack, event.request_id, actor.name, physical_id)}

    def snapshot(self) -> WorldState:
        """The state; without the versions and dates of fences and records, which no code reads."""
        slots = self.ssm._slots
        for name in [name for name in slots if not name.startswith(EXPORTS)]:
            parameter = slots[name].parameter
            if parameter is None:
                del slots[name]
            else:
                slots[name] = Slot(1, parameter._replace(version=1, modified=EPOCH))
        self.ssm._frozen = None
        statuses = frozenset((arn, stack.status) for arn, stack in self.stacks.items())
        return WorldState(self.ssm.snapshot(), statuses, self.answers, self.deaths, self.handed_over)

    def restore(self, state: WorldState) -> None:
        self.ssm.restore(state.store)
        self.set_statuses(dict(state.stacks))
        self.answers = state.answers
        self.deaths = state.deaths
        self.handed_over = state.handed_over

    def expire_fences(self, actor: Actor) -> None:
        """In time the fences of an actor that died expire."""
        for name in list(self.ssm._slots):
            if name.startswith(FENCES) and name.endswith(f".{actor.name}"):
                del self.ssm._slots[name]
        self.ssm._frozen = None


class DirectSession(Session):
    """A session whose calls are carried out at once, for what is not interleaved with anything."""

    def __init__(self, world: World, name: str = "direct") -> None:
        super().__init__(name, ())
        self.world = world

    def ask(self, operation: object, perform: Callable[[World], Any]) -> Any:  # noqa: ANN401
        del operation
        return perform(self.world)
