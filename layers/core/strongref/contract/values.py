"""Values: what can be exported, how a nested map becomes keys, and how a value becomes a parameter. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from strongref.contract.names import MAX_LEVELS, Key, is_level
from strongref.errors import BadRequestError, UndecryptableError
from strongref.grouping import grouped
from strongref.text import NAMES_LIMIT, attribute_name, cut, some

MAX_BYTES = 8192
"""Of an advanced parameter's value (AWS: PutParameter, Value)."""


class ParameterType(StrEnum):
    STRING = "String"
    STRING_LIST = "StringList"
    SECURE = "SecureString"


@dataclass(frozen=True, slots=True)
class Value:
    """A value to store: its text as SSM keeps it, and the type of its parameter. Never shown."""

    type: ParameterType
    text: str = field(repr=False)  # empty only if it cannot be decrypted
    locked: UndecryptableError | None = field(default=None, compare=False)  # why it cannot

    @property
    def is_secure(self) -> bool:
        return self.type is ParameterType.SECURE

    @property
    def attribute(self) -> str | list[str]:
        """What `Fn::GetAtt` gives: a list for a list."""
        return self.text.split(",") if self.type is ParameterType.STRING_LIST else self.text


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as read, decrypted if possible. `version` and `modified` together name one life and state of it."""

    name: str
    type: ParameterType
    text: str = field(repr=False)
    version: int = 1
    modified: str = ""  # LastModifiedDate, ISO 8601, UTC, with the precision that SSM gives
    locked: UndecryptableError | None = field(default=None, compare=False)  # why there is no text, if there is none

    @property
    def is_secure(self) -> bool:
        return self.type is ParameterType.SECURE

    @property
    def value(self) -> Value:
        return Value(self.type, self.text, self.locked)


def parse_values(prop: str, given: object, secure: Iterable[str]) -> dict[Key, Value]:
    """Flatten a map of strings, lists of strings and maps into keys and values.

    Values of `secure` keys, and in maps of these names, become SecureStrings.

    Raises:
        BadRequestError: naming the key, what it must be, and what was given; never the value.
    """
    if not isinstance(given, dict):
        raise BadRequestError(prop, f"must be a map of names to values, got {_came(given)}")
    leaves = dict(_leaves(prop, (), given))
    secure = dict.fromkeys(secure)
    known = {name for key in leaves for name in _itself_and_above(key)}
    unknown = [name for name in secure if name not in known]
    if unknown:
        names = cut(some(map(attribute_name, unknown)), NAMES_LIMIT)
        problem = f"must be keys of {prop}, with dots between levels, got {names}"
        raise BadRequestError("SecureKeys", problem)
    return {
        key: _value(f"{prop}.{attribute_name(key)}", leaf, any(name in secure for name in _itself_and_above(key)))
        for key, leaf in sorted(leaves.items())
    }


def select(names: Iterable[str] | None, keys: Iterable[Key]) -> dict[str, list[Key]]:
    """Which keys each name means: the key itself and all below it. Without names, every key means itself.

    A name that means nothing has an empty list.
    """
    keys = sorted(keys)
    if names is None:
        return {key: [key] for key in keys}
    meant = grouped((name, key) for key in keys for name in _itself_and_above(key))
    return {name: list(meant.get(name, ())) for name in names}


def levels(name: str) -> list[str]:
    """The levels of a key, spelled with `/` or with dots between them."""
    return name.replace("/", ".").split(".")


def check_levels(prop: str, levels: Iterable[str]) -> None:
    """Check that levels can stand in a parameter's name; raises `BadRequestError` if one of them cannot."""
    levels = list(levels)
    if "" in levels:
        problem = f"have no empty level, got {'.'.join(levels)[:60]!r}" if any(levels) else "not be empty"
        raise BadRequestError(prop, f"must {problem}")
    for level in levels:
        if not is_level(level):
            raise BadRequestError(prop, f"must consist of letters, digits, _ and -, got {level[:60]!r}")
    if len(levels) > MAX_LEVELS:
        raise BadRequestError(prop, f"must be at most {MAX_LEVELS} levels deep, got {len(levels)}")


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
                raise BadRequestError(where, "must hold a value, got an empty map; leave it out or give it a value")
            yield from _leaves(prop, levels, below)
        else:
            yield Key("/".join(levels)), below


def _value(where: str, leaf: object, secure: bool) -> Value:
    if isinstance(leaf, list):
        if secure:
            problem = "must be a string to be secure, got a list; join its items, or remove it from SecureKeys"
            raise BadRequestError(where, problem)
        return _list(where, leaf)
    if not isinstance(leaf, str):
        raise BadRequestError(where, f"must be a string, a list of strings or a map, got {_came(leaf)}")
    return Value(ParameterType.SECURE if secure else ParameterType.STRING, _fit(where, leaf))


def _list(where: str, items: list[object]) -> Value:
    if not items:
        raise BadRequestError(where, "must have an item, got an empty list; leave it out or give it an item")
    for number, item in enumerate(items, start=1):
        if not isinstance(item, str):
            raise BadRequestError(where, f"must be a list of strings, got {_came(item)} as item {number}")
        if not item:
            raise BadRequestError(where, f"must have no empty items, got one as item {number}")
        if "," in item:
            problem = f"must have items without commas, got one in item {number}: a StringList splits there"
            raise BadRequestError(where, f"{problem}. Export the items as a map")
        if item != item.strip():
            raise BadRequestError(where, f"must have items without white space around them, got some in item {number}")
    return Value(ParameterType.STRING_LIST, _fit(where, ",".join(str(item) for item in items)))


def _fit(where: str, text: str) -> str:
    if not text:
        raise BadRequestError(where, "must not be empty: Parameter Store holds no empty value")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise BadRequestError(where, "holds half a character (a lone surrogate), which cannot be stored") from None
    if size > MAX_BYTES:
        raise BadRequestError(where, f"must be at most {MAX_BYTES} bytes, got {size}: a parameter holds no more")
    if "{{" in text:
        raise BadRequestError(where, "holds '{{', which Parameter Store takes for a reference and refuses")
    return text


def _came(given: object) -> str:
    names = {dict: "a map", list: "a list", str: "a string", type(None): "nothing", bool: "a boolean"}
    return names.get(type(given), "a number" if isinstance(given, int | float) else type(given).__name__)
