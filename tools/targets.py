"""What make's targets do, and how long they take, in the pages: from what stands behind `##` in the Makefile."""

from __future__ import annotations

import re
from pathlib import Path

from tools.release import ROOT

HEAD = "| Command | What it does | Time |\n|---|---|---:|\n"

_TARGET = re.compile(r"^([a-z0-9-]+):[^#\n]* ## ([^|\n]+)\|(.*)$", re.MULTILINE)
_TAKES = re.compile(r"`make ([a-z0-9-]+)` takes (\d+ (?:seconds|minutes))")
_UNITS = {"s": "seconds", "min": "minutes"}


def table_of(head: str) -> re.Pattern[str]:
    """A table in a page, given its head."""
    return re.compile(re.escape(head) + r"(?:\|.*\n)*")


def with_table(page: Path, head: str, rows: str) -> str:
    """A page with these rows in a table. Raises `ValueError`: it does not have the table exactly once."""
    text, count = table_of(head).subn(lambda _: head + rows, page.read_text("utf-8"))
    if count != 1:
        raise ValueError(f"{page.name} has the table {count} times")
    return text


def pages() -> dict[Path, str]:
    """Each page as it should be; errors as for `with_table`.

    Raises:
        KeyError: the README names a target that has no time.
    """
    targets = _TARGET.findall((ROOT / "Makefile").read_text("utf-8"))
    times = {name: time for name, _, time in targets}
    readme, page = ROOT / "README.md", ROOT / "CONTRIBUTING.md"

    def takes(found: re.Match[str]) -> str:
        number, unit = times[found[1]].split()
        return f"`make {found[1]}` takes {number} {_UNITS[unit]}"

    rows = "".join(f"| `make {name}` | {what} | {time} |\n" for name, what, time in targets)
    return {page: with_table(page, HEAD, rows), readme: _TAKES.sub(takes, readme.read_text("utf-8"))}
