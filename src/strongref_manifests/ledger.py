"""The claim ledger of a set of manifests: the names of all claimed exports, in as many parameters as they need.

An extra name does no harm, but a missing one leaves its claim forever. So names are added before they are claimed, and
removed after their claims are released.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.values import ParameterType
from strongref.errors import ErrorMetric, StrongRefError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from strongref.protocol.ports import Store

PAGE_BYTES = 4096
"""The size of a parameter value in the free standard tier (AWS: Parameter Store)."""


class UnreadableLedgerError(StrongRefError):
    """A ledger was changed by hand, so its claims are unknown."""

    counted = ErrorMetric.ERRORS
    name: str
    sentence = (
        "{name} cannot be read: it must be a JSON list of parameter names. Correct it, or delete it and the claims "
        "that it named."
    )


@dataclass(frozen=True, slots=True)
class ClaimLedger:
    """The claim ledger of one set of manifests."""

    store: Store  # where it is stored
    path: str  # the path of its parameters
    token: Callable[[], str]  # returns a unique name for a page

    def read(self) -> frozenset[str]:
        """All names in it; `UnreadableLedgerError` if a parameter of it was changed by hand."""
        return frozenset(name for page in self._pages().values() for name in page)

    def add(self, names: Collection[str]) -> None:
        for page in _paged(sorted(names)):
            self.store.create(
                f"{self.path}/{self.token()}", ParameterType.STRING, json.dumps(page, separators=(",", ":")), {}
            )

    def replace(self, names: Collection[str]) -> None:
        """Make these its only names; none of them is missing at any moment."""
        pages = self._pages()
        stored = [name for page in pages.values() for name in page]
        if sorted(stored) != sorted(names) or len(pages) > len(list(_paged(sorted(names)))):
            self.add(names)
            self.store.delete(pages)

    def _pages(self) -> dict[str, list[str]]:
        return {name: _read(name, parameter.text) for name, parameter in self.store.under(self.path).items()}


def _read(name: str, text: str) -> list[str]:
    try:
        names = json.loads(text)
    except ValueError:
        names = None
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise UnreadableLedgerError(name)
    return names


def _paged(names: list[str]) -> Iterator[list[str]]:
    """The names of each page; JSON adds quotes, commas and brackets to them."""
    page: list[str] = []
    size = 2
    for name in names:
        if size + len(name) + 3 > PAGE_BYTES:
            yield page
            page, size = [], 2
        page.append(name)
        size += len(name) + 3
    if page:
        yield page
