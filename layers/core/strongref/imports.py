"""What a `Custom::CrossRegionImport` does: read exports and, if strong, claim them; let go when it is deleted.

A claim is put on first and then made sure of: no fence stands, the parameters are the ones seen before, the record
still says what they say. What does not hold is tried again, from the beginning, while patience lasts; then what this
event put on is taken off. A value that is gone but recorded is put back, created with its claim in one call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from strongref.address import PRODUCER_TAG, SHARED, Key, Place, StackArn, claim_tag, owner_tag, short_hash
from strongref.answer import Answer, check_size
from strongref.errors import (
    TAG_LIMIT,
    AlreadyExistsError,
    BadRequestError,
    ChangingError,
    NoSuchExportError,
    NoSuchProducerError,
    NothingExportedError,
    StrongRefError,
    TooManyClaimsError,
    TooManyTagsError,
    UnsettledError,
)
from strongref.event import RequestType
from strongref.fencing import standing
from strongref.log import logger
from strongref.ports import Kind
from strongref.record import decode
from strongref.release import LettingGo
from strongref.request import ImportRequest, Strength
from strongref.values import Value, attribute_name, select

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from strongref.event import Event
    from strongref.patience import Patience
    from strongref.ports import Clock, Parameter, Stacks, Store
    from strongref.record import Record


PHYSICAL_ID_PREFIX = "strongref-import/"


def physical_id(stack: StackArn, logical_id: str, request: ImportRequest) -> str:
    """One generation of an import: another one as soon as it imports something else.

    So CloudFormation deletes the former generation in its clean-up phase, after everything else has succeeded: the
    new claims are made before the old ones are let go.
    """
    return f"{PHYSICAL_ID_PREFIX}{stack.name}/{logical_id}/{short_hash(request.identity(stack, logical_id))}"


@dataclass(frozen=True, slots=True)
class Imports:
    """The importer, over its ports.

    Attributes:
        stores: the parameter store of a region, for as long as a clock says.
        stacks: what CloudFormation knows.
        patience: with exporters.
        token: something never said before, to name a fence.
    """

    stores: Callable[[str, Clock], Store]
    stacks: Stacks
    patience: Patience
    token: Callable[[], str]

    def handle(self, event: Event, clock: Clock) -> Answer:
        """Carry out one event of CloudFormation's.

        Raises:
            StrongRefError: it could not be done; no claim was left behind that this event put on.
        """
        stack = StackArn.parse(event.stack)
        store = self.stores(stack.region, clock)
        if event.request_type is RequestType.DELETE:
            return self._delete(event, stack, store, clock)
        request = ImportRequest.parse(event.properties, stack)
        generation = physical_id(stack, event.logical_id, request)
        place = Place(self._consumer(request, stack, event.stack), request.producer)
        run = _Run(self, store, clock, event, stack, request, place, generation)
        values = run.read_weakly() if request.strength is Strength.WEAK else run.hold()
        return Answer(generation, _attributes(values))

    def _delete(self, event: Event, stack: StackArn, store: Store, clock: Clock) -> Answer:
        try:
            request = ImportRequest.parse(event.properties, stack)
        except BadRequestError:
            # Such properties were refused when they came: nothing was claimed for them.
            return Answer(event.physical_id or stack.name)
        generation = event.physical_id or ""
        if not generation.startswith(PHYSICAL_ID_PREFIX):
            # A Create that never answered: CloudFormation made up an id, but claims may have been put on.
            generation = physical_id(stack, event.logical_id, request)
        info = self.stacks.by_arn(event.stack)
        root = self.stacks.by_arn(info.root_arn) if info and info.root_arn != info.arn else info
        name = StackArn.parse(root.arn).name if root else stack.name
        place = Place(SHARED if request.shared else request.consumer or name, request.producer)
        letting_go = LettingGo(
            self.stores, stack.region, clock, self.stacks, self.patience, event, generation, self.token
        )
        deleted = root is not None and root.being_deleted
        if deleted:
            letting_go.clean(name)
        if request.strength is Strength.STRONG and not (deleted and place.consumer == name):
            letting_go.release(place, request.names)
        return Answer(event.physical_id or generation)

    def _consumer(self, request: ImportRequest, stack: StackArn, arn: str) -> str:
        if request.shared:
            return SHARED
        if request.consumer:
            return request.consumer
        info = self.stacks.by_arn(arn)
        return StackArn.parse(info.root_arn).name if info else stack.name


def _attributes(values: Mapping[Key, Value]) -> dict[str, object]:
    """What `Fn::GetAtt` may ask for: everything but what is secure, which would pass through CloudFormation's events."""
    return {attribute_name(key): value.attribute for key, value in values.items() if value.kind is not Kind.SECURE}


def _value_of(parameter: Parameter | None) -> Value | None:
    return Value(parameter.kind, parameter.text) if parameter else None


