"""Whoever called CloudFormation: it does what a stack needs with their permissions, until its operation has ended."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from ministack.core.iam_actions import identity_denial_message
from ministack.core.iam_evaluator import AuthError, enforce
from ministack.core.responses import get_region
from ministack.core.router import extract_access_key_id

from tests.support.emulator import gateway, wrong

BELIEFS = ("called-via",)

_VIA = "cloudformation.amazonaws.com"
_FORWARDED: dict[str, Any] = {
    "aws:CalledVia": [_VIA],
    "aws:CalledViaFirst": _VIA,
    "aws:CalledViaLast": _VIA,
    "aws:ViaAWSService": "true",
}
"""What the requests have that CloudFormation makes for its caller. AWS: IAM User Guide, global condition keys."""

_key: ContextVar[str] = ContextVar("key", default="")
"""The access key of the request that is being answered. What a request begins (a task, a thread) inherits it."""


def install() -> None:
    """Remember who calls."""
    gateway.around_requests(_known)


async def _known(request: gateway.Request, serve: gateway.Serve) -> gateway.Response:
    _key.set(extract_access_key_id(request.headers, request.query))
    return await serve(request)


def denial(action: str, resource: str) -> str | None:
    """Why CloudFormation may not do something for its caller, as AWS says it; None if it may."""
    forwarded = {} if wrong.is_wrong("called-via") else _FORWARDED
    denied = enforce(_key.get(), action, action.partition(":")[0], get_region(), resource, forwarded)
    if not denied:
        return None
    if isinstance(denied, AuthError):
        return str(denied.message)
    return str(identity_denial_message(action, denied.principal_arn, resource, denied.decision == "Deny"))
