"""Start-up: how long a cold function takes, how much memory, and what that is spent on."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import processes, profiling
from benchmarks.bench import Data, Verdict, say
from benchmarks.sides import NEWEST, STRONG, Cdk, Ours, values
from benchmarks.tables import NONE, median, megabytes, milliseconds, quartiles, ratio, table
from benchmarks.world import World, rates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from benchmarks.bench import Bench
    from benchmarks.processes import Process

TITLE = "Start-up"
METHOD = """
A process is started, reports when its handler is loaded, gets one event (a create of one value), and reports when it
has answered it; 20 times each, in turns. Shown are medians, with the quartiles in brackets, and the most memory in
use (the process's high-water mark). Ready is not quite the same on both sides: our functions make their client with
their first call, and the CDK's do that with each event. So the second column is the one to compare: from the start of
the process to the first event's answer. The pacing is off.

Bare means an interpreter and nothing else; boto3, botocore and SDK mean one client and one call; signed is the same
call by the standard library alone, which is the floor. Ours come with bytecode, as in the layer. Sizes of functions
on Lambda, where processors are slower and files come from elsewhere, differ.
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
    """Something that is started over and over.

    Attributes:
        name: in tables.
        ours: whether it is.
        role: what it does, as far as it can be compared: exporter, importer, sdk, floor or bare.
        start: does it once.
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
            "ready": [each.ready for each in found[subject.name]],
            "first": [each.first for each in found[subject.name]],
            "peak_kb": [each.peak for each in found[subject.name]],
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
    """All of them, then ours over theirs, then what ours is spent on."""
    rows = data["rows"]
    header = ["", "Ready", "First event answered", "Most memory"]
    lines = table(
        header, ((row["name"], _spread(row["ready"]), _spread(row["first"]), megabytes(_peak(row))) for row in rows)
    )
    compared = []
    for ours, other in _pairs(data):
        compared.append(
            (
                ours["name"],
                other["name"],
                ratio(median(ours["ready"]), median(other["ready"])),
                ratio(median(ours["first"]), median(other["first"])),
                ratio(_peak(ours), _peak(other)),
            )
        )
    lines += ["", *table(["Ours", "over", "ready", "first event", "memory"], compared)]
    if data["without"]:
        lines += ["", f"The CDK's lines are not there: {data['without']}."]
    for each in data["profiles"]:
        lines += ["", *profiling.render(each)]
    return lines


def _pairs(data: Data) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each of our functions with what it is compared to: the CDK's of the same role, and a bare client."""
    for ours in data["rows"]:
        if not ours["ours"] or ours["role"] not in _ROLES:
            continue
        for other in data["rows"]:
            same_python = other["ours"] and other["name"].partition(",")[0] == ours["name"].partition(",")[0]
            if (other["role"] == ours["role"] and not other["ours"]) or (same_python and other["role"] == "sdk"):
                yield ours, other


def verdicts(data: Data) -> list[Verdict]:
    """Ours against the CDK's slower version of the same role, in Lambda's Python if it was measured."""
    found = []
    for role, (_, theirs) in _ROLES.items():
        ours = [row for row in data["rows"] if row["ours"] and row["role"] == role][-1]
        others = [row for row in data["rows"] if not row["ours"] and row["role"] == role]
        for title, measure, shown in (
            ("Cold start to the first answer", _first, milliseconds),
            ("Most memory", _peak, megabytes),
        ):
            target = f"{title} of the {role} at or under the CDK's {theirs}"
            if not others:
                found.append(Verdict(target, None, data["without"] or NONE))
                continue
            best = min(map(measure, others))
            met = measure(ours) <= best
            told = f"{shown(measure(ours))} to {shown(best)} ({ratio(measure(ours), best)})"
            found.append(Verdict(target, met, told, "" if met else _why(data, ours, shown, measure)))
    return found


def _why(
    data: Data,
    ours: dict[str, Any],
    shown: Callable[[float], str],
    measure: Callable[[dict[str, Any]], float],
) -> str:
    """What stands in the way, and what was tried: the clients alone, in the same Python."""
    python = ours["name"].partition(",")[0]
    alone = {
        row["name"].removeprefix(f"{python}, "): shown(measure(row))
        for row in data["rows"]
        if row["name"].startswith(python)
    }
    return (
        f"In {python}, one client of boto3 and one call of it, with nothing of ours, are at {alone['boto3']}. Tried: "
        f"botocore without boto3 is at {alone['botocore']}; the same call by the standard library alone, signed by "
        f"hand, at {alone['signed']}. Done: botocore reads descriptions of services and endpoints that are cut down "
        "to the calls that are made (tools/models.py); one session, a client only where a call needs it, and bytecode "
        "in the layer. The profile under Start-up shows what the rest is spent on: importing botocore mostly, and what "
        "that imports."
    )


def _first(row: dict[str, Any]) -> float:
    return median(row["first"])


def _peak(row: dict[str, Any]) -> float:
    return median(row["peak_kb"])


def _spread(given: Sequence[float]) -> str:
    low, middle, high = quartiles(given)
    return f"{milliseconds(middle)} ({low * 1000:,.0f}-{high * 1000:,.0f})"
