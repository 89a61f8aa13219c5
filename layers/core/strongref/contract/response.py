"""Responses to CloudFormation: encoded and measured before anything is sent. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from strongref.errors import RejectedError
from strongref.text import REASON_LIMIT, cut, some

if TYPE_CHECKING:
    from strongref.contract.event import Event, ResponseTarget

RESPONSE_LIMIT = 4096
"""Bytes of the whole body (AWS: CloudFormation User Guide, custom resource response objects)."""

PHYSICAL_ID_LIMIT = 1024
"""Bytes of a physical ID, which may not be empty (the same source)."""

MIN_REASON = 100
"""Bytes of a failure's reason that the data must leave room for."""


class ResponseStatus(StrEnum):
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Response:
    """The result of a use case."""

    physical_id: str  # the resource's physical ID. A different one than before means that the resource was replaced
    data: Mapping[str, object] = field(default_factory=dict, repr=False)  # the attributes for `Fn::GetAtt`
    reason: str = ""  # an optional notice, shown in the stack's events


class ResponseTooLargeError(RejectedError):
    size: int
    names: list[str]  # the attributes without which the rest fits, largest first
    alone: Collection[str] = ()  # those of them that do not fit into any response

    def __str__(self) -> str:
        others = cut(some(name for name in self.names if name not in self.alone), REASON_LIMIT // 4)
        alone = cut(some(self.alone), REASON_LIMIT // 4)
        single = f" {alone} cannot be imported: a single value is too large. Export it in parts." if alone else ""
        move = f" Move {others} to another Import resource." if others else ""
        return (
            f"The values are too large for one CloudFormation response: {self.size} bytes, the limit is "
            f"{RESPONSE_LIMIT}.{single}{move} Or read the value with {{{{resolve:ssm:…}}}}, which claims nothing. "
            "Nothing was claimed."
        )


def encode(event: Event | ResponseTarget, status: ResponseStatus, response: Response) -> bytes:
    """The whole body. A notice is shortened to make room for the data.

    Raises:
        ResponseTooLargeError: it has more than `RESPONSE_LIMIT` bytes.
        TypeError: the data cannot be encoded as JSON.
        ValueError: the same.
    """
    failed = status is ResponseStatus.FAILED
    reason = cut(response.reason.strip(), REASON_LIMIT) or ("See the function's log." if failed else "")
    physical_id = response.physical_id.encode(errors="replace")[:PHYSICAL_ID_LIMIT].decode(errors="ignore")
    body = {
        "Status": status.value,
        "Reason": "",
        "PhysicalResourceId": physical_id or "strongref",
        "StackId": event.stack,
        "RequestId": event.request_id,
        "LogicalResourceId": event.logical_id,
        "NoEcho": False,
        "Data": dict(response.data),
    }
    room = RESPONSE_LIMIT - len(as_json(body))
    least = min(_cost(reason), MIN_REASON) if failed else 0
    if room < least:
        largest = _largest(response.data, least - room)
        empty = RESPONSE_LIMIT - least - len(as_json(body | {"Data": {}}))
        alone = [name for name in largest if len(as_json({name: response.data[name]})) - len("{}") > empty]
        raise ResponseTooLargeError(RESPONSE_LIMIT - room + least, largest, alone)
    return as_json(body | {"Reason": _shorten(reason, room)})


def check_size(event: Event, physical_id: str, data: Mapping[str, object]) -> None:
    """Raise `ResponseTooLargeError`, before anything is changed, if a response with these attributes does not fit."""
    encode(event, ResponseStatus.SUCCESS, Response(physical_id, data))


def as_json(value: object) -> bytes:
    """A value as it is in a response: what is measured is what CloudFormation gets."""
    # UTF-8 cannot encode half of a surrogate pair; JSON's own escape can. NaN is not JSON.
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode(errors="backslashreplace")


def _cost(text: str) -> int:
    return len(as_json(text)) - len('""')


def _shorten(text: str, room: int) -> str:
    """The start of a text that fits into `room` bytes; one escaped character takes up to 6."""
    while _cost(text) > room:
        text = cut(text, len(text) - 1) if len(text) > 1 else ""
    return text


def _largest(data: Mapping[str, object], over: int) -> list[str]:
    """The largest attributes without which the rest fits, given the bytes that are over the limit."""
    sizes = {name: len(as_json({name: value})) - 1 for name, value in data.items()}
    names = []
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        if over <= 0:
            break
        names.append(name)
        over -= sizes[name]
    return names
