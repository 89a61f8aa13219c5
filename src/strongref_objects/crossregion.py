"""strongref's exports as a channel: custom resources that other regions' stacks read and hold."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from strongref.contract.names import SHARED
from strongref.contract.requests import EXPORT_TYPE, EXPORTER, IMPORT_TYPE, IMPORTER, Strength
from strongref.contract.values import attribute_name, parse_values
from strongref.errors import BadRequestError
from strongref.macro.imports import DATA_BYTES, split
from strongref_objects.at_synthesis import AtSynthesis
from strongref_objects.errors import BadValueError, NotHeldError
from strongref_objects.naming import key_of, logical_id, shown
from strongref_objects.writing import Plan, check_free

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref.contract.names import Key
    from strongref_objects.base import Target, Text, TextList
    from strongref_objects.channels import CrossRegion
    from strongref_objects.collecting import Leaf
    from strongref_objects.naming import Path
    from strongref_objects.synthesis import Synthesis

CHANNEL = "strongref's exports"

IMPORT_ID_READABLE = 60
"""Characters of an Import's logical id that are for people: an answer has it three times, and little room."""


class Exports:
    """A stack's `Custom::CrossRegionExport` resources: one for each consumer and region, with all that goes there.

    So what is exported to one region more, or one less, or in another order, changes nothing of what goes elsewhere:
    each resource keeps its logical id, and the exporter sees what it drops and changes.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._values: dict[tuple[str, str], dict[str, Any]] = {}

    def add(self, consumer: str | None, region: str, leaves: Mapping[Path, Leaf]) -> None:
        """Have values exported.

        Args:
            consumer: whom to; None for all.
            region: where to; empty for the stack's own.
            leaves: the values.
        """
        values = self._values.setdefault((consumer or SHARED, region), {})
        for path, leaf in leaves.items():
            _set(values, path, leaf.value)
        if values:
            properties = {
                "ServiceToken": EXPORTER,
                **({"Region": region} if region else {}),
                **({"Consumer": consumer} if consumer else {}),
                "Values": values,
            }
            self._target.put_resource(_export_id(consumer, region), EXPORT_TYPE, properties)


def _export_id(consumer: str | None, region: str) -> str:
    return logical_id("StrongrefExport", f"{consumer or SHARED}/{region}")


class ExportWriter:
    """`writing.Writer`: to one consumer, in some regions."""

    def __init__(self, target: Target, exports: Exports, via: CrossRegion) -> None:
        self._target = target
        self._exports = exports
        self._consumer = via.consumer
        regions = ["" if region == target.region else region for region in via.regions] or [""]
        self._regions = tuple(dict.fromkeys(regions))

    def plan(self, leaves: Mapping[Path, Leaf]) -> Plan:
        for path, leaf in leaves.items():
            key_of(path)
            check_storable(self._target, path, leaf)
        for region in self._regions:
            check_free(self._target, _export_id(self._consumer, region), f"exports to {self._consumer or 'all stacks'}")

        def put() -> None:
            for region in self._regions:
                self._exports.add(self._consumer, region, leaves)

        return Plan(tuple(f"{self._consumer or SHARED}@{region}" for region in self._regions), {}, put)


class Imports:
    """A stack's `Custom::CrossRegionImport` resources: for each exporting stack, and for each way of importing.

    An answer has room for so many values; where there are more, there are several resources. Which of them a value is
    in that the program has as a value already follows from the values alone. What the program gets as an attribute of
    a resource it gets at once, so which resource that is follows from the order in which the program reads.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._made: dict[tuple[CrossRegion, Strength], list[_Import]] = {}
        self._held: dict[CrossRegion, dict[str, int]] = {}
        self._parts: dict[CrossRegion, dict[str, list[str]]] = {}

    def add(self, via: CrossRegion, strength: Strength, key: Key, value_bytes: int) -> str:
        """Have a value imported; the logical id of the resource that does it.

        Args:
            via: whom from.
            strength: whether it is held.
            key: the value's.
            value_bytes: what it has at most.

        Raises:
            TakenError: the template has something of its own under that logical id.
        """
        made = self._made.setdefault((via, strength), [])
        name = attribute_name(key)
        for each in made:
            if name in each.names:
                return each.logical_id
        size = len(json.dumps({name: ""})) + value_bytes
        at = next((each for each in made if each.size + size <= DATA_BYTES), None)
        if at is None:
            number = str(len(made) + 1) if made else ""
            at = _Import(_import_id("StrongrefImport", via, strength, number))
            check_free(self._target, at.logical_id, f"imports from stack {via.stack}")
            made.append(at)
        at.names.add(name)
        at.size += size
        self._target.put_resource(at.logical_id, IMPORT_TYPE, _properties(via, strength, sorted(at.names)))
        return at.logical_id

    def hold(self, via: CrossRegion, key: Key, value: object) -> None:
        """Have a value held that the program has.

        Raises:
            TakenError: as above.
            NotHeldError: the value is longer than any answer.
        """
        name = attribute_name(key)
        size = len(json.dumps({name: value}))
        if size > DATA_BYTES:
            raise NotHeldError(
                name,
                CHANNEL,
                f"it takes {size} bytes, and what an import holds passes through an answer with room for {DATA_BYTES}. "
                "Say weak=True",
            )
        held = {**self._held.get(via, {}), name: len(json.dumps(value)) - len('""')}
        parts = {
            _import_id("StrongrefHold", via, Strength.STRONG, bits): part for bits, part in split(held, held).items()
        }
        for resource in parts:
            check_free(self._target, resource, f"imports from stack {via.stack}")
        former = self._parts.get(via, {})
        for resource in former.keys() - parts.keys():
            self._target.drop_resource(resource)
        for resource, names in parts.items():
            if former.get(resource) != names:
                self._target.put_resource(resource, IMPORT_TYPE, _properties(via, Strength.STRONG, names))
        self._held[via], self._parts[via] = held, parts


