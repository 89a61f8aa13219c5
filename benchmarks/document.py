"""docs/performance.md, from result files alone."""

from __future__ import annotations

from functools import partial
from textwrap import wrap as wrapped
from typing import TYPE_CHECKING, Any

from benchmarks import calls, growth, latency, quota, resolving, startup
from benchmarks.bench import Table, Verdict, load
from benchmarks.tables import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

TABLES: Mapping[str, Table] = {
    "calls": calls,
    "quota": quota,
    "latency": latency,
    "startup": startup,
    "growth": growth,
    "resolving": resolving,
}
_WIDTH = 120
wrap = partial(wrapped, width=_WIDTH, break_on_hyphens=False, break_long_words=False)
_INTRODUCTION = """
What strongref costs, measured beside the custom resources behind the CDK's `crossRegionReferences`. `make bench` takes
all figures anew and writes this page; nothing in it is written by hand. The raw results are in
[benchmarks/results](../benchmarks/results).
"""
_METHOD = """
All sides run on the same machine, in the same run, against the same local service: a small server that speaks the
protocols of SSM and CloudFormation, refuses what AWS refuses, and is fast enough not to be what is measured. Each side
is its own real handler in a process of its own. Ours are the functions of `handlers/` with the layer, compiled as the
layer is. The CDK's are the files of its npm package, entry point included, run by node; what they answer goes to the
same address as ours, over http for both. A process stands for a warm function where nothing else is said. Ratios are
ours over theirs: below 1 we are cheaper. Nothing here was measured on AWS.
"""


def render(folder: Path) -> str:
    """The page, of the results in a folder."""
    results = {name: found for name in TABLES if (found := load(name, folder))}
    lines = ["# Performance", "", *_INTRODUCTION.strip().splitlines(), "", "## Targets", ""]
    judged = [verdict for name, result in results.items() for verdict in TABLES[name].verdicts(result["data"])]
    lines += [*_verdicts(judged), "", "## Method", "", *_METHOD.strip().splitlines()]
    for name, result in results.items():
        lines += ["", f"## {result['title']}", ""]
        for paragraph in result["method"]:
            lines += [*wrap(paragraph), ""]
        lines += [*TABLES[name].render(result["data"]), "", *wrap(_under(result))]
    return "\n".join(lines) + "\n"


def _under(result: Mapping[str, Any]) -> str:
    """With what, on what and when a table was measured."""
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    quick = "A quick run, whose figures mean nothing. " if result["quick"] else ""
    return f"{quick}Measured on {result['date']}: {versions}; {result['machine']}."


def _verdicts(judged: Sequence[Verdict]) -> list[str]:
    words = {True: "met", False: "**not met**", None: "not measured"}
    lines = table(["Target", "", "Measured"], [(each.target, words[each.met], each.measured) for each in judged])
    for each in judged:
        if each.why:
            lines += ["", *wrap(f"Not met: {each.target}. {' '.join(each.why.split())}")]
        lines += ["", *(f"- {miss}" for miss in each.misses)] if each.misses else []
    return lines
