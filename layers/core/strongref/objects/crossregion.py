"""strongref's exports as a channel: custom resources that other regions' stacks read and hold."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from strongref.address import SHARED
from strongref.errors import BadRequestError
from strongref.macro.splitting import DATA_BYTES, VALUE_BYTES
from strongref.objects.at_synthesis import AtSynthesis
from strongref.objects.errors import BadValueError, NotHeldError
from strongref.objects.naming import key_of, logical_id, shown
from strongref.objects.writing import Plan, check_free
from strongref.request import Strength
from strongref.values import attribute_name, parse_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref.address import Key
    from strongref.objects.base import Target, Text, TextList
    from strongref.objects.channels import CrossRegion
    from strongref.objects.collecting import Leaf
    from strongref.objects.naming import Path
    from strongref.objects.synthesis import Synthesis

CHANNEL = "strongref's exports"

EXPORT_TYPE = "Custom::CrossRegionExport"
IMPORT_TYPE = "Custom::CrossRegionImport"
EXPORTER = {"Fn::ImportValue": "strongref-exporter"}
IMPORTER = {"Fn::ImportValue": "strongref-importer"}


class Exports:
    """`writing.Writer`: one `Custom::CrossRegionExport`, which grows with each object that is exported the same way."""

    def __init__(self, target: Target, via: CrossRegion) -> None:
        self._target = target
        self._via = via
        self._values: dict[str, Any] = {}
        self._consumer = via.consumer or SHARED
        self._id = logical_id("StrongrefExport", "/".join((self._consumer, *via.regions)))

    def plan(self, leaves: Mapping[Path, Leaf]) -> Plan:
        for path, leaf in leaves.items():
            key_of(path)
            check_storable(self._target, path, leaf)
        check_free(self._target, self._id, f"exports to {self._via.consumer or 'all stacks'}")

        def put() -> None:
            for path, leaf in leaves.items():
                _set(self._values, path, leaf.value)
            if self._values:
                self._target.put_resource(self._id, EXPORT_TYPE, self._properties())

        return Plan(tuple(f"{self._consumer}@{region}" for region in self._via.regions or ("",)), {}, put)

    def _properties(self) -> dict[str, Any]:
        regions = list(self._via.regions)
        return {
            "ServiceToken": EXPORTER,
            **({"Region": regions if len(regions) > 1 else regions[0]} if regions else {}),
            **({"Consumer": self._via.consumer} if self._via.consumer else {}),
            "Values": self._values,
        }


class Imports:
    """A stack's `Custom::CrossRegionImport` resources: one for each exporting stack, and for each way of importing.

    Where an answer has no room for one more value, there is another one. Which of them a value is in follows from the
    order in which the program reads, since it gets what stands for a value at once.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._made: dict[tuple[CrossRegion, Strength], list[_Import]] = {}

    def add(self, via: CrossRegion, strength: Strength, key: Key, value: object = None) -> str:
        """Have a value imported; the logical id of the resource that does it.

        Args:
            via: whom from.
            strength: whether it is held.
            key: the value's.
            value: the value, if it is known.

        Raises:
            TakenError: the template has something of its own under that logical id.
            NotHeldError: the value is longer than any answer.
        """
        made = self._made.setdefault((via, strength), [])
        name = attribute_name(key)
        for each in made:
            if name in each.names:
                return each.logical_id
        size = len(json.dumps({name: value or ""})) + (0 if value else VALUE_BYTES)
        if size > DATA_BYTES:
            raise NotHeldError(
                name,
                CHANNEL,
                f"it takes {size} bytes, and what an import holds passes through an answer with room for {DATA_BYTES}. "
                "Say weak=True",
            )
        at = next((each for each in made if each.size + size <= DATA_BYTES), None)
        if at is None:
            at = _Import(_import_id(via, strength, len(made)))
            check_free(self._target, at.logical_id, f"imports from stack {via.stack}")
            made.append(at)
        at.names.add(name)
        at.size += size
        self._target.put_resource(at.logical_id, IMPORT_TYPE, _properties(via, strength, at.names))
        return at.logical_id


@dataclass(slots=True)
class _Import:
    logical_id: str
    names: set[str] = field(default_factory=set)
    size: int = 0
    """Of its values in an answer, in bytes, as far as known."""


def _import_id(via: CrossRegion, strength: Strength, number: int) -> str:
    whom = SHARED if via.shared else via.consumer
    parts = [via.stack, via.region, via.account, whom, strength.value, *([str(number + 1)] if number else [])]
    return logical_id("StrongrefImport", "/".join(part or "" for part in parts))


def _properties(via: CrossRegion, strength: Strength, names: set[str]) -> dict[str, Any]:
    where = {"Stack": via.stack, "Region": via.region, "Account": via.account}
    return {
        "ServiceToken": IMPORTER,
        "From": {name: value for name, value in where.items() if value is not None},
        "Names": sorted(names),
        **({"Shared": "true"} if via.shared else {}),
        **({"Consumer": via.consumer} if via.consumer else {}),
        **({"Strength": strength.value} if strength is Strength.WEAK else {}),
    }


class AtDeployment:
    """`reading.Reader`: attributes of an Import, lists among them."""

    channel = CHANNEL
    resolved = False
    whole_lists = True

    def __init__(self, target: Target, imports: Imports, via: CrossRegion, strength: Strength) -> None:
        self._target = target
        self._imports = imports
        self._via = via
        self._strength = strength

    def string(self, path: Path) -> Text:
        return self._target.stand_in(self._attribute(path))

    def string_list(self, path: Path) -> TextList:
        return self._target.stand_in_list(self._attribute(path))

    def _attribute(self, path: Path) -> dict[str, Any]:
        key = key_of(path)
        return {"Fn::GetAtt": [self._imports.add(self._via, self._strength, key), attribute_name(key)]}


def at_synthesis(target: Target, synthesis: Synthesis, imports: Imports, via: CrossRegion) -> AtSynthesis:
    """The values that a stack exports to this one, as they are stored in the target's account and region."""

    def hold(path: Path, value: object) -> None:
        imports.add(via, Strength.STRONG, key_of(path), value)

    return AtSynthesis(CHANNEL, partial(_look_up, target, synthesis, via), hold)


def _look_up(target: Target, synthesis: Synthesis, via: CrossRegion, path: Path) -> Any:  # noqa: ANN401 (JSON)
    from strongref.objects.published import look_up  # noqa: PLC0415 (only where something is looked up)

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
