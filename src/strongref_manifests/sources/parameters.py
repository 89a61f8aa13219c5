"""Parameter Store: `${ssm:NAME}`, ten of them a call; a StringList is a list.

A name may be followed by a version or a label, as in `${ssm:/site/domain:3}`; that takes a call of its own.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from strongref.aws.clients import Clients
from strongref.contract.values import ParameterType, Value
from strongref.errors import StrongRefError
from strongref.protocol.ports import BATCH
from strongref.text import some
from strongref_manifests.errors import NoSuchParameterError
from strongref_manifests.tokens import SSM, Token, TokenSource, matched
from strongref_toolkit.errors import AwsCallError, SecureValueError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strongref_toolkit.aws import Aws, Where
    from strongref_toolkit.json_values import Json

_REFERENCE = re.compile(r"[A-Za-z0-9_.\-/]+(?::[A-Za-z0-9_.\-]+)?")

_DENIED = frozenset({"AccessDeniedException", "AccessDenied", "InvalidKeyId"})
"""Codes by which one parameter that may not be read, or not decrypted, fails a whole call."""


class ParameterSource(TokenSource):
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
            if _REFERENCE.fullmatch(token.reference):
                try:
                    where = self._aws.where(token.region, token.account)
                except StrongRefError:  # `fetch` reports it
                    continue
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
        name = matched(token, _REFERENCE)[0]
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
        except AwsCallError as error:
            if len(names) == 1 or error.code not in _DENIED:
                self._known |= {(where, name): error for name in names}
                return
            for name in names:  # One that may not be read fails all that are asked for with it.
                self._read(where, [name])
        except StrongRefError as error:
            self._known |= {(where, name): error for name in names}
        else:
            self._known |= {(where, name): NoSuchParameterError(name, where.region) for name in names}
            for each in answer["Parameters"]:
                asked = names[0] if len(names) == 1 else each["Name"]
                self._known[where, asked] = Value(ParameterType(each["Type"]), each["Value"])
