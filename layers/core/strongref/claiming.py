"""An import's claims: put on first, then made sure of.

They hold if, after they were put on, no fence stands, the parameters are the very ones that were read before, and the
records still say what they say. What does not hold is tried again from the beginning while patience lasts. A value that
is gone but recorded is put back.

An import that fails does not take off what it has put on: the same event may have been delivered twice, and the other
invocation may rely on it. CloudFormation knows which of the two it believed. After a Create that failed it sends a
Delete, which takes the claims off; those of an Update that failed are stale as soon as its stack is at rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.address import SHARED, Key, Place, claim_tag
from strongref.answer import check_size
from strongref.errors import (
    TAG_LIMIT,
    AlreadyExistsError,
    ChangingError,
    NoSuchExportError,
    NoSuchProducerError,
    NotDoneError,
    NothingExportedError,
    StrongRefError,
    TooManyClaimsError,
    TooManyTagsError,
    Unfinished,
    UnsettledError,
)
from strongref.event import RequestType
from strongref.fencing import standing
from strongref.log import logger
from strongref.ports import Kind
from strongref.published import Published
from strongref.values import Value, attribute_name, select

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from strongref.event import Event
    from strongref.ports import Clock, Parameter, Ports, Store
    from strongref.request import ImportRequest


def attributes(values: Mapping[Key, Value]) -> dict[str, object]:
    """What `Fn::GetAtt` may ask for: all but what is secure, which would pass through CloudFormation's events."""
    return {attribute_name(key): value.attribute for key, value in values.items() if value.kind is not Kind.SECURE}


def value_of(parameter: Parameter | None) -> Value | None:
    return Value(parameter.kind, parameter.text) if parameter else None


class _TryAgainError(Exception):
    """Something does not hold right now: tell `why` if it goes on like that."""

    def __init__(self, why: StrongRefError) -> None:
        super().__init__()
        self.why = why


