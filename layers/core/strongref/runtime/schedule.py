"""The envelope of the janitor's function: invoked by a schedule, by hand, or by itself where it has to go on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strongref.contract.continuation import CONTINUATION_FIELD, MAX_INVOCATIONS
from strongref.errors import StrongRefError, UnfinishedError
from strongref.log import begin, defect, logger
from strongref.metrics import count
from strongref.runtime.clock import LAST_CALL_SECONDS, SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aws_lambda_powertools.utilities.typing import LambdaContext

    from strongref.protocol.janitor import Checkpoint, Janitor
    from strongref.protocol.ports import Reinvoke
    from strongref.protocol.time import Clock


@dataclass(eq=False)
class NotFinishedError(StrongRefError):
    """There is more to look after than so many invocations can."""

    turns: int
    left: StrongRefError

    def __str__(self) -> str:
        return f"The janitor did not come to the end of the store in {self.turns} invocations: {self.left}"


class ScheduledFunction:
    """The janitor's handler."""

    def __init__(
        self,
        janitor: Callable[[str, str, Clock], Janitor],
        hand_over: Reinvoke,
    ) -> None:
        """Make a handler.

        Args:
            janitor: of an account and a region, for as long as a clock says.
            hand_over: to another invocation, as `invoking.Invoker`.
        """
        self._janitor = janitor
        self._hand_over = hand_over

    def __call__(self, raw: Mapping[str, Any], context: LambdaContext) -> None:
        """Tend the store of the function's region, and count what was found.

        Raises:
            StrongRefError: something stood in the way; raised, so that Lambda counts it and tries again.
        """
        begin(context.aws_request_id)
        *_, region, account, _, _ = context.invoked_function_arn.split(":")[:7]
        clock = SystemClock.of(context)
        turn, mark = _turn(raw)
        counts: Counter[str] = Counter()
        try:
            for tended in self._janitor(account, region, clock).tend(clock, mark):
                counts += tended.counts()
                mark = tended.mark
        except UnfinishedError as error:
            if turn >= MAX_INVOCATIONS:
                raise NotFinishedError(turn, error) from None
            logger.info("Continued in another invocation", extra={"turn": turn, "reason": str(error)})
            event = {CONTINUATION_FIELD: {"Turn": turn + 1, "After": list(mark)}}
            self._hand_over(context.invoked_function_arn, event, error, SystemClock.of(context, LAST_CALL_SECONDS))
        except StrongRefError:
            raise
        except Exception as error:  # noqa: BLE001 (Lambda would log its text, which may hold values)
            raise defect(error, context.aws_request_id) from None
        finally:
            count({"Healed": 0, "Unhealed": 0} | counts)


def _turn(raw: Mapping[str, Any]) -> tuple[int, Checkpoint]:
    """Which invocation in a row this is, and up to where those before it came."""
    given = raw.get(CONTINUATION_FIELD)
    if not given:
        return 1, ("", "")
    place, key = given["After"]
    return int(given["Turn"]), (str(place), str(key))
