"""Runs the benchmarks: `python -m benchmarks [TABLE ...]`."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import document, installing, summary
from benchmarks.bench import Bench, load, measure, say
from benchmarks.document import TABLES
from benchmarks.installing import BUILD, ROOT

RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "performance.md"
REPORT = RESULTS / "report.md"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the given tables, and write the results, the page and the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "tables", nargs="*", metavar="TABLE", help=f"one of {', '.join(TABLES)}; by default all of them"
    )
    parser.add_argument("--quick", action="store_true", help="run with small numbers, to check that everything works")
    parser.add_argument(
        "--into", type=Path, help="the folder that a quick run writes to", default=BUILD / "bench" / "quick"
    )
    parser.add_argument("--without-cdk", action="store_true", help="omit the CDK's columns")
    parser.add_argument(
        "--render", action="store_true", help="measure nothing; write the page and the report from the results"
    )
    given = parser.parse_args(arguments)
    unknown = set(given.tables) - set(TABLES)
    if unknown:
        parser.error(f"no such table: {', '.join(sorted(unknown))}")
    results = given.into / "results" if given.quick else RESULTS
    if not given.render:
        run(given.tables or list(TABLES), results, quick=given.quick, with_cdk=not given.without_cdk)
    page = given.into / "performance.md" if given.quick else PAGE
    report = results / REPORT.name
    page.write_text(summary.render(results), encoding="utf-8")
    report.write_text(document.render(results), encoding="utf-8")
    for name in given.tables:
        say("\n".join([TABLES[name].TITLE, *TABLES[name].render((load(name, results) or {})["data"])]))
    say(f"Wrote {page.name}, {report.name} and {len(list(results.glob('*.json')))} result files.")


def run(names: list[str], results: Path, *, quick: bool, with_cdk: bool) -> None:
    """Measure some tables. What a quick run needs is below its results."""
    below = results if quick else BUILD / "bench"
    below.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=below))
    try:
        node = installing.node() if with_cdk else "omitted"
        if isinstance(node, str):
            say(f"without the CDK: {node}")
        bench = Bench(installing.pythons(folder, linked=quick), node, quick)
        for name in names:
            measure(name, TABLES[name], bench, results)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
