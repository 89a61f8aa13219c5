"""Latency: one invocation against a service that takes 10 ms per call."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from benchmarks.bench import Bench, Data, Verdict, say
from benchmarks.sides import OURS, STRONG, Side, values
from benchmarks.tables import NONE, median, milliseconds, missing, number, ratios, spread, table
from benchmarks.world import World

TITLE = "Latency"
METHOD = """
One create of 1, 10 and 100 values on a warm function, from the event to the response, against a service that answers
each call after 10 ms, even if many arrive at once. All sides are as installed. There are five runs, in each of which
the sides create in turns; a run's time is the median of its creations. Each figure is the median of the runs, with the
best and the worst run in parentheses; a ratio is of two times of one run. A target is met if the worst run meets it.
There is no quota here, so nothing is throttled and nothing is paced. Ours make up to 24 calls at the same time in each
region, ten of them at first, the CDK's handlers all at once. CPU per call is the processor's time of the function,
divided by its calls. At the default quota of 3 puts per second, 100 puts take 33 s for any caller.
"""

_LATENCY_MS = 10.0
_RUNS = 5
_REPETITIONS = {1: 9, 10: 5, 100: 5}
"""Of a run, by the number of values."""
_JUDGED, _MOST = 100, 1.0
_ONE_SECONDS = 0.09
_WHY = """strongref verifies an event with CloudFormation, puts up a fence for a change, and looks at an import
twice. Most of these calls depend on the one before. 100 values need more than 100 calls, each with 1.2 ms of a
processor's time in botocore: 130 ms. Tried: more in flight (24 are as fast as 100), and no validation of requests,
which saves nothing. Our own code is 7% of a call."""


def run(bench: Bench) -> Data:
    """Measure, in turns."""
    counts = (1, 10) if bench.quick else tuple(_REPETITIONS)
    rows: list[dict[str, Any]] = []
    with ExitStack() as stack:
        worlds = [(side.key, stack.enter_context(World(side, {}))) for side in bench.sides]
        for _, world in worlds:
            _create(world, 1)  # to warm it up
        for count in counts:
            runs: dict[tuple[str, str], list[_Sample]] = {}
            for _ in range(_RUNS):
                for (key, what), sample in _run(worlds, count, 2 if bench.quick else _REPETITIONS[count]).items():
                    runs.setdefault((key, what), []).append(sample)
            for (key, what), taken in runs.items():
                row = {"side": key, "what": what, "n": count}
                rows.append(row | {"runs": [each.seconds for each in taken], "cpu": [each.cpu for each in taken]})
            say(f"latency: {count:,} values")
    return {"titles": bench.titles, "without": bench.without, "rows": rows}


class _Sample(NamedTuple):
    """The seconds that a creation took, and those of a processor for each call."""

    seconds: float
    cpu: float


def _run(worlds: Sequence[tuple[str, World]], count: int, repetitions: int) -> dict[tuple[str, str], _Sample]:
    """The medians of each side and each kind of creation, in turns."""
    samples: dict[tuple[str, str], list[_Sample]] = {}
    for _ in range(repetitions):
        for key, world in worlds:
            for what, taken in _create(world, count):
                samples.setdefault((key, what), []).append(taken)
    return {each: _Sample(*map(median, zip(*taken, strict=True))) for each, taken in samples.items()}


def _create(world: World, count: int) -> Sequence[tuple[str, _Sample]]:
    side: Side = world.side
    world.forget()
    world.service.options(latency_ms=_LATENCY_MS)
    made = world.create("exports", side.exports(values(count), secure=True))
    taken = world.create("imports", side.imports(values(count)))
    world.service.options()
    for outcome in (made, taken):
        if not outcome.done:
            raise RuntimeError(f"{side.title}: {outcome.status}: {outcome.reason}")
    found = (("exports", made), ("imports", taken))
    return [(what, _Sample(each.seconds, each.cpu_seconds / each.calls)) for what, each in found]


def render(data: Data) -> list[str]:
    """Medians, and ours over theirs."""
    titles = data["titles"]
    theirs = [key for key in titles if key != OURS]
    header = ["Create", "N", titles[OURS], *(cell for key in theirs for cell in (titles[key], "ratio"))]
    rows = []
    for part, (shown, suffix) in PARTS.items():
        found = runs_of(data, part)
        for what, count in dict.fromkeys((what, count) for what, count, _ in found):
            ours = found[what, count, OURS]
            row: list[object] = [what + suffix, number(count), spread(ours, shown)]
            for key in theirs:
                row += [spread(found[what, count, key], shown), spread(ratios(ours, found[what, count, key]))]
            rows.append(row)
    return [*table(header, rows), *missing(data, "columns")]


PARTS = {"runs": (milliseconds, ""), "cpu": (lambda given: f"{given * 1000:.2f} ms", ", CPU per call")}
"""What is measured of a creation: how it is shown, and what its rows are called in addition."""


def verdicts(data: Data) -> list[Verdict]:
    """One value in itself, and a hundred against those that claim nothing; the worst run counts."""
    found = runs_of(data)
    judged = []
    for what in ("exports", "imports"):
        if one := found.get((what, 1, OURS)):
            target = f"Create 1 {what.removesuffix('s')} in at most {milliseconds(_ONE_SECONDS)}, at 10 ms a call"
            judged.append(_judged(target, max(one) <= _ONE_SECONDS, spread(one, milliseconds)))
        target = f"Create {_JUDGED} {what} no slower than CDK 2.257.0, without a quota"
        ours, theirs = (found.get((what, _JUDGED, key)) for key in (OURS, STRONG))
        if ours is None or theirs is None:
            judged.append(Verdict(target, None, data["without"] or NONE))
        else:
            found_ratios = ratios(ours, theirs)
            measured = f"{spread(ours, milliseconds)} to {spread(theirs, milliseconds)}: {spread(found_ratios)}"
            judged.append(_judged(target, max(found_ratios) <= _MOST, measured))
    return judged


def _judged(target: str, met: bool, measured: str) -> Verdict:
    return Verdict(target, met, measured, "" if met else _WHY)


def runs_of(data: Data, part: str = "runs") -> dict[tuple[str, int, str], list[float]]:
    """The seconds of each run, or `cpu` of each call, by what was created, how many, and by which side."""
    return {(row["what"], row["n"], row["side"]): row[part] for row in data["rows"] if part in row}
