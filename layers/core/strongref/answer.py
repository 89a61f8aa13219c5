"""Answers to CloudFormation: built whole, encoded and measured before anything is sent. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from strongref.errors import REASON_LIMIT, StrongRefError, cut, some

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref.event import Event

ANSWER_LIMIT = 4096
"""Bytes of the whole body (AWS: CloudFormation User Guide, custom resource response objects)."""

PHYSICAL_ID_LIMIT = 1024
"""Bytes of a physical id (the same)."""


class Status(StrEnum):
    """How an event ended."""

    SUCCESS = "SUCCESS"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a use case says to an event that it carried out.

    Attributes:
        physical_id: the resource's; another one than before means that the resource was replaced.
        data: what `Fn::GetAtt` may ask for.
        reason: a notice for the stack's events, if there is something to say.
    """

    physical_id: str
    data: Mapping[str, object] = field(default_factory=dict, repr=False)
    reason: str = ""


class AnswerTooLargeError(StrongRefError):
    """What an import would return does not fit into an answer.

    Attributes:
        size: of the answer, in bytes.
        names: what to take out for the rest to fit, largest first.
    """

    def __init__(self, size: int, names: list[str]) -> None:
        super().__init__(size, names)
        self.size = size
        self.names = names

    def __str__(self) -> str:
        return (
            f"The values are too large together for CloudFormation: an answer of {self.size} bytes, {ANSWER_LIMIT} are "
            f"allowed. Take {some(self.names)} out into another Import, or use {{{{resolve:ssm:…}}}} for them with "
            "Strength and Names as they are there. Nothing was claimed."
        )


def encode(event: Event, status: Status, answer: Answer) -> bytes:
    """The whole body, with the event's ids, whatever the answer holds.

    Raises:
        AnswerTooLargeError: it is over `ANSWER_LIMIT` bytes.
    """
    body = {
        "Status": status.value,
        "Reason": cut(answer.reason, REASON_LIMIT) or ("See the function's log." if status is Status.FAILED else ""),
        "PhysicalResourceId": fit_physical_id(answer.physical_id),
        "StackId": event.stack,
        "RequestId": event.request_id,
        "LogicalResourceId": event.logical_id,
        "NoEcho": False,
        "Data": dict(answer.data),
    }
    encoded = _json(body)
    if len(encoded) <= ANSWER_LIMIT:
        return encoded
    if not answer.data:  # a reason in a script that takes six bytes a character
        over = len(encoded) - ANSWER_LIMIT
        body["Reason"] = cut(str(body["Reason"]), max(1, len(str(body["Reason"])) - over))
        return _json(body)
    raise AnswerTooLargeError(len(encoded), _too_many(answer.data, len(encoded) - ANSWER_LIMIT))


def check_size(event: Event, physical_id: str, data: Mapping[str, object]) -> None:
    """Whether an answer with these attributes would fit: asked before anything is done for it.

    Raises:
        AnswerTooLargeError: it would not.
    """
    encode(event, Status.SUCCESS, Answer(physical_id, data))


def fit_physical_id(physical_id: str) -> str:
    """A physical id that CloudFormation takes: not empty, and not too long."""
    return physical_id.encode()[:PHYSICAL_ID_LIMIT].decode(errors="ignore") or "strongref"


def _json(body: Mapping[str, object]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()


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
