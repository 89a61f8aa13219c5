"""JSON values: their types, what stands in them, and numbers read from text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import Any, TypeAlias

from strongref.macro.template import entries_in

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
Primitive: TypeAlias = "str | int | float | bool | None"
Path: TypeAlias = "tuple[str | int, ...]"

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", re.ASCII)
"""A number in JSON (RFC 8259, 6)."""

_STEP = re.compile(r'[^\s."\[\]]+')

EXACT = 2**53 - 1
"""The largest integer that cdk8s writes exactly: its numbers are JavaScript's (Number.MAX_SAFE_INTEGER)."""


def path_text(path: Path) -> str:
    """`spec.containers[0].image`; with quotes where a key needs them, `metadata.annotations["example.com/queue"]`."""
    steps = (
        f".{step}" if isinstance(step, str) and _STEP.fullmatch(step) else f"[{json.dumps(step, ensure_ascii=False)}]"
        for step in path
    )
    return "".join(steps).removeprefix(".")


def type_text(value: object) -> str:
    """The type of a value, without the value, which may be a secret: `a string`, `a list`."""
    types: dict[type, str] = {bool: "true or false", str: "a string", Mapping: "a map", list: "a list", tuple: "a list"}
    other = "nothing" if value is None else "a number"
    return next((text for of, text in types.items() if isinstance(value, of)), other)


def mapping(value: object) -> Mapping[str, Any]:
    """A value from a file if it is a map, else an empty map."""
    return value if isinstance(value, Mapping) else {}


JSON_VERSION = 3
"""Of all documents. Within a version, they only gain properties."""


def document_head(as_of: datetime) -> dict[str, Any]:
    """What all documents begin with: their version, and when the command began to read."""
    return {"version": JSON_VERSION, "asOf": time_text(as_of)}


def time_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def document_text(document: Mapping[str, Any], as_of: datetime) -> str:
    """A JSON document for people and programs: a line for each property, and for each element of its arrays.

    `json.dumps` with an indent would not use its encoder in C, and take ten times as long.
    """
    whole = {**document_head(as_of), **document}
    properties = ",\n  ".join(f"{json.dumps(name)}: {_elements(value)}" for name, value in whole.items())
    return f"{{\n  {properties}\n}}\n"


def _elements(value: object) -> str:
    if not (isinstance(value, (list, tuple)) and value and isinstance(value[0], (dict, list, tuple))):
        return json.dumps(value)
    lines = ",\n    ".join(map(json.dumps, value))
    return f"[\n    {lines}\n  ]"


def number(text: str) -> int | float | None:
    """The number that a text is, an integer if it has no fraction; None if it is not one that cdk8s can write."""
    found = _NUMBER.fullmatch(text)
    if not found:
        return None
    if found[1] or found[2]:
        fraction = float(text)
        return fraction if isfinite(fraction) else None
    digits = len(str(EXACT)) + 1
    whole = int(text) if len(text) <= digits else EXACT + 1
    return whole if abs(whole) <= EXACT else None


def texts_in(value: Json, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text in a value, with the keys and positions that lead to it."""
    return ((at, each) for at, each in values_in(value, path) if isinstance(each, str))


def is_within(path: Path, wholes: Iterable[Path]) -> bool:
    """Whether a path is one of these, or leads to a part of one."""
    return any(path[: len(each)] == each for each in wholes)


def values_in(value: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """A value and all in it, in the order in which they are written, with the keys and positions that lead to them."""
    yield path, value
    yield from entries_in(value, path)


def keys_and_values(value: Json, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Every key in a value and every single value, in the order in which they are written, with what leads to it."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield (*path, key), key
            yield from keys_and_values(below, (*path, key))
    elif isinstance(value, list):
        for number, below in enumerate(value):
            yield from keys_and_values(below, (*path, number))
    else:
        yield path, value
