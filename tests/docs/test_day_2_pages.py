"""The pages of day 2: what they list is all that the janitor, `doctor` and `list` show, and limits are the code's."""

from __future__ import annotations

import re

import pytest

from strongref.contract.continuation import MAX_INVOCATIONS
from strongref.contract.names import MAX_LEVELS
from strongref.contract.values import MAX_BYTES
from strongref.protocol.findings import Finding, FindingType, Resolution
from strongref_cli.doctor import diagnosis
from strongref_cli.overview.exports import ExportState
from tests.support.documents import ROOT, names_in, rows

JANITOR, DOCTOR = "docs/janitor.md", "docs/day-2/repair.md"

PROBLEMS = [
    diagnosis.problem_of("eu-west-1", Finding(each, "/p"))
    for each in FindingType
    if each is not FindingType.DEAD_FENCE  # `doctor` finds it itself, with its holder
]


@pytest.mark.parametrize(
    ("heading", "resolution"), [("What it repairs", Resolution.HEALED), ("What it reports", Resolution.REPORTED)]
)
def test_the_documented_findings_are_what_the_janitor_does_about_them(heading: str, resolution: Resolution) -> None:
    assert names_in(rows(JANITOR, heading)) == {each.value for each in FindingType if each.resolution is resolution}


def test_the_findings_that_need_nothing_are_named() -> None:
    text = (ROOT / JANITOR).read_text()
    (line,) = [each for each in text.split("\n\n") if each.startswith("These need nothing")]
    named = set(re.findall("`([^`]+)`", line))
    assert named == {each.value for each in FindingType if each.resolution is Resolution.NOTED}


def test_the_documented_problems_are_those_that_doctor_shows() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "src/strongref_cli/doctor").glob("*.py"))
    kinds = {each.kind for each in PROBLEMS} | {diagnosis.DEAD_FENCE, "not-repaired"}
    kinds |= set(re.findall(r'"([a-z]+(?:-[a-z]+)*)", Severity\.', sources))
    assert names_in(rows(DOCTOR, "Find and repair problems")) == kinds


def test_what_doctor_repairs_is_documented_so() -> None:
    documented = {
        kind
        for kinds, _, what in rows(DOCTOR, "Find and repair problems")
        if what.startswith("`--fix`")
        for kind in re.findall("`([^`]+)`", kinds)
    }
    healable = {each.kind for each in PROBLEMS if each.severity is diagnosis.Severity.HEALABLE}
    assert documented == healable | {diagnosis.DEAD_FENCE}


def test_the_documented_states_are_those_that_list_shows() -> None:
    documented = names_in(rows("docs/day-2/see-who-uses-what.md", "States of an export"))
    assert documented == {each.value for each in ExportState}


def test_the_documented_limits_are_those_of_the_code() -> None:
    page = (ROOT / "docs/costs-and-limits.md").read_text()
    limits = dict(rows("docs/costs-and-limits.md", "Limits"))
    assert limits["A value"] == f"{MAX_BYTES:,} bytes"
    assert (MAX_LEVELS, limits["A key"]) == (9, "Nine levels")
    assert limits["Standard parameters"].startswith(f"{diagnosis.MAX_PARAMETERS:,} ")
    assert f"at most {MAX_INVOCATIONS} in all" in page
