"""`strongref list` and `who`: what is printed, as tables and as documents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from strongref.errors import StoreError
from strongref_cli.overview.reading import OverviewReader
from strongref_cli.overview.states import STATES, ExportState, ImportState, Protection
from strongref_cli.overview.texts import age_text
from tests.cli.doctor.test_commands import deny
from tests.cli.overview.conftest import account  # noqa: F401 (a fixture)
from tests.support.commands import SECRET
from tests.support.schemas import validate

if TYPE_CHECKING:
    from strongref.contract.index import IndexEntry
    from tests.support.commands import Run
    from tests.support.overview import Account

EU, US = "eu-west-1", "us-east-1"


@pytest.fixture
def run(account: Account, command_line: Run) -> Run:  # noqa: F811
    account.export("network", EU, US, Values={"Alb": {"Arn": SECRET, "Sg": SECRET}, "VpcId": SECRET})
    account.export("certificate", US, US, Consumer="site", Values={"Arn": SECRET})
    account.claim("site", US, "certificate", US, "Arn", Consumer="site")
    account.claim("site", US, "network", EU, "VpcId", Shared="true")
    account.stack("idle", EU)
    account.claim("shop", US, "network", EU, "VpcId", "Alb", Shared="true")

    return command_line


def test_a_list_is_a_table_with_a_summary(run: Run) -> None:
    status, out, err = run("list", "--region", US)
    *rows, summary = [line.split("  ") for line in out.splitlines()]
    cells = [[cell.strip() for cell in row if cell] for row in rows]
    assert cells[0] == ["REGION", "PRODUCER", "KEY", "CONSUMER", "STATE", "AGE", "IMPORTED BY"]
    assert [[*row[:5], *row[6:]] for row in cells[1:]] == [
        [US, "network (eu-west-1)", "Alb.Arn", "all", "published", "shop"],
        [US, "network (eu-west-1)", "Alb.Sg", "all", "published", "shop"],
        [US, "network (eu-west-1)", "VpcId", "all", "published", "shop and site"],
        [US, "certificate", "Arn", "site", "published", "site"],
    ]
    assert summary[0].startswith("4 exports to us-east-1. As of 20")
    assert (status, err) == (0, "")


def test_whether_a_deleted_value_is_used_is_not_known(
    run: Run,
    account: Account,  # noqa: F811
) -> None:
    account.ssm(US).delete_parameter(Name=f"/strongref/exports/_shared/123456789012/{EU}/network/VpcId")
    assert json.loads(run("list", "--region", US, "--state", "unused", "--output", "json")[1])["exports"] == []
    assert "not imported" not in run("list", "--region", US)[1]


@pytest.mark.parametrize(
    ("options", "keys"),
    [
        (["--stack", "certificate"], ["Arn"]),
        (["--consumer", "all"], ["Alb.Arn", "Alb.Sg", "VpcId"]),
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
        (
            ["--consumer", "x"],
            ("Nothing in us-east-1 matches --consumer 'x'. Known names: all and site. Check the name and the region."),
        ),
        (["--importer", "shopp"], "Nothing in us-east-1 matches --importer 'shopp'. Did you mean shop?"),
    ],
)
def test_a_name_that_does_not_exist_is_an_error(run: Run, options: list[str], problem: str) -> None:
    assert run("list", "--region", US, *options) == (2, "", f"strongref: {problem}\n")


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
        (["--consumer", "all"], "3 exports to us-east-1 for all."),
        (["--consumer", "_shared"], "3 exports to us-east-1 for all."),
        (
            ["--stack", "network", "--consumer", "all", "--importer", "site", "--state", "imported"],
            "1 imported export of network to us-east-1 for all imported by site.",
        ),
    ],
)
def test_the_summary_says_what_was_asked_for(run: Run, options: list[str], summary: str) -> None:
    status, out, _ = run("list", "--region", US, *options)
    assert (status, out.splitlines()[-1].partition(" As of ")[0]) == (0, summary)


def test_the_summary_does_not_repeat_the_state_that_was_asked_for(
    run: Run,
    account: Account,  # noqa: F811
) -> None:
    account.export("spare", US, US, Values={"A": SECRET})
    account.ssm(US).delete_parameter(Name=f"/strongref/exports/_shared/123456789012/{EU}/network/VpcId")
    assert "5 exports to us-east-1, 1 unused, 1 missing." in run("list", "--region", US)[1]
    assert "1 missing export to us-east-1. As" in run("list", "--region", US, "--state", "missing")[1]
    assert "1 unused export to us-east-1. As" in run("list", "--region", US, "--state", "unused")[1]


def test_every_state_has_a_text(run: Run) -> None:
    for state in STATES:
        assert " to us-east-1" in run("list", "--region", US, "--state", state)[1]


def test_an_import_without_a_hold_has_a_state_and_a_hold(run: Run, account: Account) -> None:  # noqa: F811
    account.stack("held", EU, exported="held-Exports")
    account.export("held", EU, US, Values={"A": SECRET}, Hold="held-Exports")
    account.claim("late", US, "held", EU, "A", Shared="true")
    for hold in account.ssm(EU).get_parameters_by_path(Path="/strongref/holds", Recursive=True)["Parameters"]:
        account.ssm(EU).delete_parameter(Name=hold["Name"])
    _, out, _ = run("who", "late", "--region", US)
    assert "A held (eu-west-1) current unheld" in " ".join(out.split())


def test_who_shows_both_directions(run: Run) -> None:
    status, out, _ = run("who", "site", "--region", US)
    assert status == 0
    assert [" ".join(line.split()) for line in out.splitlines()[:-1]] == [
        "site (us-east-1, 123456789012) imports",
        "KEY FROM STATE HOLD",
        "VpcId network (eu-west-1) current unprotected",
        "Arn certificate current unprotected",
        "",
    ]
    status, out, _ = run("who", "network", "VpcId", "--region", EU)
    assert "VpcId us-east-1 all published shop and site" in " ".join(out.split())
    assert "imports" not in out
    _, out, _ = run("who", "idle", "--region", EU)
    assert out.startswith("idle (eu-west-1, 123456789012) exports and imports nothing\n")


def test_a_key_may_be_written_with_dots_or_slashes(run: Run) -> None:
    for key in ("Alb.Arn", "Alb/Arn"):
        _, out, _ = run("who", "network", key, "--region", EU, "--output", "json")
        assert [each["key"] for each in json.loads(out)["stacks"][0]["exports"]] == ["Alb.Arn"]


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
        (["list", "--region", US], "strongref_cli.overview.list_command.age_text"),
        (["who", "network", "--region", EU], "strongref_cli.overview.who_command.importers_text"),
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


@pytest.mark.parametrize(
    ("command", "document"),
    [
        (["list", "--region", US, "--region", EU], "list"),
        (["who", "network", "--region", EU], "who"),
        (["graph", "--region", US], "graph"),
        (["order", "--region", US], "order"),
    ],
    ids=lambda it: it[0] if isinstance(it, list) else it,
)
def test_a_region_that_cannot_be_read_is_named(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
    document: str,
) -> None:
    unreadable = US if document == "who" else EU
    read = OverviewReader._index

    def index(self: OverviewReader, region: str) -> dict[str, IndexEntry]:
        if region == unreadable:
            raise StoreError("GetParametersByPath", "AccessDeniedException", "/strongref/index", region)
        return read(self, region)

    monkeypatch.setattr(OverviewReader, "_index", index)
    status, out, err = run(*command, "--output", "json")
    shown: dict[str, Any] = json.loads(out)
    validate(document, shown)
    (unread,) = shown["unread"]
    assert (status, unread["region"]) == (3, unreadable)
    assert err == f"strongref: {unreadable} was not read: {unread['error']}\n"
    assert "AccessDeniedException" in err
    _, out, _ = run(*command)
    assert ("network" in out, "VpcId" in out) == (True, document not in ("who", "order"))


@pytest.mark.parametrize(
    ("command", "nothing"),
    [
        (["who", "network", "VpcId"], "network neither exports nor imports 'VpcId'."),
        (["who", "web", "--region", US], "No stack or manifest set 'web' in eu-west-1."),
        (["republish", "network", "--key", "VpcId"], "network neither exports nor imports 'VpcId'."),
        (
            ["release", "network", "VpcId", "--consumer", "shop", "--reason", "x", "--yes"],
            "network neither exports nor imports 'VpcId'.",
        ),
        (["list", "--region", US, "--stack", "network"], "Nothing in eu-west-1 matches --stack 'network'."),
    ],
)
def test_a_name_may_be_in_a_region_that_cannot_be_read(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: list[str], nothing: str
) -> None:
    deny(monkeypatch, "DescribeParameters")
    status, out, err = run(*command, "--region", EU)
    assert (status, out) == (3, "")
    unread, problem = err.splitlines()
    assert unread.startswith("strongref: us-east-1 was not read: DescribeParameters")
    assert problem.startswith(f"strongref: {nothing}")
    assert problem.endswith(" It may be in us-east-1, which could not be read.")


def test_nobody_but_shop_can_be_named_where_a_region_cannot_be_read(
    run: Run,
    account: Account,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    account.export("both", EU, EU, Values={"A": SECRET})
    account.export("both", US, US, Values={"A": SECRET})
    account.claim("shop", EU, "both", EU, "A", Shared="true")
    deny(monkeypatch, "DescribeParameters")
    named = ("release", "both", "A", "--region", EU, "--region", US, "--reason", "x", "--dry-run", "--consumer")
    status, out, err = run(*named, "site")
    assert (status, out) == (3, "")
    assert err.endswith(
        "site does not import A of both. It is imported by shop. It may be in us-east-1, which could not be read.\n"
    )
    assert run(*named, "shop")[0] == 3


@pytest.mark.parametrize(
    ("command", "nothing"),
    [
        (["who", "network"], "network (eu-west-1, 123456789012) exports and imports nothing"),
        (["order"], "Nothing is exported or imported"),
        (["republish", "network"], "Nothing that network exports was missing"),
    ],
)
def test_nothing_is_said_of_what_was_read(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: list[str], nothing: str
) -> None:
    deny(monkeypatch, "DescribeParameters")
    status, out, _ = run(*command, "--region", EU)
    assert (status, out.splitlines()[0].removesuffix(".")) == (3, f"{nothing} in the regions that were read")


def test_if_no_region_can_be_read_the_error_is_reported_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def index(_: OverviewReader, region: str) -> dict[str, IndexEntry]:
        raise StoreError("GetParametersByPath", "AccessDeniedException", "/strongref/index", region)

    monkeypatch.setattr(OverviewReader, "_index", index)
    status, out, err = run("list", "--region", US, "--region", EU)
    assert (status, out, err.count("\n"), err.count(US)) == (3, "", 1, 1)


def test_state_offers_what_an_export_or_import_may_be() -> None:
    known = {each.value for kind in (ExportState, ImportState, Protection) for each in kind} | {"imported", "unused"}
    left_out = {"current", "unknown", "held"}  # what is as it should be
    assert set(STATES) == known - left_out


def test_an_age_is_in_its_largest_unit() -> None:
    assert list(map(age_text, (0, 59, 60, 3599, 3600, 86_399, 86_400, 864_000))) == [
        "0s", "59s", "1m", "59m", "1h", "23h", "1d", "10d",
    ]  # fmt: skip
