"""A place that goes away and comes back at any call, while CloudFormation updates one Export and rolls back.

The explorer's actors meet in any order. Here CloudFormation is in charge: it sends the next event when it has the
answer to the last one. A call to the place succeeds or is denied, whatever happened to the one before; the
index can always be reached. A function may die and be delivered again, an update may be delivered twice, or go on
although it was canceled, and reads of the store and of the stack may lag. A request's date is that of the one before,
or a second later.

The place is a region, or another account: there its role is assumed first, which may be denied like any other call.

At rest, the place must hold what the committed version wants, record and values, whether it can be reached or not. And
nobody is stuck: from there the owner can continue the rollback, update and delete, as soon as the place is back, or was
given up.
"""

from __future__ import annotations

from ast import literal_eval
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from botocore.exceptions import ClientError

from strongref.contract.event import RequestType
from strongref.contract.index import DENIED, FORGOTTEN, INDEX, Place, encode_place, index_name, path_of
from strongref.contract.record import Record
from strongref.errors import StrongRefError
from strongref.protocol.ports import ResourceInfo, StackInfo
from tests.support.abroad import OTHER, SessionClients
from tests.support.builders import ACCOUNT, SCOPE
from tests.support.cloudformation.requests import EXPORT, SIGNED_FORMAT, ResourceRequest
from tests.support.cloudformation.stacks import CREATING, DELETING, ROLLBACK, UPDATING
from tests.support.explorer.cast import OWN_ID, PRODUCER, exported
from tests.support.explorer.lagging import LaggingSsm, Past
from tests.support.explorer.session import NOW, UNLIMITED, WRITES, Session, Suspended, exporter
from tests.support.explorer.world import REGION as AWAY
from tests.support.fake_ssm import Slot, Snapshot, error
from tests.support.invariants import EXPORTS, FENCES, records

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
    from datetime import datetime
    from random import Random

    from strongref.aws.accounts import Accounts
    from strongref.contract.event import Event

HOME = "eu-west-1"
"""The producer's region, where the index is. It can always be reached."""

REFUSED = error("AccessDeniedException", "no", "any")
"""What a call answers to a place that is away."""

Properties = dict[str, Any]
VERSIONS: tuple[Properties, ...] = (exported("drop"), exported("v1"), exported("v2"))
"""What the Export may be: nothing in the place, or one value or another one."""

ELSEWHERE: Properties = {**exported("v1"), "Region": HOME}
MOVES: tuple[Properties, ...] = (ELSEWHERE, exported("v1"), exported("v2"))
"""In the first version it publishes elsewhere."""

ABROAD, MOVES_ABROAD = (
    tuple({**each, "Account": OTHER} if each["Region"] == AWAY else each for each in versions)
    for versions in (VERSIONS, MOVES)
)
"""The same where the place is in another account."""


class Request(NamedTuple):
    """What CloudFormation asks for; versions are numbers."""

    number: int
    wants: int
    instead_of: int
    second: int  # its date
    rolls_back: bool = False


class View(NamedTuple):
    """What CloudFormation says about the stack and its Export."""

    status: str
    resource: str
    second: int  # when the resource was set to that


class Task(NamedTuple):
    """One delivery of a request; CloudFormation waits for its answer if it `counts`."""

    request: Request
    token: str  # of its fences
    node: int
    counts: bool


class Left(NamedTuple):
    """How often these may still happen."""

    updates: int = 1
    deaths: int = 0
    doubles: int = 0
    cancels: int = 0
    continued: int = 1


class State(NamedTuple):
    """A moment of a history."""

    world: int
    committed: int
    asked: Request | None  # the operation in progress, or the rollback that failed
    update: Request | None  # that may still be delivered once more
    tasks: tuple[Task, ...]
    left: Left
    number: int  # of the last request
    second: int  # its date


