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


def wait_until(state: Callable[[], T | None], what: Callable[[], str] | str, pause: float = PAUSE_SECONDS) -> T:
    """Look until a state is there; what was found.

    Args:
        state: looks; anything false means not yet.
        what: is waited for, in words, for the failure.
        pause: seconds between two looks.
    """
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while not (found := state()):
        if time.monotonic() > deadline:
            raise AssertionError(f"Waited {GIVE_UP_SECONDS:.0f} s for {what if isinstance(what, str) else what()}.")
        time.sleep(pause)
    return found
