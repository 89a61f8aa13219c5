"""The limits on the page of costs are the code's."""

from __future__ import annotations

from strongref.contract.continuation import MAX_INVOCATIONS
from strongref.contract.names import MAX_LEVELS
from strongref.contract.values import MAX_BYTES
from strongref_cli.doctor import diagnosis
from tests.support.documents import ROOT, rows


def test_the_documented_limits_are_those_of_the_code() -> None:
    page = (ROOT / "docs/costs-and-limits.md").read_text()
    limits = dict(rows("docs/costs-and-limits.md", "Limits"))
    assert limits["A value"] == f"{MAX_BYTES:,} bytes"
    assert (MAX_LEVELS, limits["A key"]) == (9, "Nine levels")
    assert limits["Standard parameters"].startswith(f"{diagnosis.MAX_PARAMETERS:,} ")
    assert f"at most {MAX_INVOCATIONS} in all" in page
