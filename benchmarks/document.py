"""benchmarks/results/report.md: every table with its method and targets, made from the result files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from textwrap import wrap as wrapped
from typing import Any

from benchmarks import calls, latency, memory, overview, quota, resolving, sharing, startup
from benchmarks.bench import Table, Verdict, load
from benchmarks.tables import table

TABLES: Mapping[str, Table] = {
    "calls": calls,
    "quota": quota,
    "sharing": sharing,
    "latency": latency,
    "memory": memory,
    "startup": startup,
    "resolving": resolving,
    "overview": overview,
}
_WIDTH = 120
wrap = partial(wrapped, width=_WIDTH, break_on_hyphens=False, break_long_words=False)
_INTRODUCTION = """
The cost of strongref, measured next to the custom resources behind the CDK's `crossRegionReferences`. `make bench`
measures everything again and writes this report and [its summary](../../docs/performance.md). The figures as data are
in this folder.
"""
_METHOD = """
All sides run on the same machine, in the same run, against the same local service: a small server that speaks the
protocols of SSM and CloudFormation, refuses what AWS refuses, and is fast enough not to affect the results. Each side
is its real handler in its own process. Ours are the functions of `handlers/` with the layer, compiled as in the layer.
The CDK's are the files of its npm package, including the entry point, run by node. Both send their responses to the
same address over HTTP. A process stands for a warm function unless stated otherwise. Ratios are ours over theirs:
below 1, ours is cheaper. `ReadLag` is 0 but where a table says otherwise. Nothing here was measured on AWS.
"""


def render(folder: Path) -> str:
    """The report, made from the results in a folder."""
    results = {name: found for name in TABLES if (found := load(name, folder))}
    lines = ["# All tables of the benchmarks", "", *_INTRODUCTION.strip().splitlines(), "", "## Targets", ""]
    judged = [verdict for name, result in results.items() for verdict in TABLES[name].verdicts(result["data"])]
    lines += [*verdicts(judged), "", "## Method", "", *_METHOD.strip().splitlines()]
    for name, result in results.items():
        lines += ["", f"## {TABLES[name].TITLE}", ""]
        for paragraph in TABLES[name].METHOD.split("\n\n"):
            lines += [*wrap(" ".join(paragraph.split())), ""]
        lines += [*TABLES[name].render(result["data"]), "", *wrap(_under(result))]
    return "\n".join(lines) + "\n"


def _under(result: Mapping[str, Any]) -> str:
    """The versions, the machine and the date of a table."""
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    quick = "A quick run: its figures mean nothing. " if result["quick"] else ""
    return f"{quick}Measured on {result['date']}: {versions}; {result['machine']}."


def verdicts(judged: Sequence[Verdict]) -> list[str]:
    """Targets, whether they are met, and why not."""
    words = {True: "met", False: "**not met**", None: "not measured"}
    lines = table(["Target", "", "Measured"], [(each.target, words[each.met], each.measured) for each in judged])
    reasons = dict.fromkeys(each.why for each in judged if each.why)
    for why in reasons:
        missed = [each for each in judged if each.why == why]
        named = "Not met: " + "; ".join(each.target for each in missed) if len(reasons) > 1 else "Why not"
        lines += ["", *wrap(f"{named}. {' '.join(why.split())}")]
        misses = [f"- {miss}" for each in missed for miss in each.misses]
        lines += ["", *misses] if misses else []
    return lines
