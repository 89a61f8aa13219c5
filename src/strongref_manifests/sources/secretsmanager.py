"""Secrets Manager: `${secret:NAME}` is a secret's text, `${secret:NAME:JSON_KEY}` one field of the object that it is.

A name in double quotes may end as if a region followed: `${secret:"db@eu-west-1"}`. Instead of a name there may be an
ARN, as in the valueFrom of a container's secrets in Amazon ECS.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

from strongref.arns import Arn
from strongref.aws.clients import Clients
from strongref.memo import Memo
from strongref_manifests.errors import SecretNotReadError
from strongref_manifests.tokens import SECRET, Token, TokenSource, matched
from strongref_toolkit.errors import AwsCallError

if TYPE_CHECKING:
    from strongref_toolkit.aws import Aws, Where
    from strongref_toolkit.json_values import Json

_ARN = r"arn:[a-z-]+:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]+"
_QUOTED = r"\"(?:[^\"\\]|\\.)+\""
_REFERENCE = re.compile(rf"(?P<name>{_ARN}|[A-Za-z0-9/_+=.@-]+|{_QUOTED})(?::(?P<key>[^:\"]+|{_QUOTED}))?")

_ABSENT = "ResourceNotFoundException"

_DEEPEST = 100
"""Levels of a field that is a list or a map."""

_TOO_DEEP = "its JSON is nested too deeply"


class SecretSource(TokenSource):
    scheme = SECRET

    def __init__(self, aws: Aws) -> None:
        self._aws = aws
        self._texts: Memo[tuple[Where, str], str] = Memo()

    def fetch(self, token: Token) -> Json:
        """The secret's text, or what its JSON has under the key."""
        given = matched(token, _REFERENCE)
        name, key = _unquoted(given["name"]), given["key"]
        arn = Arn.parse(name)
        where = self._aws.where(token.region or (arn.region if arn else None), token.account)
        text = self._texts.get((where, name), lambda: self._read(where, name))
        if key is None:
            return text
        return _field(text, _unquoted(key), name, where.region)

    def _read(self, where: Where, name: str) -> str:
        try:
            answer = self._aws.call(where, "GetSecretValue", f"secret {name}", Clients.secrets, SecretId=name)
        except AwsCallError as error:
            if error.code != _ABSENT:
                raise
            problem = "it does not exist, or is about to be deleted; check its name, region and account"
        else:
            if "SecretString" in answer:
                text: str = answer["SecretString"]
                return text
            problem = "it is binary, which a manifest cannot hold"
        raise SecretNotReadError(name, where.region, problem)


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text


def _field(text: str, key: str, name: str, region: str) -> Json:
    held: Json = None
    problem = "it is no JSON object, so it has no keys; leave the key out"
    try:
        held = json.loads(text)
    except RecursionError:
        problem = _TOO_DEEP
    except ValueError:  # its text would be in the error
        pass
    if not isinstance(held, dict):
        raise SecretNotReadError(name, region, problem)
    if key not in held:
        raise SecretNotReadError(name, region, f"its JSON object has no key {key}")
    value: Json = held[key]
    if unfit := _unfit(value):
        raise SecretNotReadError(name, region, unfit)
    return value


def _unfit(value: Json, depth: int = 0) -> str | None:
    """Why a value cannot be written: Python reads more than JSON has, and deeper than it writes."""
    if isinstance(value, float) and not math.isfinite(value):
        return "it has a number there that is too large, or none"
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if below and depth == _DEEPEST:
        return _TOO_DEEP
    return next((unfit for each in below if (unfit := _unfit(each, depth + 1))), None)
