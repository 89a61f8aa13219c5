"""Latency: one invocation against a service that takes 10 ms per call."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from benchmarks.bench import Data, Verdict, say
from benchmarks.sides import NEWEST, OURS, STRONG, values
from benchmarks.tables import median, milliseconds, number, ratio, table
from benchmarks.world import World, rates

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from benchmarks.bench import Bench
    from benchmarks.sides import Side

TITLE = "Latency"
METHOD = """
One create of 1, 10 and 100 values on a warm function, from the event to the response, against a service that answers
each call after 10 ms, even if many arrive at once. Times are medians, with the sides measured in turns. There is no
quota here, which makes the CDK's handlers fast: they make all their calls at once. At the default quota of 3 puts per
second, 100 puts take 33 s for any caller. Ours as installed keeps to that rate. Ours without the rate limit shows the
time of the code itself, one call after the other.
"""

_LATENCY_MS = 10.0
_PACED = "strongref-paced"
_REST_SECONDS = 1.0
"""The rate limit has recovered after this time."""

_REPETITIONS = {1: 15, 10: 9, 100: 5}
_REPETITIONS_PACED = {1: 3, 10: 3, 100: 1}


def run(bench: Bench) -> Data:
    """Measure, in turns."""
    counts = (1, 10) if bench.quick else tuple(_REPETITIONS)
    rows: list[dict[str, Any]] = []
    with ExitStack() as stack:
        worlds = [(_PACED, stack.enter_context(World(bench.sides[0], rates(10 if bench.quick else 1))))]
        worlds += [(side.key, stack.enter_context(World(side, rates(paced=False)))) for side in bench.sides]
        for _, world in worlds:
            _warm_up(world)
        for count in counts:
            samples: dict[tuple[str, str], list[float]] = {}
            for turn in range(2 if bench.quick else _REPETITIONS[count]):
                for key, world in worlds:
                    if key == _PACED and turn >= _REPETITIONS_PACED[count]:
                        continue
                    if key == _PACED:
                        time.sleep(_REST_SECONDS)
                    for what, taken in _create(world, count):
                        samples.setdefault((key, what), []).append(taken)
            rows += [
                {"side": key, "what": what, "n": count, "seconds": median(taken)}
                for (key, what), taken in samples.items()
            ]
            say(f"latency: {count:,} values")
    titles = {_PACED: "strongref, as installed"} | bench.titles | {OURS: "strongref, no rate limit"}
    return {"titles": titles, "without": bench.node if isinstance(bench.node, str) else "", "rows": rows}


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
    titles = data["titles"]
    found = {(row["what"], row["n"], row["side"]): row["seconds"] for row in data["rows"]}
    theirs = [key for key in (STRONG, NEWEST) if key in titles]
    header = ["Create", "N", titles[_PACED], titles[OURS]]
    for key in theirs:
        header += [titles[key], "ratio, no rate limit", "ratio, as installed"]
    rows = []
    for what, count in dict.fromkeys((what, count) for what, count, _ in found):
        paced, ours = found[what, count, _PACED], found[what, count, OURS]
        row: list[object] = [what, number(count), milliseconds(paced), milliseconds(ours)]
        for key in theirs:
            other = found[what, count, key]
            row += [milliseconds(other), ratio(ours, other), ratio(paced, other)]
        rows.append(row)
    without = ["", f"The CDK's columns are missing: {data['without']}."] if data["without"] else []
    return [*table(header, rows), *without]


def verdicts(data: Data) -> list[Verdict]:
    """No target was set."""
    del data
    return []