@dataclass(frozen=True, slots=True)
class Published:
    """What the records of a place say.

    Attributes:
        records: by the Export's logical id.
        torn: one of them is being written, or was damaged.
    """

    records: Mapping[str, Record] = field(repr=False)
    torn: bool

    @classmethod
    def read(cls, store: Store, place: Place) -> Published:
        found = decode(place.records, store.under(place.records))
        return cls(
            {logical_id: each.record for logical_id, each in found.items() if each.record},
            any(each.torn for each in found.values()),
        )

    @property
    def values(self) -> dict[Key, Value]:
        return {key: value for record in self.records.values() for key, value in record.values.items()}

    def says(self, key: Key, value: Value) -> bool:
        """Whether a record has that value for that key."""
        return any(record.values.get(key) == value for record in self.records.values())

    def tags(self, key: Key) -> dict[str, str]:
        """The tags of producer and owners with which a value is put back."""
        owners = {logical_id: record for logical_id, record in self.records.items() if key in record.values}
        producer = next(iter(owners.values())).stack
        return {PRODUCER_TAG: producer} | {owner_tag(logical_id): logical_id for logical_id in owners}


class _TryAgainError(Exception):
    """Something does not hold right now: tell `why` if it goes on like that."""

    def __init__(self, why: StrongRefError) -> None:
        super().__init__()
        self.why = why


