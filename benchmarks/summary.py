"""docs/performance.md: the figures that users ask for, made from the result files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import calls, latency, memory, overview, sharing
from benchmarks.bench import Data, load
from benchmarks.document import verdicts, wrap
from benchmarks.sides import NEWEST, OURS, STRONG
from benchmarks.tables import median, megabytes, milliseconds, missing, number, ratios, seconds, table

_INTRODUCTION = """\
# Performance

How long deployments take with strongref, and with the handlers of the CDK's `crossRegionReferences`.
`benchmarks/results/report.md` has all tables. `make bench` measures again.
"""

_SLOWER = """\
Without throttling, the CDK's handlers are faster, by up to {listed}: they verify nothing, put up no fence, and read
nothing again. Node starts faster than Python.
"""

_QUOTA = """\
A large deployment takes the time that the quotas of Parameter Store allow: {puts} puts per second by default, and
{tags} tag calls (our estimate). When AWS throttles a call, strongref slows down and continues. The CDK's handlers try
each call three times, and then fail. The limit is the shortest time that the quota allows.
"""

_SHARING = """\
Another caller in the account makes calls at a third of the quota. During a deployment, AWS throttles this share of its
calls, in six runs together, and in the best and the worst:
"""

_LATENCY = """\
One create without throttling, with calls that take 10 ms each: medians of five runs, and strongref's ratio in the best
and the worst:
"""

_CALLS = """\
Calls for 100 values:
"""

_STARTUP = """\
From the start of a process to its first response. The row boto3 creates a client and makes one call.
"""

_MEMORY = """\
The time of an event, and its price in gigabytes times seconds. Lambda gives a whole processor with 1,769 MB. 1,024 MB
is the default: a cold function is four times as fast as with 256 MB, and costs less.
"""

_METHOD = """\
Everything runs on one machine, against a local service with the protocols and limits of Parameter Store and
CloudFormation. No figure here is from AWS. Node runs the CDK's handlers from its npm packages. Times are medians,
except under quota, where they are single runs. `ReadLag` is 0 but for latency and memory:
changes [wait](how-it-works.md#reads-may-lag) for reads that lag.
"""


def render(folder: Path) -> str:
    """The page, with a section for each result in a folder."""
    results = {name: found for _, names, *_ in _SECTIONS for name in names if (found := load(name, folder))}
    parts = [_INTRODUCTION]
    if {"latency", "startup"} <= results.keys():
        parts.append(slower(*(results[name]["data"] for name in ("latency", "startup"))))
    for title, names, text, section in _SECTIONS:
        if set(names) <= results.keys():
            data = [results[name]["data"] for name in names]
            parts += [f"## {title}\n"] if title else []
            parts += [text.format(**data[0].get("quotas", {}))] if text else []
            parts.append("\n".join(section(*data)) + "\n")
    return "\n".join([*parts, "## Method\n", _METHOD, _measured([*results.values()])])


def _measured(results: Sequence[Mapping[str, Any]]) -> str:
    """The versions, the machine and the dates of all results."""
    first, last = (pick(each["date"] for each in results) for pick in (min, max))
    quick = "A quick run: its figures mean nothing. " if any(each["quick"] for each in results) else ""
    versions, machine = results[0]["versions"], results[0]["machine"]
    return f"{quick}Measured from {first} to {last}: strongref {versions['strongref']}, {machine}.\n"


def _compared(
    data: Data, first: str, keys: Iterable[Any], cell: Callable[[Any, str], str], label: Callable[[Any], str] = str
) -> list[str]:
    """A table with a column for each side."""
    sides = [side for side in (OURS, STRONG, NEWEST) if side in data["titles"]]
    rows = [(label(key), *(cell(key, side) for side in sides)) for key in keys]
    return [*table([first, *(data["titles"][side] for side in sides)], rows), *missing(data, "columns")]


def _quota(data: Data) -> list[str]:
    found = {(row["what"], row["others"], row["side"]): row for row in data["rows"]}
    keys = sorted({key[:2] for key in found})
    least = {key: found[*key, OURS]["limit_seconds"] for key in keys}

    def label(key: tuple[str, float]) -> str:
        what, others = key
        free = "alone" if not others else f"others take {others:.0%}"
        return f"{number(data['n'])} {what}, {free} (limit {seconds(least[key])})"

    def cell(key: tuple[str, float], side: str) -> str:
        row = found[*key, side]
        took = seconds(row["seconds"])
        return took if row["status"] == "SUCCESS" else f"fails after {took}"

    return _compared(data, "Create", keys, cell, label)


def _sharing(data: Data) -> list[str]:
    found = {(row["what"], row["n"], row["side"]): row for row in data["rows"]}

    def cell(key: tuple[str, int], side: str) -> str:
        row = found[*key, side]
        share = sharing.share(row)
        return f"{share}; fails with {number(row['done'])} done" if row["failed"] else share

    keys = sorted({key[:2] for key in found if key[1] == _VALUES})
    return _compared(data, "Create", keys, cell, _count_and_what)


def _latency(data: Data) -> list[str]:
    found = {part: latency.runs_of(data, part) for part in latency.PARTS}

    def cell(key: tuple[str, str, int], side: str) -> str:
        part, what, count = key
        ours, runs = found[part][what, count, OURS], found[part][what, count, side]
        taken, times = latency.PARTS[part][0](median(runs)), ratios(ours, runs)
        return taken if side == OURS else f"{taken} ({min(times):.1f}-{max(times):.1f})"

    def label(key: tuple[str, str, int]) -> str:
        part, what, count = key
        return _count_and_what((what, count)) + latency.PARTS[part][1]

    keys = sorted({("runs", what, count) for what, count, _ in found["runs"] if count in (1, _VALUES)})
    keys += sorted({("cpu", what, count) for what, count, _ in found["cpu"] if count == _VALUES})
    return [*_compared(data, "Create", keys, cell, label), "", *verdicts(latency.verdicts(data))]


def slower(data: Data, starts: Data) -> str:
    """Where strongref is slower than a peer, and by how much in the worst run."""
    found = latency.runs_of(data)
    worst: dict[tuple[str, int], float] = {}
    for what, count, side in found:
        if side != OURS and count in (1, _VALUES):
            times = max(ratios(found[what, count, OURS], found[what, count, side]))
            if times > 1:
                worst[what, count] = max(times, worst.get((what, count), 0))
    listed = {_count_and_what(key): times for key, times in sorted(worst.items())}
    rows = {(row["ours"], row["role"]): row["first"] for row in starts["rows"]}  # the newest of each
    cold = [max(ratios(rows[True, role], rows[False, role])) for role in _SHOWN[1:] if (False, role) in rows]
    listed |= {"a cold function": max(cold)} if max(cold, default=0) > 1 else {}
    if not listed:
        return ""
    text = _SLOWER.format(listed=", ".join(f"{times:.1f} times ({what})" for what, times in listed.items()))
    return "\n".join(wrap(" ".join(text.split()))) + "\n"


def _count_and_what(key: tuple[str, int]) -> str:
    what, count = key
    return f"{number(count)} {what if count > 1 else what.removesuffix('s')}"


_NOT_DONE = {OURS: "refused", STRONG: "refused", NEWEST: "not written"}


def _calls(data: Data) -> list[str]:
    count = max((row["n"] for row in data["rows"] if row["n"] <= _VALUES), default=0)
    found = {(row["event"], row["side"]): row for row in data["rows"] if row["n"] == count}

    def cell(event: str, side: str) -> str:
        row = found[event, side]
        return number(row["calls"]) if row["done"] else _NOT_DONE[side]

    return _compared(data, "Event", _EVENTS, cell, lambda event: calls.EVENTS[event])


_VALUES = 100
_EVENTS = (
    "exports: create",
    "exports: changed",
    "exports: delete",
    "imports: create",
    "imports: same",
    "imports: renamed",
)


def _startup(data: Data) -> list[str]:
    wanted = [row for row in data["rows"] if row["role"] in _SHOWN]
    ours = max((row["name"].split(",")[0] for row in wanted if row["ours"]), default="-")
    theirs = max((row["name"].rpartition(" ")[0] for row in wanted if row["name"].startswith("CDK")), default="-")
    rows = [
        (row["name"], milliseconds(median(row["first"])), megabytes(median(row["peak"])))
        for row in wanted
        if row["name"].startswith((ours, theirs))
    ]
    return table(["", "First response", "Peak memory"], rows)


def _reading(listing: Data, resolving: Data) -> list[str]:
    rows = [
        (f"`list`: {listing['cases'][row['case']]['title']}", number(max(row["calls"])), seconds(median(row["runs"])))
        for row in listing["rows"]
        if row["side"] == "list" and row["paced"]
    ]
    largest = max((row for row in resolving["rows"] if row["side"] == "once"), key=lambda row: int(row["tokens"]))
    what = f"`resolve`: {number(largest['tokens'])} values of {resolving['stacks']} stacks"
    rows.append((what, number(max(largest["calls"])), seconds(largest["seconds"])))
    judged = [each for each in overview.verdicts(listing) if "records" in each.target]
    return [*table(["", "Calls", "Time"], rows), "", *verdicts(judged)]


_SHOWN = ("sdk", "exporter", "importer")

_SECTIONS: Sequence[tuple[str, Sequence[str], str, Callable[..., list[str]]]] = (
    ("Time under quota", ("quota",), _QUOTA, _quota),
    ("Sharing a quota", ("sharing",), _SHARING, _sharing),
    ("Latency", ("latency",), _LATENCY, _latency),
    ("Calls", ("calls",), _CALLS, _calls),
    ("Startup and memory", ("startup",), _STARTUP, _startup),
    ("Memory", ("memory",), _MEMORY, partial(memory.render, what="export")),
    ("Reading", ("overview", "resolving"), "", _reading),
)
