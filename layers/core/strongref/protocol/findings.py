"""What can be wrong with what is stored, and what of it is repaired automatically. Pure.

Repaired is what protects nothing and serves nobody: claims of deleted stacks, values and records of a deleted producer
that nobody imports, leftovers of a change that died halfway. A value that has gone while its consumer exists comes
back. Everything else needs a decision, and is reported.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any, Self

from strongref.contract.names import RESTORED_TAG, ExportScope, Key, Site
from strongref.contract.record import Record, StoredRecord, part_name
from strongref.errors import NewerFormatError, UndecryptableError
from strongref.protocol.published import RecordedExports
from strongref.protocol.stored_exports import Owner, ValueTags

if TYPE_CHECKING:
    from strongref.contract.values import Value


class Resolution(Enum):
    """What is done about a finding: the metric that counts it, named like the event."""

    REPAIRED = "RepairsMade"
    REPORTED = "FindingsReported"
    """It needs a person."""
    NOTED = ""
    """It is as it should be for now, and ends by itself."""


class FindingType(StrEnum):
    """What was found: its name in logs, in events and for `doctor`. docs/glossary.md lists all."""

    resolution: Resolution

    def __new__(cls, name: str, resolution: Resolution) -> Self:
        made = str.__new__(cls, name)
        made._value_, made.resolution = name, resolution
        return made

    STALE_CLAIM = "stale-claim", Resolution.REPAIRED
    """The importing stack is gone, or has no such import any more."""
    EXPIRED_FENCE = "expired-fence", Resolution.REPAIRED
    """The holder of the fence died."""
    ORPHANED = "orphaned", Resolution.REPAIRED
    """A value or record whose producer is gone, or has left the place, and that nobody imports."""
    FORGOTTEN = "forgotten", Resolution.REPORTED
    """A place that was given up with `strongref forget`, and that can be reached again."""
    IMPORTED_ORPHAN = "imported-orphan", Resolution.REPORTED
    """A value whose producer is gone, and that is imported: it can never change again."""
    STRAY = "stray", Resolution.REPAIRED
    """A value that no record holds, and that nobody imports; or a part that no record needs."""
    WITHDRAWN = "withdrawn", Resolution.NOTED
    """A value that no record holds any more, kept for those who import it."""
    MISSING = "missing", Resolution.REPAIRED
    """A record holds it, its consumer exists, and the value has gone: it comes back, but the claims on it are lost."""
    CLEANED_UP = "cleaned-up", Resolution.NOTED
    """A record holds it, no stack has its consumer's name, and the value has gone: with its consumer, or by hand."""
    RESTORED = "restored", Resolution.NOTED
    """A value that was put back, and that nobody has claimed since: its importers have to be deployed again."""
    CHANGED_BY_HAND = "changed-by-hand", Resolution.REPORTED
    """The value is not what the record says."""
    UNCLAIMED = "unclaimed", Resolution.REPORTED
    """An import that got values without protection in a rollback, and has not claimed everything since."""
    FOREIGN = "foreign", Resolution.REPORTED
    """A parameter in a scope that no stack exporting there has made."""
    UNHELD = "unheld", Resolution.REPAIRED
    """An import whose hold was missing, or not what its exports name."""
    HOLD_PENDING = "hold-pending", Resolution.NOTED
    """An import whose hold has to wait for its producer's deployment."""
    HOLD_IMPOSSIBLE = "hold-impossible", Resolution.REPORTED
    """An import whose hold cannot be made: its producer has no output of that name, or CloudFormation refuses."""
    STALE_HOLD = "stale-hold", Resolution.REPAIRED
    """A hold stack whose import is gone."""
    INDEX_ENTRY = "index-entry", Resolution.REPAIRED
    """An entry of the index that was missing or wrong."""
    UNREADABLE_RECORD = "unreadable-record", Resolution.REPORTED
    """A record that cannot be put together."""
    UNDECRYPTABLE = "undecryptable", Resolution.REPORTED
    """A value, or a part of a record, whose KMS key cannot be used."""
    NEWER_FORMAT = "newer-format", Resolution.REPORTED
    """Something that a later version of strongref wrote in a format that this one does not know."""
    UNKNOWN_CLAIM = "unknown-claim", Resolution.REPORTED
    """A claim whose stack cannot be asked about, or that no known version makes. It counts."""
    UNREACHABLE = "unreachable", Resolution.REPORTED
    """A place in another account, which does not let this one in. Nothing is changed for it, and its hold stays."""
    FAILED_CALL = "failed-call", Resolution.REPORTED
    """Something that could not be read, asked about or repaired. It was left alone, and the rest was tended."""

    @property
    def metric(self) -> str:
        """The name of the metric that counts it, as in `StaleClaim`."""
        return "".join(map(str.title, self.value.split("-")))


