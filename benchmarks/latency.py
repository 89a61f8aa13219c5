"""Latency: one invocation against a service that takes 10 ms per call."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from benchmarks.bench import Bench, Data, Verdict, say
from benchmarks.sides import NEWEST, OURS, STRONG, Side, values
from benchmarks.tables import NONE, median, milliseconds, number, ratio, table
from benchmarks.world import World, rates

if TYPE_CHECKING:
    from collections.abc import Sequence


TITLE = "Latency"
METHOD = """
One create of 1, 10 and 100 values on a warm function, from the event to the response, against a service that answers
each call after 10 ms, even if many arrive at once. All sides are as installed. Times are medians, with the sides
measured in turns. There is no quota here, so nothing is throttled and nothing is paced. Ours make up to ten calls at
the same time in each region, the CDK's handlers all at once. At the default quota of 3 puts per second, 100 puts take
33 s for any caller.
"""

_LATENCY_MS = 10.0
_REPETITIONS = {1: 15, 10: 9, 100: 9}
_JUDGED, _MOST = 100, 4.0


def run(bench: Bench) -> Data:
    """Measure, in turns."""
    counts = (1, 10) if bench.quick else tuple(_REPETITIONS)
    rows: list[dict[str, Any]] = []
    with ExitStack() as stack:
        worlds = [(side.key, stack.enter_context(World(side, rates()))) for side in bench.sides]
        for _, world in worlds:
            _warm_up(world)
        for count in counts:
            samples: dict[tuple[str, str], list[float]] = {}
            for _ in range(2 if bench.quick else _REPETITIONS[count]):
                for key, world in worlds:
                    for what, taken in _create(world, count):
                        samples.setdefault((key, what), []).append(taken)
            rows += [
                {"side": key, "what": what, "n": count, "seconds": median(taken)}
                for (key, what), taken in samples.items()
            ]
            say(f"latency: {count:,} values")
    return {"titles": bench.titles, "without": bench.node if isinstance(bench.node, str) else "", "rows": rows}


def _warm_up(world: World) -> None:
    for _ in _create(world, 1):
        pass


def _create(world: World, count: int) -> Sequence[tuple[str, float]]:
    side: Side = world.side
    world.forget()
    world.service.options(latency_ms=_LATENCY_MS)
    made = world.create("exports", side.exports(values(count), secure=True))
    taken = world.create("imports", side.imports(values(count)))
    world.service.options()
    for outcome in (made, taken):
        if not outcome.done:
            raise RuntimeError(f"{side.title}: {outcome.status}: {outcome.reason}")
    return [("exports", made.seconds), ("imports", taken.seconds)]


def render(data: Data) -> list[str]:
    """Medians, and ours over theirs."""
    titles, found = data["titles"], _found(data)
    theirs = [key for key in (STRONG, NEWEST) if key in titles]
    header = ["Create", "N", titles[OURS]]
    for key in theirs:
        header += [titles[key], "ratio"]
    rows = []
    for what, count in dict.fromkeys((what, count) for what, count, _ in found):
        ours = found[what, count, OURS]
        row: list[object] = [what, number(count), milliseconds(ours)]
        for key in theirs:
            row += [milliseconds(found[what, count, key]), ratio(ours, found[what, count, key])]
        rows.append(row)
    without = ["", f"The CDK's columns are missing: {data['without']}."] if data["without"] else []
    return [*table(header, rows), *without]


def verdicts(data: Data) -> list[Verdict]:
    """Ours of a hundred values against those that claim nothing."""
    found = _found(data)
    judged = []
    for what in ("exports", "imports"):
        target = f"Create {_JUDGED} {what} in at most {_MOST:g} times CDK 2.257.0's time, without a quota"
        ours, theirs = (found.get((what, _JUDGED, key)) for key in (OURS, STRONG))
        if ours is None or theirs is None:
            judged.append(Verdict(target, None, data["without"] or NONE))
        else:
            measured = f"{milliseconds(ours)} to {milliseconds(theirs)} ({ratio(ours, theirs)})"
            judged.append(Verdict(target, ours <= _MOST * theirs, measured))
    return judged


def _found(data: Data) -> dict[tuple[str, int, str], float]:
    return {(row["what"], row["n"], row["side"]): row["seconds"] for row in data["rows"]}
