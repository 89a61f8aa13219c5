"""Tries one scenario's event with a fault at every call of it, and tells what does not hold then."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unittest.mock import patch

from strongref.contract.names import CLAIM_TAG
from tests.support.faults.holding import Holding
from tests.support.faults.state import stored
from tests.support.faults.trouble import ANSWER, FAULTS, Fault
from tests.support.faults.undoing import undo
from tests.support.faults.wire import Wire
from tests.support.faults.world import Visit, World

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.faults.functions import Delivery
    from tests.support.faults.scenario import Scenario
    from tests.support.faults.state import State

SOON, IN_VAIN = 5.0, 3600.0
"""After how many seconds CloudFormation rolls back what was answered, and what was not."""


@dataclass(frozen=True)
class Point:
    """A fault at one call of a scenario's event."""

    number: int
    action: str
    fault: Fault

    def __str__(self) -> str:
        return f"call {self.number} ({self.action}) {self.fault.name}"


class Trial:
    """One scenario, ready to be tried.

    Attributes:
        calm: what comes of the event if nothing goes wrong.
        flaws: what does not hold even then; nothing, as it should be.
    """

    def __init__(self, scenario: Scenario, world: World) -> None:
        """Bring the world there, and see what comes of the event if nothing goes wrong."""
        self._scenario = scenario
        self._world = world
        for step in scenario.before:
            step.take(world)
        self._request = scenario.change.begin(world)
        self._start = world.moment()
        self._before = self._undone = world.state()
        self._holding = Holding.begin(world, self._request, scenario)
        self.calm = world.ask(self._request)
        self._after = world.state()
        self.flaws = [*self._at_once(self.calm), *self._in_the_end(self.calm)]
        if self._request.outcome(self.calm) != scenario.ends:
            self.flaws.append(f"it ends with {self.calm.answer or self.calm.raised}")

    def points(self, fault: Fault) -> list[Point]:
        """Every call at which a fault can be tried."""
        return [
            Point(number, call.action, fault)
            for number, call in enumerate(self.calm.calls)
            if fault.applies_to(call.action)
        ]

    def all_points(self) -> list[Point]:
        """Every fault at every call."""
        return [point for fault in FAULTS for point in self.points(fault)]

    def problems(self, point: Point) -> list[str]:
        """What does not hold if something goes wrong there; nothing, as it should be."""
        world = self._world
        world.go_back(self._start)
        delivery = world.ask(self._request, Wire(world.time, point.fault, point.number))
        told = [f"at once: {problem}" for problem in self._at_once(delivery)]
        if not delivery.struck:
            told.append("at once: it never came to that call")
        moment = world.moment()
        told += [f"delivered again: {problem}" for problem in self._again(delivery)]
        world.go_back(moment)
        told += [f"in the end: {problem}" for problem in self._in_the_end(delivery)]
        return [f"{self._scenario}: {point}: {problem}" for problem in told]

    def _at_once(self, delivery: Delivery) -> Iterator[str]:
        yield from self._holding.problems(delivery)
        outcome = self._request.outcome(delivery)
        if outcome == "SUCCESS":
            if self._scenario.ends != "SUCCESS":
                yield "it succeeds"
            yield from self._as_answered(delivery)
            yield from self._world.state().differences(self._after)
        if outcome == "NONE" and not delivery.died and delivery.calls[-1].action != ANSWER:
            yield "nobody answers"
        yield from self._left_standing(delivery)

    def _again(self, first: Delivery) -> Iterator[str]:
        """The same event is delivered once more."""
        world = self._world
        if first.answer:
            world.note(self._request, first)
        fences = world.fences()
        world.time.sleep(self._scenario.again)
        delivery = world.ask(self._request)
        yield from self._holding.problems(delivery)
        if self._request.outcome(delivery) != self._scenario.ends:
            yield f"it ends with {delivery.answer or delivery.raised}"
        elif self._scenario.ends == "SUCCESS":
            yield from self._as_answered(delivery)
        yield from world.state().differences(self._after)
        yield from (f"fence {name} is left" for name in world.fences() - fences)

    def _in_the_end(self, first: Delivery) -> Iterator[str]:
        """CloudFormation goes on: it rolls back what failed, or was not answered, or is undone for another reason."""
        world, scenario = self._world, self._scenario
        if self._request.outcome(first) == "SUCCESS" and (scenario.same_again or first is not self.calm):
            return
        world.note(self._request, first)
        world.time.sleep(SOON if first.answer else IN_VAIN)
        fences = world.fences()
        again = scenario.same_again or isinstance(self._request, Visit)
        deliveries = undo(world, self._request, again=again)
        for delivery in deliveries:
            yield from self._holding.problems(delivery)
            if self._request.outcome(delivery) != (scenario.ends if again else "SUCCESS"):
                yield f"it ends with {delivery.answer or delivery.raised}"
        yield from (f"fence {name} is left" for name in world.fences() - fences)
        if again:
            yield from world.state().differences(self._after)
        elif scenario.mends and first is self.calm:
            self._undone = world.state()
        else:
            yield from self._as_before()

    def _as_before(self) -> Iterator[str]:
        """All is as it was, or but for what was mended; and but for claims that protect nothing, and heal."""
        world, scenario = self._world, self._scenario
        stale = self._stale() if scenario.strands else frozenset()
        yield from self._neither_nor(world.state().without_tags(stale))
        if stale:
            for step in scenario.heals:
                step.take(world)
            unhealed = world.state().without_tags(stale, only=frozenset(scenario.claimed))
            yield from (f"though healed, {problem}" for problem in self._neither_nor(unhealed))

    def _neither_nor(self, state: State) -> list[str]:
        """How a state differs from both that a roll-back may lead to; nothing, if it is one of them."""
        return min((state.differences(wanted) for wanted in (self._before, self._undone)), key=len)

    def _as_answered(self, delivery: Delivery) -> Iterator[str]:
        """The answer is that of an undisturbed run, but for notices: who goes on finds nothing left to tell of."""
        answer, calm = ({**(each.answer or {}), "Reason": ""} for each in (delivery, self.calm))
        if answer != calm:
            yield f"the answer is {answer}, not {calm}"

    def _left_standing(self, delivery: Delivery) -> Iterator[str]:
        """A fence may be left by a function that died, or could not take it away: it falls when its time is up."""
        tried = {
            name
            for call in delivery.calls
            if call.action == "DeleteParameters" and not call.took_effect
            for name in call.request["Names"]
        }
        out_of_time = self._world.time.seconds - self._start.seconds > self._scenario.seconds / 2
        for region, name in self._world.fences():
            if not (delivery.died or name in tried or out_of_time):
                yield f"fence {name} is left in {region}"

    def _stale(self) -> frozenset[str]:
        """Claims that were not there before, and protect nothing."""
        before = {tag for _, _, tags in self._before.parameters.values() for tag in tags}
        return frozenset(
            key
            for _, record in stored(self._world.regions)
            for key, arn in set(record.tags) - before
            if key.startswith(CLAIM_TAG) and not self._world.holds(key, arn)
        )


@contextmanager
def trial(scenario: Scenario) -> Iterator[Trial]:
    """A scenario, ready to be tried as long as this lasts."""
    world = World(scenario.seconds)
    with patch.dict(os.environ, scenario.environment), world.functions.installed():
        yield Trial(scenario, world)
