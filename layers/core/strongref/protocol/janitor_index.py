"""What the janitor does about the index: the records are the truth, so it adds what they say, and removes the rest.

The janitor of a region adds the places whose records are there. That of the producer's region, where the index is,
removes places without a record, and the entries of deleted stacks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from strongref.contract.index import INDEX, IndexEntry, Place, index_name, index_of
from strongref.contract.names import BadArnError, ExportScope, Producer, StackArn
from strongref.contract.values import ParameterType
from strongref.errors import NewerFormatError
from strongref.protocol.findings import Finding, FindingType
from strongref.protocol.janitor_failures import Failed, log_failure, tolerated
from strongref.protocol.published import RecordedExports

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strongref.contract.record import Record
    from strongref.protocol.ports import Ports, StackInfo
    from strongref.protocol.time import Clock


NOT_TENDED = "An entry of the index could not be looked after"


@dataclass(slots=True)
class IndexTender:
    """Tends to the entries of what is exported to one region, and to the index in that region."""

    ports: Ports
    region: str
    account: str
    clock: Clock
    repairs: bool = True
    failed: Failed = log_failure  # takes what could not be looked after
    _entries: dict[str, dict[str, IndexEntry]] = field(default_factory=dict)  # by region and parameter name
    _newer: dict[str, dict[str, NewerFormatError]] = field(default_factory=dict)  # likewise, what is left alone

    def add_missing(self, scope: ExportScope, records: Mapping[str, Record]) -> Iterator[Finding]:
        """Add the place of these records, of Exports that exist, to the entries that lack it."""
        producer = scope.producer
        if producer.account != self.account:
            return
        for logical_id, record in records.items():
            name = index_name(producer.stack, logical_id)
            failed: list[Finding] = []
            with tolerated(self.failed, failed, NOT_TENDED, name, record.stack):
                if _is_complete(self._listed(producer.region).get(name), record, self._place(scope)):
                    continue
                entry = self._read(producer.region, name)
                if _is_complete(entry, record, self._place(scope)):
                    continue
                known = entry if entry and entry.stack == record.stack else IndexEntry(record.stack)
                places, hold = known.places | {self._place(scope)}, record.hold or known.hold
                if self.repairs:
                    self._write(producer.region, name, replace(known, places=places, hold=hold))
                yield Finding(FindingType.INDEX_ENTRY, name, (record.stack,))
            yield from failed

    def correct(self) -> Iterator[Finding]:
        """Remove places without a record, and entries of deleted stacks, after two looks more than a lag apart."""
        suspects = {}
        failed: list[Finding] = []
        entries = self._listed(self.region)
        for name, error in sorted(self._newer.get(self.region, {}).items()):
            yield Finding(FindingType.NEWER_FORMAT, name, (), str(error))
        for name, entry in entries.items():
            with tolerated(self.failed, failed, NOT_TENDED, name, entry.stack):
                info, left = self._look(name, entry)
                if left != entry:
                    suspects[name] = (entry, info)
        if suspects:
            self.ports.lag.settle(self.clock)
        for name, (entry, first) in suspects.items():
            with tolerated(self.failed, failed, NOT_TENDED, name, entry.stack):
                if self._corrected(name, entry, first):
                    yield Finding(FindingType.INDEX_ENTRY, name, (entry.stack,))
        yield from failed

    def _corrected(self, name: str, entry: IndexEntry, first: StackInfo | None) -> bool:
        """Correct an entry, if the second look agrees with the first."""
        now = self._read(self.region, name)
        info, left = self._look(name, now) if now else (None, None)
        same_rest = first is None or (info is not None and info.at_rest and info.updated == first.updated)
        if now != entry or left == now or not same_rest:
            return False
        if not self.repairs:
            return True
        if left is None or not (left.places or left.hold):
            self.ports.stores(self.region, self.clock).delete([name])
        else:
            self._write(self.region, name, left)
        return True

    def _look(self, name: str, entry: IndexEntry) -> tuple[StackInfo | None, IndexEntry | None]:
        """The entry's stack, and what is left of the entry: None without that stack, all of it while it is at work."""
        info = self.ports.stacks.by_arn(entry.stack)
        if info is None:
            return None, None
        if not info.at_rest:
            return info, entry
        stack, logical_id = index_of(name)
        left = {place for place in entry.places if self._may_publish(place, stack, logical_id)}
        return info, replace(entry, places=frozenset(left))

    def _may_publish(self, place: Place, stack: str, logical_id: str) -> bool:
        if place.account != self.account:
            return True  # It cannot be asked about.
        scope = ExportScope(place.consumer, Producer(self.account, self.region, stack))
        store = self.ports.stores(place.region, self.clock)
        recorded = RecordedExports.read(store, scope)
        if recorded.torn or logical_id in recorded.records:
            return True
        # A record that is lost is told from one that was withdrawn by this entry.
        stored = store.under(scope.path("exports"), decrypted=False)
        return not {scope.key(name) for name in stored} <= recorded.values.keys()

    def _place(self, scope: ExportScope) -> Place:
        return Place(self.account, self.region, scope.consumer)

    def _listed(self, region: str) -> Mapping[str, IndexEntry]:
        """The index of a region, read once."""
        if region not in self._entries:
            found = self.ports.stores(region, self.clock).under(INDEX)
            entries: dict[str, IndexEntry] = {}
            for name, each in found.items():
                try:
                    entry = IndexEntry.decode(each)
                except NewerFormatError as error:
                    self._newer.setdefault(region, {})[name] = error
                    continue
                if entry and _is_of(name, entry):
                    entries[name] = entry
            self._entries[region] = entries
        return self._entries[region]

    def _read(self, region: str, name: str) -> IndexEntry | None:
        return IndexEntry.decode(self.ports.stores(region, self.clock).get([name]).get(name))

    def _write(self, region: str, name: str, entry: IndexEntry) -> None:
        self.ports.stores(region, self.clock).overwrite(name, ParameterType.STRING, entry.encode())


def _is_of(name: str, entry: IndexEntry) -> bool:
    """Whether an entry is of the stack that its name says."""
    try:
        return StackArn.parse(entry.stack).name == index_of(name)[0]
    except BadArnError:
        return False


def _is_complete(entry: IndexEntry | None, record: Record, place: Place) -> bool:
    same = entry is not None and entry.stack == record.stack and place in entry.places
    return same and (not record.hold or entry is None or entry.hold == record.hold)
