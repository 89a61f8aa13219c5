"""What one actor may do next in one world: make its call, wait or not, die, start again, hand over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from botocore.exceptions import ClientError

from tests.support.explorer.nodes import BITS, DEAD, DORMANT, ENDED, MASK, Nodes
from tests.support.explorer.unread import as_read

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

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
        self.nodes = Nodes(actors, merge_ends=reduced)
        self.reduced = reduced
        self.worlds: list[WorldState] = []
        self._numbers: dict[WorldState, int] = {}
        self._effects: dict[tuple[int, int, int, Operation], tuple[Hashable, Any, int]] = {}
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
        else:
            key, answer, after = self._effect(world, i, place)
            moves = [self._ending(i, Move(after, self.nodes.answer(i, place, key, answer), None, "calls"))]
        return moves + self._deaths(i, world, place) + self._handovers(i, world, place)

    def free(self, world: int, place: int, moves: list[Move]) -> bool:
        """Whether an actor's next operation may be done at once, before anything that the others do.

        It may if it changes nothing that anyone sees, and nobody can change its answer: so the choice whether to go on
        waiting, and the lookup of a stack that can neither be deleted nor come to rest any more. Anything that the
        others do first could as well be done next. A death or a handover right before it is equal to one right after
        it, if there is an after.
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
            if any(asked == (arn.split("/")[1] if call == "by_name" else arn) for arn in changing):
                return False
        elif kind != "pause":
            return False
        own, others = (moves[:2], moves[2:]) if kind == "pause" else (moves[:1], moves[1:])
        return not others or not any(move.node & ENDED for move in own)

    def _effect(self, world: int, i: int, place: int) -> tuple[Hashable, Any, int]:
        node = self.nodes[place]
        assert node.operation is not None
        assert node.perform is not None
        memo = (world, i, node.event, node.operation)
        if memo not in self._effects:
            self.world.restore(self.worlds[world])
            answer: Any
            actor = self.actors[i]
            try:
                answer = node.perform(self.world)
                if node.operation[0] == "ssm":
                    answer = as_read(actor, actor.event(node.event), node.operation, answer, immortal=self._immortal)
            except ClientError as error:
                answer = error
            self._effects[memo] = (repr(answer), answer, self.world_number(self.world.snapshot()))
        return self._effects[memo]

    def _ending(self, i: int, move: Move) -> Move:
        """If it ends without having handed over, its successor never begins."""
        if i in self._next and move.node & ENDED and self.actors[i].name not in self.worlds[move.world].handed_over:
            return move._replace(other=(self._next[i], DEAD))
        return move

    def _deaths(self, i: int, world: int, place: int) -> list[Move]:
        actor, snapshot = self.actors[i], self.worlds[world]
        if actor.name in snapshot.handed_over:
            return [Move(self._bury(actor, world, deaths=0), DEAD, None, "stops")]
        if actor.name not in self.crashes.of or not snapshot.deaths:
            return []
        deleted = self._bury(actor, world, deaths=1, stack=self._takes_its_stack_along(actor))
        stays = self._bury(actor, world, deaths=1)
        event = self.nodes[place].event
        moves = [self._ending(i, Move(deleted, DEAD, None, "dies"))]
        if self.crashes.again:
            moves.append(Move(stays, self.nodes.start(i, event), None, "dies, and its event is delivered again"))
        if actor.undo and event < len(actor.events):
            undone = self.nodes.start(i, len(actor.events))
            moves.append(Move(stays, undone, None, "dies, and is rolled back"))
        return moves

    def _handovers(self, i: int, world: int, place: int) -> list[Move]:
        snapshot = self.worlds[world]
        if i not in self._next or self.actors[i].name in snapshot.handed_over:
            return []
        handed = self.world_number(snapshot._replace(handed_over=snapshot.handed_over | {self.actors[i].name}))
        successor = self._next[i]
        return [Move(handed, place, (successor, self.nodes.start(successor, 0)), "hands over")]

    def _bury(self, actor: Actor, world: int, *, deaths: int, stack: bool = False) -> int:
        self.world.restore(self.worlds[world])
        self.world.expire_fences(actor)
        self.world.deaths -= deaths
        if stack:
            self.world.stacks.pop(actor.stack, None)
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