class Stored(NamedTuple):
    """All that the calls of a delivery see."""

    stores: tuple[Snapshot, Snapshot]
    past: tuple[Past, Past]
    expiring: frozenset[tuple[str, int]]  # the fences of deliveries that died, and in how many ticks
    view: View
    views: frozenset[tuple[View, int]]  # what lookups may still show, and how many ticks ago it was


class Cloud:
    """The stores and the stack, as the calls of one delivery after the other change them."""

    def __init__(self, lag: int) -> None:
        self.lag = lag
        self.ssm = {HOME: LaggingSsm(HOME, ACCOUNT, lag), AWAY: LaggingSsm(AWAY, ACCOUNT, lag)}
        self.expiring: frozenset[tuple[str, int]] = frozenset()
        self.view = self.shown = View("UPDATE_COMPLETE", "UPDATE_COMPLETE", 0)
        self.views: frozenset[tuple[View, int]] = frozenset()

    def by_arn(self, _arn: str) -> StackInfo:
        return StackInfo(PRODUCER, "network", self.shown.status, PRODUCER)

    def resource(self, _arn: str, _logical_id: str) -> ResourceInfo:
        return ResourceInfo(EXPORT, self.shown.resource, OWN_ID, _at(self.shown.second))

    def become(self, view: View) -> None:
        """CloudFormation goes on."""
        if self.lag and view != self.view:
            self.views = frozenset((each, age) for each, age in self.views if each != view) | {(self.view, 0)}
        self.view = self.shown = view

    def readings(self, region: str, method: str, request: dict[str, Any], answer: Callable[[], Any]) -> Iterator[Any]:
        """Every answer that a call may get."""
        if not self.lag:
            yield answer()
        elif region:
            reads = method.startswith(("get_", "list_"))
            yield from self.ssm[region].readings(method, request, answer) if reads else [answer()]
        else:
            for shown in {self.view, *(each for each, _ in self.views)}:
                self.shown = shown
                yield answer()
            self.shown = self.view

    def expire(self, token: str) -> None:
        for ssm in self.ssm.values():
            for name, slot in list(ssm._slots.items()):
                if name.startswith(FENCES) and name.endswith(f".{token}" if token else "") and slot.parameter:
                    ssm._delete(name)

    def bury(self, token: str) -> None:
        """A delivery dies, or could not delete its fences: they expire, later than a lag after its last write."""
        if not self.lag:
            self.expire(token)
        elif any(name.endswith(f".{token}") for ssm in self.ssm.values() for name in ssm.parameters()):
            self.expiring |= {(token, self.lag + 1)}

    def tick(self) -> None:
        for ssm in self.ssm.values():
            ssm.tick()
        self.views = frozenset((each, age + 1) for each, age in self.views if age < self.lag)
        for token, ticks in self.expiring:
            if ticks == 1:
                self.expire(token)
        self.expiring = frozenset((token, ticks - 1) for token, ticks in self.expiring if ticks > 1)

    def settle(self) -> None:
        """Let so much time pass that reads show everything, and every fence has expired."""
        self.expire("")
        self.expiring, self.views = frozenset(), frozenset()
        for ssm in self.ssm.values():
            ssm.past = frozenset()

    def stored(self) -> Stored:
        """The state, without versions and dates, which no Export reads."""
        for ssm in self.ssm.values():
            for name, slot in list(ssm._slots.items()):
                if slot.parameter is None:
                    del ssm._slots[name]
                else:
                    ssm._slots[name] = _unversioned(slot)
            ssm._frozen = None
            ssm.normalize(lambda _name: True, _unversioned)
        stores = (self.ssm[HOME].snapshot(), self.ssm[AWAY].snapshot())
        return Stored(stores, (self.ssm[HOME].past, self.ssm[AWAY].past), self.expiring, self.view, self.views)

    def restore(self, stored: Stored) -> None:
        for region, snapshot, past in zip((HOME, AWAY), stored.stores, stored.past, strict=True):
            self.ssm[region].restore(snapshot)
            self.ssm[region].past = past
        _, _, self.expiring, self.view, self.views = stored
        self.shown = self.view


