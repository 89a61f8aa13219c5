"""The whole transform: a template in, what changes in it out. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from strongref.macro.base import Addition, Plan, Removal
from strongref.macro.errors import (
    BadParameterError,
    BadPropertyError,
    NotATemplateError,
    TakenError,
    TransformFailedError,
)
from strongref.macro.exporting import parts
from strongref.macro.grouping import imports
from strongref.macro.merging import exports
from strongref.macro.splitting import DATA_BYTES, VALUE_BYTES
from strongref.macro.walking import Slot, find

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from strongref.macro.base import Node, Template
    from strongref.macro.errors import TemplateError
    from strongref.macro.exporting import Part
    from strongref.macro.grouping import Import
    from strongref.macro.merging import Export

RESOURCES, CONDITIONS = "Resources", "Conditions"

_ID_LIMIT = 255
"""Characters of a logical id (AWS: CloudFormation quotas)."""

_MOST_RESOURCES = 500
"""In a template (AWS: CloudFormation quotas); what loops and other macros make comes on top."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The transform's own parameters.

    Attributes:
        value_bytes: what an imported value is taken to have at most: how many fit into one Import follows from it.
    """

    value_bytes: int = VALUE_BYTES

    @classmethod
    def parse(cls, given: Mapping[str, Node]) -> Settings:
        """Read them as CloudFormation sends them: numbers may be text.

        Raises:
            BadParameterError: one is unknown, or cannot be understood.
        """
        unknown = [name for name in given if name != "ValueBytes"]
        if unknown:
            raise BadParameterError(str(unknown[0]), "there is no such one; allowed is ValueBytes")
        number = str(given.get("ValueBytes", VALUE_BYTES))
        if not number.isdecimal() or not 1 <= int(number) <= DATA_BYTES:
            raise BadParameterError("ValueBytes", f"a number from 1 to {DATA_BYTES} is needed")
        return cls(int(number))


def plan(template: Template, settings: Settings) -> Plan:
    """Decide what changes in a template; touch nothing.

    Raises:
        NotATemplateError: it has no resources.
        TransformFailedError: with everything that is wrong with its references and exports.
    """
    resources = template.get(RESOURCES)
    if not isinstance(resources, Mapping):
        raise NotATemplateError(
            "it has no Resources. StrongRef works on whole templates only, from their section Transform"
        )
    found = find(template)
    problems = list(found.problems)
    exported: list[Part] = []
    for each in found.exporting:
        new, wrong = parts(each)
        exported += new
        problems += wrong
    made, wrong = exports(exported)
    problems += wrong
    imported, served = imports(found.slots, settings.value_bytes)
    problems += _taken(template, imported, made)
    problems += _too_many(resources, [*made, *imported])
    if problems:
        raise TransformFailedError(sorted(problems, key=lambda each: _order(template, each)))
    return Plan(
        tuple(replace(each, value=_filled(each.value, served)) for each in found.replacements),
        tuple(Removal((*each.path, each.logical_id), "Exports") for each in found.exporting),
        (
            *(Addition(each.path, each.logical_id, _filled(each.resource, served), each.origins) for each in made),
            *(Addition((RESOURCES,), each.logical_id, each.resource) for each in imported),
            *_conditions(template, imported),
        ),
    )


def _conditions(template: Template, imported: list[Import]) -> list[Addition]:
    """The conditions that Imports are made under, where the template does not have them."""
    there = template.get(CONDITIONS) or {}
    needed = {each.when.name: each.when.definition for each in imported if each.when.definition}
    return [Addition((CONDITIONS,), str(name), made) for name, made in needed.items() if name not in there]


def _taken(template: Template, imported: list[Import], made: list[Export]) -> list[TemplateError]:
    """Everything that the template has already under a name that is needed."""
    resources, there = template[RESOURCES], template.get(CONDITIONS) or {}
    problems: list[TemplateError] = [
        TakenError((RESOURCES, each.logical_id), f"an Import of {_named(each)}")
        for each in imported
        if each.logical_id in resources
    ]
    seen: set[tuple[object, ...]] = set()
    for export in made:
        spot = (*export.path, export.logical_id)
        if export.logical_id in _at(template, export.path) or spot in seen:
            problems.append(TakenError(spot, "an Export that is made of Exports"))
        seen.add(spot)
    for each in imported:
        name = each.when.name
        if each.when.definition and name in there and there[name] != each.when.definition:
            problems.append(TakenError((CONDITIONS, str(name)), f"the condition of {each.logical_id}"))
    return problems


def _too_many(resources: Mapping[str, Node], made: Collection[Import | Export]) -> Iterator[TemplateError]:
    """CloudFormation would tell of it by ids that nobody has written."""
    for each in made:
        if len(each.logical_id) > _ID_LIMIT:
            told = f"a logical id has at most {_ID_LIMIT} characters, this one would have {len(each.logical_id)}"
            yield BadPropertyError((RESOURCES, each.logical_id), f"{told}; call the resource something shorter")
    count = len(resources) + len(made)
    if made and count > _MOST_RESOURCES >= len(resources):
        told = f"with {len(made)} Imports and Exports there are {count} resources, and a template has at most"
        yield BadPropertyError((RESOURCES,), f"{told} {_MOST_RESOURCES}; part it, or set ValueBytes to less")


def _named(made: Import) -> str:
    return made.names[0] if len(made.names) == 1 else f"{made.names[0]} and {len(made.names) - 1} more"


def _at(template: Template, path: tuple[str | int, ...]) -> Mapping[str, Node]:
    node: Node = template
    for step in path:
        node = node[step]
    found: Mapping[str, Node] = node
    return found


def _order(template: Template, problem: TemplateError) -> list[int]:
    """Where a problem stands among the others, in the order of the template."""
    order: list[int] = []
    node: Node = template
    for step in problem.path:
        if isinstance(step, int):
            order.append(step)
            node = node[step] if isinstance(node, list) and step < len(node) else {}
        else:
            keys = list(node) if isinstance(node, Mapping) else []
            order.append(keys.index(step) if step in keys else len(keys))
            node = node.get(step, {}) if isinstance(node, Mapping) else {}
    return order


def _filled(node: Node, served: Mapping[Slot, str]) -> Node:
    """A value with what each slot stands for."""
    if isinstance(node, Slot):
        return {"Fn::GetAtt": [served[node], node.reference.name]}
    if isinstance(node, Mapping):
        return {key: _filled(below, served) for key, below in node.items()}
    return [_filled(item, served) for item in node] if isinstance(node, list) else node
