"""What the actors share: the store, the stacks that there are, and what CloudFormation was told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from strongref.protocol.ports import StackInfo
from tests.support.explorer.session import Session
from tests.support.fake_ssm import EPOCH, FakeSsm, Slot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from strongref.contract.event import Event
    from tests.support import fake_ssm
    from tests.support.explorer.actors import Actor

REGION = "us-east-1"
ACCOUNT = "111111111111"

VALUES = "/strongref/exports/"
FENCES = "/strongref/fences/"


class Told(NamedTuple):
    """An answer that CloudFormation took: the first to a request."""

    stack: str
    request: str
    actor: str
    physical_id: str
    """Empty: FAILED."""


class Snapshot(NamedTuple):
    """The world at one moment.

    Attributes:
        store: the parameters.
        stacks: the status of every stack that exists, by ARN.
        told: the answers that CloudFormation took, to requests that more than one actor may answer.
        deaths: how many actors may still die.
        handed_over: the names of the actors that have.
    """

    store: fake_ssm.Snapshot
    stacks: frozenset[tuple[str, str]]
    told: frozenset[Told]
    deaths: int
    handed_over: frozenset[str]


class World:
    """The store and the stacks, as the calls of whoever's turn it is change them."""

    def __init__(self, actors: Sequence[Actor], others: Mapping[str, str] | None = None) -> None:
        self.ssm = FakeSsm(REGION, ACCOUNT)
        self.statuses = {actor.stack: actor.status for actor in actors if actor.status} | dict(others or {})
        self.told: frozenset[Told] = frozenset()
        self.deaths = 0
        self.handed_over: frozenset[str] = frozenset()

    def stack(self, arn: str) -> StackInfo | None:
        return StackInfo(arn, arn.split("/")[1], self.statuses[arn], arn) if arn in self.statuses else None

    def stack_named(self, name: str, region: str) -> StackInfo | None:
        return next((self.stack(arn) for arn in self.statuses if arn.split("/")[1] == name and region in arn), None)

    def physical_ids(self, arn: str) -> frozenset[str]:
        """Of what CloudFormation was told; without what only one actor can tell, whom its own would not interest."""
        return frozenset(told.physical_id for told in self.told if told.stack == arn and told.physical_id)

    def tell(self, actor: Actor, event: Event, physical_id: str) -> None:
        """An actor answers an event; the first answer counts, and none of who has handed over."""
        heard = {(told.stack, told.request) for told in self.told}
        if actor.name not in self.handed_over and (event.stack, event.request_id) not in heard:
            self.told |= {Told(event.stack, event.request_id, actor.name, physical_id)}

    def snapshot(self) -> Snapshot:
        """Nobody reads the versions and dates of fences and records: as long as they differ, so would the states."""
        slots = self.ssm._slots
        for name in [name for name in slots if not name.startswith(VALUES)]:
            record = slots[name].record
            if record is None:
                del slots[name]
            else:
                slots[name] = Slot(1, record._replace(version=1, modified=EPOCH))
        self.ssm._frozen = None
        return Snapshot(self.ssm.snapshot(), frozenset(self.statuses.items()), self.told, self.deaths, self.handed_over)

    def restore(self, snapshot: Snapshot) -> None:
        self.ssm.restore(snapshot.store)
        self.statuses = dict(snapshot.stacks)
        self.told = snapshot.told
        self.deaths = snapshot.deaths
        self.handed_over = snapshot.handed_over

    def drop_fences(self, actor: Actor) -> None:
        """In time the fences of who has died are void."""
        for name in list(self.ssm._slots):
            if name.startswith(FENCES) and name.endswith(f".{actor.name}"):
                del self.ssm._slots[name]
        self.ssm._frozen = None


class Direct(Session):
    """A session whose calls are carried out at once, for what is not interleaved with anything."""

    def __init__(self, world: World, name: str = "direct") -> None:
        super().__init__(name, ())
        self.world = world

    def ask(self, operation: object, perform: Callable[[World], Any]) -> Any:  # noqa: ANN401
        del operation
        return perform(self.world)
