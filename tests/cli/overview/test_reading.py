"""What is read of a region, and in how many calls."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.index import INDEX
from strongref.contract.names import ExportScope, Producer
from strongref_cli.overview.exports import participant_of
from strongref_cli.overview.reading import RECORDS, OverviewReader
from strongref_cli.overview.region_reading import find_uses
from strongref_cli.overview.states import ExportState, ImportState, Protection
from strongref_toolkit.aws import Accounts, Aws
from strongref_toolkit.errors import AwsCallError, UnknownCallerError, UsageError
from strongref_toolkit.session import ToolSession
from tests.support.documents import rows
from tests.support.empty_aws import intercept

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref_toolkit.aws import Where
    from tests.support.overview import Account

EU, US, AP = "eu-west-1", "us-east-1", "ap-southeast-2"
SECRET = "a-value-not-to-be-shown"


def reader() -> OverviewReader:
    return OverviewReader(ToolSession.start().aws(US, None))


def nowhere() -> list[str]:
    raise AssertionError("the index knows every Export")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, str]]:
    """The calls of tools, by region and action."""
    counted: Counter[tuple[str, str]] = Counter()
    intercept(monkeypatch, lambda client, action, _: counted.update([(client.meta.region_name, action)]))
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


def test_a_claim_without_its_stack_is_stale(account: Account) -> None:
    account.export("network", EU, US, Consumer="web", Values={"A": SECRET})
    account.claim("web", US, "network", EU, "A")
    account.delete_stack("web", US)
    found = reader()
    (a,) = found.values(found.regions([US]))
    assert [each.state for each in a.claims] == [ImportState.STALE]


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


def test_homes_are_looked_for_in_the_own_account_only(account: Account, calls: Counter[tuple[str, str]]) -> None:
    account.export("network", EU, US, Values={"A": SECRET})
    theirs = ExportScope("web", Producer("222222222222", AP, "network"))
    head = {"stack": f"arn:aws:cloudformation:{AP}:222222222222:stack/network/1", "values": {"A": "x"}}
    account.ssm(US).put_parameter(Name=f"{theirs.path('records')}/Exports", Value=json.dumps(head), Type="String")
    found = reader()
    assert len(found.values(found.regions([US]))) == 2
    assert {region for region, action in calls if action == "DescribeStacks"} == {EU, US}


def test_a_producer_that_was_deleted_is_seen(account: Account) -> None:
    account.export("network", EU, US, Values={"A": SECRET})
    account.delete_stack("network", EU)
    found = reader()
    assert [each.state for each in found.values(found.regions([US]))] == [ExportState.ORPHANED]


def test_an_import_is_outdated_until_it_reads_the_change(account: Account) -> None:
    account.export("network", EU, US, Consumer="web", Values={"A": SECRET, "B": SECRET}, OnChange="propagate")
    account.claim("web", US, "network", EU, "A", "B")
    path = f"/strongref/exports/web/123456789012/{EU}/network"
    account.made("web", US, datetime.now(UTC))

    def states() -> list[ImportState]:
        found = reader()
        return [claim.state for value in found.values(found.regions([US])) for claim in value.claims]

    account.ssm(US).put_parameter(Name=f"{path}/B", Value="by hand", Overwrite=True)
    assert states() == [ImportState.CURRENT, ImportState.CURRENT]
    account.export("network", EU, US, Consumer="web", Values={"A": "new", "B": SECRET}, OnChange="propagate")
    assert states()[0] is ImportState.OUTDATED
    account.made("web", US, datetime.now(UTC) + timedelta(seconds=1))
    assert states() == [ImportState.CURRENT, ImportState.CURRENT]


def test_a_record_that_is_being_written_is_read_again(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    account.export("network", EU, US, Values={f"K{number:03}": "x" * 100 for number in range(60)})
    under, first = OverviewReader._under, [RECORDS]

    def torn(self: OverviewReader, region: str, path: str) -> dict[str, Any]:
        found = under(self, region, path)
        if path in first:
            first.remove(path)
            found = {name: each for name, each in found.items() if "." not in name}
        return found

    monkeypatch.setattr(OverviewReader, "_under", torn)
    found = reader()
    assert {each.state for each in found.values(found.regions([US]))} == {ExportState.PUBLISHED}
    assert first == []
    monkeypatch.setattr(OverviewReader, "_under", under)
    tails = [name for name in account.everything(US) if name.startswith(RECORDS) and "." in name]
    account.ssm(US).delete_parameters(Names=tails)
    found = reader()
    assert {each.state for each in found.values(found.regions([US]))} == {ExportState.UNREADABLE}


def listed(found: dict[str, Any], lacking: str) -> dict[str, Any]:
    """What a list shows that is late about one parameter."""
    return {name: each for name, each in found.items() if name != lacking}


def test_it_calls_what_the_page_says_and_no_more(account: Account, calls: Counter[tuple[str, str]]) -> None:
    (documented,) = [calls for commands, calls in rows("docs/cli/index.md", "Permissions") if "`list`" in commands]
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
        (uses,) = find_uses(reader(), [start], nowhere, "network")
        assert [(value.region, len(value.claims)) for value in uses.exports] == [(AP, 1), (US, 0)]
        assert uses.imports == ()
    (shop,) = find_uses(reader(), [AP], nowhere, "shop")
    assert [(value.key, claim.protection) for value, claim in shop.imports] == [("A", Protection.UNPROTECTED)]


def test_a_stack_that_does_not_exist_is_an_error(account: Account) -> None:
    account.export("network", EU, US, Values={"Alb": {"Arn": SECRET}, "A": SECRET})
    with pytest.raises(UsageError, match=r"'netwrok' in eu-west-1\. Did you mean network\?"):
        find_uses(reader(), [EU], nowhere, "netwrok")
    with pytest.raises(UsageError, match=r"exports nor imports 'Alp\.Arn'\. Did you mean Alb\.Arn\?"):
        find_uses(reader(), [EU], nowhere, "network", "Alp.Arn")
    (uses,) = find_uses(reader(), [EU], nowhere, "network", "Alb")
    assert [value.key for value in uses.exports] == ["Alb/Arn"]


def test_stacks_of_one_name_need_not_have_the_same_keys(account: Account) -> None:
    account.export("network", EU, US, Values={"A": SECRET})
    account.export("network", US, US, Values={"B": SECRET})
    for key, home in (("A", EU), ("B", US)):
        (uses,) = find_uses(reader(), [US], nowhere, "network", key)
        assert (uses.participant.region, [value.key for value in uses.exports]) == (home, [key])
    with pytest.raises(UsageError, match=r"network neither exports nor imports 'C'\. Known names: A and B\."):
        find_uses(reader(), [US], nowhere, "network", "C")


def test_a_stack_that_exports_and_imports_nothing_is_none(account: Account) -> None:
    account.stack("idle", EU)
    (uses,) = find_uses(reader(), [EU], nowhere, "idle")
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


@pytest.fixture
def deny(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Have a region deny an action of the tools."""
    real, denied = Aws.call, set[tuple[str, str]]()

    def call(self: Aws, where: Where, action: str, target: str, *rest: Any, **request: Any) -> Any:
        if (where.region, action) in denied:
            raise AwsCallError(action, target, where.region, "AccessDeniedException")
        return real(self, where, action, target, *rest, **request)

    monkeypatch.setattr(Aws, "call", call)
    return lambda region, action: denied.add((region, action))


