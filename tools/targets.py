"""Writes what make's targets do, and how long they take, into the pages: from what stands behind `##` in the Makefile.

`make texts` runs it, and a test checks that they agree.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from tools.release import ROOT

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "| Command | What it does | Time |\n|---|---|---:|\n"

_TARGET = re.compile(r"^([a-z0-9-]+):[^#\n]* ## ([^|\n]+)\|(.*)$", re.MULTILINE)
_TABLE = re.compile(re.escape(HEAD) + r"(?:\|.*\n)*")
_TAKES = re.compile(r"`make ([a-z0-9-]+)` takes (\d+ (?:seconds|minutes))")
_UNITS = {"s": "seconds", "min": "minutes"}


def written() -> dict[Path, str]:
    """Each page as it should be.

    Raises:
        ValueError: CONTRIBUTING.md does not have the table exactly once.
        KeyError: the README names a target that has no time.
    """
    targets = _TARGET.findall((ROOT / "Makefile").read_text("utf-8"))
    times = {name: time for name, _, time in targets}
    readme, page = ROOT / "README.md", ROOT / "CONTRIBUTING.md"

    def takes(found: re.Match[str]) -> str:
        number, unit = times[found[1]].split()
        return f"`make {found[1]}` takes {number} {_UNITS[unit]}"

    rows = "".join(f"| `make {name}` | {what} | {time} |\n" for name, what, time in targets)
    table, count = _TABLE.subn(lambda _: HEAD + rows, page.read_text("utf-8"))
    if count != 1:
        raise ValueError(f"{page.name} has the table {count} times")
    return {page: table, readme: _TAKES.sub(takes, readme.read_text("utf-8"))}


def main() -> int:
    for page, text in written().items():
        page.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
