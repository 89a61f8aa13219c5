"""What all Exports of a scope publish together, read from their records, and why an importer misses something."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from strongref.contract.names import PRODUCER_TAG, SHARED, ExportScope, Key, owner_tag
from strongref.contract.record import Record, StoredRecord, decode
from strongref.contract.values import Value, select
from strongref.errors import NewerFormatError, StrongRefError, UndecryptableError
from strongref.refusals import NoSuchExportError, NoSuchProducerError, NothingExportedError
from strongref.text import attribute_name

if TYPE_CHECKING:
    from strongref.protocol.ports import Stacks, Store


@dataclass(frozen=True, slots=True)
class RecordedExports:
    records: Mapping[str, Record] = field(repr=False)  # by the Export's logical ID
    torn: bool  # whether one of them is being written, is damaged, or can never be read (`why`)
    why: NewerFormatError | UndecryptableError | None = None
    # by logical ID, what can be read of records with a secure part that cannot be decrypted
    without_secure: Mapping[str, Record] = field(default_factory=dict, repr=False)
    # the logical IDs of Exports whose record is complete, or says that it is withdrawn
    complete: Collection[str] = ()
    unreadable: bool = False  # whether nothing of a record can be read

    @classmethod
    def read(cls, store: Store, scope: ExportScope) -> RecordedExports:
        return cls.of(decode(scope.path("records"), store.under(scope.path("records"))))

    def readable(self, *, partly: bool = False) -> RecordedExports:
        """What can be read, for a reader that needs only some of it; then `check_secure`.

        To one that wants only keys which can be read (`partly`), it does not matter what is wrong with other records.

        Raises:
            NewerFormatError: a later version wrote a record.
        """
        readable = {**self.records, **self.without_secure}
        if partly:
            return RecordedExports(readable, torn=False, complete=self.complete)
        if isinstance(self.why, NewerFormatError):
            raise self.why
        return RecordedExports(readable, self.unreadable, self.why, complete=self.complete)

    def check_secure(self, store: Store, scope: ExportScope, names: Collection[str] | None) -> None:
        """Check that these names, or all, mean nothing that is in a part which cannot be decrypted.

        Raises:
            UndecryptableError: they may.
        """
        if self.why is None:
            return
        known, stored = self.values, store.under(scope.path("exports"), decrypted=False)
        hidden = [key for name, each in stored.items() if each.is_secure and (key := scope.key(name)) not in known]
        if names is None or any(select(names, hidden).values()) or not all(select(names, known).values()):
            raise self.why

    @classmethod
    def of(cls, found: Mapping[str, StoredRecord]) -> RecordedExports:
        """Given the records of a scope as they were found, by logical ID."""
        wrong = [each.why for each in found.values() if each.why]
        return cls(
            {logical_id: each.record for logical_id, each in found.items() if each.record},
            any(each.torn for each in found.values()),
            # of a later version's, nothing can be read; of others, what is not secure
            max(wrong, key=lambda each: isinstance(each, NewerFormatError), default=None),
            {logical_id: each.without_secure for logical_id, each in found.items() if each.without_secure},
            {logical_id for logical_id, each in found.items() if each.record or each.withdrawn},
            any(each.torn and not each.readable for each in found.values()),
        )

    @property
    def values(self) -> dict[Key, Value]:
        return {key: value for record in self.records.values() for key, value in record.values.items()}

    @property
    def all_holds(self) -> set[str]:
        """The CloudFormation exports that imports may hold because of these records."""
        return {each for record in self.records.values() for each in (record.hold, record.former_hold) if each}

    def says(self, key: Key, value: Value) -> bool:
        """Whether a record publishes this value for this key."""
        return any(record.values.get(key) == value for record in self.records.values())

    def may_hold(self, owners: Mapping[Key, Collection[str]], withdrawn: Collection[str] = ()) -> bool:
        """Whether a record that is lost, or that cannot be read completely, may hold one of these claimed keys.

        The owner tags say which Exports publish each, or published it. Those that are known to be withdrawn do not.
        """
        known = {owner_tag(logical_id) for logical_id in (*self.complete, *withdrawn)}
        return any(key not in self.values and not known.issuperset(tags) for key, tags in owners.items())

    def holds(self, keys: Iterable[Key], *, former: bool = False) -> dict[str, str]:
        """The CloudFormation exports that imports of these keys hold: by name, with the ARN of each one's stack.

        `former` are those that the records named before they named none.
        """
        wanted = set(keys)
        return {
            hold: record.stack
            for record in self.records.values()
            if (hold := record.former_hold if former else record.hold) and not wanted.isdisjoint(record.values)
        }

    def tags(self, key: Key) -> dict[str, str]:
        """The producer and owner tags for a value that is created again."""
        owners = {logical_id: record for logical_id, record in self.records.items() if key in record.values}
        producer = next(iter(owners.values())).stack
        return {PRODUCER_TAG: producer} | {owner_tag(logical_id): logical_id for logical_id in owners}


class ImportingAccount(NamedTuple):
    account: str  # the account of its credentials. Stacks of other accounts cannot be looked up
    consumer: str  # the consumer name that exports to it have

    def why_missing(
        self, scope: ExportScope, names: Collection[str], recorded: Collection[Key], store: Store, stacks: Stacks
    ) -> StrongRefError:
        """Why names are missing in a scope, given the keys that it has."""
        producer, shared = scope.producer, scope.consumer == SHARED
        known = producer.account == self.account
        if known and not stacks.by_name(producer.stack, producer.region):
            return NoSuchProducerError(str(producer))
        elsewhere = RecordedExports.read(store, ExportScope(self.consumer if shared else SHARED, producer)).values
        if not recorded:
            consumer = None if shared else scope.consumer
            return NothingExportedError(str(producer), consumer, store.region, known=known, elsewhere=bool(elsewhere))
        from difflib import get_close_matches  # noqa: PLC0415 (only this error needs it)

        exported = [attribute_name(key) for key in recorded]
        missing = [attribute_name(Key(name)) for name in names]
        close = {name: get_close_matches(name, exported, 2) for name in missing}
        there = [name for name in missing if any(attribute_name(key) == name for key in elsewhere)]
        return NoSuchExportError(close, str(producer), exported, there, shared)
