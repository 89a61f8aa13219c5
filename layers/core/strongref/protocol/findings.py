"""What may be wrong with what is stored, and what of it is healed by rule. Pure.

Healed is what protects nothing and serves nobody: claims of dead stacks, values and records of a producer that is gone
and that nobody imports, what a change that died half-way left behind. A value that is gone while its consumer is there
comes back. All else needs somebody to decide, and is told.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import TYPE_CHECKING

from strongref.contract.record import Record, part_name
from strongref.protocol.plan import Owner
from strongref.protocol.published import RecordedExports

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from strongref.contract.names import ExportScope, Key
    from strongref.contract.record import StoredRecord
    from strongref.contract.values import Value
    from strongref.protocol.plan import ValueTags


class Resolution(Enum):
    """What becomes of a finding."""

    HEALED = "healed"
    TOLD = "told"
    """It needs a person."""
    NOTED = "noted"
    """It is as it should be for the moment, and ends by itself."""


class FindingType(StrEnum):
    """What was found, as the metric of that name counts it."""

    STALE_CLAIM = "StaleClaims"
    """The stack that imports is gone, or has no such import any more."""
    DEAD_FENCE = "DeadFences"
    """Its holder died."""
    ORPHAN = "Orphans"
    """A value or a record whose producer is gone, and that nobody imports."""
    IMPORTED_ORPHAN = "ImportedOrphans"
    """A value whose producer is gone, and that somebody imports: it can never change again."""
    STRAY = "Strays"
    """A value that no record holds, and that nobody imports; a part of a record that is none."""
    WITHDRAWN = "Withdrawn"
    """A value that no record holds any more, kept for who imports it."""
    MISSING = "Missing"
    """A record has it, its consumer is there, and the value is gone: it comes back, but the claims on it are lost."""
    DIFFERENT = "Different"
    """The value is not what the record says: it was changed by hand."""
    FOREIGN = "Foreign"
    """A parameter in a place of exports that no stack which exports there has made."""
    UNREADABLE = "Unreadable"
    """A record that cannot be put together."""

    @property
    def fate(self) -> Resolution:
        if self in (FindingType.IMPORTED_ORPHAN, FindingType.DIFFERENT, FindingType.FOREIGN, FindingType.UNREADABLE):
            return Resolution.TOLD
        return Resolution.NOTED if self is FindingType.WITHDRAWN else Resolution.HEALED


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that was found.

    Attributes:
        what: kind of thing.
        parameter: the name of the parameter that it is about.
        stacks: the ARNs of the stacks that it has to do with.
    """

    what: FindingType
    parameter: str
    stacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScopeSnapshot:
    """What stands in a place.

    Attributes:
        records: by logical id, as found.
        stored: the values.
        holdings: what the tags of values say; of those that were looked at.
        gone: the ARNs of stacks, of those that the records name, that do not exist any more.
        awaited: the consumer is there, and is not being deleted.
    """

    records: Mapping[str, StoredRecord]
    stored: Mapping[Key, Value]
    holdings: Mapping[Key, ValueTags]
    gone: Collection[str]
    awaited: bool


@dataclass(slots=True)
class Repairs:
    """What was found in a place, and what to do about it.

    Attributes:
        findings: all of them.
        untag: stale claims, by key: the tag's key, the stack that it names.
        delete: values.
        records: of stacks that are gone: what is to be left of them; nothing: None.
        litter: names of records' parts that no record needs.
        put_back: values that are gone, with their tags.
    """

    findings: list[Finding] = field(default_factory=list)
    untag: dict[Key, Mapping[str, str]] = field(default_factory=dict)
    delete: list[Key] = field(default_factory=list)
    records: dict[str, Record | None] = field(default_factory=dict)
    litter: list[str] = field(default_factory=list)
    put_back: dict[Key, tuple[Value, Mapping[str, str]]] = field(default_factory=dict)
    suspects: set[Key] = field(default_factory=set)
    """Whose tags are to be looked at once more before anything is done or told."""

    @property
    def heals(self) -> bool:
        return bool(self.untag or self.delete or self.records or self.litter or self.put_back)


