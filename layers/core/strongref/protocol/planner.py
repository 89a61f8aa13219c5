"""Every rule about what an Export may do to what is stored: wanted and stored in, a plan out. Pure.

A plan is made for one scope in four passes: the differences between wanted and stored, the refusals, the owners' tags,
and the records. Reading tags costs a call for each key, so `keys_to_inspect` first says whose tags matter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from strongref.contract.names import ExportScope, Key, owner_tag
from strongref.contract.record import Record, RequestStamp
from strongref.protocol import plan
from strongref.protocol.phases import ClaimPolicy
from strongref.protocol.ports import BATCH
from strongref.protocol.stored_exports import ExportIdentity, Owner, StoredExports, ValueTags
from strongref.refusals import ConflictingExportError, ExportsInUseError, ForeignParameterError, InUse

if TYPE_CHECKING:
    from strongref.contract.values import Value
    from strongref.protocol.plan import Importers, Instruction, Refusal


def is_up_to_date(export: ExportIdentity, wanted: Mapping[Key, Value], stored: StoredExports, hold: str = "") -> bool:
    """Whether record and parameters match what is wanted already. Then no tag needs to be read."""
    return (
        stored.own == (Record(export.stack, dict(wanted), hold) if wanted else None)
        and not stored.unreadable
        and all(stored.stored.get(key) == value for key, value in wanted.items())
        and not _smaller_orphans(wanted, stored)
    )


def keys_to_inspect(
    export: ExportIdentity, wanted: Mapping[Key, Value], stored: StoredExports, rewrite: Collection[Key] = ()
) -> list[Key]:
    """The keys whose tags decide: values to write or to drop, and those that this Export does not own yet."""
    others, orphans = stored.recorded_by_others, {key for each in stored.orphans.values() for key in each.values}
    inspected = []
    for key, value in stored.stored.items():
        if key in wanted:
            if value != wanted[key] or key in rewrite or not stored.owned_by(export, key):
                inspected.append(key)
        elif key in others:
            if stored.own is not None and stored.own.open:
                inspected.append(key)  # it may still have this Export's owner tag
        elif key in stored.recorded or key not in orphans:
            inspected.append(key)
    return inspected


def plan_export(  # noqa: PLR0913 (what is wanted, and what is stored)
    scope: ExportScope,
    export: ExportIdentity,
    wanted: Mapping[Key, Value],
    stored: StoredExports,
    tags: Mapping[Key, ValueTags],
    *,
    policy: ClaimPolicy = ClaimPolicy.REFUSE,
    rewrite: Collection[Key] = (),
    stamp: RequestStamp | None = None,
    hold: str = "",
) -> plan.ExportPlan:
    """Decide what one Export does in one scope.

    The record comes first, so that whatever is lost on the way comes back from it; new values come before old ones go.

    Nothing is wanted where the Export is deleted or moves away. The tags are those of `keys_to_inspect`. Keys to
    rewrite are written again although they are right (another `Revision`). The stamp is that of the request; the hold
    is the name of the CloudFormation export that imports hold.
    """
    found = _compare(export, wanted, stored, tags)
    refusals = (*_not_ours(scope, wanted, stored, tags, policy), *_in_use(stored, found, policy, tags.values()))
    if refusals:
        return plan.ExportPlan(scope, refusals=refusals)
    overwritten = {key: wanted[key] for key in found.changed if key not in found.retyped}
    again = [key for key in rewrite if key in stored.stored and key in wanted and key not in found.changed]
    overwritten |= {key: wanted[key] for key in again}
    stale = {key: tags[key].stale for key in [*found.changed, *found.deleted] if key in tags and tags[key].stale}
    takes = [
        plan.TakeOwnership(key, value, export.tags)
        for key, value in wanted.items()
        if key in tags
        and key not in found.retyped
        and not (stored.owned_by(export, key) and tags[key].owner is Owner.OURS)
    ]
    gives = [plan.GiveUpOwnership(key) for key in found.shared]
    former_hold = stored.hold if not hold else ""
    record = Record(export.stack, dict(wanted), hold, last=stamp, former_hold=former_hold, withdrawn=not wanted)
    opening, closing = _records(export, record, stored, found, retags=bool(takes or gives))
    instructions: list[Instruction] = [
        *opening,
        *(plan.RemoveClaims(key, claims) for key, claims in stale.items() if key in overwritten),
        *(plan.Overwrite(key, value, export.tags | stored.other_owners(key)) for key, value in overwritten.items()),
        *takes,
        *_delete(found.retyped),
        *(
            plan.Create(key, wanted[key], export.tags | stored.other_owners(key) | dict(tags[key].claims))
            for key in found.retyped
        ),
        *(plan.Create(key, wanted[key], export.tags | stored.other_owners(key)) for key in found.missing),
        *gives,
        *_delete(found.deleted),
        *closing,
    ]
    kept = found.claimed_drops | found.withdrawn if ClaimPolicy.KEEP in policy else {}
    unseen = tuple(_delete(found.unseen))
    return plan.ExportPlan(scope, tuple(instructions), (), found.claimed_changes, kept, stale, unseen)


@dataclass(frozen=True, slots=True)
class _Differences:
    """How what is wanted differs from what is stored."""

    missing: list[Key]  # wanted, and not stored
    changed: list[Key]  # wanted, and stored with another value
    retyped: list[Key]  # those of them whose type changes, which SSM cannot do in place
    shared: list[Key]  # no longer wanted, and still published by another Export of the stack
    deleted: list[Key]  # no longer wanted by anyone, and not claimed
    # recorded, no longer wanted, and not found: a name that was used again may be hidden for a while (`recreation`)
    unseen: list[Key]
    claimed_changes: dict[Key, Importers]  # changed values that are claimed
    # claimed values that are no longer wanted, and that this Export's record holds, or may have held before it was lost
    claimed_drops: dict[Key, Importers]
    withdrawn: dict[Key, Importers]  # claimed values with this Export's tag that its record does not hold after this


def _compare(
    export: ExportIdentity, wanted: Mapping[Key, Value], stored: StoredExports, tags: Mapping[Key, ValueTags]
) -> _Differences:
    others, recorded = stored.recorded_by_others, stored.recorded
    claimed = {key: each.importers for key, each in tags.items() if each.claims}
    owned = {key for key, each in tags.items() if owner_tag(export.logical_id) in each.owners}
    foreign = {key for key, each in tags.items() if each.owner is Owner.FOREIGN}
    changed = [key for key in wanted if key in stored.stored and stored.stored[key] != wanted[key]]
    dropped = [key for key in recorded if key not in wanted]
    # Values that no record of this Export holds: left by a change that died halfway, or kept for a claim.
    unrecorded = [key for key in tags if key not in wanted and key not in recorded]
    going = [key for key in dropped if key not in others and key not in foreign]
    left = [key for key in unrecorded if key not in others]
    kept = {key: claimed[key] for key in left if key in claimed and key in owned}
    lost = kept if kept and stored.lost else {}
    return _Differences(
        missing=[key for key in wanted if key not in stored.stored],
        changed=changed,
        retyped=[key for key in changed if stored.stored[key].type is not wanted[key].type],
        shared=[key for key in dropped if key in others and key in stored.stored]
        + [key for key in unrecorded if key in others and key in owned],
        deleted=[key for key in going if key in stored.stored and key not in claimed]
        + [key for key in left if key not in claimed and key not in foreign],
        unseen=[key for key in going if key not in stored.stored],
        # What the record says already is what was claimed. A parameter that says something else was changed by hand, or
        # by a change that died halfway, and is corrected.
        claimed_changes={key: claimed[key] for key in changed if key in claimed and recorded.get(key) != wanted[key]},
        claimed_drops={key: claimed[key] for key in going if key in claimed} | lost,
        withdrawn=kept | {key: claimed[key] for key in going if key in claimed and key in owned},
    )


def _not_ours(
    scope: ExportScope,
    wanted: Mapping[Key, Value],
    stored: StoredExports,
    tags: Mapping[Key, ValueTags],
    policy: ClaimPolicy,
) -> Iterator[Refusal]:
    """What others have in the way: other Exports of the stack other values, or anybody else a parameter.

    A rollback, which keeps what is claimed, takes its value back from an Export that the update has created: that goes
    only in the cleanup.
    """
    for logical_id, record in stored.others.items() if ClaimPolicy.KEEP not in policy else ():
        keys = [key for key, value in wanted.items() if record.values.get(key, value) != value]
        if keys:
            yield ConflictingExportError(keys, logical_id)
    foreign = {key: tags[key].producer for key in wanted if key in tags and tags[key].owner is Owner.FOREIGN}
    if foreign:
        yield ForeignParameterError({scope.parameter_name(key): producer for key, producer in foreign.items()})


def _in_use(
    stored: StoredExports, found: _Differences, policy: ClaimPolicy, tags: Collection[ValueTags]
) -> Iterator[Refusal]:
    """What claims forbid, given the tags of the values.

    Nobody knows whether an imported value changes that cannot be decrypted. Another type takes a deletion, without the
    claims for a moment: that is never propagated.
    """
    if ClaimPolicy.PROPAGATE not in policy:
        yield from (locked for key in found.claimed_changes if (locked := stored.stored[key].locked))
    changes = {} if ClaimPolicy.PROPAGATE in policy else found.claimed_changes
    drops = {} if ClaimPolicy.KEEP in policy else found.claimed_drops
    in_use = [InUse(key, "changed", who) for key, who in changes.items() if key not in found.retyped]
    in_use += [
        InUse(key, "given another type", who) for key, who in found.claimed_changes.items() if key in found.retyped
    ]
    in_use += [InUse(key, "dropped", who) for key, who in drops.items()]
    unknown = {importer for each in tags for importer in each.unknown.values()}
    if in_use:
        yield ExportsInUseError(in_use, unknown, {each.account for each in tags if each.account})


def _records(
    export: ExportIdentity, record: Record, stored: StoredExports, found: _Differences, *, retags: bool
) -> tuple[list[Instruction], list[Instruction]]:
    """The records to write before everything else, and the one to close after it.

    Where owner tags change as well, the record is left open meanwhile. What is withdrawn leaves a mark while values are
    kept.
    """
    own, used = export.logical_id, stored.parts
    parts = used.get(own, frozenset())
    left = record if not record.withdrawn or found.withdrawn else None
    is_new = stored.own != record if record.values else bool(stored.own or found.claimed_drops)
    opening: list[Instruction] = []
    if retags:
        opening.append(plan.WriteRecord(own, replace(record, open=True, withdrawn=False), parts))
    elif stored.unreadable or is_new:
        opening.append(plan.WriteRecord(own, record, parts))
    closing: list[Instruction] = []
    if retags or (left is None and opening):
        closing.append(plan.CloseRecord(own, left, parts))
    elif left is None and stored.withdrawn:
        closing.append(plan.WriteRecord(own, None, parts))  # A withdrawal that died may have left more than its mark.
    opening += [
        plan.WriteRecord(logical_id, orphan if orphan.values else None, used.get(logical_id, frozenset()))
        for logical_id, orphan in _smaller_orphans(record.values, stored).items()
    ]
    return opening, closing


def _smaller_orphans(wanted: Mapping[Key, Value], stored: StoredExports) -> dict[str, Record]:
    """Records of a former stack without what this Export takes over, which would outlive its being dropped here."""
    changed = {}
    taken_over = wanted.keys() | stored.recorded.keys()
    for logical_id, record in stored.orphans.items():
        kept = {key: value for key, value in record.values.items() if key not in taken_over}
        if len(kept) < len(record.values):
            changed[logical_id] = replace(record, values=kept)
    return changed


def _delete(keys: list[Key]) -> Iterator[plan.Delete]:
    for at in range(0, len(keys), BATCH):
        yield plan.Delete(tuple(keys[at : at + BATCH]))
