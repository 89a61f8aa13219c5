"""Counts the API calls that the suite's parts are built on, by who makes them: a design's cost, measured."""

from __future__ import annotations

from collections import Counter
from typing import Any
from urllib.parse import parse_qs

from ministack.core.iam_evaluator import resolve_caller_identity
from ministack.core.responses import get_region
from ministack.core.router import extract_access_key_id

from tests.support.emulator import gateway, iam

_TARGETS = {"AmazonSSM": "ssm", "CloudApiService": "cloudcontrol", "ResourceGroupsTaggingAPI_20170126": "tagging"}

_counts: Counter[tuple[str, str, str, str]] = Counter()


def install() -> None:
    """Count before IAM: a refused call is a call as well."""
    gateway.around_requests(_counted)


async def _counted(request: gateway.Request, serve: gateway.Serve) -> gateway.Response:
    found = called(request)
    if found:
        _counts[*found, get_region(), caller(extract_access_key_id(request.headers, request.query))] += 1
    return await serve(request)


def called(request: gateway.Request) -> tuple[str, str] | None:
    """Service and action of a call to one of those that are counted; None for any other."""
    target = request.headers.get("x-amz-target", "").partition(".")[0]
    if target in _TARGETS:
        return _TARGETS[target], iam.action_of(request.headers)
    if "/cloudformation/aws4_request" in request.headers.get("authorization", ""):
        form = {**parse_qs(request.body.decode(errors="replace")), **request.query}
        return "cloudformation", form.get("Action", ["?"])[0]
    return None


def caller(access_key: str) -> str:
    """A function's or a user's name; the access key of an account's root."""
    identity = resolve_caller_identity(access_key)
    if not identity or identity["userArn"].endswith(":root"):
        return access_key
    name: str = identity["userArn"].rpartition("/")[2]
    return name


def counts() -> list[dict[str, Any]]:
    """What was counted, for JSON."""
    fields = ("service", "action", "region", "caller", "count")
    return [dict(zip(fields, (*key, count), strict=True)) for key, count in sorted(_counts.items())]


def reset() -> None:
    _counts.clear()
