"""`Custom::ResourceLookup`: the Lambda handler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.runtime.wiring import lookup

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

resource = lookup()


def handler(event: dict[str, Any], context: LambdaContext) -> None:
    resource(event, context)
