"""What differs between regions, and what the commands print about it."""

from __future__ import annotations

import json

import pytest

from strongref_cli.install.plan import Found, FoundStack, RegionOutcome, RegionResult
from strongref_cli.install.reports import Difference, differences, outcome_report, problems, status_report
from strongref_cli.terminal.output import as_text
from strongref_toolkit.json_values import document_text
from tests.support.graphs import AS_OF
from tests.support.schemas import validate

EU, US, AP = "eu-west-1", "us-east-1", "ap-south-1"


def found(region: str, status: str = "CREATE_COMPLETE", version: str | None = "0.2.0", **parameters: str) -> Found:
    protected = region == EU
    return Found(region, FoundStack("arn", status, version, {"Macro": "true", **parameters}, protected=protected))


def test_regions_that_are_alike_do_not_differ() -> None:
    alike = [found(EU, ReadLag="2"), found(US, "UPDATE_COMPLETE", ReadLag="2")]
    assert differences(alike) == []
    assert problems(alike) == []


def test_versions_parameters_and_missing_installations_differ() -> None:
    regions = [found(EU, ReadLag="2"), found(US, version=None, ReadLag="0", New=""), Found(AP, None)]
    assert differences(regions) == [
        Difference("installed", {EU: "installed", US: "installed", AP: "not installed"}),
        Difference("version", {EU: "0.2.0", US: "unknown"}),
        Difference("ReadLag", {EU: "2", US: "0"}),
    ]


def test_of_all_regions_only_those_with_an_installation_are_compared() -> None:
    assert differences([found(EU), Found(AP, None)], everywhere=False) == []
    report = status_report([found(EU), Found(AP, None)], [], "0.2.0", everywhere=False)
    (table,) = report.tables
    assert [row[0] for row in table.rows] == [EU]
    assert report.document["healthy"]


@pytest.mark.parametrize("status", ["ROLLBACK_COMPLETE", "UPDATE_ROLLBACK_FAILED", "UPDATE_IN_PROGRESS"])
def test_a_stack_that_is_not_at_rest_is_a_problem(status: str) -> None:
    assert problems([found(EU, status), found(US)]) == [f"The stack in {EU} is in {status}."]


def test_no_installation_and_one_of_another_name_are_problems() -> None:
    assert problems([Found(EU, None)]) == ["strongref is not installed in any of these regions."]
    elsewhere = Found(US, None, "platform")
    named = f"In {US}, strongref is installed as stack platform: give --stack platform."
    assert problems([found(EU), elsewhere]) == problems([elsewhere]) == [named]
    assert differences([found(EU), elsewhere]) == []


def test_the_status_as_a_table() -> None:
    regions = [found(EU, ReadLag="2"), found(US, ReadLag="0", Macro="false", EventBus="ops"), Found(AP, None)]
    failed = [RegionOutcome("x-1", RegionResult.FAILED, details=("DescribeStacks failed.",))]
    (table,) = status_report(regions, failed, "0.2.0", everywhere=True).tables
    assert as_text(table) == (
        "REGION      STACK            VERSION  PROTECTED  MACRO  EVENT BUS\n"
        "eu-west-1   CREATE_COMPLETE  0.2.0    yes        yes    none\n"
        "us-east-1   CREATE_COMPLETE  0.2.0    no         no     ops\n"
        "ap-south-1  not installed\n"
        "x-1 could not be read. DescribeStacks failed.\n"
        "strongref is not installed in ap-south-1.\n"
        "EventBus differs: (none) in eu-west-1; ops in us-east-1.\n"
        "Macro differs: true in eu-west-1; false in us-east-1.\n"
        "ReadLag differs: 2 in eu-west-1; 0 in us-east-1.\n"
    )


def test_the_status_for_programs() -> None:
    document = status_report([found(EU), Found(AP, None)], [], "0.2.0", everywhere=True).document
    validate("status", json.loads(document_text(document, AS_OF)))
    assert document == {
        "strongref": "0.2.0",
        "healthy": False,
        "regions": [
            {
                "region": EU,
                "installed": True,
                "stack": "arn",
                "status": "CREATE_COMPLETE",
                "version": "0.2.0",
                "protected": True,
                "parameters": {"Macro": "true"},
                "otherStack": None,
            },
            {
                "region": AP,
                "installed": False,
                "stack": None,
                "status": None,
                "version": None,
                "protected": None,
                "parameters": {},
                "otherStack": None,
            },
        ],
        "problems": [],
        "differences": [{"what": "installed", "values": {EU: "installed", AP: "not installed"}}],
        "trusted": [],
    }


OUTCOMES = [
    RegionOutcome(EU, RegionResult.UPDATED, "0.1.0", ("version 0.1.0 → 0.2.0", "ReadLag 2 → 0")),
    RegionOutcome(US, RegionResult.FAILED, None, ("a | b",)),
]


def test_outcomes_have_a_line_for_each_detail() -> None:
    report = outcome_report(OUTCOMES, "0.2.0", ["A note."], dry_run=False)
    (table,) = report.tables
    assert as_text(table) == (
        "REGION     RESULT   DETAILS\n"
        "eu-west-1  updated  version 0.1.0 → 0.2.0\n"
        "                    ReadLag 2 → 0\n"
        "us-east-1  failed   a | b\n"
        "A note.\n"
    )
    for name in ("install", "uninstall"):
        validate(name, json.loads(document_text(report.document, AS_OF)))
    assert report.document == {
        "strongref": "0.2.0",
        "dryRun": False,
        "regions": [
            {
                "region": EU,
                "result": "updated",
                "before": "0.1.0",
                "details": ["version 0.1.0 → 0.2.0", "ReadLag 2 → 0"],
            },
            {"region": US, "result": "failed", "before": None, "details": ["a | b"]},
        ],
        "notes": ["A note."],
    }
