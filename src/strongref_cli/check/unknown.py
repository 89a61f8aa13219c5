"""Values that only a deployment knows, and operations on values of which parts may be unknown. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import NamedTuple, TypeAlias

import yaml

from strongref.macro.template import mapped
from strongref.untyped import AnyJson
from strongref_toolkit.intrinsics import joined
from strongref_toolkit.json_values import Json, values_in

_DYNAMIC = re.compile(r"\{\{resolve:([a-z-]+:[^}]*)\}\}")
_FIXED_VERSION = re.compile(r"ssm(?:-secure)?:[^:]+:[0-9]+")
_EXPONENT = re.compile(r"[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+")
"""A number for some readers of YAML 1.1, and text for others."""


class SourceKind(StrEnum):
    """What decides an unknown value."""

    RESOURCE = "resource"
    FIXED = "fixed"
    """It stays: CloudFormation does not change an export that is imported, and zones stay for years."""
    CHANGING = "changing"
    """It may have another value in each deployment."""
    INVALID = "invalid"
    """What CloudFormation would not accept. It counts as what may have another value in each deployment."""


class Source(NamedTuple):
    """Something that an unknown value depends on."""

    kind: SourceKind
    name: str  # a logical ID, or what it is: `parameter Name`
    attribute: str = ""  # of a resource; empty for its `Ref`

    def __str__(self) -> str:
        return f"{self.name}.{self.attribute}" if self.attribute else self.name


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that cannot be computed: its expression with everything in place that is known, and what decides it."""

    expression: Json  # two of them are equal if they have the same value wherever their sources have the same values
    sources: frozenset[Source]
    optional: bool = False  # whether it may be absent altogether (AWS::NoValue)

    def __repr__(self) -> str:  # the expression has values of parameters
        return f"Unknown({', '.join(sorted(map(str, self.sources)))})"


class Absent:
    """`AWS::NoValue`."""

    def __repr__(self) -> str:
        return "AWS::NoValue"


ABSENT = Absent()

Evaluated: TypeAlias = "str | int | float | bool | Unknown | list[Evaluated] | dict[str, Evaluated] | None"
"""A value of a template whose functions have been carried out."""


def unknown_of(kind: SourceKind, name: str, expression: Json, attribute: str = "") -> Unknown:
    return Unknown(expression, frozenset([Source(kind, name, attribute)]))


def text_of(scalar: object) -> str:
    """A scalar as CloudFormation sends it to a custom resource: as text."""
    if isinstance(scalar, bool):
        return "true" if scalar else "false"
    return str(scalar)


def sent(value: Evaluated) -> Evaluated:
    """A value as CloudFormation sends it to a custom resource; parts of it may be unknown."""
    found: Evaluated = mapped(value, lambda each: each if each is None or isinstance(each, Unknown) else text_of(each))
    return found


def expression_of(value: Evaluated) -> Json:
    """A value with its unknown parts as expressions: equal for values that are computed in the same way."""
    found: Json = mapped(sent(value), lambda each: {"?": each.expression} if isinstance(each, Unknown) else each)
    return found


def sources_of(value: Evaluated) -> frozenset[Source]:
    """Everything that the unknown parts of a value depend on."""
    return frozenset(source for _, each in values_in(value) if isinstance(each, Unknown) for source in each.sources)


def invalid(what: str, expression: AnyJson) -> Unknown:
    return unknown_of(SourceKind.INVALID, f"invalid expression {what}", {what: expression})


def call(function: str, arguments: list[Evaluated]) -> Unknown:
    """A call of a function whose arguments are not all known."""
    return Unknown({function: [expression_of(each) for each in arguments]}, sources_of(arguments))


def equal(left: Evaluated, right: Evaluated) -> bool | Unknown:
    same = bool(expression_of(left) == expression_of(right))
    return same if same or not sources_of([left, right]) else call("Fn::Equals", [left, right])


def dynamic_text(text: str) -> Evaluated:
    """A text, which is unknown if CloudFormation reads parts of it from another service."""
    references = _DYNAMIC.findall(text)
    if not references:
        return text
    # A reference to one version of a parameter always has the same value.
    kinds = {each: SourceKind.FIXED if _FIXED_VERSION.fullmatch(each) else SourceKind.CHANGING for each in references}
    return Unknown(text, frozenset(Source(kind, f"dynamic reference {each}") for each, kind in kinds.items()))


def plain(text: str) -> Evaluated:
    """The value of a scalar without quotes: CloudFormation reads YAML 1.1, where `012` is 10, and `1:30` is 90.

    PyYAML reads the same version. What CloudFormation makes of numbers with a fraction, and of times, is not
    documented: a value is unknown, though always the same, if its text may be another than the one that is written.
    """
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


def concatenated(parts: list[Evaluated]) -> Evaluated:
    """Text, as one expression if parts of it are unknown: `Fn::Sub` and `Fn::Join` of the same parts are equal."""
    if any(isinstance(part, list | dict) or part is None for part in parts):
        return invalid("concatenation", [expression_of(part) for part in parts])
    sources = sources_of(parts)
    if not sources:
        return dynamic_text("".join(map(text_of, parts)))
    texts = (part.expression if isinstance(part, Unknown) else text_of(part) for part in parts)
    return Unknown(joined(*texts), sources)
