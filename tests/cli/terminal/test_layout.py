"""How tables are laid out on terminals of any width."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref_cli.terminal import output
from strongref_cli.terminal.output import GAP, TextTable, column_widths, records, wrapped_lines

HEAD = ("REGION", "KEY", "IMPORTED BY")
ROWS = [("us-east-1", "Alb.SecurityGroup.Id", "shop, web and site (no hold yet)"), ("", "Arn", "")]
TABLE = TextTable(
    HEAD, ROWS, title="A title of the table", notes=["2 exports in us-east-1. As of 2026-01-31 12:00:00 UTC."]
)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return monkeypatch


def plain(text: str) -> list[str]:
    return [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()]


def test_where_there_is_space_every_cell_is_one_line(terminal: pytest.MonkeyPatch) -> None:
    terminal.setenv("COLUMNS", "120")
    assert plain(output.as_text(TABLE)) == [
        "A title of the table",
        "REGION      KEY                    IMPORTED BY",
        "─" * 67,
        "us-east-1   Alb.SecurityGroup.Id   shop, web and site (no hold yet)",
        "            Arn",
        "",
        "2 exports in us-east-1. As of 2026-01-31 12:00:00 UTC.",
    ]


def test_where_there_is_less_cells_are_wrapped_by_words(terminal: pytest.MonkeyPatch) -> None:
    terminal.setenv("COLUMNS", "50")
    assert plain(output.as_text(TABLE))[3:5] == [
        "us-east-1   Alb.SecurityGroup.Id   shop, web and",
        "                                   site (no hold",
    ]


def test_where_words_do_not_fit_each_row_is_lines(terminal: pytest.MonkeyPatch) -> None:
    terminal.setenv("COLUMNS", "30")
    assert plain(output.as_text(TABLE)) == [
        "A title of the table",
        "REGION: us-east-1",
        "KEY: Alb.SecurityGroup.Id",
        "IMPORTED BY: shop, web and",
        "  site (no hold yet)",
        "KEY: Arn",
        "",
        "2 exports in us-east-1. As of",
        "2026-01-31 12:00:00 UTC.",
    ]


@pytest.mark.parametrize("term", ["xterm", "dumb"])
@pytest.mark.parametrize("width", [20, 40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal_and_no_word_is_lost(
    width: int, term: str, terminal: pytest.MonkeyPatch
) -> None:
    terminal.setenv("COLUMNS", str(width))
    terminal.setenv("TERM", term)
    lines = plain(output.as_text(TABLE))
    assert max(map(len, lines)) <= width
    shown = "".join("".join(lines).split())
    for word in " ".join([TABLE.title, *TABLE.notes]).split():
        assert word in shown


def test_a_row_has_an_empty_line_before_it_unless_it_continues_another() -> None:
    lines = [line for _, line in records(("A", ""), [("a", "b"), ("", "c"), ("d", "")], 40)]
    assert lines == ["A: a", "b", "c", "", "A: d"]


_CELL = st.text(alphabet="ab -", max_size=30)


@given(st.lists(st.tuples(_CELL, _CELL, _CELL), min_size=1, max_size=5), st.integers(1, 120))
def test_columns_hold_every_word_and_fit(rows: list[tuple[str, ...]], width: int) -> None:
    widths = column_widths(HEAD, rows, width)
    words = [
        max(len(word) for cell in column for word in [*cell.split(), ""]) for column in zip(HEAD, *rows, strict=True)
    ]
    least = sum(words) + GAP * (len(HEAD) - 1)
    assert (widths is None) == (least > width)
    if widths:
        assert sum(widths) + GAP * (len(HEAD) - 1) <= width
        assert all(given >= needed for given, needed in zip(widths, words, strict=True))


@given(st.lists(st.tuples(_CELL, _CELL, _CELL), max_size=5), st.integers(1, 60))
def test_records_hold_every_cell_and_fit(rows: list[tuple[str, ...]], width: int) -> None:
    found = list(records(HEAD, rows, width))
    assert max((len(line) for _, line in found), default=0) <= max(width, 3)  # the indent, and one character
    assert [label for label, _ in found if label] == [
        f"{name}:" for row in rows for name, cell in zip(HEAD, row, strict=True) if cell
    ]


def test_a_wrapped_line_keeps_its_indent() -> None:
    assert wrapped_lines("  changed  Arn  us-east-1", 16) == ["  changed  Arn", "    us-east-1"]
    assert wrapped_lines("", 16) == [""]
