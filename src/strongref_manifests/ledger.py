"""What a set of manifests has claimed: names, in as many parameters as they need, all of them taken together.

A ledger that says too much does no harm, one that says too little leaves claims for ever: so names are added before
they are claimed, and what they replace is taken away afterwards.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.values import Kind
from strongref.errors import ErrorMetric, StrongRefError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from strongref.protocol.ports import Store

PAGE_BYTES = 4096
"""Of a parameter's value that costs nothing (AWS: Parameter Store, standard tier)."""


@dataclass(eq=False)
class UnreadableLedgerError(StrongRefError):
    """A ledger was changed by hand, so that nobody knows what is claimed."""

    counted = ErrorMetric.ERRORS

    name: str

    def __str__(self) -> str:
        return (
            f"{self.name} cannot be read: it should be a JSON list of parameters' names. Put it right, or delete it, "
            "and the claims that it named."
        )


@dataclass(frozen=True, slots=True)
class ClaimLedger:
    """One ledger.

    Attributes:
        store: where.
        path: above its parameters.
        token: something never said before, to name a page.
    """

    store: Store
    path: str
    token: Callable[[], str]

    def read(self) -> frozenset[str]:
        """Everything in it.

        Raises:
            UnreadableLedgerError: naming the parameter.
        """
        return frozenset(name for page in self._pages().values() for name in page)

    def add(self, names: Collection[str]) -> None:
        """Have these in it as well."""
        for page in _paged(sorted(names)):
            self.store.create(f"{self.path}/{self.token()}", Kind.STRING, json.dumps(page, separators=(",", ":")), {})

    def replace(self, names: Collection[str]) -> None:
        """Have these in it and no others; there is no moment at which one of these is not."""
        pages = self._pages()
        said = [name for page in pages.values() for name in page]
        if sorted(said) != sorted(names) or len(pages) > len(list(_paged(sorted(names)))):
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
    """Names by the page; quotes, commas and brackets are what JSON adds to them."""
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
