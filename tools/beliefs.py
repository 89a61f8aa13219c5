"""The table of what strongref believes about AWS, from `strongref_cli.selftest`, in docs/how-it-works.md."""

from __future__ import annotations

from strongref_cli.selftest.beliefs import BELIEFS
from tools.release import ROOT
from tools.targets import table_of, with_table

PAGE = ROOT / "docs/how-it-works.md"

HEAD = "| Belief | What is believed | Relied on in | AWS's page | Shown by |\n|---|---|---|---|---|\n"

TABLE = table_of(HEAD)


def written() -> str:
    """The page as it should be; errors as for `with_table`."""
    rows = "".join(
        f"| `{each.name}` | {each.says} | `{each.where}` | {each.source} | {_code(each.shown_by)} |\n"
        for each in BELIEFS
    )
    return with_table(PAGE, HEAD, rows)


def _code(name: str) -> str:
    return f"`{name}`" if name else ""
