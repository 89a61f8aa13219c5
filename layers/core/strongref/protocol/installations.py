"""Where strongref is installed: a value can be exported to any region, but only functions there can import it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

from strongref.errors import StoreError
from strongref.text import some

if TYPE_CHECKING:
    from strongref.protocol.ports import Store

IMPORTER = "/strongref/service-tokens/importer"
"""The installation's template makes it, in each region."""


PATIENCE = timedelta(seconds=3)
"""For the look: a note is not worth more time."""


def is_installed(store: Store) -> bool:
    """Whether strongref is installed where a store is; also True if the caller may not know, or not in time."""
    try:
        return bool(store.get([IMPORTER]))
    except StoreError:
        return True


def not_installed_text(regions: Iterable[str]) -> str:
    """What to say of regions without it; empty if there is none."""
    where = some(sorted(set(regions)), 5)
    return f"strongref is not installed in {where}: install it before a stack there imports." if where else ""
