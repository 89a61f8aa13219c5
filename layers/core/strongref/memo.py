"""Answers that are looked up once in a run."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from strongref.errors import StrongRefError

K = TypeVar("K", bound="Hashable")
T = TypeVar("T")


class Memo(Generic[K, T]):
    """A cache that also keeps errors: what failed once is not asked for again."""

    def __init__(self) -> None:
        self._answers: dict[K, T | StrongRefError] = {}

    def get(self, key: K, ask: Callable[[], T]) -> T:
        """The answer for a key; `ask` is called for the first time only.

        Raises:
            StrongRefError: the one that `ask` raised.
        """
        if key not in self._answers:
            try:
                self._answers[key] = ask()
            except StrongRefError as error:
                self._answers[key] = error
        answer = self._answers[key]
        if isinstance(answer, StrongRefError):
            raise answer
        return answer
