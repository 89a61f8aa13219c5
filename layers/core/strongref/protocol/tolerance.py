"""What a rollback goes on after: it has to end, whatever cannot be read or done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from strongref.errors import StrongRefError, UnfinishedError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What cannot be read or done, and is gone on after: unless another invocation may do better."""

    why: StrongRefError  # how the normal attempt failed
    is_last: bool  # whether no other invocation can continue
    failed: list[StrongRefError] = field(default_factory=list)  # what was tolerated in reads

    def tolerated(self, error: StrongRefError) -> StrongRefError:
        """An error to go on after; raises it if another invocation may do better."""
        if isinstance(error, UnfinishedError) and not self.is_last:
            raise error
        return error

    def read(self, read: Callable[[], T | None], otherwise: T | None = None) -> T | None:
        """What can be read; raises if another invocation may do better."""
        try:
            return read()
        except StrongRefError as error:
            self.failed.append(self.tolerated(error))
            return otherwise

    @property
    def unreadable(self) -> StrongRefError:
        """Why something cannot be read."""
        return next((each for each in self.failed if not isinstance(each, UnfinishedError)), self.why)
