"""The actors' states: each a history of answers, found again by running the code over it."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from strongref.errors import StrongRefError
from tests.support.explorer.actors import Actor, Finished
from tests.support.explorer.session import Session, Suspended, laptop

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from strongref.contract.event import Event
    from strongref.contract.response import Response
    from tests.support.explorer.session import Operation
    from tests.support.explorer.world import World

BITS = 24
MASK = (1 << BITS) - 1
ENDED = 1 << (BITS - 1)
"""Set in the number of every node of an actor that has nothing more to do."""

DEAD = ENDED
"""The node of an actor that died, or will never begin."""

ABROAD = ("RoleDeniedError", "OutOfReachError")
"""The errors of events that another account stopped before they began to write."""

DORMANT = 0
"""The node of an actor that begins when another hands over to it."""


@dataclass
class Node:
    """An actor after a history: its next operation, or how its event ended."""

    actor: str
    life: int
    event: int
    history: tuple[Any, ...]
    operation: Operation | None
    perform: Callable[[World], Any] | None
    finished: Finished | None
    remembered: Hashable
    after: dict[Hashable, int] = field(default_factory=dict)


class Nodes:
    """All nodes found so far, by number."""

    def __init__(self, actors: Sequence[Actor], *, merge_ends: bool, lag: int = 0) -> None:
        """Begin with none.

        Args:
            actors: whose.
            merge_ends: nobody looks at how an actor ended: ends with the same outcome are one node.
            lag: by how many ticks reads may lag.
        """
        self.actors = actors
        self._merge_ends = merge_ends
        self._lag = lag
        self.turns_round = True  # calls side by side, also those of one region
        nobody = Node("", 0, 0, (), None, None, None, None)
        self._open = [nobody]
        self._ended = [nobody]
        self._roots: dict[Hashable, int] = {}
        self._ends: dict[Hashable, int] = {}
        requests = [(event.stack, event.request_id) for actor in actors for event in actor.events]
        self.contested = frozenset(request for request in requests if requests.count(request) > 1)
        """Requests that several actors may answer; of all others, an answer counts as soon as it is made."""

    def __getitem__(self, number: int) -> Node:
        return self._ended[number & ~ENDED] if number & ENDED else self._open[number]

    def finished(self) -> list[Node]:
        """Every node at which an actor ended, other than by death."""
        return [node for node in self._ended if node.finished]

    def start(self, i: int, event: int, life: int = 0) -> int:
        """An actor that gets an event; `life` counts its deaths before that, where their fences are still there."""
        return self._root(i, life, event, (i, life, event), ())

    def restart(self, i: int, number: int) -> int:
        """After a pause an attempt begins again; all that it carries over is what it remembers."""
        node = self[number]
        key = (i, node.life, node.event, node.remembered)
        return self._root(i, node.life, node.event, key, (*node.history, True))

    def answer(self, i: int, number: int, key: Hashable, answer: Any) -> int:
        """An actor whose pending call got an answer."""
        node = self[number]
        if key not in node.after:
            then = self._run(i, node.life, node.event, (*node.history, answer))
            finished = self[then].finished
            if finished and finished.answer and node.event + 1 < len(self.actors[i].events):
                then = self.start(i, node.event + 1, node.life)
            node.after[key] = then
        return node.after[key]

    def _root(self, i: int, life: int, event: int, key: Hashable, history: tuple[Any, ...]) -> int:
        if key not in self._roots:
            self._roots[key] = self._run(i, life, event, history)
        return self._roots[key]

    def _run(self, i: int, life: int, event: int, history: tuple[Any, ...]) -> int:
        """Run an actor's code over a history."""
        actor = self.actors[i]
        session = Session(fence_token(actor, life, event), history, self._lag, actor.slow_after)
        session.turns_round = self.turns_round
        session.account = actor.stack.split(":")[4]
        if actor.off:
            session.clock, session.trusts_itself = laptop(actor.off), actor.trusts_itself
        finished = None
        with suppress(Suspended):
            finished = self._handle(actor, actor.event(event), session)
        operation, perform = session.pending or (None, None)
        node = Node(actor.name, life, event, history, operation, perform, finished, session.remembered)
        if finished is None:
            self._open.append(node)
            return len(self._open) - 1
        outcome = (i, life, event, finished.error, finished.wrote, finished.answer and _text(finished.answer))
        if not self._merge_ends or outcome not in self._ends:
            self._ends[outcome] = ENDED | len(self._ended)
            self._ended.append(node)
        return self._ends[outcome]

    def _handle(self, actor: Actor, event: Event, session: Session) -> Finished:
        if actor.begins:
            session.ask(("status", "begins", actor.begins), lambda world: world.set_status(actor.stack, actor.begins))
        try:
            finished = Finished(actor.handle(session, event))
        except StrongRefError as error:
            # What was written matters where nothing may be: `verdicts.wrote_denied`.
            wrote = frozenset(session.wrote) if type(error).__name__ in ABROAD else frozenset()
            finished = Finished(None, type(error).__name__, wrote)
        if (event.stack, event.request_id) in self.contested:
            physical_id = finished.answer.physical_id if finished.answer else ""
            session.ask(("answer", "", physical_id), lambda world: world.take(actor, event, physical_id))
        return finished


def fence_token(actor: Actor, life: int, event: int) -> str:
    """How the names of an actor's fences end; another one in each of its lives and for each of its events."""
    return f"{actor.name}{event or ''}" + "'" * life


def _text(answer: Response) -> str:
    return json.dumps([answer.physical_id, answer.data], sort_keys=True)
