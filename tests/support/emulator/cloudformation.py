"""CloudFormation's stack statuses and nesting, where the emulator tells them otherwise than AWS."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import unescape

from ministack.services.cloudformation import _stacks, handlers, stacks

if TYPE_CHECKING:
    from collections.abc import Callable

CLEANUP = "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"
_STACK_ID = re.compile(r"<StackId>([^<]*)</StackId>")


def install() -> None:
    """Patch what is told while an update cleans up, and about nested stacks."""
    stacks._delete_resource = in_cleanup(stacks._delete_resource)
    handlers._ACTION_HANDLERS["DescribeStacks"] = with_ancestors(handlers._describe_stacks)


def in_cleanup(delete: Callable[..., Any]) -> Callable[..., Any]:
    """An update that succeeds deletes what it replaced or removed in a status of its own.

    Before, it deletes nothing: so a delete in UPDATE_IN_PROGRESS is the first of that phase.
    """

    def deleting(resource_type: str, physical_id: str, properties: object, stack_name: str, logical_id: str) -> object:
        stack = _stacks.get(stack_name)
        if stack and stack["StackStatus"] == "UPDATE_IN_PROGRESS":
            stack["StackStatus"] = CLEANUP
            arn = stack["StackId"]
            stacks._add_event(arn, stack_name, stack_name, "AWS::CloudFormation::Stack", CLEANUP, physical_id=arn)
        return delete(resource_type, physical_id, properties, stack_name, logical_id)

    return deleting


def with_ancestors(describe: Callable[..., tuple[int, Any, Any]]) -> Callable[..., tuple[int, Any, Any]]:
    """DescribeStacks with the ParentId and the RootId of nested stacks, which the emulator keeps to itself."""

    def described(params: object) -> tuple[int, Any, Any]:
        status, headers, body = describe(params)
        text = body.decode() if isinstance(body, bytes) else body
        text = _STACK_ID.sub(lambda found: found[0] + _ancestors(unescape(found[1])), text)
        return status, headers, text.encode() if isinstance(body, bytes) else text

    return described


def _ancestors(arn: str) -> str:
    parents = {stack["StackId"]: stack.get("ParentId") for stack in _stacks.values()}
    parent = root = parents.get(arn)
    while root and (above := parents.get(root)):
        root = above
    return f"<ParentId>{parent}</ParentId><RootId>{root}</RootId>" if parent else ""
