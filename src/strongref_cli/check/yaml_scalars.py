"""What text without quotes is for CloudFormation, which reads YAML 1.1: `012` is 10, `yes` is true, `1:30` is 90. Pure.

PyYAML reads the same version. What CloudFormation makes of numbers with a fraction, and of times, is not documented.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import TYPE_CHECKING

import yaml

from strongref_cli.check.unknown import SourceKind, unknown_of

if TYPE_CHECKING:
    from strongref_cli.check.unknown import Evaluated

_EXPONENT = re.compile(r"[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+")
"""A number for some readers of YAML 1.1, and text for others."""


def plain(text: str) -> Evaluated:
    """The value of a scalar that stands without quotes; unknown, though always the same, if its text may be another."""
    try:
        found = None if _EXPONENT.fullmatch(text) else yaml.safe_load(text)
    except (yaml.YAMLError, ValueError):  # `2026-13-45` looks like a date
        found = None
    if isinstance(found, bool | int):
        return found
    is_as_written = str(found) == text and not isinstance(found, datetime)
    if isinstance(found, str | float | date) and is_as_written:
        return text
    return unknown_of(SourceKind.FIXED, f"{text} without quotes", {"plain": text})
