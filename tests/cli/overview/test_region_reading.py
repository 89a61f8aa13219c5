"""What commands print where a region cannot be read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from strongref.errors import StoreError
from strongref_cli.overview.reading import OverviewReader
from tests.support.commands import SECRET
from tests.support.empty_aws import deny
from tests.support.schemas import messages, validate

if TYPE_CHECKING:
    from strongref.contract.index import IndexEntry
    from tests.support.commands import Run
    from tests.support.overview import Account

EU, US = "eu-west-1", "us-east-1"


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
    run: Run, monkeypatch: pytest.MonkeyPatch, command: list[str], document: str
) -> None:
    unreadable = US if document == "who" else EU
    read = OverviewReader._index

    def index(self: OverviewReader, region: str) -> dict[tuple[str, str], IndexEntry]:
        if region == unreadable:
            raise StoreError("GetParametersByPath", "AccessDeniedException", "/strongref/index", region)
        return read(self, region)

    monkeypatch.setattr(OverviewReader, "_index", index)
    status, out, err = run(*command, "--output", "json")
    shown: dict[str, Any] = json.loads(out)
    validate(document, shown)
    (unread,) = shown["unread"]
    assert (status, unread["region"]) == (3, unreadable)
    assert messages(err) == [f"{unreadable} was not read: {unread['error']}"]
    assert "AccessDeniedException" in err
    _, out, _ = run(*command)
    assert ("network" in out, "VpcId" in out) == (True, document not in ("who", "order"))


@pytest.mark.parametrize(
    ("command", "nothing"),
    [
        (["who", "network", "VpcId"], "network neither exports nor imports 'VpcId'."),
        (["who", "web", "--region", US], "No stack or manifest set 'web' in eu-west-1."),
        (["republish", "network", "--yes", "--key", "VpcId"], "network neither exports nor imports 'VpcId'."),
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
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
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
        (["republish", "network", "--yes"], "Nothing that network exports was missing"),
    ],
)
def test_nothing_is_said_of_what_was_read(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: list[str], nothing: str
) -> None:
    deny(monkeypatch, "DescribeParameters")
    status, out, _ = run(*command, "--region", EU)
    assert (status, out.splitlines()[0].removesuffix(".")) == (3, f"{nothing} in the regions that were read")


def test_if_no_region_can_be_read_the_error_is_reported_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def index(_: OverviewReader, region: str) -> dict[tuple[str, str], IndexEntry]:
        raise StoreError("GetParametersByPath", "AccessDeniedException", "/strongref/index", region)

    monkeypatch.setattr(OverviewReader, "_index", index)
    status, out, err = run("list", "--region", US, "--region", EU)
    assert (status, out, err.count("\n"), err.count(US)) == (3, "", 1, 1)
