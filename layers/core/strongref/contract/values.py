"""Values: what may be exported, how a nested map becomes keys, and how a value becomes a parameter. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from strongref.contract.names import MAX_LEVELS, Key, is_level
from strongref.errors import BadRequestError
from strongref.text import NAMES_LIMIT, cut, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MAX_BYTES = 8192
"""Of an advanced parameter's value (AWS: PutParameter, Value)."""


class Kind(StrEnum):
    """A parameter's type, in SSM's words."""

    STRING = "String"
    STRING_LIST = "StringList"
    SECURE = "SecureString"


@dataclass(frozen=True, slots=True)
class Value:
    """A value to store: its text as SSM keeps it, and the type of parameter that it makes. Never shown."""

    kind: Kind
    text: str = field(repr=False)

    @property
    def attribute(self) -> str | list[str]:
        """What `Fn::GetAtt` gives: a list for a list."""
        return self.text.split(",") if self.kind is Kind.STRING_LIST else self.text


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as read, decrypted. `version` and `modified` together name one life and state of it."""

    name: str
    kind: Kind
    text: str = field(repr=False)
    version: int = 1
    modified: str = ""
    """LastModifiedDate, ISO 8601, UTC, with the precision that SSM gives."""

    @property
    def value(self) -> Value:
        return Value(self.kind, self.text)


def parse_values(prop: str, given: object, secure: Iterable[str]) -> dict[Key, Value]:
    """Flatten a map of strings, lists of strings and maps into keys and values.

    Args:
        prop: the property's name, for errors.
        given: what came.
        secure: keys, or names of maps, whose values become SecureStrings.

    Raises:
        BadRequestError: naming the key, what came and what is allowed; never the value.
    """
    if not isinstance(given, dict):
        raise BadRequestError(prop, f"a map of names to values is needed, {_came(given)} came")
    leaves = dict(_leaves(prop, (), given))
    secure = dict.fromkeys(secure)
    known = {name for key in leaves for name in _itself_and_above(key)}
    unknown = [name for name in secure if name not in known]
    if unknown:
        raise BadRequestError(
            "SecureKeys", f"{cut(some(unknown), NAMES_LIMIT)} is not in {prop}; name keys of it, with / between levels"
        )
    return {
        key: _value(f"{prop}.{key.replace('/', '.')}", leaf, any(name in secure for name in _itself_and_above(key)))
        for key, leaf in sorted(leaves.items())
    }


def select(names: Iterable[str] | None, keys: Iterable[Key]) -> dict[str, list[Key]]:
    """Which keys each name means: the key itself and all below it. Without names, every key means itself.

    A name that means nothing is there with an empty list.
    """
    keys = sorted(keys)
    if names is None:
        return {key: [key] for key in keys}
    meant: dict[str, list[Key]] = {}
    for key in keys:
        for name in _itself_and_above(key):
            meant.setdefault(name, []).append(key)
    return {name: list(meant.get(name, ())) for name in names}


def attribute_name(key: Key) -> str:
    """As `Fn::GetAtt` spells it: with dots between levels."""
    return key.replace("/", ".")


def levels(name: str) -> list[str]:
    """The levels of a key, however it is spelled: with `/` or with dots between them."""
    return name.replace("/", ".").split(".")


def check_levels(prop: str, levels: Iterable[str]) -> None:
    """A key's levels are fit to stand in a parameter's name.

    Raises:
        BadRequestError: naming what is not.
    """
    levels = list(levels)
    for level in levels:
        if not is_level(level):
            raise BadRequestError(prop, f"{level[:60]!r} has characters other than letters, digits, _ and -")
    if len(levels) > MAX_LEVELS:
        raise BadRequestError(prop, f"it is {len(levels)} levels deep; at most {MAX_LEVELS} are allowed")


def _itself_and_above(key: str) -> list[str]:
    """A key, and the names of the maps that it is in: `A/B/C`, `A/B` and `A`."""
    levels = key.split("/")
    return ["/".join(levels[:end]) for end in range(len(levels), 0, -1)]


def _leaves(prop: str, above: tuple[str, ...], given: Mapping[str, object]) -> Iterator[tuple[Key, object]]:
    for name, below in given.items():
        levels = (*above, name)
        where = ".".join((prop, *levels))
        check_levels(where, levels)
        if isinstance(below, dict):
            if not below:
                raise BadRequestError(where, "an empty map exports nothing; take it out or give it a value")
            yield from _leaves(prop, levels, below)
        else:
            yield Key("/".join(levels)), below


def _value(where: str, leaf: object, secure: bool) -> Value:
    if isinstance(leaf, list):
        if secure:
            raise BadRequestError(
                where, "a list cannot be secure; join it into one string, or take it out of SecureKeys"
            )
        return _list(where, leaf)
    if not isinstance(leaf, str):
        raise BadRequestError(where, f"a string, a list of strings or a map is needed, {_came(leaf)} came")
    return Value(Kind.SECURE if secure else Kind.STRING, _fit(where, leaf))


def _list(where: str, items: list[object]) -> Value:
    if not items:
        raise BadRequestError(where, "an empty list cannot be stored; take it out or give it an item")
    for number, item in enumerate(items, start=1):
        if not isinstance(item, str):
            raise BadRequestError(where, f"its item {number} is {_came(item)}; only strings are allowed in a list")
        if not item:
            raise BadRequestError(where, f"its item {number} is empty, which a StringList cannot hold")
        if "," in item:
            raise BadRequestError(
                where,
                f"its item {number} holds a comma, which a StringList cannot keep; export the items as a map",
            )
        if item != item.strip():
            raise BadRequestError(
                where, f"its item {number} begins or ends with white space, which a StringList may lose"
            )
    return Value(Kind.STRING_LIST, _fit(where, ",".join(str(item) for item in items)))


def _fit(where: str, text: str) -> str:
    if not text:
        raise BadRequestError(where, "it is empty, and Parameter Store holds no empty value")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise BadRequestError(where, "it holds half a character (a lone surrogate), which cannot be stored") from None
    if size > MAX_BYTES:
        raise BadRequestError(where, f"it is {size} bytes long; a parameter holds at most {MAX_BYTES}")
    if "{{" in text:
        raise BadRequestError(where, "it holds '{{', which Parameter Store takes for a reference and refuses")
    return text


def _came(given: object) -> str:
    names = {dict: "a map", list: "a list", str: "a string", type(None): "nothing", bool: "a boolean"}
    return names.get(type(given), "a number" if isinstance(given, int | float) else type(given).__name__)
