"""JSON values: their type, and numbers out of text."""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
Primitive: TypeAlias = "str | int | float | bool | None"

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", re.ASCII)
"""As JSON has them (RFC 8259, 6)."""

EXACT = 2**53 - 1
"""Larger whole numbers do not get through cdk8s as they are: its numbers are JavaScript's (Number.MAX_SAFE_INTEGER)."""


def number(text: str) -> int | float | None:
    """The number that a text is; a whole one without a fraction. None if it is none, or none that cdk8s can write."""
    found = _NUMBER.fullmatch(text)
    if not found:
        return None
    if found[1] or found[2]:
        fraction = float(text)
        return fraction if isfinite(fraction) else None
    digits = len(str(EXACT)) + 1
    whole = int(text) if len(text) <= digits else EXACT + 1
    return whole if abs(whole) <= EXACT else None
