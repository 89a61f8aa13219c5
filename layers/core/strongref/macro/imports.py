"""Imports: references grouped by producer and condition, each group small enough for one response. Pure.

CloudFormation takes 4,096 bytes, and the values are not known here. Names are split by their hashes: if all fit, they
stay together; if not, they are halved by the next bit of their hash, and so on. So a new name moves others only if it
makes one Import too large, and the Import of a name depends on the set of names alone, not on their order.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from strongref.contract.requests import IMPORT_TYPE, IMPORTER
from strongref.contract.response import RESPONSE_LIMIT
from strongref.errors import BadRequestError
from strongref.macro.conditions import When, weakest
from strongref.macro.references import FROM
from strongref.macro.template import Node, SharedProperties, make_id

if TYPE_CHECKING:
    from strongref.macro.scan import ImportPlaceholder

VALUE_BYTES = 256
"""The assumed size of a value, unless the template sets another: most ARNs have about 100."""

ENVELOPE_BYTES = 800
"""Of a response without its values: IDs of a stack and of a resource, with names of at most 128 characters."""

DATA_BYTES = RESPONSE_LIMIT - ENVELOPE_BYTES

_AROUND = len('"":"",')
"""Bytes of an attribute in the response's JSON without its name and its value."""

_BRACES = len("{}") - len(",")
"""Bytes around all attributes: the last one has no comma."""


@dataclass(frozen=True, slots=True)
class MacroImport:
    logical_id: str
    source: SharedProperties
    when: When
    names: tuple[str, ...]

    @property
    def resource(self) -> dict[str, Node]:
        properties = self.source.properties
        origin = {key: properties.pop(key) for key in (FROM,) if key in properties}
        condition = {"Condition": self.when.name} if self.when.name else {}
        own = {"ServiceToken": IMPORTER, **origin, "Names": list(self.names)}
        return {"Type": IMPORT_TYPE, **condition, "Properties": {**own, **properties}}


def parse_value_bytes(prop: str, given: object) -> int:
    if not str(given).isdecimal() or not 1 <= int(str(given)) <= DATA_BYTES:
        raise BadRequestError(prop, f"must be a number from 1 to {DATA_BYTES}")
    return int(str(given))


def imports(
    values: Iterable[ImportPlaceholder], value_bytes: int
) -> tuple[list[MacroImport], dict[ImportPlaceholder, str]]:
    """The Imports that references need, in the order of their use, and the Import that each value comes from.

    A value that is always used is imported once; one that is used under conditions, under the weakest of them.
    """
    used: dict[tuple[SharedProperties, str], set[When]] = defaultdict(set)
    for value in values:
        used[value.reference.source, value.reference.name].add(value.when)
    needed = {key: weakest(whens) for key, whens in used.items()}
    groups: dict[tuple[SharedProperties, When], list[str]] = defaultdict(list)
    for (source, name), whens in needed.items():
        for when in whens:
            groups[source, when].append(name)
    made = [
        MacroImport(f"{_base(source, when)}{f'X{bits}' if bits else ''}", source, when, tuple(names))
        for (source, when), all_names in groups.items()
        for bits, names in split(all_names, value_bytes).items()
    ]
    where = {(each.source, each.when, name): each.logical_id for each in made for name in each.names}
    served = {}
    for value in values:
        source, name = value.reference.source, value.reference.name
        when = next(each for each in needed[source, name] if each.covers(value.when))
        served[value] = where[source, when, name]
    return made, served


def _base(source: SharedProperties, when: When) -> str:
    """A logical ID that is the same for the same producer and conditions, and for no others."""
    return make_id("Imports", source.properties.get(FROM, {}).get("Stack", ""), json.dumps([source.text, when.order]))


def split(names: Iterable[str], value_bytes: int | Mapping[str, int] = VALUE_BYTES) -> dict[str, list[str]]:
    """Groups of names whose responses fit, each sorted; by the bits that they share, without zeros at the end.

    The first group has no bits. Names are as in a response; `value_bytes` is by name, if the values are known.
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
