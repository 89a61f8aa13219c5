"""Lambda: a function invokes itself again to continue an event."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strongref.arns import Arn
from strongref.aws.retry import CallFailedError, RetryingCaller
from strongref.errors import ReinvokeError, StrongRefError

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

    from strongref.aws.rate_limit import RateLimiter
    from strongref.protocol.time import Clock


@dataclass(frozen=True, slots=True)
class LambdaInvoker:
    """`ports.Reinvoke` in AWS: invokes a function asynchronously."""

    client_in: Callable[[str], LambdaClient]  # the client of a region, as from `clients.Clients.functions`
    limiter: RateLimiter  # shared by all callers of the process
    jitter: Callable[[], float] = random.random  # as in `RetryingCaller`

    def __call__(self, function: str, event: Mapping[str, Any], left: StrongRefError, clock: Clock) -> None:
        """Retries a call whose response was lost too: an event that is delivered twice does no harm."""
        region = Arn.of(function).region
        caller = RetryingCaller(region, self.limiter, clock, self.jitter)
        payload = json.dumps(event, separators=(",", ":")).encode()
        invoke = self.client_in(region).invoke
        try:
            caller.call("Invoke", invoke, FunctionName=function, InvocationType="Event", Payload=payload)
        except CallFailedError as error:
            error.log("Invoke", region)
            raise ReinvokeError(error.code, left, unknown=error.unknown) from None