_MOST_STACKS = 10
"""That a document names: whoever may tag a value decides how many claim it."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    kind: FindingType  # what it is
    parameter: str  # the name of the parameter that it is about
    stacks: tuple[str, ...] = ()  # the ARNs of the stacks that are concerned
    why: str = field(default="", compare=False)  # the error that caused it, if one did
    site: Site | None = None  # where, if that is in another account

    @property
    def document(self) -> dict[str, Any]:
        """As the janitor's function returns it."""
        region, account = self.site or ("", "")
        about = {"Kind": self.kind, "Parameter": self.parameter, "Region": region, "Account": account}
        return {**about, "Stacks": list(self.stacks[:_MOST_STACKS]), "Why": self.why}


@dataclass(frozen=True, slots=True)
class ScopeSnapshot:
    records: Mapping[str, StoredRecord]  # by logical ID, as found
    stored: Mapping[Key, Value]  # the values
    tags: Mapping[Key, ValueTags]  # what the tags of values say; of those whose tags were read
    deleted_stacks: Collection[str]  # the ARNs of stacks, of those that the records name, that no longer exist
    awaited: bool  # the consumer exists, and is not being deleted
    unread: Mapping[Key, str] = field(default_factory=dict)  # values whose tags cannot be read, and why
    lost: Collection[str] = ()  # Exports that the index names, with values here, and without a record; by logical ID
    withdrawn: Collection[str] = ()  # likewise, Exports that the index does not name: version 0.2.0 left no mark
    # Exports that have left this place without reaching it; by logical ID and the ARN of their stack
    dropped: Collection[tuple[str, str]] = ()
    # by ARN, why stacks that records name cannot be asked about; they are not among the deleted ones
    unasked: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Repairs:
    """What was found in a scope, and what to do about it."""

    findings: list[Finding] = field(default_factory=list)  # all of them
    # by key, the tags to remove: stale claims, by the tag's key with the stack that it names; and what says that a
    # value was put back, once it is claimed again
    untag: dict[Key, Mapping[str, str]] = field(default_factory=dict)
    delete: list[Key] = field(default_factory=list)  # values
    # of deleted stacks: what is to be left of them; None deletes a record
    records: dict[str, Record | None] = field(default_factory=dict)
    delete_parts: list[str] = field(default_factory=list)  # names of record parts that no record needs
    # values that have gone, with their tags
    put_back: dict[Key, tuple[Value, Mapping[str, str]]] = field(default_factory=dict)
    # keys whose tags are to be read again before anything is done or reported
    suspects: set[Key] = field(default_factory=set)
    dropped: Collection[tuple[str, str]] = ()  # as in `ScopeSnapshot`

    def note_failures(self, failed: Collection[Finding]) -> None:
        """Report what could not be repaired as failed calls, and nothing of it as repaired."""
        names = {each.parameter for each in failed}
        repaired = [each for each in self.findings if each.kind.resolution is Resolution.REPAIRED]
        self.findings = [each for each in self.findings if each.parameter not in names or each not in repaired]
        self.findings += failed

    @property
    def needed(self) -> bool:
        return bool(self.untag or self.delete or self.records or self.delete_parts or self.put_back)


def examine(scope: ExportScope, found: ScopeSnapshot) -> Repairs:
    """Find what is wrong in a scope, and decide what to do about it."""
    repairs = Repairs(dropped=found.dropped)
    live, orphaned = _examine_records(scope, found, repairs)
    for key, why in found.unread.items():
        repairs.findings.append(Finding(FindingType.FAILED_CALL, scope.parameter_name(key), (), why))
        repairs.suspects.add(key)
    if any(record.torn for record in found.records.values()):
        for key, tags in found.tags.items():  # whatever else is here may be in a record that cannot be read
            if tags.owner is not Owner.FOREIGN:
                _examine_claims(scope, key, tags, repairs)
        return repairs
    for key in (each for each in found.stored if each in found.tags):
        before = len(repairs.findings)
        _examine_value(scope, key, found, live.get(key, {}), repairs)
        if len(repairs.findings) > before:
            repairs.suspects.add(key)
    _examine_orphans(scope, orphaned, live, found, repairs)
    if found.stored.keys() <= live.keys() | repairs.delete:  # No value is kept anymore.
        for mark in [part_name(scope, logical_id, 0) for logical_id, each in found.records.items() if each.withdrawn]:
            repairs.delete_parts.append(mark)
            repairs.findings.append(Finding(FindingType.STRAY, mark))
    _find_missing(scope, live, found, repairs)
    return repairs


_UNREADABLE = {
    NewerFormatError: FindingType.NEWER_FORMAT,
    UndecryptableError: FindingType.UNDECRYPTABLE,
    type(None): FindingType.UNREADABLE_RECORD,
}


