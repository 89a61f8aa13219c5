"""The holds of Exports: an output for each Export that the macro adds, and a check of the template's own. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from strongref.contract.hold_outputs import HOLD, hold_output, hold_output_id
from strongref.contract.names import short_hash
from strongref.contract.requests import EXPORT_TYPE
from strongref.macro.edits import Addition
from strongref.macro.errors import BadPropertyError, NameInUseError, TemplateError
from strongref.macro.template import FOR_EACH, Node, Template

if TYPE_CHECKING:
    from strongref.macro.exports import MacroExport

OUTPUTS = "Outputs"

_MOST_OUTPUTS = 200
"""In a template (AWS: CloudFormation quotas), without those of loops and other macros."""


def hold_outputs(template: Template, made: Sequence[MacroExport]) -> list[Addition]:
    """The outputs that export the holds of Exports; that of an Export in loops is in the same loops."""
    additions = []
    for export in (each for each in made if each.has_hold):
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
    names = [name for each in outputs.values() if (name := _value(_value(each, "Export"), "Name")) is not None]
    for logical_id, resource in resources.items():
        if _value(resource, "Type") != EXPORT_TYPE:
            continue
        hold = _value(_value(resource, "Properties"), HOLD)
        is_open = names and not all(isinstance(each, str) for each in (hold, *names))
        if hold is not None and hold not in names and not is_open:
            missing = "must be the export name of an output of this template"
            reason = f"{missing}; add one with the Value !GetAtt {logical_id}.Hold"
            yield BadPropertyError(("Resources", logical_id, "Properties", HOLD), reason)


def _value(node: Node, key: str) -> Node:
    return node.get(key) if isinstance(node, Mapping) else None
