"""Wait for a state and not for a time: a test must not depend on how fast the machine is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

GIVE_UP_SECONDS = 600.0
"""Nothing that works takes this long, however busy the machine."""

PAUSE_SECONDS = 0.05
LONGEST_PAUSE = 0.5
_PART = 0.1
"""Of what was waited for already, until the next look: each takes time from what is waited for."""


def wait_until(state: Callable[[], T | None], what: Callable[[], str] | str) -> T:
    """Look until a state is there, often at first; what was found.

    Args:
        state: looks; anything false means not yet.
        what: is waited for, in words, for the failure.
    """
    began = time.monotonic()
    while not (found := state()):
        waited = time.monotonic() - began
        if waited > GIVE_UP_SECONDS:
            raise AssertionError(f"Waited {GIVE_UP_SECONDS:.0f} s for {what if isinstance(what, str) else what()}.")
        time.sleep(min(LONGEST_PAUSE, max(PAUSE_SECONDS, _PART * waited)))
    return found
