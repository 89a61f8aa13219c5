"""Custom resources' answers, held to CloudFormation's rules, which the emulator does not know."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

PATH = "/_ministack/cfn-response/"
LIMIT = 4096
_REQUIRED = ("Status", "PhysicalResourceId", "StackId", "RequestId", "LogicalResourceId")


@dataclass(frozen=True)
class Answer:
    """One PUT to a response URL: the token in it tells the request that it answers."""

    token: str
    size: int
    text: str
    body: Any
    violations: list[str]


_answers: list[Answer] = []


def take(token: str, body: bytes) -> bool:
    """Record an answer; whether CloudFormation would read it at all."""
    parsed = _parsed(body)
    _answers.append(Answer(token, len(body), body.decode(errors="replace"), parsed, violations(parsed, len(body))))
    return len(body) <= LIMIT


def violations(body: object, size: int) -> list[str]:
    """Where an answer breaks the rules."""
    found = [f"{size} bytes, {LIMIT} are allowed"] if size > LIMIT else []
    if not isinstance(body, dict):
        return [*found, "no JSON object"]
    found += [f"no {name}" for name in _REQUIRED if not isinstance(body.get(name), str) or not body[name]]
    if body.get("Status") not in ("SUCCESS", "FAILED"):
        found.append("Status is neither SUCCESS nor FAILED")
    if body.get("Status") == "FAILED" and not body.get("Reason"):
        found.append("FAILED without Reason")
    if len(str(body.get("PhysicalResourceId", "")).encode()) > 1024:
        found.append("PhysicalResourceId over 1 KB")
    return found


def failed_create(stack: str, logical_id: str) -> str | None:
    """The physical id in the last answer of a resource that failed; None if it answered nothing."""
    for answer in reversed(_answers):
        body = answer.body if isinstance(answer.body, dict) else {}
        if body.get("StackId") == stack and body.get("LogicalResourceId") == logical_id:
            return body.get("PhysicalResourceId") if body.get("Status") == "FAILED" else None
    return None


def recorded(part: str) -> list[dict[str, Any]]:
    """The answers so far with this part in token or body, for JSON, each with the number of those with its token.

    More than one is an error. A run has thousands of them: to send all would take the emulator longer than all else.
    """
    counts = Counter(answer.token for answer in _answers)
    found = (answer for answer in _answers if part in answer.token or part in answer.text)
    return [
        {"token": x.token, "size": x.size, "body": x.body, "violations": x.violations, "count": counts[x.token]}
        for x in found
    ]


def _parsed(body: bytes) -> object:
    try:
        parsed: object = json.loads(body)
    except ValueError:
        return None
    return parsed
