"""The envelope between CloudFormation and a use case: every event answered once, correctly, whatever happens.

crhelper calls the handler and routes what it raises; all else that it does with an event is done here instead: it
answers over https only, without time-outs, without looking at what came back and without end; sends bodies that are
too large or lack their ids; makes up physical ids; may answer twice near a time-out; and logs whole events, with
their presigned URLs.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crhelper import CfnResource

from strongref.contract.continuation import Continuation
from strongref.contract.event import Event, MalformedEventError, RequestType
from strongref.contract.response import Response, ResponseStatus, ResponseTooLargeError, encode
from strongref.errors import (
    InternalError,
    InvocationTimeoutError,
    PartialCreateError,
    ReinvokeError,
    ServiceTimeoutError,
    StrongRefError,
    UnfinishedError,
)
from strongref.log import begin, defect, logger
from strongref.metrics import count
from strongref.runtime.clock import LAST_CALL_SECONDS, LAST_SECONDS, SystemClock
from strongref.runtime.delivery import deliver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from aws_lambda_powertools.utilities.typing import LambdaContext

    from strongref.contract.event import ResponseTarget
    from strongref.protocol.ports import Reinvoke
    from strongref.protocol.time import Clock

FAILED_CREATE = "strongref-failed-create/"
"""What the physical ids of Creates that left nothing behind begin with: their Delete has nothing to do."""

UNFINISHED_CREATE = "strongref-unfinished-create/"
"""What the physical ids of Creates begin with of which nobody knows how far they came: their Delete has to look."""

_LATEST = 0.75
"""The share of a short time after which that happens: later than the use case's own end, see `clock.SystemClock.of`."""


class CustomResource:
    """A function's handler, made of a use case.

    Warm functions serve one event after the other; nothing of one is kept for the next.
    """

    def __init__(
        self,
        handle: Callable[[Event, Clock], Response],
        hand_over: Reinvoke,
    ) -> None:
        """Make a handler.

        Args:
            handle: the use case: carries an event out, in the time that a clock gives.
            hand_over: to another invocation, as `invoking.Invoker`.
        """
        self._handle = handle
        self._hand_over = hand_over
        self._invocation: _Invocation | None = None
        with _no_clients():
            self._envelope = _Envelope(self._run)

    def __call__(self, raw: object, context: LambdaContext) -> None:
        """Carry out an event and answer it, or hand it over to another invocation that will.

        Raises:
            DeliveryError: CloudFormation could not be told; raised for Lambda to invoke the function once more.
            ReinvokeError: nobody knows whether another invocation goes on; raised for the same.
        """
        try:
            event = Event.parse(raw)
        except MalformedEventError as error:
            begin(context.aws_request_id)
            logger.error("An event was rejected", extra={"error": str(error)})
            if error.sender:  # whom it names itself completely; never the one before
                _refuse(error, error.sender, context)
            return
        begin(context.aws_request_id, **event.log_keys)
        assert isinstance(raw, dict)  # noqa: S101 (it was just parsed)
        self._invocation = invocation = _Invocation(event, raw, context, self._hand_over)
        try:
            with invocation.watched():
                self._envelope(_EMPTY | {"RequestType": event.request_type.value}, context)
                invocation.make_sure()
        finally:
            self._invocation = None
            invocation.tell()
        if invocation.undelivered:
            raise invocation.undelivered from None  # what went before, and is printed with it, may show a value

    def _run(self, _event: object, _context: object) -> None:
        assert self._invocation is not None  # noqa: S101 (crhelper calls this within __call__ only)
        self._invocation.carry_out(self._handle)