def test_a_call_that_fails_names_itself(account: Account, deny: Callable[[str, str], None]) -> None:
    account.export("network", EU, US, Values={"A": SECRET})
    deny(US, "GetResources")
    found = reader()
    with pytest.raises(AwsCallError, match="GetResources of /strongref/exports in us-east-1 failed: AccessDenied"):
        found.regions([US])
    assert found.unread == ()  # The error says it.


def test_a_region_that_cannot_be_read_is_named_and_the_others_are_read(
    account: Account, deny: Callable[[str, str], None]
) -> None:
    account.export("network", EU, [US, AP], Values={"A": SECRET})
    deny(AP, "GetResources")
    for start in ([AP, US], [US]):
        found = reader()
        values = found.values(found.reachable(start, "network"))
        assert [(each.region, each.state) for each in values] == [(US, ExportState.PUBLISHED)]
        (unread,) = found.unread
        assert (unread.region, "AccessDeniedException" in unread.error) == (AP, True)


def test_a_producers_region_that_cannot_be_read_leaves_holds_unknown(
    account: Account, deny: Callable[[str, str], None]
) -> None:
    account.stack("network", EU, exported="network-Exports")
    account.export("network", EU, US, Values={"A": SECRET}, Hold="network-Exports")
    account.claim("web", US, "network", EU, "A", Shared="true")
    deny(EU, "DescribeStacks")
    found = reader()
    (value,) = found.values(found.regions([US]))
    assert (value.state, value.claims[0].protection) == (ExportState.PUBLISHED, Protection.UNKNOWN)
    assert [each.region for each in found.unread] == [EU]


def test_without_its_index_entry_a_stack_is_looked_for_everywhere(account: Account) -> None:
    account.export("network", EU, [US, AP], Values={"A": SECRET})
    account.made("network", EU, datetime.now(UTC))
    entries = [name for name in account.everything(EU) if name.startswith(INDEX)]
    (uses,) = find_uses(reader(), [EU], nowhere, "network")
    assert [value.region for value in uses.exports] == [AP, US]
    account.ssm(EU).delete_parameters(Names=entries)
    (uses,) = find_uses(reader(), [EU], lambda: [AP, EU, US], "network")
    assert [value.region for value in uses.exports] == [AP, US]
