"""CloudFormation's own exports, refused as AWS refuses them: what others import is neither changed nor dropped.

The emulator lets an update change and drop what is imported, keeps what was dropped, lets two stacks export one name,
and looks at no import in a resource's metadata. It resolves imports one by one as their resources come, where AWS
begins with them. A stack's deletion that others' imports stand against is no error of the call on AWS: the stack stays
as it is, and an event says why.

Of an import and the withdrawal of what it imports, one comes first: a stack imports from when its operation
begins, and what it imports is looked up then; an export is withdrawn once nobody was found to import it, from
when its stack's deletion begins, or its update has resolved its outputs. AWS does not say when it does either.
"""

from __future__ import annotations

import re
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

from ministack.services.cloudformation import _exports, _stacks, changesets, engine, handlers, stacks
from ministack.services.cloudformation.helpers import _p

from tests.support.emulator import wrong

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    Exports = dict[str, dict[str, str]]

BELIEFS = ("export-in-use", "imports-first", "export-leaving", "list-imports")

_NAME = re.compile(r"[A-Za-z0-9:-]+")
_LONGEST = 255
_GONE = ("DELETE_COMPLETE", "ROLLBACK_COMPLETE", "REVIEW_IN_PROGRESS")
"""Statuses of stacks that have no resources, and so import nothing."""

_WITHDRAWN = "DELETE_IN_PROGRESS"
"""The status of a stack whose exports cannot be imported any more, though they are there until it is deleted."""


class Sent(NamedTuple):
    """What a stack was last sent: the stack itself has it when all is done."""

    template: Mapping[str, Any]
    parameters: Mapping[str, Any]


_sent: dict[str, Sent] = {}
"""By the stack's ARN."""

_lock = RLock()
"""Of what is imported and exported: nested stacks have threads of their own."""


class InUseError(ValueError):
    """An export that others import was to change, or to go."""


def install() -> None:
    """Patch what a deployed stack imports and exports, and a stack's deletion."""
    handlers._ACTION_HANDLERS["ListImports"] = listing(handlers._ACTION_HANDLERS["ListImports"])
    stacks._resolve_stack_outputs = checked(stacks._resolve_stack_outputs)
    for module in (handlers, changesets):
        module._deploy_stack_async = noted(importing_first(module._deploy_stack_async))
    handlers._ACTION_HANDLERS["DeleteStack"] = not_while_imported(handlers._delete_stack)
    stacks._delete_stack_async = handlers._delete_stack_async = withdrawing(stacks._delete_stack_async)


