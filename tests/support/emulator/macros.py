"""Macros: the type, and the functions behind it called as CloudFormation calls them, before its own transforms.

What still differs from AWS: a macro that fails, or is not there, refuses the call with AWS's sentence, where AWS begins
an operation and rolls it back; and a macro within `Fn::Transform` is not called.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from ministack.core.responses import get_account_id, get_region, new_uuid
from ministack.services import lambda_svc
from ministack.services.cloudformation import changesets, engine, handlers, provisioners

from tests.support.emulator import callers, wrong

if TYPE_CHECKING:
    from collections.abc import Mapping

    Template = dict[str, Any]

BELIEFS = ("macro-call",)

TYPE = "AWS::CloudFormation::Macro"

_macros: dict[tuple[str, str, str], str] = {}
"""The ARN of the function of each: by account, region and name."""


class MacroError(RuntimeError):
    """A macro that cannot be made."""


def install() -> None:
    """Have the type, and have macros called wherever a template comes in."""
    provisioners._RESOURCE_HANDLERS[TYPE] = {"create": create, "update": update, "delete": delete}
    plain = engine._apply_transforms

    def apply(template: Template, provided: Any = None, previous: Any = None) -> Template:
        processed = transformed(template, provided, previous)
        failed = isinstance(processed, engine._TransformFailed)
        done: Template = processed if failed else plain(processed, provided, previous)
        return done

    for module in (engine, handlers, changesets):
        module._apply_transforms = apply


def create(_logical_id: str, props: Mapping[str, Any], _stack: str) -> tuple[str, dict[str, str]]:
    """A macro: its name is its physical id, of which an account has one in a region."""
    key = (get_account_id(), get_region(), props["Name"])
    if key in _macros:
        raise MacroError(f"Macro {props['Name']} already exists")
    _macros[key] = props["FunctionName"]
    return props["Name"], {}


def update(
    physical_id: str, _old: Mapping[str, Any], props: Mapping[str, Any], _stack: str
) -> tuple[str, dict[str, str]]:
    _macros[get_account_id(), get_region(), physical_id] = props["FunctionName"]
    return physical_id, {}


def delete(physical_id: str, _props: Mapping[str, Any]) -> None:
    _macros.pop((get_account_id(), get_region(), physical_id), None)


def transformed(template: Template, provided: object, previous: object) -> Template:
    """A template after the account's own macros, in the order in which they are listed."""
    for each in _listed(template.get("Transform")):
        name, params = (each["Name"], each.get("Parameters", {})) if isinstance(each, dict) else (each, {})
        if not str(name).startswith("AWS::"):
            result = _called(name, params, template, engine._transform_parameters(template, provided, previous))
            if isinstance(result, str):
                failed: Template = engine._TransformFailed(template, result)
                return failed
            template = result
    return template


def _called(name: str, params: object, template: Template, values: object) -> Template | str:
    """What a macro makes of a template; why it did not, in AWS's words."""
    full = f"{get_account_id()}::{name}"
    function = _macros.get((get_account_id(), get_region(), name))
    if not function:
        return f"No transform named {full} found."
    if denied := callers.denial("lambda:InvokeFunction", function):
        return denied
    hidden = ("Transform", "Outputs") if wrong.is_wrong("macro-call") else ("Transform",)
    event = {
        "region": get_region(),
        "accountId": get_account_id(),
        "fragment": copy.deepcopy({key: value for key, value in template.items() if key not in hidden}),
        "transformId": full,
        "params": params,
        "requestId": new_uuid(),
        "templateParameterValues": values,
    }
    record, config, _ = lambda_svc._get_func_record_for_ref(function)
    execution = lambda_svc._execution_record_for_config(record, config)
    answer = lambda_svc._execute_function_with_config_scope(execution, event)
    body = answer.get("body")
    reported = json.loads(body) if isinstance(body, str | bytes) else body
    if answer.get("error") or not isinstance(reported, dict) or "status" not in reported:
        return f"Transform {full} failed without an error message."
    if reported["requestId"] != event["requestId"] or reported["status"].lower() != "success":
        return f"Transform {full} failed with: {reported.get('errorMessage', '')}"
    left = [
        each
        for each in _listed(template.get("Transform"))
        if name != (each["Name"] if isinstance(each, dict) else each)
    ]
    return {**reported["fragment"], **({"Transform": left} if left else {})}


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given] if given else []
