"""Parameter Store's limits, which the emulator does not know: checked after IAM, before a request is served.

And all that it has at one moment, for tests that look at it all the time.
"""

from __future__ import annotations

import json
from typing import Any

from ministack.core.responses import get_account_id, get_region
from ministack.services import ssm

from tests.support.emulator import gateway, iam, wrong
from tests.support.ssm_rules import STANDARD_BYTES, Stored, refusal

BELIEFS = ("store-limits", "store-type", "create-once", "batches", "recreation", "modified-date")

_REFUSALS = {
    "tags-of-nothing": b"InvalidResourceId",
    "store-limits": b"ValidationException",
    "create-once": b"ParameterAlreadyExists",
    "store-type": b"HierarchyTypeMismatchException",
}
"""By belief, the code of what is refused."""

_WRONG_BATCH = 5

_deleted: set[tuple[str, str]] = set()
"""The regions and names that were deleted while they could, wrongly, not be used again."""


def install() -> None:
    """Put AWS's authorization and limits before SSM's handler."""
    gateway.around_service("ssm", _served)


async def _served(request: gateway.Request, serve: gateway.Serve) -> gateway.Response:
    action, asked = iam.action_of(request.headers), iam.parsed(request.body)
    refused = iam.denial(request) or _deleted_before(action, asked) or error(action, asked)
    if refused:
        return _granted(refused)
    if action == "PutParameter" and asked.get("Tier") == "Intelligent-Tiering":
        request = request._replace(body=json.dumps(asked | {"Tier": tier(asked)}).encode())
    status, headers, body = _granted(await serve(request))
    if action == "PutParameter" and wrong.is_wrong("kept-tags"):
        ssm._tags.pop(ssm._parameters[asked["Name"]]["ARN"], None)
    is_dated_otherwise = wrong.is_wrong("modified-date") or wrong.is_wrong("clocks")
    return status, headers, _dated_otherwise(body) if is_dated_otherwise else body


def _granted(response: gateway.Response) -> gateway.Response:
    """A response that is a success where the belief is wrong that it is a refusal."""
    status, headers, body = response
    wrongly = status != 200 and any(code in body for belief, code in _REFUSALS.items() if wrong.is_wrong(belief))
    return (200, headers, b"{}") if wrongly else response


def _dated_otherwise(body: bytes) -> bytes:
    answer = json.loads(body)
    for each in answer.get("Parameters", ()):
        each["LastModifiedDate"] -= 60
    return json.dumps(answer).encode()


def _deleted_before(action: str, request: dict[str, Any]) -> gateway.Response | None:
    if not wrong.is_wrong("recreation"):
        _deleted.clear()
    elif action == "DeleteParameters":
        _deleted.update((get_region(), name) for name in request["Names"])
    if action == "PutParameter" and (get_region(), request["Name"]) in _deleted:
        return _refusal("ParameterAlreadyExists", "The parameter already exists.")
    return None


def error(action: str, request: dict[str, Any]) -> gateway.Response | None:
    """The error that AWS would answer; None if it would serve the request."""
    try:
        if len(request.get("Names", ())) > _WRONG_BATCH and wrong.is_wrong("batches"):
            return _refusal("ValidationException", "There are too many names.")
        found = refusal(action, request, stored, region=get_region(), account=get_account_id())
    except (KeyError, TypeError, AttributeError):
        return None  # Malformed: the emulator's to answer.
    if found is None:
        return None
    return _refusal(*found)


def _refusal(code: str, message: str) -> gateway.Response:
    body = json.dumps({"__type": code, "message": message})
    return 400, {"Content-Type": "application/x-amz-json-1.1"}, body.encode()


def stored(name: str) -> Stored | None:
    """What the emulator has under that name, in the request's account and region."""
    found: dict[str, Any] | None = ssm._parameters.get(name)
    if found is None:
        return None
    return Stored(found["Type"], found["Tier"], frozenset(ssm._tags.get(found["ARN"]) or ()))


def tier(request: dict[str, Any]) -> str:
    """What becomes of Intelligent-Tiering, which is no tier of a stored parameter."""
    found = stored(request["Name"])
    large = len(request["Value"].encode()) > STANDARD_BYTES
    return "Advanced" if large or (found and found.tier == "Advanced") else "Standard"


def parameters(account: str, part: str) -> list[dict[str, Any]]:
    """An account's parameters in all regions whose names have a part, with their tags, for JSON."""
    return [
        {
            "region": region,
            "name": name,
            "value": found["Value"],
            "tags": dict(ssm._tags.get_scoped(account, region, found["ARN"]) or {}),
        }
        for (owner, region, name), found in list(ssm._parameters._data.items())
        if owner == account and part in name
    ]
