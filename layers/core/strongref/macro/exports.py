"""Exports: what several resources export to the same target, merged into one, and the outputs of their holds. Pure.

There is one Export for a target rather than one for a resource, and values under a condition rather than an Export
under a condition. The reason: CloudFormation deletes resources that a template no longer has after an update is over,
and accepts no refusal then. An Export with fewer values is updated before that, and may refuse.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from strongref.contract.hold_stacks import HOLD, hold_name, hold_output, hold_output_id
from strongref.contract.names import short_hash
from strongref.contract.requests import EXPORT_TYPE, EXPORTER
from strongref.macro.edits import Addition
from strongref.macro.errors import BadPropertyError, ConflictError, NameInUseError, TemplateError, WrongShapeError
from strongref.macro.export_properties import OPTIONS, SECURE, VALUES, ExportPart
from strongref.macro.loops import FOR_EACH, SUB, in_sub, named
from strongref.macro.template import (
    IF,
    NO_VALUE,
    Node,
    Path,
    SharedProperties,
    Template,
    is_function,
    make_id,
    value_at,
)

_MOST_CONDITIONS = 100
"""Each is a level of `Fn::If` in the Export, and its text grows with their square: to 300 KB here, of 1 MB allowed."""

OUTPUTS = "Outputs"

_MOST_OUTPUTS = 200
"""In a template (AWS: CloudFormation quotas), without those of loops and other macros."""


@dataclass(frozen=True, slots=True)
class MacroExport:
    origins: tuple[Path, ...]  # the paths of the `Exports` in it
    path: Path  # of the map that gets it
    logical_id: str
    resource: dict[str, Node] = field(repr=False)  # as in a template; the values may have imported values in them


@dataclass(frozen=True, slots=True)
class _Conditional:
    """A value of one resource, and the condition under which the resource exists."""

    at: Path
    condition: str | None
    node: Node = field(repr=False)

    def assuming(self, condition: str) -> _Conditional:
        """This value, if the condition is known to hold."""
        return replace(self, condition=None) if self.condition == condition else self


def exports(parts: Iterable[ExportPart], *, hold: bool = True) -> tuple[list[MacroExport], list[TemplateError]]:
    """The Exports, in the order of their targets, and all conflicts. `hold` says whether they name holds.

    In a loop there is one for each resource, since the iterations are not known here.
    """
    groups: dict[tuple[SharedProperties, Path, str], list[ExportPart]] = defaultdict(list)
    for part in parts:
        own = part.found.logical_id if part.found.loops else ""
        groups[part.target, part.found.path, own].append(part)
    problems: list[TemplateError] = []
    made: list[MacroExport] = []
    for (target, path, own), group in groups.items():
        problems += _many_conditions(group)
        problems += _disagreements(group)
        logical_id = export_id(target, own)
        resource = {} if problems else _resource(group, hold_name(logical_id) if hold else None)
        made.append(MacroExport(tuple(part.at for part in group if not part.of_writer), path, logical_id, resource))
    return made, problems


def export_id(target: SharedProperties, own: str = "") -> str:
    """The logical ID of a target's Export; in a loop, of the resource with this one."""
    return make_id(f"{own}Exports", "" if own else target.properties.get("Consumer", ""), target.text)


def _many_conditions(group: Sequence[ExportPart]) -> Iterator[TemplateError]:
    conditions = {part.found.condition for part in group if part.found.condition}
    if len(conditions) > _MOST_CONDITIONS:
        most = f"must have at most {_MOST_CONDITIONS} conditions among the exports of one target"
        yield BadPropertyError(group[0].at, f"{most}, got {len(conditions)}; give some of them another Consumer")


def _resource(group: Sequence[ExportPart], hold: Node) -> dict[str, Node]:
    given = [_given(part, part.values) for part in group]
    options = {key: part.options[key] for part in reversed(group) for key in OPTIONS if key in part.options}
    keys = _by_key([_given(part, {key: key for key in part.secure}) for part in group])
    secure = {SECURE: [*keys.values()]} if keys else {}
    target = {**group[0].target.properties, **({HOLD: hold} if hold else {})}
    properties = {"ServiceToken": EXPORTER, **target, VALUES: _top(given), **secure, **options}
    return {"Type": EXPORT_TYPE, **_after(group), "Properties": properties}


def _given(part: ExportPart, node: Node) -> _Conditional:
    return _Conditional(part.at, part.found.condition, node)


def _top(given: Sequence[_Conditional]) -> Node:
    """`Values`: a map of names. Each may be absent under its condition, so the map itself may be empty."""
    if is_function(given[0].node):  # Then it is the only one.
        condition = given[0].condition
        return {IF: [condition, given[0].node, {}]} if condition else given[0].node
    return _by_key(given)


def _by_key(given: Sequence[_Conditional]) -> dict[str, Node]:
    keys: dict[str, list[_Conditional]] = {}
    for each in given:
        for key, below in each.node.items():
            keys.setdefault(key, []).append(replace(each, node=below))
    return {key: _merged(several) for key, several in keys.items()}


def _merged(given: Sequence[_Conditional]) -> Node:
    """One value of several resources that agree: present if any of them is.

    A map is present only if it is not empty: the exporter refuses empty maps.
    """
    if all(each.condition for each in given):
        first = min(str(each.condition) for each in given)
        others = [each for each in given if each.condition != first]
        holds = _merged([each.assuming(first) for each in given])
        return {IF: [first, holds, _merged(others) if others else NO_VALUE]}
    always = next(each.node for each in given if not each.condition)
    return always if all(_same(each.node, always) for each in given) else _by_key(given)


