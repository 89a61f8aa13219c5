"""Why there is nothing to import under a name: no such stack, nothing for this consumer, or not that name."""

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
    """Who imports.

    Attributes:
        account: its own: stacks of other ones cannot be asked about.
        consumer: the name by which exports are addressed to it.
    """

    account: str
    consumer: str


def why_missing(  # noqa: PLR0913, PLR0917
    stacks: Stacks,
    store: Store,
    scope: ExportScope,
    importer: ImportingAccount,
    names: Iterable[str],
    recorded: Mapping[Key, Value],
) -> StrongRefError:
    """The error that tells it.

    Args:
        stacks: asked whether the producer is there.
        store: where the exports are.
        scope: in it.
        importer: who looked for them.
        names: that are not exported.
        recorded: what is.
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
    from difflib import get_close_matches  # noqa: PLC0415 (for this mistake alone)

    there = [attribute_name(key) for key in recorded]
    return NoSuchExportError(
        {attribute_name(Key(name)): get_close_matches(attribute_name(Key(name)), there, 2) for name in names},
        str(producer),
        there,
    )
