"""Names that are used again soon after a deletion. Parameter Store may take up to 30 seconds to forget a parameter.

Until then a create may be refused although reads find nothing, and what was created may be missing from reads and for
tags. So a parameter that exists and has no producer is not foreign yet: wait, and look again. Fences need none of this:
their names have a token that is never used twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.names import PRODUCER_TAG
from strongref.errors import AlreadyExistsError, InvocationTimeoutError, RecentlyDeletedError

if TYPE_CHECKING:
    from strongref.contract.values import Value
    from strongref.protocol.lag import ReadLag
    from strongref.protocol.ports import Store
    from strongref.protocol.time import Clock

RECREATION_SECONDS = 30.0
"""How long a name is not to be used again after its parameter was deleted (AWS: DeleteParameter)."""

PAUSE = 3.0
"""Seconds between two looks."""


@dataclass(slots=True)
class Recreation:
    """One wait for a name, in pauses. Behind a fence, a call after each pause renews the fence."""

    clock: Clock
    lag: ReadLag  # a pause lasts at least as long as reads may lag
    _waited: float = 0.0

    def pause(self) -> bool:
        """Sleep a little; False, at once, when the name must be usable by now.

        Raises:
            InvocationTimeoutError: the invocation has no time for it.
        """
        if self._waited >= RECREATION_SECONDS:
            return False
        seconds = max(PAUSE, self.lag.after_writing)
        if self.clock.remaining() <= seconds:
            raise InvocationTimeoutError
        self.clock.sleep(seconds)
        self._waited += seconds
        return True


@dataclass(frozen=True, slots=True)
class PatientWriter:
    """Writes parameters whose names may have been deleted a moment ago."""

    store: Store
    clock: Clock  # the store's
    lag: ReadLag

    def create(self, name: str, value: Value, tags: Mapping[str, str]) -> Mapping[str, str] | None:
        """Create a parameter; None if it was created. Otherwise the tags of the parameter that exists there.

        Raises:
            RecentlyDeletedError: it can be neither created nor read, even after the wait.
        """
        waiting, has_settled = Recreation(self.clock, self.lag), False
        while True:
            try:
                self.store.create(name, value.type, value.text, tags)
            except AlreadyExistsError:
                if not has_settled:  # Each pause is as long.
                    self.lag.settle(self.clock)
                has_settled = True
            else:
                return None
            found = self.store.tags(name)
            if found and PRODUCER_TAG in found:  # What an overwrite created has the installation's tags first.
                return found
            if not waiting.pause():
                if found is None:
                    raise RecentlyDeletedError(name, self.store.region)
                return found

    def tag(self, name: str, tags: Mapping[str, str]) -> None:
        """Put tags on a parameter that was just written.

        Raises:
            RecentlyDeletedError: that is not possible, even after the wait.
        """
        waiting = Recreation(self.clock, self.lag)
        while not self.store.tag(name, tags):
            if not waiting.pause():
                raise RecentlyDeletedError(name, self.store.region)
