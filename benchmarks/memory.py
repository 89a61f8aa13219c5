"""Memory: how long our functions take with the processor that Lambda gives for it, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from benchmarks.bench import Bench, Data, Verdict, say
from benchmarks.sides import Ours, values
from benchmarks.tables import median, number, seconds, table
from benchmarks.world import World, rates

TITLE = "Memory"
METHOD = """
Lambda gives a function with 1,769 MB of memory the time of one processor, and others their share of it (AWS: Configure
Lambda function memory). Here a function is stopped as soon as it has had its share of 20 ms, until these are over. A
cold function starts within that limit, too; Lambda may give more for the start. Each figure is the time of one event,
in parentheses the price: gigabytes of memory times seconds, with the start of a cold function. They are medians of five
runs, in which the sizes take turns; those of a change, of three. Calls take 10 ms each and are not throttled. A change
waits for reads that lag, as installed. Processors of Lambda are slower than most others, so its times are longer, and
the differences larger.
"""

WHOLE = 1769
"""Megabytes of memory that come with one processor."""
_SIZES = (256, 512, 1024, WHOLE)
_LATENCY_MS = 10.0
_RUNS, _CHANGES = 5, 3
_MANY = 100


def run(bench: Bench) -> Data:
    """Measure, in turns."""
    many = 10 if bench.quick else _MANY
    found: dict[tuple[str, bool, int], list[float]] = {}
    with ExitStack() as stack:
        environment = rates() if bench.quick else {}
        sides = [(size, Ours(bench.pythons[0], processor=size / WHOLE)) for size in _SIZES]
        worlds = [(size, stack.enter_context(World(side, environment))) for size, side in sides]
        for at in range(1 if bench.quick else _RUNS):
            for size, world in worlds:
                for event, cold, taken in _events(world, many, changes=at < _CHANGES):
                    found.setdefault((event, cold, size), []).append(taken)
            say(f"memory: run {at + 1}")
    rows = [
        {"event": event, "cold": cold, "megabytes": size, "seconds": median(taken)}
        for (event, cold, size), taken in found.items()
    ]
    return {"rows": rows}


def _events(world: World, many: int, *, changes: bool) -> Iterator[tuple[str, bool, float]]:
    """The seconds of each event, on functions that are cold at first."""
    side = world.side
    world.service.options(latency_ms=_LATENCY_MS)
    for count in (1, many):
        for cold in (True, False):
            world.forget()
            given, others = values(count), values(count, mark="other")
            steps = [("exports", "Create", world.create, side.exports(given, secure=True))]
            if count == 1 and changes:
                steps.append(("exports", "Change", world.update, side.exports(others, secure=True)))
            steps.append(("imports", "Create", world.create, side.imports(given)))
            for what, verb, send, properties in steps:
                if cold:
                    world.cool()
                started = world.warm(what).ready_seconds if cold else 0.0
                outcome = send(what, properties)
                if not outcome.done:
                    raise RuntimeError(f"{outcome.status}: {outcome.reason}")
                named = f"{number(count)} {what if count > 1 else what.removesuffix('s')}"
                yield f"{verb} {named}", cold, started + outcome.seconds


def render(data: Data, what: str = "") -> list[str]:
    """The time of each event by size, and its price; of exports or imports only, or of all."""
    found = {(row["event"], row["cold"], row["megabytes"]): row["seconds"] for row in data["rows"]}
    sizes = sorted({size for _, _, size in found})
    rows = [
        (event, "cold" if cold else "warm", *(_cell(found[event, cold, size], size) for size in sizes))
        for event, cold in dict.fromkeys((event, cold) for event, cold, _ in found if what in event)
    ]
    return table(["Event", "", *(f"{number(size)} MB" for size in sizes)], rows)


def _cell(taken: float, size: int) -> str:
    return f"{seconds(taken)} ({taken * size / 1024:.2f})"


def verdicts(_data: Data) -> list[Verdict]:
    """None: the default size is chosen by the table."""
    return []
