"""What is asked for once a run, whoever asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from strongref.errors import StrongRefError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

K = TypeVar("K", bound="Hashable")
T = TypeVar("T")


class Memo(Generic[K, T]):
    """What is asked for once: an answer that is an error is the answer from then on."""

    def __init__(self) -> None:
        self._known: dict[K, T | StrongRefError] = {}

    def get(self, key: K, ask: Callable[[], T]) -> T:
        """The answer.

        Raises:
            StrongRefError: what asking raised, the first time.
        """
        if key not in self._known:
            try:
                self._known[key] = ask()
            except StrongRefError as error:
                self._known[key] = error
        found = self._known[key]
        if isinstance(found, StrongRefError):
            raise found
        return found