def _unversioned(slot: Slot) -> Slot:
    return Slot(1, slot.parameter._replace(version=1, modified=NOW)) if slot.parameter else Slot(0, None)


class Delivery(Session):
    """A session whose calls know their region."""

    turns_round = False  # An outage stops them in any order; other explorations turn them round.

    def resource(self, arn: str, logical_id: str) -> ResourceInfo:
        return self.ask(("stack", "resource", ""), lambda cloud: cloud.resource(arn, logical_id))  # type: ignore[no-any-return]

    def client(self, region: str, _account: str = "") -> Any:
        return _Client(self, region)

    def abroad(self, *listed: str) -> Accounts:
        clients = SessionClients(
            lambda _account: self.ask((AWAY, "assume_role", "{}"), lambda _cloud: None),
            lambda _account, region: self.client(region),
        )
        return clients.accounts(listed, UNLIMITED, self.side_by_side)


class Direct(Delivery):
    """One whose calls are carried out at once, in a place that may be away."""

    def __init__(self, cloud: Cloud, *, away: bool = False) -> None:
        super().__init__("direct", ())
        self._cloud, self._away = cloud, away

    def ask(self, operation: Any, perform: Callable[[Any], Any]) -> Any:
        if self._away and operation[0] == AWAY:
            raise REFUSED.with_traceback(None)
        return False if operation[0] in ("order", "pause") else perform(self._cloud)


class _Client:
    def __init__(self, session: Session, region: str) -> None:
        self._session, self._region = session, region

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            operation = (self._region, method, repr(request))
            return self._session.ask(operation, partial(_carry_out, self._region, method, request))

        return call


def _carry_out(region: str, method: str, request: dict[str, Any], cloud: Any) -> Any:
    return getattr(cloud.ssm[region], method)(**request)


@dataclass
class Node:
    """A delivery after a history of answers: its next call, or whether it succeeded."""

    request: Request
    token: str
    history: tuple[Any, ...]
    operation: tuple[str, str, str] | None = None
    perform: Callable[[Any], Any] | None = None
    succeeded: bool | None = None
    wrote: bool = False  # by its last call
    waited: bool = False  # for another's fence; once is enough
    after: dict[Hashable, int] = field(default_factory=dict)


@dataclass
class Report:
    states: int
    torn: list[str] | None = None
    stuck: list[str] | None = None
    ends: set[str] = field(default_factory=set)  # how operations ended

    @property
    def holds(self) -> bool:
        return self.torn is None and self.stuck is None


