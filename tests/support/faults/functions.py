"""The real functions, started as Lambda starts them; their clients and their answers go over the wire."""

from __future__ import annotations

import io
import json
import logging
import random
import secrets
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self
from unittest.mock import patch

import urllib3

import strongref.runtime.wiring
from strongref.contract.names import Site
from strongref.errors import StrongRefError
from strongref.log import logger
from strongref.protocol.side_by_side import in_turn
from strongref.protocol.verification import EventPendingError
from strongref.runtime.wiring import _Process
from tests.support import orders
from tests.support.abroad import SessionClients
from tests.support.builders import ACCOUNT
from tests.support.faults.fake_time import SpinningError
from tests.support.faults.fault_types import ANSWER, FaultType
from tests.support.faults.wire import Call, ProcessKilledError, Service, Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import CodeType

    from strongref.contract.event import Event
    from strongref.contract.response import Response
    from strongref.protocol.ports import SideBySide
    from strongref.protocol.time import Clock
    from strongref.runtime.custom_resource import CustomResource
    from strongref.runtime.outbox import Outbox
    from tests.support.faults.fake_time import FakeTime

HANDLERS = Path(__file__).resolve().parents[3] / "handlers"
SECONDS = 900.0
"""What the template gives the functions."""

RETRY_WAITS = (60.0, 120.0)
"""Before Lambda delivers an event again that the function has raised (AWS: Lambda, asynchronous invocation)."""

STATUSES = {FaultType.THROTTLED: 429, FaultType.BROKEN: 500, FaultType.DENIED: 403}
"""Of an answer; no session is needed for that."""


_made = _Process.custom_resource


def _custom_resource(
    process: _Process,
    handle: Callable[[Event, Clock], Response],
    outbox: Outbox | None = None,
    side_by_side: SideBySide = in_turn,
) -> CustomResource:
    """In one thread the verification comes first: the creation beside it waits for it before it writes."""
    return _made(process, handle, outbox, in_turn if side_by_side is in_turn else orders.in_flight)


@dataclass(frozen=True)
class Delivery:
    """The outcome of one delivery of an event.

    Attributes:
        calls: that were made for it.
        answers: that reached CloudFormation; it takes the first.
        printed: everything logged, or written to the standard streams.
        died: an invocation was killed.
        raised: what the function raised, to be invoked again.
        errors: what it should not have done.
        struck: the call that had to go wrong was made.
    """

    calls: tuple[Call, ...]
    answers: tuple[Mapping[str, Any], ...]
    printed: str = field(repr=False)
    died: bool
    raised: StrongRefError | None
    errors: tuple[str, ...]
    struck: bool

    @property
    def answer(self) -> Mapping[str, Any] | None:
        return self.answers[0] if self.answers else None

    @property
    def status(self) -> str:
        """`SUCCESS`, `FAILED`, or `NONE` where no answer came."""
        return str(self.answer["Status"]) if self.answer else "NONE"


