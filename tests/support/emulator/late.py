"""Parameter Store's reads lag where a test asks: each parameter as it was at some time in the last few seconds.

Where a test has a belief about one kind of write be wrong, all reads show for a moment what was there before it.
"""

from __future__ import annotations

import time
from collections import defaultdict
from copy import deepcopy
from random import Random
from typing import TYPE_CHECKING, Any

from ministack.core.responses import get_account_id, get_region, json_response
from ministack.services import ssm

from tests.support.emulator import gateway, iam, wrong

if TYPE_CHECKING:
    from collections.abc import Callable

    Version = tuple[dict[str, Any] | None, dict[str, str]]

_lags: dict[str, float] = {}
_past: dict[tuple[str, str, str], list[tuple[float, Version]]] = defaultdict(list)
"""By account, region and name, what was stored, and when it was superseded."""

BELIEFS = ("lag-create-path", "lag-overwrite-get", "lag-tag-list", "lag-untag-list", "lag-delete-path")

_AFTER = {
    "AddTagsToResource": "lag-tag-list",
    "RemoveTagsFromResource": "lag-untag-list",
    "DeleteParameters": "lag-delete-path",
}
"""The beliefs about the reads after a write; PutParameter has two."""

_WRONG_SECONDS = 0.3

_random = Random(0)  # noqa: S311 (which reads lag is no secret)


def install() -> None:
    """Remember what each write supersedes, and have reads show it. To be the first: the others see the answer."""
    gateway.around_service("ssm", _served)


async def _served(request: gateway.Request, serve: gateway.Serve) -> gateway.Response:
    action, asked = iam.action_of(request.headers), iam.parsed(request.body)
    if get_account_id() in _lags or any(map(wrong.is_wrong, BELIEFS)):
        if read := _READS.get(action):
            late: gateway.Response = json_response(read(asked))
            return late
        for name in asked.get("Names") or [asked.get("Name") or asked.get("ResourceId", "")]:
            if get_account_id() in _lags or wrong.is_wrong(_belief(action, name)):
                _past[get_account_id(), get_region(), name].append((time.monotonic(), deepcopy(_now(name))))
    return await serve(request)


def _belief(action: str, name: str) -> str:
    put = "lag-overwrite-get" if ssm._parameters.get(name) else "lag-create-path"
    return put if action == "PutParameter" else _AFTER.get(action, "")


def lag(account: str, seconds: str) -> list[str]:
    """From now on the reads of an account may lag by so many seconds; 0: they do not."""
    _lags.pop(account, None)
    if float(seconds):
        _lags[account] = float(seconds)
    return []


def _now(name: str) -> Version:
    found = ssm._parameters.get(name)
    return found, dict(ssm._tags.get(found["ARN"]) or {}) if found else {}


def _shown(name: str) -> Version:
    lag = _lags.get(get_account_id())
    since = time.monotonic() - (_WRONG_SECONDS if lag is None else lag)
    old = [version for superseded, version in _past[get_account_id(), get_region(), name] if superseded >= since]
    versions = [*old, _now(name)]
    return versions[0] if lag is None else _random.choice(versions)


def _get(request: dict[str, Any]) -> dict[str, Any]:
    found = {name: _shown(name)[0] for name in request["Names"]}
    return {
        "Parameters": [_out(each, request) for each in found.values() if each],
        "InvalidParameters": [name for name, each in found.items() if not each],
    }


def _get_by_path(request: dict[str, Any]) -> dict[str, Any]:
    """The whole list: `paging` cuts it."""
    account, region, path = get_account_id(), get_region(), request["Path"].rstrip("/") + "/"
    known = {name for name, _ in ssm._parameters.items()}
    known |= {name for of, where, name in list(_past) if (of, where) == (account, region)}
    found = [_shown(name)[0] for name in sorted(known) if name.startswith(path)]
    return {"Parameters": [_out(each, request) for each in found if each]}


def _list_tags(request: dict[str, Any]) -> dict[str, Any]:
    return {"TagList": [{"Key": key, "Value": value} for key, value in _shown(request["ResourceId"])[1].items()]}


def _out(parameter: dict[str, Any], request: dict[str, Any]) -> object:
    return ssm._param_out(parameter, request.get("WithDecryption", False))


_READS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "GetParameters": _get,
    "GetParametersByPath": _get_by_path,
    "ListTagsForResource": _list_tags,
}
