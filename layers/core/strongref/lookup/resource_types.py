"""What the schemas say of each resource type (`tools/identifiers.py` writes the table), with our overrides on top."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from strongref.lookup.errors import UnknownTypeError
from strongref.lookup.overrides import IDENTIFIERS, OWN, REPLACED, TAGGED_BY

FILE = Path(__file__).with_name("identifiers.json")

SEPARATOR = "|"
"""Between the parts of a composite identifier (AWS: Cloud Control API User Guide, Identifying resources)."""


@dataclass(frozen=True, slots=True)
class ResourceType:
    """How resources of a type are identified and found."""

    type_name: str  # as in `AWS::S3::Bucket`
    identifier: tuple[str, ...]  # the properties of the primary identifier, in order; dots lead into a property
    own: int | None = None  # the position of the part that is the resource's own, not its parent's; None if unknown
    # what its list handler requires, as alternatives: each input with the property that has its value, often the one of
    # the same name; empty if it requires nothing
    required_inputs: tuple[tuple[tuple[str, str], ...], ...] = ()
    # further parts of the identifier that its list handler takes; None if no input is described
    optional_inputs: tuple[str, ...] | None = None
    name_property: str | None = None  # the property that has the resource's name, if there is one
    arn_property: str | None = None  # the property that has its ARN, if there is one
    # the services, as in ARNs, that tag it; empty if it cannot be tagged; None if unknown
    tagged_by: tuple[str, ...] | None = None

    @property
    def is_composite(self) -> bool:
        return len(self.identifier) > 1

    @property
    def own_part(self) -> str | None:
        """The property that is the resource's own part: of a single identifier, the only one."""
        if not self.is_composite:
            return self.identifier[0]
        return None if self.own is None else self.identifier[self.own]

    @property
    def is_arn(self) -> bool:
        """Whether the own part is an ARN, by the name of its property."""
        return (self.own_part or "").lower().endswith("arn")

    @property
    def is_named(self) -> bool:
        """Whether the own part is the resource's name."""
        own = self.own_part or ""
        return own == self.name_property or (self.name_property is None and own.endswith("Name"))

    def parts(self, identifier: str) -> tuple[str, ...] | None:
        """The parts of an identifier, in order; None if a part holds a separator, so that they cannot be split."""
        if not self.is_composite:
            return (identifier,)
        parts = tuple(identifier.split(SEPARATOR))
        return parts if len(parts) == len(self.identifier) else None

    def own_value(self, identifier: str) -> str | None:
        """The own part of an identifier; None if it cannot be split, or if the own part is unknown."""
        parts, own = self.parts(identifier), self.own if self.is_composite else 0
        return parts[own] if parts and own is not None else None


def resource_type_of(type_name: str) -> ResourceType:
    """What is known of a type; of a SAM type, of the type that SAM replaces it with.

    Raises:
        UnknownTypeError: the table has no such type.
    """
    type_name = REPLACED.get(type_name, type_name)
    line = _lines().get(type_name)
    if line is None:
        from difflib import get_close_matches  # noqa: PLC0415 (for this mistake alone)

        known = {name.lower(): name for name in _lines()}
        close = get_close_matches(type_name.lower(), known, 1, 0.8)
        raise UnknownTypeError(type_name, [known[name] for name in close])
    needs = ([text.partition("=") for text in alternative] for alternative in line.get("needs", ()))
    identifier = IDENTIFIERS.get(type_name, tuple(line["identifier"]))
    own = identifier.index(OWN[type_name]) if type_name in OWN else line.get("own")
    return ResourceType(
        type_name,
        identifier,
        own,
        tuple(tuple((name, value_of or name) for name, _, value_of in alternative) for alternative in needs),
        _optional(line, "takes"),
        line.get("name"),
        line.get("arn"),
        TAGGED_BY.get(type_name, _optional(line, "tagged_by")),
    )


def types() -> tuple[str, ...]:
    return (*_lines(), *REPLACED)


def _optional(line: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    return tuple(line[key]) if key in line else None


@cache
def _lines() -> dict[str, dict[str, Any]]:
    lines: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return lines
