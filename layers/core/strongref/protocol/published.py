"""What all Exports of a scope publish together, read from their records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strongref.contract.names import PRODUCER_TAG, owner_tag
from strongref.contract.record import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from strongref.contract.names import ExportScope, Key
    from strongref.contract.record import Record, StoredRecord
    from strongref.contract.values import Value
    from strongref.protocol.ports import Store


@dataclass(frozen=True, slots=True)
class RecordedExports:
    """The records of a scope."""

    records: Mapping[str, Record] = field(repr=False)  # by the Export's logical ID
    torn: bool  # whether one of them is being written, or is damaged

    @classmethod
    def read(cls, store: Store, scope: ExportScope) -> RecordedExports:
        return cls.of(decode(scope.records, store.under(scope.records)))

    @classmethod
    def of(cls, found: Mapping[str, StoredRecord]) -> RecordedExports:
        """Given the records of a scope as they were found, by logical ID."""
        return cls(
            {logical_id: each.record for logical_id, each in found.items() if each.record},
            any(each.torn for each in found.values()),
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

    def holds(self, keys: Iterable[Key]) -> dict[str, str]:
        """The CloudFormation exports that imports of these keys hold: by name, with the ARN of each one's stack."""
        wanted = set(keys)
        return {
            record.hold: record.stack
            for record in self.records.values()
            if record.hold and not wanted.isdisjoint(record.values)
        }

    def tags(self, key: Key) -> dict[str, str]:
        """The producer and owner tags for a value that is created again."""
        owners = {logical_id: record for logical_id, record in self.records.items() if key in record.values}
        producer = next(iter(owners.values())).stack
        return {PRODUCER_TAG: producer} | {owner_tag(logical_id): logical_id for logical_id in owners}
