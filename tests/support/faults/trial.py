"""Tries one scenario's event with a fault at every call of it, and reports what does not hold then."""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from unittest.mock import patch

from strongref.contract.index import DENIED
from strongref.contract.names import CLAIM_TAG
from strongref.protocol.lag import VARIABLE
from tests.support import orders
from tests.support.fake_ssm import EPOCH
from tests.support.faults.checks import DeliveryChecks
from tests.support.faults.fault_types import ANSWER, FAULTS, Fault
from tests.support.faults.scenario import FOREIGN, Foreign
from tests.support.faults.wire import Call, Wire
from tests.support.faults.world import JanitorVisit, World, outcome
from tests.support.invariants import FENCES, leftovers, stored

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from strongref.protocol.ports import SideBySide
    from tests.support.fake_ssm import FakeParameter
    from tests.support.faults.functions import Delivery
    from tests.support.faults.scenario import Scenario
    from tests.support.faults.state import AccountState
    from tests.support.invariants import Name

SOON, IN_VAIN = 5.0, 3600.0
"""After how many seconds CloudFormation rolls back an event that was answered, and one that was not."""

ALIKE_SECONDS = 10.0
"""Times in the same stretch of so many seconds make no difference to what follows a delivery."""


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
        calm: the delivery in which nothing goes wrong.
        flaws: what does not hold even then; empty, as it should be.
    """

    def __init__(self, scenario: Scenario, world: World, *, each: bool = False) -> None:
        """Take the steps before, and deliver the event with nothing going wrong.

        Args:
            scenario: that is tried.
            world: for it alone.
            each: try what follows a fault for each point, also where all that it depends on is the same as for another.
        """
        self._scenario = scenario
        self._world = world
        self._each = each
        self._followed: dict[Hashable, list[str]] = {}
        for step in (*map(Foreign, FOREIGN), *scenario.before):
            step.take(world)
        world.time.sleep(SOON)  # so that only what the event's phase changes, and what it does, can lag
        self._request = scenario.change.begin(world)
        self._start = world.moment()
        self._before = self._undone = world.state()
        self._checks = DeliveryChecks.begin(world, self._request, scenario)
        self.calm = world.deliver(self._request)
        self._after, self._held = world.state(), world.holds()
        self.flaws = [*self._at_once(self.calm), *self._in_the_end(self.calm)]
        if outcome(self._request, self.calm) != scenario.ends:
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
        """What does not hold if something goes wrong there; empty, as it should be."""
        world = self._world
        world.go_back(self._start)
        delivery = world.deliver(self._request, Wire(world.time, point.fault, point.number))
        found = [f"at once: {problem}" for problem in self._at_once(delivery)]
        if not delivery.struck:
            found.append("at once: that call was never made")
        what = None if self._each else self._what_follows_depends_on(delivery)
        follows = self._followed.get(what) if what else None
        if follows is None:
            moment = world.moment()
            follows = [f"delivered again: {problem}" for problem in self._again(delivery)]
            world.go_back(moment)
            follows += [f"in the end: {problem}" for problem in self._in_the_end(delivery)]
            self._followed[what] = follows
        return [f"{self._scenario}: {point}: {problem}" for problem in found + follows]

    def outages(self) -> Iterator[tuple[str, int]]:
        """Every region but the stack's own that the event reaches, and every call from which on it may be away."""
        world = self._world
        world.go_back(self._start)
        with world.counted() as calls:
            world.deliver(self._request)
        home = "" if isinstance(self._request, JanitorVisit) else self._request.region
        yield from ((region, at) for region, most in calls.items() if region != home for at in range(most))

    def outage_problems(self, region: str, at: int) -> list[str]:
        """What does not hold if a region is away from a call on, until CloudFormation has rolled back.

        A rollback may fail as long as it is away. If it does not, all is as it was, though nobody can see that.
        """
        world, again = self._world, self._scenario.same_again
        world.go_back(self._start)
        found: list[str] = []
        with world.away(region, at):
            delivery = world.deliver(self._request)
            found += self._checks.problems(delivery)
            if not again:
                world.note(self._request, delivery)
            is_over = delivery.status == "SUCCESS"
            if not is_over:
                world.time.sleep(SOON if delivery.answer else IN_VAIN)
                for delivery in world.undo(self._request, again=again):
                    found += self._checks.problems(delivery)
                is_over = world.is_at_rest(self._request)
        if is_over and delivery.status == "SUCCESS" and not again:
            found += self._differences(world.state()) if "ROLLBACK" in world.status(self._request) else []
        world.time.sleep(IN_VAIN)  # Its fences have expired.
        if not is_over:
            for delivery in world.undo(self._request, again=again):
                found += self._checks.problems(delivery)
                if outcome(self._request, delivery) != (self._scenario.ends if again else "SUCCESS"):
                    found.append(f"stuck: it ends with {delivery.answer or delivery.raised}")
            found += world.state().differences(self._after) if again else self._differences(world.state())
        return [f"{self._scenario}: {region} is away from call {at} on: {problem}" for problem in found]

    def _at_once(self, delivery: Delivery) -> Iterator[str]:
        yield from self._checks.problems(delivery)
        ended = outcome(self._request, delivery)
        if ended == "SUCCESS":
            if self._scenario.ends != "SUCCESS":
                yield "it succeeds"
            yield from self._as_answered(delivery)
            yield from self._world.state().differences(self._after)
            if not self._held <= self._world.holds() and not self._scenario.may_lack_hold:
                yield f"not held: {sorted(name for name, _ in self._held - self._world.holds())}"
        if self._scenario.writes_nothing:
            yield from (f"it writes: {call}" for call in delivery.calls if call.took_effect and _writes(call))
        if ended == "NONE" and not delivery.died and all(call.action != ANSWER for call in delivery.calls):
            yield "nobody answers"
        yield from self._leftover_fences(delivery)

    def _what_follows_depends_on(self, first: Delivery) -> Hashable:
        """All that is stored, and what CloudFormation got and has; of times, how long ago or ahead they are, roughly.

        Most faults lead to one of few states: that of a calm delivery, or those between its writes. Nobody reads the
        reason of an answer.
        """
        world = self._world
        passed = (world.time.seconds - self._start.seconds) // ALIKE_SECONDS
        there = Counter(self._undated(name, found) for name, found in stored(world.regions).items())
        answer = json.dumps({**(first.answer or {}), "Reason": ""}, sort_keys=True)
        return (
            outcome(self._request, first),
            answer,
            passed,
            frozenset(there.items()),
            repr(sorted(world.stacks.items())),
        )

    def _undated(self, name: Name, found: FakeParameter) -> Hashable:
        region, path = name
        if not path.startswith(FENCES):
            return region, path, found._replace(modified=EPOCH)
        fence = json.loads(found.text)
        left = (datetime.fromisoformat(fence.pop("until")) - self._world.now()).total_seconds() // ALIKE_SECONDS
        return region, path.rpartition(".")[0], found.tags, json.dumps(fence), left

    def _again(self, first: Delivery) -> Iterator[str]:
        """Deliver the event again."""
        world = self._world
        if first.answer:
            world.note(self._request, first)
        fences, found = world.fences(), world.state()
        world.time.sleep(self._scenario.again)
        over = world.is_over(self._request)
        delivery = world.deliver(self._request)
        yield from self._checks.problems(delivery)
        if over:
            if delivery.answers:
                yield f"it answers too late: {delivery.answer}"
            yield from world.state().differences(found)
            return
        if outcome(self._request, delivery) != self._scenario.ends:
            yield f"it ends with {delivery.answer or delivery.raised}"
        elif self._scenario.ends == "SUCCESS":
            yield from self._as_answered(delivery)
        yield from world.state().differences(self._after)
        yield from leftovers(world.fences() - fences)

    def _in_the_end(self, first: Delivery) -> Iterator[str]:
        """CloudFormation goes on: it rolls back what failed, was not answered, or is undone for another reason."""
        world, scenario = self._world, self._scenario
        if outcome(self._request, first) == "SUCCESS" and (scenario.same_again or first is not self.calm):
            return
        world.note(self._request, first)
        world.time.sleep(SOON if first.answer else IN_VAIN)
        fences = world.fences()
        again = scenario.same_again or isinstance(self._request, JanitorVisit)
        deliveries = world.undo(self._request, again=again)
        for delivery in deliveries:
            yield from self._checks.problems(delivery)
            if outcome(self._request, delivery) != (scenario.ends if again else "SUCCESS"):
                yield f"it ends with {delivery.answer or delivery.raised}"
        yield from leftovers(world.fences() - fences)
        if again:
            yield from world.state().differences(self._after)
        elif scenario.mends and first is self.calm:
            self._undone = world.state()
        else:
            yield from self._as_before()

    def _as_before(self) -> Iterator[str]:
        """All is as it was, except for what was mended, and for stale claims, which heal."""
        world, scenario = self._world, self._scenario
        stale = self._stale() if scenario.strands else frozenset()
        yield from self._differences(world.state().without_tags(stale))
        if stale:
            for step in scenario.heals:
                step.take(world)
            unhealed = world.state().without_tags(stale, only=frozenset(scenario.claimed))
            yield from (f"though healed, {problem}" for problem in self._differences(unhealed))

    def _differences(self, state: AccountState) -> list[str]:
        """How a state differs from both that a rollback may lead to; empty if it is one of them."""
        return min((state.differences(wanted) for wanted in (self._before, self._undone)), key=len)

    def _as_answered(self, delivery: Delivery) -> Iterator[str]:
        """The answer is that of a run in which nothing goes wrong, except for notices."""
        answer, calm = ({**(each.answer or {}), "Reason": ""} for each in (delivery, self.calm))
        if answer != calm:
            yield f"the answer is {answer}, not {calm}"

    def _leftover_fences(self, delivery: Delivery) -> Iterator[str]:
        """A fence may be left by a function that died, or could not delete it or have it expire soon: it expires."""
        tried = {
            name
            for call in delivery.calls
            if call.action.startswith("DeleteParameters") and not call.took_effect
            for name in call.request["Names"]
        } | {
            call.request["Name"]
            for call in delivery.calls
            if call.action.startswith("PutParameter")
            and not call.took_effect
            and '"done":true' in call.request["Value"]
        }
        out_of_time = self._world.time.seconds - self._start.seconds > self._scenario.seconds / 2
        for region, name in self._world.fences():
            if not (delivery.died or name in tried or out_of_time):
                yield from leftovers([(region, name)])

    def _stale(self) -> frozenset[str]:
        """Claims that did not exist before, and protect nothing."""
        before = {tag for _, _, tags in self._before.parameters.values() for tag in tags}
        return frozenset(
            key
            for found in stored(self._world.regions).values()
            for key, arn in set(found.tags) - before
            if key.startswith(CLAIM_TAG) and not self._world.protects(key, arn)
        )


def _writes(call: Call) -> bool:
    """Whether a call changes anything but what is noted of an account that denies it."""
    is_note = str(call.request.get("Name")).endswith(f"/{DENIED}")
    return call.action.startswith(("Put", "Delete", "Add", "Remove")) and not is_note


@contextmanager
def trial(
    scenario: Scenario, lag: float = 0.0, side_by_side: SideBySide = orders.in_flight, *, each: bool = False
) -> Iterator[Trial]:
    """A scenario, ready to be tried as long as this lasts.

    Args:
        scenario: that is tried.
        lag: by how many seconds reads may lag.
        side_by_side: as for `World`.
        each: as for `Trial`. Where reads lag, what was there before counts as well, so each point is tried.
    """
    world = World(scenario.seconds, lag, side_by_side)
    environment = {VARIABLE: str(lag), **scenario.environment}
    with patch.dict(os.environ, environment), world.functions.installed():
        yield Trial(scenario, world, each=each or lag > 0)
