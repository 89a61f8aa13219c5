"""Beliefs about AWS that are wrong for an account, where a test asks: so that the selftest is seen to find them.

A correction asks here whether its belief is wrong just now, and then behaves otherwise.
"""

from __future__ import annotations

import time
from email.utils import formatdate

from ministack.core.responses import get_account_id

from tests.support.emulator import gateway

BELIEFS = ("response-dates",)

_WRONG_SECONDS = 30

_wrong: set[tuple[str, str]] = set()


def install() -> None:
    """Date the responses, which is left to this."""
    gateway.around_requests(_dated)


async def _dated(request: gateway.Request, serve: gateway.Serve) -> gateway.Response:
    status, headers, body = await serve(request)
    now = time.time() + (_WRONG_SECONDS if is_wrong("response-dates") else 0)
    return status, {**headers, "Date": formatdate(now, usegmt=True)}, body


def switch(account: str, belief: str, state: str) -> list[str]:
    """Make a belief wrong for an account (on) or right again (off)."""
    (_wrong.add if state == "on" else _wrong.discard)((account, belief))
    return []


def is_wrong(belief: str, account: str = "") -> bool:
    """Whether it is wrong for an account: by default, that of the request that is being answered."""
    return bool(_wrong) and (account or get_account_id(), belief) in _wrong
