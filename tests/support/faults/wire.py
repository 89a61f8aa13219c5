"""The one wire that every call of a function goes over: it numbers the calls, and makes one of them go wrong."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from botocore.exceptions import BotoCoreError, ClientError, EndpointConnectionError, ReadTimeoutError

from tests.support.abroad import forbidden
from tests.support.faults.fault_types import ABROAD, ANSWER, Fault, FaultDuration, FaultType

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.faults.fake_time import FakeTime

T = TypeVar("T")

LATENCY = 0.05
READ_SECONDS = 15.0
LAST_SECONDS = 2.0
"""How much of its time a call leaves the function that hangs."""

CODES = {
    FaultType.THROTTLED: ("ThrottlingException", 400),
    FaultType.BROKEN: ("InternalServerError", 500),
    FaultType.DENIED: ("AccessDeniedException", 400),
    FaultType.EXPIRED: ("ExpiredTokenException", 400),
}


class ProcessKilledError(BaseException):
    """The process is gone: no exception handler may do anything any more."""


@dataclass(frozen=True)
class Call:
    """A call as it was made."""

    action: str
    request: dict[str, Any] = field(repr=False)
    took_effect: bool


class Wire:
    """What calls go over while one event is delivered, by however many invocations."""

    def __init__(self, time: FakeTime, fault: Fault | None = None, at: int = -1) -> None:
        """Make one.

        Args:
            time: passes with each call.
            fault: what goes wrong.
            at: the number of the call at which it begins.
        """
        self.calls: list[Call] = []
        self.struck = False
        self.errors: list[str] = []  # what was asked of another account that its role may not do
        self.ends = 0.0
        """When the invocation's time is over."""
        self._time = time
        self._fault = fault
        self._at = at
        self._lasts = False
        self._dead = False

    def begin(self, seconds: float) -> None:
        """An invocation begins; what went wrong in the one before is over."""
        self.ends = self._time.seconds + seconds
        self._dead = self._lasts = False
        self._time.timers.clear()

    def left(self) -> float:
        """Seconds of the invocation's time."""
        return self.ends - self._time.seconds

    def call(
        self,
        action: str,
        request: dict[str, Any],
        effect: Callable[[], T],
        fail: Callable[[FaultType], T],
        seconds: float = READ_SECONDS,
    ) -> T:
        """Make a call.

        Args:
            action: AWS's name for it, or `ANSWER`.
            request: its arguments.
            effect: does it.
            fail: raises the error, or returns the answer that says so.
            seconds: after which the caller gives up.
        """
        self._check()
        self._time.sleep(LATENCY)
        self._check()
        fault, self._lasts = self._fault, self._lasts or len(self.calls) == self._at
        if fault is None or not self._concerns(fault, action, request):
            self.calls.append(Call(action, request, took_effect=True))
            return effect()
        self.struck = True
        without_effect = fault.type in CODES or fault.type in (FaultType.UNREACHED, FaultType.KILLED_BEFORE)
        self.calls.append(Call(action, request, took_effect=not without_effect))
        if fault.type is FaultType.HANGING:
            try:
                return effect()
            finally:
                self._time.sleep(max(0.0, self.left() - LAST_SECONDS))
        if not without_effect:
            with suppress(ClientError):
                effect()
        if fault.type in (FaultType.KILLED_BEFORE, FaultType.KILLED_AFTER):
            self._dead = True
            self._check()
        if fault.type is FaultType.TIMED_OUT:
            self._time.sleep(seconds)
        return fail(fault.type)

    def _check(self) -> None:
        """Whether the process still runs: Lambda kills it when its time is over."""
        self._dead = self._dead or self.left() <= 0
        if self._dead:
            raise ProcessKilledError

    def _concerns(self, fault: Fault, action: str, request: dict[str, Any]) -> bool:
        if len(self.calls) == self._at:
            return True
        if not self._lasts:
            return False
        first = self.calls[self._at]
        return {
            FaultDuration.ONCE: False,
            FaultDuration.EVERY_TRY: (action, request) == (first.action, first.request),
            FaultDuration.ACTION: action == first.action,
            FaultDuration.SESSION: action.endswith(ABROAD),
            FaultDuration.SERVICE: (action == ANSWER) == (first.action == ANSWER),
        }[fault.duration]


class Service:
    """A boto3 client whose every call goes over the wire of the moment; with a role of another account, or not."""

    def __init__(self, client: object, wire: Callable[[], Wire], *, abroad: bool = False) -> None:
        self._client = client
        self._wire = wire
        self._abroad = abroad

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)
        action = "".join(word.capitalize() for word in name.split("_"))
        named = action + ABROAD if self._abroad else action

        def call(**request: Any) -> Any:
            if self._abroad and (problems := forbidden(action, request)):
                self._wire().errors += problems
                _fail(action, request, FaultType.DENIED)
            return self._wire().call(named, request, partial(method, **request), partial(_fail, action, request))

        setattr(self, name, call)
        return call


def _fail(action: str, request: dict[str, Any], fault: FaultType) -> NoReturn:
    """Raise what botocore would. Its texts quote the request, as those of AWS do."""
    if fault in CODES:
        raise _client_error(action, request, *CODES[fault])
    error: type[BotoCoreError] = ReadTimeoutError if fault is FaultType.TIMED_OUT else EndpointConnectionError
    raise error(endpoint_url=f"https://aws.example/{request}")


def _client_error(action: str, request: dict[str, Any], code: str, status: int) -> ClientError:
    answer = {"Error": {"Code": code, "Message": str(request)}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(cast("Any", answer), action)
