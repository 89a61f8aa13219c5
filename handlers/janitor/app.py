"""The janitor: the function that a schedule calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.runtime.schedule import ScheduledFunction
from strongref.runtime.wiring import janitor

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

upkeep = ScheduledFunction(*janitor())


def handler(event: dict[str, Any], context: LambdaContext) -> None:
    upkeep(event, context)
