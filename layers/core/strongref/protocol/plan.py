"""Every rule about what an Export may do to what is stored: desired and stored in, a plan out. Pure.

A plan is made for one place from three things: what the Export wants there, what the records say, and what the
parameters and their tags say. Reading tags costs a call a key, so `keys_to_inspect` first tells whose tags matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, Flag, auto
from typing import TYPE_CHECKING

from strongref.contract.names import CLAIM_TAG, OWNER_TAG, PRODUCER_TAG, Key, owner_tag
from strongref.contract.record import Record
from strongref.errors import ConflictingExportError, ExportsInUseError, ForeignParameterError, InUse

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from strongref.contract.names import ExportScope
    from strongref.contract.values import Value


class WhenClaimed(Flag):
    """What to do about a claimed value that is to change or to go; the two may be combined."""

    REFUSE = 0
    PROPAGATE = auto()
    """Change it all the same, and say to whom."""
    KEEP = auto()
    """Leave one that is to go where it is, withdrawn: for where nothing can be refused any more."""


class Owner(Enum):
    """Whose a stored parameter is, as seen from one stack."""

    OURS = "ours"
    NOBODYS = "nobody's"
    """Its producing stack is gone: a stack of the same name may adopt it."""
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class ValueTags:
    """What a stored parameter's tags say, once CloudFormation was asked who of them still lives."""

    owner: Owner
    producer: str | None
    owners: Collection[str] = ()
    """The keys of the tags by which Exports own it."""
    claims: Mapping[str, str] = field(default_factory=dict)
    """Live claims: the tag's key, the importing stack's ARN."""
    stale: Mapping[str, str] = field(default_factory=dict)
    """Claims that protect nothing any more, likewise."""


@dataclass(frozen=True, slots=True)
class ExportIdentity:
    """Which Export plans: its stack and its logical id there."""

    stack: str
    logical_id: str

    @property
    def tags(self) -> dict[str, str]:
        return {PRODUCER_TAG: self.stack, owner_tag(self.logical_id): self.logical_id}


@dataclass(frozen=True, slots=True)
class StoredExports:
    """What is there: the stored values by key, and the records by logical id.

    Attributes:
        stored: the parameters' values.
        mine: this Export's own record, whichever stack of this name wrote it; None if there is none.
        litter: there are parts of a record of this Export that cannot be put together.
        others: the records of the other Exports of this stack.
        orphans: the records that a former stack of this name left behind.
    """

    stored: Mapping[Key, Value]
    mine: Record | None
    litter: bool = False
    others: Mapping[str, Record] = field(default_factory=dict)
    orphans: Mapping[str, Record] = field(default_factory=dict)

    def owners(self, key: Key) -> dict[str, str]:
        """The owner tags of the other Exports that publish a key."""
        return {owner_tag(logical_id): logical_id for logical_id, record in self.others.items() if key in record.values}

    @property
    def published(self) -> Mapping[Key, Value]:
        return self.mine.values if self.mine else {}