@dataclass(slots=True)
class Claiming:
    """One Import at work on its place.

    Attributes:
        ports: what calls go through.
        store: of the consumer's region.
        clock: the invocation's.
        event: a Create or an Update.
        request: its properties.
        place: where the exports are.
        generation: the physical id by which it claims.
    """

    ports: Ports
    store: Store
    clock: Clock
    event: Event
    request: ImportRequest
    place: Place
    generation: str
    _looked: bool = False
    """Whether it was looked which claims are there already."""
    _skip: frozenset[Key] = frozenset()
    """Keys whose claim is there already, and need not be put on."""
    _claims: bool = False
    """Whether a claim was put on, or may have been."""

    @property
    def _claim(self) -> dict[str, str]:
        return {claim_tag(self.generation): self.event.stack}

    def read_weakly(self) -> Mapping[Key, Value]:
        """What the records say; nothing is claimed, nothing written."""
        return self._patiently(self._read)

    def hold(self) -> Mapping[Key, Value]:
        """Read, claim, and make sure of it."""
        try:
            return self._patiently(self._attempt)
        except NotDoneError:
            raise
        except StrongRefError as error:
            if not self._claims:
                raise
            logger.warning("An import failed, and its claims are still there", extra={"place": self.place.values})
            if self.event.request_type is RequestType.CREATE:
                raise Unfinished(error, self.generation) from None
            raise

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
        check_size(self.event, self.generation, attributes(values))
        return values

    def _attempt(self) -> Mapping[Key, Value]:
        published = self._published()
        recorded = published.values
        held = self._held(recorded) if self.event.request_type is RequestType.UPDATE else {}
        keys = self._select(recorded, held)
        seen = self.store.get([self.place.value(key) for key in keys])
        if len(seen) < len(keys) and self._published() != published:
            # What is put back must be what the record says *after* the value was found gone: the one read before may
            # be older than a change that a clean-up has taken away since.
            raise _TryAgainError(self._changing())
        values = {key: held.get(key) or self._value(key, seen, recorded) for key in keys}
        check_size(self.event, self.generation, attributes(values))
        self._look_what_is_there(keys, seen)
        self._no_fence()
        seen |= self._put_back([key for key in keys if self.place.value(key) not in seen], published)
        if any(value_of(seen.get(self.place.value(key))) != values[key] for key in keys):
            raise _TryAgainError(self._changing())
        for key in keys:
            self._put_on_claim(key)
        self._no_fence()
        if not self._is_unchanged(seen):
            raise _TryAgainError(self._changing())
        now = self._published()
        unsaid = [key for key in keys if key not in held and not now.says(key, values[key])]
        if unsaid:
            raise _TryAgainError(UnsettledError(unsaid, str(self.place.producer)))
        return values

    def _is_unchanged(self, seen: Mapping[str, Parameter]) -> bool:
        """The second read: the very parameters that were read before they were claimed, version and date included."""
        return self.store.get(list(seen)) == seen

    def _published(self) -> Published:
        published = Published.read(self.store, self.place)
        if published.torn:
            raise _TryAgainError(self._changing())
        return published

    def _select(self, recorded: Mapping[Key, Value], held: Mapping[Key, Value]) -> list[Key]:
        names = self.request.names
        selected = select(names, [*recorded, *held])
        missing = [name for name, keys in selected.items() if not keys]
        if missing or not selected:
            raise self._missing(missing, recorded)
        return sorted({key for keys in selected.values() for key in keys})

    def _held(self, recorded: Mapping[Key, Value]) -> dict[Key, Value]:
        """Values that are withdrawn, but kept for this very claim.

        An Export may be taken out of its template while it is claimed. The import that holds the value must be able to
        go back to it when a later Update is rolled back.
        """
        if self.request.names is not None and all(select(self.request.names, recorded).values()):
            return {}
        held = {}
        for name, parameter in self.store.under(self.place.values).items():
            key = self.place.key(name)
            wanted = self.request.names is None or any(select(self.request.names, [key]).values())
            if wanted and key not in recorded and self._claim.items() <= (self.store.tags(name) or {}).items():
                held[key] = Value(parameter.kind, parameter.text)
        return held

    def _value(self, key: Key, seen: Mapping[str, Parameter], recorded: Mapping[Key, Value]) -> Value:
        """The value of a key, where parameter and record agree on it; the record's, where there is no parameter."""
        parameter = seen.get(self.place.value(key))
        if parameter and value_of(parameter) != recorded[key]:
            fence = standing(self.store, self.place, self.clock.now())
            producer = str(self.place.producer)
            raise _TryAgainError(ChangingError(producer, str(fence)) if fence else UnsettledError([key], producer))
        return recorded[key]

    def _no_fence(self) -> None:
        fence = standing(self.store, self.place, self.clock.now())
        if fence:
            raise _TryAgainError(ChangingError(str(self.place.producer), str(fence)))

    def _changing(self) -> ChangingError:
        return ChangingError(str(self.place.producer), "another deployment")

    def _look_what_is_there(self, keys: list[Key], seen: Mapping[str, Parameter]) -> None:
        """Which claims of this generation are there already, where that is worth a call for each key.

        It is where the generation was there before, to write nothing when nothing changes, and for shared exports,
        which many may import, to count their tags.
        """
        same = self.event.physical_id == self.generation
        if self._looked or not (same or self.request.shared):
            return
        self._looked = True
        there = [key for key in keys if self.place.value(key) in seen]
        tags = {key: self.store.tags(self.place.value(key)) or {} for key in there}
        held = frozenset(key for key, each in tags.items() if self._claim.items() <= each.items())
        full = [key for key, each in tags.items() if key not in held and len(each) >= TAG_LIMIT]
        if full:
            raise TooManyClaimsError(full, str(self.place.producer))
        self._skip = held if same else frozenset()

    def _put_back(self, keys: list[Key], published: Published) -> dict[str, Parameter]:
        """Make values that are gone from the record, and read them.

        They are made with the claim on them, against clean-ups. That is not enough to hold them: by the time they are
        read, what stands there may have been deleted and made anew. So they are claimed like all others afterwards.
        """
        for key in keys:
            name, value = self.place.value(key), published.values[key]
            self._claims = True
            try:
                self.store.create(name, value.kind, value.text, published.tags(key) | self._claim)
            except AlreadyExistsError:
                raise _TryAgainError(self._changing()) from None
            logger.warning("A value that was gone is put back", extra={"parameter": name})
        return self.store.get([self.place.value(key) for key in keys])

    def _put_on_claim(self, key: Key) -> None:
        if key in self._skip:
            return
        self._claims = True
        try:
            there = self.store.tag(self.place.value(key), self._claim)
        except TooManyTagsError:
            raise TooManyClaimsError([key], str(self.place.producer)) from None
        if not there:
            raise _TryAgainError(self._changing())

    def _missing(self, names: Iterable[str], recorded: Mapping[Key, Value]) -> StrongRefError | _TryAgainError:
        """Which it is: no such stack, nothing for this consumer, not that name, or a change going on right now."""
        fence = standing(self.store, self.place, self.clock.now())
        producer = self.place.producer
        if fence:
            return _TryAgainError(ChangingError(str(producer), str(fence)))
        known = producer.account == self.event.account
        if known and not self.ports.stacks.by_name(producer.stack, producer.region):
            return NoSuchProducerError(str(producer))
        if not recorded:
            shared = self.place.consumer == SHARED
            name = self.request.consumer or self.event.stack_name
            elsewhere = Published.read(self.store, Place(name if shared else SHARED, producer)).values
            return NothingExportedError(
                str(producer),
                None if shared else self.place.consumer,
                self.store.region,
                known=known,
                elsewhere=bool(elsewhere),
            )
        from difflib import get_close_matches  # noqa: PLC0415 (for this mistake alone)

        there = [attribute_name(key) for key in recorded]
        return NoSuchExportError(
            {attribute_name(Key(name)): get_close_matches(attribute_name(Key(name)), there, 2) for name in names},
            str(producer),
            there,
        )
