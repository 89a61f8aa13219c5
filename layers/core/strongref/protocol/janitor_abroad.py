"""What the janitor of a producer's region does about places in other accounts, which only the index names.

An import there cannot make stacks in the producer's account. So this janitor holds each Export for each place with a
claim: with one hold stack, however many claims there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from strongref.contract.hold_stacks import HoldStack, hold_stack_name
from strongref.contract.index import index_of
from strongref.contract.names import ExportScope, Site, StackArn, owner_tag
from strongref.contract.record import decode
from strongref.errors import StoreError
from strongref.protocol.findings import Finding, FindingType
from strongref.protocol.hold_keeper import HoldKeeper
from strongref.protocol.hold_steps import HoldStep
from strongref.protocol.inspection import TagInspector
from strongref.protocol.janitor_failures import tolerated
from strongref.protocol.janitor_holds import Claims, add_claims
from strongref.protocol.out_of_reach import is_out_of_reach
from strongref.protocol.published import RecordedExports
from strongref.protocol.stored_exports import physical_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from strongref.contract.index import Place
    from strongref.contract.values import Parameter
    from strongref.protocol.janitor_failures import Failed
    from strongref.protocol.janitor_holds import HoldTender
    from strongref.protocol.janitor_index import IndexTender
    from strongref.protocol.ports import Ports
    from strongref.protocol.time import Clock

NOT_TENDED = "The hold of a place in another account could not be looked after"


class _Export(NamedTuple):
    """An Export that publishes at a place in another account."""

    logical_id: str
    stack: str  # its ARN
    place: Place
    is_forgotten: bool  # whether a person gave the place up, and nothing was published there since

    @property
    def site(self) -> Site:
        return self.place.site(StackArn.parse(self.stack).producer)

    @property
    def scope(self) -> ExportScope:
        return ExportScope(self.place.consumer, StackArn.parse(self.stack).producer)

    @property
    def hold(self) -> HoldStack:
        stack = StackArn.parse(self.stack)
        return HoldStack.of_place(self.place, physical_id(stack, self.logical_id), stack.producer)


@dataclass(slots=True)
class AbroadTender:
    """Tends to what one region's Exports publish in other accounts: to its holds, and to what the index says of it."""

    ports: Ports
    region: str
    account: str
    clock: Clock
    failed: Failed  # takes what could not be looked after
    index: IndexTender  # that of the region
    holds: HoldTender  # likewise
    _exports: Sequence[_Export] = ()
    _reached: set[Place] = field(default_factory=set)
    # by name, holds that nobody seems to need, each with what looks at that again
    _stale: dict[str, tuple[HoldStack, Callable[[], bool]]] = field(default_factory=dict)

    def scopes(self) -> dict[str, tuple[Site, ExportScope]]:
        """Where the Exports of the region publish in other accounts: by a path for each, in the order of these."""
        self._exports = self._named(self.index)
        needed = {each.hold.name for each in self._exports if not each.is_forgotten}
        for each in self.holds.held():
            name = hold_stack_name(each.account, each.label, each.hash)
            if each.account == self.account or name in needed:
                continue
            with tolerated(self.failed, [], NOT_TENDED, name):
                info = self.ports.stacks.by_name(name, self.region)
                hold = HoldStack.of_place_tags(info.tags, self.account, self.region) if info else None
                if hold and hold.name == name:
                    self._stale[name] = hold, partial(self._is_unnamed, name)
        found = {
            f"{'/'.join(each.site)}{each.scope.path('exports')}": (each.site, each.scope) for each in self._exports
        }
        return dict(sorted(found.items()))

    def read(
        self, site: Site, scope: ExportScope, found: list[Finding]
    ) -> tuple[Mapping[str, Parameter], Mapping[str, Parameter]] | None:
        """The values and the records at a place; None if its account does not let this one in, which `found` gets.

        Raises:
            StrongRefError: they cannot be read for another reason.
        """
        exports = self._at(site, scope)
        try:
            store = self.ports.at(site, self.clock)
            read = store.under(scope.path("exports")), store.under(scope.path("records"))
        except StoreError as error:
            if not is_out_of_reach(error):
                raise
            if left := sorted({each.stack for each in exports if not each.is_forgotten}):
                found.append(Finding(FindingType.UNREACHABLE, scope.path("exports"), tuple(left), str(error)))
            return None
        self._reached |= {each.place for each in exports}
        return read

    def hold(
        self, site: Site, scope: ExportScope, first: TagInspector, recorded: RecordedExports, claims: Claims
    ) -> Iterator[Finding]:
        """Begin to make the holds of a place that its Exports need, given what was found there, and what looked at it.

        Those that are not needed are noted; see `end`.
        """
        for each in self._at(site, scope):
            needed = {} if each.is_forgotten else self._needed(each, first, recorded, claims)
            if needed:
                yield from self.holds.begin(self._keeper(each.hold), needed)
            elif needed is not None and not each.is_forgotten:
                self._stale[each.hold.name] = each.hold, partial(self._is_unneeded, each)

    def end(self) -> Iterator[Finding]:
        """Delete holds that nobody needs, and correct the index, after another look more than a lag later."""
        held = {hold_stack_name(each.account, each.label, each.hash) for each in self.holds.held()}
        stale = [each for name, each in sorted(self._stale.items()) if name in held]
        if stale:
            self.ports.lag.settle(self.clock)
        failed: list[Finding] = []
        for hold, is_stale_still in stale:
            with tolerated(self.failed, failed, NOT_TENDED, hold.name):
                if is_stale_still() and self._keeper(hold).begin({}) is not HoldStep.NONE:
                    yield Finding(FindingType.STALE_HOLD, hold.name, (hold.importer,))
        yield from failed
        if self._reached:
            yield from self.index.correct(self._reached)

    def _needed(
        self, export: _Export, inspector: TagInspector, recorded: RecordedExports, claims: Claims
    ) -> Mapping[str, str] | None:
        """What is to be held for an Export at a place, as `RecordedExports.holds` says.

        None if it is at work, or publishes more than can be read: then its hold stays as it is.
        """
        info = inspector.info(export.stack)
        if info is None:
            return {}  # It cannot be deleted anymore.
        claimed = {key: owners for keys in claims.values() for key, owners in keys.items()}
        record, own = recorded.records.get(export.logical_id), owner_tag(export.logical_id)
        is_known = record is not None or export.logical_id in recorded.complete
        is_lost = not is_known and any(own in owners for owners in claimed.values())
        if not info.at_rest or recorded.torn or is_lost:
            return None
        if record is None or record.stack != export.stack:
            return {}
        return replace(recorded, records={export.logical_id: record}).holds(claimed)

    def _is_unneeded(self, export: _Export) -> bool:
        """Whether another look at a place shows that an Export needs no hold."""
        store, scope, claims = self.ports.at(export.site, self.clock), export.scope, Claims()
        inspector = TagInspector(self.ports.stacks)
        keys = [scope.key(name) for name in store.under(scope.path("exports"), decrypted=False)]
        recorded = RecordedExports.of(decode(scope.path("records"), store.under(scope.path("records"))))
        add_claims(claims, inspector.inspect_in_scope(store, scope, keys))
        return self._needed(export, inspector, recorded, claims) == {}

    def _is_unnamed(self, name: str) -> bool:
        """Whether another look at the index shows that no Export needs a hold, or a person gave its place up."""
        again = self._named(replace(self.index, _entries={}))
        return name not in {each.hold.name for each in again if not each.is_forgotten}

    def _named(self, index: IndexTender) -> list[_Export]:
        found = []
        for (name, stack), entry in sorted(index.entries().items()):
            places = [each for each in sorted(entry.places) if each.account != self.account]
            found += [_Export(index_of(name)[1], stack, each, each in entry.forgotten) for each in places]
        return found

    def _at(self, site: Site, scope: ExportScope) -> list[_Export]:
        return [each for each in self._exports if (each.site, each.scope) == (site, scope)]

    def _keeper(self, hold: HoldStack) -> HoldKeeper:
        return HoldKeeper(self.ports, self.clock, hold, waits_for_producers=False)
