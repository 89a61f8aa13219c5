"""The events that CloudFormation would send to the Exports of a stack, and what the exporter would do for them. Pure.

The plans are the exporter's own, made from the exports as they are stored. Exports are updated one after another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from strongref.contract.event import Event, RequestType
from strongref.contract.index import IndexEntry
from strongref.contract.requests import OnChange
from strongref.errors import ACCESS_DENIED, AccountNotListedError, BadRequestError, StrongRefError
from strongref.protocol.export_event import ExportEvent
from strongref.protocol.out_of_reach import may_pass_over
from strongref.protocol.phases import Phase, claim_policy
from strongref.protocol.plan import Delete, ExportPlan, refusal_of
from strongref.protocol.planner import keys_to_inspect, plan_export
from strongref.protocol.snapshot import Destination
from strongref.protocol.stored_exports import ExportIdentity, physical_id
from strongref.refusals import OutOfReachError
from strongref_cli.check.stored import Location, StoredScope, StoredStack
from strongref_cli.check.updates import Stays
from strongref_cli.check.wanted import Case, WantedExport, former_export, wanted_export

if TYPE_CHECKING:
    from strongref.contract.names import Key, StackArn
    from strongref.contract.values import Value
    from strongref_cli.check.comparison import Comparison
    from strongref_cli.check.unknown import Evaluated
    from strongref_cli.check.version import StackVersion


@dataclass(frozen=True, slots=True)
class PlacePlan:
    at: Location
    wanted: Mapping[Key, Value] = field(repr=False)
    plan: ExportPlan

    @property
    def deletes(self) -> set[Key]:
        """The values that nobody publishes after it."""
        return {key for each in self.plan.instructions if isinstance(each, Delete) for key in each.keys}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one event of an Export would come to."""

    places: tuple[PlacePlan, ...] = ()
    refusal: StrongRefError | None = None


