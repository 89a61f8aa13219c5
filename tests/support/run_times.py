"""How long a run of the tests takes, and the modules that take most: printed at its end, so that growth is seen."""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    import pluggy

SLOWEST = 5
"""How many modules are listed."""

_CPU = "cpu seconds"


def cpu_seconds() -> float:
    """Of this process, and of those that it has waited for."""
    return sum(os.times()[:4])


class RunTimes:
    """A plugin for the controller and each worker: a test's CPU time travels in its last report."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._before = cpu_seconds()
        self._cpu: Counter[str] = Counter()
        self._seconds: Counter[str] = Counter()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pluggy.Result[pytest.TestReport], None]:
        """Add the CPU time since the last report: of fixtures of a module, too, with the test that comes first."""
        outcome = yield
        if call.when == "teardown":
            now = cpu_seconds()
            outcome.get_result().user_properties.append((_CPU, now - self._before))
            self._before = now

    def pytest_collection_finish(self) -> None:
        """What comes before the first test is of no module."""
        self._before = cpu_seconds()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Sum up what a module takes."""
        module = report.nodeid.partition("::")[0]
        self._seconds[module] += report.duration
        self._cpu[module] += sum(seconds for name, seconds in report.user_properties if name == _CPU)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List the slowest modules."""
        if len(self._seconds) <= SLOWEST:
            return
        n = int(os.environ.get("N_SLOWEST", SLOWEST))
        terminalreporter.write_sep("=", f"the {SLOWEST} slowest modules")
        for module, seconds in self._seconds.most_common(n):
            terminalreporter.write_line(f"{seconds:7.1f} s {self._cpu[module]:7.1f} s of CPU  {module}")
