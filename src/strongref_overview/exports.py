"""What is exported and who imports it, from what was read of some regions. Pure; there are no values in it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from strongref.contract.holds import HoldStack
from strongref.contract.index import index_of
from strongref.contract.names import (
    CLAIM_TAG,
    PRODUCER_TAG,
    RESTORED_TAG,
    BadArnError,
    ExportScope,
    ManifestSet,
    Producer,
    StackArn,
)
from strongref.text import cut
from strongref_overview.graph import Participant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from strongref.contract.index import IndexEntry
    from strongref.contract.names import Key
    from strongref.contract.record import Record
    from strongref.protocol.published import RecordedExports


class StoredValue(NamedTuple):
    """What Parameter Store and the tagging service say about the parameter of a value."""

    modified: datetime  # (UTC)
    tags: Mapping[str, str]


class StackDates(NamedTuple):
    """A stack that exists."""

    created: datetime  # (UTC)
    imports: Mapping[str, datetime] | None = (
        None  # when each import was last made, by claim tag; None if the stack is younger than all that it imports
    )
    parent: str = ""  # the ARN of the stack that it is nested in; empty if it is not nested
    at_rest: bool = True  # without an operation, its imports stay as they are


@dataclass(frozen=True, slots=True)
class StoredRegion:
    """What was read of one region of the caller's account. Everything but records may be some seconds late."""

    account: str
    region: str
    records: Mapping[ExportScope, RecordedExports] = field(default_factory=dict, repr=False)
    values: Mapping[ExportScope, Mapping[Key, StoredValue]] = field(default_factory=dict)
    stacks: Mapping[str, StackDates] = field(default_factory=dict)  # by ARN
    index: Mapping[str, IndexEntry] = field(default_factory=dict)  # by parameter name

    def linked(self, stack: str | None) -> set[str]:
        """The regions that stacks of this name, or all, live in and export to, as far as this region says."""
        producers = {scope.producer for scope in (*self.records, *self.values)}
        entries = [entry for name, entry in self.index.items() if stack in (None, index_of(name)[0])]
        places = {place for entry in entries for place in entry.places}
        return {each.region for each in producers if stack in (None, each.stack)} | {
            each.region for each in places if each.account == self.account
        }


class ExportState(StrEnum):
    """How the parameter of a value compares with the records."""

    PUBLISHED = "published"
    MISSING = "missing"
    """A record has the value, but there is no parameter."""
    RESTORED = "restored"
    """The parameter was deleted and put back, and nobody has claimed the value since."""
    FOREIGN = "foreign"
    """A parameter among the values that strongref has not made."""
    WITHDRAWN = "withdrawn"
    """No record has the value anymore. The parameter stays for the stacks that import it."""


class ImportState(StrEnum):
    """How an import compares with the value that it claims."""

    CURRENT = "current"
    OUTDATED = "outdated"
    """The value changed after the import was made: its stack has to be deployed again."""
    GONE = "gone"
    """The importing stack, or its import, does not exist anymore."""
    UNKNOWN = "unknown"
    """A set of manifests, a stack of another account, or one in the middle of an operation."""


class Protection(StrEnum):
    """Whether CloudFormation itself protects the producer of an imported value."""

    HELD = "held"
    UNHELD = "unheld"
    """The Export names a hold, and this import does not have it yet."""
    NONE = "none"
    """The Export names no hold, or is another account's."""


@dataclass(frozen=True, slots=True, order=True)
class Claim:
    """The claim of one import on one value."""

    importer: str  # what the claim says: a stack ARN, or a set of manifests
    tag: str
    state: ImportState
    protection: Protection


@dataclass(frozen=True, slots=True, order=True)
class ExportedValue:
    """One exported value in one region."""

    region: str  # where it is stored
    scope: ExportScope
    key: Key
    state: ExportState
    changed: datetime | None  # when its parameter changed last (UTC); None if there is none
    claims: tuple[Claim, ...]

    @property
    def producer(self) -> Producer:
        return self.scope.producer

    def with_state(self, state: ImportState) -> list[str]:
        """The importers whose claim is in a state."""
        return sorted({each.importer for each in self.claims if each.state is state})


Held: TypeAlias = "Mapping[tuple[str, str], frozenset[str]]"
"""The names of the CloudFormation exports that are held, by the region and the hash of each hold stack."""


