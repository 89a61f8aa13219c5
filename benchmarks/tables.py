"""Markdown tables and the numbers in them."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

NONE = "-"
_SMALL = 10
_FIGURE = re.compile(r"[\d,.]+(%| s| ms| MB)?( \(.*\))?")


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """The lines of a table; columns of figures are right-aligned."""
    cells = [[str(cell) for cell in row] for row in rows]
    right = [all(_is_figure(row[column]) for row in cells) for column in range(len(header))]
    lines = [f"| {' | '.join(header)} |", f"|{'|'.join('---:' if figure else '---' for figure in right)}|"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in cells)]


def _is_figure(cell: str) -> bool:
    return cell == NONE or _FIGURE.fullmatch(cell) is not None


def missing(data: Mapping[str, Any], what: str) -> list[str]:
    """Why the CDK has no lines, or columns, below a table; nothing if it has."""
    return ["", f"The CDK's {what} are missing: {data['without']}."] if data["without"] else []


def number(given: float) -> str:
    """An integer, with commas."""
    return f"{given:,.0f}"


def ratio(ours: float | None, theirs: float | None) -> str:
    """Ours over theirs, or a dash if one of them is missing."""
    return f"{ours / theirs:.2f}" if ours is not None and theirs else NONE


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Ours over theirs, of each run."""
    return [mine / other for mine, other in zip(ours, theirs, strict=True)]


def spread(runs: Sequence[float], shown: Callable[[float], str] = "{:.2f}".format) -> str:
    """The median of several runs, and in parentheses the best and the worst."""
    return f"{shown(median(runs))} ({shown(min(runs))} to {shown(max(runs))})"


def seconds(given: float) -> str:
    """Seconds, with decimals if they are few."""
    return f"{given:,.1f} s" if given >= _SMALL else f"{given:.2f} s"


def milliseconds(given: float) -> str:
    """Seconds, in milliseconds."""
    return f"{given * 1000:,.0f} ms"


def megabytes(kilobytes: float) -> str:
    """Kilobytes, in megabytes."""
    return f"{kilobytes / 1024:,.0f} MB"


def median(samples: Sequence[float]) -> float:
    """To six decimals."""
    return round(statistics.median(samples), 6)
