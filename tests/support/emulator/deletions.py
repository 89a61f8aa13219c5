"""A stack's deletion in which a resource could not be deleted: what that one depends on stays, as on AWS.

The emulator goes on to delete it. It also knows no dependency by a function in a resource's metadata, which AWS does.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ministack.services.cloudformation import _stack_events, _stacks, engine, handlers, stacks

from tests.support.emulator import wrong

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

BELIEFS = ("failed-delete",)

_DELETED = "DELETE_FAILED"

_held: ContextVar[dict[str, Any] | None] = ContextVar("held", default=None)
"""What was not attempted in this deletion: the resources as they were, by logical id."""


class HeldError(RuntimeError):
    """Something that depends on the resource is still there."""


def install() -> None:
    """Patch what depends on what, and the deletion of stacks."""
    plain = engine._extract_deps

    def dependencies(resource: Mapping[str, Any], names: set[str]) -> set[str]:
        in_metadata = engine._intrinsic_references(resource.get("Metadata", {}))
        found: set[str] = plain(resource, names)
        return found | {name for name, _ in in_metadata if name in names}

    engine._extract_deps = stacks._extract_deps = dependencies
    stacks._delete_resource = unless_held(stacks._delete_resource)
    deleting = leaving_what_is_held(stacks._delete_stack_async)
    stacks._delete_stack_async = handlers._delete_stack_async = deleting


def unless_held(delete: Callable[..., Any]) -> Callable[..., Any]:
    """A resource's deletion that is not begun while something that depends on it could not be deleted."""

    def deleting(resource_type: str, physical_id: str, properties: object, stack_name: str, logical_id: str) -> object:
        held, stack = _held.get(), _stacks.get(stack_name)
        if held is not None and stack and not wrong.is_wrong("failed-delete"):
            resources, template = stack["_resources"], stack.get("_template") or {}
            failed = [name for name, each in resources.items() if each.get("ResourceStatus") == _DELETED]
            others = set(failed) - {logical_id}
            if logical_id in stacks._with_dependencies(others, template.get("Resources", {}), set(resources)):
                held[logical_id] = dict(resources[logical_id])
                raise HeldError(f"{logical_id} is needed by what could not be deleted")
        return delete(resource_type, physical_id, properties, stack_name, logical_id)

    return deleting


def leaving_what_is_held(delete: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """A stack's deletion after which nothing tells of what was not attempted."""

    async def deleting(stack_name: str, stack_id: str, *rest: Any, **named: Any) -> None:
        stack = _stacks.get(stack_name)
        if stack and stack.get("_template"):  # a roll-back leaves the conditions of what failed
            parameters = stack.get("_resolved_params", {})
            stack["_conditions"] = engine._evaluate_conditions(stack["_template"], parameters)
        held: dict[str, Any] = {}
        before = len(_stack_events.get(stack_id, []))
        token = _held.set(held)
        try:
            await delete(stack_name, stack_id, *rest, **named)
        finally:
            _held.reset(token)
        if not held or not stack or stack["StackStatus"] != _DELETED:
            return
        stack["_resources"].update(held)
        events = _stack_events[stack_id]
        events[before:] = [each for each in events[before:] if each["LogicalResourceId"] not in held]
        failed = sorted(name for name, each in stack["_resources"].items() if each.get("ResourceStatus") == _DELETED)
        reported = f"The following resource(s) failed to delete: [{', '.join(failed)}]."
        stack["StackStatusReason"] = events[-1]["ResourceStatusReason"] = reported

    return deleting