class _Invocation:
    """One event, from its coming to its answer."""

    def __init__(self, event: Event, raw: Mapping[str, Any], context: LambdaContext, hand_over: Reinvoke) -> None:
        self.event = event
        self.undelivered: StrongRefError | None = None
        self._raw = raw
        self._context = context
        self._hand_over = hand_over
        self._turn = event.turn or Continuation(1, _now(), event.service_timeout)
        self._clock = SystemClock.of(context, at_most=self._turn.left(_now()))
        self._lock = threading.Lock()
        self._answered = False
        self._counts: Counter[str] = Counter()

    def carry_out(self, handle: Callable[[Event, Clock], Response]) -> None:
        """Run the use case and answer with what comes of it."""
        if is_failed_create(self.event.physical_id) and self.event.request_type is RequestType.DELETE:
            self.succeed(Response(self.event.physical_id or ""))
            return
        try:
            answer = handle(self.event, self._clock)
        except UnfinishedError as error:
            self.go_on(error)
        except StrongRefError as error:
            self.fail(error)
        except BaseException as error:  # noqa: BLE001 (SystemExit too must not leave CloudFormation waiting)
            self.fail(self._defect(error))
        else:
            self.succeed(answer)

    def make_sure(self) -> None:
        """Answer if nobody has: crhelper swallows what goes wrong in it, or around it."""
        self.fail(InternalError(RuntimeError(), self._context.aws_request_id))

    def succeed(self, answer: Response) -> None:
        try:
            body = encode(self.event, ResponseStatus.SUCCESS, answer)
        except ResponseTooLargeError as error:  # after everything was done: there is something to delete
            self.fail(PartialCreateError(error, answer.physical_id))
        except Exception as error:  # noqa: BLE001 (attributes that are no JSON, or no Answer at all)
            self.fail(self._defect(error))
        else:
            with self._first() as first:
                if first:
                    self._deliver(body, ResponseStatus.SUCCESS, answer.reason)

    def fail(self, error: StrongRefError) -> None:
        with self._first() as first:
            if first:
                self._fail(error)

    @contextmanager
    def _first(self) -> Iterator[bool]:
        """Whether nobody has answered yet. Whoever asks is to answer, then; who asks meanwhile waits for that."""
        with self._lock:
            first, self._answered = not self._answered, True
            yield first

    def _defect(self, error: BaseException) -> InternalError:
        return defect(error, self._context.aws_request_id)

    def _fail(self, error: StrongRefError) -> None:
        why = error.error if isinstance(error, PartialCreateError) else error
        self._counts[why.counted] += 1
        reason = str(error).strip() or type(error).__name__
        answer = Response(self._physical_id(error), reason=reason)
        self._deliver(encode(self.event, ResponseStatus.FAILED, answer), ResponseStatus.FAILED, reason)

    def go_on(self, error: UnfinishedError) -> None:
        """Have another invocation do the rest, and answer; if there can be none, answer that it is not done."""
        if not self._turn.may_hand_over(_now()):
            self.fail(ServiceTimeoutError(self._turn.number, self._turn.timeout, error))
            return
        with self._first() as first:
            if not first:
                return
            # From here on it is the other's to do.
            self._counts["HandOvers"] += 1
            logger.info("Continued in another invocation", extra={"turn": self._turn.number, "reason": str(error)})
            try:
                self._hand_over(
                    self._context.invoked_function_arn,
                    self._turn.next(self._raw),
                    error,
                    SystemClock.of(self._context, LAST_CALL_SECONDS),
                )
            except ReinvokeError as failed:
                if failed.unknown:  # the other may be at work: Lambda is to deliver the event once more, to be sure
                    logger.error("Unknown whether another invocation continues", extra={"error": str(failed)})
                    self.undelivered = failed
                else:
                    self._fail(failed)
            except Exception as failed:  # noqa: BLE001 (nobody would answer)
                self._fail(failed if isinstance(failed, StrongRefError) else self._defect(failed))

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Hand over, or answer FAILED, in good time if the use case does not come to its end."""
        left = min(self._context.get_remaining_time_in_millis() / 1000, self._turn.left(_now()))
        timer = threading.Timer(max(left - LAST_CALL_SECONDS, left * _LATEST), self.go_on, [InvocationTimeoutError()])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _physical_id(self, error: StrongRefError) -> str:
        if self.event.physical_id:
            return self.event.physical_id
        if isinstance(error, PartialCreateError):
            return error.physical_id
        unknown = isinstance(error, InternalError | ServiceTimeoutError | ReinvokeError)
        return f"{UNFINISHED_CREATE if unknown else FAILED_CREATE}{self.event.stack_name}/{self.event.logical_id}"

    def _deliver(self, body: bytes, status: ResponseStatus, reason: str) -> None:
        log = logger.info if status is ResponseStatus.SUCCESS else logger.warning
        log("Responded", extra={"status": status.value, "reason": reason})
        try:
            deliver(self.event.response_url, body, SystemClock.of(self._context, LAST_SECONDS))
        except StrongRefError as error:
            logger.error("A response was not delivered", extra={"error": str(error)})
            self._counts[error.counted] += 1
            self.undelivered = error

    def tell(self) -> None:
        """Count what did not go as it should, after everything else."""
        if self._counts:
            count(self._counts)


def _now() -> datetime:
    return datetime.now(UTC)


def _refuse(error: MalformedEventError, sender: ResponseTarget, context: LambdaContext) -> None:
    """Answer what is no event, so that its stack does not wait for an hour. Nothing was done for it."""
    physical_id = sender.physical_id or f"{FAILED_CREATE}{sender.logical_id}"
    try:
        body = encode(sender, ResponseStatus.FAILED, Response(physical_id, reason=str(error)))
    except ResponseTooLargeError:  # ids of thousands of characters
        return
    deliver(sender.response_url, body, SystemClock.of(context, LAST_SECONDS))


def is_failed_create(physical_id: str | None) -> bool:
    """Whether a physical id is that of a Create that failed and left nothing behind."""
    return physical_id is not None and physical_id.startswith(FAILED_CREATE)


_EMPTY = {
    "StackId": "",
    "RequestId": "",
    "LogicalResourceId": "",
    "ResponseURL": "",
    "PhysicalResourceId": "-",
}
"""What crhelper gets to see of an event: nothing that it could log or send."""


class _Envelope(CfnResource):
    """crhelper without its answers, its timer and its logging."""

    def __init__(self, run: Callable[[object, object], None]) -> None:
        super().__init__(json_logging=False, log_level="ERROR", boto_level="ERROR", sleep_on_delete=0)
        self.create(run)
        self.update(run)
        self.delete(run)

    def _set_timeout(self) -> None:
        """Its timer would answer beside ours."""

    def _log_setup(self, event: object, context: object) -> None:
        """It would set the level of every logger anew, at each event."""

    def _send(self, status: Any = None, reason: Any = "", send_response: Any = None) -> None:  # noqa: ANN401
        """Answered already, by the invocation itself."""


@contextmanager
def _no_clients() -> Iterator[None]:
    """Keep crhelper from making three clients for its polling, which is not used: it looks for SAM's local mode."""
    before = os.environ.get("AWS_SAM_LOCAL")
    os.environ["AWS_SAM_LOCAL"] = "true"
    try:
        yield
    finally:
        if before is None:
            del os.environ["AWS_SAM_LOCAL"]
        else:
            os.environ["AWS_SAM_LOCAL"] = before
