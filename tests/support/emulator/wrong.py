"""Beliefs about AWS that are wrong in this emulator, where a test asks: so that the selftest is seen to find them.

A correction asks here whether its belief is wrong just now, and then behaves otherwise.
"""

from __future__ import annotations

_wrong: set[str] = set()


def switch(belief: str, state: str) -> list[str]:
    """Make a belief wrong (on) or right again (off)."""
    (_wrong.add if state == "on" else _wrong.discard)(belief)
    return []


def is_wrong(belief: str) -> bool:
    return belief in _wrong
