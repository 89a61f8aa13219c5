"""The transform: from a template to its edits. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING

from strongref.contract.hold_stacks import HOLD, MAX_LOGICAL_ID
from strongref.errors import BadRequestError
from strongref.macro import errors
from strongref.macro.cdk import CDK_VALUE_BYTES, cdk_references
from strongref.macro.cdk_edits import cdk_edits
from strongref.macro.edits import Addition, TemplateEdits
from strongref.macro.export_properties import export_parts
from strongref.macro.exports import MacroExport, exports, hold_outputs, hold_problems
from strongref.macro.imports import VALUE_BYTES, MacroImport, imports, parse_value_bytes
from strongref.macro.scan import ImportPlaceholder, scan
from strongref.macro.template import DEPTH_LIMIT, RESOURCES, Node, Template, mapped, too_deep
from strongref.text import some

if TYPE_CHECKING:
    from strongref.macro.errors import TemplateError

CONDITIONS = "Conditions"

_MOST_RESOURCES = 500
"""In a template (AWS: CloudFormation quotas), without those of loops and other macros."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The transform's own parameters."""

    value_bytes: int | None = None  # the assumed size of an imported value; it limits the names of one Import
    hold: bool = True  # whether each Export that is added names a CloudFormation export, and gets the output for it

    @classmethod
    def parse(cls, given: Mapping[str, Node]) -> Settings:
        """Read the parameters as CloudFormation sends them: numbers and booleans may be text.

        Raises:
            BadParameterError: a parameter is unknown or invalid.
        """
        unknown = [name for name in given if name not in ("ValueBytes", HOLD)]
        if unknown:
            raise errors.BadParameterError(str(unknown[0]), f"does not exist; there are ValueBytes and {HOLD}")
        hold = str(given.get(HOLD, True)).lower()
        if hold not in ("true", "false"):
            raise errors.BadParameterError(HOLD, "must be true or false")
        try:
            value_bytes = parse_value_bytes("ValueBytes", given["ValueBytes"]) if "ValueBytes" in given else None
        except BadRequestError as error:
            raise errors.BadParameterError(error.prop, error.problem) from None
        return cls(value_bytes, hold == "true")


def plan(template: Template, settings: Settings) -> TemplateEdits:
    """Plan the edits of a template; the template does not change.

    Raises:
        NotATemplateError: it has no resources.
        TooDeepError: it is nested too deeply.
        TransformFailedError: with all problems of its references and exports.
    """
    resources = template.get(RESOURCES)
    if not isinstance(resources, Mapping):
        problem = "it has no Resources. StrongRef works only on whole templates, from their Transform section"
        raise errors.NotATemplateError(problem)
    if deepest := too_deep(template):
        raise errors.TooDeepError(deepest, DEPTH_LIMIT)
    found = scan(template)
    cdk, problems = cdk_references(template)
    problems += found.problems
    exported = list(cdk.exported)
    for each in found.exports:
        new, wrong = export_parts(each)
        exported += new
        problems += wrong
    made, wrong = exports(exported, hold=settings.hold)
    problems += wrong
    holds = hold_outputs(template, made) if settings.hold else []
    problems += hold_problems(template, holds)
    referred, served = imports(found.imported, settings.value_bytes or VALUE_BYTES)
    read, read_from = imports(cdk.imported, cdk.value_bytes or settings.value_bytes or CDK_VALUE_BYTES)
    imported = [*referred, *read]
    of_cdk, wrong = cdk_edits(template, cdk, read_from)
    problems += wrong
    problems += _names_in_use(template, imported, made)
    problems += _over_limits(resources, [*made, *imported], len(of_cdk.removed))
    if problems:
        raise errors.TransformFailedError(sorted(problems, key=lambda each: _order(template, each)))
    additions = (
        *(Addition(each.path, each.logical_id, _filled(each.resource, served), each.origins) for each in made),
        *(Addition((RESOURCES,), each.logical_id, each.resource) for each in imported),
        *_conditions(template, imported),
        *holds,
    )
    return TemplateEdits(
        tuple(found.renamings),
        tuple(replace(each, value=_filled(each.value, served)) for each in found.replacements),
        tuple((*each.path, each.logical_id, "Exports") for each in found.exports),
        tuple(replace(each, value=of_cdk.redirected(each.value)) for each in additions),
    ).with_more(of_cdk.edits)


def _conditions(template: Template, imported: list[MacroImport]) -> list[Addition]:
    """The conditions of Imports that the template does not have."""
    there = template.get(CONDITIONS) or {}
    needed = {each.when.name: each.when.definition for each in imported if each.when.definition}
    return [Addition((CONDITIONS,), str(name), made) for name, made in needed.items() if name not in there]


def _names_in_use(template: Template, imported: list[MacroImport], made: list[MacroExport]) -> list[TemplateError]:
    """Names that the macro needs and that the template uses for something else."""
    everything: Node = template
    resources, there = template[RESOURCES], template.get(CONDITIONS) or {}
    problems: list[TemplateError] = [
        errors.NameInUseError((RESOURCES, each.logical_id), f"an Import of {some(each.names, 1)}")
        for each in imported
        if each.logical_id in resources
    ]
    seen: set[tuple[object, ...]] = set()
    for export in made:
        path = (*export.path, export.logical_id)
        if export.logical_id in reduce(getitem, export.path, everything) or path in seen:
            problems.append(errors.NameInUseError(path, "an Export that the macro adds"))
        seen.add(path)
    for each in imported:
        name = each.when.name
        if each.when.definition and name in there and there[name] != each.when.definition:
            problems.append(errors.NameInUseError((CONDITIONS, str(name)), f"the condition of {each.logical_id}"))
    return problems


def _over_limits(
    resources: Mapping[str, Node], made: Collection[MacroImport | MacroExport], removed: int
) -> Iterator[TemplateError]:
    """Limits that CloudFormation would report with logical IDs that nobody wrote."""
    for each in made:
        if len(each.logical_id) > MAX_LOGICAL_ID:
            size = f"a logical ID must have at most {MAX_LOGICAL_ID} characters, got {len(each.logical_id)}"
            problem = f"{size}; shorten the logical ID of the resource"
            yield errors.BadPropertyError((RESOURCES, each.logical_id), problem)
    count = len(resources) + len(made) - removed
    if made and count > _MOST_RESOURCES >= len(resources):
        total = f"must be at most {_MOST_RESOURCES} resources, got {count} with {len(made)} Imports and Exports"
        yield errors.BadPropertyError((RESOURCES,), f"{total}; split the template, or lower ValueBytes")


def _order(template: Template, problem: TemplateError) -> list[int]:
    """The sort key of a problem, in the order of the template."""
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


def _filled(node: Node, served: Mapping[ImportPlaceholder, str]) -> Node:
    """A value with its placeholders replaced."""

    def filled(each: Node) -> Node:
        return {"Fn::GetAtt": [served[each], each.reference.name]} if isinstance(each, ImportPlaceholder) else each

    return mapped(node, filled)
