"""Start-up: how long a cold function takes, how much memory, and what that is spent on."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import processes, profiling
from benchmarks.bench import Bench, Data, Verdict, say
from benchmarks.sides import NEWEST, STRONG, Cdk, Ours, values
from benchmarks.tables import NONE, median, megabytes, milliseconds, quartiles, ratio, table
from benchmarks.world import World, rates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.processes import Process

TITLE = "Startup"
METHOD = """
A process starts, reports when its handler is loaded, gets one event (a create of one value), and reports when it has
answered; 20 times each, in turns. The table shows medians, with the quartiles in parentheses, and the peak memory (the
process's high-water mark). Ready is not quite the same on both sides: our functions create their client with the first
call, and the CDK's create one for each event. So compare the second column: from the start of the process to the
response to the first event. The rate limit is off.

Bare is an interpreter and nothing else. boto3, botocore and SDK are one client and one call. Signed is the same call
with the standard library alone, which is the minimum. Ours have bytecode, as in the layer. Times on Lambda differ: its
processors are slower, and its files come from elsewhere.
"""

_REPETITIONS = 20
_PLAIN = {"bare": "bare", "signed": "floor", "botocore": "floor", "boto3": "sdk"}
_ROLES = {"exporter": ("exports", "writer"), "importer": ("imports", "reader")}


class Start(NamedTuple):
    """One start: seconds until ready, seconds until the first event was answered, kilobytes."""

    ready: float
    first: float
    peak: int


class Subject(NamedTuple):
    """A process that is started repeatedly.

    Attributes:
        name: in tables.
        ours: whether it is one of strongref's.
        role: what it is compared by: exporter, importer, sdk, floor or bare.
        start: starts it once.
    """

    name: str
    ours: bool
    role: str
    start: Callable[[], Start]


def run(bench: Bench) -> Data:
    """Measure, in turns."""
    with ExitStack() as stack:
        subjects = list(_subjects(bench, stack))
        found: dict[str, list[Start]] = {subject.name: [] for subject in subjects}
        repetitions = 3 if bench.quick else _REPETITIONS
        for turn in range(repetitions + 1):
            for subject in subjects:
                started = subject.start()
                if turn:  # before the first one, files were not in the cache
                    found[subject.name].append(started)
            say(f"startup: {turn} of {repetitions}")
        profiles = [profiling.take(python) for python in bench.pythons]
    rows = [
        {
            "name": subject.name,
            "ours": subject.ours,
            "role": subject.role,
            "ready": quartiles([each.ready for each in found[subject.name]]),
            "first": quartiles([each.first for each in found[subject.name]]),
            "peak_kb": median([each.peak for each in found[subject.name]]),
        }
        for subject in subjects
    ]
    without = bench.node if isinstance(bench.node, str) else ""
    return {"without": without, "rows": rows, "profiles": profiles}


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
    """All of them, then ours over theirs, then the profile of ours."""
    rows = data["rows"]
    header = ["", "Ready", "First event answered", "Peak memory"]
    lines = table(
        header, ((row["name"], _spread(row["ready"]), _spread(row["first"]), megabytes(row["peak_kb"])) for row in rows)
    )
    compared = []
    for ours, other in _pairs(data):
        compared.append(
            (
                ours["name"],
                other["name"],
                ratio(ours["ready"][1], other["ready"][1]),
                ratio(_first(ours), _first(other)),
                ratio(_peak(ours), _peak(other)),
            )
        )
    lines += ["", *table(["Ours", "over", "ready", "first event", "memory"], compared)]
    if data["without"]:
        lines += ["", f"The CDK's lines are missing: {data['without']}."]
    for each in data["profiles"]:
        lines += ["", *profiling.render(each)]
    return lines


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
        for title, measure, shown in (
            ("Cold start to the first response", _first, milliseconds),
            ("Peak memory", _peak, megabytes),
        ):
            target = f"{title} of the {role} at or under the CDK's {theirs}"
            if not others:
                found.append(Verdict(target, None, data["without"] or NONE))
                continue
            best = min(map(measure, others))
            met = measure(ours) <= best
            measured = f"{shown(measure(ours))} to {shown(best)} ({ratio(measure(ours), best)})"
            found.append(Verdict(target, met, measured, "" if met else _why(data, ours, shown, measure)))
    return found


def _why(
    data: Data, ours: dict[str, Any], shown: Callable[[float], str], measure: Callable[[dict[str, Any]], float]
) -> str:
    """The reason, and what was tried: the clients alone, in the same Python."""
    python = ours["name"].partition(",")[0]
    alone = {
        row["name"].removeprefix(f"{python}, "): shown(measure(row))
        for row in data["rows"]
        if row["name"].startswith(python)
    }
    return (
        f"In {python}, one boto3 client and one call alone, without strongref, take {alone['boto3']}. Tried: botocore "
        f"without boto3 takes {alone['botocore']}; the same call with the standard library alone, signed by hand, "
        f"takes {alone['signed']}. Done: botocore reads service and endpoint models that contain only the calls in use "
        "(tools/models.py); there is one session, a client only where a call needs it, and bytecode in the layer. The "
        "profile under Startup shows the rest: mostly the import of botocore and what botocore imports."
    )


def _first(row: dict[str, Any]) -> float:
    median_: float = row["first"][1]
    return median_


def _peak(row: dict[str, Any]) -> float:
    peak: float = row["peak_kb"]
    return peak


def _spread(given: Sequence[float]) -> str:
    low, middle, high = given
    return f"{milliseconds(middle)} ({low * 1000:,.0f}-{high * 1000:,.0f})"
