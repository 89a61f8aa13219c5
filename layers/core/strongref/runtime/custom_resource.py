"""The handler of a custom resource: one correct response to every event, whatever happens.

crhelper calls the use case and handles what it raises. Everything else that crhelper does is done here instead. Its own
response is sent over https only, without timeouts, without a check of the result, and is retried forever. It sends
bodies that are too large or lack their IDs, invents physical IDs, may respond twice near a timeout, and logs whole
events with their presigned URLs.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from strongref import errors
from strongref.arns import Arn
from strongref.contract.event import Event, MalformedEventError, RequestType, ResponseTarget
from strongref.contract.names import BadArnError
from strongref.contract.response import Response, ResponseStatus, ResponseTooLargeError, encode
from strongref.log import log_internal_error, logger, start_invocation_log
from strongref.metrics import emit_counts
from strongref.protocol.side_by_side import in_turn
from strongref.protocol.verification import EventNotVerifiedError, EventPendingError, EventRejectedError, EventVerifier
from strongref.runtime.clock import SHUTDOWN_SECONDS, WATCHDOG_SECONDS, SystemClock, VerifiedFirst
from strongref.runtime.delivery import DeliveryError, deliver
from strongref.runtime.outbox import DROPPED, Outbox
from strongref.runtime.silent_crhelper import EMPTY_EVENT, SilentCrhelper

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from strongref.protocol.ports import Reinvoke, SideBySide
    from strongref.protocol.time import Clock

FAILED_CREATE = "strongref-failed-create/"
"""Prefix of the physical ID of a Create that left nothing behind: its Delete has nothing to do."""

UNFINISHED_CREATE = "strongref-unfinished-create/"
"""Prefix of the physical ID of a Create that stopped at an unknown point: its Delete must look for leftovers."""

_LATEST = 0.75
"""The share of a short invocation after which the watchdog acts: later than the use case's deadline, see `clock.py`."""


@dataclass(eq=False)
class CustomResource:
    """A Lambda handler for a use case.

    A warm function handles one event after the other; nothing is kept from one to the next.
    """

    handle: Callable[[Event, Clock], Response]  # the use case, which handles an event before the clock's deadline
    reinvoke: Reinvoke
    verifier: EventVerifier
    outbox: Outbox = field(default_factory=Outbox)  # sends notices when the event has its response
    side_by_side: SideBySide = in_turn  # what a creation reads may be read beside the verification of its event

    def __post_init__(self) -> None:
        self._invocation: _Invocation | None = None
        self._crhelper = SilentCrhelper(self._run)

    def __call__(self, raw: object, context: LambdaContext) -> None:
        """Handle an event and respond, or continue it in another invocation, which will respond.

        Raises:
            DeliveryError: the response could not be delivered; raised, so that Lambda invokes the function again.
            ReinvokeError: it is unknown whether another invocation continues; raised for the same reason.
            EventPendingError: it may be verified later; likewise.
        """
        function = Arn.of(context.invoked_function_arn)
        start_invocation_log(context.aws_request_id)
        try:
            event = Event.parse(raw)
            start_invocation_log(context.aws_request_id, **event.log_keys)
            self.verifier.check_origin(event, function, _now(), event.service_timeout)
        except (MalformedEventError, EventRejectedError) as error:
            _log_rejected(error)
            emit_counts({errors.ErrorMetric.NOT_EXPECTED: 1})
            if isinstance(error, MalformedEventError) and error.response_target:
                with suppress(BadArnError, EventRejectedError, DeliveryError):
                    self.verifier.check_origin(error.response_target, function, _now())
                    _respond_malformed(error, error.response_target, context)
            return
        assert isinstance(raw, dict)  # noqa: S101 (it was just parsed)
        self._invocation = invocation = _Invocation(event, raw, context, self)
        try:
            with invocation.watchdog():
                self._crhelper(EMPTY_EVENT | {"RequestType": event.request_type.value}, context)
                # If nothing has responded yet: crhelper swallows its own errors.
                invocation.fail(errors.InternalError(RuntimeError.__name__, context.aws_request_id))
        finally:
            self._invocation = None
            invocation.emit_metrics()
        if invocation.error_to_raise:
            raise invocation.error_to_raise from None  # Python prints the context too, which may show a value.

    def _run(self, _event: object, _context: object) -> None:
        assert self._invocation is not None  # noqa: S101 (crhelper calls this only within __call__)
        self._invocation.run()


