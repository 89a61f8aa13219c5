"""What one actor may do next in one world: make its call, choose an order, wait or not, die, start again, hand over."""

from __future__ import annotations

from ast import literal_eval
from typing import TYPE_CHECKING, Any, NamedTuple

from botocore.exceptions import ClientError

from tests.support.explorer.nodes import BITS, DEAD, DORMANT, ENDED, MASK, Node, Nodes, fence_token
from tests.support.explorer.unread import Reader, as_read

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from tests.support.explorer.actors import Actor
    from tests.support.explorer.session import Operation
    from tests.support.explorer.world import World, WorldState


class Crashes(NamedTuple):
    """Which actors may die, how often in one history, and what follows.

    Attributes:
        of: the names of the actors.
        most: deaths in one history.
        again: an event may be delivered again, as Lambda does.
    """

    of: frozenset[str] = frozenset()
    most: int = 0
    again: bool = False


class Move(NamedTuple):
    """One thing that an actor may do.

    Attributes:
        world: the number of the world afterwards.
        node: the actor's own afterwards.
        other: the other actor that this changes, if any, and its node afterwards.
        did: for stories.
    """

    world: int
    node: int
    other: tuple[int, int] | None
    did: str


class Moves:
    """The moves of each actor; worlds and nodes have numbers."""

    def __init__(self, actors: Sequence[Actor], world: World, crashes: Crashes, *, reduced: bool) -> None:
        self.actors = actors
        self.world = world
        self.crashes = crashes
        self.nodes = Nodes(actors, merge_ends=reduced, lag=world.lag)
        self.reduced = reduced
        self.worlds: list[WorldState] = []
        self._numbers: dict[WorldState, int] = {}
        self._effects: dict[tuple[int, int, int, int, Operation], list[tuple[Hashable, Any, int]]] = {}
        self._ticked: dict[int, int] = {}
        names = [actor.name for actor in actors]
        self._next = {i: names.index(actor.hands_over_to) for i, actor in enumerate(actors) if actor.hands_over_to}
        stacks = [actor.stack for actor in actors]
        self._mortal = {
            actor.stack for actor in actors if actor.name in crashes.of and self._takes_its_stack_along(actor)
        }
        self._changing = {actor.stack for actor in actors if actor.begins}
        self._answering = {actor.stack for actor in actors if stacks.count(actor.stack) > 1}
        claiming = [actor.stack for actor in actors if not actor.fences]
        settled = reduced and not self._mortal and not self._changing & set(claiming)
        self._immortal = claiming[0] if settled and claiming else None

    def first(self) -> tuple[int, list[int]]:
        """The world and the actors' nodes at the beginning."""
        self.world.deaths = self.crashes.most
        later = set(self._next.values())
        places = [DORMANT if i in later else self.nodes.start(i, 0) for i in range(len(self.actors))]
        return self.world_number(self.world.snapshot()), places

    def world_number(self, state: WorldState) -> int:
        if state not in self._numbers:
            self._numbers[state] = len(self.worlds)
            self.worlds.append(state)
        return self._numbers[state]

    def of(self, i: int, world: int, place: int) -> list[Move]:
        """Everything that an actor may do."""
        node = self.nodes[place]
        if node.operation is None:
            return []
        if node.operation[0] == "pause":
            moves = [
                Move(world, self.nodes.restart(i, place), None, "waits"),
                self._ending(i, Move(world, self.nodes.answer(i, place, "over", False), None, "is out of patience")),
            ]
        elif node.operation[0] == "order":
            moves = [
                self._ending(i, Move(world, self.nodes.answer(i, place, chosen, chosen), None, "chooses"))
                for chosen in (False, True)
            ]
        elif node.operation[0] == "tick":
            moves = []  # only time answers it
        else:
            moves = [
                self._ending(i, Move(after, self.nodes.answer(i, place, key, answer), None, "calls"))
                for key, answer, after in self._effects_of(world, i, place)
            ]
        return moves + self._deaths(i, world, place) + self._handovers(i, world, place)

    def free(self, world: int, place: int, moves: list[Move]) -> bool:
        """Whether an actor's next operation may be done at once, before anything that the others do.

        It may if it changes nothing that anyone sees, and nobody can change its answer: so the choices of an order and
        whether to go on waiting, and the lookup of a stack that can neither be deleted nor come to rest any more.
        Anything that the others do first could as well be done next. A death or a handover right before it is equal to
        one right after it, if there is an after.
        """
        operation = self.nodes[place].operation
        if not self.reduced or operation is None:
            return False
        kind, call, asked = operation
        if kind == "stack":
            snapshot = self.worlds[world]
            changing = self._changing | (self._mortal if snapshot.deaths else set())
            if call == "physical_ids":
                changing |= self._answering
            if snapshot.held:  # hold stacks come and go, and so do their producers
                return False
            if any(asked == (arn.split("/")[1] if call == "by_name" else arn) for arn in changing):
                return False
        elif kind not in ("pause", "order"):
            return False
        own, others = (moves[:1], moves[1:]) if kind == "stack" else (moves[:2], moves[2:])
        return not others or not any(move.node & ENDED for move in own)

    def tick(self, world: int, places: Sequence[int]) -> tuple[int, list[int]] | None:
        """The world and the nodes after a moment in which only time passes; None if that changes nothing."""
        waiting = [i for i, place in enumerate(places) if (asked := self.nodes[place].operation) and asked[0] == "tick"]
        state = self.worlds[world]
        if not (waiting or state.past or state.expiring or state.imported):
            return None
        if world not in self._ticked:
            self.world.restore(state)
            self.world.tick()
            self._ticked[world] = self.world_number(self.world.snapshot())
        later = list(places)
        for i in waiting:
            move = self._ending(i, Move(self._ticked[world], self.nodes.answer(i, places[i], "tick", None), None, ""))
            later[i] = move.node
            if move.other:
                later[move.other[0]] = move.other[1]
        return self._ticked[world], later

    def _effects_of(self, world: int, i: int, place: int) -> list[tuple[Hashable, Any, int]]:
        """What a call may answer, and the world after it: one answer, or as many as a read that lags may get."""
        node = self.nodes[place]
        assert node.operation is not None
        memo = (world, i, node.life, node.event, node.operation)
        if memo not in self._effects:
            self.world.restore(self.worlds[world])
            answers = dict(self._answers(self.actors[i], node))
            self.world.let_short_fences_expire()
            after = self.world_number(self.world.snapshot())
            self._effects[memo] = [(key, answer, after) for key, answer in answers.items()]
        return self._effects[memo]

    def _answers(self, actor: Actor, node: Node) -> Iterator[tuple[Hashable, Any]]:
        operation, perform = node.operation, node.perform
        assert operation is not None
        assert perform is not None
        kind, method, request = operation
        reader = Reader(actor, actor.event(node.event), fence_token(actor, node.life, node.event))

        def answer() -> Any:
            try:
                found = perform(self.world)
            except ClientError as error:
                return error
            if method == "add_tags_to_resource":
                self.world.claims(actor.stack)
            return as_read(reader, operation, found, immortal=self._immortal) if kind == "ssm" else found

        lags = kind == "ssm" and self.world.lag and method.startswith(("get_", "list_"))
        readings = self.world.ssm.readings(method, literal_eval(request), answer) if lags else [answer()]
        if kind == "imports":
            readings = self.world.lists_of_imports(answer())
        yield from ((repr(found), found) for found in readings)

    def _ending(self, i: int, move: Move) -> Move:
        """If it ends without having handed over, its successor never begins."""
        if i in self._next and move.node & ENDED and self.actors[i].name not in self.worlds[move.world].handed_over:
            return move._replace(other=(self._next[i], DEAD))
        return move

    def _deaths(self, i: int, world: int, place: int) -> list[Move]:
        actor, snapshot, node = self.actors[i], self.worlds[world], self.nodes[place]
        token = fence_token(actor, node.life, node.event)
        if actor.name in snapshot.handed_over:
            return [Move(self._bury(token, world, deaths=0), DEAD, None, "stops")]
        if actor.name not in self.crashes.of or not snapshot.deaths:
            return []
        deleted = self._bury(token, world, deaths=1, stack=actor.stack if self._takes_its_stack_along(actor) else "")
        stays = self._bury(token, world, deaths=1)
        event, life = node.event, node.life + 1 if self.world.lag else 0
        moves = [self._ending(i, Move(deleted, DEAD, None, "dies"))]
        if self.crashes.again:
            moves.append(Move(stays, self.nodes.start(i, event, life), None, "dies, and its event is delivered again"))
        if actor.undo and event < len(actor.events):
            undone = self.nodes.start(i, len(actor.events), life)
            moves.append(Move(stays, undone, None, "dies, and is rolled back"))
        return moves

    def _handovers(self, i: int, world: int, place: int) -> list[Move]:
        snapshot = self.worlds[world]
        if i not in self._next or self.actors[i].name in snapshot.handed_over:
            return []
        handed = self.world_number(snapshot._replace(handed_over=snapshot.handed_over | {self.actors[i].name}))
        successor = self._next[i]
        return [Move(handed, place, (successor, self.nodes.start(successor, 0)), "hands over")]

    def _bury(self, token: str, world: int, *, deaths: int, stack: str = "") -> int:
        self.world.restore(self.worlds[world])
        self.world.bury(token)
        self.world.deaths -= deaths
        self.world.stacks.pop(stack, None)
        return self.world_number(self.world.snapshot())

    def _takes_its_stack_along(self, actor: Actor) -> bool:
        """A dead importer's stack is deleted in time, if nobody else answers for it."""
        return not actor.fences and [other.stack for other in self.actors].count(actor.stack) == 1


def pack(world: int, places: Sequence[int]) -> int:
    """A state as one number: millions of them fit into memory."""
    state = world
    for place in places:
        state = state << BITS | place
    return state


def unpack(state: int, count: int) -> tuple[int, list[int]]:
    """The number of the world, and the actors' nodes."""
    places = []
    for _ in range(count):
        places.append(state & MASK)
        state >>= BITS
    return state, places[::-1]
