"""CloudFormation's own exports, refused as AWS refuses them: what others import is neither changed nor dropped.

The emulator lets an update change and drop what is imported, keeps what was dropped, lets two stacks export one name,
and looks at no import in a resource's metadata. A stack's deletion that others' imports stand against is no error of
the call on AWS: the stack stays as it is, and an event says why.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ministack.services.cloudformation import _exports, _stacks, changesets, engine, handlers, stacks
from ministack.services.cloudformation.helpers import _p

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Exports = dict[str, dict[str, str]]

_NAME = re.compile(r"[A-Za-z0-9:-]+")
_LONGEST = 255
_GONE = ("DELETE_COMPLETE", "ROLLBACK_COMPLETE", "REVIEW_IN_PROGRESS")
"""Statuses of stacks that have no resources, and so import nothing."""


_deployed: dict[str, Mapping[str, Any]] = {}
"""The template that a stack was last sent, by the stack's ARN: the stack itself has it when all is done."""


class InUseError(ValueError):
    """An export that others import was to change, or to go."""


def install() -> None:
    """Patch what a deployed stack exports, and a stack's deletion."""
    stacks._resolve_stack_outputs = checked(stacks._resolve_stack_outputs)
    for module in (handlers, changesets):
        module._deploy_stack_async = noted(module._deploy_stack_async)
    handlers._ACTION_HANDLERS["DeleteStack"] = not_while_imported(handlers._delete_stack)


def noted(deploy: Callable[..., Any]) -> Callable[..., Any]:
    """What is deployed, as it is."""

    def deploying(name: str, arn: str, template: Mapping[str, Any], *rest: object, **named: object) -> object:
        _deployed[arn] = template
        return deploy(name, arn, template, *rest, **named)

    return deploying


def checked(resolve: Callable[..., tuple[list[dict[str, str]], Exports]]) -> Callable[..., Any]:
    """The last thing that can fail in an operation: nobody is left with an export that changed or went.

    What a stack exports no more is gone once this has been found to be right.
    """

    def resolving(  # noqa: PLR0913, PLR0917 (the emulator's signature)
        outputs: Mapping[str, Any],
        conditions: object,
        resources: object,
        params: object,
        mappings: object,
        name: str,
        arn: str,
    ) -> tuple[list[dict[str, str]], Exports]:
        for imported in _in_metadata(_deployed.get(arn, {})):
            engine._resolve_refs(imported, resources, params, conditions, mappings, name, arn)
        resolved, exports = resolve(outputs, conditions, resources, params, mappings, name, arn)
        _check_new(exports, resolved, arn)
        own = {each: export for each, export in _exports.items() if export["StackId"] == arn}
        for each, export in own.items():
            by = importers(each, name)
            if by and each not in exports:
                raise InUseError(f"Delete canceled. Cannot delete export {each} as it is in use by {', '.join(by)}.")
            if by and exports[each]["Value"] != export["Value"]:
                raise InUseError(f"Cannot update export {each} as it is in use by {', '.join(by)}.")
        for each in own.keys() - exports.keys():
            del _exports[each]
        return resolved, exports

    return resolving


def not_while_imported(delete: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """DeleteStack of a stack whose exports others import: accepted, and then cancelled."""

    def deleting(params: object) -> object:
        stack = handlers._resolve_stack(_p(params, "StackName") or "")
        for output in stack.get("Outputs", []) if stack else []:
            export = output.get("ExportName")
            by = importers(export, stack["StackName"]) if export else []
            if by:
                why = f"Delete canceled. Cannot delete export {export} as it is in use by {', '.join(by)}."
                arn, kind, status = stack["StackId"], "AWS::CloudFormation::Stack", stack["StackStatus"]
                stacks._add_event(arn, stack["StackName"], stack["StackName"], kind, status, why, physical_id=arn)
                return handlers._xml(200, "DeleteStackResponse", "")
        return delete(params)

    return deleting


def importers(export: str, exporter: str) -> list[str]:
    """The stacks that import an export, also where they are at work."""
    others = {name: stack for name, stack in _stacks.items() if name != exporter}
    return sorted(
        name
        for name, stack in others.items()
        if stack.get("StackStatus") not in _GONE and export in handlers._imported_export_names(stack, name)
    )


def _check_new(exports: Exports, outputs: list[dict[str, str]], arn: str) -> None:
    for name, export in exports.items():
        output = next(each["OutputKey"] for each in outputs if each.get("ExportName") == name)
        other = _exports.get(name)
        if other and other["StackId"] != arn:
            raise ValueError(f"Export with name {name} is already exported by stack {other['StackId'].split('/')[1]}")
        if not _NAME.fullmatch(name) or len(name) > _LONGEST:
            raise ValueError(
                f"Template format error: Output {output} is malformed. The Name field of every Export member must be "
                "specified and consist only of alphanumeric characters, colons, or hyphens."
            )
        if not export["Value"].strip():
            raise ValueError(f"Cannot export output {output}. Exported values must not be empty or whitespace-only.")


def _in_metadata(template: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every import in a resource's metadata."""
    pending = [resource.get("Metadata") for resource in template.get("Resources", {}).values()]
    while pending:
        node = pending.pop()
        if isinstance(node, dict) and list(node) == ["Fn::ImportValue"]:
            yield node
        elif isinstance(node, dict | list):
            pending += node.values() if isinstance(node, dict) else node
