"""The janitor: the Lambda handler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.runtime.wiring import janitor

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

scheduled = janitor()


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    return scheduled(event, context)
