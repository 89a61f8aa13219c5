"""What is read of a region, and in how many calls."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from strongref.aws.clients import Clients
from strongref.contract.names import ExportScope, Producer
from strongref.contract.record import Record
from strongref.protocol.published import RecordedExports
from strongref_overview.exports import ExportState, ImportState, Protection, participant_of
from strongref_overview.reading import OverviewReader
from strongref_overview.who import find_uses
from strongref_toolkit.aws import Accounts
from strongref_toolkit.errors import FetchFailedError, UnknownCallerError, UsageError
from strongref_toolkit.session import ToolSession
from tests.support.documents import rows

if TYPE_CHECKING:
    from tests.support.overview import Account

EU, US, AP = "eu-west-1", "us-east-1", "ap-southeast-2"
SECRET = "a-value-not-to-be-shown"


def reader() -> OverviewReader:
    return OverviewReader(ToolSession.start().aws(US, None))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, str]]:
    """The calls of tools, by region and action."""
    counted: Counter[tuple[str, str]] = Counter()
    make = Clients._make

    def counting(clients: Clients, service: str, region: str) -> object:
        client = make(clients, service, region)
        client.meta.events.register(  # type: ignore[attr-defined]
            "before-call.*.*", lambda model, **_: counted.update([(region, model.name)])
        )
        return client

    monkeypatch.setattr(Clients, "_make", counting)
    return counted


def test_every_export_is_seen_with_its_importers(account: Account) -> None:
    account.export("network", EU, US, Consumer="web", Values={"A": SECRET, "B": SECRET}, SecureKeys=["B"])
    account.claim("web", US, "network", EU, "A")
    account.ssm(US).delete_parameter(Name=f"/strongref/exports/web/123456789012/{EU}/network/B")
    found = reader()
    a, b = found.values(found.regions([US]))
    assert (a.key, a.state, a.changed is not None) == ("A", ExportState.PUBLISHED, True)
    assert [(participant_of(each.importer).name, each.state) for each in a.claims] == [("web", ImportState.CURRENT)]
    assert (b.key, b.state, b.changed, b.claims) == ("B", ExportState.MISSING, None, ())
    assert SECRET not in repr((a, b))


def test_an_importer_without_its_stack_is_gone(account: Account) -> None:
    account.export("network", EU, US, Consumer="web", Values={"A": SECRET})
    account.claim("web", US, "network", EU, "A")
    account.delete_stack("web", US)
    found = reader()
    (a,) = found.values(found.regions([US]))
    assert [each.state for each in a.claims] == [ImportState.GONE]


def test_150_values_take_at_most_20_calls(account: Account, calls: Counter[tuple[str, str]]) -> None:
    values = {f"K{number:03}": "x" for number in range(150)}
    account.export("network", EU, US, Values=values)
    for name in ("web", "shop", "api"):
        account.claim(name, US, "network", EU, *values, Shared="true")
    calls.clear()
    found = reader()
    exported = found.values(found.regions([US]))
    assert [len(each.claims) for each in exported] == [3] * 150
    assert sum(number for (region, _), number in calls.items() if region == US) <= 20
    assert calls[US, "ListTagsForResource"] == 0


def test_what_lists_do_not_show_yet_is_looked_at(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    account.export("network", EU, US, Values={"A": SECRET, "B": SECRET, "C": SECRET})
    account.claim("web", US, "network", EU, "A", "B", Shared="true")
    path = f"/strongref/exports/_shared/123456789012/{EU}/network"
    dates, tags = OverviewReader._dates, OverviewReader._tags
    monkeypatch.setattr(OverviewReader, "_dates", lambda reader, region: listed(dates(reader, region), f"{path}/A"))
    monkeypatch.setattr(OverviewReader, "_tags", lambda reader, region: listed(tags(reader, region), f"{path}/B"))
    account.ssm(US).put_parameter(Name=f"{path}/Mine", Value="x", Type="String")
    found = reader()
    assert [(each.key, each.state, len(each.claims)) for each in found.values(found.regions([US]))] == [
        ("A", ExportState.PUBLISHED, 1),
        ("B", ExportState.PUBLISHED, 1),
        ("C", ExportState.PUBLISHED, 0),
        ("Mine", ExportState.FOREIGN, 0),
    ]
    for name in ("B", "C"):
        account.ssm(US).delete_parameter(Name=f"{path}/{name}")
    monkeypatch.setattr(OverviewReader, "_dates", lambda *_: {f"{path}/B": datetime.now(UTC)})
    found = reader()
    assert [each.state for each in found.values(found.regions([US]))] == [
        ExportState.PUBLISHED,
        ExportState.MISSING,
        ExportState.MISSING,
    ]


def test_holds_are_looked_for_in_the_own_account_only(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = ExportScope("web", Producer("222222222222", AP, "network"))
    record = RecordedExports({"Exports": Record("arn", {}, hold="network-Exports")}, torn=False)
    monkeypatch.setattr(OverviewReader, "_records", lambda *_: {theirs: record})
    asked: list[str] = []

    def holds(_: object, region: str) -> dict[str, frozenset[str]]:
        asked.append(region)
        return {}

    monkeypatch.setattr(OverviewReader, "_holds", holds)
    account.stack("web", US)
    found = reader()
    found.values(found.regions([US]))
    assert AP not in asked


def listed(found: dict[str, Any], lacking: str) -> dict[str, Any]:
    """What a list shows that is late about one parameter."""
    return {name: each for name, each in found.items() if name != lacking}


def test_it_calls_what_the_page_says_and_no_more(account: Account, calls: Counter[tuple[str, str]]) -> None:
    (documented,) = [calls for commands, calls in rows("docs/cli.md", "Permissions") if "`list`" in commands]
    account.stack("web", US)
    account.export("network", EU, US, Values={"A": SECRET, "B": SECRET}, Hold="network-Exports")
    account.claim("web", US, "network", EU, "A", Shared="true", Strength="weak")
    path = f"/strongref/exports/_shared/123456789012/{EU}/network"
    account.tag_claim(US, f"{path}/A", "web")
    account.ssm(US).put_parameter(Name=f"{path}/Mine", Value="x", Type="String")  # no tags, as of a new value
    account.ssm(US).delete_parameter(Name=f"{path}/B")
    calls.clear()
    found = reader()
    found.values(found.reachable([US]))
    made = {action for _, action in calls} - {"GetCallerIdentity"}  # which everyone may call
    assert made == {each.partition(":")[2] for each in re.findall("`([^`]+)`", documented)}


def test_a_region_is_read_once(account: Account, calls: Counter[tuple[str, str]]) -> None:
    account.export("network", EU, US, Values={"A": SECRET})
    calls.clear()
    found = reader()
    for _ in range(2):
        found.values(found.regions([US]))
    assert calls[US, "GetResources"] == 1


def test_who_follows_a_stack_into_every_region(account: Account) -> None:
    account.export("network", EU, [US, AP], Values={"A": SECRET})
    account.claim("shop", AP, "network", EU, "A", Shared="true")
    for start in (EU, US):  # its own region, which has the index, and one of those that it exports to
        (uses,) = find_uses(reader(), [start], "network")
        assert [(value.region, len(value.claims)) for value in uses.exports] == [(AP, 1), (US, 0)]
        assert uses.imports == ()
    (shop,) = find_uses(reader(), [AP], "shop")
    assert [(value.key, claim.protection) for value, claim in shop.imports] == [("A", Protection.NONE)]


def test_a_stack_that_does_not_exist_is_an_error(account: Account) -> None:
    account.export("network", EU, US, Values={"Alb": {"Arn": SECRET}, "A": SECRET})
    with pytest.raises(UsageError, match=r"'netwrok' in eu-west-1\. Did you mean network\?"):
        find_uses(reader(), [EU], "netwrok")
    with pytest.raises(UsageError, match=r"exports nor imports 'Alp\.Arn'\. Did you mean Alb\.Arn\?"):
        find_uses(reader(), [EU], "network", "Alp.Arn")
    (uses,) = find_uses(reader(), [EU], "network", "Alb")
    assert [value.key for value in uses.exports] == ["Alb/Arn"]


def test_stacks_of_one_name_need_not_have_the_same_keys(account: Account) -> None:
    account.export("network", EU, US, Values={"A": SECRET})
    account.export("network", US, US, Values={"B": SECRET})
    for key, home in (("A", EU), ("B", US)):
        (uses,) = find_uses(reader(), [US], "network", key)
        assert (uses.participant.region, [value.key for value in uses.exports]) == (home, [key])
    with pytest.raises(UsageError, match=r"network neither exports nor imports 'C'\. There are A and B\."):
        find_uses(reader(), [US], "network", "C")


def test_a_stack_that_exports_and_imports_nothing_is_none(account: Account) -> None:
    account.stack("idle", EU)
    (uses,) = find_uses(reader(), [EU], "idle")
    assert (uses.exports, uses.imports) == ((), ())


def test_without_a_caller_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    began = Event()

    def unknown(_: object) -> str:
        began.wait(0.2)  # would be long enough for calls that do not wait for the caller
        raise UnknownCallerError("NoCredentialsError")

    monkeypatch.setattr(Accounts, "own", property(unknown))
    monkeypatch.setattr(OverviewReader, "_dates", lambda *_: began.set())
    with pytest.raises(UnknownCallerError):
        reader().regions([US, EU])
    assert not began.is_set()


def test_a_call_that_fails_names_itself(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    account.export("network", EU, US, Values={"A": SECRET})
    aws = ToolSession.start().aws(US, None)
    real = type(aws).call

    def denied(self: object, where: object, action: str, target: str, *rest: object, **request: object) -> object:
        if action == "GetResources":
            raise FetchFailedError(action, target, US, "AccessDeniedException")
        return real(self, where, action, target, *rest, **request)  # type: ignore[arg-type]

    monkeypatch.setattr(type(aws), "call", denied)
    with pytest.raises(FetchFailedError, match="GetResources of /strongref/exports in us-east-1 failed: AccessDenied"):
        OverviewReader(aws).regions([US])
