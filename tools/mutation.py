"""Takes each condition of the protocol out, and shows that a test fails without it.

    python -m tools.mutation [--fast] [MODULE…]

Each mutant runs in a fork of the process that has collected the tests: those that execute its lines, until one fails.
What survives the fast tests meets the explorer, the faults and the long histories, unless tools/survivors.toml explains
it. What was killed is remembered in .build/mutants for as long as its function stays the same.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
import tomllib
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

os.environ["CI"] = "true"  # Hypothesis tries the same examples each time then, and keeps none that failed.

import coverage
import pytest
from _pytest.runner import runtestprotocol

from tests.support.mutants import Mutant, Running, mutants, running
from tests.support.run_times import cpu_seconds, minutes

ROOT = Path(__file__).resolve().parents[1]
PROTOCOL = ROOT / "layers/core/strongref/protocol"
PYTEST = ("-qs", "-p", "no:cacheprovider", "-m", "not (deep or e2e or largest or site)")
FOLDERS = ("tests/protocol", "tests/contract", "tests/runtime")
KEPT = ROOT / ".build/mutants"
EXPLANATIONS: dict[str, dict[str, str]] = tomllib.loads((ROOT / "tools/survivors.toml").read_text("utf-8"))
"""Why no test can fail without a condition, by its function and by what becomes of it."""

LEAST_SECONDS, TIMES_LONGER = 5.0, 5
"""A test fails as well if it takes this much CPU time, and so many times more than without the mutant."""


class Tests:
    """The tests of one speed, and which lines each of them executes."""

    def __init__(self, speed: str, items: Sequence[pytest.Item]) -> None:
        self.speed, self._items = speed, {each.nodeid: each for each in items}
        self._data, times = coverage.CoverageData(str(KEPT / f"{speed}.coverage")), KEPT / f"{speed}.json"
        sources = [*PROTOCOL.glob("*.py"), *(ROOT / "tests").rglob("*.py")]
        if not times.exists() or times.stat().st_mtime < max(each.stat().st_mtime for each in sources):
            _say(f"Recording which lines {len(items)} {speed} tests execute …")
            if failed := _first_to_fail(self._recorded(times)):
                raise SystemExit(f"{failed} fails without a mutant.")
        self._seconds: dict[str, float] = json.loads(times.read_text())
        self._data.read()

    def _recorded(self, times: Path) -> Iterator[pytest.Item]:
        measured = coverage.Coverage(self._data.data_filename(), include=[f"{PROTOCOL}/*"], config_file=False)
        measured.erase()
        measured.start()
        seconds = {}
        for name, item in self._items.items():
            measured.switch_context(name)
            began = time.process_time()
            yield item
            seconds[name] = time.process_time() - began
        measured.stop()
        measured.save()
        times.write_text(json.dumps(seconds))

    def killer(self, mutant: Mutant, functions: Running, first: Sequence[str]) -> str:
        """The first test that fails with a mutant, empty if none does: some are tried first, then the shortest."""
        by_line = self._data.contexts_by_lineno(str(mutant.file))
        names = {name for line in mutant.lines for name in by_line.get(line, ())} & self._items.keys()

        def mutated() -> Iterator[pytest.Item]:
            mutant.put_into(functions)
            for name in sorted(names, key=lambda name: (name not in first, self._seconds[name])):
                signal.setitimer(signal.ITIMER_PROF, LEAST_SECONDS + TIMES_LONGER * self._seconds[name])
                signal.alarm(600)  # for a test that waits for what never comes
                yield self._items[name]

        return _first_to_fail(mutated())


def _first_to_fail(items: Iterable[pytest.Item]) -> str:
    """Run tests in a fork until one fails, and return its name."""
    reader, writer = os.pipe()
    if not (child := os.fork()):
        code = 1
        try:
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            for item in items:
                os.write(writer, f"{item.nodeid}\n".encode())
                if any(report.failed for report in runtestprotocol(item, log=False)):
                    break
            else:
                code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader) as names:
        last = ["no test", *names.read().splitlines()][-1]
    return last if os.waitpid(child, 0)[1] else ""


class Hunt:
    """A plugin of pytest that runs mutants with the tests that it has collected."""

    def __init__(self, modules: Sequence[str], *, fast: bool) -> None:
        files = [PROTOCOL / f"{name}.py" for name in modules] or sorted(PROTOCOL.glob("*.py"))
        self._mutants = [each for file in files for each in mutants(file)]
        self._fast, self._killed = fast, KEPT / "killed"
        self._survivors: set[tuple[str, str]] = set()
        self._ran = 0

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the mutants that are not known to be killed: with the slow tests what survives the fast ones."""
        KEPT.mkdir(parents=True, exist_ok=True)
        known = self._killed.read_text().splitlines() if self._killed.exists() else []
        killed = {line.partition(" ")[0] for line in known}
        slow = [item for item in session.items if item.get_closest_marker("slow")]
        left = [each for each in self._mutants if each.digest not in killed]
        left = self._run(left, Tests("fast", [item for item in session.items if item not in slow]))
        unexplained = [each for each in left if each.text not in EXPLANATIONS.get(each.function, {})]
        if unexplained and not self._fast:
            found = self._run(unexplained, Tests("slow", slow))
            left = [each for each in left if each not in unexplained or each in found]
        self._survivors = {(each.function, each.text) for each in left}
        return True

    def _run(self, some: Sequence[Mutant], tests: Tests) -> list[Mutant]:
        """Those that survive."""
        survivors, killers = [], defaultdict[str, list[str]](list)
        functions = running({each.file for each in some})
        for mutant in some:
            self._ran += 1
            if killer := tests.killer(mutant, functions, killers[mutant.function]):
                killers[mutant.function].append(killer)
                with self._killed.open("a") as lines:
                    lines.write(f"{mutant.digest} {mutant.function}: {mutant.text}  BY {killer}\n")
            else:
                survivors.append(mutant)
                _say(f"survives the {tests.speed} tests: {mutant.function}: {mutant.text}")
        return survivors

    def report(self) -> bool:
        """Say what became of the mutants; False if a survivor has no explanation, or an explanation no survivor."""
        modules = {each.file.stem for each in self._mutants}
        explained = {(name, text) for name, texts in EXPLANATIONS.items() for text in texts}
        explained = {each for each in explained if each[0].partition(".")[0] in modules}
        for problem, found in (
            ("no explanation", self._survivors - explained),
            ("no such survivor", explained - self._survivors),
        ):
            for name, text in sorted(found):
                _say(f"{problem}: {name}: {text}")
        conditions = {(each.function, each.condition, each.lines) for each in self._mutants}
        _say(f"{len(conditions)} conditions, {len(self._mutants)} mutants, {len(self._survivors)} survivors.")
        _say(f"{self._ran} were run, since the others were killed before.")
        return self._survivors == explained


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Run the mutants of all modules of the protocol, or of some; 1 if one survives and is not explained."""
    began = time.monotonic()
    parser = argparse.ArgumentParser(
        description="Takes each condition of the protocol out: a test must fail without it."
    )
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="of the protocol, as in `planner`; default: all")
    parser.add_argument(
        "--fast", action="store_true", help="do not run the slow tests with what survives the fast ones"
    )
    arguments = parser.parse_args()
    os.chdir(ROOT)
    warnings.simplefilter("ignore", SyntaxWarning)  # Not every mutant makes sense.
    hunt = Hunt(arguments.modules, fast=arguments.fast)
    good = pytest.main([*PYTEST, *FOLDERS], plugins=[hunt]) == pytest.ExitCode.OK and hunt.report()
    _say(f"The run took {minutes(time.monotonic() - began)}, and {minutes(cpu_seconds())} of CPU.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
