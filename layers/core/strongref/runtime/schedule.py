"""The janitor's handler: invoked by a schedule, by hand, or by itself to continue.

The event `{"Only": "abroad"}` limits it to what the region's Exports publish in other accounts. A person who invokes it
so, whose credentials may not assume the roles there, gets the findings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
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
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from strongref.protocol.ports import Reinvoke
    from strongref.protocol.time import Clock


ONLY, ABROAD = "Only", "abroad"

_MOST_FINDINGS = 500
"""That are returned: a response has at most 6 MB (AWS: Lambda quotas)."""


class JanitorUnfinishedError(StrongRefError):
    invocations: int
    left: StrongRefError
    sentence = "The janitor did not finish in {invocations} invocations: {left}"


@dataclass(frozen=True, slots=True)
class ScheduledFunction:
    janitor: Callable[[str, str, Clock], Janitor]  # of an account and region; it works until the clock's deadline
    reinvoke: Reinvoke  # continues in another invocation, as `lambda_functions.LambdaInvoker` does
    outbox: Outbox = field(default_factory=Outbox)  # sends the notices

    def __call__(self, raw: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        """Check and repair the store of the function's region; emit metrics and notices of the findings.

        Returns the findings, and whether another invocation goes on. If the invocation is limited, what needs a person
        is left to the daily one to count and to send: it would come every quarter of an hour.

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
        only = {ONLY: ABROAD} if raw.get(ONLY) == ABROAD else {}
        continues = False
        try:
            janitor = self.janitor(function.account, function.region, clock)
            for tended in janitor.tend(clock, mark, skip=skip, only_abroad=bool(only)):
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
            event = {**only, CONTINUATION_FIELD: {"Turn": invocation + 1, "After": list(mark), **stuck}}
            continues = True
            self.reinvoke(context.invoked_function_arn, event, error, SystemClock.of(context, WATCHDOG_SECONDS))
        except StrongRefError:
            raise
        except Exception as error:  # noqa: BLE001 (Lambda would log its text, which may hold a value)
            raise log_internal_error(error, context.aws_request_id) from None
        finally:
            noted = findings
            if only:
                noted = [each for each in findings if each.kind.resolution is Resolution.REPAIRED]
                counts = Counter(each.kind.metric for each in noted) + Counter(RepairsMade=len(noted))
            emit_counts({each.value: 0 for each in Resolution if each.value} | counts)
            for notice in notices(function.account, function.region, noted):
                self.outbox(notice)
            if dropped := self.outbox.send(SystemClock.of(context, SHUTDOWN_SECONDS).remaining()):
                emit_counts({DROPPED: dropped})
        return {"Findings": [each.document for each in findings[:_MOST_FINDINGS]], "Continues": continues}


def _continuation_of(raw: Mapping[str, Any]) -> tuple[int, Checkpoint, bool]:
    """The number of this invocation, where the one before it stopped, and whether it got nothing done."""
    given = raw.get(CONTINUATION_FIELD)
    if not given:
        return 1, ("", ""), False
    place, key = given["After"]
    return int(given["Turn"]), (str(place), str(key)), given.get("Skip") is True
