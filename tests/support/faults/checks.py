"""What must hold after every delivery of an event, whatever its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.names import CLAIM_TAG
from strongref.contract.unclaimed import UNCLAIMED
from tests.support.cloudformation.requests import ResourceRequest
from tests.support.cloudformation.stacks import ROLLBACK
from tests.support.faults.scenario import FOREIGN
from tests.support.faults.world import SECRET, JanitorVisit, outcome, released_claim
from tests.support.invariants import EXPORTS, Reference, lost, stored, unindexed, value_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.support.fake_ssm import FakeParameter
    from tests.support.faults.functions import Delivery
    from tests.support.faults.scenario import Scenario
    from tests.support.faults.world import Request, World
    from tests.support.invariants import Name

SECURE = f"{SECRET}secure"
"""The beginning of the text of every secure value: it may not even be in an answer's data."""


@dataclass(frozen=True)
class DeliveryChecks:
    """What one scenario's event must not touch.

    Attributes:
        world: that it is delivered in.
        request: the event.
        references: the values that somebody relies on, with their claims, without the one that is to be released.
        foreign: parameters that must not be touched.
        unindexed: what the index did not name before.
    """

    world: World
    request: Request
    references: Sequence[Reference]
    foreign: Mapping[Name, FakeParameter]
    unindexed: set[str]

    @classmethod
    def begin(cls, world: World, request: Request, scenario: Scenario) -> DeliveryChecks:
        """What is there now; it must be what the scenario says."""
        there = stored(world.regions)
        released = released_claim(request)
        references = [
            Reference(name, claims, None if scenario.propagates else value_of(found))
            for name, found in there.items()
            if name[1].startswith(EXPORTS)
            and (
                claims := frozenset(
                    (key, arn)
                    for key, arn in found.tags
                    if key.startswith(CLAIM_TAG) and key != released and world.protects(key, arn)
                )
            )
        ]
        claimed = {reference.name for reference in references}
        assert claimed == set(scenario.claimed), claimed
        foreign = {name: there[name] for name in (*FOREIGN, *scenario.foreign)}
        return cls(world, request, references, foreign, unindexed(there))

    def problems(self, delivery: Delivery) -> Iterator[str]:
        """What does not hold; nothing, as it should be."""
        there = stored(self.world.regions)
        yield from (f"{name} was touched" for name, found in self.foreign.items() if there.get(name) != found)
        for reference in self.references:
            if problem := lost(reference, there):
                yield f"{reference.name} is {problem}"
        if outcome(self.request, delivery) == "SUCCESS" and any(
            key == released_claim(self.request) for found in there.values() for key, _ in found.tags
        ):
            yield "the claim is not released"
        is_rollback = (
            isinstance(self.request, ResourceRequest) and self.world.stacks[self.request.stack].status == ROLLBACK
        )
        if not is_rollback and any(name.startswith(UNCLAIMED) for _, name in there):
            yield "something was returned without protection"
        yield from sorted(unindexed(there) - self.unindexed)
        yield from delivery.errors
        for line in delivery.printed.splitlines():
            if SECRET in line:
                yield f"a secret is printed: {line[:500]}"
        if delivery.raised and SECRET in str(delivery.raised):
            yield f"a secret is raised: {delivery.raised}"
        yield from self._answered(delivery)

    def _answered(self, delivery: Delivery) -> Iterator[str]:
        if any(answer != delivery.answer for answer in delivery.answers):
            yield f"there are several answers: {delivery.answers}"
        answer = delivery.answer
        if not answer:
            return
        if isinstance(self.request, JanitorVisit):
            yield "nobody asked for an answer"
            return
        ids = {"StackId": self.request.stack, "LogicalResourceId": self.request.logical_id}
        if not (ids.items() <= answer.items() and answer["PhysicalResourceId"] and answer["RequestId"]):
            yield f"the answer does not have the right IDs: {answer}"
        if SECRET in answer["Reason"] or SECURE in str(answer):
            yield f"a secret is answered: {answer}"
        if delivery.status == "FAILED" and not answer["Reason"]:
            yield "a failure has no reason"