class _Run:
    """One Import at work on its place."""

    def __init__(  # noqa: PLR0913
        self,
        imports: Imports,
        store: Store,
        clock: Clock,
        event: Event,
        stack: StackArn,
        request: ImportRequest,
        place: Place,
        generation: str,
    ) -> None:
        self._imports = imports
        self._store = store
        self._clock = clock
        self._event = event
        self._stack = stack
        self._request = request
        self._place = place
        self._generation = generation
        self._claim = {claim_tag(generation): event.stack}
        self._same_generation = event.physical_id == generation
        self._before: set[Key] | None = None
        self._skip: set[Key] = set()
        self._put_on: set[Key] = set()

    def read_weakly(self) -> Mapping[Key, Value]:
        """What the records say; nothing is claimed, nothing written."""
        return self._patiently(self._read)

    def hold(self) -> Mapping[Key, Value]:
        """Read, claim, and make sure of it."""
        try:
            return self._patiently(self._attempt)
        except BaseException:
            self._let_go()
            raise

    def _patiently(self, attempt: Callable[[], Mapping[Key, Value]]) -> Mapping[Key, Value]:
        waiting = self._imports.patience.begin(self._clock)
        while True:
            try:
                return attempt()
            except _TryAgainError as again:
                self._skip = set()  # a claim seen before a fence may have been taken for a dead one behind it
                if not waiting.pause():
                    raise again.why from None

    def _read(self) -> Mapping[Key, Value]:
        published = self._published()
        keys = self._select(published.values, held={})
        values = {key: published.values[key] for key in keys}
        check_size(self._event, self._generation, _attributes(values))
        return values

    def _attempt(self) -> Mapping[Key, Value]:
        published = self._published()
        recorded = published.values
        held = self._held(recorded) if self._event.request_type is RequestType.UPDATE else {}
        keys = self._select(recorded, held)
        seen = self._store.get([self._place.value(key) for key in keys])
        if len(seen) < len(keys) and self._published() != published:
            # What is put back must be what the record says *after* the value was found gone: the one read before may
            # be older than a change that a clean-up has taken away since.
            raise _TryAgainError(self._changing())
        values = {key: held.get(key) or self._value(key, seen, recorded) for key in keys}
        check_size(self._event, self._generation, _attributes(values))
        self._note_what_was_there(keys, seen)
        self._no_fence()
        seen |= self._put_back([key for key in keys if self._place.value(key) not in seen], published)
        if any(_value_of(seen.get(self._place.value(key))) != values[key] for key in keys):
            raise _TryAgainError(self._changing())
        for key in keys:
            self._put_on_claim(key)
        self._no_fence()
        if not self._is_unchanged(seen):
            raise _TryAgainError(self._changing())
        now = self._published()
        unsaid = [key for key in keys if key not in held and not now.says(key, values[key])]
        if unsaid:
            raise _TryAgainError(UnsettledError(unsaid, str(self._place.producer)))
        return values

    def _is_unchanged(self, seen: Mapping[str, Parameter]) -> bool:
        """The second read: the very parameters that were read before they were claimed, version and date included."""
        return self._store.get(list(seen)) == seen

    def _published(self) -> Published:
        published = Published.read(self._store, self._place)
        if published.torn:
            raise _TryAgainError(self._changing())
        return published

    def _select(self, recorded: Mapping[Key, Value], held: Mapping[Key, Value]) -> list[Key]:
        names = self._request.names
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
        if self._request.names is not None and all(select(self._request.names, recorded).values()):
            return {}
        held = {}
        for name, parameter in self._store.under(self._place.values).items():
            key = self._place.key(name)
            wanted = self._request.names is None or any(select(self._request.names, [key]).values())
            if wanted and key not in recorded and self._claim.items() <= (self._store.tags(name) or {}).items():
                held[key] = Value(parameter.kind, parameter.text)
        return held

    def _value(self, key: Key, seen: Mapping[str, Parameter], recorded: Mapping[Key, Value]) -> Value:
        """The value of a key, where parameter and record agree on it; the record's, where there is no parameter."""
        parameter = seen.get(self._place.value(key))
        if parameter and _value_of(parameter) != recorded[key]:
            fence = standing(self._store, self._place, self._clock.now())
            producer = str(self._place.producer)
            raise _TryAgainError(ChangingError(producer, str(fence)) if fence else UnsettledError([key], producer))
        return recorded[key]

    def _no_fence(self) -> None:
        fence = standing(self._store, self._place, self._clock.now())
        if fence:
            raise _TryAgainError(ChangingError(str(self._place.producer), str(fence)))

    def _changing(self) -> ChangingError:
        return ChangingError(str(self._place.producer), "another deployment")

    def _note_what_was_there(self, keys: list[Key], seen: Mapping[str, Parameter]) -> None:
        """Which claims of this generation an earlier delivery of the event, or an earlier event, had put on.

        Those are not this event's to take off again. Claims are put on in the order of the keys, so the last one tells
        of a delivery that came through; all are looked at where that is needed anyway: to write nothing when nothing
        changes, and to count the tags of shared exports, which many may import.
        """
        if self._before is not None:
            return
        thorough = self._same_generation or self._request.shared
        there = [key for key in keys if self._place.value(key) in seen]
        tags = {key: self._store.tags(self._place.value(key)) or {} for key in (there if thorough else there[-1:])}
        before = {key for key, each in tags.items() if self._claim.items() <= each.items()}
        full = [key for key, each in tags.items() if key not in before and len(each) >= TAG_LIMIT]
        if full:
            raise TooManyClaimsError(full, str(self._place.producer))
        self._before = before if thorough else set(keys if before else ())
        self._skip = before if self._same_generation else set()

    def _put_back(self, keys: list[Key], published: Published) -> dict[str, Parameter]:
        """Make values that are gone from the record, and read them.

        They are made with the claim on them, against clean-ups. That is not enough to hold them: by the time they are
        read, what stands there may have been deleted and made anew. So they are claimed like all others afterwards.
        """
        for key in keys:
            name, value = self._place.value(key), published.values[key]
            self._put_on.add(key)
            try:
                self._store.create(name, value.kind, value.text, published.tags(key) | self._claim)
            except AlreadyExistsError:
                raise _TryAgainError(self._changing()) from None
            logger.warning("A value that was gone is put back", extra={"parameter": name})
        return self._store.get([self._place.value(key) for key in keys])

    def _put_on_claim(self, key: Key) -> None:
        if key in self._skip:
            return
        self._put_on.add(key)
        try:
            there = self._store.tag(self._place.value(key), self._claim)
        except TooManyTagsError:
            raise TooManyClaimsError([key], str(self._place.producer)) from None
        if not there:
            raise _TryAgainError(self._changing())

    def _let_go(self) -> None:
        """Take off the claims that this event put on, and no others."""
        for key in sorted(self._put_on - (self._before or set())):
            try:
                self._store.untag(self._place.value(key), self._claim)
            except StrongRefError as error:  # the claim turns stale with the event that failed, and heals
                logger.warning("A claim could not be taken off", extra={"key": key, "error": str(error)})

    def _missing(self, names: Iterable[str], recorded: Mapping[Key, Value]) -> StrongRefError | _TryAgainError:
        """Which it is: no such stack, nothing for this consumer, not that name, or a change going on right now."""
        fence = standing(self._store, self._place, self._clock.now())
        producer = self._place.producer
        if fence:
            return _TryAgainError(ChangingError(str(producer), str(fence)))
        known = producer.account == self._stack.account
        if known and not self._imports.stacks.by_name(producer.stack, producer.region):
            return NoSuchProducerError(str(producer))
        if not recorded:
            shared = self._place.consumer == SHARED
            name = self._request.consumer or self._stack.name
            elsewhere = Published.read(self._store, Place(name if shared else SHARED, producer)).values
            return NothingExportedError(
                str(producer),
                None if shared else self._place.consumer,
                self._store.region,
                known=known,
                elsewhere=bool(elsewhere),
            )
        there = [attribute_name(key) for key in recorded]
        return NoSuchExportError(
            {attribute_name(Key(name)): get_close_matches(attribute_name(Key(name)), there, 2) for name in names},
            str(producer),
            there,
        )
