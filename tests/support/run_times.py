"""How long a run of the tests takes, and its slowest modules: printed at the end, so that growth is seen."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    import pluggy

SLOWEST = int(os.environ.get("STRONGREF_SLOWEST_MODULES", "5"))
"""How many modules are listed."""

_CPU = "CPU seconds"


class RunTimes:
    """A plugin for the controller and each of its workers: a test's CPU time travels in its last report."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._before = cpu_seconds()
        self._cpu: defaultdict[str, float] = defaultdict(float)
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_collection_finish(self) -> None:
        """Count what comes before the first test for no module."""
        self._before = cpu_seconds()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pluggy.Result[pytest.TestReport], None]:
        """Add the CPU time since the last test: what prepares a module counts for its first test."""
        outcome = yield
        if call.when == "teardown":
            now = cpu_seconds()
            outcome.get_result().user_properties.append((_CPU, now - self._before))
            self._before = now

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Sum up what the tests of a module take."""
        module = report.nodeid.partition("::")[0]
        self._seconds[module] += report.duration
        properties: list[tuple[str, Any]] = report.user_properties
        self._cpu[module] += sum(seconds for name, seconds in properties if name == _CPU)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List the slowest modules, and what the whole run took; its workers and emulators have ended."""
        slowest = sorted(self._seconds.items(), key=itemgetter(1), reverse=True)[:SLOWEST]
        if len(slowest) > 1:
            terminalreporter.write_sep("=", "slowest modules")
        for module, seconds in slowest if len(slowest) > 1 else ():
            terminalreporter.write_line(f"{seconds:6.1f} s, {self._cpu[module]:6.1f} s of CPU  {module}")
        whole = minutes(time.monotonic() - self._began)
        terminalreporter.write_line(f"The run took {whole}, and {minutes(cpu_seconds())} of CPU.")


def cpu_seconds() -> float:
    """CPU seconds of this process, and of those that it has started and waited for."""
    return sum(os.times()[:4])


def minutes(seconds: float) -> str:
    """As in `4 min 31 s`."""
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
