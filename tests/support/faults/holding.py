"""What holds after every delivery of an event, whatever came of it: the invariants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.names import CLAIM_TAG
from tests.support.faults.state import EXPORTS, stored
from tests.support.faults.world import SECRET, Visit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.fake_ssm import Record
    from tests.support.faults.functions import Delivery
    from tests.support.faults.scenario import Scenario
    from tests.support.faults.state import Name
    from tests.support.faults.world import Request, World

SECURE = f"{SECRET}secure"
"""What the text of every secure value begins with: it may not even be in an answer's data."""


@dataclass(frozen=True)
class Holding:
    """What one scenario's event must not touch.

    Attributes:
        world: where.
        request: the event.
        claimed: the values that somebody relies on, with the claims, but for one that is to be let go.
        foreign: parameters that are nobody's to touch.
        propagates: claimed values may change.
    """

    world: World
    request: Request | Visit
    claimed: Mapping[Name, tuple[Record, frozenset[str]]]
    foreign: Mapping[Name, Record]
    propagates: bool

    @classmethod
    def begin(cls, world: World, request: Request | Visit, scenario: Scenario) -> Holding:
        """What is there now; it has to be what the scenario says."""
        there = dict(stored(world.regions))
        claims = {
            name: frozenset(
                key
                for key, arn in record.tags
                if key.startswith(CLAIM_TAG) and key != request.lets_go and world.holds(key, arn)
            )
            for name, record in there.items()
            if name[1].startswith(EXPORTS)
        }
        claimed = {name: (there[name], tags) for name, tags in claims.items() if tags}
        foreign = {name: there[name] for name in scenario.foreign}
        assert claimed.keys() == set(scenario.claimed), claimed.keys()
        return cls(world, request, claimed, foreign, scenario.propagates)

    def problems(self, delivery: Delivery) -> Iterator[str]:
        """What does not hold; nothing, as it should be."""
        there = dict(stored(self.world.regions))
        yield from (f"{name} was touched" for name, record in self.foreign.items() if there.get(name) != record)
        for name, (record, claims) in self.claimed.items():
            found = there.get(name)
            if found is None:
                yield f"{name} is gone, which is claimed"
            elif not self.propagates and (found.kind, found.text) != (record.kind, record.text):
                yield f"{name} is changed, which is claimed"
            elif not claims <= {key for key, _ in found.tags}:
                yield f"{name} has lost a claim"
        if self.request.outcome(delivery) == "SUCCESS" and any(
            key == self.request.lets_go for record in there.values() for key, _ in record.tags
        ):
            yield "the claim is not let go"
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
        if isinstance(self.request, Visit):
            yield "nobody asked for an answer"
            return
        ids = {"StackId": self.request.stack, "LogicalResourceId": self.request.logical_id}
        if not (ids.items() <= answer.items() and answer["PhysicalResourceId"] and answer["RequestId"]):
            yield f"the answer has not the right ids: {answer}"
        if SECRET in answer["Reason"] or SECURE in str(answer):
            yield f"a secret is answered: {answer}"
        if delivery.status == "FAILED" and not answer["Reason"]:
            yield "a failure has no reason"