def examine(scope: ExportScope, seen: ScopeSnapshot) -> Repairs:
    """Find what is wrong in a place, and decide what to do about it; touch nothing."""
    care = Repairs()
    live, orphaned = _examine_records(scope, seen, care)
    if any(found.torn for found in seen.records.values()):
        return care  # nobody knows what it says, so whatever else is here may be in it
    for key, value in seen.stored.items():
        if key in seen.holdings:
            findings = len(care.findings)
            _examine_value(scope, key, value, seen.holdings[key], live.get(key, {}), care)
            if len(care.findings) > findings:
                care.suspects.add(key)
    _examine_orphans(scope, orphaned, seen, care)
    if seen.awaited:
        _look_for_missing(scope, live, seen, care)
    return care


def _examine_records(
    scope: ExportScope, seen: ScopeSnapshot, care: Repairs
) -> tuple[Mapping[Key, Mapping[str, Record]], Mapping[str, Record]]:
    """The records that hold each key, by logical id, and those of stacks that are gone."""
    live: dict[Key, dict[str, Record]] = {}
    orphaned: dict[str, Record] = {}
    for logical_id, found in seen.records.items():
        if found.torn:
            care.findings.append(Finding(FindingType.UNREADABLE, part_name(scope.records, logical_id, 0)))
        for number in sorted(found.spare):
            care.litter.append(part_name(scope.records, logical_id, number))
            care.findings.append(Finding(FindingType.STRAY, care.litter[-1]))
        if found.record and found.record.stack in seen.gone:
            orphaned[logical_id] = found.record
        elif found.record:
            for key in found.record.values:
                live.setdefault(key, {})[logical_id] = found.record
    return live, orphaned


def _examine_value(  # noqa: PLR0913, PLR0917
    scope: ExportScope, key: Key, value: Value, holding: ValueTags, live: Mapping[str, Record], care: Repairs
) -> None:
    name = scope.value(key)
    importers = tuple(sorted(set(holding.claims.values())))
    if holding.owner is Owner.FOREIGN:
        care.findings.append(Finding(FindingType.FOREIGN, name, (holding.producer,) if holding.producer else ()))
        return
    if holding.stale:
        care.untag[key] = holding.stale
        care.findings.append(Finding(FindingType.STALE_CLAIM, name, tuple(sorted(set(holding.stale.values())))))
    if live:
        if any(record.values[key] != value for record in live.values()):
            care.findings.append(Finding(FindingType.DIFFERENT, name, importers))
    elif importers:
        what = FindingType.IMPORTED_ORPHAN if holding.owner is Owner.NOBODYS else FindingType.WITHDRAWN
        care.findings.append(Finding(what, name, importers))
    else:
        care.untag.pop(key, None)
        care.delete.append(key)
        what = FindingType.ORPHAN if holding.owner is Owner.NOBODYS else FindingType.STRAY
        care.findings.append(Finding(what, name, (holding.producer,) if holding.producer else ()))


def _examine_orphans(scope: ExportScope, orphaned: Mapping[str, Record], seen: ScopeSnapshot, care: Repairs) -> None:
    """Of a record whose stack is gone, what somebody imports is left, so that the import can be updated."""
    for logical_id, record in orphaned.items():
        left = {
            key: value
            for key, value in record.values.items()
            if key in seen.stored and (key not in seen.holdings or seen.holdings[key].claims)
        }
        if len(left) < len(record.values):
            care.records[logical_id] = Record(record.stack, left) if left else None
            care.suspects |= record.values.keys() & seen.holdings.keys()
            name = part_name(scope.records, logical_id, 0)
            care.findings.append(Finding(FindingType.ORPHAN, name, (record.stack,)))


def _look_for_missing(
    scope: ExportScope, live: Mapping[Key, Mapping[str, Record]], seen: ScopeSnapshot, care: Repairs
) -> None:
    for key, records in live.items():
        if key not in seen.stored:
            record = next(iter(records.values()))
            care.put_back[key] = (record.values[key], RecordedExports(records, torn=False).tags(key))
            care.findings.append(Finding(FindingType.MISSING, scope.value(key), (record.stack,)))
