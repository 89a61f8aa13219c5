"""The janitor: the function that a schedule calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.scheduled import Scheduled
from strongref.wiring import janitor

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

upkeep = Scheduled(*janitor())


def handler(event: dict[str, Any], context: LambdaContext) -> None:
    upkeep(event, context)