def _examine_records(
    scope: ExportScope, found: ScopeSnapshot, repairs: Repairs
) -> tuple[Mapping[Key, Mapping[str, Record]], Mapping[str, Record]]:
    """The records that hold each key, by logical ID, and those of deleted stacks."""
    live: dict[Key, dict[str, Record]] = {}
    orphaned: dict[str, Record] = {}
    for logical_id, stored in found.records.items():
        head = part_name(scope, logical_id, 0)
        if stored.torn:
            repairs.findings.append(Finding(_UNREADABLE[type(stored.why)], head, (), str(stored.why or "")))
        if stored.record and (why := found.unasked.get(stored.record.stack)):
            repairs.findings.append(Finding(FindingType.FAILED_CALL, head, (stored.record.stack,), why))
        for number in sorted(stored.spare):
            repairs.delete_parts.append(part_name(scope, logical_id, number))
            repairs.findings.append(Finding(FindingType.STRAY, repairs.delete_parts[-1]))
        if (record := stored.record) is None:
            continue
        if record.stack in found.deleted_stacks or (logical_id, record.stack) in found.dropped:
            orphaned[logical_id] = record
        else:
            for key in record.values:
                live.setdefault(key, {})[logical_id] = record
    return live, orphaned


def _examine_claims(scope: ExportScope, key: Key, tags: ValueTags, repairs: Repairs) -> None:
    """The claims on a value, whoever owns it."""
    if tags.stale:
        repairs.untag[key] = tags.stale
    for kind, claims in ((FindingType.STALE_CLAIM, tags.stale), (FindingType.UNKNOWN_CLAIM, tags.unknown)):
        if claims:
            repairs.suspects.add(key)
            repairs.findings.append(Finding(kind, scope.parameter_name(key), tuple(sorted(set(claims.values())))))


def _examine_value(
    scope: ExportScope, key: Key, found: ScopeSnapshot, live: Mapping[str, Record], repairs: Repairs
) -> None:
    value, tags = found.stored[key], found.tags[key]
    name, producer = scope.parameter_name(key), (tags.producer,) if tags.producer else ()
    if tags.owner is Owner.FOREIGN:
        repairs.findings.append(Finding(FindingType.FOREIGN, name, producer))
        return
    _examine_claims(scope, key, tags, repairs)
    orphan = tags.owner is Owner.NOBODYS
    if live:
        if tags.restored and tags.claims:
            repairs.untag[key] = {**repairs.untag.get(key, {}), RESTORED_TAG: ""}
            repairs.suspects.add(key)
        elif tags.restored:
            repairs.findings.append(Finding(FindingType.RESTORED, name, producer))
        if value.locked:
            repairs.findings.append(Finding(FindingType.UNDECRYPTABLE, name, tags.importers, str(value.locked)))
        elif any(record.values[key] != value for record in live.values()):
            repairs.findings.append(Finding(FindingType.CHANGED_BY_HAND, name, tags.importers))
    elif lost := [each for each in lost_records(tags, found.records) if each in found.lost]:
        head = part_name(scope, lost[0], 0)
        repairs.findings.append(Finding(FindingType.UNREADABLE_RECORD, head, tags.importers))
    elif tags.importers:
        kind = FindingType.IMPORTED_ORPHAN if orphan else FindingType.WITHDRAWN
        repairs.findings.append(Finding(kind, name, tags.importers))
    else:
        repairs.untag.pop(key, None)
        repairs.delete.append(key)
        repairs.findings.append(Finding(FindingType.ORPHANED if orphan else FindingType.STRAY, name, producer))


def _examine_orphans(
    scope: ExportScope, orphaned: Mapping[str, Record], live: Collection[Key], found: ScopeSnapshot, repairs: Repairs
) -> None:
    """Of a record that nobody keeps any more, what is imported from it alone is left, so that imports can change."""
    for logical_id, record in orphaned.items():
        left = {
            key: value
            for key, value in record.values.items()
            if key not in live and key in found.stored and (key not in found.tags or found.tags[key].claims)
        }
        if not left or len(left) < len(record.values):
            repairs.records[logical_id] = replace(record, values=left) if left else None
            repairs.suspects |= record.values.keys() & found.tags.keys()
            name = part_name(scope, logical_id, 0)
            repairs.findings.append(Finding(FindingType.ORPHANED, name, (record.stack,)))


def lost_records(tags: ValueTags, records: Mapping[str, StoredRecord]) -> list[str]:
    """The Exports of a claimed value in no record that have neither a record nor the mark of one, by logical ID."""
    return sorted(each for each in tags.owners.values() if each not in records) if tags.claims else []


def _find_missing(
    scope: ExportScope, live: Mapping[Key, Mapping[str, Record]], found: ScopeSnapshot, repairs: Repairs
) -> None:
    for key, records in live.items():
        if key not in found.stored:
            kind, record = FindingType.CLEANED_UP, next(iter(records.values()))
            if found.awaited:
                kind = FindingType.MISSING
                repairs.put_back[key] = (record.values[key], RecordedExports(records, torn=False).tags(key))
            repairs.findings.append(Finding(kind, scope.parameter_name(key), (record.stack,)))
