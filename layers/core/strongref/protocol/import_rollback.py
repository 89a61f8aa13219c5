"""What an Import does in a rollback if it cannot claim everything: a rollback has to end.

It decides for each key. What can be verified is claimed and verified as ever. What cannot be is returned without
protection. What is gone is left out. No claim is removed, and no hold is changed: the janitor makes those that lack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from strongref.contract.names import PRODUCER_TAG, Key, claim_tag
from strongref.contract.response import as_json
from strongref.contract.unclaimed import Unclaimed
from strongref.contract.values import ParameterType, Value, select
from strongref.errors import StrongRefError, TooManyTagsError, WaitInterruptedError
from strongref.protocol.claims import Claimant, ClaimAttempt
from strongref.protocol.fences import live_fence
from strongref.protocol.published import RecordedExports
from strongref.protocol.side_by_side import call_all
from strongref.protocol.time import Clock, Until
from strongref.protocol.tolerance import Tolerance
from strongref.refusals import KeysError, PartlyImportedError, TooManyClaimsError, UnsettledError
from strongref.text import attribute_name, brief

if TYPE_CHECKING:
    from strongref.protocol.ports import Store
    from strongref.protocol.several_producers import SeveralProducers

_REASON = {Key("reason"): Value(ParameterType.STRING, " " * 500)}
"""As large as what the stack's events say about values that were left out."""


@dataclass(frozen=True, slots=True)
class FoundExports:
    """What one look shows of a scope, and what of it can be returned and claimed. Pure."""

    published: Mapping[Key, Value]  # by records that can be read
    hidden: bool  # whether there is a record that cannot be read completely
    stored: Mapping[Key, Value]
    tags: Mapping[Key, Mapping[str, str]]  # of stored values, where they matter and can be read
    claim: Mapping[str, str]  # the tag of the import's claims; empty if it claims nothing

    def is_claimed(self, key: Key) -> bool:
        return self.claim.items() <= self.tags.get(key, {}).items()

    def values(self, *, named: bool) -> dict[Key, Value]:
        """What can be returned: what records say, and what is stored where no readable record says anything."""
        others = {key for key, tags in self.tags.items() if PRODUCER_TAG in tags}
        others = {key for key in others if named or self.hidden or self.is_claimed(key)}
        return {**{key: self.stored[key] for key in others}, **self.published}

    def problem(self, key: Key, producer: str, why: StrongRefError) -> StrongRefError | None:
        """Why a key cannot be claimed; `why` if only that of the whole import is known."""
        value = self.stored.get(key)
        if value and value.locked:
            return value.locked
        if key not in self.published:  # It may be kept for this very claim.
            return None if self.is_claimed(key) and not self.hidden else why
        return None if value in (None, self.published[key]) else UnsettledError([key], producer)

    def fitting(self, values: Mapping[Key, Value], fits: Callable[[Mapping[Key, Value]], None]) -> dict[Key, Value]:
        """As many values as fit; with the reason, if some do not.

        First those go that were not claimed before, then the largest.
        """
        left = dict(values)
        sizes = {key: len(as_json([key, each.attribute])) for key, each in values.items() if not each.is_secure}
        for key in sorted(sizes, key=lambda key: (self.is_claimed(key), -sizes[key])):
            with suppress(StrongRefError):
                fits(left if left == values else left | _REASON)
                break
            del left[key]
        return left


@dataclass(slots=True)
class _Done:
    values: dict[Key, Value] = field(default_factory=dict)
    problems: dict[Key, StrongRefError] = field(default_factory=dict)  # why values are not protected
    gone: list[str] = field(default_factory=list)  # names that were left out
    too_large: list[Key] = field(default_factory=list)  # likewise

    def add(self, other: _Done) -> None:
        self.values |= other.values
        self.problems |= other.problems
        self.gone += other.gone
        self.too_large += other.too_large


def roll_back(
    attempt: ClaimAttempt | SeveralProducers,
    at: tuple[Store, Clock],
    why: StrongRefError,
    *,
    strong: bool,
    is_last: bool,
) -> tuple[Mapping[Key, Value], str]:
    """What to return, and what to report in the stack's events, after the normal attempt failed.

    `at` is what to go on with; `is_last` says whether no other invocation can continue.

    Raises:
        UnfinishedError: another invocation may do better.
        StrongRefError: what may be there cannot be read at all; if known, why.
    """
    (store, _), claimant = at, attempt.claimant
    scopes, missing, ambiguous = attempt.for_rollback(*at, Tolerance(why, is_last))
    done = _Done(gone=missing)
    for each in scopes:
        values = dict(done.values)  # What is returned has to fit together.
        fitting = replace(claimant, fits=lambda own, values=values: claimant.fits({**values, **own}))  # type: ignore[misc]
        done.add(_ScopeRollback(replace(each, claimant=fitting), strong, Tolerance(why, is_last)).carry_out())
    names = [*map(attribute_name, (*sorted(done.problems), *done.too_large)), *done.gone, *ambiguous]
    _note(store, claimant, names)
    if not names:
        return done.values, attempt.notice
    first = str(next(iter(done.problems.values()), "")).removesuffix(" Nothing was claimed.")
    text = PartlyImportedError(sorted(done.problems), done.gone, done.too_large, first, ambiguous)
    return done.values, f"{text} {attempt.notice}".strip()