def exported_values(stored: StoredRegion, held: Held) -> Iterator[ExportedValue]:
    """Every exported value of a region, sorted by scope and key."""
    for scope in sorted({*stored.records, *stored.values}):
        recorded = stored.records.get(scope)
        records = recorded.records if recorded else {}
        found = stored.values.get(scope, {})
        owners: dict[Key, list[Record]] = defaultdict(list)
        for record in records.values():
            for key in record.values:
                owners[key].append(record)
        for key in sorted({*owners, *found}):
            if key not in owners and recorded and recorded.torn:
                continue  # It may be in the record that could not be read.
            there = found.get(key)
            holds = {record.hold: record.stack for record in owners.get(key, ()) if record.hold}
            yield ExportedValue(
                stored.region,
                scope,
                key,
                _state(key in owners, there),
                there.modified if there else None,
                tuple(sorted(_claims(stored, scope, there, holds, held))) if there else (),
            )


def _state(is_recorded: bool, there: StoredValue | None) -> ExportState:
    if there and PRODUCER_TAG not in there.tags:
        return ExportState.FOREIGN
    if not is_recorded:
        return ExportState.WITHDRAWN
    if there is None:
        return ExportState.MISSING
    is_claimed = any(tag.startswith(CLAIM_TAG) for tag in there.tags)
    return ExportState.RESTORED if RESTORED_TAG in there.tags and not is_claimed else ExportState.PUBLISHED


def _claims(
    stored: StoredRegion,
    scope: ExportScope,
    value: StoredValue,
    holds: Mapping[str, str],
    held: Held,
) -> Iterator[Claim]:
    for tag, importer in value.tags.items():
        if tag.startswith(CLAIM_TAG):
            state = _import_state(stored, importer, tag, value.modified)
            yield Claim(importer, tag, state, _protection(stored, scope, importer, tag, holds, held))


def _import_state(stored: StoredRegion, importer: str, tag: str, modified: datetime) -> ImportState:
    try:
        stack = StackArn.parse(importer)
    except BadArnError:
        return ImportState.UNKNOWN
    if (stack.account, stack.region) != (stored.account, stored.region):
        return ImportState.UNKNOWN
    dates = stored.stacks.get(importer)
    if dates is None:
        return ImportState.GONE
    if dates.imports is None:
        return ImportState.CURRENT
    made = dates.imports.get(tag)
    if made is None:
        return ImportState.GONE if dates.at_rest else ImportState.UNKNOWN
    return ImportState.OUTDATED if made < modified else ImportState.CURRENT


def _protection(  # noqa: PLR0913, PLR0917
    stored: StoredRegion,
    scope: ExportScope,
    importer: str,
    tag: str,
    holds: Mapping[str, str],
    held: Held,
) -> Protection:
    producer = scope.producer
    if participant_of(importer) == participant(producer):
        return Protection.HELD  # It makes no hold: CloudFormation deletes the import with its own stack.
    if not holds or producer.account != stored.account:
        return Protection.NONE
    needed = {export for export, exporter in holds.items() if exporter not in _above(stored, importer)}
    any_stack = Producer(producer.account, producer.region, "")
    stack = HoldStack(importer, "", tag, stored.account, stored.region, scope.consumer, any_stack)
    return Protection.HELD if needed <= held.get((producer.region, stack.hash), frozenset()) else Protection.UNHELD


def _above(stored: StoredRegion, stack: str) -> Iterator[str]:
    """The ARNs of the stacks that a stack is nested in. Of what they export it makes no hold, as of its own."""
    while (found := stored.stacks.get(stack)) and found.parent:
        stack = found.parent
        yield stack


def participant(stack: Producer) -> Participant:
    """A stack as a participant."""
    return Participant(stack.account, stack.region, stack.stack)


def participant_of(claim: str) -> Participant:
    """Who made a claim, given what its tag says; one of the kind `unknown` if no stack and no manifests can have."""
    try:
        return participant(StackArn.parse(claim).producer)
    except BadArnError:
        manifests = ManifestSet.parse(claim)
    if manifests:
        return Participant(manifests.account, "", manifests.name, "manifests")
    return Participant("", "", cut(claim, 120), "unknown")
