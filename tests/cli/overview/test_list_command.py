"""`strongref list`: what is printed, as a table and as a document, and which exports options select. `who` is alike."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.names import CLAIM_TAG
from strongref_cli.overview.states import STATES, ExportState, ImportState, Protection
from strongref_cli.overview.texts import age_text
from tests.support.commands import SECRET
from tests.support.schemas import validate

if TYPE_CHECKING:
    from tests.support.commands import Run
    from tests.support.overview import Account

EU, US = "eu-west-1", "us-east-1"


def test_a_list_is_a_table_with_a_summary(run: Run) -> None:
    status, out, err = run("list", "--region", US)
    *rows, summary = [line.split("  ") for line in out.splitlines()]
    cells = [[cell.strip() for cell in row if cell] for row in rows]
    assert cells[0] == ["REGION", "PRODUCER", "KEY", "CONSUMER", "STATE", "AGE", "IMPORTED BY"]
    assert [[*row[:5], *row[6:]] for row in cells[1:]] == [
        [US, "network (eu-west-1)", "Alb.Arn", "_shared", "published", "shop"],
        [US, "network (eu-west-1)", "Alb.Sg", "_shared", "published", "shop"],
        [US, "network (eu-west-1)", "VpcId", "_shared", "published", "shop and site"],
        [US, "certificate", "Arn", "site", "published", "site"],
    ]
    assert summary[0].startswith("4 exports to us-east-1. As of 20")
    assert (status, err) == (0, "")


def test_whether_a_deleted_value_is_used_is_not_known(run: Run, account: Account) -> None:
    account.ssm(US).delete_parameter(Name=f"/strongref/exports/_shared/123456789012/{EU}/network/VpcId")
    assert json.loads(run("list", "--region", US, "--state", "unused", "--output", "json")[1])["exports"] == []
    assert "not imported" not in run("list", "--region", US)[1]


@pytest.mark.parametrize(
    ("options", "keys"),
    [
        (["--stack", "certificate"], ["Arn"]),
        (["--consumer", "_shared"], ["Alb.Arn", "Alb.Sg", "VpcId"]),
        (["--consumer", "site"], ["Arn"]),
        (["--importer", "site"], ["VpcId", "Arn"]),
        (["--state", "unused"], []),
        (["--state", "imported", "--stack", "network"], ["Alb.Arn", "Alb.Sg", "VpcId"]),
    ],
)
def test_filters(run: Run, options: list[str], keys: list[str]) -> None:
    status, out, _ = run("list", "--region", US, "--output", "json", *options)
    assert ([each["key"] for each in json.loads(out)["exports"]], status) == (keys, 0)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--stack", "netwrok"], "Nothing in us-east-1 matches --stack 'netwrok'. Did you mean network?"),
        (["--consumer", "x"], "Nothing in us-east-1 matches --consumer 'x'. Known names: _shared and site. Check"),
        (["--importer", "shopp"], "Nothing in us-east-1 matches --importer 'shopp'. Did you mean shop?"),
    ],
)
def test_a_name_that_does_not_exist_is_an_error(run: Run, options: list[str], problem: str) -> None:
    status, out, err = run("list", "--region", US, *options)
    assert (status, out, err.startswith(f"strongref: {problem}")) == (2, "", True)


def test_a_region_without_exports_is_an_empty_list(run: Run) -> None:
    status, out, _ = run("list", "--region", "ap-south-1")
    assert (status, out.startswith("No exports to ap-south-1. A value is listed in the region of its consumers")) == (
        0,
        True,
    )


@pytest.mark.parametrize(
    ("options", "summary"),
    [
        (["--state", "unused"], "No unused exports to us-east-1."),
        (["--state", "outdated"], "No exports to us-east-1 with outdated imports."),
        (["--state", "stale"], "No exports to us-east-1 with stale claims."),
        (["--state", "unheld"], "No exports to us-east-1 with unheld imports."),
        (["--stack", "network", "--state", "missing"], "No missing exports of network to us-east-1."),
        (["--consumer", "_shared"], "3 exports to us-east-1 for _shared."),
        (
            ["--stack", "network", "--consumer", "_shared", "--importer", "site", "--state", "imported"],
            "1 imported export of network to us-east-1 for _shared imported by site.",
        ),
    ],
)
def test_the_summary_says_what_was_asked_for(run: Run, options: list[str], summary: str) -> None:
    status, out, _ = run("list", "--region", US, *options)
    assert (status, out.splitlines()[-1].partition(" As of ")[0]) == (0, summary)


def test_the_summary_does_not_repeat_the_state_that_was_asked_for(run: Run, account: Account) -> None:
    account.export("spare", US, US, Values={"A": SECRET})
    account.ssm(US).delete_parameter(Name=f"/strongref/exports/_shared/123456789012/{EU}/network/VpcId")
    assert "5 exports to us-east-1, 1 unused, 1 missing." in run("list", "--region", US)[1]
    assert "1 missing export to us-east-1. As" in run("list", "--region", US, "--state", "missing")[1]
    assert "1 unused export to us-east-1. As" in run("list", "--region", US, "--state", "unused")[1]


def test_every_state_has_a_text(run: Run) -> None:
    for state in STATES:
        assert " to us-east-1" in run("list", "--region", US, "--state", state)[1]


@pytest.mark.parametrize(
    "command", [["list", "--region", US], ["who", "network", "--region", EU]], ids=lambda it: it[0]
)
def test_the_document_has_a_schema(run: Run, command: list[str]) -> None:
    _, out, _ = run(*command, "--output", "json")
    document: dict[str, Any] = json.loads(out)
    validate(command[0], document)


@pytest.mark.parametrize(
    ("command", "made"),
    [
        (["list", "--region", US], "strongref_cli.overview.commands.age_text"),
        (["who", "network", "--region", EU], "strongref_cli.overview.commands.importers_text"),
    ],
    ids=["list", "who"],
)
def test_a_document_is_printed_without_making_a_table(
    run: Run, command: list[str], made: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unwanted(*_: object) -> str:
        raise AssertionError

    monkeypatch.setattr(made, unwanted)
    assert run(*command, "--output", "json")[0] == 0
    with pytest.raises(AssertionError):
        run(*command)


def test_markdown_is_a_table(run: Run) -> None:
    _, out, _ = run("list", "--region", US, "--output", "markdown", "--stack", "certificate")
    assert out.splitlines()[1] == "| --- | --- | --- | --- | --- | --- | --- |"


def test_state_offers_what_an_export_or_import_may_be() -> None:
    known = {each.value for kind in (ExportState, ImportState, Protection) for each in kind} | {"imported", "unused"}
    left_out = {"current", "unknown", "held"}  # what is as it should be
    assert set(STATES) == known - left_out


def test_an_age_is_in_its_largest_unit() -> None:
    assert list(map(age_text, (0, 59, 60, 3599, 3600, 86_399, 86_400, 864_000))) == [
        "0s", "59s", "1m", "59m", "1h", "23h", "1d", "10d",
    ]  # fmt: skip


def test_many_importers_are_named_by_who_with_the_key(run: Run, account: Account) -> None:
    tags = [{"Key": f"{CLAIM_TAG}{at:016}", "Value": f"stack-{at}"} for at in range(35)]
    name = f"/strongref/exports/_shared/123456789012/{EU}/network/VpcId"
    account.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=name, Tags=tags)
    for asked in (["list", "--region", US], ["who", "network", "--region", EU, "--region", US]):
        _, shown, _ = run(*asked)
        assert ("and 32 more" in shown, "strongref who STACK KEY names every importer." in shown) == (True, True)
    _, shown, _ = run("who", "network", "VpcId", "--region", EU, "--region", US)
    assert all(f"stack-{at}" in shown for at in range(35))
    assert "names every importer" not in shown


def test_of_many_regions_those_that_are_exported_to_are_counted(run: Run) -> None:
    many = (US, EU, "us-east-2", "us-west-1", "us-west-2", "eu-west-2", "eu-west-3")
    _, shown, _ = run("list", *(option for each in many for option in ("--region", each)))
    assert "4 exports to 1 of 7 regions" in shown


def test_a_stack_may_be_called_all(run: Run, account: Account) -> None:
    account.export("certificate", US, US, Consumer="all", Values={"Arn": SECRET})
    _, out, _ = run("list", "--region", US, "--consumer", "all", "--output", "json")
    assert [(each["consumer"], each["producer"]["name"]) for each in json.loads(out)["exports"]] == [
        ("all", "certificate")
    ]


def test_debug_shows_calls_and_no_value(run: Run) -> None:
    status, _, err = run("list", "--region", US, "--debug")
    assert status == 0
    assert re.search(r"^strongref: GetParametersByPath in us-east-1: 200, request \S+, \d\.\d\d s$", err, re.MULTILINE)
