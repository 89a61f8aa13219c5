"""What it takes to deploy a stack, which the emulator does not ask for.

These are resource types that a policy allows, and the caller's own permissions for what CloudFormation does on their
behalf, without a role of its own: for Parameter Store's parameters, and no other resources.

A creation is refused before anything is created, where AWS may store a parameter and then fail to read it.
"""

from __future__ import annotations

import re
import time
from contextvars import ContextVar
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ministack.core import iam_actions
from ministack.core.responses import get_account_id, get_region
from ministack.services.cloudformation import handlers, provisioners

from tests.support.emulator import callers, wrong
from tests.support.emulator.iam import parameter_arn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Properties = Mapping[str, Any]
    Made = tuple[str, dict[str, str]]
    Action = Callable[[Mapping[str, list[str]]], tuple[int, Any, Any]]

BELIEFS = ("resource-types", "called-via", "hold-time")

TYPE = "AWS::SSM::Parameter"
_KEY = "cloudformation:ResourceTypes"
_WRONG_SECONDS = 20.0
_MEMBER = re.compile(r"ResourceTypes\.member\.\d+")

_allowed: ContextVar[list[str]] = ContextVar("allowed", default=[])  # noqa: B039 (never changed)
"""The resource types that the request names; none: it may have any."""

_plain: dict[str, Callable[..., Any]] = {}
"""The emulator's own handlers of the type."""


class DeniedError(RuntimeError):
    """The caller lacks a permission that CloudFormation needs for a resource."""


def install() -> None:
    """Patch the condition keys of requests, templates' resource types, and the handlers of parameters."""
    iam_actions.request_tag_context = with_resource_types(iam_actions.request_tag_context)
    handlers.validate_template_support = of_allowed_types(handlers.validate_template_support)
    for action in ("CreateStack", "UpdateStack"):
        handlers._ACTION_HANDLERS[action] = naming_types(handlers._ACTION_HANDLERS[action])
    _plain.update(provisioners._RESOURCE_HANDLERS[TYPE])
    own = {"create": create, "update": update, "delete": delete}
    provisioners._RESOURCE_HANDLERS[TYPE] = {**_plain, **own}


def _named_types(params: Mapping[str, list[str]]) -> list[str]:
    return [values[0] for name, values in params.items() if _MEMBER.fullmatch(name)]


def with_resource_types(context: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """A request's condition keys, with its resource types if it names any."""

    def known(service: str, action: str, body: bytes, params: Mapping[str, list[str]]) -> dict[str, Any]:
        found = context(service, action, body, params)
        named = _named_types(params) if action in ("cloudformation:CreateStack", "cloudformation:UpdateStack") else []
        return found | ({_KEY: named} if named and not wrong.is_wrong("resource-types") else {})

    return known


def naming_types(action: Action) -> Action:
    """CreateStack or UpdateStack, whose template may have the types that the request names."""

    def acting(params: Mapping[str, list[str]]) -> tuple[int, Any, Any]:
        named = _named_types(params)
        if named and any(name.startswith("Capabilities.member.") for name in params):
            refused: tuple[int, Any, Any] = handlers._error(
                "ValidationError", "Only one of the Capabilities and ResourceTypes parameters can be specified."
            )
            return refused
        token = _allowed.set(named)
        try:
            return action(params)
        finally:
            _allowed.reset(token)

    return acting


def of_allowed_types(validate: Callable[..., None]) -> Callable[..., None]:
    """A template's validation, which also looks at the types of its resources, before anything begins."""

    def validating(template: Mapping[str, Any], *rest: object, **named: object) -> None:
        validate(template, *rest, **named)
        allowed = _allowed.get()
        for resource in template.get("Resources", {}).values():
            if allowed and not any(fnmatchcase(resource["Type"], pattern) for pattern in allowed):
                raise ValueError(
                    f"Resource type {resource['Type']} is not allowed by parameter ResourceTypes {allowed}"
                )

    return validating


def create(logical_id: str, props: Properties, stack: str) -> Made:
    """A parameter, with the tags of the stack."""
    time.sleep(_WRONG_SECONDS if wrong.is_wrong("hold-time") else 0)
    _need(props.get("Name") or f"/{stack}/{logical_id}", "PutParameter", "AddTagsToResource", "GetParameters")
    made: Made = _plain["create"](logical_id, props, stack)
    return made


def update(physical_id: str, old: Properties, new: Properties, stack: str, logical_id: str) -> Made:
    """The parameter, or a new one if it has another name: the old one is deleted once all else has succeeded."""
    if new.get("Name", physical_id) != physical_id:
        made = create(logical_id, new, stack)
        provisioners._delete_predecessor(delete, physical_id, old)
        return made
    before, after = old.get("Tags") or {}, new.get("Tags") or {}
    tagging = ["AddTagsToResource"] if after.items() - before.items() else []
    untagging = ["RemoveTagsFromResource"] if before.keys() - after.keys() else []
    _need(physical_id, "PutParameter", *tagging, *untagging, "GetParameters")
    updated: Made = _plain["update"](physical_id, old, new, stack, logical_id)
    return updated


def delete(physical_id: str, props: Properties) -> None:
    _need(physical_id, "DeleteParameter")
    _plain["delete"](physical_id, props)


def _need(name: str, *actions: str) -> None:
    """What AWS's handlers of the type do: their permissions in its schema."""
    arn = parameter_arn(name, get_region(), get_account_id())
    for action in actions:
        if denied := callers.denial(f"ssm:{action}", arn):
            raise DeniedError(denied)
