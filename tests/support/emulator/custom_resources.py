"""Custom resources' requests as AWS makes them: the resource is listed in progress, and the response URL names it.

The emulator lists a resource once it has been created, and its response URLs have neither a name nor a date. It does
not deliver an event again where its function has failed.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ministack.core.responses import now_iso
from ministack.services import lambda_svc
from ministack.services.cloudformation import _stacks, custom_resource, handlers

from tests.support.emulator import answers, wrong

if TYPE_CHECKING:
    from collections.abc import Callable

    Action = Callable[[Any], tuple[int, Any, Any]]

_LISTING = ("DescribeStackResource", "DescribeStackResources", "ListStackResources")

BELIEFS = (
    "in-progress",
    "response-host",
    "response-key",
    "response-date",
    "set-before-signed",
    "rollback-is-later",
    "scalars",
    "yaml",
    "missing-attribute",
    "redelivery",
    "loop-detection",
    "self-invocation",
    "rollback-request",
    "attributes",
)

_WRONG_RETRY_WAIT, _WRONG_TIMEOUT = 1.0, 10.0
_DROPPED = {"loop-detection": 5, "self-invocation": 10}
"""So many invocations before the last one of a chain, it is stopped; the first one's number is a text."""

_RETRY_WAITS = (60.0, 120.0)
"""Seconds before a failed event is delivered again (AWS: Lambda, asynchronous invocation)."""

_of: ContextVar[str] = ContextVar("of", default="")
"""Whose response URL is made: the stack's ID and the logical ID, as they are in its key."""

_in_progress: dict[tuple[str, str], dict[str, Any]] = {}
"""The resources whose functions are at work, by stack ID and logical ID."""

_listing = threading.local()


def install() -> None:
    """Patch the request of a custom resource, its response URL, and the lists of resources."""
    custom_resource.invoke_custom_resource = in_progress(custom_resource.invoke_custom_resource)
    custom_resource._response_url = response_url
    custom_resource._normalise_resource_properties = as_sent(custom_resource._normalise_resource_properties)
    lambda_svc.invoke_async_with_retry = unless_stopped(lambda_svc.invoke_async_with_retry)
    lambda_svc._execute_function_with_config_scope = again(lambda_svc._execute_function_with_config_scope)
    handlers._resolve_stack = with_progress(handlers._resolve_stack)
    for action in _LISTING:
        handlers._ACTION_HANDLERS[action] = listing(handlers._ACTION_HANDLERS[action])


def impatient(invoke: Callable[..., Any]) -> Callable[..., Any]:
    """A request that CloudFormation gives up before ServiceTimeout is over."""

    def invoking(*request: object) -> object:
        pool = ThreadPoolExecutor(1)
        try:
            return pool.submit(copy_context().run, invoke, *request).result(_WRONG_TIMEOUT)
        finally:
            pool.shutdown(wait=False)

    return invoking


def response_url(token: str) -> str:
    """As on AWS: the object's key is the stack, the logical ID and a UUID; the query has the date and the validity."""
    signed = now_iso().split(".")[0].replace("-", "").replace(":", "").rstrip("Z")
    dated = "" if wrong.is_wrong("response-date") else f"X-Amz-Date={signed}Z&"
    query = f"X-Amz-Algorithm=AWS4-HMAC-SHA256&{dated}X-Amz-Expires=7200&X-Amz-Signature=presigned"
    host, of = custom_resource._gateway_url(), "" if wrong.is_wrong("response-key") else _of.get()
    host = host.replace("127.0.0.1", "localhost") if wrong.is_wrong("response-host") else host
    return f"{host}{answers.PATH}{quote(f'{of}{token}', safe='')}?{query}"


