"""How a table is laid out on a terminal: in columns whose words are whole, or else row by row. Pure."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GAP = 3
"""Blanks between two columns."""


def column_widths(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int] | None:
    """The width of each column of a table that is at most so wide; None if that would break words.

    Columns that fit get what they need. The others share the rest.
    """
    columns = list(zip(head, *rows, strict=True))
    least = [max(len(word) for cell in column for word in cell.split() or [""]) for column in columns]
    most = [max(map(len, column)) for column in columns]
    spare = width - GAP * (len(head) - 1) - sum(least)
    if spare < 0:
        return None
    widths, needy = list(least), sorted(range(len(head)), key=lambda at: most[at] - least[at])
    for left, at in zip(range(len(head), 0, -1), needy, strict=True):
        more = min(most[at] - least[at], spare // left)
        widths[at] += more
        spare -= more
    return widths


def records(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[tuple[str, str]]:
    """A table row by row: for each line the name of its column, which it begins with, and its text.

    A row whose first cell is empty continues the one above it. Other rows have an empty line between them.
    """
    for number, row in enumerate(rows):
        if number and row[0]:
            yield "", ""
        for name, cell in zip(head, row, strict=True):
            label = f"{name}:" if name else ""
            for line in wrapped_lines(f"{label} {cell}".lstrip(), width) if cell else ():
                yield label, line
                label = ""


def wrapped_lines(line: str, width: int) -> list[str]:
    """A line that is wrapped by words; the rest of it is indented more than its beginning."""
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(line, width, subsequent_indent=f"{indent}  ", break_on_hyphens=False) or [""]
