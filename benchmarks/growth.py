"""Growth: the cost of an event in an account with many unrelated parameters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from benchmarks.bench import Bench, Data, Verdict, say
from benchmarks.sides import OURS, US, values
from benchmarks.tables import median, milliseconds, missing, number, table
from benchmarks.world import Outcome, World, rates

TITLE = "Growth"
METHOD = """
Ten values are exported, changed, imported, released and deleted, in an account and region with 1,000, 10,000 and
100,000 other parameters: half of them are exports of other stacks, half are unrelated. Calls are the same in each
repetition. Times are medians, with the sizes measured in turns, without latency and quota. They include the local
service's time.
"""

_VALUES = 10
_REPETITIONS = 15
_STACKS = 50
_EVENTS = ("create exports", "change an export", "import", "delete the import", "delete the exports")


def run(bench: Bench) -> Data:
    """Measure, in turns."""
    sizes = (100, 1_000, 10_000) if bench.quick else (1_000, 10_000, 100_000)
    found: dict[tuple[str, int, str], dict[str, Any]] = {}
    with ExitStack() as stack:
        cells = [
            (side, size, stack.enter_context(World(side, rates(paced=False)))) for side in bench.sides for size in sizes
        ]
        for _, size, world in cells:
            world.service.preload(US, _names(size))
            for _ in _story(world):
                pass
        for _ in range(2 if bench.quick else _REPETITIONS):
            for side, size, world in cells:
                for event, outcome in _story(world):
                    row = found.setdefault((side.key, size, event), {"calls": set(), "seconds": []})
                    row["calls"].add(outcome.calls)
                    row["seconds"].append(outcome.seconds)
        stored = {f"{side.key}/{size}": sum(world.service.state().stored.values()) for side, size, world in cells}
    say("growth: done")
    rows = [
        {"side": side, "size": size, "event": event, "calls": sorted(row["calls"]), "seconds": median(row["seconds"])}
        for (side, size, event), row in found.items()
    ]
    return {"titles": bench.titles, "without": bench.without, "sizes": list(sizes), "stored": stored, "rows": rows}


def _names(size: int) -> list[str]:
    exported = [
        f"/strongref/exports/web{at % _STACKS}/111111111111/eu-west-1/stack{at % _STACKS}/Key{at}"
        for at in range(size // 2)
    ]
    return exported + [f"/application{at % _STACKS}/setting{at}" for at in range(size - size // 2)]


def _story(world: World) -> Iterator[tuple[str, Outcome]]:
    side, wanted = world.side, values(_VALUES)
    yield _EVENTS[0], world.create("exports", side.exports(wanted))
    yield _EVENTS[1], world.update("exports", side.exports(wanted | values(1, mark="other")))
    yield _EVENTS[2], world.create("imports", side.imports(wanted))
    yield _EVENTS[3], world.delete("imports", with_stack=False)
    yield _EVENTS[4], world.delete("exports")


def render(data: Data) -> list[str]:
    """Each side's calls and time by size."""
    sizes = data["sizes"]
    found = {(row["side"], row["event"], row["size"]): row for row in data["rows"]}
    header = ["", "", *(f"calls, {number(size)} others" for size in sizes)]
    header += [*(f"time, {number(size)} others" for size in sizes), "ratio of times"]
    rows = []
    for side, event in dict.fromkeys((side, event) for side, event, _ in found):
        each = [found[side, event, size] for size in sizes]
        times = [row["seconds"] for row in each]
        counts = [" or ".join(map(number, row["calls"])) for row in each]
        rows.append([data["titles"][side], event, *counts, *map(milliseconds, times), f"{times[-1] / times[0]:.2f}"])
    return [*table(header, rows), *missing(data, "lines")]


def verdicts(data: Data) -> list[Verdict]:
    """The calls must be the same, however many other parameters exist."""
    ours = [row for row in data["rows"] if row["side"] == OURS]
    by_event: dict[str, set[int]] = {}
    for row in ours:
        by_event.setdefault(row["event"], set()).update(row["calls"])
    grown = [event for event, counts in by_event.items() if len(counts) > 1]
    sizes = data["sizes"]
    same = f"the same calls with {number(sizes[0])} and {number(sizes[-1])} others"
    return [Verdict("Calls do not grow with other parameters", not grown, ", ".join(grown) or same)]