@dataclass
class Simulation:
    """One operation of a stack."""

    stack: StackArn
    comparison: Comparison
    stored: StoredStack
    changing: Collection[str] = ()  # the ARNs of the other stacks that the same operation updates, or deletes

    @cached_property
    def wanted(self) -> Mapping[str, WantedExport]:
        """By the logical ID of each Export of the new version."""
        old, new, found = self.comparison.old, self.comparison.new, {}
        for each in new.exports:
            given, former = self.given(new, each), self.given(old, each)
            found[each] = wanted_export(each, given, former, self.comparison, self.stored)
        return found

    def runs(self) -> list[dict[str, Outcome]]:
        """What each Export does that CloudFormation calls, in every case: after all others, if it can, and before."""
        called = [each for each in self.comparison.new.exports if self._is_called(each)]
        return [run(case, called) for case in Case for run in (self._last, self._first)]

    def removal(self, logical_id: str, phase: Phase, done: Mapping[str, Outcome] | None = None) -> Outcome:
        """What the deletion of an Export does, after others have been updated."""
        places = [Destination(*at, {}) for at in self.stored.locations(logical_id)]
        return self._outcome(logical_id, places, phase, done or {})

    def hold(self, version: StackVersion, logical_id: str) -> str:
        """The attribute `Hold` of an Export: what its property says, or said before it was removed."""
        if version is self.comparison.new and logical_id in self.wanted:
            return str(self.wanted[logical_id].best.get("Hold", "") or self.stored.hold(logical_id))
        given = self.given(version, logical_id)
        own = given.get("Hold", "") if isinstance(given, dict) else ""
        return own if own and isinstance(own, str) else self.stored.hold(logical_id)

    def given(self, version: StackVersion, logical_id: str) -> Evaluated:
        """The properties of an Export; None if the version does not have it."""
        return version.resources[logical_id].properties if logical_id in version.exports else None

    def _first(self, case: Case, called: Sequence[str]) -> dict[str, Outcome]:
        """What each Export does before all those that it does not depend on."""
        found: dict[str, Outcome] = {}
        for each in called:
            needed = self.comparison.new.needed_by(each)
            found[each] = self._updated(each, case, {name: done for name, done in found.items() if name in needed})
        return found

    def _last(self, case: Case, called: Sequence[str]) -> dict[str, Outcome]:
        """What each Export does after all those that can go before it: a refused one is tried again after them."""
        found: dict[str, Outcome] = {}
        left, before = list(called), 0
        while left and len(left) != before:
            before = len(left)
            for each in left:
                needed = self.comparison.new.needed_by(each).intersection(called)
                if all(name in found and not found[name].refusal for name in needed):
                    found[each] = self._updated(each, case, found)
            left = [each for each in left if each not in found or found[each].refusal]
        return found

    def _is_called(self, logical_id: str) -> bool:
        """Whether CloudFormation calls the function: only if a property changes, or may."""
        old, new = (self.given(each, logical_id) for each in (self.comparison.old, self.comparison.new))
        if self.wanted[logical_id].undecided:
            return False
        if old is None:
            return True
        if self.comparison.changes is not None:
            return self.comparison.may_change(logical_id)
        return self.comparison.stays(old, new) is not Stays.YES

    def _updated(self, logical_id: str, case: Case, done: Mapping[str, Outcome]) -> Outcome:
        try:
            event = ExportEvent.parse(self._event(logical_id, self.wanted[logical_id].cases[case]))
        except BadRequestError as refused:
            return Outcome(refusal=refused)
        phase = Phase.CREATE if self.given(self.comparison.old, logical_id) is None else Phase.UPDATE
        known = {(each.site, each.scope) for each in event.destinations}
        # If its old properties cannot be understood, it publishes where it has a record.
        others = self.stored.locations(logical_id) if phase is Phase.UPDATE and not event.former else []
        elsewhere = [Destination(*at, {}) for at in others if at not in known]
        return self._outcome(logical_id, [*event.destinations, *elsewhere], phase, done, event)

    def _event(self, logical_id: str, properties: Mapping[str, object]) -> Event:
        """The event that CloudFormation would send. What is not known of the old properties is as it is stored."""
        former = former_export(logical_id, self.comparison, self.stored)
        kind = RequestType.CREATE if former is None else RequestType.UPDATE
        own_id = physical_id(self.stack, logical_id)
        return Event(kind, str(self.stack), logical_id, "check", own_id, properties, former, "", "")

    def _outcome(
        self,
        logical_id: str,
        destinations: Iterable[Destination],
        phase: Phase,
        done: Mapping[str, Outcome],
        event: ExportEvent | None = None,  # None if it is deleted
    ) -> Outcome:
        export, rewrite = ExportIdentity(str(self.stack), logical_id), event.rewrite if event else ()
        policy = claim_policy(phase, event.on_change if event else OnChange.REFUSE)
        places = []
        for each in destinations:
            at, wanted = Location(each.site, each.scope), each.wanted
            if phase is not Phase.CLEANUP and (denied := self._not_listed(at)):
                if wanted or not isinstance(denied, AccountNotListedError):
                    return Outcome(refusal=denied)
                if may_pass_over(phase, each, self.stored.index.get(logical_id, IndexEntry(""))):
                    continue
                return Outcome(refusal=OutOfReachError(self.stack.name, self.stack.region, denied))
            scope = self._stored(logical_id, at, done)
            if scope.problem:
                return Outcome(refusal=scope.problem)
            inspected = keys_to_inspect(export, wanted, scope.exports, rewrite)
            tags = {key: scope.tags[key] for key in inspected if key in scope.tags}
            plan = plan_export(
                at.scope, export, wanted, scope.exports, tags, policy=policy, rewrite=rewrite, hold=each.hold
            )
            places.append(PlacePlan(at, wanted, plan))
        return Outcome(tuple(places), refusal_of([each.plan for each in places]))

    def _not_listed(self, at: Location) -> StrongRefError | None:
        """Why the installation does not write to a place in another account, or may not; None if it does."""
        (region, account), listed = at.site, self.stored.listed
        if isinstance(listed, StrongRefError):
            return listed if account else None
        denied = AccountNotListedError("AssumeRole", ACCESS_DENIED, "", region, account=account, listed=listed)
        return None if account in ("", *listed) else denied

    def _stored(self, logical_id: str, at: Location, done: Mapping[str, Outcome]) -> StoredScope:
        """What is stored in a place once the Exports before this one have been updated."""
        scope = self.stored.at(logical_id, at)
        for outcome in done.values():
            for each in outcome.places if outcome.refusal is None else ():
                scope = scope.after(each.plan) if each.at == at else scope
        return scope
