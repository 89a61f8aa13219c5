"""Claims: put on first, then verified. Every importer does it this way: an Import, or a set of manifests.

If the exports name a CloudFormation export to hold, it is held before (`hold_keeper`).

A claim holds if, after it was put on, there is no fence, the parameters are the very ones that were read before, and
the records still say the same. Otherwise everything is tried again while patience lasts. A value that has gone, and
that a record still holds, is put back.

A failed attempt does not remove its claims: another invocation for the same event may rely on them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeVar

from strongref.contract.names import SHARED, ExportScope, Key, claim_tag
from strongref.contract.values import Parameter, Value, select
from strongref.errors import TAG_LIMIT, AlreadyExistsError, StrongRefError, TooManyTagsError
from strongref.log import logger
from strongref.protocol.fences import live_fence
from strongref.protocol.inspection import read_tags
from strongref.protocol.phases import ImportPolicy
from strongref.protocol.published import ImportingAccount, RecordedExports
from strongref.protocol.side_by_side import call_all, call_beside
from strongref.protocol.stored_exports import split_tags
from strongref.refusals import ChangingError, TooManyClaimsError, UnsettledError

if TYPE_CHECKING:
    from strongref.protocol.hold_keeper import HoldKeeper
    from strongref.protocol.ports import Ports, Stacks, Store
    from strongref.protocol.time import Clock, Waiting
    from strongref.protocol.tolerance import Tolerance

T = TypeVar("T")


@dataclass(eq=False)
class TryAgainError(Exception):
    """Something does not hold right now: report `why` if that does not change."""

    why: StrongRefError
    without_pause: bool = False


def patiently(
    ports: Ports, clock: Clock, attempt: Callable[[], T], again: Callable[[Waiting], bool] = lambda _: False
) -> T:
    """What an attempt returns, which is tried again while patience lasts.

    Before each further one, `again` is asked whether patience begins anew.
    """
    waiting = ports.patience.begin(clock)
    while True:
        try:
            return attempt()
        except TryAgainError as error:
            if again(waiting) or error.without_pause:
                waiting = ports.patience.begin(clock)
            if not (error.without_pause or waiting.pause()):
                raise waiting.over(error.why) from None


def exports_to_hold(recorded: RecordedExports, keys: Collection[Key], stacks: Stacks) -> dict[str, str]:
    """What an import of these keys has to hold: what the records name, and what a producer may roll back to."""
    found = recorded.holds(keys)
    for export, stack in recorded.holds(keys, former=True).items():
        info = stacks.by_arn(stack)
        if info and not (info.at_rest or info.cleaning_up or info.being_deleted):
            found.setdefault(export, stack)
    return found


@dataclass(frozen=True, slots=True)
class Claimant:
    generation: str  # what its claims are distinguished by; an Import's physical ID
    says: str  # what its claims say: the ARN of its stack, or the name of a set of manifests
    importer: ImportingAccount  # on whose behalf
    again: bool = False  # it may have claims already
    outlasts_fences: bool = False  # another invocation can continue its wait: it waits as long as others are at work
    may_return: bool = False  # it may have to return to a value that is withdrawn, but kept for its claim
    partly: bool = False  # it wants only keys that can be read, whatever else cannot be
    fits: Callable[[Mapping[Key, Value]], None] = lambda _values: None  # raises if it cannot return that many values
    policy: Callable[[], ImportPolicy] = lambda: ImportPolicy.CLAIM  # of the phase, as far as it is known by then

    @property
    def tag(self) -> dict[str, str]:
        return {claim_tag(self.generation): self.says}


@dataclass(slots=True)
class ClaimAttempt:
    """An importer at work in one scope."""

    ports: Ports  # what calls go through
    store: Store  # of the consumer's region
    clock: Clock  # the invocation's
    claimant: Claimant  # who imports
    scope: ExportScope  # where the exports are
    names: Collection[str] | None  # of what to import; None stands for everything there
    holds: HoldKeeper | None = None  # what makes its hold; None if it makes none
    claims: bool = False  # whether a claim was put on, or may have been
    needs_hold: bool = True  # whether what it claims names a CloudFormation export to hold, or may
    _leaves_hold: bool = False  # there is a hold, which a record that is lost may need: it stays as it is
    _has_read_tags: bool = False
    _has_settled: bool = False
    _skip: frozenset[Key] = frozenset()  # keys that carry the claim already

    @property
    def has_made(self) -> bool:
        """Whether it has claimed or held something, or may have."""
        return self.claims or (self.holds is not None and self.holds.may_exist())

    @property
    def unneeded(self) -> list[tuple[HoldKeeper, list[ClaimAttempt]]]:
        """Its hold, if nothing needs it."""
        return [(self.holds, [self])] if self.holds and not self.needs_hold and self.holds.may_exist() else []

    notice: ClassVar[str] = ""

    def for_rollback(
        self, store: Store, clock: Clock, _tolerance: Tolerance
    ) -> tuple[list[ClaimAttempt], list[str], list[str]]:
        """As that of `SeveralProducers`: here, only one producer is asked."""
        return [replace(self, store=store, clock=clock)], [], []

    def read_weakly(self) -> Mapping[Key, Value]:
        """What the records say; nothing is claimed, nothing written."""
        return patiently(self.ports, self.clock, self._read, self._again)

    def claim(self) -> Mapping[Key, Value]:
        """Read, hold, claim, and verify."""
        return patiently(self.ports, self.clock, self._attempt, self._again)

    def _again(self, waiting: Waiting) -> bool:
        """Before it is tried again: whether it may wait as long as it could at first."""
        self._skip = frozenset()  # a claim that was seen may have gone with its value, which was created again
        return (
            self.claimant.outlasts_fences and waiting.is_over and bool(live_fence(self.store, self.scope, self.clock))
        )

    def _read(self) -> Mapping[Key, Value]:
        recorded = self._recorded()
        values = {key: recorded.values[key] for key in self._select(recorded.values, kept={})}
        self.claimant.fits(values)
        return values

    def _attempt(self) -> Mapping[Key, Value]:
        """One attempt, step by step: read, put back, claim, then look for fences and read again."""
        recorded = self._recorded()
        kept = self._kept(recorded) if self.claimant.may_return else {}
        keys = self._select(recorded.values, kept)
        read = partial(self.store.get, [self.scope.parameter_name(key) for key in keys])
        found = call_beside(self.store, read, self._check_fences)
        if len(found) < len(keys):
            # What is put back must be what the record says *after* the value was found gone: the record read before may
            # be older than a change that a cleanup has taken away since.
            if self._recorded() != recorded:
                raise self._changing()
            self._check_fences()
        values = {key: kept.get(key) or self._agreed(key, found, recorded.values) for key in keys}
        self.claimant.fits(values)
        self._hold(recorded, keys)
        self._read_tags(keys, found)
        found |= self._put_back([key for key in keys if self.scope.parameter_name(key) not in found], recorded)
        if any(self._value(key, found) != values[key] for key in keys):
            raise self._changing()
        call_all(self.store, [partial(self._claim, key) for key in keys if key not in self._skip])
        self._check_fences()
        now = call_beside(self.store, self._recorded, partial(self._check_unchanged, found))
        unsettled = [key for key in keys if key not in kept and not now.says(key, values[key])]
        if unsettled:
            raise TryAgainError(UnsettledError(unsettled, str(self.scope.producer)))
        self._check_hold(now, keys)
        return values

    def _hold(self, recorded: RecordedExports, keys: list[Key]) -> None:
        """Make the hold before anything is claimed: what cannot be held is refused, and was never claimed."""
        needed = self._needed(recorded, keys)
        if self.holds is None or not needed or self.holds.is_made(needed):
            return
        hurries = self.claimant.policy() is ImportPolicy.CLAIM_UNHELD
        (self.holds.hurried() if hurries else self.holds).make(needed)
        raise TryAgainError(self._changing().why, without_pause=True)  # That took its time: read again.

    def _check_hold(self, recorded: RecordedExports, keys: list[Key]) -> None:
        """The last look: whether everything that is claimed is held."""
        needed = self._needed(recorded, keys)
        self.needs_hold = bool(needed) or self.holds is None or self._leaves_hold
        if self.holds and needed and not self.holds.is_effective(needed):
            raise self._changing("the stack that holds them")

    def _needed(self, recorded: RecordedExports, keys: list[Key]) -> dict[str, str]:
        """What this attempt has to hold."""
        if self.holds is None or self._leaves_hold:
            return {}
        return self.holds.needed(exports_to_hold(recorded, keys, self.ports.stacks))

    def may_release_hold(self, holds: HoldKeeper, store: Store) -> bool:
        """Whether no hold is needed anymore, read behind a fence; not while its producer may roll back to one."""
        recorded, producer = RecordedExports.read(store, self.scope), self.scope.producer
        if recorded.torn:  # What cannot be read may name one.
            return False
        keys = {key for found in select(self.names, recorded.values).values() for key in found}
        info = self.ports.stacks.by_name(producer.stack, producer.region)
        is_changing = info is not None and not (info.at_rest or info.cleaning_up)
        return not (is_changing or holds.needed(recorded.holds(keys)))

    def _check_unchanged(self, found: Mapping[str, Parameter]) -> None:
        """The second read: these are the very parameters that were claimed, version and date included."""
        if self.store.get(list(found)) != found:
            raise self._changing()

    def _recorded(self) -> RecordedExports:
        recorded = RecordedExports.read(self.store, self.scope).readable(partly=self.claimant.partly)
        if recorded.torn:
            raise self._changing()
        recorded.check_secure(self.store, self.scope, self.names)
        return recorded

    def _select(self, recorded: Mapping[Key, Value], kept: Mapping[Key, Value]) -> list[Key]:
        selected = select(self.names, [*recorded, *kept])
        missing = [name for name, keys in selected.items() if not keys]
        if missing or not selected:
            self._check_fences()  # a change that is going on may bring them
            why = self.claimant.importer.why_missing(self.scope, missing, recorded, self.store, self.ports.stacks)
            if self._has_settled or not self.ports.lag.seconds:
                raise why
            self._has_settled = True  # they may have been exported a moment ago
            self.ports.lag.settle(self.clock)
            raise TryAgainError(why, without_pause=True)
        return sorted({key for keys in selected.values() for key in keys})

    def _kept(self, recorded: RecordedExports) -> dict[Key, Value]:
        """Values that are withdrawn, but kept for this very claim.

        An Export may be removed from its template while it is claimed. The import that claims the value must be able to
        return to it when a later Update is rolled back.
        """
        self._leaves_hold = False
        if self.names is not None and all(select(self.names, recorded.values).values()):
            return {}
        kept, owners = {}, {}
        for name, parameter in self.store.under(self.scope.path("exports")).items():
            key = self.scope.key(name)
            if key in recorded.values or not (self.names is None or any(select(self.names, [key]).values())):
                continue
            tags = self.store.tags(name) or {}
            if self.claimant.tag.items() <= tags.items():
                kept[key], owners[key] = parameter.value, split_tags(tags)[1]
        self._leaves_hold = recorded.may_hold(owners) and self.holds is not None and self.holds.may_exist()
        return kept

    def _value(self, key: Key, found: Mapping[str, Parameter]) -> Value | None:
        parameter = found.get(self.scope.parameter_name(key))
        return parameter.value if parameter else None

    def _agreed(self, key: Key, found: Mapping[str, Parameter], recorded: Mapping[Key, Value]) -> Value:
        """The value of a key, where parameter and record agree on it; the record's, where there is no parameter."""
        value = self._value(key, found)
        if value not in (None, recorded[key]):
            if value and value.locked:
                raise value.locked
            self._check_fences()
            raise TryAgainError(UnsettledError([key], str(self.scope.producer)))
        return recorded[key]

    def _check_fences(self) -> None:
        if fence := live_fence(self.store, self.scope, self.clock):
            raise self._changing(str(fence))

    def _changing(self, by: str = "another deployment") -> TryAgainError:
        return TryAgainError(ChangingError(str(self.scope.producer), by))

    def _read_tags(self, keys: list[Key], found: Mapping[str, Parameter]) -> None:
        """Read which claims of this generation exist already, where that is worth a call for each key.

        It is where this generation may have claimed before, to write nothing when nothing changes, and for shared
        exports, which many may import, to count their tags.
        """
        if self._has_read_tags or not (self.claimant.again or self.scope.consumer == SHARED):
            return
        self._has_read_tags = True
        stored = [key for key in keys if self.scope.parameter_name(key) in found]
        tags = {key: each or {} for key, each in read_tags(self.store, self.scope, stored).items()}
        claimed = frozenset(key for key, each in tags.items() if self.claimant.tag.items() <= each.items())
        full = [key for key, each in tags.items() if key not in claimed and len(each) >= TAG_LIMIT]
        if full:
            raise TooManyClaimsError(full, str(self.scope.producer))
        self._skip = claimed if self.claimant.again else frozenset()

    def _put_back(self, keys: list[Key], recorded: RecordedExports) -> dict[str, Parameter]:
        """Create values that have gone from the record, and read them.

        They are created with the claim on them, against cleanups. That is not enough to hold them: by the time they are
        read, they may have been deleted and created again. So they are claimed like all others afterwards.
        """
        values = recorded.values
        call_all(self.store, [partial(self._create, key, values[key], recorded.tags(key)) for key in keys])
        return self.store.get([self.scope.parameter_name(key) for key in keys])

    def _create(self, key: Key, value: Value, tags: Mapping[str, str]) -> None:
        name = self.scope.parameter_name(key)
        self.claims = True
        try:
            self.store.create(name, value.type, value.text, {**tags, **self.claimant.tag})
        except AlreadyExistsError:
            raise self._changing() from None
        logger.warning("A missing value was put back", extra={"parameter": name})

    def _claim(self, key: Key) -> None:
        self.claims = True
        try:
            exists = self.store.tag(self.scope.parameter_name(key), self.claimant.tag)
        except TooManyTagsError:
            raise TooManyClaimsError([key], str(self.scope.producer)) from None
        if not exists:
            raise self._changing()
