"""A manifest set claims the exports that it uses, as a stack's Imports do, and releases those it no longer uses.

No stack shows whether the set still exists, so its claims stay until a run releases them. No Delete event arrives, so a
ledger records the claims. A fence of the set protects both: one run at a time works on a set.

The ledger has the names of all claimed exports, in as many parameters as they need. An extra name does no harm, but a
missing one leaves its claim forever. So names are added before they are claimed, and removed after their claims are
released. It also has the regions of the set's hold stacks (`set_holds`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from strongref.contract.format import check_format
from strongref.contract.names import ExportScope, Key, ManifestSet, Site, claim_tag
from strongref.contract.values import ParameterType, Value
from strongref.errors import StrongRefError
from strongref.grouping import grouped
from strongref.protocol.behind_fences import FencedStore, behind_fences
from strongref.protocol.claims import Claimant, ClaimAttempt
from strongref.protocol.cleanup import ClaimRelease
from strongref.protocol.fences import FenceHolder
from strongref.protocol.published import ImportingAccount
from strongref.protocol.time import Clock, OnClock
from strongref_manifests.set_holds import FencedClock, ManifestSetHolds, hold_regions
from strongref_toolkit.errors import WriteFailedError

if TYPE_CHECKING:
    from strongref.contract.fence import Fence
    from strongref.protocol.ports import Ports, Store
    from strongref_toolkit.published_exports import Use

T = TypeVar("T")

PAGE_BYTES = 4096
"""The size of a parameter value in the free standard tier (AWS: Parameter Store)."""


class ManifestSetBusyError(StrongRefError):
    name: str
    by: str
    sentence = (
        "The claims of manifests {name} are being changed right now (by {by}). Wait for that run, or give each of the "
        "two a name of its own."
    )


class NothingUsedError(StrongRefError):
    name: str
    claimed: int
    sentence = (
        "These manifests use no exports, and manifests {name} claim {claimed}. Are they the right ones? Are they "
        "resolved already? To release all claims, use --unclaim {name}."
    )


class UnreadableLedgerError(StrongRefError):
    """A ledger was changed by hand, so its claims are unknown."""

    name: str
    sentence = (
        "{name} cannot be read: it must be a JSON list of parameter names. Correct it, or delete it and the claims "
        "that it named."
    )


@dataclass(slots=True)
class Sooner(OnClock):
    """`Clock` that ends when the first of two clocks does."""

    other: Clock

    def remaining(self) -> float:
        return min(self.clock.remaining(), self.other.remaining())

    def before_call(self, action: str) -> None:
        self.clock.before_call(action)
        self.other.before_call(action)


@dataclass(frozen=True, slots=True)
class ClaimLedger:
    store: Store  # where it is stored
    path: str  # the path of its parameters
    token: Callable[[], str]  # returns a unique name for a page

    def read(self) -> frozenset[str]:
        """All names in it; `UnreadableLedgerError` if a parameter of it was changed by hand."""
        return frozenset(name for page in self._pages().values() for name in page)

    def add(self, names: Collection[str]) -> None:
        for page in _paged(sorted(names)):
            text = json.dumps(page, separators=(",", ":"))
            self.store.create(f"{self.path}/{self.token()}", ParameterType.STRING, text, {})

    def replace(self, names: Collection[str]) -> None:
        """Make these its only names; none of them is missing at any moment."""
        pages = self._pages()
        stored = [name for page in pages.values() for name in page]
        if sorted(stored) != sorted(names) or len(pages) > len(list(_paged(sorted(names)))):
            self.add(names)
            self.store.delete(pages)

    def _pages(self) -> dict[str, list[str]]:
        return {name: _read(name, parameter.text) for name, parameter in self.store.under(self.path).items()}


@dataclass(frozen=True, slots=True)
class ManifestSetClaims:
    ports: Ports  # what calls go through
    clock: Clock  # of the run
    region: str  # where the exports are
    manifests: ManifestSet

    def hold(
        self, used: Collection[Use], write: Callable[[Mapping[Use, Value]], None], *, hold_stacks: bool = False
    ) -> None:
        """Claim the exports that are used, write the manifests with their values, and release all other claims.

        If claiming or writing fails, the set keeps the claims and hold stacks that it had before; also the new ones, if
        some of the manifests were written.

        Args:
            used: every export that the manifests use.
            write: writes the manifests with these values, which cannot change from then on. It is called again if the
                run was suspended until its fence expired.
            hold_stacks: make hold stacks for these exports, before they are claimed; otherwise delete the set's.

        Raises:
            NothingUsedError: nothing is used, and the set claims something.
            ManifestSetBusyError: another run worked on the set until the wait timed out.
            HoldLeftError: all is done, but a hold stack still holds what it no longer should.
            StrongRefError: an Import would be refused for the same reason.
        """
        self._alone(lambda alone: alone._hold(frozenset(used), write, hold_stacks=hold_stacks))  # noqa: SLF001 (its own, behind a fence)

    def release_all(self) -> list[Use]:
        """Release all claims of the set, delete its hold stacks, and return what was claimed.

        Raises:
            ManifestSetBusyError: as `hold`.
            HoldLeftError: a hold stack could not be deleted, and everything else is done.
        """
        return self._alone(lambda alone: alone._release_all())  # noqa: SLF001 (as above)

    def _alone(self, work: Callable[[ManifestSetClaims], T]) -> T:
        """Run work that starts no call after the set's fence expires."""

        def at(posts: list[FencedStore]) -> T:
            def stores(region: str, clock: Clock) -> Store:
                return self.ports.stores(region, Sooner(clock, posts[0].clock))

            clock = FencedClock(self.clock, posts[0].clock)
            return work(replace(self, ports=replace(self.ports, stores=stores), clock=clock))

        def busy(other: Fence) -> ManifestSetBusyError:
            return ManifestSetBusyError(self.manifests.name, str(other))

        sites = [(Site(self.region), self.manifests.scope(self.region))]
        return behind_fences(self.ports, self.clock, sites, self._holder, at, busy=busy)

    @property
    def _holder(self) -> FenceHolder:
        return FenceHolder(f"manifests-{self.manifests.name}", f"the manifests {self.manifests.name}")

    @property
    def _store(self) -> Store:
        return self.ports.stores(self.region, self.clock)

    @property
    def _ledger(self) -> ClaimLedger:
        return ClaimLedger(self._store, self.manifests.ledger, self.ports.token)

    def _hold(self, used: frozenset[Use], write: Callable[[Mapping[Use, Value]], None], *, hold_stacks: bool) -> None:
        ledger = self._ledger
        names = ledger.read()
        before, holds = _uses(names), self._holds(names)
        if before and not used:
            raise NothingUsedError(self.manifests.name, len(before))
        held = frozenset(use for use in before if use[0].producer.region in holds.regions)
        claim = partial(self._claim, used, before)
        ledger.add(_names(used - before))  # first: a claim that is not in the ledger could never be released
        try:
            write(holds.claim(_by_scope(used), _by_scope(before - used), claim) if hold_stacks else claim())
        except BaseException as error:
            if not (isinstance(error, WriteFailedError) and error.written):
                with suppress(StrongRefError):  # the ledger still has them: the next run releases them
                    self._release(used - before)
                    holds.keep(holds.existing(_by_scope(held)))
                    ledger.replace(_names(before) | holds.names)
            raise
        self._release(before - used)
        self._end(used, holds, hold_stacks=hold_stacks)

    def _holds(self, names: Collection[str]) -> ManifestSetHolds:
        """The hold stacks of the set, given the names in its ledger."""
        regions = hold_regions(names)
        return ManifestSetHolds(self.ports, self.clock, self._store, self.manifests, self._ledger.add, regions)

    def _end(self, used: frozenset[Use], holds: ManifestSetHolds, *, hold_stacks: bool) -> None:
        """Correct the hold stacks and the ledger, after everything else."""
        left = holds.keep(holds.named(_by_scope(used)) if hold_stacks else {})
        self._ledger.replace(_names(used) | holds.names)
        for error in left:
            raise error

    def _claim(self, used: frozenset[Use], before: frozenset[Use]) -> dict[Use, Value]:
        importer = ImportingAccount(self.manifests.account, self.manifests.name)
        held: dict[Use, Value] = {}
        for scope, keys in _by_scope(used).items():
            again = any(scope == former for former, _ in before)
            claimant = Claimant(self.manifests.generation, str(self.manifests), importer, again=again)
            values = ClaimAttempt(self.ports, self._store, self.clock, claimant, scope, keys).claim()
            held |= {(scope, key): values[key] for key in keys}
        return held

    def _release_all(self) -> list[Use]:
        names = self._ledger.read()
        claimed = _uses(names)
        self._release(claimed)
        self._end(frozenset(), self._holds(names), hold_stacks=False)
        return sorted(claimed)

    def _release(self, uses: frozenset[Use]) -> None:
        release = ClaimRelease(self.ports, self.clock, self.region, claim_tag(self.manifests.generation), self._holder)
        for scope, keys in _by_scope(uses).items():
            release.release(scope, keys)


def _read(name: str, text: str) -> list[str]:
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        names = None
    check_format(name, names)
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise UnreadableLedgerError(name)
    return names


def _paged(names: list[str]) -> Iterator[list[str]]:
    """The names of each page; JSON adds quotes, commas and brackets to them."""
    page: list[str] = []
    size = 2
    for name in names:
        if size + len(name) + 3 > PAGE_BYTES:
            yield page
            page, size = [], 2
        page.append(name)
        size += len(name) + 3
    if page:
        yield page


def _by_scope(uses: Collection[Use]) -> dict[ExportScope, list[Key]]:
    return grouped(sorted(uses))


def _names(uses: Collection[Use]) -> frozenset[str]:
    return frozenset(scope.parameter_name(key) for scope, key in uses)


def _uses(names: Collection[str]) -> frozenset[Use]:
    scopes = {name: ExportScope.of("exports", name) for name in names}
    return frozenset((scope, scope.key(name)) for name, scope in scopes.items() if scope)
