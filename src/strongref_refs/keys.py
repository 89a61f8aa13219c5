"""Keys that a map in a YAML file may have, declared: what each value must be, and the sentence if it is not. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from strongref.text import NAMES_LIMIT, brief, cut, some

if TYPE_CHECKING:
    import re

SIMILAR = 0.8
"""Similarity of two names of which one is a typo of the other."""

_TRUE, _FALSE = ("y", "yes", "true", "on"), ("n", "no", "false", "off")
"""As in YAML 1.1, by which ACK reads its files."""


@dataclass(frozen=True, slots=True)
class Key:
    """What the value of a key must be. An empty value (None) counts as absent.

    Attributes:
        must_be: in words, as in `a map`.
        accepts: whether a value is that.
        required: whether the key must have a value.
    """

    must_be: str
    accepts: Callable[[Any], bool]
    required: bool = False


Keys: TypeAlias = Mapping[str, Key]


class KeyProblem(NamedTuple):
    """What is wrong with a map.

    Attributes:
        key: at which key; empty if the map itself is wrong.
        problem: as in `must be a map, got a list`.
    """

    key: str
    problem: str


def type_text(value: object) -> str:
    """The type of a value, without the value, which may be a secret: `a string`, `a list`."""
    types: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "true or false"),
        (str, "a string"),
        (Mapping, "a map"),
        ((list, tuple), "a list"),
    )
    return next((text for of, text in types if isinstance(value, of)), "nothing" if value is None else "a number")


def wrong_value(given: Mapping[Any, Any], keys: Keys, shown: Callable[[object], str] = type_text) -> KeyProblem | None:
    """The first value, in the table's order, that is missing or not what it must be.

    Args:
        given: the map.
        keys: the table.
        shown: a wrong value in the text of the problem; by default its type.
    """
    for name, key in keys.items():
        value = given.get(name)
        if key.required if value is None else not key.accepts(value):
            return KeyProblem(name, f"must be {key.must_be}, got {cut(shown(value), NAMES_LIMIT // 2)}")
    return None


def unknown_keys(given: Mapping[Any, Any], keys: Keys) -> KeyProblem | None:
    """What is wrong with a map that has other keys than these."""
    unknown = [str(key) for key in given if key not in keys]
    return KeyProblem("", f"must not have {brief(unknown[:5])}; allowed: {some(keys)}") if unknown else None


def misspelled_key(given: Mapping[Any, Any], keys: Keys) -> KeyProblem | None:
    """What is wrong with a map that may have other keys than these, but none that looks like one of them."""
    for key in given:
        if key not in keys and (close := get_close_matches(str(key), keys, 1, SIMILAR)):
            return KeyProblem(key, f"is not a known key. Did you mean {close[0]}?")
    return None


def is_map(value: object) -> bool:
    return isinstance(value, Mapping)


def is_text(value: object) -> bool:
    return isinstance(value, str)


def is_flag(value: object) -> bool:
    """Whether YAML 1.1 has it for a boolean."""
    return str(value).lower() in (*_TRUE, *_FALSE)


def is_true(value: object) -> bool:
    """What a flag says; an empty one is false."""
    return str(value).lower() in _TRUE


def matches(pattern: re.Pattern[str]) -> Callable[[object], bool]:
    """Whether a value is a text of that form."""
    return lambda value: isinstance(value, str) and bool(pattern.fullmatch(value))


MAP = Key("a map", is_map)
TEXT = Key("a string", is_text)
FLAG = Key("true or false", is_flag)