@dataclass(eq=False)
class Outage:
    """One beginning, and what may happen.

    Attributes:
        label: its name.
        left: how often what may happen.
        begins: the version that is there.
        wanted: the versions that updates may ask for.
        versions: what they are.
        lag: by how many ticks reads may lag.
        later: after how many seconds CloudFormation sends the next request.
        ties: or in the same second.
        away: the place may be.
        denied: an update that came before was refused, for the place was away.
    """

    label: str
    left: Left
    begins: int = 1
    wanted: Sequence[int] = (0, 1, 2)
    versions: Sequence[Properties] = VERSIONS
    lag: int = 0
    later: int = 1
    ties: bool = False
    away: bool = True
    denied: bool = False

    def __post_init__(self) -> None:
        self._nodes: list[Node] = []
        self._roots: dict[Hashable, int] = {}
        self._worlds: list[Stored] = []
        self._numbers: dict[Stored, int] = {}
        self._effects: dict[Hashable, list[tuple[Hashable, Any, int]]] = {}
        self._stuck: dict[Hashable, str] = {}

    def wander(self, random: Random, most: int = 2_000) -> Report:
        """One path, for what is too large to walk through."""
        state: State | None = self._begin()
        report, story = Report(0), list[str]()
        while state and report.states < most and report.holds:
            steps = list(self._steps(state))
            did, state = random.choice(steps) if steps else ("", None)
            story.append(did)
            report.states += 1
            if state and (problem := self._problem(state)):
                report.torn = [problem, *story]
        return report

    def walk(self, most: int = 3_000_000, *, deep: bool = False) -> Report:
        """Every state, up to the first that must not be; breadth first, for a short story, or depth first."""
        first = self._begin()
        origin: dict[State, tuple[State, str] | None] = {first: None}
        todo, report = deque([first]), Report(0)
        while todo:
            state = todo.pop() if deep else todo.popleft()
            for did, after in self._steps(state):
                if after in origin:
                    continue
                origin[after] = (state, did)
                problem = self._problem(after)
                if after.asked is None or not after.tasks:
                    report.ends.add(self._worlds[after.world].view.status)
                if problem:
                    story = [problem, *_story(origin, after)]
                    report.torn, report.stuck = (story, None) if "torn" in problem else (None, story)
                    report.states = len(origin)
                    return report
                todo.append(after)
            if len(origin) > most:
                raise AssertionError(f"more than {most} states")
        report.states = len(origin)
        return report

    def _begin(self) -> State:
        self._cloud = Cloud(self.lag)
        create = ResourceRequest(RequestType.CREATE, PRODUCER, "Exports", self.versions[self.begins])
        self._cloud.become(View(CREATING, CREATING, 0))
        exporter(Direct(self._cloud), create.event("create", signed=_date(0)))
        self._cloud.become(View("CREATE_COMPLETE", "CREATE_COMPLETE", 0))
        if self.denied:
            self._note(DENIED)
        self._cloud.settle()
        return State(self._world(), self.begins, None, None, (), self.left, 1, 1)

    # -- what may happen -----------------------------------------------------------------------------------------------

    def _steps(self, state: State) -> Iterator[tuple[str, State]]:
        for task in state.tasks:
            yield from self._calls(state, task)
            yield from self._deaths(state, task)
        yield from self._cloudformation(state)
        if self.lag:
            yield from self._tick(state)

    def _calls(self, state: State, task: Task) -> Iterator[tuple[str, State]]:
        node = self._nodes[task.node]
        if not node.operation:
            yield from self._moved(f"{_name(task)} answers", state, task, task.node)
            return
        kind, call, request = node.operation
        answers: list[tuple[Hashable, Any, int]]
        label = f"{_name(task)}: {kind} {call} {request[:140]}"
        if kind == "tick":
            return
        if kind == "order":
            answers = [(chosen, chosen, state.world) for chosen in (False, True)]
        elif kind == "pause":
            free = not any(name.startswith(FENCES) for each in self._worlds[state.world].stores for name, _ in each)
            waits = free and not node.waited
            answers = [(chosen, chosen, state.world) for chosen in (False, True) if waits or not chosen]
        else:
            answers = self._effects_of(state.world, node)
            if kind == AWAY and self.away:
                answers = [*answers, ("away", REFUSED, state.world)]
        for key, answer, world in answers:
            after = self._answer(task.node, key, answer)
            shown = f" -> {key if kind != HOME or len(answers) > 1 else ''}"[:300]
            yield from self._moved(label + shown, state._replace(world=world), task, after)

    def _moved(self, label: str, state: State, task: Task, after: int) -> Iterator[tuple[str, State]]:
        """A delivery has gone on; if it ended, CloudFormation has the answer."""
        succeeded = self._nodes[after].succeeded
        others = tuple(each for each in state.tasks if each != task)
        if succeeded is None:
            tasks = tuple(sorted((*others, task._replace(node=after))))
            yield label, state._replace(tasks=tasks)
            return
        if task.counts and others and self._nodes[task.node].operation:  # Others may go on before its answer counts.
            yield label, state._replace(tasks=tuple(sorted((*others, task._replace(node=after)))))
            return
        ended = state._replace(world=self._buried(state.world, task.token), tasks=others)
        yield from self._ended(label, ended, succeeded=succeeded) if task.counts else [(label, ended)]

    def _ended(self, label: str, state: State, *, succeeded: bool) -> Iterator[tuple[str, State]]:
        asked = state.asked
        assert asked
        label += "; it succeeds" if succeeded else "; it fails"
        if asked.rolls_back and not succeeded:
            yield label, self._become(state, "UPDATE_ROLLBACK_FAILED", "UPDATE_FAILED")
        elif asked.rolls_back:
            done = self._become(state, "UPDATE_ROLLBACK_COMPLETE", "UPDATE_COMPLETE")
            yield label, done._replace(asked=None, update=None)
        else:
            if succeeded:
                done = self._become(state, "UPDATE_COMPLETE", "UPDATE_COMPLETE")
                yield label, done._replace(asked=None, update=None, committed=asked.wants)
                label += ", another resource fails"
            yield from self._ask(label, state, state.committed, asked.wants, rolls_back=True)

    def _ask(
        self, label: str, state: State, wants: int, instead_of: int, *, rolls_back: bool
    ) -> Iterator[tuple[str, State]]:
        """CloudFormation sends a request, in the next second, or in that of the one before as well."""
        for second in {state.second + self.later, state.second if self.ties else state.second + self.later}:
            request = Request(state.number + 1, wants, instead_of, second, rolls_back)
            token = f"{request.number}"
            task = Task(request, token, self._root(request, token), counts=True)
            begun = self._become(state, ROLLBACK if rolls_back else UPDATING, UPDATING, second)
            did = f"{'rollback' if rolls_back else 'update'} {request.number} to {wants} at {second}"
            yield (
                f"{label}; {did}",
                begun._replace(
                    asked=request,
                    update=state.update if rolls_back else request,
                    tasks=tuple(sorted((*state.tasks, task))),
                    number=request.number,
                    second=second,
                ),
            )

    def _cloudformation(self, state: State) -> Iterator[tuple[str, State]]:
        asked, left = state.asked, state.left
        waiting = any(task.counts for task in state.tasks)
        if asked is None:
            if left.updates:
                for wanted in self.wanted:
                    if wanted != state.committed:
                        begun = state._replace(left=left._replace(updates=left.updates - 1))
                        yield from self._ask("", begun, wanted, state.committed, rolls_back=False)
            return
        if not waiting and left.continued:
            begun = state._replace(left=left._replace(continued=left.continued - 1))
            yield from self._ask("continued", begun, state.committed, asked.instead_of, rolls_back=True)
        if waiting and not asked.rolls_back and left.cancels:
            tasks = tuple(task._replace(counts=False) for task in state.tasks)
            begun = state._replace(left=left._replace(cancels=left.cancels - 1), tasks=tasks)
            yield from self._ask("canceled", begun, state.committed, asked.wants, rolls_back=True)
        if waiting and state.update and left.doubles:
            update, token = state.update, f"{state.update.number}d"
            task = Task(update, token, self._root(update, token), counts=False)
            tasks = tuple(sorted((*state.tasks, task)))
            doubled = state._replace(tasks=tasks, left=left._replace(doubles=left.doubles - 1), update=None)
            yield f"update {update.number} is delivered once more", doubled

    def _deaths(self, state: State, task: Task) -> Iterator[tuple[str, State]]:
        """A delivery dies before a write, or after one."""
        node, left = self._nodes[task.node], state.left
        if not left.deaths or not node.operation or not (node.wrote or node.operation[1].startswith(WRITES)):
            return
        others, world = tuple(each for each in state.tasks if each != task), self._buried(state.world, task.token)
        dead = state._replace(world=world, left=left._replace(deaths=left.deaths - 1), tasks=others)
        token = f"{task.token}'"
        again = task._replace(token=token, node=self._root(task.request, token))
        yield f"{_name(task)} dies, and is delivered again", dead._replace(tasks=tuple(sorted((*others, again))))
        if task.counts:
            yield from self._ended(f"{_name(task)} dies", dead, succeeded=False)

    def _tick(self, state: State) -> Iterator[tuple[str, State]]:
        """Time passes. While one delivery is alone it may as well not: the later a read, the less it may show."""
        asked = [(task, now[0]) for task in state.tasks if (now := self._nodes[task.node].operation)]
        waiting = [task for task, kind in asked if kind == "tick"]
        world = self._worlds[state.world]
        is_alone = len(state.tasks) < 2 and not any(kind == "pause" for _, kind in asked)
        if not waiting and (is_alone or not (any(world.past) or world.expiring or world.views)):
            return
        key = (state.world, "tick")
        if key not in self._effects:
            self._cloud.restore(world)
            self._cloud.tick()
            self._effects[key] = [("", None, self._world())]
        states = [("time passes", state._replace(world=self._effects[key][0][2]))]
        for task in waiting:
            after = self._answer(task.node, "tick", None)
            states = [each for label, before in states for each in self._moved(label, before, task, after)]
        yield from states

    # -- the code ------------------------------------------------------------------------------------------------------

    def _root(self, request: Request, token: str) -> int:
        key = (request, token)
        if key not in self._roots:
            self._roots[key] = self._run(Node(request, token, ()))
        return self._roots[key]

    def _answer(self, number: int, key: Hashable, answer: Any) -> int:
        node = self._nodes[number]
        if key not in node.after:
            assert node.operation
            wrote, waited = node.operation[1].startswith(WRITES), node.waited or (key and node.operation[0] == "pause")
            history = (*node.history, answer)
            node.after[key] = self._run(Node(node.request, node.token, history, wrote=wrote, waited=bool(waited)))
        return node.after[key]

    def _run(self, node: Node) -> int:
        """The number of a new node, after its code has run over its history."""
        session = Delivery(node.token, node.history, self.lag)
        with suppress(Suspended):
            try:
                exporter(session, self._event(node.request))
                node.succeeded = True
            except StrongRefError:
                node.succeeded = False
        node.operation, node.perform = session.pending or (None, None)
        self._nodes.append(node)
        return len(self._nodes) - 1

    def _event(self, request: Request) -> Event:
        new, old = self.versions[request.wants], self.versions[request.instead_of]
        sent = ResourceRequest(RequestType.UPDATE, PRODUCER, "Exports", new, OWN_ID, old)
        return sent.event(f"request-{request.number}", signed=_date(request.second))

    def _effects_of(self, world: int, node: Node) -> list[tuple[Hashable, Any, int]]:
        assert node.operation
        assert node.perform
        kind, method, request = node.operation
        key = (world, node.operation)
        if key not in self._effects:
            self._cloud.restore(self._worlds[world])
            given = literal_eval(request) if kind in self._cloud.ssm else {}

            def answer() -> Any:
                try:
                    return node.perform(self._cloud)  # type: ignore[misc]
                except ClientError as refused:
                    return refused

            region = kind if kind in self._cloud.ssm else ""
            answers = {repr(found): found for found in self._cloud.readings(region, method, given, answer)}
            after = self._world()
            self._effects[key] = [(shown, found, after) for shown, found in answers.items()]
        return self._effects[key]

    def _become(self, state: State, status: str, resource: str, second: int | None = None) -> State:
        self._cloud.restore(self._worlds[state.world])
        self._cloud.become(View(status, resource, state.second if second is None else second))
        return state._replace(world=self._world())

    def _buried(self, world: int, token: str) -> int:
        self._cloud.restore(self._worlds[world])
        self._cloud.bury(token)
        return self._world()

    def _world(self) -> int:
        stored = self._cloud.stored()
        if stored not in self._numbers:
            self._numbers[stored] = len(self._worlds)
            self._worlds.append(stored)
        return self._numbers[stored]

    # -- verdicts ------------------------------------------------------------------------------------------------------

    def _problem(self, state: State) -> str:
        """What must not be."""
        if state.asked is None and (torn := self._torn(state)):
            return torn
        return "" if state.tasks else self._stuck_in(state)

    def _torn(self, state: State) -> str:
        properties = self.versions[state.committed]
        wanted = dict(properties["Values"]) if properties["Region"] == AWAY else {}
        there = {(AWAY, name): slot.parameter for name, slot in self._worlds[state.world].stores[1] if slot.parameter}
        values = {name.rpartition("/")[2]: found.text for (_, name), found in there.items() if name.startswith(EXPORTS)}
        said = records(there).get((AWAY, SCOPE.path("records")), {}).get("Exports")
        recorded = {key: value.text for key, value in said.values.items()} if isinstance(said, Record) else {}
        is_right = values == recorded == wanted
        return "" if is_right else f"torn: {wanted} is committed, {recorded} recorded, {values} stored"

    def _stuck_in(self, state: State) -> str:
        """Whether the owner can go on when everybody has ended: with the place back, or given up."""
        key = (self._worlds[state.world].stores, state.committed, state.asked)
        if key not in self._stuck:
            self._stuck[key] = next(filter(None, (self._goes_on(state, away=away) for away in (False, True))), "")
        return self._stuck[key]

    def _goes_on(self, state: State, *, away: bool) -> str:
        cloud = self._cloud
        cloud.restore(self._worlds[state.world])
        cloud.settle()
        how, second = "given up" if away else "back", state.second
        if away:
            self._note(FORGOTTEN)
        versions, elsewhere = self.versions, ELSEWHERE
        steps: list[tuple[str, Properties, Properties | None]]
        steps = [(ROLLBACK, versions[state.committed], versions[state.asked.instead_of])] if state.asked else []
        steps += [(UPDATING, elsewhere, versions[state.committed]), (DELETING, elsewhere, None)]
        for status, new, old in steps:
            second += 1
            kind = RequestType.UPDATE if old else RequestType.DELETE
            cloud.become(View(status, UPDATING if old else DELETING, second))
            sent = ResourceRequest(kind, PRODUCER, "Exports", new, OWN_ID, old)
            try:
                exporter(Direct(cloud, away=away), sent.event(f"last-{second}", signed=_date(second)))
            except StrongRefError as refused:
                return f"stuck: the place is {how}, and {status} to {new['Region']} {new['Values']} fails: {refused}"
            cloud.settle()
        left = [name for region, ssm in cloud.ssm.items() for name in ssm.parameters() if not (away and region == AWAY)]
        left = [name for name in left if not (away and name.startswith(INDEX))]
        return f"stuck: the place is {how}, and {left} are left" if left else ""

    def _note(self, kind: str) -> None:
        """Note something about the place in the index, in the second after the first."""
        account = OTHER if any(each.get("Account") == OTHER for each in self.versions) else ACCOUNT
        place = path_of(Place(account, AWAY, "web"), kind)
        name, text = f"{index_name('network', 'Exports')}{place}", encode_place(PRODUCER, _at(1))
        self._cloud.ssm[HOME].put_parameter(Name=name, Type="String", Value=text, Overwrite=True)


def _at(second: int) -> datetime:
    return NOW + timedelta(seconds=second)


def _date(second: int) -> str:
    return _at(second).strftime(SIGNED_FORMAT)


def _name(task: Task) -> str:
    return f"{'rollback' if task.request.rolls_back else 'update'} {task.token}{'' if task.counts else ' (late)'}"


def _story(origin: Mapping[State, tuple[State, str] | None], state: State) -> list[str]:
    story = []
    while before := origin[state]:
        state, did = before
        story.append(did)
    return story[::-1]