class Functions:
    """The environment of the functions."""

    def __init__(
        self, time: FakeTime, clients: Mapping[str, Callable[[str], object]], side_by_side: SideBySide
    ) -> None:
        """Make it.

        Args:
            time: passes for the functions as well.
            clients: the client of a region, by the name of the method of `strongref.aws.clients.Clients` that gives it.
            side_by_side: makes calls that do not depend on each other, in one thread.
        """
        self._time = time
        self._side_by_side = side_by_side
        self._clients = clients
        self._wire = Wire(time)
        self._printed = io.StringIO()
        self._answers: list[Mapping[str, Any]] = []
        self._next: list[dict[str, Any]] = []
        self._modules: dict[str, tuple[ModuleType, CodeType]] = {}

    @contextmanager
    def installed(self) -> Iterator[Self]:
        """Functions run in this environment as long as this lasts."""
        for folder in HANDLERS.iterdir():
            if (folder / "app.py").exists():
                self._cold(folder.name)  # what it imports takes its time from here, too
        handler = logger.registered_handler
        assert isinstance(handler, logging.StreamHandler)
        before = handler.stream
        with ExitStack() as patches:
            patches.enter_context(self._time.installed())
            patches.enter_context(patch.object(strongref.runtime.wiring, "Clients", self._fake_clients))
            patches.enter_context(patch.object(strongref.runtime.wiring, "in_threads", self._side_by_side))
            patches.enter_context(patch.object(_Process, "custom_resource", _custom_resource))
            patches.enter_context(patch.object(urllib3, "PoolManager", partial(_Http, self)))
            patches.enter_context(patch.object(secrets, "token_hex", _token))
            patches.enter_context(patch.object(sys, "stdout", self._printed))
            patches.enter_context(patch.object(sys, "stderr", self._printed))
            everything = _LogRecorder(self._printed)
            logging.getLogger().addHandler(everything)
            handler.setStream(self._printed)
            try:
                yield self
            finally:
                handler.setStream(before)
                logging.getLogger().removeHandler(everything)

    def deliver(self, function: str, region: str, event: dict[str, Any], wire: Wire, seconds: float) -> Delivery:
        """Have Lambda invoke a function, and every invocation that it hands over to, or leaves to Lambda.

        Args:
            function: the name of its folder.
            region: where it runs.
            event: what it gets.
            wire: what its calls go over.
            seconds: how long it may run.
        """
        self._wire = wire
        self._answers = []
        self._printed.seek(0)
        self._printed.truncate()
        died, raised, errors = False, None, []
        self._next = [event]
        invocations, waits = 0, list(RETRY_WAITS)
        while self._next:
            raw = self._next.pop(0)
            invocations += 1
            raised = None
            random.seed(f"{self._time.seconds} {invocations}")  # the same pauses and names of fences in each run
            wire.begin(seconds)
            self._time.spins = False
            try:
                self._cold(function)(raw, _Context(f"arn:aws:lambda:{region}:{ACCOUNT}:function:{function}", wire.left))
            except ProcessKilledError:
                died = True
            except StrongRefError as error:
                raised = error
                if isinstance(error, EventPendingError) and waits:
                    self._time.sleep(waits.pop(0))
                    self._next.insert(0, raw)
            except (Exception, SpinningError) as error:  # noqa: BLE001 (whatever it is, it is reported)
                errors.append(f"{type(error).__name__} was raised")
            if self._time.spins:
                errors.append("it spins until time has passed")
        errors += wire.errors
        self._time.timers.clear()
        printed = self._printed.getvalue()
        return Delivery(tuple(wire.calls), tuple(self._answers), printed, died, raised, tuple(errors), wire.struck)

    def put(self, url: str, body: bytes, seconds: float) -> _Response:
        """A function's answer arrives at CloudFormation, unless something goes wrong."""

        def take() -> _Response:
            self._answers.append(json.loads(body))
            return _Response(200)

        return self._wire.call(ANSWER, {"url": url}, take, partial(_fail_answer, url), seconds)

    def invoke(self, **request: Any) -> dict[str, Any]:
        """As a Lambda client: a function is to be invoked soon."""
        self._next.append(json.loads(request["Payload"]))
        return {"StatusCode": 202}

    def _cold(self, function: str) -> Callable[[dict[str, Any], object], None]:
        """A function's handler, its module run again: nothing is left of the invocations before."""
        if function not in self._modules:
            path = HANDLERS / function / "app.py"
            self._modules[function] = ModuleType(f"faults_{function}"), compile(path.read_text(), path, "exec")
        module, code = self._modules[function]
        exec(code, vars(module))  # noqa: S102 (as an import does)
        handler: Callable[[dict[str, Any], object], None] = module.handler
        return handler

    def _fake_clients(self) -> object:
        def method(client_in: Callable[[str], object]) -> Callable[[str], Service]:
            return lambda region: Service(client_in(region), lambda: self._wire)

        def with_credentials(given: Mapping[str, str]) -> SessionClients:
            def client_in(account: str, region: str) -> Service:
                return Service(self._clients["ssm"](str(Site(region, account))), lambda: self._wire, abroad=True)

            return SessionClients(lambda _: None, client_in).with_credentials(given)

        methods = {name: method(made) for name, made in self._clients.items()} | {"with_credentials": with_credentials}
        return type("Clients", (), {name: staticmethod(each) for name, each in methods.items()})()


class _Context:
    """The context that Lambda gives a function."""

    aws_request_id = "00000000-0000-4000-8000-000000000000"

    def __init__(self, arn: str, left: Callable[[], float]) -> None:
        self.invoked_function_arn = arn
        self._left = left

    def get_remaining_time_in_millis(self) -> int:
        return int(self._left() * 1000)


class _Http:
    """As urllib3's PoolManager: sends an answer."""

    def __init__(self, functions: Functions, **_how: object) -> None:
        self._functions = functions

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""

    def request(self, _method: str, url: str, *, body: bytes, timeout: urllib3.Timeout, **_how: object) -> _Response:
        return self._functions.put(url, body, timeout.total if isinstance(timeout.total, float) else 10.0)


@dataclass(frozen=True)
class _Response:
    status: int


def _token(size: int) -> str:
    """As `secrets.token_hex`, of random numbers that are the same in each run: names decide which reads lag."""
    return random.randbytes(size).hex()  # noqa: S311 (of fences in tests)


def _fail_answer(url: str, fault: FaultType) -> _Response:
    if fault in STATUSES:
        return _Response(STATUSES[fault])
    if fault is FaultType.TIMED_OUT:
        raise urllib3.exceptions.ReadTimeoutError(urllib3.HTTPConnectionPool("aws.example"), url, url)
    raise urllib3.exceptions.ProtocolError(url)


class _LogRecorder(logging.Handler):
    """Writes down every record of every other logger, with all its attributes."""

    def __init__(self, stream: io.StringIO) -> None:
        super().__init__(logging.DEBUG)
        self._stream = stream

    def emit(self, record: logging.LogRecord) -> None:
        self._stream.write(f"{record.getMessage()} {record.__dict__}\n")
