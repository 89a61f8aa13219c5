"""What the janitor of a producer's region does about places in other accounts, which only the index names.

An import there cannot make stacks in the producer's account. So this janitor holds each Export for each place with a
claim: with one hold stack, however many claims there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from strongref.contract.hold_stacks import HoldStack
from strongref.contract.index import Place, index_of
from strongref.contract.names import ExportScope, Site, StackArn, owner_tag
from strongref.errors import StoreError
from strongref.protocol.findings import Finding, FindingType
from strongref.protocol.hold_keeper import HoldKeeper
from strongref.protocol.hold_steps import HoldStep
from strongref.protocol.inspection import TagInspector
from strongref.protocol.janitor_failures import Tender, tolerated
from strongref.protocol.janitor_holds import Claims, HoldTender, add_claims
from strongref.protocol.out_of_reach import is_out_of_reach
from strongref.protocol.published import RecordedExports
from strongref.protocol.stored_exports import physical_id

if TYPE_CHECKING:
    from strongref.contract.values import Parameter
    from strongref.protocol.janitor_index import IndexTender

NOT_TENDED = "The hold of a place in another account could not be looked after"


class _Export(NamedTuple):
    """An Export that publishes at a place in another account, as the index says."""

    logical_id: str
    stack: str  # its ARN
    place: Place
    export: str  # the CloudFormation export that it names
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
class AbroadTender(Tender):
    """Tends to what one region's Exports publish in other accounts: to its holds, and to what the index says of it.

    Each place is done with before the next one, since another invocation may go on from there.
    """

    index: IndexTender = field(kw_only=True)  # that of the region
    holds: HoldTender = field(kw_only=True)  # likewise
    _exports: Sequence[_Export] = ()

    def scopes(self) -> dict[str, tuple[Site, ExportScope]]:
        """Where the Exports of the region publish in other accounts: by a path for each, in the order of these."""
        self._exports = self._named(self.index)
        places = ((each.site, each.scope) for each in self._exports)
        return dict(sorted((f"{'/'.join(site)}{scope.path('exports')}", (site, scope)) for site, scope in places))

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
            return store.under(scope.path("exports")), store.under(scope.path("records"))
        except StoreError as error:
            if not is_out_of_reach(error):
                raise
            if left := sorted({each.stack for each in exports if not each.is_forgotten}):
                found.append(Finding(FindingType.UNREACHABLE, scope.path("exports"), tuple(left), str(error)))
            found += self._without_holds([each for each in exports if each.is_forgotten], self._is_forgotten)
            return None

    def tend(
        self, site: Site, scope: ExportScope, first: TagInspector, recorded: RecordedExports, claims: Claims
    ) -> Iterator[Finding]:
        """Begin to make the holds that a place needs, delete the others, and correct the index."""
        unneeded, empty = [], set()
        for each in self._at(site, scope):
            needed = {} if each.is_forgotten else self._needed(each, first, recorded, claims)
            if needed:
                yield from self.holds.begin(self._keeper(each.hold), needed)
            elif needed is not None:
                unneeded.append(each)
            if each.is_forgotten or each.logical_id not in recorded.records or first.found_deleted(each.stack):
                empty.add(each.place)
        yield from self._without_holds(unneeded, lambda each: self._is_forgotten(each) or self._is_unneeded(each))
        if empty:
            yield from self.index.correct(empty)

    def loose_holds(self) -> Iterator[Finding]:
        """Delete the holds of places that the index does not name, after two looks; what is published is named again.

        An entry of the index may have been lost: then its hold is all that is known of the place.
        """
        named = {each.hold.name for each in self._exports}
        names = {each.stack for each in self.holds.held(abroad=True)}
        failed: list[Finding] = []
        for name in sorted(names - named):
            with tolerated(self.failed, failed, NOT_TENDED, name):
                info = self.ports.stacks.by_name(name, self.region)
                hold = HoldStack.of_place_tags(info.tags, self.account, self.region) if info else None
                if not (hold and hold.name == name):
                    continue
                if (kind := self._looked_at(hold)) is FindingType.STALE_HOLD:
                    self.ports.lag.settle(self.clock)
                    kind = self._looked_at(hold)
                if kind is FindingType.STALE_HOLD:
                    self._keeper(hold).begin({})
                if kind:
                    yield Finding(kind, name, (hold.importer,))
        yield from failed

    def _looked_at(self, hold: HoldStack) -> FindingType | None:
        """What a look at a place that the index does not name shows of its hold; a missing entry is added."""
        place = Place(hold.account, hold.region, hold.consumer)
        store = self.ports.at(place.site(hold.producer), self.clock)
        recorded = RecordedExports.read(store, hold.scope)
        for logical_id, record in recorded.records.items():
            export = _Export(logical_id, record.stack, place, record.hold, is_forgotten=False)
            if export.hold == hold and self.ports.stacks.by_arn(record.stack):
                self.index.add(place, hold.producer, logical_id, record)
                return FindingType.INDEX_ENTRY
        return None if recorded.torn else FindingType.STALE_HOLD

    def _without_holds(self, exports: Sequence[_Export], is_so_still: Callable[[_Export], bool]) -> Iterator[Finding]:
        """Delete the holds of Exports that need none, if another look more than a lag later agrees."""
        held = {each.stack for each in self.holds.held(abroad=True)}
        held |= {name for each in exports if each.export for name in self.holds.importing(each.export, self.region)}
        stale = [each for each in exports if each.hold.name in held]
        if stale:
            self.ports.lag.settle(self.clock)
        failed: list[Finding] = []
        for each in stale:
            with tolerated(self.failed, failed, NOT_TENDED, each.hold.name):
                if is_so_still(each) and self._keeper(each.hold).begin({}) is not HoldStep.NONE:
                    yield Finding(FindingType.STALE_HOLD, each.hold.name, (each.hold.importer,))
        yield from failed

    def _needed(
        self, export: _Export, inspector: TagInspector, recorded: RecordedExports, claims: Claims
    ) -> Mapping[str, str] | None:
        """What is to be held for an Export at a place, as `RecordedExports.holds` says.

        None if it is at work, or publishes more than can be read: then its hold stays as it is. What it names is for
        the index to say: the account there could write anything into the record.
        """
        info = inspector.info(export.stack)
        if info is None:
            return {}  # It cannot be deleted anymore.
        claimed = {key: owners for keys in claims.values() for key, owners in keys.items()}
        record, own = recorded.records.get(export.logical_id), owner_tag(export.logical_id)
        is_known = record is not None or export.logical_id in recorded.complete
        if recorded.torn or (not is_known and any(own in owners for owners in claimed.values())):
            return None
        if record is None or record.stack != export.stack:
            return {}
        needed = replace(recorded, records={export.logical_id: record}).holds(claimed)
        if needed and (not info.at_rest or needed.keys() != {export.export}):
            return None
        return needed

    def _is_unneeded(self, export: _Export) -> bool:
        """Whether another look at a place shows that an Export needs no hold."""
        store, scope, claims = self.ports.at(export.site, self.clock), export.scope, Claims()
        inspector = TagInspector(self.ports.stacks)
        keys = [scope.key(name) for name in store.under(scope.path("exports"), decrypted=False)]
        recorded = RecordedExports.read(store, scope)
        add_claims(claims, inspector.inspect_in_scope(store, scope, keys))
        return self._needed(export, inspector, recorded, claims) == {}

    def _is_forgotten(self, export: _Export) -> bool:
        """Whether another look at the index shows that a person gave a place up."""
        return export.is_forgotten and export in self._named(replace(self.index, _entries={}))

    def _named(self, index: IndexTender) -> list[_Export]:
        found = []
        for (name, stack), entry in sorted(index.entries().items()):
            places = [each for each in sorted(entry.places) if each.account != self.account]
            found += [_Export(index_of(name)[1], stack, each, entry.hold, each in entry.forgotten) for each in places]
        return found

    def _at(self, site: Site, scope: ExportScope) -> list[_Export]:
        return [each for each in self._exports if (each.site, each.scope) == (site, scope)]

    def _keeper(self, hold: HoldStack) -> HoldKeeper:
        return HoldKeeper(self.ports, self.clock, hold, waits_for_producers=False)
