"""The environment of the process that resolves: `${env:NAME}`."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from strongref_manifests.errors import NoSuchVariableError
from strongref_manifests.tokens import ENV, TokenSource, matched

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref_manifests.tokens import Token

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class EnvironmentSource(TokenSource):
    scheme = ENV

    def __init__(self, variables: Mapping[str, str] = os.environ) -> None:
        self._variables = variables

    def fetch(self, token: Token) -> str:
        """The variable's value, which may be empty."""
        name = matched(token, _NAME)[0]
        if name not in self._variables:
            raise NoSuchVariableError(name)
        value = self._variables[name]
        if any("\ud800" <= character <= "\udfff" for character in value):  # bytes that are no UTF-8
            raise NoSuchVariableError(name, "is no text in UTF-8")
        return value
