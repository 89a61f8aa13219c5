"""`Custom::CrossRegionImport`: the Lambda handler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.runtime.wiring import importer

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

resource = importer()


def handler(event: dict[str, Any], context: LambdaContext) -> None:
    resource(event, context)
