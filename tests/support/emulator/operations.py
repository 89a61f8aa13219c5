"""Which operations a stack takes, and what becomes of one that another operation, or OnFailure, ends by a deletion.

The emulator rolls back before it deletes what OnFailure has deleted, runs a deletion beside the creation that it is to
end, creates stacks over ones that are there, and knows deleted stacks by their names, and by their ARNs no longer once
there are others of their names.
"""

from __future__ import annotations

import asyncio
from contextvars import Context, ContextVar, copy_context
from typing import TYPE_CHECKING, Any, NamedTuple

from ministack.services.cloudformation import _stacks, changesets, handlers, stacks, wait_conditions
from ministack.services.cloudformation.helpers import _p

from tests.support.emulator import wrong
from tests.support.emulator.cloudformation import FAILED

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Answer = tuple[int, Any, Any]
    Action = Callable[[Any], Answer]
    Stack = dict[str, Any]

BELIEFS = ("one-operation", "on-failure", "deleted-stacks")

_GONE = "DELETE_COMPLETE"
_UPDATABLE = (
    "CREATE_COMPLETE",
    "UPDATE_COMPLETE",
    "UPDATE_ROLLBACK_COMPLETE",
    "IMPORT_COMPLETE",
    "IMPORT_ROLLBACK_COMPLETE",
)
_DELETABLE_AT_WORK = ("CREATE_IN_PROGRESS", "REVIEW_IN_PROGRESS")

_without_rollback: ContextVar[str] = ContextVar("without_rollback", default="")
"""The ARN of the stack that this task creates, if its failure deletes it."""


class Deletion(NamedTuple):
    """A deletion that has to wait until the creation that it ends has stopped, with the context of its own request."""

    context: Context
    arguments: tuple[object, ...]


_ended: dict[str, Deletion] = {}
"""What ends creations, by the stack's ARN."""

_reasons: dict[str, str] = {}
"""Why a stack is deleted that nobody asked to be deleted: by its ARN, for the event that says that it begins."""


class CancelledCreationError(RuntimeError):
    """A resource that is not created any more, since its stack is to be deleted."""


def install() -> None:
    """Patch what begins operations, and how creations end."""
    handlers._resolve_stack = known(handlers._resolve_stack)
    actions = handlers._ACTION_HANDLERS
    for action, wrapper in (("CreateStack", creating), ("UpdateStack", updating), ("DeleteStack", deleting)):
        actions[action] = wrapper(actions[action])
    for module in (handlers, changesets):
        module._deploy_stack_async = ending_in_deletion(module._deploy_stack_async)
        module._create_then_delete_on_failure = deleting_on_failure(module._create_then_delete_on_failure)
    handlers._delete_stack_async = after_creation(handlers._delete_stack_async)
    stacks._provision_keeping_seed = unless_ended(stacks._provision_keeping_seed)
    stacks._roll_back_operation = unless_deleted(stacks._roll_back_operation)
    stacks._add_event = with_reason(stacks._add_event)


def known(resolve: Callable[[str], Stack | None]) -> Callable[[str], Stack | None]:
    """A stack: a deleted one by its ARN alone."""

    def resolved(name: str) -> Stack | None:
        stack = resolve(name)
        return stack if stack and (stack["StackStatus"] != _GONE or stack["StackId"] == name) else None

    return resolved


def creating(create: Action) -> Action:
    """CreateStack, unless there is one of that name, even if it was rolled back; a deleted one keeps its ARN."""

    def acting(params: object) -> Answer:
        before = _stacks.get(_p(params, "StackName"))
        if before and before["StackStatus"] == "ROLLBACK_COMPLETE":
            return _error("AlreadyExistsException", f"Stack [{before['StackName']}] already exists")
        answer = create(params)
        if before and before["StackStatus"] == _GONE and answer[0] == 200:
            _stacks[before["StackId"]] = before
        return answer

    return acting


def updating(update: Action) -> Action:
    """UpdateStack, refused in AWS's words where the stack's status does not allow it."""

    def acting(params: object) -> Answer:
        stack = handlers._resolve_stack(_p(params, "StackName") or "")
        if stack and stack["StackStatus"] not in _UPDATABLE:
            if wrong.is_wrong("one-operation"):
                body = f"<UpdateStackResult><StackId>{stack['StackId']}</StackId></UpdateStackResult>"
                accepted: Answer = handlers._xml(200, "UpdateStackResponse", body)
                return accepted
            why = f"Stack:{stack['StackId']} is in {stack['StackStatus']} state and can not be updated."
            return _error("ValidationError", why)
        return update(params)

    return acting


