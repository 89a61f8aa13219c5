"""The tagging API: its pages, and the resources of EC2 and Parameter Store, which the emulator leaves out."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING

from ministack.services import tagging as service

from tests.support.emulator import cloudcontrol_network, gateway, iam, wrong

if TYPE_CHECKING:
    from collections.abc import Mapping

BELIEFS = ("tagging-pages", "tagging-lag")

PAGE = 50
_MOST = 100


def install() -> None:
    """Have the emulator answer with the whole list, and cut the page out of it."""
    service._COLLECTORS["ec2"] = cloudcontrol_network.tagged
    service._COLLECTORS["ssm"] = service._collect_ssm
    gateway.around_service("tagging", _served)


async def _served(request: gateway.Request, serve: gateway.Serve) -> gateway.Response:
    if iam.action_of(request.headers) != "GetResources":
        return await serve(request)
    asked = iam.parsed(request.body)
    after, size = asked.pop("PaginationToken", ""), asked.pop("ResourcesPerPage", PAGE)
    if not 1 <= size <= (PAGE if wrong.is_wrong("tagging-pages") else _MOST):
        return _refusal("ResourcesPerPage must be between 1 and 100")
    status, sent, text = await serve(request._replace(body=json.dumps(asked).encode()))
    return status, sent, page(text, b64decode(after).decode(), size) if status == 200 else text


def page(whole: bytes, after: str, size: int) -> bytes:
    """Of an answer the ARNs after that one, at most so many; the token is the last of them."""
    found = [] if wrong.is_wrong("tagging-lag") else sorted(json.loads(whole)["ResourceTagMappingList"], key=_arn)
    left = [each for each in found if _arn(each) > after]
    token = b64encode(_arn(left[size - 1]).encode()).decode() if len(left) > size else ""
    return json.dumps({"ResourceTagMappingList": left[:size], "PaginationToken": token}).encode()


def _arn(mapping: Mapping[str, str]) -> str:
    return mapping["ResourceARN"]


def _refusal(message: str) -> gateway.Response:
    body = json.dumps({"__type": "InvalidParameterException", "Message": message})
    return 400, {"Content-Type": "application/x-amz-json-1.1"}, body.encode()
