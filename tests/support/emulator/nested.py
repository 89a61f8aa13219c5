"""Nested stacks that are stacks: with a roll-back, a clean-up, a deletion that may fail, and statuses that say so.

The emulator's own deploy, prune and delete inline, whatever fails. What still differs from AWS: a nested stack cleans
up as soon as it is updated, and not only once its root is.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from ministack.core.responses import new_uuid
from ministack.services.cloudformation import _stack_events, _stacks, handlers, provisioners

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Params = dict[str, list[str]]
    Action = Callable[[Params], tuple[int, Any, Any]]

BELIEFS = ("nested-stacks",)

TYPE = "AWS::CloudFormation::Stack"
_MESSAGE = re.compile(r"<Message>(.*)</Message>", re.DOTALL)


class EmbeddedStackError(RuntimeError):
    """A nested stack's operation failed; its own reasons are in its events.

    Attributes:
        physical_id: the nested stack's ARN, since it is there nevertheless.
    """

    def __init__(self, arn: str, done: str, why: str) -> None:
        super().__init__(f"Embedded stack {arn} was not successfully {done}: {why}")
        self.physical_id = arn


def install() -> None:
    """Replace the emulator's handlers of the type."""
    provisioners._RESOURCE_HANDLERS[TYPE] = {"create": create, "update": update, "delete": delete}


def create(logical_id: str, props: Mapping[str, Any], parent: str) -> tuple[str, dict[str, str]]:
    """A nested stack's ARN and outputs."""
    name = f"{parent}-{logical_id}-{new_uuid().replace('-', '')[:12].upper()}"
    stack, _ = _operate(handlers._create_stack, name, _request(name, props, parent), parent)
    if stack["StackStatus"] != "CREATE_COMPLETE":
        raise EmbeddedStackError(stack["StackId"], "created", _why(stack))
    return stack["StackId"], _attributes(stack)


def update(
    physical_id: str, _old: Mapping[str, Any], props: Mapping[str, Any], parent: str
) -> tuple[str, dict[str, str]]:
    """The nested stack's ARN and outputs, also where there was nothing to update."""
    name = provisioners._nested_stack_lookup_name(physical_id)
    stack, changed = _operate(handlers._update_stack, name, _request(name, props, parent), parent)
    if changed and stack["StackStatus"] != "UPDATE_COMPLETE":
        raise EmbeddedStackError(stack["StackId"], "updated", _why(stack))
    return stack["StackId"], _attributes(stack)


def delete(physical_id: str, _props: Mapping[str, Any]) -> None:
    """Delete a nested stack, if it is there."""
    name = provisioners._nested_stack_lookup_name(physical_id)
    if name in _stacks:
        stack, _ = _operate(handlers._ACTION_HANDLERS["DeleteStack"], name, {"StackName": [name]})
        if stack["StackStatus"] != "DELETE_COMPLETE":
            raise EmbeddedStackError(stack["StackId"], "deleted", _why(stack))


def _operate(action: Action, name: str, params: Params, parent: str | None = None) -> tuple[dict[str, Any], bool]:
    """Do to a nested stack what the API does to any, on a loop of this resource's own thread.

    Returns:
        The nested stack afterwards, and whether there was anything to do.
    """

    async def run() -> bool:
        status, _, body = action(params)
        text = body.decode() if isinstance(body, bytes) else str(body)
        if status == 200:
            if parent:
                _stacks[name]["ParentId"] = _stacks[parent]["StackId"]
            await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})  # What the action began.
            return True
        if "No updates are to be performed" in text:
            return False
        found = _MESSAGE.search(text)
        raise EmbeddedStackError(name, "changed", found[1] if found else text)

    changed = asyncio.run(run())
    return _stacks[name], changed


def _request(name: str, props: Mapping[str, Any], parent: str) -> Params:
    params = {"StackName": [name], "TemplateURL": [str(props.get("TemplateURL", ""))]}
    given = (props.get("Parameters") or {}).items()
    params |= _members("Parameters", ({"ParameterKey": key, "ParameterValue": str(value)} for key, value in given))
    tags = props.get("Tags") or ()
    params |= _members("Tags", (tag for tag in tags if not tag["Key"].startswith("aws:")))
    for number, capability in enumerate(_stacks[parent].get("Capabilities") or (), 1):
        params[f"Capabilities.member.{number}"] = [capability]
    return params


def _members(what: str, members: Iterable[Mapping[str, str]]) -> Params:
    return {
        f"{what}.member.{number}.{key}": [value]
        for number, member in enumerate(members, 1)
        for key, value in member.items()
    }


def _attributes(stack: Mapping[str, Any]) -> dict[str, str]:
    return {f"Outputs.{output['OutputKey']}": str(output["OutputValue"]) for output in stack["Outputs"]}


def _why(stack: Mapping[str, Any]) -> str:
    """The last reason that the nested stack's own events give for its status."""
    own = (event for event in _stack_events[stack["StackId"]] if event["ResourceType"] == TYPE)
    reasons = [str(event["ResourceStatusReason"]) for event in own]
    reported = [reason for reason in reasons if "resource(s)" in reason or "Delete canceled" in reason]
    return reported[-1] if reported else str(stack["StackStatus"])
