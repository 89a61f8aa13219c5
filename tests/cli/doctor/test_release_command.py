"""`strongref release`: what it asks, what it takes off and leaves, and whom it names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from strongref.aws.event_bus import EventBus
from strongref.aws.parameter_store import SsmStore
from strongref.contract.names import CLAIM_TAG, PRODUCER_TAG, ExportScope, Key, ManifestSet, Producer
from strongref.contract.notices import Notice, NoticeType
from strongref.contract.releases import MAX_REASON, Release
from strongref.errors import AccessDeniedError, StrongRefError
from strongref.protocol.hold_keeper import HoldKeeper
from strongref.protocol.lag import ReadLag
from strongref.refusals import HoldPendingError
from strongref_cli.doctor.releasing import ClaimedValue, claims_of
from strongref_cli.install import installed
from strongref_cli.overview.exports import Claim
from strongref_cli.overview.reading import OverviewReader
from strongref_cli.overview.states import ImportState, Protection
from strongref_toolkit.errors import AwsCallError, UsageError
from tests.support.commands import SECRET
from tests.support.doctor import EU, HOLD, HOME, NETWORK, RELEASE, US, findings
from tests.support.schemas import validate

if TYPE_CHECKING:
    from tests.support.commands import Run
    from tests.support.overview import Account


def test_it_shows_what_may_break_and_asks(run: Run, account: Account) -> None:
    before = account.everything(US)
    status, out, err = run(*RELEASE, "--reason", "leaving")
    assert (status, err) == (2, "strongref: nothing was changed: give --yes where nobody can be asked\n")
    assert "shop still uses this. Afterward network can change or delete it, and nothing is refused." in out
    status, dry, _ = run(*RELEASE, "--reason", "leaving", "--dry-run")
    assert (status, dry) == (0, out)
    assert account.everything(US) == before


def test_the_claim_goes_and_a_trace_stays(run: Run, account: Account) -> None:
    status, out, _ = run(*RELEASE, "--reason", " moving\nto another VPC ", "--yes", "--output", "json")
    assert status == 0
    document = json.loads(out)
    validate("release", document)
    (released,) = document["released"]
    trace = account.ssm(US).get_parameter(Name=released["trace"])["Parameter"]
    found = Release.decode(trace["Name"], trace["Value"])
    assert found
    assert (found.producer, found.key, found.reason) == ("network", "VpcId", "moving to another VPC")
    assert found.by.startswith("arn:aws:sts::123456789012:")
    assert found.importer == account.stack("shop", US)
    assert account.claims(US, f"{NETWORK}/VpcId") == []
    assert account.claims(US, f"{NETWORK}/Alb/Arn") == [found.importer]
    account.export("network", EU, US, Values={"Alb": {"Arn": SECRET, "Sg": SECRET}, "VpcId": "x"}, Hold=HOLD)
    with pytest.raises(StrongRefError, match=r"Alb\.Arn cannot be changed"):
        account.export("network", EU, US, Values={"Alb": {"Arn": "x", "Sg": SECRET}, "VpcId": "x"}, Hold=HOLD)


def test_the_hold_goes_with_the_last_claim_of_its_import(run: Run, account: Account) -> None:
    assert len(account.hold_stacks(EU)) == 1
    run(*RELEASE, "--reason", "x", "--yes")
    assert len(account.hold_stacks(EU)) == 1
    run("release", "network", "Alb", "--consumer", "shop", "--region", US, "--reason", "x", "--yes")
    assert account.hold_stacks(EU) == []


def test_the_installations_bus_gets_a_notice(run: Run, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, str, Notice]] = []
    monkeypatch.setattr(
        EventBus, "put", lambda bus, notices: sent.extend((bus.name, bus.region, each) for each in notices)
    )
    account.stack("strongref", US, parameters={"EventBus": "platform"})
    assert run("release", "network", "Alb", "--consumer", "shop", "--region", US, "--reason", "x", "--yes")[0] == 0
    ((bus, region, notice),) = sent
    assert (bus, region, notice.type) == ("platform", US, NoticeType.CLAIM_RELEASED)
    assert [each["key"] for each in json.loads(notice.body)["values"]] == ["Alb/Arn", "Alb/Sg"]


def test_a_release_is_reported_by_doctor(run: Run) -> None:
    run(*RELEASE, "--reason", "x", "--yes")
    assert findings(run) == [("released", "note", "VpcId of network")]


def test_without_a_trace_nothing_is_released(run: Run, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(store: SsmStore, name: str, *_: object) -> None:
        raise AccessDeniedError("PutParameter", "AccessDenied", name, store.region)

    monkeypatch.setattr(SsmStore, "create", refused)
    status, _, err = run(*RELEASE, "--reason", "x", "--yes")
    assert (status, "PutParameter of /strongref/releases/network/VpcId/" in err) == (3, True)
    assert len(account.claims(US, f"{NETWORK}/VpcId")) == 1


def test_who_does_not_import_is_an_error(run: Run) -> None:
    status, _, err = run("release", "network", "VpcId", "--consumer", "shopp", "--region", US, "--reason", "x")
    assert (status, err) == (2, "strongref: shopp does not import VpcId of network. It is imported by shop.\n")


def test_a_claim_of_a_deleted_stack_is_said_to_be_one(run: Run, account: Account) -> None:
    account.delete_stack("shop", US)
    _, out, _ = run(*RELEASE, "--reason", "x", "--dry-run")
    assert "This claim is stale: shop is gone, or has no such import." in out


def test_a_claim_that_lists_do_not_show_yet_is_released(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = {f"{NETWORK}/{key}": {PRODUCER_TAG: account.stack("network", EU)} for key in ("VpcId", "Alb/Arn")}
    monkeypatch.setattr(OverviewReader, "_tags", lambda *_: late)
    assert run(*RELEASE, "--reason", "x", "--yes")[0] == 0
    assert account.claims(US, f"{NETWORK}/VpcId") == []


def test_a_claim_that_no_stack_can_have_made_is_released(run: Run, account: Account) -> None:
    tags = [{"Key": f"{CLAIM_TAG}0123456789abcdef", "Value": "somebody"}]
    account.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=f"{NETWORK}/VpcId", Tags=tags)
    arguments = ("release", "network", "VpcId", "--consumer", "somebody", "--region", US, "--reason", "x", "--yes")
    assert run(*arguments)[0] == 0
    assert account.claims(US, f"{NETWORK}/VpcId") == [account.stack("shop", US)]


def test_a_claim_of_manifests_is_released_if_no_set_lists_it(run: Run, account: Account) -> None:
    manifests = ManifestSet(HOME, "ghost")
    value = f"{NETWORK}/VpcId"
    tags = [{"Key": key, "Value": text} for key, text in manifests.claim.items()]
    account.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=value, Tags=tags)
    page = f"{manifests.ledger}/page"
    account.ssm(US).put_parameter(Name=page, Value=json.dumps([value]), Type="String")
    arguments = ("release", "network", "VpcId", "--consumer", "ghost", "--region", US, "--reason", "x", "--yes")
    status, _, err = run(*arguments)
    assert (status, "strongref resolve --unclaim ghost releases it" in err) == (2, True)
    account.ssm(US).put_parameter(Name=page, Value=json.dumps([]), Type="String", Overwrite=True)
    assert run(*arguments)[0] == 0
    assert account.claims(US, value) == [account.stack("shop", US)]


def test_the_claims_of_an_import_are_released_together(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    account.export("many", EU, US, Values={"Map": {f"K{number}": "x" for number in range(20)}})
    account.claim("shop", US, "many", EU, "Map", Shared="true")
    monkeypatch.setattr(HoldKeeper, "may_exist", lambda _: True)
    asked: list[str] = []
    tags = SsmStore.tags

    def read(store: SsmStore, name: str) -> dict[str, str] | None:
        asked.append(name)
        return tags(store, name)

    monkeypatch.setattr(SsmStore, "tags", read)
    arguments = ("release", "many", "Map", "--consumer", "shop", "--region", US, "--reason", "x", "--yes")
    assert run(*arguments)[0] == 0
    assert len(asked) <= 2 * 20 + 5


def test_whether_a_hold_is_needed_is_read_when_reads_show_the_release(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*RELEASE, "--reason", "x", "--yes")
    before = {name: account.tags(US, name) for name in account.everything(US)}
    tags, settled = SsmStore.tags, list[bool]()
    monkeypatch.setattr(SsmStore, "tags", lambda store, name: tags(store, name) if settled else before.get(name))
    monkeypatch.setattr(ReadLag, "settle", lambda *_: settled.append(True))
    assert run("release", "network", "Alb", "--consumer", "shop", "--region", US, "--reason", "x", "--yes")[0] == 0
    assert account.hold_stacks(EU) == []


def test_a_hold_that_cannot_change_yet_is_left_to_the_janitor(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin(*_: object) -> None:
        raise HoldPendingError(HOLD, "stack network", "UPDATE_IN_PROGRESS")

    monkeypatch.setattr(HoldKeeper, "begin", begin)
    status, out, err = run(*RELEASE, "--reason", "x", "--yes")
    assert (status, "Released VpcId of network." in out) == (0, True)
    assert "A hold is left to the janitor" in err
    assert account.claims(US, f"{NETWORK}/VpcId") == []


def test_who_cannot_look_for_the_bus_has_released_it_all_the_more(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(*_: object) -> None:
        raise AwsCallError("DescribeStacks", "stack strongref", US, "AccessDenied")

    monkeypatch.setattr(installed, "find", find)
    status, out, err = run(*RELEASE, "--reason", "x", "--yes")
    assert (status, "Released VpcId of network." in out) == (0, True)
    assert "Notices were not sent" in err


def test_a_stack_is_told_from_manifests_of_the_same_name(run: Run, account: Account) -> None:
    tags = [{"Key": f"{CLAIM_TAG}0123456789abcdef", "Value": str(ManifestSet(HOME, "shop"))}]
    account.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=f"{NETWORK}/VpcId", Tags=tags)
    page = f"{ManifestSet(HOME, 'shop').ledger}/page"
    account.ssm(US).put_parameter(Name=page, Value=json.dumps([f"{NETWORK}/VpcId"]), Type="String")
    status, _, err = run(*RELEASE, "--reason", "x", "--yes")
    assert status == 2
    assert "--consumer shop means manifests:shop and shop@us-east-1. Give one of them\n" in err
    arguments = ("release", "network", "VpcId", "--region", US, "--reason", "x", "--yes", "--consumer")
    status, _, err = run(*arguments, "manifests:shop")
    assert (status, err) == (2, "strongref: shop is a manifest set: strongref resolve --unclaim shop releases it\n")
    assert len(account.claims(US, f"{NETWORK}/VpcId")) == 2
    status, out, _ = run(*arguments, "stack:shop")
    assert (status, "shop still uses this." in out) == (0, True)
    assert account.claims(US, f"{NETWORK}/VpcId") == [str(ManifestSet(HOME, "shop"))]


def test_whether_a_stack_of_another_account_uses_it_is_not_known(run: Run, account: Account) -> None:
    far = "arn:aws:cloudformation:us-east-1:999999999999:stack/far/1"
    tags = [{"Key": f"{CLAIM_TAG}0123456789abcdef", "Value": far}]
    account.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=f"{NETWORK}/Alb/Arn", Tags=tags)
    named = ("release", "network", "Alb.Arn", "--consumer", "far", "--region", US)
    status, out, _ = run(*named, "--reason", "x", "--dry-run")
    assert (status, "far may still use this. Afterward network can change or delete it" in out) == (0, True)


def test_a_hold_stays_where_a_record_that_may_need_it_cannot_be_read(run: Run, account: Account) -> None:
    holds = account.hold_stacks(EU)
    record = f"{NETWORK}/Exports".replace("/exports/", "/records/")
    account.ssm(US).put_parameter(Name=record, Value="by hand", Type="String", Overwrite=True)
    assert run(*RELEASE, "--reason", "x", "--yes")[0] == 0
    assert run("doctor", "--region", US, "--fix", "--yes")[0] == 1
    assert account.hold_stacks(EU) == holds


def test_a_reason_is_more_than_spaces(run: Run) -> None:
    status, _, err = run(*RELEASE, "--reason", " \t ")
    assert (status, err) == (2, "strongref: --reason is blank: say in up to 500 characters why the claim is released\n")


def test_a_reason_has_a_limit(run: Run) -> None:
    status, _, err = run(*RELEASE, "--reason", "x" * (MAX_REASON + 1))
    assert (status, f"at most {MAX_REASON} printable characters" in err) == (2, True)


def test_a_consumer_in_two_regions_or_accounts_is_one_of_them_only() -> None:
    scope = ExportScope("_shared", Producer("111111111111", EU, "network"))
    arns = {
        where: f"arn:aws:cloudformation:{region}:{account}:stack/app/{where}"
        for where, region, account in (
            ("us", US, "111111111111"), ("eu", EU, "111111111111"), ("other", EU, "222222222222"),
        )
    }  # fmt: skip
    values = [
        ClaimedValue(each.split(":")[3], scope, Claim(each, where, ImportState.CURRENT, Protection.HELD), Key("A"))
        for where, each in arns.items()
    ]
    with pytest.raises(UsageError, match=r"app means app@us-east-1, arn:\S+/eu and arn:\S+/other. Give one of them"):
        claims_of(values, "app")
    assert [each.claim.tag for each in claims_of(values, "app@us-east-1")] == ["us"]
    for where, arn in arns.items():
        assert [each.claim.tag for each in claims_of(values, arn)] == [where]
    assert claims_of(values, "app@us-west-2") == []
