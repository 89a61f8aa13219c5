"""Reads what is stored in a scope, as the planner sees it: values, records, and the tags that matter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from strongref import errors
from strongref.contract.index import IndexEntry, Place
from strongref.contract.names import ExportScope, Key, Site, owner_tag
from strongref.contract.record import RequestStamp, decode, part_name
from strongref.protocol.plan import ExportPlan
from strongref.protocol.planner import keys_to_inspect, plan_export
from strongref.protocol.side_by_side import PART, Work, call_all, carry_out
from strongref.protocol.stored_exports import ExportIdentity, StoredExports, ValueTags
from strongref.refusals import ForeignParameterError

if TYPE_CHECKING:
    from strongref.contract.requests import ExportRequest
    from strongref.contract.values import Value
    from strongref.protocol.behind_fences import FencedStore
    from strongref.protocol.inspection import TagInspector
    from strongref.protocol.phases import ClaimPolicy
    from strongref.protocol.ports import Store


@dataclass(frozen=True, slots=True)
class Destination:
    """One site's scope, and what an Export wants there: nothing, where it moves away or is deleted."""

    site: Site
    scope: ExportScope
    wanted: Mapping[Key, Value] = field(repr=False)
    hold: str = ""  # the CloudFormation export that imports of it hold; empty if there is none
    # the index names it, and neither the new nor the old properties do: what is left there is to go if nobody claims it
    is_residual: bool = False

    @property
    def place(self) -> Place:
        return Place(self.site.account or self.scope.producer.account, self.site.region, self.scope.consumer)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is stored at a destination, read behind a fence."""

    fenced: FencedStore  # where it was read, and where its plan is carried out
    destination: Destination  # what is wanted there
    stored: StoredExports  # values and records
    inspected: Sequence[Key]  # the keys whose tags matter
    tags: dict[Key, ValueTags] = field(default_factory=dict)  # what they say; a key that has gone meanwhile is missing

    def plan(
        self, export: ExportIdentity, policy: ClaimPolicy, rewrite: Collection[Key], stamp: RequestStamp | None
    ) -> ExportPlan:
        if blocked := self.blocked:
            return ExportPlan(self.destination.scope, refusals=(blocked,))
        at, gone = self.destination, set(self.inspected) - self.tags.keys()
        stored = replace(self.stored, stored={key: each for key, each in self.stored.stored.items() if key not in gone})
        return plan_export(
            at.scope, export, at.wanted, stored, self.tags, policy=policy, rewrite=rewrite, stamp=stamp, hold=at.hold
        )

    def is_empty(self, export: ExportIdentity) -> bool:
        """Whether nothing of an Export is there, not even a mark or a value that is kept for a claim."""
        stored, owner = self.stored, owner_tag(export.logical_id)
        is_recorded = stored.own or stored.withdrawn or stored.unreadable
        return not is_recorded and not any(owner in tags.owners for tags in self.tags.values())

    @property
    def blocked(self) -> errors.UndecryptableError | None:
        """Why an Export may not have secure values where another Export's cannot be decrypted: they may be the same.

        Nor may it publish anything else under the key of one: that would take the secure value's place.
        """
        wanted, stored = self.destination.wanted, self.stored
        has_secure = any(value.is_secure for value in (*wanted.values(), *stored.recorded.values()))
        return stored.locked if has_secure or not wanted.keys().isdisjoint(stored.hidden) else None

    def left(self, failed: ExportRequest | None) -> errors.UndecryptableError | None:
        """Why a rollback leaves it as it is: it cannot be read, and the failed update has changed nothing here.

        That update asked for what is given; None if its properties were refused.
        """
        own, at = self.stored.own, self.destination
        why = self.stored.why or self.blocked
        if not (why and own) or own.untouched:
            return why if own else None
        before = at.wanted if failed is None else failed.values if failed.publishes_to(at.site, at.scope) else {}
        plain = _of(at.wanted, secure=False)
        known = own.values == at.wanted if not self.stored.unreadable else _of(own.values, secure=False) == plain
        is_stored = all(self.stored.stored.get(key) == value for key, value in plain.items())
        is_unchanged = _of(before, secure=True) == _of(at.wanted, secure=True)
        is_same = bool(at.wanted) and known and is_stored and not own.open and is_unchanged
        return why if is_same else None


def _of(values: Mapping[Key, Value], *, secure: bool) -> dict[Key, Value]:
    return {key: value for key, value in values.items() if value.is_secure is secure}


def read_behind_fences(
    fenced: Sequence[FencedStore],
    destinations: Sequence[Destination],
    export: ExportIdentity,
    inspector: TagInspector,
    rewrite: Collection[Key],
) -> list[Snapshot]:
    """Read every destination as `read_scope` does, then the tags that matter, those of all regions side by side."""
    snapshots = []
    for at, destination in zip(fenced, destinations, strict=True):
        stored = read_scope(at.store, destination.scope, export, inspector)
        inspected = sorted(keys_to_inspect(export, destination.wanted, stored, rewrite))
        snapshots.append(Snapshot(at, destination, stored, inspected))
    carry_out(Work(each.fenced.store, _read_tags(each, export, inspector)) for each in snapshots)
    return snapshots


def read_scope(store: Store, scope: ExportScope, export: ExportIdentity, inspector: TagInspector) -> StoredExports:
    """Read the values and records of a scope.

    In a stack that is being deleted, it does not matter what of other Exports cannot be read: claims count in any case.

    Raises:
        UnreadableRecordError: the record of another Export cannot be put together.
        NewerFormatError: a later version of strongref wrote a record.
        ForeignParameterError: this Export's record belongs to another stack of the same name that exists: this one is
            gone, and the event is a late delivery.
    """
    below = call_all(store, [partial(store.under, scope.path("exports")), partial(store.under, scope.path("records"))])
    stored = {scope.key(name): parameter.value for name, parameter in below[0].items()}
    found = decode(scope.path("records"), below[1])
    own = found.get(export.logical_id)
    others = {logical_id: each for logical_id, each in found.items() if logical_id != export.logical_id}
    is_unclear = any(each.torn for each in others.values())
    matters = not (is_unclear and (info := inspector.info(export.stack)) and info.being_deleted)
    for logical_id, each in found.items():
        if isinstance(each.why, errors.NewerFormatError):
            raise each.why
        if each.torn and not each.readable and logical_id in others and matters:
            raise each.why or errors.UnreadableRecordError(part_name(scope, logical_id, 0), logical_id)
    relevant = others.values() if matters else ()
    locked = next((why for each in relevant if isinstance(why := each.why, errors.UndecryptableError)), None)
    # It may hold any of the secure values.
    hidden = frozenset(key for key, value in stored.items() if value.is_secure) if locked else frozenset()
    stored = {key: value for key, value in stored.items() if key not in hidden}
    written = own and (own.readable or own.withdrawn)
    if written and written.stack != export.stack and inspector.exists(written.stack):
        raise ForeignParameterError({part_name(scope, export.logical_id, 0): written.stack})
    records = {logical_id: record for logical_id, each in others.items() if (record := each.readable)}
    living = {
        logical_id
        for logical_id, record in records.items()
        if record.stack == export.stack or inspector.exists(record.stack)
    }
    return StoredExports(
        stored=stored,
        own=own.readable if own else None,
        unreadable=own is not None and own.record is None and not own.withdrawn,
        withdrawn=own.withdrawn if own else None,
        why=own.why if own and isinstance(own.why, errors.UndecryptableError) else None,
        others={logical_id: record for logical_id, record in records.items() if logical_id in living},
        orphans={logical_id: record for logical_id, record in records.items() if logical_id not in living},
        parts={logical_id: each.numbers for logical_id, each in found.items()},
        locked=locked,
        hidden=hidden,
    )


def with_named(snapshots: Sequence[Snapshot], export: ExportIdentity, read: Callable[[], IndexEntry]) -> list[Snapshot]:
    """The snapshots with what the index says, which is read only if it decides whether a record was lost.

    An index that cannot be read may name every place.
    """
    owner = owner_tag(export.logical_id)
    unclear = [
        each
        for each in snapshots
        if each.stored.own is None
        and not each.stored.withdrawn
        and any(tags.claims and owner in tags.owners for tags in each.tags.values())
    ]
    if not unclear:
        return list(snapshots)
    entry = errors.or_else(read, None)
    named = [each for each in unclear if entry is None or each.destination.place in entry.places]
    return [replace(each, stored=replace(each.stored, named=each in named)) for each in snapshots]


def recorded_scopes(store: Store, export: ExportIdentity) -> list[ExportScope]:
    """The scopes in which an Export has a record, whoever they are for: all records of the region are listed."""
    scopes = set()
    for name in store.under("/strongref/records", decrypted=False):
        scope, logical_id = ExportScope.of("records", name), name.rsplit("/", 1)[1].partition(".")[0]
        if scope and logical_id == export.logical_id and scope.producer == export.producer:
            scopes.add(scope)
    return sorted(scopes)


def _read_tags(
    snapshot: Snapshot, export: ExportIdentity, inspector: TagInspector
) -> Iterator[Sequence[Callable[[], object]]]:
    """The steps that read the tags that matter, except what an earlier invocation read behind the same fence."""
    scan, scope, store = snapshot.fenced.scan, snapshot.destination.scope, snapshot.fenced.store
    needed = [key for key in snapshot.inspected if scan.needs(key)]
    snapshot.tags.update({key: inspector.unclaimed(export.stack) for key in snapshot.inspected if key not in needed})
    for keys in (needed[at : at + PART] for at in range(0, len(needed), PART)):
        read: dict[Key, Mapping[str, str] | None] = {}
        yield [partial(_read_into, read, store, scope, key) for key in keys]
        for key in keys:
            found = inspector.interpret({key: read[key]}, export.stack, account=store.account)
            snapshot.tags.update(found)
            is_unclaimed = all(tags == inspector.unclaimed(export.stack, tags.owners) for tags in found.values())
            scan.note(key, unclaimed=is_unclaimed)


def _read_into(read: dict[Key, Mapping[str, str] | None], store: Store, scope: ExportScope, key: Key) -> None:
    read[key] = store.tags(scope.parameter_name(key))