def listing(imports: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """ListImports, which is the emulator's."""

    def listed(params: object) -> object:
        if wrong.is_wrong("list-imports"):
            return handlers._error("ValidationError", "Export is not imported by any stack.")
        return imports(params)

    return listed


def noted(deploy: Callable[..., Any]) -> Callable[..., Any]:
    """What is deployed, as it is, from when it was sent."""

    def deploying(name: str, arn: str, *given: Any, **named: Any) -> object:
        _sent[arn] = Sent(*given[:2])
        return deploy(name, arn, *given, **named)

    return deploying


def importing_first(deploy: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """A deployment that begins with its imports: where one is not there, no resource is touched."""

    async def deploying(  # noqa: PLR0913, PLR0917 (the emulator's signature)
        name: str,
        arn: str,
        template: dict[str, Any],
        parameters: dict[str, Any],
        disable_rollback: bool,
        tags: list[Any],
        **named: Any,
    ) -> None:
        with _lock:
            missing = [each for each in _imports(_stacks[name], Sent(template, parameters)) if not _importable(each)]
        if wrong.is_wrong("exports-last"):
            named_at_once = [
                each["Export"]["Name"] for each in template.get("Outputs", {}).values() if "Export" in each
            ]
            _exports.update({each: {"StackId": arn, "Name": each, "Value": "?"} for each in named_at_once})
        if not missing or wrong.is_wrong("imports-first"):
            await deploy(name, arn, template, parameters, disable_rollback, tags, **named)
            return
        why = f"No export named {missing[0]} found"
        operation = _nothing_done(name, Sent(template, parameters), **named)
        if disable_rollback:
            _fail(name, operation, why)
        else:
            reported = f"{why}. Rollback requested by user."
            await stacks._roll_back_operation(name, arn, _stacks[name], operation, reported)

    return deploying


def _importable(export: str) -> bool:
    found = _exports.get(export)
    by = _stacks.get(found["StackId"].split("/")[1], {}) if found else {}
    return bool(found) and (by.get("StackStatus") != _WITHDRAWN or wrong.is_wrong("export-leaving"))


def _nothing_done(
    name: str, sent: Sent, *, is_update: bool = False, previous_stack: dict[str, Any] | None = None, **_: object
) -> dict[str, Any]:
    """An operation that failed before its first resource."""
    operation: dict[str, Any] = stacks._failed_operation(
        is_update=is_update,
        previous_stack=previous_stack,
        created=[],
        failed_update=None,
        failed_logical_id=None,
        replaced_ids=[],
        cancelled=False,
        template=sent.template,
        param_values=sent.parameters,
        retain_except_on_create=False,
        stack_tags=_stacks[name].get("Tags"),
        previous_tags=(previous_stack or {}).get("Tags"),
    )
    return operation


def _fail(name: str, operation: dict[str, Any], why: str) -> None:
    stack = _stacks[name]
    status = "UPDATE_FAILED" if operation["is_update"] else "CREATE_FAILED"
    stack |= {"StackStatus": status, "StackStatusReason": why, "_failed_operation": operation}
    _add_event(stack, why)


def _add_event(stack: Mapping[str, Any], why: str) -> None:
    """An event of a stack itself, with its status."""
    name, arn = stack["StackName"], stack["StackId"]
    stacks._add_event(arn, name, name, "AWS::CloudFormation::Stack", stack["StackStatus"], why, physical_id=arn)


def checked(resolve: Callable[..., tuple[list[dict[str, str]], Exports]]) -> Callable[..., Any]:
    """The last thing that can fail in an operation: nobody is left with an export that changed or went.

    What a stack exports no more is gone once this has been found to be right, and what it exports anew is there.
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
        resolved, exports = resolve(outputs, conditions, resources, params, mappings, name, arn)
        with _lock:
            _publish(exports, resolved, name, arn)
        return resolved, exports

    return resolving


def _publish(exports: Exports, resolved: list[dict[str, str]], name: str, arn: str) -> None:
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
    _exports.update(exports)


def not_while_imported(delete: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """DeleteStack of a stack whose exports others import: accepted, and then cancelled."""

    def deleting(params: object) -> object:
        stack = handlers._resolve_stack(_p(params, "StackName") or "")
        return handlers._xml(200, "DeleteStackResponse", "") if stack and _cancelled(stack) else delete(params)

    return deleting


def withdrawing(delete: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """A stack's deletion, which is cancelled where an import came before it; none comes after it."""

    async def deleting(name: str, arn: str, *rest: object, **named: object) -> None:
        stack = _stacks.get(name)
        with _lock:
            if stack and _cancelled(stack):
                return
            if stack:
                stack["StackStatus"] = _WITHDRAWN
        await delete(name, arn, *rest, **named)

    return deleting


def _cancelled(stack: Mapping[str, Any]) -> bool:
    """Whether others' imports stand against a stack's deletion; its events say so then."""
    for export in (output["ExportName"] for output in stack.get("Outputs", []) if output.get("ExportName")):
        if by := importers(export, stack["StackName"]):
            _add_event(stack, f"Delete canceled. Cannot delete export {export} as it is in use by {', '.join(by)}.")
            return True
    return False


def importers(export: str, exporter: str) -> list[str]:
    """The stacks that import an export, also where they are at work: by what they have, and by what they were sent."""
    if wrong.is_wrong("export-in-use"):
        return []
    others = {name: stack for name, stack in _stacks.items() if name != exporter}
    return sorted(
        name
        for name, stack in others.items()
        if stack.get("StackStatus") not in _GONE and any(export in _imports(stack, each) for each in _of(stack))
    )


def _of(stack: Mapping[str, Any]) -> Iterator[Sent]:
    yield Sent(stack.get("_template") or {}, stack.get("_resolved_params") or {})
    if not stack["StackStatus"].endswith("_COMPLETE") and stack["StackId"] in _sent:
        yield _sent[stack["StackId"]]


def _imports(stack: Mapping[str, Any], sent: Sent) -> list[str]:
    """The names of the exports that a template of a stack's imports, with those parameters."""
    conditions = engine._evaluate_conditions(sent.template, sent.parameters)
    used = {section: _used(sent.template.get(section) or {}, conditions) for section in ("Resources", "Outputs")}
    seen = {
        "StackId": stack["StackId"],
        "_template": {**sent.template, **used},
        "_resolved_params": sent.parameters,
        "_conditions": conditions,
    }
    return sorted(handlers._imported_export_names(seen, stack["StackName"]))


def _used(node: Any, conditions: Mapping[str, bool]) -> Any:
    """What is left of a part of a template under its conditions."""
    if isinstance(node, list):
        return [_used(each, conditions) for each in node]
    if not isinstance(node, dict):
        return node
    if list(node) == ["Fn::If"]:
        name, then, otherwise = node["Fn::If"]
        return _used(then if conditions.get(name) else otherwise, conditions)
    return {key: _used(each, conditions) for key, each in node.items() if not _left_out(each, conditions)}


def _left_out(node: object, conditions: Mapping[str, bool]) -> bool:
    """Whether a resource, or an output, has a condition that does not hold."""
    condition = node.get("Condition") if isinstance(node, dict) else None
    return isinstance(condition, str) and conditions.get(condition) is False


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
