"""Writes the table of what strongref believes about AWS into docs/how-it-works.md, from `strongref_cli.selftest`.

`make texts` runs it, and a test checks that they agree.
"""

from __future__ import annotations

import re
import sys

from strongref_cli.selftest.beliefs import BELIEFS
from tools.release import ROOT

PAGE = ROOT / "docs/how-it-works.md"

HEAD = "| Belief | What is believed | Relied on in | AWS's page | Shown by |\n|---|---|---|---|---|\n"

TABLE = re.compile(re.escape(HEAD) + r"(?:\|.*\n)*")


def written() -> str:
    """The page as it should be. Raises `ValueError`: it does not have the table exactly once."""
    rows = "".join(
        f"| `{each.name}` | {each.says} | `{each.where}` | {each.source} | {_code(each.shown_by)} |\n"
        for each in BELIEFS
    )
    page, count = TABLE.subn(lambda _: HEAD + rows, PAGE.read_text("utf-8"))
    if count != 1:
        raise ValueError(f"{PAGE.name} has the table {count} times")
    return page


def _code(name: str) -> str:
    return f"`{name}`" if name else ""


def main() -> int:
    PAGE.write_text(written(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
