"""What must never be: a reference lost, record and value apart for good, something left claimed for ever."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from strongref.contract.names import claim_tag
from strongref.errors import ExportsInUseError, PartialCreateError, StrongRefError
from tests.support.explorer.nodes import DEAD, DORMANT, Nodes
from tests.support.explorer.world import FENCES, VALUES, Direct, Told
from tests.support.fake_ssm import EPOCH

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from strongref.contract.response import Response
    from tests.support import fake_ssm
    from tests.support.explorer.actors import Actor
    from tests.support.explorer.session import Session
    from tests.support.explorer.world import Snapshot, World


class Verdicts:
    """Judges states."""

    def __init__(
        self, actors: Sequence[Actor], nodes: Nodes, world: World, drop: Callable[[Session], object], deaths: int
    ) -> None:
        self.actors = actors
        self.nodes = nodes
        self.world = world
        self._drop = drop
        self._deaths = deaths
        self._dropped: dict[Hashable, str | None] = {}

    def relies(self, snapshot: Snapshot, i: int, place: int) -> Response | None:
        """What an actor relies on, if it was answered and that counts."""
        actor, node = self.actors[i], self.nodes[place]
        if not actor.stays or not node.finished or not node.finished.answer or node.event >= len(actor.events):
            return None
        event = actor.event(node.event)
        if (event.stack, event.request_id) in self.nodes.contested:
            told = Told(event.stack, event.request_id, actor.name, node.finished.answer.physical_id)
            return node.finished.answer if told in snapshot.told else None
        return node.finished.answer

    def is_lost(self, snapshot: Snapshot, i: int, place: int) -> bool:
        """Whether an actor relies on a value that is not stored, not claimed by it, or not in the record."""
        answer = self.relies(snapshot, i, place)
        return answer is not None and not _relied_on(snapshot.store, self.actors[i], answer)

    def is_torn(self, snapshot: Snapshot, places: Sequence[int]) -> bool:
        """Whether everybody came to its end, nobody died, and record and parameters say different things.

        Who dies between the two leaves them so, and the next event of that Export makes it right.
        """
        if snapshot.deaths < self._deaths or any(place in (DEAD, DORMANT) for place in places):
            return False
        stored, recorded = _contents(snapshot.store)
        return any(key in recorded and recorded[key] != value for key, value in stored.items())

    def is_left(self, snapshot: Snapshot, places: Sequence[int]) -> str | None:
        """What is left for ever, once everybody came to an end: something that no exporter can drop.

        All stacks come to rest, those that were to be deleted are gone, and CloudFormation knows what it was answered.
        A fresh exporter that drops the value is to be refused if somebody relies on it, and to leave nothing behind if
        nobody does.
        """
        relying = {
            self.actors[i].stack: answer.physical_id
            for i, place in enumerate(places)
            if (answer := self.relies(snapshot, i, place)) and answer.data
        }
        store = frozenset(
            (name, slot.record._replace(version=1, modified=EPOCH)) for name, slot in snapshot.store if slot.record
        )
        key = (store, snapshot.stacks, frozenset(relying.items()))
        if key not in self._dropped:
            self._dropped[key] = self._left(snapshot, relying)
        return self._dropped[key]

    def _left(self, snapshot: Snapshot, relying: dict[str, str]) -> str | None:
        self.world.restore(snapshot)
        producers = {actor.stack for actor in self.actors if actor.fences}
        self.world.statuses = {
            arn: status if arn in producers else "UPDATE_COMPLETE"
            for arn, status in snapshot.stacks
            if status != "DELETE_IN_PROGRESS"
        }
        self.world.told = frozenset(Told(arn, "", "", physical_id) for arn, physical_id in relying.items())
        try:
            self._drop(Direct(self.world))
        except StrongRefError as error:
            refused = error.error if isinstance(error, PartialCreateError) else error
            if relying and isinstance(refused, ExportsInUseError):
                return None
            return f"nobody relies on anything, or is at work, and yet: {refused}"
        if relying:
            return "a value that is relied on could be dropped"
        left = [name for name in self.world.ssm._names() if name.startswith((VALUES, FENCES))]
        return f"left: {', '.join(left)}" if left else None


def _contents(store: fake_ssm.Snapshot) -> tuple[dict[str, str], dict[str, str]]:
    """What parameters and records say, by key."""
    stored: dict[str, str] = {}
    recorded: dict[str, str] = {}
    for name, slot in store:
        if slot.record and name.startswith(VALUES):
            stored[name.split("/")[7]] = slot.record.text
        elif slot.record and name.startswith("/strongref/records/"):
            recorded |= json.loads(slot.record.text)["values"]
    return stored, recorded


def _relied_on(store: fake_ssm.Snapshot, actor: Actor, answer: Response) -> bool:
    stored, recorded = _contents(store)
    claims = {
        name.split("/")[7]: dict(slot.record.tags).get(claim_tag(answer.physical_id))
        for name, slot in store
        if slot.record and name.startswith(VALUES)
    }
    return all(
        stored.get(key) == value and recorded.get(key) == value and claims.get(key) == actor.stack
        for key, value in answer.data.items()
    )
