"""What all tables share: the sides that are compared, and the result files."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from benchmarks.installing import ROOT, Node, Python
from benchmarks.sides import NEWEST, STRONG, Side, sides

Data = dict[str, Any]
"""A table's results: medians, ratios and counts as JSON. Samples are not kept."""

_BEGAN = time.monotonic()
_WIDTH = 240
_RUN_SECONDS = 300


class Verdict(NamedTuple):
    """A target, whether it is met, and by what figure."""

    target: str  # in words
    met: bool | None  # None where it was not measured
    measured: str  # the figures
    why: str = ""  # the reason, if the target is not met
    misses: Sequence[str] = ()  # the cases that miss it, if there are several


class Table(Protocol):
    """One of the modules that measure something."""

    TITLE: str
    METHOD: str

    def run(self, bench: Bench) -> Data:
        """Measure."""

    def render(self, data: Data) -> list[str]:
        """The results as lines of Markdown."""

    def verdicts(self, data: Data) -> list[Verdict]:
        """Compare the results with the targets."""


@dataclass(frozen=True)
class Bench:
    """A run."""

    pythons: Sequence[Python]  # this one first, then Lambda's if the machine has it
    node: Node | str  # with the CDK's packages, or why there is none
    quick: bool = False  # run with small numbers, to check that everything works

    @property
    def without(self) -> str:
        """Why the CDK is not measured; empty if it is."""
        return self.node if isinstance(self.node, str) else ""

    @property
    def sides(self) -> Sequence[Side]:
        return sides(self.pythons[0], self.node)

    @property
    def titles(self) -> dict[str, str]:
        """The sides' names in tables, by their keys in results."""
        return {side.key: side.title for side in self.sides}

    def versions(self) -> dict[str, str]:
        found = {
            "strongref": version("strongref"),
            "Python": self.pythons[0].version
            + "".join(f" (startup: also {each.version})" for each in self.pythons[1:]),
            "boto3": version("boto3"),
        }
        if isinstance(self.node, str):
            return found | {"node": self.node}
        packages = {"@aws-sdk/client-ssm": self.node.package("@aws-sdk/client-ssm")}
        packages["aws-cdk-lib"] = ", ".join(self.node.package(name) for name in (STRONG, NEWEST))
        return found | {"node": self.node.version} | packages


def say(text: str) -> None:
    """Print progress."""
    sys.stdout.write(f"[{time.monotonic() - _BEGAN:6.1f} s] {text}\n")
    sys.stdout.flush()


def timed(program: str, arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[float, str]:
    """Run a program in a Python process of its own: its seconds, and what it prints."""
    command, began = [sys.executable, "-c", program, *arguments], time.perf_counter()
    done = subprocess.run(  # noqa: S603 (this Python)
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=_RUN_SECONDS, check=False
    )
    spent = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(f"{arguments[0]} failed: {done.stderr}")
    return spent, done.stdout


def measure(name: str, module: Table, bench: Bench, folder: Path) -> None:
    """Run a table and write its results."""
    say(f"{name}: {module.TITLE}")
    result = {
        "date": datetime.now(UTC).date().isoformat(),
        "quick": bench.quick,
        "machine": f"{os.cpu_count()} processors, {platform.system()} {platform.machine()}",
        "versions": bench.versions(),
        "data": module.run(bench),
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(dump(result) + "\n", encoding="utf-8")


def dump(given: object, indent: str = "") -> str:
    """JSON that shows in a diff what changed: anything that fits into a line is on one line."""
    line = json.dumps(given, ensure_ascii=False)
    if len(indent + line) < _WIDTH or not isinstance(given, dict | list):
        return line
    deeper = indent + " "
    if isinstance(given, list):
        return "[\n" + ",\n".join(deeper + dump(each, deeper) for each in given) + f"\n{indent}]"
    pairs = (f"{deeper}{json.dumps(key)}: {dump(each, deeper)}" for key, each in given.items())
    return "{\n" + ",\n".join(pairs) + f"\n{indent}}}"


def load(name: str, folder: Path) -> dict[str, Any] | None:
    """A table's newest results, if there are any."""
    path = folder / f"{name}.json"
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
