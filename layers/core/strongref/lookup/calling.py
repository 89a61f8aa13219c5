"""What the APIs of a look-up are made of: a client of a region, and calls that are paced and tried again."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Generic, TypeVar

from strongref.limiter import Caller

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.limiter import Limiter
    from strongref.ports import Clock

C = TypeVar("C")


class RegionalApi(Generic[C]):
    """One API, of one account and region."""

    def __init__(
        self,
        client_in: Callable[[str], C],
        region: str,
        limiter: Limiter,
        clock: Clock,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Make one.

        Args:
            client_in: the client of a region, as the methods of `clients.Clients`.
            region: where resources are looked for.
            limiter: shared by everyone who calls.
            clock: time, and how much of it is left.
            jitter: as in `limiter.Caller`.
        """
        self.region = region
        self._client_in = client_in
        self._caller = Caller(region, limiter, clock, jitter)
