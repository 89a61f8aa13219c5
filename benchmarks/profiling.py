"""What our functions' start-up is spent on: the imports, each package's own time added up."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from benchmarks.processes import FLAGS
from benchmarks.tables import table

if TYPE_CHECKING:
    from benchmarks.installing import Python

Profile = dict[str, Any]

_LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")
_RUNS = 5
_SHOWN = 12
_PHASES = {
    "ready": "import app",
    "first call": "import app, boto3, botocore.config; boto3.session.Session().client('ssm', region_name='us-east-1')",
}
_STANDARD = "the standard library"


def take(python: Python) -> Profile:
    """Imports until the exporter is ready, and until it has the client for its first call."""
    phases = {}
    for phase, code in _PHASES.items():
        packages, milliseconds = _imports(python, code)
        phases[phase] = {"packages": packages, "milliseconds": milliseconds}
    return {"python": python.short, "phases": phases}


def _imports(python: Python, code: str) -> tuple[dict[str, float], float]:
    """Milliseconds by package, and of the whole process without being watched; the fastest of several runs."""
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
    """What a Python says on its standard error."""
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
    phases = profile["phases"]
    ready, called = (phases[name]["packages"] for name in _PHASES)
    names = sorted({*ready, *called}, key=lambda name: -called.get(name, 0.0))
    rows: list[tuple[object, ...]] = [
        (name, f"{ready.get(name, 0.0):.1f}", f"{called.get(name, 0.0):.1f}") for name in names[:_SHOWN]
    ]
    rest = names[_SHOWN:]
    rows.append(("all others", *(f"{sum(each.get(name, 0.0) for name in rest):.1f}" for each in (ready, called))))
    rows.append(("all imports", *(f"{sum(each.values()):.1f}" for each in (ready, called))))
    rows.append(("the whole process, not watched", *(f"{phases[name]['milliseconds']:.1f}" for name in _PHASES)))
    header = [f"Python {profile['python']}: ms in imports", "exporter ready", "with the client of its first call"]
    return table(header, rows)
