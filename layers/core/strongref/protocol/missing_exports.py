"""Why an importer does not find what it imports: no such stack, nothing exported to it, or not under these names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from strongref.contract.names import SHARED, ExportScope, Key
from strongref.protocol.published import RecordedExports
from strongref.refusals import NoSuchExportError, NoSuchProducerError, NothingExportedError
from strongref.text import attribute_name

if TYPE_CHECKING:
    from collections.abc import Collection

    from strongref.errors import StrongRefError
    from strongref.protocol.ports import Stacks, Store


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
