"""How often someone who shares a quota is throttled while a handler works."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from benchmarks.bench import Bench, Data, Verdict, say
from benchmarks.quota import WRITES
from benchmarks.sides import OURS, US, Side, values
from benchmarks.tables import NONE, missing, number, ratios, seconds, table
from benchmarks.world import World, rates
from tests.support.local_ssm.service import ACCOUNT
from tests.support.quota import Quotas

TITLE = "Sharing a quota"
METHOD = """
The quotas are those of the table before, and each call takes 10 ms. A neighbor in the same account and region makes
calls of the same kind at a steady pace, a third of the quota: one put per second next to exports, and three reads of
tags next to imports. It does not retry. The table counts its calls that were throttled, from the event to the response
and for at least ten seconds, in six runs, and their share with that of the best and of the worst run. A target is met
by the worst run.

Ours carry the event out, in the time that the rest of the quota allows. The CDK's handlers make all their calls at once
and fail when a call is throttled three times, so they are a burden for seconds only; the column Done shows what they
have written by then. So compare the shares.
"""

_COUNTS = (10, 100)
_PART = 1 / 3
_LATENCY_MS = 10.0
_LEAST_SECONDS = 10.0
_RUNS = 6
_APART_SECONDS = 5.0


class Cell(NamedTuple):
    """One side, doing one thing."""

    side: Side
    what: str
    exports: int


class Neighbor:
    """Makes calls at a steady pace until it is stopped, and counts them."""

    def __init__(self, url: str, what: str, begins: float) -> None:
        """Begin after so many seconds."""
        action = {"exports": "PutParameter", "imports": "ListTagsForResource"}[what]
        self._request = {
            "exports": {"Name": "/neighbor", "Type": "String", "Value": "1", "Overwrite": True},
            "imports": {"ResourceType": "Parameter", "ResourceId": "/neighbor"},
        }[what]
        self._headers = {
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Target": f"AmazonSSM.{action}",
            "Authorization": f"AWS4-HMAC-SHA256 Credential={ACCOUNT}/20250101/{US}/ssm/aws4_request",
        }
        self._apart = 1 / (_PART * Quotas().rate(action))
        self._begins = begins
        self._server = urlsplit(url)
        self._stopped = threading.Event()
        self.made = self.throttled = 0
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _work(self) -> None:
        due = time.monotonic() + self._begins
        while not self._stopped.wait(max(0.0, due - time.monotonic())):
            self.made += 1
            self.throttled += self._is_throttled()
            due += self._apart

    def _is_throttled(self) -> bool:
        connection = HTTPConnection(self._server.hostname or "", self._server.port or 80, timeout=60)
        connection.request("POST", "/", json.dumps(self._request), self._headers)
        found = b"ThrottlingException" in connection.getresponse().read()
        connection.close()
        return found


def run(bench: Bench) -> Data:
    """All cells at once: they mostly wait."""
    counts, runs = ((10,), 1) if bench.quick else (_COUNTS, _RUNS)
    cells = [Cell(side, what, count) for count in reversed(counts) for what in WRITES for side in bench.sides]
    apart = 0.0 if bench.quick else _APART_SECONDS
    with ThreadPoolExecutor(len(cells)) as pool:
        rows = list(pool.map(lambda at: _row(cells[at], runs, at * apart), range(len(cells))))
    return {"titles": bench.titles, "without": bench.without, "runs": runs, "rows": rows[::-1]}


def _row(cell: Cell, runs: int, wait: float) -> dict[str, Any]:
    time.sleep(wait)
    took, done, failed = 0.0, 0, 0
    made, throttled = list[int](), list[int]()
    wanted = values(cell.exports)
    for at in range(runs):
        with World(cell.side, rates()) as world:
            if cell.what == "imports":
                world.create("exports", cell.side.exports(wanted, secure=True))
            world.warm(cell.what)
            world.service.options(latency_ms=_LATENCY_MS, quotas=Quotas())
            began, neighbor = time.monotonic(), Neighbor(world.service.url, cell.what, at / runs)
            properties = {"exports": cell.side.exports, "imports": cell.side.imports}[cell.what](wanted)
            outcome = world.create(cell.what, properties)
            time.sleep(max(0.0, began + _LEAST_SECONDS - time.monotonic()))
            neighbor.stop()
        took += outcome.seconds
        done += min(outcome.counts.get(WRITES[cell.what], 0), cell.exports)
        failed += not outcome.done
        made.append(neighbor.made)
        throttled.append(neighbor.throttled)
    say(f"sharing: {cell.side.title}, {cell.exports} {cell.what}: {sum(throttled)} of {sum(made)} throttled")
    return {
        "side": cell.side.key,
        "what": cell.what,
        "n": cell.exports,
        "seconds": round(took / runs, 6),
        "done": done / runs,
        "failed": failed,
        "made": made,
        "throttled": throttled,
    }


def share(row: Mapping[str, Any]) -> str:
    """The share of the neighbor's calls that were throttled, and that of the best and of the worst run."""
    runs = ratios(row["throttled"], row["made"])
    return f"{sum(row['throttled']) / sum(row['made']):.0%} ({min(runs):.0%}-{max(runs):.0%})"


def render(data: Data) -> list[str]:
    """A line for each side and number."""
    header = ["", "", "Time", "Done", "The neighbor's calls", "throttled", "share"]
    rows = [
        (
            f"{number(row['n'])} {row['what']}",
            data["titles"][row["side"]],
            f"fails after {seconds(row['seconds'])}" if row["failed"] else seconds(row["seconds"]),
            number(row["done"]),
            number(sum(row["made"])),
            number(sum(row["throttled"])),
            share(row),
        )
        for row in sorted(data["rows"], key=lambda row: (row["what"], row["n"], [*data["titles"]].index(row["side"])))
    ]
    return [*table(header, rows), *missing(data, "lines")]


def verdicts(data: Data) -> list[Verdict]:
    """The neighbor of ours against that of the CDK's handlers which burden it more, for the same N."""
    worst = {(row["what"], row["n"], row["side"]): max(ratios(row["throttled"], row["made"])) for row in data["rows"]}
    target = "Nothing fails, and the throttled share of a neighbor's calls is at most that next to the CDK's handlers"
    others = [key for key in data["titles"] if key != OURS]
    if not others:
        return [Verdict(target, None, data["without"] or NONE)]
    failed = any(row["failed"] for row in data["rows"] if row["side"] == OURS)
    misses, held = [], 0
    for what, count, side in worst:
        if side == OURS:
            ours, theirs = worst[what, count, OURS], max(worst[what, count, key] for key in others)
            if ours <= theirs:
                held += 1
            else:
                misses.append(f"{count} {what}: {ours:.0%} of the neighbor's calls, next to the CDK's {theirs:.0%}")
    measured = f"{held} of {held + len(misses)} cases" + (", and ours fail" if failed else "")
    return [Verdict(target, not misses and not failed, measured, _WHY if misses else "", misses)]


_WHY = """
The CDK's handlers fail within a second or two, so for most of the time that counts here they make no calls.
"""
