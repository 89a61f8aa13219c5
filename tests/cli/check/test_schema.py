"""The JSON of `strongref check` follows docs/schemas/check.schema.json, whatever is reported."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref.contract.names import SHARED, Key
from strongref_cli.check.command import as_json
from strongref_cli.check.report import ChangeKind, ExportPrediction, StackFinding, StackReport, ValueChange, Verdict
from tests.support.builders import WEB
from tests.support.graphs import AS_OF
from tests.support.schemas import SCHEMAS, validate

NAMES, TEXTS, VERDICTS = (
    st.sampled_from(["network", "Exports", "us-east-1"]),
    st.text(max_size=9),
    st.sampled_from(Verdict),
)
KEYS, CONSUMERS = st.sampled_from([Key("A"), Key("Alb/Arn")]), st.sampled_from([SHARED, "web"])


def several(each: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(each, max_size=2).map(tuple)


CHANGES = st.builds(
    ValueChange, st.sampled_from(ChangeKind), KEYS, NAMES, CONSUMERS, several(st.sampled_from([WEB, "x"])), TEXTS
)
EXPORTS = st.builds(ExportPrediction, NAMES, VERDICTS, several(TEXTS), several(CHANGES))
FINDINGS = several(st.builds(StackFinding, VERDICTS, TEXTS))
REPORTS = st.recursive(
    st.builds(StackReport, NAMES, NAMES, several(EXPORTS), FINDINGS, in_cleanup=st.booleans()),
    lambda below: st.builds(StackReport, NAMES, NAMES, several(EXPORTS), FINDINGS, several(below), st.booleans()),
    max_leaves=4,
)


@given(REPORTS)
def test_every_report_follows_the_schema(report: StackReport) -> None:
    validate("check", json.loads(as_json([report], AS_OF)))


def test_the_schema_has_the_verdicts_and_changes_that_there_are() -> None:
    defined = json.loads((SCHEMAS / "check.schema.json").read_text())["$defs"]
    assert defined["verdict"]["enum"] == [each.value for each in Verdict]
    assert defined["change"]["properties"]["change"]["enum"] == [each.value for each in ChangeKind]


def _documents() -> list[dict[str, Any]]:
    """Reports that are wrong, each at one level."""
    change = ValueChange(ChangeKind.ADDED, Key("A"), "us-east-1", "web")
    exports = (ExportPrediction("Exports", Verdict.ACCEPTED, (), (change,)),)
    report = StackReport("network", "eu-west-1", exports, (StackFinding(Verdict.ACCEPTED, "x"),))
    report = StackReport("root", "eu-west-1", nested=(report,))
    documents = [json.loads(as_json([report], AS_OF)) for _ in range(6)]
    stacks = [each["stacks"][0] for each in documents]
    nested = [each["nested"][0] for each in stacks]
    documents[0]["value"] = "x"
    del stacks[1]["verdict"]
    nested[2]["verdict"] = "perhaps"
    nested[3]["exports"][0]["changes"][0]["value"] = "x"
    nested[4]["exports"][0]["changes"][0]["change"] = "renamed"
    nested[5]["findings"][0]["text"] = None
    return documents


@pytest.mark.parametrize("document", _documents())
def test_the_schema_allows_nothing_else(document: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        validate("check", document)
