"""Why a name cannot be imported: no such stack, nothing exported to this consumer, or not under that name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from strongref.contract.names import SHARED, ExportScope, Key
from strongref.contract.values import attribute_name
from strongref.errors import NoSuchExportError, NoSuchProducerError, NothingExportedError
from strongref.protocol.published import RecordedExports

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from strongref.contract.values import Value
    from strongref.errors import StrongRefError
    from strongref.protocol.ports import Stacks, Store


class ImportingAccount(NamedTuple):
    """The importing side."""

    account: str  # the account of its credentials. Stacks of other accounts cannot be looked up
    consumer: str  # the consumer name that exports to it have


def why_missing(  # noqa: PLR0913, PLR0917
    stacks: Stacks,
    store: Store,
    scope: ExportScope,
    importer: ImportingAccount,
    names: Iterable[str],
    recorded: Mapping[Key, Value],
) -> StrongRefError:
    """The error that explains why names cannot be imported.

    Args:
        stacks: to look up the producer's stack.
        store: the store that was searched.
        scope: the scope in it that was searched.
        importer: the importing side.
        names: the names that are not exported.
        recorded: the values that are exported.
    """
    producer = scope.producer
    known = producer.account == importer.account
    if known and not stacks.by_name(producer.stack, producer.region):
        return NoSuchProducerError(str(producer))
    if not recorded:
        shared = scope.consumer == SHARED
        elsewhere = RecordedExports.read(store, ExportScope(importer.consumer if shared else SHARED, producer)).values
        return NothingExportedError(
            str(producer),
            None if shared else scope.consumer,
            store.region,
            known=known,
            elsewhere=bool(elsewhere),
        )
    from difflib import get_close_matches  # noqa: PLC0415 (only this error needs it)

    exported = [attribute_name(key) for key in recorded]
    return NoSuchExportError(
        {attribute_name(Key(name)): get_close_matches(attribute_name(Key(name)), exported, 2) for name in names},
        str(producer),
        exported,
    )
