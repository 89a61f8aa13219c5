"""Answers to CloudFormation: built whole, encoded and measured before anything is sent. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from strongref.errors import ErrorMetric, StrongRefError
from strongref.text import REASON_LIMIT, cut, some

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref.contract.event import Event, ResponseTarget

RESPONSE_LIMIT = 4096
"""Bytes of the whole body (AWS: CloudFormation User Guide, custom resource response objects)."""

PHYSICAL_ID_LIMIT = 1024
"""Bytes of a physical id (the same)."""

REASON_AT_LEAST = 100
"""Bytes of a failure's reason that data has to leave room for."""


class ResponseStatus(StrEnum):
    """How an event ended."""

    SUCCESS = "SUCCESS"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Response:
    """What a use case says to an event that it carried out.

    Attributes:
        physical_id: the resource's; another one than before means that the resource was replaced.
        data: what `Fn::GetAtt` may ask for.
        reason: a notice for the stack's events, if there is something to say.
    """

    physical_id: str
    data: Mapping[str, object] = field(default_factory=dict, repr=False)
    reason: str = ""


@dataclass(eq=False)
class ResponseTooLargeError(StrongRefError):
    """What an import would return does not fit into an answer.

    Attributes:
        size: of the answer, in bytes.
        names: what to take out for the rest to fit, largest first.
    """

    counted = ErrorMetric.REJECTED

    size: int
    names: list[str]

    def __str__(self) -> str:
        names = cut(some(self.names), REASON_LIMIT - 350)
        return (
            f"The values are too large together for CloudFormation: an answer of {self.size} bytes, {RESPONSE_LIMIT} "
            f"are allowed. Move {names} to another Import resource, or leave them out and use {{{{resolve:ssm:…}}}}, "
            "which claims nothing. Nothing was claimed."
        )


def encode(event: Event | ResponseTarget, status: ResponseStatus, answer: Response) -> bytes:
    """The whole body, with the event's ids, whatever the answer holds. A notice gives way to data.

    Raises:
        ResponseTooLargeError: it is over `RESPONSE_LIMIT` bytes.
        TypeError: its data is no JSON.
        ValueError: the same.
    """
    failed = status is ResponseStatus.FAILED
    reason = cut(answer.reason.strip(), REASON_LIMIT) or ("See the function's log." if failed else "")
    body = {
        "Status": status.value,
        "Reason": "",
        "PhysicalResourceId": fit_physical_id(answer.physical_id),
        "StackId": event.stack,
        "RequestId": event.request_id,
        "LogicalResourceId": event.logical_id,
        "NoEcho": False,
        "Data": dict(answer.data),
    }
    room = RESPONSE_LIMIT - len(_json(body))
    least = min(_cost(reason), REASON_AT_LEAST) if failed else 0
    if room < least:
        raise ResponseTooLargeError(RESPONSE_LIMIT - room + least, _too_many(answer.data, least - room))
    return _json(body | {"Reason": _shorten(reason, room)})


def check_size(event: Event, physical_id: str, data: Mapping[str, object]) -> None:
    """Whether an answer with these attributes would fit: asked before anything is done for it.

    Raises:
        ResponseTooLargeError: it would not.
    """
    encode(event, ResponseStatus.SUCCESS, Response(physical_id, data))


def fit_physical_id(physical_id: str) -> str:
    """A physical id that CloudFormation takes: not empty, and not too long."""
    return physical_id.encode(errors="replace")[:PHYSICAL_ID_LIMIT].decode(errors="ignore") or "strongref"


def _json(body: Mapping[str, object]) -> bytes:
    # Escaped to ASCII: however CloudFormation counts, it does not count more. NaN is no JSON.
    return json.dumps(body, separators=(",", ":"), allow_nan=False).encode()


def _cost(text: str) -> int:
    return len(json.dumps(text)) - len('""')


def _shorten(text: str, room: int) -> str:
    """As much of a text's start as takes so many bytes: up to twelve a character, escaped."""
    while _cost(text) > room:
        text = cut(text, len(text) - 1) if len(text) > 1 else ""
    return text


def _too_many(data: Mapping[str, object], over: int) -> list[str]:
    """The largest attributes without which the rest fits."""
    sizes = {name: len(_json({name: value})) - 1 for name, value in data.items()}
    names = []
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        if over <= 0:
            break
        names.append(name)
        over -= sizes[name]
    return names
