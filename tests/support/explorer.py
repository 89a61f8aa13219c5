"""Every order in which the real exporter and importer can meet, call by call, over one in-memory Parameter Store.

An actor is the real code handling one CloudFormation event after the other. It is deterministic: which call it makes
next follows from what its calls answered so far. So an actor's state is that history, and is found again by running
its code anew over the recorded answers, up to the first call that has none (`_Suspended`). States of the world with
the same store and the same histories are one: that makes *every* order of calls a finite thing to walk through.

When an actor pauses, because somebody else is at work, both is tried: that it goes on, from the beginning, and that
its patience is at its end.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from botocore.exceptions import ClientError

from strongref.address import CLAIM_TAG, claim_tag
from strongref.claiming import Claiming
from strongref.errors import StrongRefError
from strongref.exports import Exports
from strongref.fence import Fence
from strongref.imports import Imports
from strongref.limiter import Limiter, Rates
from strongref.ports import Ports, StackInfo
from strongref.store import SsmStore
from tests.support.fake_ssm import EPOCH, FakeSsm, Slot

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from strongref.answer import Answer
    from strongref.event import Event
    from strongref.ports import Clock

REGION = "us-east-1"
ACCOUNT = "111111111111"

_NOW = datetime(2025, 6, 1, tzinfo=UTC)
_FENCE = Fence("somebody", _NOW + timedelta(minutes=1)).encode()
_PLENTY = 600.0

Operation = tuple[str, str, str]
"""What an actor does next: its kind (`ssm`, `stack` or `pause`), which call, and the request as text."""


class _Suspended(BaseException):
    """The actor's code has come to a call that has no recorded answer."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How an actor ended one event: `answer`, or `error` if it was refused."""

    answer: Answer | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody at work: the events it gets, one after the other while they succeed.

    Attributes:
        name: in reports.
        stack: the ARN of its stack; if it dies, that stack is gone.
        handle: the real code, given a session that answers its calls.
        events: CloudFormation's.
        status: its stack's, as CloudFormation tells it.
        holds: how to find, after the last event, the values that it relies on, if it does.
    """

    name: str
    stack: str
    handle: Callable[[Session, Event], Answer]
    events: Sequence[Event]
    status: str = "CREATE_IN_PROGRESS"
    stays: bool = False
    fences: bool = False


class Session:
    """Answers the calls of an actor's code from a history, as its SSM client, its CloudFormation and its clock."""

    def __init__(self, name: str, history: Sequence[Any]) -> None:
        self.name = name
        self.history = history
        self.at = 0
        self.pending: tuple[Operation, Callable[[World], Any]] | None = None
        self.memory: Callable[[], Hashable] = lambda: None
        self.remembered: Hashable = None

    def ask(self, operation: Operation, perform: Callable[[World], Any]) -> Any:  # noqa: ANN401
        if self.pending is not None:
            raise _Suspended
        if self.at < len(self.history):
            answer = self.history[self.at]
            self.at += 1
            if isinstance(answer, ClientError):
                raise answer
            return answer
        self.pending = (operation, perform)
        self.remembered = self.memory()
        raise _Suspended

    # ports.Clock
    def now(self) -> datetime:
        return _NOW

    def sleep(self, _seconds: float) -> None:
        raise AssertionError("nothing is throttled here, and a pause is an operation of its own")

    def remaining(self) -> float:
        return _PLENTY

    # ports.Stacks
    def by_arn(self, arn: str) -> StackInfo | None:
        return self.ask(("stack", "by_arn", arn), lambda world: world.stack(arn))  # type: ignore[no-any-return]

    def by_name(self, name: str, region: str) -> StackInfo | None:
        return self.ask(("stack", "by_name", name), lambda world: world.stack_named(name, region))  # type: ignore[no-any-return]

    def physical_ids(self, arn: str) -> frozenset[str]:
        """None: no stack comes to rest here, and no event is delivered twice."""
        del arn
        return frozenset()

    # what the use cases are wired to
    def stores(self, region: str, clock: Clock) -> SsmStore:
        limiter = Limiter(Rates(1e9, 1e9, 1e9, 1e9, 1e9))
        return SsmStore(_Client(self), region, limiter, clock, jitter=lambda: 0.0)  # type: ignore[arg-type]

    def token(self) -> str:
        return self.name

    def ports(self) -> Ports:
        return Ports(self.stores, self, _Pausing(self), self.token)  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Pausing:
    """Patience whose end is a choice of the explorer's."""

    session: Session

    def begin(self, _clock: Clock) -> _Pausing:
        return self

    def pause(self) -> bool:
        return bool(self.session.ask(("pause", "", ""), lambda _world: None))


