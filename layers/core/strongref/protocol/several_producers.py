"""An Import without `From`: each name from the one stack of the account that exports it to the consumer.

What it needs of each producer's region is held first, in one hold stack. Then it claims in each scope as any Import
does, and looks at everything once more: meanwhile, another producer may have come.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from strongref.contract.names import ExportScope, Key, by_scope, consumer_prefix
from strongref.contract.record import decode
from strongref.contract.values import Value, select
from strongref.grouping import grouped
from strongref.protocol.claims import Claimant, ClaimAttempt, TryAgainError, exports_to_hold, patiently
from strongref.protocol.fences import live_fences
from strongref.protocol.inspection import read_tags
from strongref.protocol.phases import ImportPolicy
from strongref.protocol.published import RecordedExports
from strongref.refusals import (
    ChangingError,
    NoProducerError,
    NoSuchExportError,
    NoSuchProducerError,
    NothingExportedError,
    SeveralProducersError,
)
from strongref.text import attribute_name, some

if TYPE_CHECKING:
    from strongref.contract.fence import Fence
    from strongref.protocol.hold_keeper import HoldKeeper
    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock, Waiting
    from strongref.protocol.tolerance import Tolerance

Scopes = dict[str, list[ExportScope]]
"""By name, the scopes in which there is something that it means."""


@dataclass(frozen=True, slots=True)
class NameSources:
    """Which producer each name comes from."""

    scopes: Mapping[ExportScope, Sequence[str]]
    missing: Sequence[str]
    ambiguous: Mapping[str, Sequence[ExportScope]]  # names that are of several
    others: Mapping[str, Sequence[ExportScope]]  # of names that stay with one that was claimed, the other producers


def sources(names: Iterable[str], published: Scopes, claimed: Scopes) -> NameSources:
    """Find the producer of each name: the one that this import has claimed it of, or the only one there is. Pure."""
    chosen: list[tuple[ExportScope, str]] = []
    missing, ambiguous, others = [], {}, {}
    for name in names:
        there, before = published.get(name, []), claimed.get(name, [])
        left = before if len(before) == 1 else [each for each in there if each in before] or there
        if len(left) == 1:
            chosen.append((left[0], name))
            if more := [each for each in there if each != left[0]]:
                others[name] = more
        elif left:
            ambiguous[name] = left
        else:
            missing.append(name)
    return NameSources(dict(sorted(grouped(chosen).items())), missing, ambiguous, others)


@dataclass(slots=True)
class SeveralProducers:
    """An importer at work in all scopes of its consumer."""

    ports: Ports  # what calls go through
    store: Store  # of the consumer's region
    clock: Clock  # the invocation's
    claimant: Claimant  # who imports
    consumer: str
    names: Sequence[str]
    keeper: Callable[[str], HoldKeeper] | None = None  # makes what holds a region's producers; None for a weak import
    scopes: Collection[ExportScope] = ()  # where it has found the names
    others: Mapping[str, Sequence[ExportScope]] = field(default_factory=dict)  # as `NameSources.others`
    _attempts: list[ClaimAttempt] = field(default_factory=list)
    _former: list[ClaimAttempt] = field(default_factory=list)  # those of earlier tries
    _keepers: dict[str, HoldKeeper] = field(default_factory=dict)  # by region
    _unneeded: set[str] = field(default_factory=set)  # the regions where nothing is to be held
    _claimed: Scopes | None = None  # what this generation had claimed when it was first looked at
    _claims_count: bool | None = None  # whether that was before this event; None until it matters
    _has_settled: bool = False

    @property
    def has_made(self) -> bool:
        has_claimed = any(each.claims for each in (*self._former, *self._attempts))
        return has_claimed or any(each.may_exist() for each in self._keepers.values())

    @property
    def unneeded(self) -> list[tuple[HoldKeeper, list[ClaimAttempt]]]:
        """The holds that nothing needs, with the attempts of their region."""
        return [
            (self._keepers[region], [each for each in self._attempts if each.scope.producer.region == region])
            for region in sorted(self._unneeded)
            if self._keepers[region].may_exist()
        ]

    @property
    def notice(self) -> str:
        """What to say about names that have another producer, too."""
        return " ".join(
            f"{attribute_name(name)} is also exported to {self.consumer} by {_listed(scopes)}, and stays with the "
            "stack that it was claimed of. Give the Import a From."
            for name, scopes in sorted(self.others.items())
        )

    def read_weakly(self) -> Mapping[Key, Value]:
        return patiently(self.ports, self.clock, lambda: self._fitting(*self._look()), self._again)

    def claim(self) -> Mapping[Key, Value]:
        """Read, hold, claim in each scope, and verify."""
        return patiently(self.ports, self.clock, self._attempt, self._again)

    def for_rollback(
        self, store: Store, clock: Clock, tolerance: Tolerance
    ) -> tuple[list[ClaimAttempt], list[str], list[str]]:
        """What to do in a rollback, as far as anything can be read: with the names of no producer, and of several."""
        recorded = tolerance.read(lambda: self._recorded(store))
        stored = tolerance.read(lambda: self._where(self._stored(store)))
        published = self._published({scope: each.readable(partly=True) for scope, each in (recorded or {}).items()})
        there = {**(stored or {}), **published}
        claimed = tolerance.read(lambda: self._claimed_before(store, there))
        if claimed is None:  # What is kept for a claim of this import may be any of them.
            there = {name: sorted({*there[name], *(stored or {}).get(name, ())}) for name in there}
        found = sources(self.names, there, claimed or {})
        if found.missing and (recorded is None or stored is None):
            raise tolerance.unreadable
        self.others = found.others
        attempts = [
            ClaimAttempt(self.ports, store, clock, self.claimant, scope, names) for scope, names in found.scopes.items()
        ]
        return attempts, list(found.missing), sorted(found.ambiguous)

    def _again(self, waiting: Waiting) -> bool:
        return self.claimant.outlasts_fences and waiting.is_over and bool(self._fences())

    def _fitting(self, recorded: Mapping[ExportScope, RecordedExports], found: NameSources) -> dict[Key, Value]:
        """The recorded values; raises if they do not fit into one response."""
        keys = self._keys(recorded, found)
        values = {key: recorded[scope].values[key] for scope in keys for key in keys[scope]}
        self.claimant.fits(values)
        return values

    def _attempt(self) -> Mapping[Key, Value]:
        recorded, found = self._look()
        values = self._fitting(recorded, found)
        self._hold(self._needed(recorded, found), found.scopes)
        claimed: dict[Key, Value] = {}
        self._former += self._attempts
        self._attempts = [self._in(scope, names, values, claimed) for scope, names in found.scopes.items()]
        try:
            for each in self._attempts:
                claimed |= each.claim()
        except (NoSuchProducerError, NothingExportedError, NoSuchExportError) as error:
            raise TryAgainError(error) from None  # It was there a moment ago, and may be with another producer now.
        recorded, now = self._look()
        if now != found:
            raise self._changing(*found.scopes, *now.scopes)
        needed = self._needed(recorded, found)
        if not all(self._keepers[region].is_effective(exports) for region, exports in needed.items() if exports):
            raise self._changing(*found.scopes)
        self.others, self._unneeded = found.others, {region for region, exports in needed.items() if not exports}
        return claimed

    def _in(
        self, scope: ExportScope, names: Sequence[str], values: Mapping[Key, Value], claimed: Mapping[Key, Value]
    ) -> ClaimAttempt:
        """The attempt in one scope. What is returned has to fit together with what the others return."""
        claimant = replace(self.claimant, fits=lambda own: self.claimant.fits({**values, **claimed, **own}))
        return ClaimAttempt(self.ports, self.store, self.clock, claimant, scope, names)

    def _look(self) -> tuple[dict[ExportScope, RecordedExports], NameSources]:
        """What is published for the consumer, and which producer each name comes from.

        Raises:
            NoProducerError: a name comes from none.
            SeveralProducersError: one comes from several.
            NewerFormatError: a later version wrote a record.
            UndecryptableError: one may come from a record that cannot be decrypted.
        """
        recorded = {scope: each.readable() for scope, each in self._recorded(self.store).items()}
        if torn := [scope for scope, each in recorded.items() if each.torn]:
            raise self._changing(*torn)
        published = self._published(recorded)
        found = sources(self.names, published, self._claimed_before(self.store, published))
        self._check_secure(recorded, found)
        if found.missing or found.ambiguous:
            for scope, fence in self._fences():  # A change that is going on may bring the one, and take the other away.
                raise TryAgainError(ChangingError(str(scope.producer), str(fence)))
            why = self._refusal(found)
            if self._has_settled or not self.ports.lag.seconds:
                raise why
            self._has_settled = True  # That may have changed a moment ago.
            self.ports.lag.settle(self.clock)
            raise TryAgainError(why, without_pause=True)
        self.scopes = list(found.scopes)
        return recorded, found

    def _check_secure(self, recorded: Mapping[ExportScope, RecordedExports], found: NameSources) -> None:
        """Check that no name may come from what cannot be decrypted, unless it stays with another producer."""
        if locked := [scope for scope in recorded if recorded[scope].why]:
            stored, claimed = self._stored(self.store), self._claimed or {}
            for scope in locked:
                names = [name for name, keys in select(self.names, stored.get(scope, ())).items() if keys]
                own = [name for name in names if name in found.scopes.get(scope, ()) or name not in claimed]
                recorded[scope].check_secure(self.store, scope, [*own, *found.missing])

    def _refusal(self, found: NameSources) -> NoProducerError | SeveralProducersError:
        for name, scopes in found.ambiguous.items():
            return SeveralProducersError(attribute_name(name), self.consumer, [str(each.producer) for each in scopes])
        return NoProducerError([attribute_name(each) for each in found.missing], self.consumer, self.store.region)

    def _recorded(self, store: Store) -> dict[ExportScope, RecordedExports]:
        """The records of the account's own stacks for the consumer."""
        found = by_scope("records", store.under(consumer_prefix(self.consumer, "records")))
        return {
            scope: RecordedExports.of(decode(scope.path("records"), parameters))
            for scope, parameters in found.items()
            if scope.producer.account == self.claimant.importer.account
        }

    def _stored(self, store: Store) -> dict[ExportScope, list[Key]]:
        """The keys of the values of the account's own stacks for the consumer."""
        found = by_scope("exports", store.under(consumer_prefix(self.consumer), decrypted=False))
        own = self.claimant.importer.account
        return {scope: [scope.key(each) for each in found[scope]] for scope in found if scope.producer.account == own}

    def _where(self, keys: Mapping[ExportScope, Collection[Key]]) -> Scopes:
        found = ((scope, select(self.names, keys[scope])) for scope in sorted(keys))
        return grouped((name, scope) for scope, meant in found for name in meant if meant[name])

    def _published(self, recorded: Mapping[ExportScope, RecordedExports]) -> Scopes:
        return self._where({scope: each.values.keys() for scope, each in recorded.items()})

    def _claimed_before(self, store: Store, published: Scopes) -> Scopes:
        """Where this generation had claimed names before this event, if other stacks publish them now.

        The event's own attempts do not count. They are told apart by the event: it names this generation, or it is a
        rollback.
        """
        if self.keeper is None or not (self.claimant.again or self.claimant.may_return):
            return {}
        if self._claimed is None:
            tag, claimed = self.claimant.tag.items(), {}
            for scope, keys in self._stored(store).items():
                meant = {key for each in select(self.names, keys).values() for key in each}
                tags = read_tags(store, scope, sorted(meant))
                claimed[scope] = [key for key, each in tags.items() if tag <= (each or {}).items()]
            self._claimed = self._where(claimed)
        if all(published.get(name) == scopes for name, scopes in self._claimed.items()):
            return {}
        if self._claims_count is None:
            self._claims_count = self.claimant.again or self.claimant.policy() is ImportPolicy.CLAIM_UNHELD
        return self._claimed if self._claims_count else {}

    def _keys(
        self, recorded: Mapping[ExportScope, RecordedExports], found: NameSources
    ) -> dict[ExportScope, list[Key]]:
        """The recorded keys that the names mean. Others are kept for the claims of this import."""
        return {
            scope: [key for keys in select(names, recorded[scope].values).values() for key in keys]
            for scope, names in found.scopes.items()
            if scope in recorded
        }

    def _needed(self, recorded: Mapping[ExportScope, RecordedExports], found: NameSources) -> dict[str, dict[str, str]]:
        """What is to be held in each region. Where a value is kept that no record has, the hold stays as it is."""
        if self.keeper is None:
            return {}
        needed: dict[str, dict[str, str]] = {}
        keys, kept = self._keys(recorded, found), set()
        for scope, names in found.scopes.items():
            region, own = scope.producer.region, keys.get(scope, [])
            keeper = self._keepers.get(region) or self._keepers.setdefault(region, self.keeper(region))
            if not all(select(names, own).values()) and keeper.may_exist():
                kept.add(region)
            exports = exports_to_hold(recorded[scope], own, self.ports.stacks) if own else {}
            needed.setdefault(region, {}).update(keeper.needed(exports))
        return {region: exports for region, exports in needed.items() if region not in kept}

    def _hold(self, needed: Mapping[str, Mapping[str, str]], scopes: Iterable[ExportScope]) -> None:
        """Make what is to be held, before anything is claimed."""
        wrong = [
            self._keepers[region]
            for region, exports in sorted(needed.items())
            if exports and not self._keepers[region].is_made(exports)
        ]
        if wrong:
            hurries = self.claimant.policy() is ImportPolicy.CLAIM_UNHELD
            for each in wrong:
                (each.hurried() if hurries else each).make(needed[each.stack.producer.region])
            raise TryAgainError(self._changing(*scopes).why, without_pause=True)  # That took its time: look again.

    def _changing(self, *scopes: ExportScope) -> TryAgainError:
        return TryAgainError(ChangingError(_listed(sorted(set(scopes))), "another deployment"))

    def _fences(self) -> list[tuple[ExportScope, Fence]]:
        """Who is changing what is exported to the consumer."""
        found = live_fences(self.store, consumer_prefix(self.consumer, "fences"), self.clock)
        return [(scope, fence) for name, fence in found.items() if (scope := ExportScope.of("fences", name))]


def _listed(scopes: Iterable[ExportScope]) -> str:
    return some([str(each.producer) for each in scopes], 5)
