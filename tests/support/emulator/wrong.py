"""Beliefs about AWS that are wrong for an account, where a test asks: so that the selftest is seen to find them.

A correction asks here whether its belief is wrong just now, and then behaves otherwise.
"""

from __future__ import annotations

from ministack.core.responses import get_account_id

_wrong: set[tuple[str, str]] = set()


def switch(account: str, belief: str, state: str) -> list[str]:
    """Make a belief wrong for an account (on) or right again (off)."""
    (_wrong.add if state == "on" else _wrong.discard)((account, belief))
    return []


def is_wrong(belief: str) -> bool:
    """Whether it is wrong for the account of the request that is being answered."""
    return bool(_wrong) and (get_account_id(), belief) in _wrong
