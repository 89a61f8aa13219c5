"""Start-up: how long a cold function takes, and how much memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

from benchmarks import processes
from benchmarks.bench import Bench, Data, Verdict, say
from benchmarks.processes import Process
from benchmarks.sides import NEWEST, STRONG, Cdk, Ours, values
from benchmarks.tables import NONE, median, megabytes, milliseconds, missing, ratios, spread, table
from benchmarks.world import World, rates

TITLE = "Startup"
METHOD = """
A process starts, reports when its handler is loaded, gets one event (a create of one value), and reports when it has
answered; in five runs of four times each, in turns. A figure of a run is its median. The table shows the medians of the
runs, with the best and the worst in parentheses, and the peak memory (the process's high-water mark). A ratio is of two
figures of one run. A target is met if the worst run meets it. Ready is not quite the same on both sides: our functions
create their client with the first call, and the CDK's create one for each event. So compare the second column: from the
start of the process to the response to the first event. The rate limit is off.

Bare is an interpreter and nothing else. boto3, botocore and SDK are one client and one call. Ours have bytecode, as in
the layer. Times on Lambda differ: its processors are slower, and its files come from elsewhere.
"""

_RUNS, _STARTS = 5, 4
_PARTS: dict[str, Callable[[float], str]] = {"ready": milliseconds, "first": milliseconds, "peak": megabytes}
"""What is measured of a start, and how it is shown."""
_PLAIN = {"bare": "bare", "botocore": "floor", "boto3": "sdk"}
_ROLES = {"exporter": ("exports", "writer"), "importer": ("imports", "reader")}


class Start(NamedTuple):
    """One start: seconds until ready, seconds until the first event was answered, kilobytes."""

    ready: float
    first: float
    peak: int


class Subject(NamedTuple):
    """A process that is started repeatedly."""

    name: str  # in tables
    ours: bool  # whether it is one of strongref's
    role: str  # what it is compared by: exporter, importer, sdk, floor or bare
    start: Callable[[], Start]  # starts it once


def run(bench: Bench) -> Data:
    """Measure, in turns."""
    with ExitStack() as stack:
        subjects = list(_subjects(bench, stack))
        found: dict[str, list[Start]] = {subject.name: [] for subject in subjects}
        starts = 1 if bench.quick else _STARTS
        for turn in range(_RUNS * starts + 1):
            for subject in subjects:
                started = subject.start()
                if turn:  # before the first one, files were not in the cache
                    found[subject.name].append(started)
            say(f"startup: {turn} of {_RUNS * starts}")
    rows = [
        {
            "name": subject.name,
            "ours": subject.ours,
            "role": subject.role,
            **{part: _runs([getattr(each, part) for each in found[subject.name]]) for part in Start._fields},
        }
        for subject in subjects
    ]
    return {"without": bench.without, "rows": rows}


def _runs(samples: Sequence[float]) -> list[float]:
    """The median of each run."""
    many = len(samples) // _RUNS
    return [median(samples[at : at + many]) for at in range(0, len(samples), many)]


def _subjects(bench: Bench, stack: ExitStack) -> Iterator[Subject]:
    for python in bench.pythons:
        world = stack.enter_context(World(Ours(python), rates(paced=False)))
        env, name = world.service.env(), f"Python {python.short}"
        for what, role in _PLAIN.items():
            start = partial(_plain, partial(processes.python, python, what, env))
            yield Subject(f"{name}, {what}", True, role, start)
        for role, (what, _) in _ROLES.items():
            yield Subject(f"{name}, strongref {role}", True, role, partial(_function, world, what))
    node = bench.node
    if isinstance(node, str):
        return
    for key in (STRONG, NEWEST):
        world = stack.enter_context(World(Cdk(node, key), rates(paced=False)))
        env = world.service.env()
        if key == STRONG:
            yield Subject("node, bare", False, "bare", partial(_plain, partial(processes.node, node, "bare", "", env)))
            yield Subject("node, SDK", False, "sdk", partial(_plain, partial(processes.node, node, "sdk", "", env)))
        for role, (what, title) in _ROLES.items():
            yield Subject(f"{world.side.title} {title}", False, role, partial(_function, world, what))


def _plain(start: Callable[[], Process]) -> Start:
    with start() as process:
        ran = process.send({})
        return Start(process.ready_seconds, process.ready_seconds + ran.seconds, ran.peak_kb)


def _function(world: World, what: str) -> Start:
    world.forget()
    side, wanted = world.side, values(1)
    if what == "imports":
        world.create("exports", side.exports(wanted))
    world.cool()
    ready = world.warm(what).ready_seconds
    properties = {"exports": side.exports, "imports": side.imports}[what](wanted)
    outcome = world.create(what, properties)
    world.cool()
    if not outcome.done:
        raise RuntimeError(f"{side.title}: {outcome.status}: {outcome.reason}")
    return Start(ready, ready + outcome.seconds, outcome.peak_kb)


def render(data: Data) -> list[str]:
    """All of them, then ours over theirs."""
    rows = data["rows"]
    header = ["", "Ready", "First event answered", "Peak memory"]
    lines = table(
        header, ((row["name"], *(spread(row[part], shown) for part, shown in _PARTS.items())) for row in rows)
    )
    compared = []
    for ours, other in _pairs(data):
        compared.append((ours["name"], other["name"], *(spread(ratios(ours[part], other[part])) for part in _PARTS)))
    lines += ["", *table(["Ours", "over", "ready", "first event", "memory"], compared)]
    return lines + missing(data, "lines")


def _pairs(data: Data) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each of our functions with its comparisons: the CDK's of the same role, and a client of boto3 alone."""
    for ours in data["rows"]:
        if not ours["ours"] or ours["role"] not in _ROLES:
            continue
        for other in data["rows"]:
            same_python = other["ours"] and other["name"].partition(",")[0] == ours["name"].partition(",")[0]
            if (other["role"] == ours["role"] and not other["ours"]) or (same_python and other["role"] == "sdk"):
                yield ours, other


def verdicts(data: Data) -> list[Verdict]:
    """Ours against the CDK's faster version of the same role, in Lambda's Python if it was measured."""
    found = []
    for role, (_, theirs) in _ROLES.items():
        ours = [row for row in data["rows"] if row["ours"] and row["role"] == role][-1]
        others = [row for row in data["rows"] if not row["ours"] and row["role"] == role]
        for title, part in (("Cold start to the first response", "first"), ("Peak memory", "peak")):
            shown = _PARTS[part]
            target = f"{title} of the {role} at or under the CDK's {theirs}"
            if not others:
                found.append(Verdict(target, None, data["without"] or NONE))
                continue
            best = min((row[part] for row in others), key=median)
            found_ratios = ratios(ours[part], best)
            met = max(found_ratios) <= 1
            measured = f"{spread(ours[part], shown)} to {spread(best, shown)}: {spread(found_ratios)}"
            found.append(Verdict(target, met, measured, "" if met else _why(data, ours, part)))
    return found


def _why(data: Data, ours: dict[str, Any], part: str) -> str:
    """The reason, and what was tried: the clients alone, in the same Python."""
    python = ours["name"].partition(",")[0]
    alone = {
        row["name"].removeprefix(f"{python}, "): _PARTS[part](median(row[part]))
        for row in data["rows"]
        if row["name"].startswith(python)
    }
    return (
        f"In {python}, one boto3 client and one call alone, without strongref, take {alone['boto3']}. Tried: botocore "
        f"without boto3 takes {alone['botocore']}. Done: botocore reads service and endpoint models that contain only "
        "the calls in use (tools/models.py); there is one session, a client only where a call needs it, and bytecode "
        "in the layer. The rest is mostly the import of botocore and what botocore imports (`python -X importtime`)."
    )