def deleting(delete: Action) -> Action:
    """DeleteStack: of a stack that is being created as well, and once more of one that is being deleted."""

    def acting(params: object) -> Answer:
        stack = handlers._resolve_stack(_p(params, "StackName") or "")
        status = stack["StackStatus"] if stack else ""
        if stack and status == "DELETE_IN_PROGRESS":
            done: Answer = handlers._xml(200, "DeleteStackResponse", "")
            return done
        if stack and status.endswith("_IN_PROGRESS") and status not in _DELETABLE_AT_WORK:
            return _error("ValidationError", f"Stack [{stack['StackId']}] cannot be deleted while in status {status}")
        return delete(params)

    return acting


def _error(code: str, message: str) -> Answer:
    refusal: Answer = handlers._error(code, message)
    return refusal


def after_creation(delete: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """A deletion that ends a creation: as soon as what is being created has been."""

    async def deleting(name: str, arn: str, *rest: object, **named: object) -> None:
        stack = _stacks[name]
        if stack["StackStatus"] != "CREATE_IN_PROGRESS":
            await delete(name, arn, *rest, **named)
            return
        stack["StackStatus"] = "DELETE_IN_PROGRESS"
        _ended[arn] = Deletion(copy_context(), (name, arn, *rest))
        for waiting_arn, logical_id in list(wait_conditions._waiting):
            if waiting_arn == arn:
                wait_conditions.signal_resource(arn, logical_id, "cancelled", "FAILURE")

    return deleting


def ending_in_deletion(deploy: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """A creation, and the deletion that ended it."""

    async def deploying(name: str, arn: str, *rest: object, **named: object) -> None:
        await deploy(name, arn, *rest, **named)
        if asked := _ended.pop(arn, None):
            stack = _stacks[name]
            status, stack["StackStatus"] = stack["StackStatus"], "DELETE_IN_PROGRESS"

            async def delete() -> None:
                stack["StackStatus"] = status  # Which it keeps if the deletion is cancelled.
                await stacks._delete_stack_async(*asked.arguments)

            await asyncio.get_running_loop().create_task(delete(), context=asked.context)

    return deploying


def unless_ended(provision: Callable[..., Any]) -> Callable[..., Any]:
    """A resource's creation, unless its stack is to be deleted."""

    def provisioning(kind: str, logical_id: str, properties: object, stack_name: str) -> object:
        if _stacks[stack_name]["StackId"] in _ended:
            raise CancelledCreationError("Resource creation cancelled")
        return provision(kind, logical_id, properties, stack_name)

    return provisioning


def deleting_on_failure(create: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """A creation whose failure deletes the stack."""

    async def creating(name: str, arn: str, deploy: Awaitable[None]) -> None:
        if wrong.is_wrong("on-failure"):
            await deploy
            return
        token = _without_rollback.set(arn)
        try:
            await create(name, arn, deploy)
        finally:
            _without_rollback.reset(token)

    return creating


def unless_deleted(roll_back: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """A roll-back, unless the stack is deleted instead: with what failed to be created."""

    async def rolling_back(name: str, arn: str, stack: Stack, operation: dict[str, Any], why: str = "") -> None:
        if arn not in (_without_rollback.get(), *_ended):
            await roll_back(name, arn, stack, operation, why)
            return
        stack["_resources"].update(stack.pop(FAILED, {}))
        stack["StackStatus"] = "CREATE_FAILED"
        if arn in _ended:
            return
        failed = (
            f"The following resource(s) failed to create: [{operation['failed_logical_id']}]. Delete requested by user."
        )
        stack["StackStatusReason"] = _reasons[arn] = why.replace("Rollback", "Delete") or failed

    return rolling_back


def with_reason(add: Callable[..., None]) -> Callable[..., None]:
    """A stack's events, with the reason for which it is deleted."""

    def adding(arn: str, name: str, logical_id: str, kind: str, status: str, *rest: str, **named: str) -> None:
        if status == "DELETE_IN_PROGRESS" and logical_id == name and arn in _reasons:
            named["reason"] = _reasons.pop(arn)
        add(arn, name, logical_id, kind, status, *rest, **named)

    return adding
