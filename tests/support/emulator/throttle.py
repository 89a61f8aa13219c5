"""Parameter Store's and Cloud Control's quotas, which the emulator does not know: per account, where a test asks."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any

from ministack.core.responses import get_account_id, get_region

from tests.support.emulator import gateway, wrong
from tests.support.emulator.calls import called
from tests.support.quota import CLASSES, Quotas

BELIEFS = ("throttling", "rates")

_WRONG = Quotas(reads=5)

_quotas: dict[str, Quotas] = {}
_throttled: Counter[str] = Counter()


def install() -> None:
    """Refuse what comes too fast, before it is counted as a call or looked at."""
    gateway.around_requests(_admitted)


async def _admitted(request: gateway.Request, serve: gateway.Serve) -> gateway.Response:
    found = called(request)
    account = get_account_id()
    quotas = _WRONG if wrong.is_wrong("rates") or wrong.is_wrong("throttling") else _quotas.get(account)
    action = _counted_as(*found) if found else ""
    if quotas and action in CLASSES and not quotas.admit(action, account, get_region(), time.monotonic()):
        _throttled[account] += 1
        return _refusal()
    return await serve(request)


def _counted_as(service: str, action: str) -> str:
    """The action of Parameter Store's whose quota a call counts towards.

    Cloud Control's share one, which is not published: they are given that of an action which no function calls.
    """
    return {"ssm": action, "cloudcontrol": "DescribeParameters"}.get(service, "")


def _refusal() -> gateway.Response:
    code = "BusyException" if wrong.is_wrong("throttling") else "ThrottlingException"
    body = json.dumps({"__type": code, "message": "Rate exceeded"})
    return 400, {"Content-Type": "application/x-amz-json-1.1"}, body.encode()


def limit(account: str, given: str) -> list[str]:
    """Set an account's quotas, as `puts=3&others=0.5`; none: it has none any more."""
    rates = dict(each.split("=") for each in given.split("&") if each)
    _quotas.pop(account, None)
    _throttled[account] = 0
    if rates:
        given_rates: dict[str, Any] = {name: float(rate) for name, rate in rates.items()}
        _quotas[account] = Quotas(**given_rates)
    return []


def throttled(account: str) -> int:
    """How many calls of an account were refused since its quotas were set."""
    return _throttled[account]