def _note(store: Store, claimant: Claimant, names: list[str]) -> None:
    """Note for the janitor what is not protected, or left out."""
    note = Unclaimed(claimant.says, claim_tag(claimant.generation), brief(names))
    with suppress(StrongRefError):
        if names:
            store.overwrite(note.name, ParameterType.STRING, note.encode())
        else:
            store.delete(store.get([note.name]))


@dataclass(frozen=True, slots=True)
class _ScopeRollback:
    attempt: ClaimAttempt  # the normal one
    strong: bool
    tolerance: Tolerance

    def carry_out(self) -> _Done:
        """What to return, and what is wrong with it; as `roll_back`."""
        self._wait_for_fences()
        found, names, producer = self._look(), self.attempt.names, str(self.attempt.scope.producer)
        known = found.values(named=names is not None)
        selected = select(names, known)
        gone = [name for name, keys in selected.items() if not keys]
        readable = {key: known[key] for keys in selected.values() for key in keys}
        values = found.fitting(readable, self.attempt.claimant.fits)
        too_large = sorted(readable.keys() - values.keys())
        problems: dict[Key, StrongRefError] = {}
        if self.strong:
            problems |= {key: why for key in values if (why := found.problem(key, producer, self.tolerance.why))}
            self._tag([key for key in values if not found.is_claimed(key)], found, problems)
            values |= self._verified(values, problems)
        return _Done(values, problems, gone, too_large)

    def _wait_for_fences(self) -> None:
        """Wait while others are at work: half a change is no reason to leave anything out."""
        scope, clock = self.attempt.scope, self._limited(2)
        store, patience = self.attempt.ports.stores(self.attempt.store.region, clock), self.attempt.ports.patience
        waiting = patience.begin(clock, endless=True)
        while self.tolerance.read(lambda: live_fence(store, scope, clock)):
            if not waiting.pause():
                self.tolerance.tolerated(WaitInterruptedError(self.tolerance.why))
                return

    def _limited(self, part: int) -> Clock:
        """The clock of a step, which takes only a part of the last invocation's time."""
        clock = self.attempt.clock
        return (
            Until(clock, clock.now() + timedelta(seconds=clock.remaining() / part)) if self.tolerance.is_last else clock
        )

    def _look(self) -> FoundExports:
        scope, region = self.attempt.scope, self.attempt.store.region
        store = self.attempt.ports.stores(region, self._limited(2))
        recorded = self.tolerance.read(lambda: RecordedExports.read(store, scope))
        parameters = self.tolerance.read(lambda: store.under(scope.path("exports")))
        published = recorded.readable(partly=True).values if recorded else {}
        stored = {scope.key(name): each.value for name, each in (parameters or {}).items()}
        if recorded is None or parameters is None:
            selected = select(self.attempt.names, {**stored, **published})
            if not selected or not all(selected.values()):
                # What cannot be read is not gone.
                raise self.tolerance.unreadable
        meant = {key for keys in select(self.attempt.names, stored).values() for key in keys}
        asked = sorted(meant if self.strong else meant - published.keys())
        unread = {PRODUCER_TAG: ""}  # It is there, and may be claimed.
        store = self.attempt.ports.stores(region, self._limited(3))
        calls = [partial(self.tolerance.read, partial(store.tags, scope.parameter_name(key)), unread) for key in asked]
        tags = {key: each or {} for key, each in zip(asked, call_all(store, calls), strict=True)}
        claim = self.attempt.claimant.tag if self.strong else {}
        hidden = recorded is None or recorded.torn
        return FoundExports(published, hidden, stored, tags, claim)

    def _tag(self, keys: Iterable[Key], found: FoundExports, problems: dict[Key, StrongRefError]) -> None:
        """Claim each value for itself; what cannot be claimed is added to the problems."""
        scope, claim = self.attempt.scope, self.attempt.claimant.tag
        store = self.attempt.ports.stores(self.attempt.store.region, self._limited(3))

        def tag(key: Key) -> None:
            try:
                store.tag(scope.parameter_name(key), claim)
            except TooManyTagsError:
                problems[key] = TooManyClaimsError([key], str(scope.producer))
            except StrongRefError as error:
                problems.setdefault(key, self.tolerance.tolerated(error))

        call_all(store, [partial(tag, key) for key in keys if PRODUCER_TAG in found.tags.get(key, {})])

    def _verified(self, values: Mapping[Key, Value], problems: dict[Key, StrongRefError]) -> Mapping[Key, Value]:
        """Verify what has no problem; what turns out to have one is added to the problems."""
        old, clock = self.attempt, self._limited(2)
        store = old.ports.stores(old.store.region, clock)
        claimant = replace(old.claimant, again=True, partly=True, fits=lambda _: None)
        while keys := [key for key in values if key not in problems]:
            try:
                return ClaimAttempt(old.ports, store, clock, claimant, old.scope, keys).claim()
            except StrongRefError as error:
                named = [key for key in keys if isinstance(error, KeysError) and key in error.keys]
                problems |= dict.fromkeys(named or keys, self.tolerance.tolerated(error))
        return {}
