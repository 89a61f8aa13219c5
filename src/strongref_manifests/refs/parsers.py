"""Parsers of values in YAML files, for tables of allowed keys (`strongref.contract.properties`). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strongref.contract.properties import Parser, Table, must_be, read
from strongref.errors import BadRequestError
from strongref_toolkit.json_values import type_text

SIMILAR = 0.8
"""Similarity of two names of which one is a typo of the other."""

_TRUE, _FALSE = ("y", "yes", "true", "on"), ("n", "no", "false", "off")
"""As in YAML 1.1, by which ACK reads its files."""


def read_map(given: Mapping[Any, Any], table: Table, within: str, *, others: bool = False) -> dict[str, Any]:
    """The values of a map at the path `within`. An empty value (null) counts as left out; `others` allows other keys.

    Raises:
        BadRequestError: a key is missing, unknown, or not what it must be.
    """
    known = {str(key): value for key, value in given.items() if (value is not None if key in table else not others)}
    return read(known, table, within)


def of_type(kind: type, expected: str) -> Parser:
    """Values of a type; an error names only the type of another one."""

    def parse(prop: str, given: object) -> object:
        if not isinstance(given, kind):
            raise BadRequestError(prop, f"must be {expected}, got {type_text(given)}")
        return given

    return parse


def parse_flag(prop: str, given: object) -> bool:
    """A boolean of YAML 1.1."""
    text = str(given).lower()
    if text not in (*_TRUE, *_FALSE):
        raise must_be(prop, "true or false", given)
    return text in _TRUE
