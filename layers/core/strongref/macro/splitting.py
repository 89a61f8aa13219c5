"""Which names one Import can answer with: CloudFormation takes 4,096 bytes, and values are not known here. Pure.

Names are dealt out by their hashes: as long as all fit they stay together, else they are halved by the next bit of
their hash, and so on. So a name that comes moves others only where it made one Import too large, and which Import a
name is in follows from the names alone, not from the order in which they came.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

from strongref.contract.response import RESPONSE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable

VALUE_BYTES = 256
"""What a value is taken to have at most, unless the template says otherwise: most ARNs have about 100."""

ENVELOPE_BYTES = 800
"""Of an answer, beside its values: ids of a stack and of a resource, in which names of at most 128 characters stand."""

DATA_BYTES = RESPONSE_LIMIT - ENVELOPE_BYTES

_AROUND = len('"":"",')
"""Bytes of an attribute in the answer's JSON, beside its name and its value."""

_BRACES = len("{}") - len(",")
"""Bytes around all of them: after the last there is no comma."""


def split(names: Iterable[str], value_bytes: int | Mapping[str, int] = VALUE_BYTES) -> dict[str, list[str]]:
    """The names in parts that fit, each sorted.

    Args:
        names: of exports, as an answer has them.
        value_bytes: what a value has at most; or what each has, by name, where values are known.

    Returns:
        The parts by what tells them apart: bits, without zeros at the end. The first is called by none at all.
    """
    ordered = sorted(set(names))
    values = value_bytes if isinstance(value_bytes, Mapping) else dict.fromkeys(ordered, value_bytes)
    sizes = {name: len(name.encode()) + values[name] + _AROUND for name in ordered}
    return {bits.rstrip("0"): part for bits, part in _halved("", ordered, sizes)}


def _halved(bits: str, names: list[str], sizes: Mapping[str, int]) -> list[tuple[str, list[str]]]:
    size = _BRACES + sum(sizes[name] for name in names)
    if len(names) <= 1 or size <= DATA_BYTES:
        return [(bits, names)] if names else []
    halves: dict[str, list[str]] = {"0": [], "1": []}
    for name in names:
        halves[_bits(name)[len(bits)]].append(name)
    return [part for bit, half in halves.items() for part in _halved(bits + bit, half, sizes)]


def _bits(name: str) -> str:
    return f"{int.from_bytes(sha256(name.encode()).digest(), 'big'):0256b}"
