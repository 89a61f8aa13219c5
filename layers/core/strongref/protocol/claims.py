"""Claims: put on first, then made sure of. Whoever imports does it so: an Import, or a set of manifests.

They hold if, after they were put on, no fence stands, the parameters are the very ones that were read before, and the
records still say what they say. What does not hold is tried again from the beginning while patience lasts. A value that
is gone but recorded is put back.

What was put on before it failed is not taken off here: another invocation for the same event may rely on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.names import SHARED, ExportScope, Key, claim_tag
from strongref.contract.values import Value, select
from strongref.errors import (
    TAG_LIMIT,
    AlreadyExistsError,
    ChangingError,
    StrongRefError,
    TooManyClaimsError,
    TooManyTagsError,
    UnsettledError,
)
from strongref.log import logger
from strongref.protocol.fences import live_fence
from strongref.protocol.missing import ImportingAccount, why_missing
from strongref.protocol.published import RecordedExports

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from strongref.contract.values import Parameter
    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock


def value_of(parameter: Parameter | None) -> Value | None:
    return Value(parameter.kind, parameter.text) if parameter else None


@dataclass(eq=False)
class _TryAgainError(Exception):
    """Something does not hold right now: tell `why` if it goes on like that."""

    why: StrongRefError


def anything(_values: Mapping[Key, Value]) -> None:
    """No limit to what can be told of what was read."""


@dataclass(frozen=True, slots=True)
class Claimant:
    """Who claims.

    Attributes:
        generation: what its claims are told apart by; of an Import, its physical id.
        says: who that is, as the claims say it: the ARN of its stack, or the name of a set of manifests.
        importer: whose exports it may read.
        again: it may have claims there already.
        goes_back: it may have to go back to a value that is withdrawn, but kept for its claim.
        fits: raises if these are more values than can be told of.
    """

    generation: str
    says: str
    importer: ImportingAccount
    again: bool = False
    goes_back: bool = False
    fits: Callable[[Mapping[Key, Value]], None] = anything


@dataclass(slots=True)
class ClaimAttempt:
    """Somebody who imports, at work on one place.

    Attributes:
        ports: what calls go through.
        store: of the consumer's region.
        clock: the invocation's.
        claimant: who imports.
        scope: where the exports are.
        names: of what to import; all that there is: None.
    """

    ports: Ports
    store: Store
    clock: Clock
    claimant: Claimant
    scope: ExportScope
    names: Collection[str] | None
    _looked: bool = False
    """Whether it was looked which claims are there already."""
    _skip: frozenset[Key] = frozenset()
    """Keys whose claim is there already, and need not be put on."""
    _claims: bool = False

    @property
    def claims(self) -> bool:
        """Whether a claim was put on, or may have been."""
        return self._claims

    @property
    def _claim(self) -> dict[str, str]:
        return {claim_tag(self.claimant.generation): self.claimant.says}

    def read_weakly(self) -> Mapping[Key, Value]:
        """What the records say; nothing is claimed, nothing written."""
        return self._patiently(self._read)

    def hold(self) -> Mapping[Key, Value]:
        """Read, claim, and make sure of it."""
        return self._patiently(self._attempt)

    def _patiently(self, attempt: Callable[[], Mapping[Key, Value]]) -> Mapping[Key, Value]:
        waiting = self.ports.patience.begin(self.clock)
        while True:
            try:
                return attempt()
            except _TryAgainError as again:
                self._skip = frozenset()  # a claim seen before a fence may have been taken for a dead one behind it
                if not waiting.pause():
                    raise waiting.over(again.why) from None

    def _read(self) -> Mapping[Key, Value]:
        published = self._published()
        keys = self._select(published.values, held={})
        values = {key: published.values[key] for key in keys}
        self.claimant.fits(values)
        return values

    def _attempt(self) -> Mapping[Key, Value]:
        published = self._published()
        recorded = published.values
        held = self._held(recorded) if self.claimant.goes_back else {}
        keys = self._select(recorded, held)
        seen = self.store.get([self.scope.value(key) for key in keys])
        if len(seen) < len(keys) and self._published() != published:
            # What is put back must be what the record says *after* the value was found gone: the one read before may
            # be older than a change that a clean-up has taken away since.
            raise _TryAgainError(self._changing())
        values = {key: held.get(key) or self._value(key, seen, recorded) for key in keys}
        self.claimant.fits(values)
        self._look_what_is_there(keys, seen)
        self._no_fence()
        seen |= self._put_back([key for key in keys if self.scope.value(key) not in seen], published)
        if any(value_of(seen.get(self.scope.value(key))) != values[key] for key in keys):
            raise _TryAgainError(self._changing())
        for key in keys:
            self._put_on_claim(key)
        self._no_fence()
        if not self._is_unchanged(seen):
            raise _TryAgainError(self._changing())
        now = self._published()
        unsaid = [key for key in keys if key not in held and not now.says(key, values[key])]
        if unsaid:
            raise _TryAgainError(UnsettledError(unsaid, str(self.scope.producer)))
        return values

    def _is_unchanged(self, seen: Mapping[str, Parameter]) -> bool:
        """The second read: the very parameters that were read before they were claimed, version and date included."""
        return self.store.get(list(seen)) == seen

    def _published(self) -> RecordedExports:
        published = RecordedExports.read(self.store, self.scope)
        if published.torn:
            raise _TryAgainError(self._changing())
        return published

    def _select(self, recorded: Mapping[Key, Value], held: Mapping[Key, Value]) -> list[Key]:
        selected = select(self.names, [*recorded, *held])
        missing = [name for name, keys in selected.items() if not keys]
        if missing or not selected:
            raise self._missing(missing, recorded)
        return sorted({key for keys in selected.values() for key in keys})

    def _held(self, recorded: Mapping[Key, Value]) -> dict[Key, Value]:
        """Values that are withdrawn, but kept for this very claim.

        An Export may be taken out of its template while it is claimed. The import that holds the value must be able to
        go back to it when a later Update is rolled back.
        """
        if self.names is not None and all(select(self.names, recorded).values()):
            return {}
        held = {}
        for name, parameter in self.store.under(self.scope.values).items():
            key = self.scope.key(name)
            wanted = self.names is None or any(select(self.names, [key]).values())
            if wanted and key not in recorded and self._claim.items() <= (self.store.tags(name) or {}).items():
                held[key] = Value(parameter.kind, parameter.text)
        return held

    def _value(self, key: Key, seen: Mapping[str, Parameter], recorded: Mapping[Key, Value]) -> Value:
        """The value of a key, where parameter and record agree on it; the record's, where there is no parameter."""
        parameter = seen.get(self.scope.value(key))
        if parameter and value_of(parameter) != recorded[key]:
            fence = live_fence(self.store, self.scope, self.clock.now())
            producer = str(self.scope.producer)
            raise _TryAgainError(ChangingError(producer, str(fence)) if fence else UnsettledError([key], producer))
        return recorded[key]

    def _no_fence(self) -> None:
        fence = live_fence(self.store, self.scope, self.clock.now())
        if fence:
            raise _TryAgainError(ChangingError(str(self.scope.producer), str(fence)))

    def _changing(self) -> ChangingError:
        return ChangingError(str(self.scope.producer), "another deployment")

    def _look_what_is_there(self, keys: list[Key], seen: Mapping[str, Parameter]) -> None:
        """Which claims of this generation are there already, where that is worth a call for each key.

        It is where the generation was there before, to write nothing when nothing changes, and for shared exports,
        which many may import, to count their tags.
        """
        same = self.claimant.again
        if self._looked or not (same or self.scope.consumer == SHARED):
            return
        self._looked = True
        there = [key for key in keys if self.scope.value(key) in seen]
        tags = {key: self.store.tags(self.scope.value(key)) or {} for key in there}
        held = frozenset(key for key, each in tags.items() if self._claim.items() <= each.items())
        full = [key for key, each in tags.items() if key not in held and len(each) >= TAG_LIMIT]
        if full:
            raise TooManyClaimsError(full, str(self.scope.producer))
        self._skip = held if same else frozenset()

    def _put_back(self, keys: list[Key], published: RecordedExports) -> dict[str, Parameter]:
        """Make values that are gone from the record, and read them.

        They are made with the claim on them, against clean-ups. That is not enough to hold them: by the time they are
        read, what stands there may have been deleted and made anew. So they are claimed like all others afterwards.
        """
        for key in keys:
            name, value = self.scope.value(key), published.values[key]
            self._claims = True
            try:
                self.store.create(name, value.kind, value.text, published.tags(key) | self._claim)
            except AlreadyExistsError:
                raise _TryAgainError(self._changing()) from None
            logger.warning("A value that was gone is put back", extra={"parameter": name})
        return self.store.get([self.scope.value(key) for key in keys])

    def _put_on_claim(self, key: Key) -> None:
        if key in self._skip:
            return
        self._claims = True
        try:
            there = self.store.tag(self.scope.value(key), self._claim)
        except TooManyTagsError:
            raise TooManyClaimsError([key], str(self.scope.producer)) from None
        if not there:
            raise _TryAgainError(self._changing())

    def _missing(self, names: Collection[str], recorded: Mapping[Key, Value]) -> StrongRefError | _TryAgainError:
        """Which it is: a change going on right now, or what `unpublished` finds."""
        fence = live_fence(self.store, self.scope, self.clock.now())
        if fence:
            return _TryAgainError(ChangingError(str(self.scope.producer), str(fence)))
        return why_missing(self.ports.stacks, self.store, self.scope, self.claimant.importer, names, recorded)
