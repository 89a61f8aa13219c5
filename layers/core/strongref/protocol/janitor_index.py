"""What the janitor does about the index: the records are the truth, so it adds what they say, and removes the rest.

The janitor of a region adds the places whose records are there. That of the producer's region, where the index is,
removes places without a record, and the entries of deleted stacks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from strongref.contract.index import INDEX, IndexEntry, Place, index_name, index_of, read_index
from strongref.contract.names import ExportScope, Producer, Site, StackArn
from strongref.errors import NewerFormatError, StoreError, or_else
from strongref.protocol.behind_fences import behind_fences
from strongref.protocol.export_index import ExportIndex
from strongref.protocol.findings import Finding, FindingType
from strongref.protocol.janitor_failures import HOLDER, Tender, tolerated
from strongref.protocol.out_of_reach import is_out_of_reach
from strongref.protocol.published import RecordedExports
from strongref.protocol.stored_exports import ExportIdentity
from strongref.refusals import ChangingError

if TYPE_CHECKING:
    from strongref.contract.record import Record
    from strongref.protocol.inspection import TagInspector
    from strongref.protocol.ports import StackInfo


NOWHERE = Place("", "", "")
"""Stands for an entry that names no place."""

NOT_TENDED = "An entry of the index could not be looked after"


@dataclass(slots=True)
class IndexTender(Tender):
    """Tends to the entries of what is exported to one region, and to the index in that region."""

    # by region, then by parameter name and the ARN of the stack
    _entries: dict[str, dict[tuple[str, str], IndexEntry]] = field(default_factory=dict)
    _returned: dict[str, str] = field(default_factory=dict)  # entries with a forgotten place that answers; their stacks
    _newer: dict[str, dict[str, NewerFormatError]] = field(default_factory=dict)  # likewise, what is left alone

    def add_missing(self, scope: ExportScope, records: Mapping[str, Record]) -> Iterator[Finding]:
        """Add the place of these records, of Exports that exist, to the entries that lack it."""
        producer, place = scope.producer, Place(self.account, self.region, scope.consumer)
        if producer.account != self.account:
            return
        for logical_id, record in records.items():
            name = index_name(producer.stack, logical_id)
            failed: list[Finding] = []
            with tolerated(self.failed, failed, NOT_TENDED, name, record.stack):
                if _is_complete(self._listed(producer.region).get((name, record.stack)), record, place):
                    continue
                if self.add(place, producer, logical_id, record):
                    yield Finding(FindingType.INDEX_ENTRY, name, (record.stack,))
            yield from failed

    def add(self, place: Place, producer: Producer, logical_id: str, record: Record) -> bool:
        """Add a place to the entry of an Export that lacks it; whether it did."""
        index = self._index(producer.region, index_name(producer.stack, logical_id), record.stack)
        entry = index.read()
        if (lacks := not _is_complete(entry, record, place)) and self.repairs:
            index.add(entry, place, record.hold, self.clock.now())
        return lacks

    def dropped(self, place: Place, scope: ExportScope, first: TagInspector) -> set[tuple[str, str]]:
        """The Exports that have left a place without reaching it, as far as the index can be listed.

        By logical ID and the ARN of the stack, which is at rest: while it is not, it may return.
        """
        path = f"{INDEX}/{scope.producer.stack}/"
        if scope.producer.account != self.account:
            return set()
        # What cannot be listed is reported where it is compared with the records.
        listed = or_else(partial(self._listed, scope.producer.region), {})
        left = {at for at, each in listed.items() if at[0].startswith(path) and place in each.dropped}
        return {(index_of(name)[1], arn) for name, arn in left if (info := first.info(arn)) and info.at_rest}

    def entries(self) -> Mapping[tuple[str, str], IndexEntry]:
        """The index of this region, read once: by parameter name and the ARN of the stack."""
        return self._listed(self.region)

    def correct(self, abroad: Collection[Place] | None = None) -> Iterator[Finding]:
        """Remove places without a record, and entries of deleted stacks, after two looks more than a lag apart.

        Those of other accounts are corrected if they are given, and then no others.
        """
        failed: list[Finding] = []
        entries = self._listed(self.region)
        suspects = []
        for name, error in sorted(self._newer.get(self.region, {}).items()) if abroad is None else ():
            yield Finding(FindingType.NEWER_FORMAT, name, (), str(error))
        for (name, stack), entry in sorted(entries.items()):
            if abroad is not None and entry.places.isdisjoint(abroad):
                continue
            with tolerated(self.failed, failed, NOT_TENDED, name, stack):
                info = self.ports.stacks.by_arn(stack)
                if wrong := self._wrong(name, entry, info, abroad):
                    suspects.append((name, entry, info, wrong))
        if suspects:
            self.ports.lag.settle(self.clock)
        for name, stack in self._returned.items():
            yield Finding(FindingType.FORGOTTEN, name, (stack,))
        self._returned.clear()
        for name, entry, first, wrong in suspects:
            with tolerated(self.failed, failed, NOT_TENDED, name, entry.stack):
                for place in sorted(wrong):
                    if kind := self._corrected(name, entry, first, place, abroad):
                        yield Finding(kind, name, (entry.stack,))
        yield from failed

    def _wrong(
        self, name: str, entry: IndexEntry, info: StackInfo | None, abroad: Collection[Place] | None
    ) -> set[Place]:
        """The places that are wrong in an entry: all without its stack, none while that is at work.

        What version 0.2.0 named is left to the Export's next event. Values in other accounts are found by the index
        alone, so that has to name them until they are gone.
        """
        own = {place for place in entry.places if place.account == self.account}
        if info is None and abroad is None:
            gone = own | (entry.places & entry.forgotten)
            return {NOWHERE} if gone == entry.places else gone
        if info is not None and not info.at_rest:
            return set()
        loose = {*entry.denied, *entry.forgotten, *entry.dropped} - entry.places if abroad is None else set()
        left = own - entry.older if abroad is None else entry.places.intersection(abroad)
        return loose | {place for place in left if not self._may_publish(name, entry, place)}

    def _corrected(
        self, name: str, entry: IndexEntry, first: StackInfo | None, place: Place, abroad: Collection[Place] | None
    ) -> FindingType | None:
        """Correct a place behind a fence there, if the second look agrees with the first; what was found."""
        index = self._index(self.region, name, entry.stack)

        def work(_fenced: object = None) -> FindingType | None:
            now, info = index.read(), self.ports.stacks.by_arn(entry.stack)
            same_rest = first is None or (info is not None and info.updated == first.updated)
            is_same = now.wrote.get(place) == entry.wrote.get(place)
            if not (same_rest and is_same) or place not in self._wrong(name, now, info, abroad):
                return None
            if self.repairs and place == NOWHERE:
                index.remove_all()
            elif self.repairs:
                index.remove([place])
            return FindingType.INDEX_ENTRY

        named = entry.places if place == NOWHERE else entry.places & {place}
        reached = abroad or [each for each in named if each.account == self.account]
        fenced = sorted(named.intersection(reached)) if self.repairs else []
        while fenced:
            sites = [(self._site(each), self._scope(name, each)) for each in fenced]
            try:
                return behind_fences(self.ports, self.clock, sites, HOLDER, work)
            except ChangingError:
                return None
            except StoreError as error:  # Where nobody can publish, no fence is needed.
                left = [each for each in fenced if self._site(each) != (error.region, error.account)]
                if abroad or not is_out_of_reach(error) or left == fenced:
                    raise
                fenced = left
        return work()

    def _may_publish(self, name: str, entry: IndexEntry, place: Place) -> bool:
        scope, logical_id = self._scope(name, place), index_of(name)[1]
        store = self.ports.at(self._site(place), self.clock)
        try:
            recorded = RecordedExports.read(store, scope)
        except StoreError:
            if place in entry.forgotten:
                return True  # A person decided about it.
            raise
        if place in entry.forgotten:
            self._returned[name] = entry.stack
        if recorded.torn or logical_id in recorded.records:
            return True
        # A record that is lost is told from one that was withdrawn by this entry.
        stored = store.under(scope.path("exports"), decrypted=False)
        return not {scope.key(name) for name in stored} <= recorded.values.keys()

    def _site(self, place: Place) -> Site:
        return place.site(Producer(self.account, self.region, ""))

    def _scope(self, name: str, place: Place) -> ExportScope:
        return ExportScope(place.consumer, Producer(self.account, self.region, index_of(name)[0]))

    def _index(self, region: str, name: str, stack: str) -> ExportIndex:
        return ExportIndex(self.ports.stores(region, self.clock), ExportIdentity(stack, index_of(name)[1]))

    def _listed(self, region: str) -> Mapping[tuple[str, str], IndexEntry]:
        """The index of a region, read once."""
        if region not in self._entries:
            newer = self._newer.setdefault(region, {})
            stored = self.ports.stores(region, self.clock).under(INDEX)
            found = read_index(stored, lambda error: newer.update({error.name: error}))
            self._entries[region] = {at: entry for at, entry in found.items() if _is_of(at[0], entry)}
        return self._entries[region]


def _is_of(name: str, entry: IndexEntry) -> bool:
    """Whether an entry is of the stack that its name says."""
    stack = StackArn.find(entry.stack)
    return stack is not None and stack.name == index_of(name)[0]


def _is_complete(entry: IndexEntry | None, record: Record, place: Place) -> bool:
    return entry is not None and place in entry.places and record.hold in ("", entry.hold)
