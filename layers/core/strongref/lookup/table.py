"""What the schemas say of each type, as `tools/identifiers.py` wrote it down, with our overrides on top."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strongref.lookup.errors import UnknownTypeError
from strongref.lookup.overrides import IDENTIFIERS, OWN, REPLACED, TAGGED_BY

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = Path(__file__).with_name("identifiers.json")

SEPARATOR = "|"
"""Between the parts of a composite identifier (AWS: Cloud Control API User Guide, Identifying resources)."""


@dataclass(frozen=True, slots=True)
class Input:
    """What a list handler asks for, and the property whose value it is given: mostly that of the same name."""

    name: str
    value_of: str

    @classmethod
    def parse(cls, text: str) -> Input:
        name, _, value_of = text.partition("=")
        return cls(name, value_of or name)


@dataclass(frozen=True, slots=True)
class Shape:
    """How resources of a type are identified and found.

    Attributes:
        type_name: as in `AWS::S3::Bucket`.
        identifier: the properties of its primary identifier, in their order; dots lead into a property.
        own: the position of the part that is the resource's own, not its parent's; None where that is not known.
        needs: what its list handler asks for, as alternatives; empty where it asks for nothing.
        takes: further parts of the identifier that the list handler takes; None where no input is described.
        name: the property by which a resource tells its own name, if there is one.
        arn: the same of its ARN.
        tagged_by: the services, as they stand in ARNs, by which it is tagged; empty if it cannot be; None if unknown.
    """

    type_name: str
    identifier: tuple[str, ...]
    own: int | None = None
    needs: tuple[tuple[Input, ...], ...] = ()
    takes: tuple[str, ...] | None = None
    name: str | None = None
    arn: str | None = None
    tagged_by: tuple[str, ...] | None = None

    @property
    def is_composite(self) -> bool:
        return len(self.identifier) > 1

    @property
    def own_part(self) -> str | None:
        """The property that is the resource's own part; the whole identifier, if it is a single one."""
        if not self.is_composite:
            return self.identifier[0]
        return None if self.own is None else self.identifier[self.own]

    @property
    def is_arn(self) -> bool:
        """Whether the own part is an ARN, by what its property is called."""
        return (self.own_part or "").lower().endswith("arn")

    @property
    def is_named(self) -> bool:
        """Whether the own part is the resource's name."""
        own = self.own_part or ""
        return own == self.name or (self.name is None and own.endswith("Name"))

    def parts(self, identifier: str) -> tuple[str, ...] | None:
        """The parts of an identifier, in order; None where they cannot be told apart, as one holds a separator."""
        if not self.is_composite:
            return (identifier,)
        parts = tuple(identifier.split(SEPARATOR))
        return parts if len(parts) == len(self.identifier) else None


def shape_of(type_name: str) -> Shape:
    """What is known of a type, or of the one that SAM makes of it.

    Raises:
        UnknownTypeError: no schema of that name was there when the table was made.
    """
    type_name = REPLACED.get(type_name, type_name)
    line = _lines().get(type_name)
    if line is None:
        from difflib import get_close_matches  # noqa: PLC0415 (for this mistake alone)

        known = {name.lower(): name for name in _lines()}
        close = get_close_matches(type_name.lower(), known, 1, 0.8)
        raise UnknownTypeError(type_name, [known[name] for name in close])
    identifier = IDENTIFIERS.get(type_name, tuple(line["identifier"]))
    own = identifier.index(OWN[type_name]) if type_name in OWN else line.get("own")
    return Shape(
        type_name,
        identifier,
        own,
        tuple(tuple(map(Input.parse, alternative)) for alternative in line.get("needs", ())),
        _maybe(line, "takes"),
        line.get("name"),
        line.get("arn"),
        TAGGED_BY.get(type_name, _maybe(line, "tagged_by")),
    )


def types() -> tuple[str, ...]:
    """Every type that something is known of."""
    return (*_lines(), *REPLACED)


def _maybe(line: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    return tuple(line[key]) if key in line else None


@cache
def _lines() -> dict[str, dict[str, Any]]:
    lines: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return lines