def as_sent(normalise: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Properties as the emulator sends them, which is as AWS does."""

    def sent(value: Any) -> Any:
        if isinstance(value, bool | int) and wrong.is_wrong("scalars"):
            return value
        return "0123" if value == 83 and wrong.is_wrong("yaml") else normalise(value)

    return sent


def in_progress(invoke: Callable[..., Any]) -> Callable[..., Any]:
    """The resource is listed as in progress before its function is called; without a physical ID if it is created."""

    def invoking(  # noqa: PLR0913, PLR0917 (as the emulator's)
        request_type: str,
        logical_id: str,
        props: dict[str, Any],
        stack_name: str,
        stack_id: str,
        resource_type: str,
        physical_id: str | None = None,
        old_props: dict[str, Any] | None = None,
    ) -> object:
        show(stack_id, logical_id, request_type, resource_type, physical_id or "")
        token = _of.set(f"{stack_id}|{logical_id}|")
        rolls_back = "ROLLBACK" in _stacks[stack_name]["StackStatus"] and request_type == "Update"
        if rolls_back and wrong.is_wrong("rollback-request"):
            props = old_props or {}
        send = impatient(invoke) if request_type == "Create" and wrong.is_wrong("service-timeout") else invoke
        try:
            done = send(request_type, logical_id, props, stack_name, stack_id, resource_type, physical_id, old_props)
            if rolls_back and not done[1] and wrong.is_wrong("missing-attribute"):
                raise RuntimeError("Vendor response doesn't contain A key in object")
            if done[1] and wrong.is_wrong("attributes"):
                return done[0], {name: str(value) for name, value in done[1].items()}
            return done
        finally:
            _of.reset(token)
            hide(stack_id, logical_id)

    return invoking


def unless_stopped(invoke: Callable[..., None]) -> Callable[..., None]:
    """An asynchronous invocation, unless it is one of a chain that ends too early."""

    def invoking(function: object, event: object, *rest: object) -> None:
        left = event.get("ResourceProperties", {}).get("Chain") if isinstance(event, dict) else None
        if not any(left == last and wrong.is_wrong(belief) for belief, last in _DROPPED.items()):
            invoke(function, event, *rest)

    return invoking


def again(execute: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """An execution that is repeated if it fails, while CloudFormation waits: only those of custom resources."""

    def repeat(func: object, event: object) -> None:
        for wait in [_WRONG_RETRY_WAIT] if wrong.is_wrong("redelivery") else _RETRY_WAITS:
            time.sleep(wait)
            if not execute(func, event).get("error"):
                return

    def executing(func: object, event: object) -> dict[str, Any]:
        done = execute(func, event)
        if _of.get() and done.get("error"):
            threading.Thread(target=copy_context().run, args=(repeat, func, event), daemon=True).start()
        return done

    return executing


def show(stack_id: str, logical_id: str, request_type: str, resource_type: str, physical_id: str) -> None:
    """List a resource as in progress from now on."""
    _in_progress[stack_id, logical_id] = {
        "LogicalResourceId": logical_id,
        "PhysicalResourceId": physical_id,
        "ResourceType": resource_type,
        "ResourceStatus": f"{request_type.upper()}_{'COMPLETE' if wrong.is_wrong('in-progress') else 'IN_PROGRESS'}",
        "Timestamp": _set_at(),
    }


def _set_at() -> str:
    """Now, as far as that is right; a minute, which is more than any clock is wrong by, later or earlier otherwise."""
    minutes = wrong.is_wrong("set-before-signed") - wrong.is_wrong("rollback-is-later")
    if not minutes:
        return str(now_iso())
    return f"{datetime.now(UTC) + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%S}.000Z"


def hide(stack_id: str, logical_id: str) -> None:
    """List it as it is from now on."""
    _in_progress.pop((stack_id, logical_id), None)


def listing(action: Action) -> Action:
    """A list of resources, in which `with_progress` shows what is in progress."""

    def listed(params: object) -> tuple[int, Any, Any]:
        _listing.on = True
        try:
            return action(params)
        finally:
            _listing.on = False

    return listed


def with_progress(resolve: Callable[[str], dict[str, Any] | None]) -> Callable[[str], dict[str, Any] | None]:
    """A stack, with the resources that are in progress. What was replaced is deleted without being listed."""

    def resolved(stack_name: str) -> dict[str, Any] | None:
        stack = resolve(stack_name)
        if not stack or not getattr(_listing, "on", False):
            return stack
        resources = dict(stack.get("_resources", {}))
        for (stack_id, logical_id), at_work in list(_in_progress.items()):
            found = resources.get(logical_id, {})
            replaced = found and found["PhysicalResourceId"] != at_work["PhysicalResourceId"]
            if stack_id == stack["StackId"] and not (replaced and at_work["ResourceStatus"] == "DELETE_IN_PROGRESS"):
                resources[logical_id] = {**found, **at_work}
        return {**stack, "_resources": resources}

    return resolved
