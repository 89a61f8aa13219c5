"""Why there is nothing to import under a name: no such stack, nothing for this consumer, or not that name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from strongref.address import SHARED, Key, Place
from strongref.errors import NoSuchExportError, NoSuchProducerError, NothingExportedError
from strongref.published import Published
from strongref.values import attribute_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from strongref.errors import StrongRefError
    from strongref.ports import Stacks, Store
    from strongref.values import Value


class Importer(NamedTuple):
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
    place: Place,
    importer: Importer,
    names: Iterable[str],
    recorded: Mapping[Key, Value],
) -> StrongRefError:
    """The error that tells it.

    Args:
        stacks: asked whether the producer is there.
        store: where the exports are.
        place: in it.
        importer: who looked for them.
        names: that are not exported.
        recorded: what is.
    """
    producer = place.producer
    known = producer.account == importer.account
    if known and not stacks.by_name(producer.stack, producer.region):
        return NoSuchProducerError(str(producer))
    if not recorded:
        shared = place.consumer == SHARED
        elsewhere = Published.read(store, Place(importer.consumer if shared else SHARED, producer)).values
        return NothingExportedError(
            str(producer),
            None if shared else place.consumer,
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
