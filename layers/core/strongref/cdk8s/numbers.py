"""Numbers out of text."""

from __future__ import annotations

from math import isfinite


def number(text: str) -> int | float | None:
    """The number that a text is; a whole one without a fraction. None if it is none."""
    for kind in (int, float):
        try:
            found = kind(text)
        except ValueError:
            continue
        if isfinite(found):
            return found
    return None