@dataclass(frozen=True, slots=True)
class ExportPlan:
    """What one Export has to do in one place; no two of its parts name the same key, but for `heal` and `adopt`.

    Attributes:
        create: values that are not there, with the tags to make them with.
        remake: values whose type changes, which SSM cannot do in place: deleted and made again with these tags.
        overwrite: values that differ, or are to be written again.
        adopt: tags to put on values that are right, but not ours yet.
        disown: the tag to take off values that another Export goes on publishing.
        delete: values to take away, whether they are there or not.
        heal: stale claims on values that are to change or go: the tag's key, the ARN of the stack that it names.
        record: what the record will say; None: it goes.
        orphans: records of a former stack, without what this Export takes over.
        told: claimed values that change all the same, and who imports them.
        kept: claimed values that were to go, and who imports them.
    """

    scope: ExportScope
    create: Mapping[Key, tuple[Value, Mapping[str, str]]]
    remake: Mapping[Key, tuple[Value, Mapping[str, str]]]
    overwrite: Mapping[Key, Value]
    adopt: Mapping[Key, Mapping[str, str]]
    disown: tuple[Key, ...]
    delete: tuple[Key, ...]
    heal: Mapping[Key, Mapping[str, str]]
    record: Record | None
    rerecord: bool
    orphans: Mapping[str, Record]
    told: Mapping[Key, tuple[str, ...]]
    kept: Mapping[Key, tuple[str, ...]]

    @property
    def published(self) -> Mapping[Key, Value]:
        return self.record.values if self.record else {}

    @property
    def retags(self) -> bool:
        """Whether owners' tags are to be changed beside the record, so that it is left open meanwhile."""
        return bool(self.adopt or self.disown)

    @property
    def writes(self) -> int:
        """About how many calls it takes; 0: there is nothing to do."""
        batched = -(-(len(self.delete) + len(self.remake)) // 10)
        single = len(self.create) + len(self.remake) + len(self.overwrite) + len(self.adopt) + len(self.disown)
        return batched + single + len(self.heal) + len(self.orphans) + self.rerecord


def is_up_to_date(me: ExportIdentity, wanted: Mapping[Key, Value], stock: StoredExports) -> bool:
    """Record and parameters say what is wanted already: there is nothing to do, and no tag needs to be read."""
    return (
        stock.mine == _record(me, wanted)
        and not stock.litter
        and all(stock.stored.get(key) == value for key, value in wanted.items())
        and not _orphans(wanted, stock)
    )


def holding_of(tags: Mapping[str, str]) -> tuple[str | None, dict[str, str], dict[str, str]]:
    """Take a parameter's tags apart: its producer, its owners and its claims, the latter by tag key."""
    owners = {key: value for key, value in tags.items() if key.startswith(OWNER_TAG)}
    claims = {key: value for key, value in tags.items() if key.startswith(CLAIM_TAG)}
    return tags.get(PRODUCER_TAG), owners, claims


def keys_to_inspect(
    me: ExportIdentity, wanted: Mapping[Key, Value], stock: StoredExports, rewrite: Collection[Key] = ()
) -> list[Key]:
    """The keys whose tags decide: values to be written or to go, and those that are not this Export's yet."""
    others = {key for record in stock.others.values() for key in record.values}
    orphans = {key for record in stock.orphans.values() for key in record.values}
    inspected = []
    for key, value in stock.stored.items():
        if key in wanted:
            if value != wanted[key] or key in rewrite or not _published_by(me, key, stock):
                inspected.append(key)
        elif key in others:
            if stock.mine is not None and stock.mine.open:
                inspected.append(key)  # it may still have our owner's tag
        elif key in stock.published or key not in orphans:
            inspected.append(key)
    return inspected


def plan_exports(  # noqa: PLR0913 (what is wanted, and what is there)
    scope: ExportScope,
    me: ExportIdentity,
    wanted: Mapping[Key, Value],
    stock: StoredExports,
    holdings: Mapping[Key, ValueTags],
    *,
    when_claimed: WhenClaimed = WhenClaimed.REFUSE,
    rewrite: Collection[Key] = (),
) -> ExportPlan:
    """Decide what one Export has to do in one place; touch nothing.

    Args:
        scope: where.
        me: which Export.
        wanted: what it is to publish there; nothing, when it is deleted or moves away.
        stock: what is there.
        holdings: of each of `keys_to_inspect`, what its tags say.
        when_claimed: what to do about claimed values.
        rewrite: keys to write again though they are right (another `Revision`).

    Raises:
        ExportsInUseError: claimed values would change or go, and that is refused.
        ForeignParameterError: somebody else's parameter stands where a value is to go.
        ConflictingExportError: another Export of the stack publishes one of the keys with another value.
    """
    _check_conflicts(wanted, stock)
    _check_foreign(scope, wanted, holdings)
    others = {key for record in stock.others.values() for key in record.values}
    dropped = [key for key in stock.published if key not in wanted]
    # What no record holds any more: left by a change that died half-way, or kept for a claim that is gone by now.
    strays = [key for key in holdings if key not in wanted and key not in stock.published]
    left_owned = [
        key for key in strays if key in others and owner_tag(me.logical_id) in holdings[key].owners
    ]  # by a change that died half-way
    disown = tuple([key for key in dropped if key in others and key in stock.stored] + left_owned)
    strays = [key for key in strays if key not in others]
    leave = {key for key, holding in holdings.items() if key not in wanted and holding.owner is Owner.FOREIGN}
    claimed = {key: _importers(holding) for key, holding in holdings.items() if holding.claims}
    going = [key for key in dropped if key not in others and key not in leave]
    differing = [key for key in wanted if key in stock.stored and stock.stored[key] != wanted[key]]
    drops = {key: claimed[key] for key in going if key in claimed}
    # What the record says already is what was claimed: a parameter that says something else was changed by hand, or by
    # a change that died half-way, and is made right.
    changes = {key: claimed[key] for key in differing if key in claimed and stock.published.get(key) != wanted[key]}
    # Another type takes a deletion and a new parameter, without the claims in between: that cannot be propagated.
    retyped = {key: who for key, who in changes.items() if stock.stored[key].kind is not wanted[key].kind}
    _check_claims(
        {} if WhenClaimed.PROPAGATE in when_claimed else changes,
        {} if WhenClaimed.KEEP in when_claimed else drops,
        retyped,
    )
    delete = tuple(
        [key for key in going if key not in drops] + [key for key in strays if key not in claimed and key not in leave]
    )
    remake = {
        key: (wanted[key], me.tags | stock.owners(key) | dict(holdings[key].claims))
        for key in differing
        if stock.stored[key].kind is not wanted[key].kind
    }
    again = [key for key in rewrite if key in stock.stored and key in wanted and key not in differing]
    overwrite = {key: wanted[key] for key in [*differing, *again] if key not in remake}
    adopt = {
        key: me.tags
        for key in wanted
        if key in holdings
        and key not in remake
        and not (_published_by(me, key, stock) and holdings[key].owner is Owner.OURS)
    }
    withdrawn = {
        key: claimed[key] for key in strays if key in claimed and owner_tag(me.logical_id) in holdings[key].owners
    }
    return ExportPlan(
        scope=scope,
        create={key: (value, me.tags | stock.owners(key)) for key, value in wanted.items() if key not in stock.stored},
        remake=remake,
        overwrite=overwrite,
        adopt=adopt,
        disown=disown,
        delete=delete,
        heal={key: holdings[key].stale for key in [*differing, *delete] if key in holdings and holdings[key].stale},
        record=_record(me, wanted),
        rerecord=stock.litter or stock.mine != _record(me, wanted),
        orphans=_orphans(wanted, stock),
        told=changes,
        kept=drops | withdrawn if WhenClaimed.KEEP in when_claimed else {},
    )


def _record(me: ExportIdentity, wanted: Mapping[Key, Value]) -> Record | None:
    return Record(me.stack, dict(wanted)) if wanted else None


def _published_by(me: ExportIdentity, key: Key, stock: StoredExports) -> bool:
    """Whether this very Export publishes a key, and its tags say so.

    A former stack's record of the same name does not count, nor one that was left open: it may not have come to tags.
    """
    mine = stock.mine
    return mine is not None and mine.stack == me.stack and not mine.open and key in mine.values


def _importers(holding: ValueTags) -> tuple[str, ...]:
    return tuple(sorted(set(holding.claims.values())))


def _orphans(wanted: Mapping[Key, Value], stock: StoredExports) -> dict[str, Record]:
    """A former stack's records lose what this Export takes over: else that would outlive its being dropped here."""
    changed = {}
    taken_over = wanted.keys() | stock.published.keys()
    for logical_id, record in stock.orphans.items():
        kept = {key: value for key, value in record.values.items() if key not in taken_over}
        if len(kept) < len(record.values):
            changed[logical_id] = Record(record.stack, kept)
    return changed


def _check_conflicts(wanted: Mapping[Key, Value], stock: StoredExports) -> None:
    for logical_id, record in stock.others.items():
        keys = [key for key, value in wanted.items() if record.values.get(key, value) != value]
        if keys:
            raise ConflictingExportError(keys, logical_id)


def _check_foreign(scope: ExportScope, wanted: Mapping[Key, Value], holdings: Mapping[Key, ValueTags]) -> None:
    foreign = {
        key: holdings[key].producer for key in wanted if key in holdings and holdings[key].owner is Owner.FOREIGN
    }
    if foreign:
        raise ForeignParameterError({scope.value(key): producer for key, producer in foreign.items()})


def _check_claims(
    changes: Mapping[Key, tuple[str, ...]],
    drops: Mapping[Key, tuple[str, ...]],
    retyped: Mapping[Key, tuple[str, ...]],
) -> None:
    in_use = [InUse(key, "changed", importers) for key, importers in changes.items() if key not in retyped]
    in_use += [InUse(key, "given another type", importers) for key, importers in retyped.items()]
    in_use += [InUse(key, "dropped", importers) for key, importers in drops.items()]
    if in_use:
        raise ExportsInUseError(in_use)
