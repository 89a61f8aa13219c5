"""CloudFormation's statuses, ancestors and roll-backs, where the emulator's differ from AWS's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import unescape

import yaml
from ministack.core.responses import new_uuid, now_iso
from ministack.services.cloudformation import _stacks, engine, handlers, stacks

from tests.support.emulator import answers, deletions, wrong

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

CLEANUP = "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"
FAILED = "_failed_creates"
"""What of a stack is there though its creation failed."""

BELIEFS = ("cleanup-phase", "cleanup-failure", "stack-status", "replacement", "failed-creation", "nested-stacks")

_STACK_ID = re.compile(r"<StackId>([^<]*)</StackId>")


class _Loader(yaml.CSafeLoader):
    """Reads what the emulator's reads, in an eighth of the time."""

    yaml_constructors = engine.CfnLoader.yaml_constructors


def install() -> None:
    """Patch clean-ups, roll-backs, and what is reported about nested stacks."""
    engine.CfnLoader = _Loader
    stacks._delete_resource = in_cleanup(stacks._delete_resource)
    deletions.install()
    stacks._provision_keeping_seed = remembering_failures(stacks._provision_keeping_seed)
    stacks._roll_back_operation = deleting_failures(stacks._roll_back_operation)
    handlers._ACTION_HANDLERS["DescribeStacks"] = with_ancestors(handlers._describe_stacks)


def in_cleanup(delete: Callable[..., Any]) -> Callable[..., Any]:
    """An update that succeeds deletes what it replaced or removed in a status of its own.

    Before, it deletes nothing: so a delete in UPDATE_IN_PROGRESS is the first of that phase. It has events as well.
    """

    def deleting(resource_type: str, physical_id: str, properties: object, stack_name: str, logical_id: str) -> object:
        stack = _stacks.get(stack_name)
        is_update = stack and stack["StackStatus"] in ("UPDATE_IN_PROGRESS", CLEANUP)
        if is_update and wrong.is_wrong("replacement"):
            return None
        if not is_update or wrong.is_wrong("cleanup-phase"):
            return delete(resource_type, physical_id, properties, stack_name, logical_id)

        def event(resource: str, kind: str, status: str, physical: str) -> None:
            stacks._add_event(stack["StackId"], stack_name, resource, kind, status, physical_id=physical)

        if stack["StackStatus"] != CLEANUP:
            stack["StackStatus"] = CLEANUP
            event(stack_name, "AWS::CloudFormation::Stack", CLEANUP, stack["StackId"])
        event(logical_id, resource_type, "DELETE_IN_PROGRESS", physical_id)
        done = delete(resource_type, physical_id, properties, stack_name, logical_id)
        event(logical_id, resource_type, "DELETE_COMPLETE", physical_id)
        return done

    return deleting


def with_ancestors(describe: Callable[..., tuple[int, Any, Any]]) -> Callable[..., tuple[int, Any, Any]]:
    """DescribeStacks with the ParentId and the RootId of nested stacks, which the emulator keeps to itself."""

    def described(params: dict[str, list[str]]) -> tuple[int, Any, Any]:
        stack = _stacks.get(params.get("StackName", [""])[0])
        if stack and wrong.is_wrong("deleted-stacks"):
            params = {**params, "StackName": [stack["StackId"]]}
        status, headers, body = describe(params)
        text = body.decode() if isinstance(body, bytes) else body
        if wrong.is_wrong("cleanup-failure"):
            text = text.replace(">UPDATE_COMPLETE<", ">UPDATE_FAILED<")
        if wrong.is_wrong("stack-status"):
            text = text.replace(">UPDATE_ROLLBACK_IN_PROGRESS<", ">UPDATE_IN_PROGRESS<")
        text = _STACK_ID.sub(lambda found: found[0] + _ancestors(unescape(found[1])), text)
        return status, headers, text.encode() if isinstance(body, bytes) else text

    return described


def _ancestors(arn: str) -> str:
    parents = {stack["StackId"]: stack.get("ParentId") for stack in _stacks.values()}
    parent = root = parents.get(arn)
    while root and (above := parents.get(root)):
        root = above
    return f"<ParentId>{parent}</ParentId><RootId>{root}</RootId>" if parent else ""


def remembering_failures(provision: Callable[..., Any]) -> Callable[..., Any]:
    """A custom resource (or a nested stack) whose creation failed is there, for all that CloudFormation knows.

    One that could not be called at all is not: that is another error.
    """

    def provisioning(resource_type: str, logical_id: str, properties: object, stack_name: str) -> object:
        try:
            return provision(resource_type, logical_id, properties, stack_name)
        except (RuntimeError, TimeoutError) as error:
            stack = _stacks[stack_name]
            reported = getattr(error, "physical_id", None) or answers.failed_create(stack["StackId"], logical_id)
            stack.setdefault(FAILED, {})[logical_id] = {
                "PhysicalResourceId": reported or f"{stack_name}-{logical_id}-{new_uuid()[:12].upper()}",
                "ResourceType": resource_type,
                "ResourceStatus": "CREATE_FAILED",
                "LogicalResourceId": logical_id,
                "Properties": properties,
                "Attributes": {},
                "Timestamp": now_iso(),
            }
            raise

    return provisioning


def deleting_failures(roll_back: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """A roll-back sends a Delete to what failed to be created as well, and to that first."""

    async def rolling_back(
        name: str, arn: str, stack: dict[str, Any], operation: dict[str, Any], *rest: object
    ) -> None:
        failed = stack.pop(FAILED, {})
        for logical_id, resource in () if wrong.is_wrong("failed-creation") else failed.items():
            stack["_resources"][logical_id] = resource
            operation["created"].append(logical_id)
        await roll_back(name, arn, stack, operation, *rest)

    return rolling_back
