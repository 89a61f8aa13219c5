"""Time under quota: a thousand exports and a thousand imports, alone and with other traffic."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from benchmarks.bench import Bench, Data, Verdict, say
from benchmarks.sides import OURS, Side, values
from benchmarks.tables import missing, number, seconds, table
from benchmarks.world import Outcome, World, rates
from tests.support.quota import CLASSES, Quotas

TITLE = "Time under quota"
METHOD = """
The local service admits calls as AWS does, by a model of its quotas (tests/support/quota.py): 40 reads, 3 puts, 10 tag
calls and 5 deletes per second, each a token bucket that holds one second's worth. AWS publishes the first two; the
others are estimates. Calls over the quota get a ThrottlingException. Where half of the quota is taken, other traffic
arrives at random moments and is served first; it is the same for all sides. Ours retries by itself. The CDK's handlers
leave retries to their SDK, which tries each call three times.

The limit is the shortest possible time: the calls that must be made, one put for each export and one tag call for each
import, divided by the quota that is left. Our time runs from the event to the response, over all invocations, as
installed, on functions that have not been throttled before. The measurements start some seconds apart and then run side
by side, each on its own service: they mostly wait.
"""

WRITES = {"exports": "PutParameter", "imports": "AddTagsToResource"}
_SHARES = (0.0, 0.5)
_SEED = 1
_STEP = 0.005
_APART_SECONDS = 12.0
_MOST = {0.0: 1.05, 0.5: 1.10}
_KEY = re.compile(r"(?<=Key)\d+")
"""Which of a thousand values failed first is chance."""


class Cell(NamedTuple):
    """One side, doing one thing, with so much of the quota taken."""

    side: Side
    what: str
    others: float


def run(bench: Bench) -> Data:
    """All cells at once: it takes as long as the slowest."""
    count, apart = (4, 0.0) if bench.quick else (1000, _APART_SECONDS)
    # The longest first, then as it comes: each begins when the one before has been set up, and has had its rush.
    cells = [Cell(side, what, others) for side in bench.sides for what in WRITES for others in reversed(_SHARES)]
    with ThreadPoolExecutor(len(cells)) as pool:
        rows = list(pool.map(lambda at: _row(cells[at], count, wait=at * apart), range(len(cells))))
    return {
        "titles": bench.titles,
        "without": bench.without,
        "n": count,
        "quotas": {name: Quotas().rate(action) for action, name in CLASSES.items()},
        "rows": rows,
    }


def _row(cell: Cell, count: int, wait: float) -> dict[str, Any]:
    time.sleep(wait)
    quotas, action = Quotas(others=cell.others, seed=_SEED), WRITES[cell.what]
    limit = quotas.least_seconds({action: count})
    name = f"quota: {cell.side.title}, {cell.what}, {cell.others:.0%} taken"
    say(f"{name}: begins, {limit:,.0f} s at least")
    outcome = _measured(cell, count, quotas)
    say(f"{name}: {outcome.status} after {outcome.seconds:,.1f} s")
    return {
        "side": cell.side.key,
        "what": cell.what,
        "others": cell.others,
        "limit_seconds": limit,
        "soonest_seconds": _soonest(Quotas(others=cell.others, seed=_SEED), action, count),
        "status": outcome.status,
        "reason": _KEY.sub("…", outcome.reason),
        "seconds": round(outcome.seconds, 6),
        "through": outcome.counts.get(action, 0),
        "calls": outcome.calls,
        "throttled": sum(outcome.throttled.values()),
    }


def _measured(cell: Cell, count: int, quotas: Quotas) -> Outcome:
    wanted = values(count)
    with World(cell.side, rates(paced=False)) as world:
        if cell.what == "imports":
            world.create("exports", cell.side.exports(wanted, secure=True))
        world.cool()
        world.environment = rates()
        world.warm(cell.what)
        world.service.options(quotas=quotas)
        properties = {"exports": cell.side.exports, "imports": cell.side.imports}[cell.what](wanted)
        return world.create(cell.what, properties)


def _soonest(quotas: Quotas, action: str, count: int) -> float:
    """The time of a caller that tries all the time and makes no other call: the best that this traffic allows."""
    step = through = 0
    while True:
        through += quotas.admit(action, "", "", step * _STEP)
        if through == count:
            return step * _STEP
        step += 1


def render(data: Data) -> list[str]:
    """A line for each side and share."""
    header = ["", "Quota taken", "", "Limit", "Time", "of the limit", "Calls", "Throttled"]
    rows = []
    for row in data["rows"]:
        done = row["status"] == "SUCCESS"
        taken = seconds(row["seconds"]) if done else f"fails after {seconds(row['seconds'])}"
        rows.append(
            (
                f"{number(data['n'])} {row['what']}",
                f"{row['others']:.0%}",
                data["titles"][row["side"]],
                seconds(row["limit_seconds"]),
                taken,
                f"{row['seconds'] / row['limit_seconds']:.2f}" if done else f"{number(row['through'])} done",
                number(row["calls"]),
                number(row["throttled"]),
            )
        )
    rows.sort(key=lambda row: (row[0], row[1]))
    reasons = sorted({row["reason"] for row in data["rows"] if row["status"] != "SUCCESS"})
    failed = ["", "The failures: " + "; ".join(f"`{reason}`" for reason in reasons) + "."] if reasons else []
    return [*table(header, rows), *failed, *missing(data, "lines")]


def verdicts(data: Data) -> list[Verdict]:
    """Ours against the limit."""
    found = []
    for row in data["rows"]:
        if row["side"] != OURS:
            continue
        done = row["status"] == "SUCCESS"
        part = row["seconds"] / row["limit_seconds"]
        soonest = row["seconds"] / row["soonest_seconds"]
        taken = "half the quota taken by others" if row["others"] else "no other traffic"
        found.append(
            Verdict(
                f"{number(data['n'])} {row['what']} in at most {_MOST[row['others']]:.2f} of the limit, {taken}",
                done and part <= _MOST[row["others"]],
                f"{part:.2f}; {soonest:.2f} of the best time for this traffic"
                if done
                else f"{row['status']}: {row['reason']}",
            )
        )
    return found
