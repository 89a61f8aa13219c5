"""The sources of the schemes that are resolved only on demand: strongref's exports, parameters, secrets, variables."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from strongref.arns import Arn
from strongref.aws.clients import Clients
from strongref.contract.names import Producer
from strongref.contract.values import ParameterType, Value
from strongref.errors import StrongRefError
from strongref.macro.template import too_deep
from strongref.memo import Memo
from strongref.protocol.ports import BATCH
from strongref.text import some
from strongref_manifests.errors import NoSuchParameterError, NoSuchVariableError, SecretNotReadError
from strongref_manifests.tokens import ENV, EXPORT, SECRET, SSM, Token, TokenSource, matched
from strongref_toolkit.errors import AwsCallError, SecureValueError
from strongref_toolkit.json_values import Json, values_in

if TYPE_CHECKING:
    from strongref_toolkit.aws import Aws, Where
    from strongref_toolkit.published_exports import PublishedExports

_EXPORT = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\.([A-Za-z0-9_-]+(?:[./][A-Za-z0-9_-]+)*)")
_PARAMETER = re.compile(r"[A-Za-z0-9_.\-/]+(?::[A-Za-z0-9_.\-]+)?")
_ARN = r"arn:[a-z-]+:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]+"
_QUOTED = r"\"(?:[^\"\\]|\\.)+\""
_SECRET = re.compile(rf"(?P<name>{_ARN}|[A-Za-z0-9/_+=.@-]+|{_QUOTED})(?::(?P<key>[^:\"]+|{_QUOTED}))?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_DENIED = frozenset({"AccessDeniedException", "AccessDenied", "InvalidKeyId"})
"""Codes by which one parameter that may not be read, or not decrypted, fails a whole call."""

_ABSENT = "ResourceNotFoundException"

_TOO_DEEP = "its JSON is nested too deeply"


class ExportSource(TokenSource):
    """What stacks export by strongref: `${export:STACK.KEY}`, read as a weak import reads it, and not claimed.

    `@REGION` and `#ACCOUNT` are the exporting stack's, as in the `From` of an Import. The values are read where the run
    is: in its own region and the caller's own account. A name of a map stands for the map, with all that is below it.
    """

    scheme = EXPORT

    def __init__(self, aws: Aws, exports: PublishedExports) -> None:
        self._aws = aws  # knows the caller's own account, and the region of the exports
        self.exports = exports

    def fetch(self, token: Token) -> Json:
        """The export's value, as `PublishedExports.value`."""
        stack, key = matched(token, _EXPORT).groups()
        region = self._aws.where(token.region, None).region
        producer = Producer(token.account or self._aws.accounts.own, region, stack)
        return self.exports.value(producer, key.replace(".", "/"), str(token))


class ParameterSource(TokenSource):
    """Parameter Store: `${ssm:NAME}`, ten of them a call; a StringList is a list.

    A name may be followed by a version or a label, as in `${ssm:/site/domain:3}`; that takes a call of its own.
    """

    scheme = SSM

    def __init__(self, aws: Aws, *, sensitive: bool = False) -> None:
        """Make one, for one run: SecureStrings are refused unless `sensitive` values may be read."""
        self._aws = aws
        self._sensitive = sensitive
        self._known: dict[tuple[Where, str], Value | StrongRefError] = {}

    def prefetch(self, tokens: Iterable[Token]) -> None:
        """Read the parameters of all tokens, in tens."""
        wanted: dict[Where, list[str]] = {}
        for token in tokens:
            if _PARAMETER.fullmatch(token.reference):
                with suppress(StrongRefError):  # `fetch` reports it
                    where = self._aws.where(token.region, token.account)
                    wanted.setdefault(where, []).append(token.reference)
        for where, names in wanted.items():
            unknown = [name for name in dict.fromkeys(names) if (where, name) not in self._known]
            rest = iter(name for name in unknown if ":" not in name)
            while batch := list(islice(rest, BATCH)):
                self._read(where, batch)
            for name in unknown:  # Several versions of one parameter look the same in a response.
                if ":" in name:
                    self._read(where, [name])

    def fetch(self, token: Token) -> Json:
        name = matched(token, _PARAMETER)[0]
        self.prefetch([token])
        found = self._known[self._aws.where(token.region, token.account), name]
        if isinstance(found, StrongRefError):
            raise found
        if found.is_secure and not self._sensitive:
            raise SecureValueError(str(token))
        return found.attribute

    def _read(self, where: Where, names: list[str]) -> None:
        wanted = {"Names": names, "WithDecryption": self._sensitive}
        try:
            answer = self._aws.call(where, "GetParameters", some(names, most=1), Clients.ssm, **wanted)
        except StrongRefError as error:
            if isinstance(error, AwsCallError) and error.code in _DENIED and len(names) > 1:
                for name in names:  # One that may not be read fails all that are asked for with it.
                    self._read(where, [name])
            else:
                self._known |= {(where, name): error for name in names}
        else:
            self._known |= {(where, name): NoSuchParameterError(name, where.region) for name in names}
            for each in answer["Parameters"]:
                asked = names[0] if len(names) == 1 else each["Name"]
                self._known[where, asked] = Value(ParameterType(each["Type"]), each["Value"])


class SecretSource(TokenSource):
    """Secrets Manager: `${secret:NAME}` is a secret's text, `${secret:NAME:JSON_KEY}` a field of the object that it is.

    A name in double quotes may end as if a region followed: `${secret:"db@eu-west-1"}`. Instead of a name there may be
    an ARN, as in the valueFrom of a container's secrets in Amazon ECS.
    """

    scheme = SECRET

    def __init__(self, aws: Aws) -> None:
        self._aws = aws
        self._texts: Memo[tuple[Where, str], str] = Memo()

    def fetch(self, token: Token) -> Json:
        """The secret's text, or what its JSON has under the key."""
        given = matched(token, _SECRET)
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
    if isinstance(held, dict):
        value: Json = held.get(key)
        if key not in held:
            problem = f"its JSON object has no key {key}"
        elif too_deep(value):
            problem = _TOO_DEEP
        elif any(isinstance(each, float) and not math.isfinite(each) for _, each in values_in(value)):
            problem = "it has a number there that is too large, or none"
        else:
            return value
    raise SecretNotReadError(name, region, problem)


class EnvironmentSource(TokenSource):
    """`${env:NAME}`: the environment of the process that resolves."""

    scheme = ENV

    def fetch(self, token: Token) -> str:
        """The variable's value, which may be empty."""
        name = matched(token, _VARIABLE)[0]
        if name not in os.environ:
            raise NoSuchVariableError(name)
        value = os.environ[name]
        if any("\ud800" <= character <= "\udfff" for character in value):  # bytes that are no UTF-8
            raise NoSuchVariableError(name, "is no text in UTF-8")
        return value
