"""Standard output: a command's result, and nothing else. Progress goes to standard error, and only to a terminal."""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from math import ceil
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from strongref.text import cut
from strongref_toolkit.errors import UsageError, WriteFailedError, os_problem, printable
from strongref_toolkit.json_values import document_head, document_text
from strongref_toolkit.messages import tell

if TYPE_CHECKING:
    import argparse

    from strongref.contract.fence import Fence
    from strongref.contract.names import ExportScope

UNBOUNDED = 100_000
"""Columns of what is not shown on a terminal: nothing is wrapped, so that other programs can read it."""

GAP = 3
"""Blanks between two columns."""

_WORD = r"(?<![\w-])({})(-\w+)*(?![\w-])"
_WRONG = _WORD.format("missing|foreign|refused|failed")
_LATE = _WORD.format("outdated|stale|restored|withdrawn|unheld")
"""Words that terminals show in color: each is a state, so no color says what no word does."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """Rows with the same columns. A title and notes are lines of their own."""

    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    title: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What a command has found: for people, and the same for programs."""

    tables: Iterable[TextTable]  # may be made only when they are shown, which is at most once
    document: Mapping[str, Any]  # JSON


def show(result: Result, args: argparse.Namespace) -> None:
    """Write a command's result to standard output, in one of `options.FORMATS`; errors as for `put_out`."""
    if args.output == "json":
        put_out(document_text(result.document, args.as_of).encode())
        return
    text = "\n".join(map(as_markdown if args.output == "markdown" else as_text, result.tables))
    put_out(text.encode())


def ask_about(plan: Result, args: argparse.Namespace, question: str) -> None:
    """Show what is going to be done, and `ask`: on standard error if standard output is for another format."""
    if args.output == "table":
        show(plan, args)
    elif not args.yes and args.output == "json":
        sys.stderr.write(f"{json.dumps({**document_head(args.as_of), 'plan': plan.document})}\n")
    elif not args.yes:
        sys.stderr.write("\n".join(map(as_text, plan.tables)))
    ask(question, yes=args.yes)


def as_text(table: TextTable) -> str:
    """A table with aligned columns: bold and as wide as the terminal, or plain and unwrapped.

    On a terminal that is too narrow for its words, it is shown row by row.
    """
    # They take 50 ms to import, which `--help` and `--output json` do not need.
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table as Grid  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    is_terminal = sys.stdout.isatty()

    def styled(text: str) -> Text:
        found = Text(printable(text))
        found.highlight_regex(_WRONG, "red")
        found.highlight_regex(_LATE, "yellow")
        return found

    width = get_terminal_size().columns if is_terminal else UNBOUNDED
    # Without a height, rich takes every dumb terminal for one of 80 columns.
    console = Console(file=StringIO(), force_terminal=is_terminal, width=width, height=1)
    if table.title:
        console.print(Text(printable(table.title), style="bold"), soft_wrap=not is_terminal)
    fits = column_widths(table.columns, table.rows, width) if is_terminal else [None] * len(table.columns)
    if table.rows and fits:
        box = SIMPLE_HEAD if is_terminal else None
        grid = Grid(box=box, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for name, column_width in zip(table.columns, fits, strict=True):
            grid.add_column(name, overflow="fold", width=column_width)
        for row in table.rows:
            grid.add_row(*map(styled, row))
        console.print(grid)
    elif table.rows:
        for label, line in records(table.columns, table.rows, width):
            text = styled(line)
            text.stylize("bold", 0, len(label))
            console.print(text, soft_wrap=True)
    if is_terminal and table.rows and table.notes:
        console.print()
    for note in table.notes:
        console.print(styled(note), soft_wrap=not is_terminal)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())  # type: ignore[attr-defined]


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


def count(number: int, what: str, done: str = "") -> str:
    """`2 files`, `1 value resolved`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}{f' {done}' if done else ''}"


def wrapped(text: str, colors: Mapping[str, str]) -> str:
    """Lines that are wrapped at the terminal's width, and stay indented; unchanged in a pipe.

    Matches of these patterns have a color.
    """
    if not sys.stdout.isatty():
        return text
    from rich.console import Console  # noqa: PLC0415 (as above)
    from rich.text import Text  # noqa: PLC0415

    console = Console(file=StringIO(), force_terminal=True, width=UNBOUNDED, height=1)
    width = get_terminal_size().columns
    for line in (each for given in text.splitlines() for each in wrapped_lines(given, width)):
        found = Text(line)
        for pattern, color in colors.items():
            found.highlight_regex(pattern, color)
        console.print(found, soft_wrap=True)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def as_markdown(table: TextTable) -> str:
    """A table for a comment or a page."""
    lines = [f"### {escaped(table.title)}\n"] if table.title else []
    if table.rows:
        lines += [_row(table.columns), _row(["---"] * len(table.columns))]
        lines += [_row([escaped(cell) for cell in row]) for row in table.rows]
        lines.append("")
    lines += [f"{escaped(note)}\n" for note in table.notes]
    return "".join(f"{line}\n" for line in lines)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def escaped(text: str) -> str:
    """Text that is no formatting."""
    return re.sub(r"[\\`*|\[]", r"\\\g<0>", printable(text)).replace("<", "&lt;").replace("\n", " ")


@contextmanager
def progress(what: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal that something is being done, and with what: call the function with each step."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 (as above)

    with Console(stderr=True).status(what) as status:
        yield lambda step: status.update(f"{what}: {step}")


def ask(question: str, *, yes: bool) -> None:
    """Ask on the terminal before something is changed; `yes` is the answer that was given beforehand.

    Raises:
        UsageError: the answer is no, or nobody can be asked.
    """
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("nothing was changed: give --yes where nobody can be asked")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was changed")


def put_out(content: bytes) -> None:
    """Write to standard output, and flush it.

    Raises:
        BrokenPipeError: its reader has closed it.
        WriteFailedError: there is no space for it.
    """
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard()
        raise WriteFailedError("standard output", os_problem(error), 0) from None


def discard() -> None:
    """Discard what is written to standard output from now on, and what it still holds.

    Python flushes it again at exit (Python: Library Reference, signal, note on SIGPIPE).
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class WaitNotice:
    """`ports.OnWait` for people: on a terminal in the line that shows the progress, elsewhere a line for each wait."""

    def __init__(self, step: Callable[[str], None]) -> None:
        self._step = step
        self._written: set[tuple[ExportScope, str]] = set()

    def __call__(self, scope: ExportScope, fence: Fence, seconds: float) -> None:
        what = f"waiting up to {ceil(seconds)} s for {cut(fence.held_by, 200)}, which is changing exports of "
        text = f"{what}{scope.producer.stack}"
        if sys.stderr.isatty():
            from rich.markup import escape  # noqa: PLC0415 (as above)

            self._step(escape(printable(text)))
        elif (scope, fence.held_by) not in self._written:
            self._written.add((scope, fence.held_by))
            tell("note", text)
