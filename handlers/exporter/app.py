"""`Custom::CrossRegionExport`: the Lambda handler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.runtime.wiring import exporter

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

resource = exporter()


def handler(event: dict[str, Any], context: LambdaContext) -> None:
    resource(event, context)
