"""The overview: how many calls and how much time `strongref list` takes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from benchmarks import stored_exports
from benchmarks.bench import Bench, Data, Verdict, say, timed
from benchmarks.sides import EU, US, values
from benchmarks.stored_exports import Stack
from benchmarks.tables import NONE, number, ratios, seconds, spread, table
from benchmarks.world import rates
from tests.support.local_ssm.control import LocalSsm

TITLE = "Overview"
METHOD = """
`strongref list` reads a region in bulk, all side by side: the tags of a hundred values with each call, the dates of
fifty, and ten records. Next to it stands what any list has to read, the records of the same regions; the same pages as
`list` reads, without making a list of them; and, for one region, one call for the tags of each value, as `strongref ls`
made them before, one after the other.

One account has 150 values in one region. They are exported by one stack and imported by three, all older than the
values, so the list has to read the dates of these stacks' imports, too. The other account has 100 stacks in 4 regions.
Each exports 50 values to the next region, where one stack imports them; every tenth stack is older than what it
imports. All Exports name a hold, and all imports have it.

Each run is a process of its own, and its start counts. The local service answers each call after 10 ms. There is no
quota. Our rate limit is switched off in one column and as installed in the other. Times are medians, measured in turns,
with the best and the worst; a ratio is of two times of one turn. A target is met if the worst turn meets it.
Every run checks how many values and importers it finds, and the state of each import.
"""

_LATENCY_MS = 10.0
_REPETITIONS = 7
_SLOW_REPETITIONS = 3
_REGIONS = (EU, "eu-central-1", US, "ap-southeast-2")
_STACKS, _OLD = 100, 10
_MOST_CALLS = 20
_MOST_OVER_RECORDS = _MOST_OVER_PAGES = 1.5
_WHY = """
A record has 50 values, and each of them has a date and tags: a region's records take 3 calls, its tags 13, its dates
25. The processor is the limit: 1.8 seconds for the list, 0.6 for the records. Tried: no dates, 1.7 times the records'
time; fewer fields parsed, no garbage collection and rarer switches between threads, 7 % together.
"""

_LIST = """
import sys
from strongref_cli import main
options = [each for region in sys.argv[1:] for each in ("--region", region)]
sys.exit(main(["list", "--output", "json", *options]))
"""
_READ = """
import sys
from functools import partial
from strongref_cli.overview.reading import OverviewReader
from strongref_toolkit.session import ToolSession
from strongref_toolkit.threads import in_threads
aws = ToolSession.start().aws(None, None)
reader = OverviewReader(aws)
"""
_RECORDS_READ = f"""{_READ}
found = in_threads([partial(reader._records, region) for region in sys.argv[1:]])
scopes = [(region, scope, each) for region, (read, _) in zip(sys.argv[1:], found) for scope, each in read.items()]
"""
_RECORDS = f"""{_RECORDS_READ}
print(sum(len(each.values) for _, _, each in scopes), 0)
"""
_PAGES = f"""{_READ}
kinds = ("_dates", "_tags", "_records", "_index", "_home")
pages = in_threads([partial(getattr(reader, kind), region) for kind in kinds for region in sys.argv[1:]])
print(sum(map(len, pages[: len(sys.argv) - 1])), 0)
"""
_TAGS = f"""{_RECORDS_READ}
from strongref.contract.names import CLAIM_TAG
tags = [
    aws.store(aws.where(region, None)).tags(scope.parameter_name(key))
    for region, scope, each in scopes for key in each.values
]
print(len(tags), sum(tag.startswith(CLAIM_TAG) for each in tags for tag in each))
"""


class Side(NamedTuple):
    """One of the programs that are compared."""

    title: str
    program: str
    counted: Callable[[str], tuple[int, int]]  # the values and the importers in its output
    sees_importers: bool = True


def _listed(output: str) -> tuple[int, int]:
    exports = json.loads(output)["exports"]
    importers = [each for export in exports for each in export["importers"]]
    wrong = {each["state"] for each in importers} - {"current"} | {each["protection"] for each in importers} - {"held"}
    if wrong:
        raise RuntimeError(f"states that should not be: {sorted(wrong)}")
    return len(exports), len(importers)


def _printed(output: str) -> tuple[int, int]:
    exports, importers = output.split()
    return int(exports), int(importers)


_SIDES = {
    "list": Side("list", _LIST, _listed),
    "records": Side("only the records", _RECORDS, _printed, sees_importers=False),
    "pages": Side("the same pages", _PAGES, _printed, sees_importers=False),
    "tags": Side("the tags of each value", _TAGS, _printed),
}


class Case(NamedTuple):
    """An account that is listed."""

    title: str
    regions: tuple[str, ...]
    exports: int
    importers: int
    sides: tuple[str, ...]
    fill: Callable[[LocalSsm], None]


def _one_region(service: LocalSsm) -> None:
    network = Stack("network", EU)
    importers = [Stack(name, US, old=True) for name in ("web", "shop", "api")]
    stored_exports.store(service, network, US, values(150), importers)
    service.stacks(each.described for each in (network, *importers))


def _four_regions(service: LocalSsm) -> None:
    stacks = [Stack(f"stack{at}", _REGIONS[at % len(_REGIONS)], old=at % _OLD == 0) for at in range(_STACKS)]
    for producer, importer in zip(stacks, [*stacks[1:], stacks[0]], strict=True):
        stored_exports.store(service, producer, importer.region, values(50), [importer])
    service.stacks(each.described for each in stacks)


_CASES = {
    "one": Case(
        "150 values, 3 importers each, 1 region", (US,), 150, 450, ("list", "records", "pages", "tags"), _one_region
    ),
    "four": Case("5,000 values, 4 regions", _REGIONS, 5_000, 5_000, ("list", "records", "pages"), _four_regions),
}


def run(bench: Bench) -> Data:
    """Measure, in turns."""
    found: dict[tuple[str, bool, str], dict[str, Any]] = {}
    with LocalSsm.start() as service:
        service.options(latency_ms=_LATENCY_MS)
        for name, case in _CASES.items():
            service.clear()
            case.fill(service)
            for paced, side in _turns(case, quick=bench.quick):
                service.reset()
                environment = {**os.environ, **service.env(case.regions[0]), **rates(paced=paced)}
                spent = _run(_SIDES[side], case, environment)
                row = found.setdefault((name, paced, side), {"calls": set(), "seconds": []})
                row["calls"].add(sum(service.state().counts.values()))
                row["seconds"].append(spent)
            say(f"overview: {case.title}")
    rows = [
        {"case": name, "paced": paced, "side": side, "calls": sorted(row["calls"]), "runs": row["seconds"]}
        for (name, paced, side), row in found.items()
    ]
    cases = {name: {"title": case.title, "regions": len(case.regions)} for name, case in _CASES.items()}
    return {"cases": cases, "titles": {name: side.title for name, side in _SIDES.items()}, "rows": rows}


def _turns(case: Case, *, quick: bool) -> Iterator[tuple[bool, str]]:
    """Whether to keep to the rate limit, and what to run; the slow ones less often."""
    for at in range(1 if quick else _REPETITIONS):
        for paced in (False, True):
            for side in case.sides:
                if not (paced and side == "tags" and (quick or at >= _SLOW_REPETITIONS)):
                    yield paced, side


def _run(side: Side, case: Case, environment: Mapping[str, str]) -> float:
    """Run the program; its seconds."""
    spent, output = timed(side.program, case.regions, environment)
    if side.counted(output) != (case.exports, case.importers if side.sees_importers else 0):
        raise RuntimeError(f"{side.title} of {case.title} is not what it should be")
    return spent


def render(data: Data) -> list[str]:
    """Calls and times of each account."""
    header = ["", "", "Calls", "per region", "Time, no rate limit", "over the records'"]
    header += ["Time, as installed", "over the records'"]
    found = {(row["case"], row["side"], row["paced"]): row for row in data["rows"]}
    rows = []
    for case, side in dict.fromkeys((row["case"], row["side"]) for row in data["rows"]):
        row = [data["cases"][case]["title"], data["titles"][side]]
        calls = found[case, side, False]["calls"]
        row += [" or ".join(map(number, calls)), number(max(calls) / data["cases"][case]["regions"])]
        for paced in (False, True):
            each, records = found.get((case, side, paced)), found[case, "records", paced]
            over = ratios(each["runs"], records["runs"][: len(each["runs"])]) if each else []
            row += [spread(each["runs"], seconds), spread(over)] if each else [NONE, NONE]
        rows.append(row)
    return table(header, rows)


def verdicts(data: Data) -> list[Verdict]:
    """Few calls, and little more time than reading the records takes."""
    found = {(row["case"], row["side"], row["paced"]): row for row in data["rows"]}
    calls = max(found["one", "list", False]["calls"])
    listed, records, pages = (found["four", side, False]["runs"] for side in ("list", "records", "pages"))
    is_met = max(ratios(listed, records)) <= _MOST_OVER_RECORDS
    return [
        Verdict(f"List 150 values in at most {_MOST_CALLS} calls", calls <= _MOST_CALLS, f"{calls} calls"),
        Verdict(
            f"List 5,000 values in 4 regions in at most {_MOST_OVER_RECORDS} times the time of reading their records",
            is_met,
            f"{spread(listed, seconds)} to {spread(records, seconds)}: {spread(ratios(listed, records))}",
            "" if is_met else _WHY,
        ),
        Verdict(
            f"List 5,000 values in at most {_MOST_OVER_PAGES} times the time of the pages that have them",
            max(ratios(listed, pages)) <= _MOST_OVER_PAGES,
            f"{spread(listed, seconds)} to {spread(pages, seconds)}: {spread(ratios(listed, pages))}",
        ),
    ]