def _disagreements(group: Sequence[ExportPart]) -> Iterator[TemplateError]:
    for key in OPTIONS:
        given = [part for part in group if key in part.options]
        compared = group if given and key == "OnChange" else given  # To leave OnChange out is to choose refuse.
        for part in compared:
            if part.options.get(key) != given[0].options[key]:
                yield ConflictError(part.at, given[0].at, key)
    functions = [part for part in group if is_function(part.values)]
    if functions and len(group) > 1:
        expected = "a map of names to values, since other resources export to the same target"
        yield from (WrongShapeError((*part.at, VALUES), "a function", expected) for part in functions)
    else:
        yield from _different((), [_given(part, part.values) for part in group])


def _different(name: tuple[str, ...], given: Sequence[_Conditional]) -> Iterator[TemplateError]:
    """Values that two resources give and that differ: whether their conditions exclude each other is not known here."""
    first, *others = given
    if all(_same(first.node, each.node) for each in others):
        return
    if not all(isinstance(each.node, Mapping) and not is_function(each.node) for each in given):
        other = next(each for each in others if not _same(first.node, each.node))
        yield ConflictError(other.at, first.at, f"the value of {'.'.join(name)}")
        return
    for key in dict.fromkeys(key for each in given for key in each.node):
        yield from _different((*name, key), [replace(each, node=each.node[key]) for each in given if key in each.node])


def _same(one: Node, other: Node) -> bool:
    return repr(one) == repr(other)  # `==` would say that True is 1.


def _after(group: Sequence[ExportPart]) -> dict[str, Node]:
    """What makes CloudFormation delete the Export before its resources, if its values do not: they are in use.

    `DependsOn` takes no resource with a condition, and no variable of a loop. A function in the metadata does.
    """
    resources = {part.found.logical_id: part.found for part in group if not part.of_writer}
    used = {name for name in resources for part in group if _refers(part.values, name)}
    apart = {name: found for name, found in resources.items() if name not in used}
    plain = [name for name, found in apart.items() if not found.condition and not found.loops]
    others = {name: in_sub({"Ref": name}, found.loops) for name, found in apart.items() if name not in plain}
    perhaps = [{IF: [when, ref, NO_VALUE]} if (when := apart[name].condition) else ref for name, ref in others.items()]
    return {**({"DependsOn": plain} if plain else {}), **({"Metadata": {"Exports": perhaps}} if perhaps else {})}


def _refers(node: Node, logical_id: str) -> bool:
    """Whether a value depends on a resource under all conditions."""
    if isinstance(node, list):
        return any(_refers(item, logical_id) for item in node)
    if not isinstance(node, Mapping) or IF in node:
        return False
    first, text = (given[0] if isinstance(given, list) and given else given for given in (named(node), node.get(SUB)))
    in_text = any(f"${{{logical_id}{end}" in str(text) for end in ("}", "."))
    is_named = first == {SUB: logical_id} or str(first).partition(".")[0] == logical_id
    return in_text or is_named or any(_refers(below, logical_id) for below in node.values())


def hold_outputs(template: Template, made: Sequence[MacroExport]) -> list[Addition]:
    """The outputs that export the holds of Exports; that of an Export in loops is in the same loops."""
    additions = []
    for export in made:
        key = hold_output_id(export.logical_id)
        value: Node = hold_output(export.logical_id, export.resource)
        for name, (variable, collection, _) in reversed(_loops(template, export)):
            # The name of a loop is unique in a template.
            key, value = f"{name}{HOLD}{short_hash(export.logical_id)}", [variable, collection, {key: value}]
        additions.append(Addition((OUTPUTS,), key, value))
    return additions


def hold_problems(template: Template, holds: Sequence[Addition]) -> Iterator[TemplateError]:
    """What is wrong with the outputs that are added, and with the holds that the template's own Exports name."""
    given = template.get(OUTPUTS)
    outputs = given if isinstance(given, Mapping) else {}
    for each in holds:
        if each.key in outputs:
            yield NameInUseError((OUTPUTS, each.key), "an output that the macro adds for an Export")
    count = len(outputs) + len(holds)
    if count > _MOST_OUTPUTS >= len(outputs):
        total = f"must be at most {_MOST_OUTPUTS} outputs, got {count} with {len(holds)} of Exports"
        yield BadPropertyError((OUTPUTS,), f"{total}; split the template, or set the transform's parameter Hold: false")
    yield from _not_exported(template["Resources"], outputs)


def _loops(template: Template, export: MacroExport) -> list[tuple[str, Node]]:
    """The loops around an Export, the outermost first."""
    found = []
    node: Node = template
    for step in export.path:
        node = node[step]
        if isinstance(step, str) and step.startswith(FOR_EACH):
            found.append((step, node))
    return found


def _not_exported(resources: Mapping[str, Node], outputs: Mapping[str, Node]) -> Iterator[TemplateError]:
    """Exports that name a hold which no output exports, as far as that is certain before functions are resolved."""
    if any(str(key).startswith("Fn::") for key in outputs):  # Loops and includes have outputs that are not known here.
        return
    names = [name for each in outputs.values() if (name := value_at(each, "Export", "Name")) is not None]
    for logical_id, resource in resources.items():
        if value_at(resource, "Type") != EXPORT_TYPE:
            continue
        hold = value_at(resource, "Properties", HOLD)
        is_open = names and not all(isinstance(each, str) for each in (hold, *names))
        if hold is not None and hold not in names and not is_open:
            missing = "must be the export name of an output of this template"
            reason = f"{missing}; add one with the Value !GetAtt {logical_id}.Hold"
            yield BadPropertyError(("Resources", logical_id, "Properties", HOLD), reason)
