"""What is exported and who imports it, from what was read of some regions. Pure; there are no values in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from strongref.contract.hold_stacks import HoldStack
from strongref.contract.index import IndexEntry, Place, index_of
from strongref.contract.names import CLAIM_TAG, PRODUCER_TAG, RESTORED_TAG, ExportScope, Key, Producer, StackArn
from strongref.errors import where_text
from strongref.grouping import grouped
from strongref.protocol.published import RecordedExports
from strongref.text import attribute_name, claimant, cut
from strongref_cli.overview.graph import Graph, Participant, Reference, Unread
from strongref_cli.overview.states import ExportState, ImportState, Protection

if TYPE_CHECKING:
    from datetime import datetime

    from strongref.contract.record import Record


class StoredValue(NamedTuple):
    """What Parameter Store and the tagging service say about the parameter of a value, and about its records."""

    modified: datetime  # when the parameter was last written (UTC)
    tags: Mapping[str, str]
    recorded: datetime | None = None  # when the records that have the value were last written; None if none has it

    @property
    def published(self) -> datetime:
        """No Export has changed the value after this moment.

        A change writes the record and then the parameter, and an import succeeds only where both agree. So an import
        that finished after one of the two has read the value of today, although somebody wrote the other one later: by
        hand, or the same value again.
        """
        return min(self.modified, self.recorded or self.modified)


class ExistingStack(NamedTuple):
    created: datetime  # (UTC)
    # when each import was last made, by claim tag; None if the stack is younger than all that it imports
    imports: Mapping[str, datetime] | None = None
    parent: str = ""  # the ARN of the stack that it is nested in; empty if it is not nested
    at_rest: bool = True  # without an operation, its imports stay as they are


@dataclass(frozen=True, slots=True)
class StoredRegion:
    """What was read of one region of an account. Everything but records may be some seconds late."""

    account: str
    region: str
    records: Mapping[ExportScope, RecordedExports] = field(default_factory=dict, repr=False)
    values: Mapping[ExportScope, Mapping[Key, StoredValue]] = field(default_factory=dict)
    stacks: Mapping[str, ExistingStack] = field(default_factory=dict)  # by ARN
    # by the Export's parameter and the ARN of its stack
    index: Mapping[tuple[str, str], IndexEntry] = field(default_factory=dict)

    def linked(self, stack: str | None) -> set[str]:
        """The regions that stacks of this name, or all, live in and export to, as far as this region says."""
        producers = {scope.producer for scope in (*self.records, *self.values)}
        entries = [entry for (name, _), entry in self.index.items() if stack in (None, index_of(name)[0])]
        places = {place for entry in entries for place in entry.places}
        found = {each for each in producers if stack in (None, each.stack)} | places
        return {each.region for each in found if each.account == self.account}

    def places_abroad(self, held: Mapping[Place, frozenset[str]]) -> Iterator[PlaceAbroad]:
        """Where stacks of this region export to in other accounts, given what is held for each place."""
        found: dict[tuple[Producer, Place], list[IndexEntry]] = defaultdict(list)
        for (name, _), entry in self.index.items():
            for place in (each for each in entry.places if each.account != self.account):
                found[Producer(self.account, self.region, index_of(name)[0]), place].append(entry)
        for (producer, place), entries in sorted(found.items(), key=lambda each: each[0]):
            is_forgotten = all(place in each.forgotten for each in entries)
            is_imported = any(each.hold in held.get(place, ()) for each in entries)
            yield PlaceAbroad(producer, place, is_forgotten=is_forgotten, is_imported=is_imported)


class PlaceAbroad(NamedTuple):
    """Where a stack exports to in another account, as the index says: keys and importers are in that account."""

    producer: Producer
    place: Place
    is_forgotten: bool  # a person gave it up
    is_imported: bool  # a hold says that somebody imports there


@dataclass(frozen=True, slots=True, order=True)
class Claim:
    importer: str  # what the claim says: a stack ARN, or a manifest set
    tag: str
    state: ImportState
    protection: Protection


@dataclass(frozen=True, slots=True, order=True)
class ExportedValue:
    region: str  # where it is stored
    abroad: str  # the account, if it is not the caller's own
    scope: ExportScope
    key: Key
    state: ExportState
    changed: datetime | None  # when its parameter changed last (UTC); None if there is none
    claims: tuple[Claim, ...]
    account: str

    @property
    def where(self) -> str:
        return where_text(self.region, self.abroad)

    @property
    def producer(self) -> Producer:
        return self.scope.producer


class ProducerRegion(NamedTuple):
    """What the region of a producer says about it."""

    stacks: Mapping[str, ExistingStack]  # by ARN
    held: Mapping[str, frozenset[str]]  # the names of the CloudFormation exports that are held, by hold stack's hash
    held_for: Mapping[Place, frozenset[str]] = {}  # and by the place that they are held for


def exported_values(stored: StoredRegion, homes: Mapping[str, ProducerRegion], own: str) -> Iterator[ExportedValue]:
    """Every exported value of a region, sorted by scope and key.

    `homes` are those of the caller's `own` account, without what cannot be read.
    """
    at = stored.region, "" if stored.account == own else stored.account
    for scope in sorted({*stored.records, *stored.values}):
        recorded = stored.records.get(scope, RecordedExports({}, torn=False))
        found = stored.values.get(scope, {})
        owners = grouped((key, record) for record in recorded.records.values() for key in record.values)
        home = homes.get(scope.producer.region) if scope.producer.account == own else None
        read = _ReadScope(stored, scope, home)
        for key in sorted({*owners, *found}):
            there = found.get(key)
            state = _state(owners.get(key, ()), there, home, torn=recorded.torn)
            holds = {record.hold: record.stack for record in owners.get(key, ()) if record.hold}
            claims = sorted(read.claims(there, None if state is ExportState.UNREADABLE else holds))
            changed = there.modified if there else None
            yield ExportedValue(*at, scope, key, state, changed, tuple(claims), stored.account)


def _state(
    owners: Collection[Record], there: StoredValue | None, home: ProducerRegion | None, *, torn: bool
) -> ExportState:
    if there and PRODUCER_TAG not in there.tags:
        return ExportState.FOREIGN
    if not owners:
        return ExportState.UNREADABLE if torn else ExportState.WITHDRAWN
    if there is None:
        return ExportState.MISSING
    if home and not any(record.stack in home.stacks for record in owners):
        return ExportState.ORPHANED
    is_claimed = any(tag.startswith(CLAIM_TAG) for tag in there.tags)
    return ExportState.RESTORED if RESTORED_TAG in there.tags and not is_claimed else ExportState.PUBLISHED


class _ReadScope(NamedTuple):
    """What was read of a scope and of its producer's region."""

    stored: StoredRegion
    scope: ExportScope
    home: ProducerRegion | None

    def claims(self, value: StoredValue | None, holds: Mapping[str, str] | None) -> Iterator[Claim]:
        """The claims on a value, given the holds that its records name; None if they are not known."""
        if value is None:
            return
        for tag, importer in value.tags.items():
            if tag.startswith(CLAIM_TAG):
                state = _import_state(self.stored, importer, tag, value.published)
                yield Claim(importer, tag, state, self._protection(importer, tag, holds))

    def _protection(self, importer: str, tag: str, holds: Mapping[str, str] | None) -> Protection:
        """Whether a claim has its hold."""
        stored, producer, home = self.stored, self.scope.producer, self.home
        if participant_of(importer) == participant(producer):
            return Protection.HELD  # It makes no hold: CloudFormation deletes the import with its own stack.
        if holds == {}:
            return Protection.UNPROTECTED
        if holds is None or home is None:
            return Protection.UNKNOWN
        if producer.account != stored.account:  # All claims there have one hold, which is the place's.
            held = home.held_for.get(Place(stored.account, stored.region, self.scope.consumer), frozenset())
            return Protection.HELD if holds.keys() <= held else Protection.UNHELD
        needed = {export for export, exporter in holds.items() if exporter not in _above(stored, importer)}
        any_stack = Producer(producer.account, producer.region, "")
        stack = HoldStack(importer, "", tag, stored.account, stored.region, self.scope.consumer, any_stack)
        return Protection.HELD if needed <= home.held.get(stack.hash, frozenset()) else Protection.UNHELD


