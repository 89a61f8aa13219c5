"""One report for a terminal, for programs, and for a comment on a pull request."""

from __future__ import annotations

import json

from strongref.contract.names import SHARED, Key
from strongref_cli.check.command import as_json, as_markdown, as_table
from strongref_cli.check.report import ChangeKind, ExportPrediction, StackFinding, StackReport, ValueChange, Verdict
from tests.support.builders import WEB
from tests.support.graphs import AS_OF

CHANGES = (
    ValueChange(ChangeKind.CHANGED, Key("Alb/Arn"), "us-east-1", "web", (WEB,)),
    ValueChange(ChangeKind.UNKNOWN, Key("B"), "us-east-1", "_shared", (), "Bucket may be replaced"),
    ValueChange(ChangeKind.UNCHANGED, Key("C"), "us-east-1", "web"),
)
NESTED = StackReport("below", "eu-west-1", findings=(StackFinding(Verdict.LOST, "a < b | c"),))
REPORT = StackReport(
    "network",
    "eu-west-1",
    (ExportPrediction("Exports", Verdict.REFUSED, ("Refused.",), CHANGES), ExportPrediction("More", Verdict.ACCEPTED)),
    (StackFinding(Verdict.ACCEPTED, "Worth knowing."),),
    (NESTED,),
)


def test_a_table() -> None:
    assert as_table(REPORT).splitlines() == [
        "network (eu-west-1): refused",
        "  Exports: refused",
        "    Refused.",
        "    changed  Alb.Arn  us-east-1  web      imported by stack web (us-east-1, 111111111111)",
        "    unknown  B        us-east-1  _shared  Bucket may be replaced",
        "    1 unchanged",
        "  More: accepted",
        "    nothing changes",
        "  note: Worth knowing.",
        "below (eu-west-1): lost",
        "  lost: a < b | c",
        "  no Exports",
    ]


def test_json() -> None:
    (found,) = json.loads(as_json([REPORT], AS_OF))["stacks"]
    assert (found["verdict"], found["nested"][0]["verdict"]) == ("refused", "lost")
    assert found["exports"][0]["changes"][0] == {
        "change": "changed",
        "key": "Alb.Arn",
        "region": "us-east-1",
        "consumer": "web",
        "importers": [{"kind": "stack", "account": "111111111111", "region": "us-east-1", "name": "web", "id": WEB}],
    }
    assert found["exports"][0]["changes"][1]["consumer"] == SHARED


def test_markdown() -> None:
    shown = as_markdown(REPORT)
    assert "| changed | `Alb.Arn` | `us-east-1` | `web` | stack web (us-east-1, 111111111111) |" in shown
    assert "- **lost**: a &lt; b \\| c" in shown
    assert "- **note**: Worth knowing." in shown


def test_a_list_of_importers_that_is_cut_says_who_names_all() -> None:
    change = ValueChange(ChangeKind.CHANGED, Key("A"), "us-east-1", "_shared", tuple(f"{WEB}{at}" for at in range(9)))
    report = StackReport("network", "eu-west-1", (ExportPrediction("Exports", Verdict.REFUSED, (), (change,)),))
    for shown in (as_table(report), as_markdown(report)):
        assert "and 4 more" in shown
        assert "strongref who STACK KEY names every importer." in shown
        assert "names every importer" not in as_table(REPORT)