@dataclass(slots=True)
class _Import:
    logical_id: str
    names: set[str] = field(default_factory=set)
    size: int = 0
    """Of its values in an answer, in bytes, as far as known."""


def _import_id(purpose: str, via: CrossRegion, strength: Strength, number: str) -> str:
    """Short enough to stand in an answer three times, beside what `DATA_BYTES` leaves to values."""
    whom = SHARED if via.shared else via.consumer
    parts = [via.stack, via.region, via.account, whom, strength.value, *([number] if number else [])]
    return logical_id(purpose, "/".join(part or "" for part in parts), IMPORT_ID_READABLE)


def _properties(via: CrossRegion, strength: Strength, names: list[str]) -> dict[str, Any]:
    where = {"Stack": via.stack, "Region": via.region, "Account": via.account}
    return {
        "ServiceToken": IMPORTER,
        "From": {name: value for name, value in where.items() if value is not None},
        "Names": names,
        **({"Shared": "true"} if via.shared else {}),
        **({"Consumer": via.consumer} if via.consumer else {}),
        **({"Strength": strength.value} if strength is Strength.WEAK else {}),
    }


class AtDeployment:
    """`reading.Reader`: attributes of an Import, lists among them.

    Attributes:
        value_bytes: what a value has at most that is read from now on.
    """

    channel = CHANNEL
    resolved = False
    whole_lists = True

    def __init__(self, target: Target, imports: Imports, via: CrossRegion, strength: Strength) -> None:
        self._target = target
        self._imports = imports
        self._via = via
        self._strength = strength
        self.value_bytes = via.value_bytes

    def string(self, path: Path) -> Text:
        return self._target.stand_in(self._attribute(path))

    def string_list(self, path: Path) -> TextList:
        return self._target.stand_in_list(self._attribute(path))

    def _attribute(self, path: Path) -> dict[str, Any]:
        key = key_of(path)
        return {
            "Fn::GetAtt": [self._imports.add(self._via, self._strength, key, self.value_bytes), attribute_name(key)]
        }


def at_synthesis(target: Target, synthesis: Synthesis, imports: Imports, via: CrossRegion) -> AtSynthesis:
    """The values that a stack exports to this one, as they are stored in the target's account and region."""

    def hold(path: Path, value: object) -> None:
        imports.hold(via, key_of(path), value)

    return AtSynthesis(CHANNEL, partial(_look_up, target, synthesis, via), hold)


def _look_up(target: Target, synthesis: Synthesis, via: CrossRegion, path: Path) -> Any:  # noqa: ANN401 (JSON)
    from strongref_objects.published import look_up  # noqa: PLC0415 (only where something is looked up)

    return look_up(target, synthesis, via, path)


def check_storable(target: Target, path: Path, leaf: Leaf) -> None:
    """A value is one that Parameter Store holds, as far as it is known.

    Raises:
        BadValueError: it is not.
    """
    if isinstance(leaf.value, str):
        known: object = None if target.is_unresolved(leaf.value) else leaf.value
    elif leaf.many and isinstance(leaf.value, list):
        items = [item for item in leaf.value if not target.is_unresolved(item)]
        known = items if items or not leaf.value else None
    else:
        known = None
    if known is None:
        return
    try:
        parse_values("", {path[-1]: known}, ())
    except BadRequestError as error:
        problem = error.problem
    else:
        return
    raise BadValueError(shown(path), problem)


def _set(values: dict[str, Any], path: Path, value: object) -> None:
    at = values
    for level in path[:-1]:
        at = cast("dict[str, Any]", at.setdefault(level, {}))
    at[path[-1]] = value
