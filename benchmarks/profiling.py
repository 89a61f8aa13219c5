"""The startup time of our functions by imported package."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.installing import Python
from benchmarks.processes import FLAGS
from benchmarks.tables import table

Profile = dict[str, Any]

_LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")
_RUNS = 5
_SHOWN = 12
_PHASES = (
    "import app",
    "import app, boto3, botocore.config; boto3.session.Session().client('ssm', region_name='us-east-1')",
)
"""Until the function is ready, and until it has the client for its first call."""

_STANDARD = "the standard library"


def take(python: Python) -> Profile:
    """Imports until the exporter is ready, and until it has the client for its first call."""
    measured = [_imports(python, code) for code in _PHASES]
    return {"python": python.short, **summary([packages for packages, _ in measured], [whole for _, whole in measured])}


def summary(phases: Sequence[Mapping[str, float]], wholes: Sequence[float]) -> Profile:
    """The packages that take longest in the last phase, and the sums, in milliseconds, each for all phases."""
    *_, last = phases
    names = sorted(set().union(*phases), key=lambda name: (-last.get(name, 0.0), name))
    found = {name: [phase.get(name, 0.0) for phase in phases] for name in names}
    shown = {name: found[name] for name in names[:_SHOWN]}
    shown["all others"] = [sum(each) for each in zip(*(found[name] for name in names[_SHOWN:]), strict=True)]
    shown["all imports"] = [sum(phase.values()) for phase in phases]
    shown["the whole process, not profiled"] = list(wholes)
    return {"milliseconds": {name: [round(each, 3) for each in times] for name, times in shown.items()}}


def _imports(python: Python, code: str) -> tuple[dict[str, float], float]:
    """Milliseconds by package, and of the whole process without a profile; the fastest of several runs."""
    env = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", **python.function("exporter")}
    standard = _standard(python)
    wholes, watched = [], []
    for _ in range(_RUNS):
        began = time.monotonic()
        _run([str(python.path), *FLAGS, "-c", code], env)
        wholes.append((time.monotonic() - began) * 1000)
        found: Counter[str] = Counter()
        for micros, module in _LINE.findall(_run([str(python.path), *FLAGS, "-X", "importtime", "-c", code], env)):
            top = module.partition(".")[0]
            found[_STANDARD if top in standard or top == "encodings" else top] += int(micros)
        watched.append(found)
    fastest = min(watched, key=Counter.total)
    return {name: micros / 1000 for name, micros in fastest.most_common()}, min(wholes)


def _run(command: list[str], env: dict[str, str]) -> str:
    """Standard error of a Python process."""
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stderr  # noqa: S603


def _standard(python: Python) -> frozenset[str]:
    asked = subprocess.run(  # noqa: S603
        [str(python.path), "-c", "import json, sys; print(json.dumps(sorted(sys.stdlib_module_names)))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return frozenset(json.loads(asked.stdout))


def render(profile: Profile) -> list[str]:
    """Both phases side by side."""
    header = [f"Python {profile['python']}: ms in imports", "exporter ready", "with the client of its first call"]
    return table(
        header, [(name, *(f"{each:.1f}" for each in found)) for name, found in profile["milliseconds"].items()]
    )
