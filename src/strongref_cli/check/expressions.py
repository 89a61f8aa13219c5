"""Operations on evaluated values, of which parts may be unknown. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strongref_cli.check.unknown import (
    Evaluated,
    Source,
    SourceKind,
    Unknown,
    expression_of,
    sources_of,
    text_of,
    unknown_of,
)
from strongref_toolkit.intrinsics import joined

if TYPE_CHECKING:
    from strongref.untyped import AnyJson

_DYNAMIC = re.compile(r"\{\{resolve:([a-z-]+:[^}]*)\}\}")
_FIXED_VERSION = re.compile(r"ssm(?:-secure)?:[^:]+:[0-9]+")


def invalid(what: str, expression: AnyJson) -> Unknown:
    return unknown_of(SourceKind.INVALID, f"invalid expression {what}", {what: expression})


def call(function: str, arguments: list[Evaluated]) -> Unknown:
    """A call of a function whose arguments are not all known."""
    return Unknown({function: [expression_of(each) for each in arguments]}, sources_of(arguments))


def equal(left: Evaluated, right: Evaluated) -> bool | Unknown:
    if sources_of([left, right]):
        same = expression_of(left) == expression_of(right)
        return same or call("Fn::Equals", [left, right])
    return bool(expression_of(left) == expression_of(right))


def dynamic_text(text: str) -> Evaluated:
    """A text, which is unknown if CloudFormation reads parts of it from another service."""
    references = _DYNAMIC.findall(text)
    if not references:
        return text
    # A reference to one version of a parameter always has the same value.
    fixed = {each: _FIXED_VERSION.fullmatch(each) for each in references}
    kinds = {each: SourceKind.FIXED if fixed[each] else SourceKind.CHANGING for each in references}
    return Unknown(text, frozenset(Source(kind, f"dynamic reference {each}") for each, kind in kinds.items()))


def concatenated(parts: list[Evaluated]) -> Evaluated:
    """Text, as one expression if parts of it are unknown: `Fn::Sub` and `Fn::Join` of the same parts are equal."""
    if any(isinstance(part, list | dict) or part is None for part in parts):
        return invalid("concatenation", [expression_of(part) for part in parts])
    sources = sources_of(parts)
    if not sources:
        return dynamic_text("".join(map(text_of, parts)))
    whole: AnyJson = ""
    for part in parts:
        whole = joined(whole, part.expression if isinstance(part, Unknown) else text_of(part))
    return Unknown(whole, sources)