def _import_state(stored: StoredRegion, importer: str, tag: str, published: datetime) -> ImportState:
    stack = StackArn.find(importer)
    if stack is None or (stack.account, stack.region) != (stored.account, stored.region):
        return ImportState.UNKNOWN
    there = stored.stacks.get(importer)
    if there is None:
        return ImportState.STALE
    if there.imports is None:
        return ImportState.CURRENT
    made = there.imports.get(tag)
    if made is None:
        return ImportState.STALE if there.at_rest else ImportState.UNKNOWN
    return ImportState.OUTDATED if made < published else ImportState.CURRENT


def _above(stored: StoredRegion, stack: str) -> Iterator[str]:
    """The ARNs of the stacks that a stack is nested in. Of what they export it makes no hold, as of its own."""
    while (found := stored.stacks.get(stack)) and found.parent:
        stack = found.parent
        yield stack


def participant(stack: Producer) -> Participant:
    return Participant(stack.account, stack.region, stack.stack)


@cache  # An importer may have made thousands of claims.
def participant_of(claim: str) -> Participant:
    """Who made a claim, given what its tag says; one of the kind `unknown` if no stack and no manifests can have."""
    who = claimant(claim)
    if who["kind"] == "other":
        return Participant("", "", cut(claim, 120), "unknown")
    return Participant(who["account"], who.get("region", ""), who["name"], who["kind"])


def graph_of(
    values: Iterable[ExportedValue],
    as_of: datetime,
    unread: tuple[Unread, ...] = (),
    places: Iterable[PlaceAbroad] = (),
) -> Graph:
    """All participants and references. A reference joins the claims of one importer on one producer at one site.

    A stale claim is no reference, and a foreign parameter is no export. Who imports at a place that was not read is
    unknown: one reference without keys stands for all of them, unless a person gave the place up.
    """
    claims: dict[tuple[Participant, Participant, str, str], list[tuple[str, Claim]]] = defaultdict(list)
    participants = set()
    for value in values:
        if value.state is ExportState.FOREIGN:
            continue
        producer = participant(value.producer)
        participants.add(producer)
        for claim in value.claims:
            if claim.state is ImportState.STALE:
                continue
            at = producer, participant_of(claim.importer), value.region, value.abroad
            claims[at].append((attribute_name(value.key), claim))
    references = [
        Reference(
            producer,
            importer,
            region,
            keys=tuple(sorted({key for key, _ in found})),
            outdated=tuple(sorted({key for key, claim in found if claim.state is ImportState.OUTDATED})),
            protection=max((claim.protection for _, claim in found), key=list(Protection).index),
            account=account,
        )
        for (producer, importer, region, account), found in claims.items()
    ]
    for each in places:
        exporter, (account, region, consumer) = participant(each.producer), each.place
        participants.add(exporter)
        if not each.is_forgotten:
            importer = Participant(account, region, consumer, "consumer")
            protection = Protection.HELD if each.is_imported else Protection.UNKNOWN
            references.append(Reference(exporter, importer, region, (), (), protection, account))
    return Graph(tuple(participants), tuple(references), as_of, unread)
