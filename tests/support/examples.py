"""How many examples Hypothesis tries of each property: a part of them in `make test`, all of them in `make unit`."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, Phase, settings

from tests.support import only

THOROUGH = "STRONGREF_THOROUGH"
"""The variable of the environment for all of them."""

_PART = 5
"""One in so many is tried otherwise. They are others each time, and what has failed once is tried first."""


def use_profile() -> None:
    """Let an example fail for what it shows, and never for the time that it takes on a busy machine.

    Where a guard is removed, that one fails is enough: nobody reads the smallest.
    """
    phases = [Phase.explicit, Phase.generate] if only.VARIABLE in os.environ else list(Phase)
    for name, number in (("quick", 100 // _PART), ("thorough", 100)):
        checks = [HealthCheck.too_slow]
        settings.register_profile(name, max_examples=number, deadline=None, suppress_health_check=checks, phases=phases)
    settings.load_profile("thorough" if THOROUGH in os.environ else "quick")


def examples(number: int = 100, **more: Any) -> settings:
    """The settings of a property that needs another number than 100, or others."""
    return settings(max_examples=number if THOROUGH in os.environ else number // _PART, **more)
