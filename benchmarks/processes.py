"""Functions as processes: started, given events, and asked what came of them."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import Any

from benchmarks.installing import CDK, ROOT, Node, Python

FLAGS = ("-s", "-P")
"""Python's: nothing of the user's, and nothing from beside the script."""

START_SECONDS = 60.0
PERIOD_SECONDS = 0.02
"""In which a limited function may use its share of a processor."""
EVENT_SECONDS = 905.0
"""Lambda's longest invocation, and a little for the process around it."""


class TimedOutError(Exception):
    """A function was still at work when Lambda would have ended it."""


@dataclass(frozen=True)
class Ran:
    """One event's course through a function."""

    seconds: float  # that the handler took
    cpu_seconds: float  # of a processor's time that it took of these, in all threads
    error: str | None  # what it raised, if it did: the class's name
    peak_kb: int  # the most memory that its process had in use so far


class Process(AbstractContextManager["Process"]):
    """A running function.

    Attributes:
        ready_seconds: from the start of its process until its handler was loaded.
    """

    def __init__(self, command: list[str], environment: Mapping[str, str], processor: float = 1.0) -> None:
        """Start one, and wait until it is ready; `command` gets the descriptor to report to as its last argument.

        It may use a share of one processor, from its start; with the whole, it is not limited.
        """
        reading, writing = os.pipe()
        self._reports = reading
        self._rest = b""
        self._told = TemporaryFile()  # noqa: SIM115 (closed by stop)
        began = time.monotonic()
        self._process = subprocess.Popen(  # noqa: S603
            [*command, str(writing)],
            env={**environment, "PATH": os.environ["PATH"]},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._told,
            pass_fds=[writing],
        )
        os.close(writing)
        self._stopped = threading.Event()
        self._limiter = threading.Thread(target=self._limit, args=[processor], daemon=True)
        if processor < 1:
            self._limiter.start()
        try:
            self._next(START_SECONDS)
        except BaseException:
            self.stop()
            raise
        self.ready_seconds = time.monotonic() - began

    def send(self, event: Mapping[str, Any], seconds: float = EVENT_SECONDS) -> Ran:
        """Have it carry an event out.

        Raises:
            TimedOutError: it did not come to its end; it is ended.
        """
        if self._process.stdin is None:
            raise RuntimeError("it was started without an input")
        self._process.stdin.write(json.dumps(event).encode() + b"\n")
        self._process.stdin.flush()
        return Ran(**self._next(seconds))

    def stop(self) -> None:
        """End it."""
        self._stopped.set()
        if self._limiter.is_alive():
            self._limiter.join()
        self._process.kill()
        self._process.wait()
        if self._process.stdin:
            self._process.stdin.close()
        self._told.close()
        os.close(self._reports)

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _limit(self, share: float) -> None:
        """Give the process so much of a processor's time in each period, as Linux does for Lambda's functions.

        What it takes too much, because its time is read from time to time only, is taken off the next periods.
        """
        clock = (~self._process.pid << 3) | 2  # The time of all its threads (Linux: clock_getcpuclockid).
        taken, left, ends = 0.0, share * PERIOD_SECONDS, time.monotonic() + PERIOD_SECONDS
        while not self._stopped.wait(PERIOD_SECONDS / 40):
            now = time.clock_gettime(clock)
            left, taken = left - (now - taken), now
            while time.monotonic() >= ends:
                left, ends = min(left, 0.0) + share * PERIOD_SECONDS, ends + PERIOD_SECONDS
            self._process.send_signal(signal.SIGCONT if left > 0 else signal.SIGSTOP)

    def _next(self, seconds: float) -> dict[str, Any]:
        ends = time.monotonic() + seconds
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._reports], [], [], max(0.0, ends - time.monotonic()))
            if not ready:
                raise TimedOutError
            more = os.read(self._reports, 65536)
            if not more:
                self._told.seek(0)
                told = self._told.read().decode(errors="replace")
                raise RuntimeError(f"a function's process ended: {told[-2000:]}")
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found


def python(with_python: Python, what: str, environment: Mapping[str, str], processor: float = 1.0) -> Process:
    """Ours: `exporter` or `importer`; or `boto3`, or `bare`. It has a share of a processor."""
    script = str(ROOT / "benchmarks" / "function.py")
    found = {**with_python.function(what), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return Process([str(with_python.path), *FLAGS, script, what], found, processor)


def node(with_node: Node, what: str, which: str, environment: Mapping[str, str]) -> Process:
    """The CDK's `writer` or `reader` in `cdk-strong` or `cdk-newest`; or `sdk`, or `bare`."""
    return Process([with_node.path, str(CDK / "run.cjs"), str(with_node.folder), what, which], environment)
