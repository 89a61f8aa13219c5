"""Handles CloudFormation's macro event: returns the transformed template, or what is wrong with it.

The contract is AWS's (CloudFormation User Guide, create a macro definition): any status but `success` is a failure, and
the stack or the change set shows `errorMessage` as its reason. The event has the values of the template's parameters,
which may be secret: they are not read and not logged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from strongref.errors import StrongRefError
from strongref.log import log_internal_error, logger, start_invocation_log
from strongref.macro.errors import NotATemplateError
from strongref.macro.transform import Settings, plan
from strongref.metrics import emit_counts

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def transform_event(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
    """The response to an event. Nothing is raised, since CloudFormation would not show the error."""
    start_invocation_log(context.aws_request_id)
    request = event.get("requestId", "")
    logger.append_keys(request=request)
    try:
        return {"requestId": request, "status": "success", "fragment": _transformed(event)}
    except StrongRefError as error:
        problem = error
    except Exception as error:  # noqa: BLE001 (Lambda would log its text, which may have values in it)
        problem = log_internal_error(error, context.aws_request_id)
    logger.info("Not transformed", extra={"error": type(problem).__name__})
    emit_counts({problem.counted.value: 1})
    return {"requestId": request, "status": "failure", "fragment": event.get("fragment"), "errorMessage": str(problem)}


def _transformed(event: Mapping[str, Any]) -> dict[str, Any]:
    fragment = event.get("fragment")
    if not isinstance(fragment, Mapping):
        raise NotATemplateError("the event's fragment must be a map")
    edits = plan(fragment, Settings.parse(event.get("params") or {}))
    logger.info("Transformed", extra={"references": len(edits.replacements), "added": len(edits.additions)})
    return edits.apply(fragment)
