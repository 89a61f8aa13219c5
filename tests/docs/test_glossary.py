"""docs/glossary.md has every state and finding that anyone is shown, and each is the same word wherever it is shown."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from strongref.protocol.findings import Finding, FindingType, Resolution
from strongref_cli.check.report import ChangeKind, Verdict
from strongref_cli.doctor.diagnosis import DoctorFinding, Severity, problem_of
from strongref_cli.graph.formats.page import MARKS
from strongref_cli.overview.states import STATES, ExportState, ImportState, Protection
from tests.support.documents import ROOT, names_in, rows
from tests.support.schemas import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Iterable

PAGE = "docs/glossary.md"
RESOLUTIONS = {
    "What the janitor repairs": Resolution.REPAIRED,
    "What the janitor reports": Resolution.REPORTED,
    "What the janitor notes": Resolution.NOTED,
}
WRONG = {*ExportState, *ImportState, *Protection} - {"published", "current", "held", "unknown"}


def named_under(heading: str) -> set[str]:
    return names_in(rows(PAGE, heading))


@pytest.mark.parametrize(
    ("heading", "states"),
    [
        ("States of an export", ExportState),
        ("States of an import", ImportState),
        ("Protection by a hold", Protection),
        ("What only doctor finds", DoctorFinding),
        ("Predictions of check", ChangeKind),
        *((heading, [each for each in FindingType if each.resolution is of]) for heading, of in RESOLUTIONS.items()),
    ],
)
def test_every_state_and_finding_is_a_term(heading: str, states: Iterable[str]) -> None:
    assert named_under(heading) == {str(each) for each in states}


def test_every_verdict_is_named_here_and_explained_on_its_page() -> None:
    text = (ROOT / PAGE).read_text()
    assert all(f"`{verdict}`" in text for verdict in Verdict)
    assert names_in(rows("docs/check.md", "Verdicts")) == set(Verdict)


def test_what_list_selects_by_is_a_term() -> None:
    headings = ("States of an export", "States of an import", "Protection by a hold")
    assert set(STATES) - {"imported", "unused"} <= set().union(*map(named_under, headings))
    assert all(f"`{each}`" in (ROOT / PAGE).read_text() for each in STATES)


def test_what_is_wrong_has_the_same_word_in_list_in_the_graph_and_for_doctor() -> None:
    findings = {each.partition("-")[0] for each in (*FindingType, *DoctorFinding)}
    assert findings >= WRONG
    assert set(STATES) >= WRONG
    assert list(MARKS) == [ImportState.OUTDATED, Protection.UNHELD, Protection.UNPROTECTED, Protection.UNKNOWN, "cycle"]


def test_the_schemas_have_the_same_words() -> None:
    schemas = [json.loads((SCHEMAS / f"{name}.schema.json").read_text()) for name in ("list", "who", "graph")]
    enums = Counter(frozenset(enum) for schema in schemas for enum in enums_in(schema))
    assert [enums[frozenset(map(str, kind))] for kind in (ExportState, ImportState, Protection)] == [2, 3, 4]


def enums_in(schema: object) -> Iterable[list[str]]:
    if isinstance(schema, dict):
        if isinstance(schema.get("enum"), list):
            yield schema["enum"]
        for each in schema.values():
            yield from enums_in(each)


def test_doctor_repairs_what_the_janitor_does() -> None:
    found = [each for each in FindingType if each is not FindingType.EXPIRED_FENCE]  # It finds fences itself.
    repairable = {each for each in found if problem_of("", Finding(each, "")).severity is Severity.REPAIRABLE}
    assert repairable == {each for each in found if each.resolution is Resolution.REPAIRED}
