"""Exports: what several resources export to the same target, put together into one. Pure.

One Export for a target rather than one for a resource, and values that are left out under a condition rather than an
Export that is: CloudFormation deletes what a template has no more when an update is over, and takes no refusal then.
An Export that is told to export less is updated before that, and may refuse.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strongref.contract.requests import EXPORT_TYPE, EXPORTER
from strongref.macro.base import IF, NO_VALUE, is_function, made_id
from strongref.macro.errors import ConflictError, WrongShapeError
from strongref.macro.exporting import OPTIONS, SECURE, VALUES, Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from strongref.macro.base import Node, Path
    from strongref.macro.errors import TemplateError
    from strongref.macro.exporting import Part


@dataclass(frozen=True, slots=True)
class Export:
    """One Export that is made.

    Attributes:
        origins: where the template says it.
        path: of the map that it is put into.
        resource: as it stands in a template; the values may have slots.
    """

    origins: tuple[Path, ...]
    path: Path
    logical_id: str
    resource: dict[str, Node] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Given:
    """Something that one resource gives, and the condition that it is given under."""

    at: Path
    condition: str | None
    node: Node = field(repr=False)

    def instead(self, node: Node) -> _Given:
        return _Given(self.at, self.condition, node)

    def where(self, condition: str) -> _Given:
        """The same, once this condition is known to hold."""
        return _Given(self.at, None if self.condition == condition else self.condition, self.node)


def exports(parts: Iterable[Part]) -> tuple[list[Export], list[TemplateError]]:
    """The Exports that are made, in the order of their targets, or all that does not go together.

    In a loop there is one for each of its resources, since what it makes is not known here.
    """
    groups: dict[tuple[str, Path, str], list[Part]] = defaultdict(list)
    for part in parts:
        own = part.found.logical_id if part.found.loops else ""
        groups[part.target.text, part.found.path, own].append(part)
    problems: list[TemplateError] = []
    made: list[Export] = []
    for (told, path, own), group in groups.items():
        problems += _disagreements(group)
        consumer = Target(told).properties.get("Consumer", "")
        logical_id = made_id(f"{own}Exports", "" if own else consumer, told)
        resource = {} if problems else _resource(group)
        made.append(Export(tuple(part.at for part in group), path, logical_id, resource))
    return made, problems


def _resource(group: Sequence[Part]) -> dict[str, Node]:
    given = [_given(part, part.values) for part in group]
    options = {key: part.options[key] for part in reversed(group) for key in OPTIONS if key in part.options}
    keys: dict[str, list[_Given]] = {}
    for part in group:
        for key in part.secure:
            keys.setdefault(key, []).append(_given(part, key))
    secure = {SECURE: [_merged(each) for each in keys.values()]} if keys else {}
    properties = {"ServiceToken": EXPORTER, **group[0].target.properties, VALUES: _top(given), **secure, **options}
    return {"Type": EXPORT_TYPE, **_after(group), "Properties": properties}


def _given(part: Part, node: Node) -> _Given:
    return _Given(part.at, part.found.condition, node)


def _top(given: Sequence[_Given]) -> Node:
    """`Values`: a map of names, each of which may be left out, so that the map itself may be empty."""
    if is_function(given[0].node):  # then it is alone
        condition = given[0].condition
        return {IF: [condition, given[0].node, {}]} if condition else given[0].node
    return _by_key(given)


def _by_key(given: Sequence[_Given]) -> dict[str, Node]:
    keys: dict[str, list[_Given]] = {}
    for each in given:
        for key, below in each.node.items():
            keys.setdefault(key, []).append(each.instead(below))
    return {key: _merged(several) for key, several in keys.items()}


def _merged(given: Sequence[_Given]) -> Node:
    """What several resources agree about: there, if one of them is.

    A map is there only where something is in it: an exporter takes no empty one.
    """
    if all(each.condition for each in given):
        first = min(str(each.condition) for each in given)
        others = [each for each in given if each.condition != first]
        holds = _merged([each.where(first) for each in given])
        return {IF: [first, holds, _merged(others) if others else NO_VALUE]}
    always = next(each.node for each in given if not each.condition)
    return always if all(_same(each.node, always) for each in given) else _by_key(given)


def _disagreements(group: Sequence[Part]) -> Iterator[TemplateError]:
    for key in OPTIONS:
        told = [part for part in group if key in part.options]
        for part in group if told else []:
            if part.options.get(key, told[0].options[key] if key != "OnChange" else None) != told[0].options[key]:
                yield ConflictError(part.at, told[0].at, key)
    functions = [part for part in group if is_function(part.values)]
    if functions and len(group) > 1:
        wanted = "other resources export to the same target as well, so a map of names to values is needed"
        yield from (WrongShapeError((*part.at, VALUES), "a function", wanted) for part in functions)
    else:
        yield from _different((), [_given(part, part.values) for part in group])


def _different(name: tuple[str, ...], given: Sequence[_Given]) -> Iterator[TemplateError]:
    """Values that are given twice, and not alike: whether their conditions exclude one another is not known here."""
    first, *others = given
    if all(_same(first.node, each.node) for each in others):
        return
    if not all(map(_is_map, (each.node for each in given))):
        other = next(each for each in others if not _same(first.node, each.node))
        yield ConflictError(other.at, first.at, f"the value of {'.'.join(name)}")
        return
    for key in dict.fromkeys(key for each in given for key in each.node):
        yield from _different((*name, key), [each.instead(each.node[key]) for each in given if key in each.node])


def _is_map(node: Node) -> bool:
    return isinstance(node, Mapping) and not is_function(node)


def _same(one: Node, other: Node) -> bool:
    return repr(one) == repr(other)  # where `==` takes True and 1 for the same


def _after(group: Sequence[Part]) -> dict[str, Node]:
    """What has CloudFormation delete the Export before its resources, where its values do not: those are in use.

    `DependsOn` takes no resource that may not be made. A function in the metadata does.
    """
    by_resource: dict[str, Part] = {}
    for part in group:
        by_resource.setdefault(part.found.logical_id, part)
    apart = {
        name: part.found.condition
        for name, part in by_resource.items()
        if not any(_refers(each.values, name) for each in group)
    }
    always = [name for name, condition in apart.items() if not condition]
    perhaps = [{IF: [condition, {"Ref": name}, NO_VALUE]} for name, condition in apart.items() if condition]
    return {
        **({"DependsOn": always} if always else {}),
        **({"Metadata": {"Exports": perhaps}} if perhaps else {}),
    }


def _refers(node: Node, logical_id: str) -> bool:
    """Whether a value depends on a resource, whatever the conditions are."""
    if isinstance(node, list):
        return any(_refers(item, logical_id) for item in node)
    if not isinstance(node, Mapping) or IF in node:
        return False
    return any(_names(key, below, logical_id) or _refers(below, logical_id) for key, below in node.items())


def _names(function: str, argument: Node, logical_id: str) -> bool:
    """Whether a function refers to a resource itself, and not by what stands below it."""
    first = str(argument[0] if isinstance(argument, list) and argument else argument)
    told = {
        "Ref": [logical_id == first],
        "Fn::GetAtt": [logical_id == first, first.startswith(f"{logical_id}.")],
        "Fn::Sub": [f"${{{logical_id}{end}" in first for end in ("}", ".")],
    }
    return any(told.get(function, ()))
