"""Parameter Store's pages, which go on after the last name of the page before, as those of a key-value store do.

The emulator's go on at a position: where a parameter of an earlier page is deleted meanwhile, which tests that run side
by side do all the time, one that was there all along is left out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.emulator import gateway, iam, wrong

if TYPE_CHECKING:
    from collections.abc import Mapping

BELIEFS = ("path-pages",)

_LISTS = ("GetParametersByPath", "DescribeParameters")
_PAGE = 10
_ALL = 1_000_000


def install() -> None:
    """Have the emulator answer with the whole list, and cut the page out of it."""
    gateway.around_service("ssm", _served)


async def _served(request: gateway.Request, serve: gateway.Serve) -> gateway.Response:
    if iam.action_of(request.headers) not in _LISTS:
        return await serve(request)
    asked = iam.parsed(request.body)
    after, size = str(asked.pop("NextToken", "")), int(asked.get("MaxResults", _PAGE))
    whole = json.dumps(asked | {"MaxResults": _ALL}).encode()
    status, sent, text = await serve(request._replace(body=whole))
    return status, sent, _page(text, after, size) if status == 200 else text


def _page(whole: bytes, after: str, size: int) -> bytes:
    """Of an answer the names after that one, at most so many; the token is the last of them."""
    answer = json.loads(whole)
    if wrong.is_wrong("path-pages"):
        begin = int(after or 0)
        rest = answer["Parameters"][begin:]
        more = {"NextToken": str(begin + size)} if len(rest) > size else {}
        return json.dumps(answer | {"Parameters": rest[:size]} | more).encode()
    left = [parameter for parameter in answer["Parameters"] if _name(parameter) > after]
    more = {"NextToken": _name(left[size - 1])} if len(left) > size else {}
    return json.dumps(answer | {"Parameters": left[:size]} | more).encode()


def _name(parameter: Mapping[str, str]) -> str:
    return parameter["Name"]
