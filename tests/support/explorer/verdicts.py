"""What must never be: a reference lost, a value torn from its record for good, a leftover that nobody can remove."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.contract.index import INDEX
from strongref.contract.names import Key, StackArn, claim_tag
from strongref.contract.values import ParameterType, Value
from strongref.errors import PartialCreateError, StrongRefError
from strongref.refusals import ExportsInUseError
from tests.support.cloudformation.stacks import DELETING
from tests.support.explorer.nodes import DEAD, DORMANT, Nodes
from tests.support.explorer.world import REGION, DirectSession, TakenAnswer
from tests.support.fake_ssm import EPOCH
from tests.support.invariants import Reference, leftovers, lost, published, records, torn, torn_values

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from strongref.contract.names import ExportScope, Producer
    from strongref.contract.response import Response
    from tests.support import fake_ssm
    from tests.support.explorer.actors import Actor
    from tests.support.explorer.session import Session
    from tests.support.explorer.world import World, WorldState
    from tests.support.fake_ssm import FakeParameter
    from tests.support.invariants import Name


STOPPED = ("DeniedAbroadError", "PartialCreateError")
"""How an event ends that another account let in, and then denied the rest."""


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
        self._claimed = {tag for found in world.ssm.parameters().values() for tag in found.tags}  # before all this
        self._dropped: dict[Hashable, str | None] = {}
        self._needs_hold = any(stack.exports for stack in world.stacks.values())

    def imported(self, state: WorldState, i: int, place: int) -> Response | None:
        """What an actor relies on, if it was answered and that answer counts."""
        actor, node = self.actors[i], self.nodes[place]
        if not actor.stays or not node.finished or not node.finished.answer or node.event >= len(actor.events):
            return None
        event = actor.event(node.event)
        if (event.stack, event.request_id) in self.nodes.contested:
            own = TakenAnswer(event.stack, event.request_id, actor.name, node.finished.answer.physical_id)
            return node.finished.answer if own in state.answers else None
        return node.finished.answer

    def is_lost(self, state: WorldState, i: int, place: int) -> bool:
        """Whether an actor relies on a value that is lost, or torn from its record."""
        answer = self.imported(state, i, place)
        if answer is None or not answer.data:
            return False
        event = self.actors[i].event(self.nodes[place].event)
        is_new = (claim_tag(answer.physical_id), event.stack) not in self._claimed
        if is_new and any((event.stack, key) in state.rivals for key in answer.data):
            return True  # Several producers published it when it claimed, and still do.
        there = _stored(state.store)
        said = records(there)
        return not all(
            any(
                not lost(reference, there)
                and not torn(reference, published(reference, said))
                and not (self._needs_hold and not _has_producer(state, scope.producer))
                for scope, reference in self._references(event.stack, answer, key)
            )
            for key in answer.data
        )

    def _references(self, stack: str, answer: Response, key: str) -> Iterator[tuple[ExportScope, Reference]]:
        """What somebody who was answered may rely on: a value of any of the scopes."""
        claims = frozenset({(claim_tag(answer.physical_id), stack)})
        value = Value(ParameterType.STRING, str(answer.data[key]))
        for scope in self.world.scopes:
            yield scope, Reference((REGION, scope.parameter_name(Key(key))), claims, value)

    def is_torn(self, state: WorldState, places: Sequence[int]) -> bool:
        """Whether everybody finished, nobody died, and a value is torn from its record.

        An actor that dies between the two, or whose account denies it the rest, leaves them so, and the next event of
        that Export makes it right.
        """
        if state.deaths < self._deaths or any(place in (DEAD, DORMANT) for place in places):
            return False
        errors = {node.finished.error for place in places if (node := self.nodes[place]).finished}
        if self.world.revocable and not errors.isdisjoint(STOPPED):
            return False
        return bool(torn_values(_stored(state.store)))

    def leftover(self, state: WorldState, places: Sequence[int]) -> str | None:
        """What is left over forever, once everybody finished: something that no exporter can drop.

        All stacks come to rest, those that were to be deleted are deleted, and CloudFormation has their
        answers. A fresh exporter that drops the value must be refused if somebody relies on it, and must leave
        nothing behind if nobody does.
        """
        relying = {
            self.actors[i].stack: answer.physical_id
            for i, place in enumerate(places)
            if (answer := self.imported(state, i, place)) and answer.data
        }
        store = frozenset(
            (name, slot.parameter._replace(version=1, modified=EPOCH)) for name, slot in state.store if slot.parameter
        )
        key = (store, state.stacks, frozenset(relying.items()))
        if key not in self._dropped:
            self._dropped[key] = self._leftover(state, relying)
        return self._dropped[key]

    def _leftover(self, state: WorldState, relying: dict[str, str]) -> str | None:
        self.world.restore(state)
        self.world.settle()
        producers = {actor.stack for actor in self.actors if actor.fences}
        self.world.set_statuses(
            {
                arn: status if arn in producers else "UPDATE_COMPLETE"
                for arn, status in state.stacks
                if status != DELETING
            }
        )
        self.world.answers = frozenset(TakenAnswer(arn, "", "", physical_id) for arn, physical_id in relying.items())
        try:
            for _ in range(2):  # The second event finds nothing, and takes the place out of the index.
                self._drop(DirectSession(self.world))
        except StrongRefError as error:
            refused = error.error if isinstance(error, PartialCreateError) else error
            if relying and isinstance(refused, ExportsInUseError):
                return None
            return f"leftover: nobody relies on anything or is at work, and still: {refused}"
        if relying:
            return "lost: a value that is relied on could be dropped"
        there = _stored(self.world.ssm.snapshot())
        # With its hold, an Export that publishes nothing stays in the index. The janitor removes a former stack's.
        exporting = [f'"stack":"{actor.stack}"' for actor in self.actors if actor.fences and actor.status]
        former = {name for name, each in there.items() if not any(stack in each.text for stack in exporting)}
        spared = {name for name in there if INDEX in name[1] and (self._needs_hold or name in former)}
        return "; ".join(leftovers(there.keys() - spared)) or None


def _has_producer(state: WorldState, of: Producer) -> bool:
    """Whether a producer's stack has a CloudFormation export, and is not being deleted."""
    statuses = dict(state.stacks)
    stacks = [each.arn for each in state.held if each.exports and statuses[each.arn] != DELETING]
    return any(StackArn.parse(arn).producer == of for arn in stacks)


def _stored(store: fake_ssm.Snapshot) -> dict[Name, FakeParameter]:
    return {(REGION, name): slot.parameter for name, slot in store if slot.parameter}
