"""Imports: references put together by producer and condition, each part small enough to be answered. Pure."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.requests import IMPORT_TYPE, IMPORTER
from strongref.macro.base import made_id
from strongref.macro.conditions import weakest
from strongref.macro.references import FROM
from strongref.macro.splitting import split

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strongref.macro.base import Node
    from strongref.macro.conditions import When
    from strongref.macro.references import Source
    from strongref.macro.walking import Slot


@dataclass(frozen=True, slots=True)
class Import:
    """One Import that is made."""

    logical_id: str
    source: Source
    when: When
    names: tuple[str, ...]

    @property
    def resource(self) -> dict[str, Node]:
        """As it stands in a template."""
        properties = self.source.properties
        origin = properties.pop(FROM)
        condition = {"Condition": self.when.name} if self.when.name else {}
        own = {"ServiceToken": IMPORTER, FROM: origin, "Names": list(self.names)}
        return {"Type": IMPORT_TYPE, **condition, "Properties": {**own, **properties}}


def imports(slots: Iterable[Slot], value_bytes: int) -> tuple[list[Import], dict[Slot, str]]:
    """The Imports that references need, in the order of their use, and from which of them each gets its value.

    What is used always is imported once; what is used under conditions, under the weakest of them.
    """
    used: dict[tuple[Source, str], set[When]] = defaultdict(set)
    for slot in slots:
        used[slot.reference.source, slot.reference.name].add(slot.when)
    needed = {key: weakest(whens) for key, whens in used.items()}
    groups: dict[tuple[Source, When], list[str]] = defaultdict(list)
    for (source, name), whens in needed.items():
        for when in whens:
            groups[source, when].append(name)
    made = [
        Import(f"{_base(source, when)}{f'X{bits}' if bits else ''}", source, when, tuple(names))
        for (source, when), all_names in groups.items()
        for bits, names in split(all_names, value_bytes).items()
    ]
    where = {(each.source, each.when, name): each.logical_id for each in made for name in each.names}
    served = {}
    for slot in slots:
        source, name = slot.reference.source, slot.reference.name
        when = next(each for each in needed[source, name] if each.covers(slot.when))
        served[slot] = where[source, when, name]
    return made, served


def _base(source: Source, when: When) -> str:
    """A logical id that is the same for the same producer and conditions, and for no other."""
    return made_id("Imports", source.properties[FROM]["Stack"], json.dumps([source.text, when.order]))
