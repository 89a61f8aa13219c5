"""The macro `StrongRef`: the Lambda handler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.macro.event import transform_event

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    return transform_event(event, context)