class _Client:
    """An SSM client whose calls are the session's."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:  # noqa: ANN401
            return self._session.ask(
                ("ssm", method, repr(request)), lambda world: getattr(world.ssm, method)(**request)
            )

        return call


def exporter(session: Session, event: Event) -> Answer:
    """The real exporter, over a session."""
    return Exports(session.ports()).handle(event, session)


def importer(session: Session, event: Event) -> Answer:
    """The real importer, over a session."""
    made: Any = Claiming.__init__

    def remember(claiming: Claiming, *args: Any) -> None:  # noqa: ANN401
        made(claiming, *args)
        session.memory = lambda: (claiming._before, claiming._skip, frozenset(claiming._put_on))

    with patch.object(Claiming, "__init__", remember):
        return Imports(session.ports()).handle(event, session)


class World:
    """The store, and which stacks there are."""

    def __init__(self, actors: Sequence[Actor], others: Mapping[str, str] | None = None) -> None:
        self.ssm = FakeSsm(REGION, ACCOUNT)
        self.statuses = {actor.stack: actor.status for actor in actors} | dict(others or {})
        self.dead: frozenset[str] = frozenset()

    def stack(self, arn: str) -> StackInfo | None:
        if arn in self.dead or arn not in self.statuses:
            return None
        return StackInfo(arn, arn.split("/")[1], self.statuses[arn], arn)

    def stack_named(self, name: str, region: str) -> StackInfo | None:
        found = [arn for arn in self.statuses if arn.split("/")[1] == name and region in arn]
        return self.stack(found[0]) if found else None

    def snapshot(self) -> tuple[Any, frozenset[str]]:
        """Nobody reads the versions and dates of fences and records: as long as they differ, so would the states."""
        slots = self.ssm._slots
        for name in [name for name in slots if not name.startswith("/strongref/exports/")]:
            record = slots[name].record
            if record is None:
                del slots[name]
            else:
                slots[name] = Slot(1, record._replace(version=1, modified=EPOCH))
        self.ssm._frozen = None
        return self.ssm.snapshot(), self.dead

    def restore(self, snapshot: tuple[Any, frozenset[str]]) -> None:
        self.ssm.restore(snapshot[0])
        self.dead = snapshot[1]

    def bury(self, actor: Actor) -> None:
        """An actor is dead for good: in time its fences are void, and its stack is gone."""
        for name in list(self.ssm._slots):
            if name.startswith("/strongref/fences/") and name.endswith(f".{actor.name}"):
                del self.ssm._slots[name]
        self.ssm._frozen = None
        if not actor.fences:
            self.dead |= {actor.stack}


DEAD = 0
"""The node of an actor that died."""

_BITS = 24
_MASK = (1 << _BITS) - 1


@dataclass
class _Node:
    """An actor after a history: what it does next, or how its event ended."""

    actor: str
    event: int
    history: tuple[Any, ...]
    operation: Operation | None
    perform: Callable[[World], Any] | None
    finished: Finished | None
    remembered: Hashable
    after: dict[Hashable, int] = field(default_factory=dict)


@dataclass
class Report:
    """What an exploration found: how many states, and the first that must not be, as a story."""

    states: int
    lost: list[str] | None
    torn: list[str] | None
    refused: set[str]
    succeeded: set[str]

    @property
    def holds(self) -> bool:
        return self.lost is None and self.torn is None


class Explorer:
    """Walks through every order of the actors' calls from one beginning."""

    def __init__(self, actors: Sequence[Actor], world: World, *, crashing: Iterable[str] = ()) -> None:
        self.actors = actors
        self.world = world
        self.crashing = frozenset(crashing)
        self._nodes = [_Node("", 0, (), None, None, None, None)]
        self._roots: dict[Hashable, int] = {}
        self._snapshots: list[Any] = []
        self._snapshot_ids: dict[Any, int] = {}
        self._effects: dict[tuple[int, int, Operation], tuple[Hashable, Any, int]] = {}

    def walk(self, most: int = 60_000_000) -> Report:  # noqa: C901, PLR0912 (one loop, kept flat: it runs 100 million times)
        """Every reachable state, up to a bound that is an error to reach."""
        first = self._first()
        came = {first: first}
        todo = [first]
        report = Report(0, None, None, set(), set())
        count = len(self.actors)
        shifts = [(i, _BITS * (count - 1 - i)) for i in range(count)]
        whole = _BITS * count
        deltas: list[dict[int, tuple[int, ...]]] = [{} for _ in self.actors]
        relies: dict[int, int] = {}
        stays = [(i, shift) for i, shift in shifts if self.actors[i].stays]
        while todo:
            state = todo.pop()
            snapshot = state >> whole
            resting = True
            for i, shift in shifts:
                local = snapshot << _BITS | state >> shift & _MASK
                steps = deltas[i].get(local)
                if steps is None:
                    steps = deltas[i][local] = tuple(
                        target - state for target, who, _ in self._moves(state) if who == i
                    )
                if not steps:
                    continue
                resting = False
                for step in steps:
                    target = state + step
                    if target in came:
                        continue
                    came[target] = state
                    todo.append(target)
                    for each, at in stays:
                        seen = (target >> whole) << _BITS | target >> at & _MASK
                        lost = relies.get(seen)
                        if lost is None:
                            lost = relies[seen] = self._is_lost(target, each)
                        if lost and report.lost is None:
                            report.lost = self._story(came, target)
            if resting and report.torn is None and self._is_torn(state):
                report.torn = self._story(came, state)
            if len(came) > most:
                raise AssertionError(f"more than {most} states")
        for node in self._nodes:
            if node.finished:
                (report.succeeded if node.finished.answer else report.refused).add(
                    f"{node.actor} {node.finished.error}"
                )
        report.states = len(came)
        return report

    def wander(self, choose: Callable[[int], int], most: int = 2_000) -> Report:
        """One order of calls, chosen at each step; for what is too large to walk through."""
        state = self._first()
        came = {state: state}
        for _ in range(most):
            targets = [target for target, *_ in self._moves(state)]
            if not targets:
                break
            target = targets[choose(len(targets))]
            came.setdefault(target, state)
            state = target
            if any(self._is_lost(state, i) for i in range(len(self.actors))):
                return Report(len(came), self._story(came, state), None, set(), set())
        return Report(len(came), None, self._story(came, state) if self._is_torn(state) else None, set(), set())

    def _first(self) -> int:
        places = [self._start(i, 0) for i in range(len(self.actors))]
        return self._pack(self._id(self.world.snapshot()), places)

    def _pack(self, snapshot: int, places: Sequence[int]) -> int:
        """A state as one number: millions of them fit into memory."""
        state = snapshot
        for place in places:
            state = state << _BITS | place
        return state

    def _unpack(self, state: int) -> tuple[int, list[int]]:
        places = []
        for _ in self.actors:
            places.append(state & _MASK)
            state >>= _BITS
        return state, places[::-1]

    def _moves(self, state: int) -> Iterator[tuple[int, int, str]]:
        """The states that are one call, one choice or one death away, and who did what."""
        snapshot, places = self._unpack(state)
        count = len(places)
        for i, place in enumerate(places):
            node = self._nodes[place]
            if node.operation is None:
                continue
            shift = _BITS * (count - 1 - i)
            rest = state & ~(_MASK << shift)
            if node.operation[0] == "pause":
                yield rest | self._restart(i, node) << shift, i, "waits"
                yield rest | self._answer(i, place, "over", False) << shift, i, "is out of patience"
            else:
                key, answer, after = self._effect(snapshot, i, place)
                then = self._answer(i, place, key, answer)
                moved = rest | then << shift
                if after != snapshot:
                    moved += (after - snapshot) << (_BITS * count)
                yield moved, i, "calls"
            if self.actors[i].name in self.crashing:
                self.world.restore(self._snapshots[snapshot])
                self.world.bury(self.actors[i])
                moved = rest + ((self._id(self.world.snapshot()) - snapshot) << (_BITS * count))
                yield moved | DEAD << shift, i, "dies"

    def _effect(self, snapshot: int, i: int, place: int) -> tuple[Hashable, Any, int]:
        node = self._nodes[place]
        assert node.operation is not None
        assert node.perform is not None
        memo = (snapshot, i, node.operation)
        if memo not in self._effects:
            self.world.restore(self._snapshots[snapshot])
            answer: Any
            try:
                answer = _without_what_nobody_reads(self.actors[i], node.operation, node.perform(self.world))
            except ClientError as error:
                answer = error
            self._effects[memo] = (repr(answer), answer, self._id(self.world.snapshot()))
        return self._effects[memo]

    def _id(self, snapshot: Any) -> int:  # noqa: ANN401
        if snapshot not in self._snapshot_ids:
            self._snapshot_ids[snapshot] = len(self._snapshots)
            self._snapshots.append(snapshot)
        return self._snapshot_ids[snapshot]

    def _start(self, i: int, event: int) -> int:
        return self._root(i, event, (i, event), ())

    def _restart(self, i: int, node: _Node) -> int:
        """After a pause an attempt begins anew; all that it carries over is what it remembers."""
        remembered = node.remembered
        return self._root(i, node.event, (i, node.event, remembered), (*node.history, True))

    def _root(self, i: int, event: int, key: Hashable, history: tuple[Any, ...]) -> int:
        if key not in self._roots:
            self._roots[key] = self._run(i, event, history)
        return self._roots[key]

    def _answer(self, i: int, place: int, key: Hashable, answer: Any) -> int:  # noqa: ANN401
        node = self._nodes[place]
        if key not in node.after:
            then = self._run(i, node.event, (*node.history, answer))
            finished = self._nodes[then].finished
            if finished and finished.answer and node.event + 1 < len(self.actors[i].events):
                then = self._start(i, node.event + 1)
            node.after[key] = then
        return node.after[key]

    def _run(self, i: int, event: int, history: tuple[Any, ...]) -> int:
        """Run an actor's code over a history."""
        actor = self.actors[i]
        session = Session(actor.name, history)
        finished = None
        try:
            finished = Finished(actor.handle(session, actor.events[event]))
        except _Suspended:
            pass
        except StrongRefError as error:
            finished = Finished(None, type(error).__name__)
        operation, perform = session.pending or (None, None)
        self._nodes.append(_Node(actor.name, event, history, operation, perform, finished, session.remembered))
        return len(self._nodes) - 1

    def _is_lost(self, state: int, i: int) -> bool:
        """Whether an actor relies on a value that is not stored, not claimed by it, or not in the record."""
        snapshot, places = self._unpack(state)
        finished = self._nodes[places[i]].finished
        if not self.actors[i].stays or not (finished and finished.answer):
            return False
        return not _relied_on(self._snapshots[snapshot][0], self.actors[i], finished.answer)

    def _is_torn(self, state: int) -> bool:
        """Whether everybody is at rest, nobody died, and record and parameters say different things."""
        snapshot, places = self._unpack(state)
        if not all(self._nodes[place].finished for place in places):
            return False
        stored, recorded = _contents(self._snapshots[snapshot][0])
        return any(key in recorded and recorded[key] != value for key, value in stored.items())

    def _story(self, came: Mapping[int, int], state: int) -> list[str]:
        """How a state was come to, a line a step."""
        story: list[str] = []
        while came[state] != state:
            before = came[state]
            i, did = next((i, did) for target, i, did in self._moves(before) if target == state)
            operation = self._nodes[self._unpack(before)[1][i]].operation
            call = f" {operation[1]} {operation[2][:200]}" if operation and did == "calls" else ""
            story.append(f"{self.actors[i].name} {did}{call}")
            state = before
        return story[::-1]