class _Invocation:
    """One event in one invocation, until the response or the continuation.

    The use case and the watchdog run in different threads. The first of them to finish the invocation wins.
    """

    def __init__(self, event: Event, raw: Mapping[str, Any], context: LambdaContext, resource: CustomResource) -> None:
        self.event = event
        self.error_to_raise: errors.StrongRefError | None = None
        self._raw = raw
        self._context = context
        self._resource = resource
        self._continuation = event.invocation(_now())
        self._clock = SystemClock.of(context, at_most=self._continuation.seconds_left(_now()))
        self._lock = threading.Lock()
        self._finished = False
        self._verified = False
        self._counts: Counter[str] = Counter()

    def run(self) -> None:
        """Run the use case, if CloudFormation waits for it, and respond with its result."""
        try:
            response = self._handled()
        except errors.UnfinishedError as error:
            self.continue_later(error)
        except BaseException as error:  # noqa: BLE001 (SystemExit too must not leave CloudFormation waiting)
            self.fail(self._known(error))
        else:
            self.succeed(response)

    def _handled(self) -> Response:
        """What the use case responds to the event, which is verified; a creation begins to read before it is."""
        creates = self.event.request_type is RequestType.CREATE and self.event.continuation is None
        checked, responses = threading.Event(), list[Response]()

        def check() -> None:
            try:
                self._resource.verifier.check_expected(self.event, self._clock)
                self._verified = True
            finally:
                checked.set()

        def wait() -> None:
            checked.wait()
            if not self._verified:
                raise EventNotVerifiedError(errors.InvocationTimeoutError())  # `check` says why.

        def carry_out() -> None:
            try:
                clock = VerifiedFirst(self._clock, wait) if creates else self._clock
                responses.append(self._resource.handle(self.event, clock))
            finally:
                checked.wait()  # Calls that have not begun when one fails are left out: not this check.

        if is_failed_create(self.event.physical_id) and self.event.request_type is RequestType.DELETE:
            check()
            return Response(self.event.physical_id or "")
        (self._resource.side_by_side if creates else in_turn)([[check], [carry_out]])
        return responses[0]

    def succeed(self, response: Response) -> None:
        try:
            body = encode(self.event, ResponseStatus.SUCCESS, response)
        except ResponseTooLargeError as error:  # The work is done, so there is something to delete.
            self.fail(errors.PartialCreateError(error, response.physical_id))
        except Exception as error:  # noqa: BLE001 (attributes that are not JSON, or no Response at all)
            self.fail(self._known(error))
        else:
            with self._finish() as first:
                if first:
                    self._deliver(body, ResponseStatus.SUCCESS, response.reason)

    def fail(self, error: errors.StrongRefError) -> None:
        """Respond that it failed; to an event that CloudFormation does not wait for, or not yet, not at all."""
        with self._finish() as first:
            if first and isinstance(error, EventRejectedError):
                _log_rejected(error)
                self._counts[error.counted] += 1
            elif first and isinstance(error, EventPendingError):
                logger.info("An event is left to Lambda", extra={"error": str(error)})
                self.error_to_raise = error
            elif first:
                self._respond_failed(error)

    @contextmanager
    def _finish(self) -> Iterator[bool]:
        """Finish the invocation: True for the first caller, who must respond; others wait until it has."""
        with self._lock:
            first, self._finished = not self._finished, True
            yield first

    def _known(self, error: BaseException) -> errors.StrongRefError:
        """The error to respond with: one that is not ours is logged, without its text."""
        if isinstance(error, errors.StrongRefError):
            return error
        return log_internal_error(error, self._context.aws_request_id)

    def _respond_failed(self, error: errors.StrongRefError) -> None:
        why = error.error if isinstance(error, errors.PartialCreateError) else error
        self._counts[why.counted] += 1
        reason = str(error).strip() or type(error).__name__
        response = Response(self._physical_id(error), reason=reason)
        self._deliver(encode(self.event, ResponseStatus.FAILED, response), ResponseStatus.FAILED, reason)

    def continue_later(self, error: errors.UnfinishedError) -> None:
        """Continue in another invocation, which will respond. If there cannot be one, respond that it is not done."""
        continuation = self._continuation
        if _now() >= continuation.continues_until:
            self.fail(errors.ServiceTimeoutError(continuation.invocation, continuation.timeout, error))
            return
        if not self._verified:  # It never invokes itself for an event that may not be CloudFormation's.
            self.fail(EventNotVerifiedError(error))
            return
        with self._finish() as first:
            if not first:
                return
            self._counts["HandOvers"] += 1
            log_keys = {"invocation_number": continuation.invocation, "reason": str(error)}
            logger.info("Continued in another invocation", extra=log_keys)
            try:
                self._resource.reinvoke(
                    self._context.invoked_function_arn,
                    continuation.next_event(self._raw),
                    error,
                    SystemClock.of(self._context, WATCHDOG_SECONDS),
                )
            except errors.ReinvokeError as failure:
                if failure.unknown:  # The other invocation may run. To be sure, let Lambda deliver the event again.
                    logger.error("Unknown whether another invocation continues", extra={"error": str(failure)})
                    self.error_to_raise = failure
                else:
                    self._respond_failed(failure)
            except Exception as failure:  # noqa: BLE001 (otherwise nothing would respond)
                self._respond_failed(self._known(failure))

    @contextmanager
    def watchdog(self) -> Iterator[None]:
        """Continue in another invocation, or respond FAILED, if the use case still runs shortly before the timeout."""
        left = min(self._context.get_remaining_time_in_millis() / 1000, self._continuation.seconds_left(_now()))
        seconds = max(left - WATCHDOG_SECONDS, left * _LATEST)
        timer = threading.Timer(seconds, self.continue_later, [errors.InvocationTimeoutError()])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _physical_id(self, error: errors.StrongRefError) -> str:
        if self.event.physical_id:
            return self.event.physical_id
        if isinstance(error, errors.PartialCreateError):
            return error.physical_id
        unknown = isinstance(
            error, errors.InternalError | errors.ServiceTimeoutError | errors.ReinvokeError | EventNotVerifiedError
        )
        return f"{UNFINISHED_CREATE if unknown else FAILED_CREATE}{self.event.stack_arn.name}/{self.event.logical_id}"

    def _deliver(self, body: bytes, status: ResponseStatus, reason: str) -> None:
        log = logger.info if status is ResponseStatus.SUCCESS else logger.warning
        log("Responded", extra={"status": status.value, "reason": reason})
        try:
            deliver(self.event.response_url, body, SystemClock.of(self._context, SHUTDOWN_SECONDS))
        except errors.StrongRefError as error:
            logger.error("A response was not delivered", extra={"error": str(error)})
            self._counts[error.counted] += 1
            self.error_to_raise = error

    def emit_metrics(self) -> None:
        """Emit what was counted, and send the notices, after everything else."""
        outbox = self._resource.outbox
        if counts := self._counts + outbox.counts():
            emit_counts(counts)
        outbox.finish()
        if dropped := outbox.send(SystemClock.of(self._context, SHUTDOWN_SECONDS).remaining()):
            emit_counts({DROPPED: dropped})


def _now() -> datetime:
    return datetime.now(UTC)


def _log_rejected(error: errors.StrongRefError) -> None:
    logger.error("An event was rejected", extra={"error": str(error)})


def _respond_malformed(error: errors.StrongRefError, target: ResponseTarget, context: LambdaContext) -> None:
    """Respond FAILED to a malformed event, so that its stack does not wait an hour. Nothing was done for it."""
    physical_id = target.physical_id or f"{FAILED_CREATE}{target.logical_id}"
    try:
        body = encode(target, ResponseStatus.FAILED, Response(physical_id, reason=str(error)))
    except ResponseTooLargeError:  # IDs of thousands of characters.
        return
    deliver(target.response_url, body, SystemClock.of(context, SHUTDOWN_SECONDS))


def is_failed_create(physical_id: str | None) -> bool:
    """Whether a physical ID is that of a Create that failed and left nothing behind."""
    return physical_id is not None and physical_id.startswith(FAILED_CREATE)
