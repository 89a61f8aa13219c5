"""The janitor's handler: invoked by a schedule, by hand, or by itself to continue."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from strongref.arns import Arn
from strongref.contract.continuation import CONTINUATION_FIELD, MAX_INVOCATIONS
from strongref.errors import StrongRefError, UnfinishedError
from strongref.log import log_internal_error, logger, start_invocation_log
from strongref.metrics import emit_counts
from strongref.protocol.findings import Finding, Resolution
from strongref.protocol.janitor import Checkpoint, Janitor, notices, report
from strongref.runtime.clock import SHUTDOWN_SECONDS, WATCHDOG_SECONDS, SystemClock
from strongref.runtime.outbox import DROPPED, Outbox

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aws_lambda_powertools.utilities.typing import LambdaContext

    from strongref.protocol.ports import Reinvoke
    from strongref.protocol.time import Clock


class JanitorUnfinishedError(StrongRefError):
    """The store is too large for the janitor's invocations."""

    invocations: int
    left: StrongRefError
    sentence = "The janitor did not finish in {invocations} invocations: {left}"


@dataclass(frozen=True, slots=True)
class ScheduledFunction:
    janitor: Callable[[str, str, Clock], Janitor]  # of an account and region; it works until the clock's deadline
    reinvoke: Reinvoke  # continues in another invocation, as `lambda_functions.LambdaInvoker` does
    outbox: Outbox = field(default_factory=Outbox)  # sends the notices

    def __call__(self, raw: Mapping[str, Any], context: LambdaContext) -> None:
        """Check and repair the store of the function's region; emit metrics and notices of the findings.

        Raises:
            StrongRefError: the janitor failed; raised, so that Lambda counts the error and retries.
        """
        start_invocation_log(context.aws_request_id)
        function = Arn.of(context.invoked_function_arn)
        clock = SystemClock.of(context)
        invocation, mark, skip = _continuation_of(raw)
        begin = mark
        counts: Counter[str] = Counter()
        findings: list[Finding] = []
        try:
            for tended in self.janitor(function.account, function.region, clock).tend(clock, mark, skip=skip):
                report(function.region, tended)
                counts += tended.counts()
                findings += tended.settled
                mark = tended.mark
        except UnfinishedError as error:
            if invocation >= MAX_INVOCATIONS:
                raise JanitorUnfinishedError(invocation, error) from None
            log_keys = {"invocation_number": invocation, "reason": str(error)}
            logger.info("Continued in another invocation", extra=log_keys)
            # What takes a whole invocation stops nothing else: the next one leaves it out.
            stuck = {"Skip": True} if mark == begin and invocation > 1 else {}
            event = {CONTINUATION_FIELD: {"Turn": invocation + 1, "After": list(mark), **stuck}}
            self.reinvoke(context.invoked_function_arn, event, error, SystemClock.of(context, WATCHDOG_SECONDS))
        except StrongRefError:
            raise
        except Exception as error:  # noqa: BLE001 (Lambda would log its text, which may hold a value)
            raise log_internal_error(error, context.aws_request_id) from None
        finally:
            emit_counts({each.value: 0 for each in Resolution if each.value} | counts)
            for notice in notices(function.account, function.region, findings):
                self.outbox(notice)
            if dropped := self.outbox.send(SystemClock.of(context, SHUTDOWN_SECONDS).remaining()):
                emit_counts({DROPPED: dropped})


def _continuation_of(raw: Mapping[str, Any]) -> tuple[int, Checkpoint, bool]:
    """The number of this invocation, where the one before it stopped, and whether it got nothing done."""
    given = raw.get(CONTINUATION_FIELD)
    if not given:
        return 1, ("", ""), False
    place, key = given["After"]
    return int(given["Turn"]), (str(place), str(key)), given.get("Skip") is True