def _without_what_nobody_reads(actor: Actor, operation: Operation, answer: Any) -> Any:  # noqa: ANN401
    """An answer without what the code does not look at, so that states that differ in nothing else are one.

    Of several fences of others, one is enough to step back from, and of several claims of others one to keep a value;
    exporters do not look at versions and dates.
    """
    _, call, request = operation
    if call == "get_parameters_by_path" and "/strongref/fences/" in request:
        own = [found for found in answer["Parameters"] if found["Name"].endswith(f".{actor.name}")]
        others = [found for found in answer["Parameters"] if found not in own]
        return {"Parameters": own + [{**found, "Name": "another", "Value": _FENCE} for found in others[:1]]}
    if actor.fences and call.startswith("get_parameters"):
        return {"Parameters": [{**found, "Version": 1, "LastModifiedDate": EPOCH} for found in answer["Parameters"]]}
    if call == "list_tags_for_resource":
        claims = [tag for tag in answer["TagList"] if tag["Key"].startswith(CLAIM_TAG)]
        own = [tag for tag in claims if tag["Value"] == actor.stack]
        seen = own + [tag for tag in claims if tag not in own][:1]
        return {"TagList": [tag for tag in answer["TagList"] if tag not in claims] + seen}
    return answer


def _contents(snapshot: Any) -> tuple[dict[str, str], dict[str, str]]:  # noqa: ANN401
    """What parameters and records say, by key."""
    stored: dict[str, str] = {}
    recorded: dict[str, str] = {}
    for name, slot in snapshot:
        if slot.record and name.startswith("/strongref/exports/"):
            stored[name.split("/")[7]] = slot.record.text
        elif slot.record and name.startswith("/strongref/records/"):
            recorded |= json.loads(slot.record.text)["values"]
    return stored, recorded


def _relied_on(snapshot: Any, actor: Actor, answer: Answer) -> bool:  # noqa: ANN401
    stored, recorded = _contents(snapshot)
    claims = {
        name.split("/")[7]: dict(slot.record.tags).get(claim_tag(answer.physical_id))
        for name, slot in snapshot
        if slot.record and name.startswith("/strongref/exports/")
    }
    return all(
        stored.get(key) == value and recorded.get(key) == value and claims.get(key) == actor.stack
        for key, value in answer.data.items()
    )
