"""`strongref doctor`, `republish` and `release`: what they find, what they change, and what they leave."""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import strongref_cli as cli
from strongref.aws.event_bus import EventBus
from strongref.aws.parameter_store import SsmStore
from strongref.contract.names import CLAIM_TAG, PRODUCER_TAG, RESTORED_TAG, ManifestSet
from strongref.contract.notices import Notice, NoticeType
from strongref.contract.releases import MAX_REASON, Release
from strongref.errors import AccessDeniedError, HoldPendingError, StrongRefError
from strongref.protocol.hold_stacks import HoldKeeper
from strongref.protocol.lag import ReadLag
from strongref_cli import installation
from strongref_install.errors import AwsCallError
from strongref_overview.reading import OverviewReader
from strongref_toolkit import session
from tests.overview.conftest import account  # noqa: F401 (a fixture)
from tests.support.schemas import validate

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from tests.support.overview import Account

    Run: TypeAlias = Callable[..., tuple[int, str, str]]

EU, US = "eu-west-1", "us-east-1"
SECRET = "a-value-not-to-be-shown"
HOME = "123456789012"
NETWORK = f"/strongref/exports/_shared/{HOME}/{EU}/network"
HOLD = "network-Exports"


@pytest.fixture
def run(account: Account, capfd: pytest.CaptureFixture[str]) -> Run:  # noqa: F811
    account.stack("network", EU, exported=HOLD)
    account.export("network", EU, US, Values={"Alb": {"Arn": SECRET, "Sg": SECRET}, "VpcId": SECRET}, Hold=HOLD)
    account.claim("shop", US, "network", EU, "VpcId", "Alb", Shared="true")

    def run(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        status = cli.main(arguments)
        out, err = capfd.readouterr()
        assert SECRET not in out + err
        return status, out, err

    return run


def findings(run: Run, *options: str) -> list[tuple[str, str, str]]:
    status, out, _ = run("doctor", "--region", US, "--output", "json", *options)
    document = json.loads(out)
    validate("doctor", document)
    found = [(each["kind"], each["severity"], each["subject"]) for each in document["findings"]]
    assert status == int(any(severity != "note" for _, severity, _ in found))
    return found


class TestDoctor:
    def test_where_all_is_well_nothing_is_wrong(self, run: Run) -> None:
        assert run("doctor", "--region", US) == (0, "Nothing is wrong in us-east-1.\n", "")

    def test_what_is_wrong_has_a_name_and_a_next_step(self, run: Run, account: Account) -> None:  # noqa: F811
        ssm = account.ssm(US)
        ssm.delete_parameter(Name=f"{NETWORK}/Alb/Arn")
        ssm.put_parameter(Name=f"{NETWORK}/VpcId", Value="by hand", Type="String", Overwrite=True)
        ssm.put_parameter(Name=f"{NETWORK}/Mine", Value="x", Type="String")
        assert findings(run) == [
            ("changed-by-hand", "action", "VpcId of network for all"),
            ("foreign", "action", "Mine of network for all"),
            ("missing", "healable", "Alb.Arn of network for all"),
        ]
        _, out, _ = run("doctor", "--region", US)
        assert "--fix restores it; then deploy its importers again" in out
        assert out.endswith("3 findings in us-east-1: 1 that --fix repairs, 2 that need a person, 0 to know.\n")

    def test_without_fix_nothing_is_written(self, run: Run, account: Account) -> None:  # noqa: F811
        account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
        before = account.everything(US)
        findings(run)
        assert account.everything(US) == before

    def test_fix_repairs_what_is_safe_and_says_what_is_left(self, run: Run, account: Account) -> None:  # noqa: F811
        account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
        account.ssm(US).put_parameter(Name=f"{NETWORK}/Mine", Value="x", Type="String")
        status, out, err = run("doctor", "--region", US, "--fix")
        assert (status, err) == (2, "strongref: nothing was changed: give --yes where nobody can be asked\n")
        assert "missing" in out
        status, out, _ = run("doctor", "--region", US, "--fix", "--yes")
        assert status == 1
        assert "Repaired: missing (Alb.Arn of network for all)." in out
        assert account.ssm(US).get_parameter(Name=f"{NETWORK}/Alb/Arn")["Parameter"]["Value"] == SECRET
        assert findings(run) == [
            ("foreign", "action", "Mine of network for all"),
            ("restored", "action", "Alb.Arn of network for all"),
        ]

    def test_claims_by_hand_and_later_formats_are_shown(self, run: Run, account: Account) -> None:  # noqa: F811
        ssm = account.ssm(US)
        far = "arn:aws:cloudformation:us-east-1:999999999999:stack/far/1"
        for key, claim in (("VpcId", "somebody"), ("Alb/Arn", far)):
            tags = [{"Key": f"{CLAIM_TAG}0123456789abcdef", "Value": claim}]
            ssm.add_tags_to_resource(ResourceType="Parameter", ResourceId=f"{NETWORK}/{key}", Tags=tags)
        index = "/strongref/index/other/Exports"
        ssm.put_parameter(Name=index, Value='{"format": 2, "writer": "9.8.7"}', Type="String")
        assert findings(run) == [
            ("newer-format", "action", index),
            ("unknown-claim", "action", "Alb.Arn of network for all"),
            ("stale-claim", "healable", "VpcId of network for all"),
        ]
        _, out, _ = run("doctor", "--region", US)
        assert "upgrade strongref in this region: /strongref/index/other/Exports has format 2, written by" in out
        assert "nobody can check whether its import exists; if not, strongref release takes it off" in out

    @pytest.mark.parametrize("command", ["list", "who network", "graph", "order", "republish network"])
    @pytest.mark.parametrize("what", ["record", "index entry"])
    def test_other_commands_refuse_a_later_format(
        self,
        run: Run,
        account: Account,  # noqa: F811
        command: str,
        what: str,
    ) -> None:
        head = NETWORK.replace("/exports/", "/records/") + "/Exports"
        name = head if what == "record" else "/strongref/index/other/Exports"
        newer = '{"format": 2, "writer": "9.8.7"}'
        account.ssm(US).put_parameter(Name=name, Value=newer, Type="String", Overwrite=True)
        status, _, err = run(*command.split(), "--region", US, "--region", EU)
        assert status == 1
        assert f"{name} has format 2, written by strongref 9.8.7" in err

    def test_what_is_being_changed_is_not_judged(self, run: Run, account: Account) -> None:  # noqa: F811
        account.ssm(US).put_parameter(Name=f"{NETWORK}/VpcId", Value="half", Type="String", Overwrite=True)
        fence = f"{NETWORK}/x".replace("/exports/", "/fences/")
        until = '{"by":"x","until":"2099-01-01T00:00:00+00:00"}'
        account.ssm(US).put_parameter(Name=fence, Type="String", Value=until)
        assert findings(run) == [("in-progress", "note", "exports of network for all")]

    def test_only_what_fix_repairs_is_said_to_be_repaired(self, run: Run, account: Account) -> None:  # noqa: F811
        account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
        for region, version in ((US, "0.1.0"), (EU, "0.2.0")):
            account.stack("strongref", region, outputs={"Version": {"Value": version}})
        arguments = ("doctor", "--region", US, "--region", EU, "--fix", "--yes", "--output", "json")
        status, out, _ = run(*arguments)
        document = json.loads(out)
        assert [each["kind"] for each in document["repaired"]] == ["missing"]
        assert [each["kind"] for each in document["findings"]] == ["version-differs", "restored"]
        assert status == 1

    def test_a_region_that_fails_does_not_keep_others_from_being_repaired(
        self,
        run: Run,
        account: Account,  # noqa: F811
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        account.export("certificate", US, EU, Values={"A": "x"})
        account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
        account.ssm(EU).delete_parameter(Name=f"/strongref/exports/_shared/{HOME}/{US}/certificate/A")
        create, failed = SsmStore.create, threading.Event()

        def slow(store: SsmStore, name: str, *more: Any) -> None:  # noqa: ANN401
            if store.region == EU:
                failed.set()
                raise AccessDeniedError("PutParameter", "AccessDenied", name, store.region)
            failed.wait(10)
            time.sleep(0.2)
            create(store, name, *more)

        monkeypatch.setattr(SsmStore, "create", slow)
        status, out, _ = run("doctor", "--region", EU, "--region", US, "--fix", "--yes")
        assert (status, out.count("PutParameter of /strongref/exports/_shared/")) == (1, 1)
        assert f"{NETWORK}/Alb/Arn" in account.everything(US)

    def test_who_is_asked_has_seen_what_is_found(
        self,
        run: Run,
        account: Account,  # noqa: F811
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
        monkeypatch.setattr(sys, "stdin", None)
        status, out, err = run("doctor", "--region", US, "--fix", "--output", "json")
        assert (status, out, "--fix restores it" in err) == (2, "", True)
        status, out, err = run(*RELEASE, "--reason", "x", "--output", "markdown")
        assert (status, out, "shop still uses this." in err) == (2, "", True)

    def test_an_import_without_its_hold_is_found(self, run: Run, account: Account) -> None:  # noqa: F811
        account.delete_stack(account.hold_stacks(EU)[0], EU)
        assert [kind for kind, *_ in findings(run)] == ["no-hold"]

    def test_a_producer_that_names_no_hold_is_worth_knowing(self, run: Run, account: Account) -> None:  # noqa: F811
        account.export("certificate", US, US, Consumer="shop", Values={"Arn": SECRET})
        account.claim("shop", US, "certificate", US, "Arn", Consumer="shop")
        assert findings(run) == [("no-hold-named", "note", "exports of certificate for shop")]

    def test_a_value_near_a_limit_is_found(self, run: Run, account: Account) -> None:  # noqa: F811
        tags = [{"Key": f"tag{number}", "Value": "x"} for number in range(42)]
        account.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=f"{NETWORK}/VpcId", Tags=tags)
        account.export("long", EU, US, Values={"Text": "x" * 7500})
        assert findings(run) == [
            ("near-size-limit", "action", "Text of long for all"),
            ("near-tag-limit", "action", "VpcId of network for all"),
        ]

    def test_versions_that_differ_between_regions_are_found(self, run: Run, account: Account) -> None:  # noqa: F811
        for region, version in ((US, "0.1.0"), (EU, "0.2.0")):
            account.stack("strongref", region, outputs={"Version": {"Value": version}})
        _, out, _ = run("doctor", "--region", US, "--region", EU)
        assert "strongref is 0.2.0 in eu-west-1, 0.1.0 in us-east-1" in out
        assert "run strongref install in all of them" in out
        assert findings(run) == []


class TestRepublish:
    def test_deleted_values_come_back_and_their_importers_are_named(self, run: Run, account: Account) -> None:  # noqa: F811
        account.ssm(US).delete_parameters(Names=[f"{NETWORK}/Alb/Arn", f"{NETWORK}/VpcId"])
        status, out, _ = run("republish", "network", "--region", EU)
        assert status == 0
        rows = [line.split() for line in out.splitlines()[1:-1]]
        again = ["shop", "and", "perhaps", "others"]
        assert rows == [[US, "Alb.Arn", "all", *again], [US, "VpcId", "all", *again]]
        assert "another Revision of their Import" in out
        assert RESTORED_TAG in account.tags(US, f"{NETWORK}/VpcId")
        _, out, _ = run("list", "--region", US, "--state", "restored", "--output", "json")
        assert [each["key"] for each in json.loads(out)["exports"]] == ["Alb.Arn", "VpcId"]

    def test_only_what_was_asked_for_comes_back(self, run: Run, account: Account) -> None:  # noqa: F811
        account.ssm(US).delete_parameters(Names=[f"{NETWORK}/Alb/Arn", f"{NETWORK}/VpcId"])
        _, out, _ = run("republish", "network", "--region", US, "--key", "Alb", "--output", "json")
        document = json.loads(out)
        validate("republish", document)
        assert [each["keys"] for each in document["restored"]] == [["Alb.Arn"]]

    def test_a_named_consumer_is_its_importer(self, run: Run, account: Account) -> None:  # noqa: F811
        account.export("certificate", US, US, Consumer="site", Values={"Arn": SECRET})
        account.stack("site", US)
        account.ssm(US).delete_parameter(Name=f"/strongref/exports/site/{HOME}/{US}/certificate/Arn")
        _, out, _ = run("republish", "certificate", "--region", US)
        assert [line.split() for line in out.splitlines()[1:-1]] == [[US, "Arn", "site", "site"]]

    def test_what_a_stack_imports_is_not_its_own_to_restore(self, run: Run) -> None:
        status, _, err = run("republish", "shop", "--key", "VpcId", "--region", US)
        assert (status, err) == (2, "strongref: shop imports VpcId: republish the stack that exports it\n")

    def test_a_value_that_another_restores_at_the_same_time_is_no_failure(
        self,
        run: Run,
        account: Account,  # noqa: F811
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        account.ssm(US).delete_parameters(Names=[f"{NETWORK}/Alb/Arn", f"{NETWORK}/VpcId"])
        create = SsmStore.create

        def raced(store: SsmStore, name: str, *more: Any) -> None:  # noqa: ANN401
            if name.endswith("/Arn"):
                create(store, name, *more)
            create(store, name, *more)

        monkeypatch.setattr(SsmStore, "create", raced)
        status, out, _ = run("republish", "network", "--region", US, "--output", "json")
        assert status == 0
        assert [each["keys"] for each in json.loads(out)["restored"]] == [["VpcId"]]

    def test_where_nothing_is_missing_nothing_is_done(self, run: Run) -> None:
        assert run("republish", "network", "--region", EU) == (0, "Nothing that network exports was missing.\n", "")

    def test_what_others_have_stored_does_not_control_the_terminal(
        self,
        run: Run,
        account: Account,  # noqa: F811
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        account.ssm(US).delete_parameter(Name=f"{NETWORK}/VpcId")
        for name, year in (("old", 2001), ("new", 2099)):
            fence = f"{NETWORK}/{name}".replace("/exports/", "/fences/")
            text = json.dumps({"by": "\x1b[2Jx", "until": f"{year}-01-01T00:00:00+00:00"})
            account.ssm(US).put_parameter(Name=fence, Type="String", Value=text)
        monkeypatch.setattr(session, "FENCE_WAIT", 0.0)
        _, _, err = run("republish", "network", "--region", US)
        assert "An expired fence was deleted" in err
        assert "are being changed" in err
        assert err.replace("\n", "").isprintable()

    def test_nothing_is_restored_while_another_deployment_changes_it(
        self,
        run: Run,
        account: Account,  # noqa: F811
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        account.ssm(US).delete_parameter(Name=f"{NETWORK}/VpcId")
        fence = f"{NETWORK}/x".replace("/exports/", "/fences/")
        until = '{"by":"x","until":"2099-01-01T00:00:00+00:00"}'
        account.ssm(US).put_parameter(Name=fence, Type="String", Value=until)
        monkeypatch.setattr(session, "FENCE_WAIT", 0.0)
        status, out, err = run("republish", "network", "--region", US)
        assert (status, out) == (1, "")
        assert err.startswith("strongref: The exports of stack network (eu-west-1, 123456789012) are being changed")
        assert err.count("\n") == 1


RELEASE = ("release", "network", "VpcId", "--consumer", "shop", "--region", US)


class TestRelease:
    def test_it_shows_what_may_break_and_asks(self, run: Run, account: Account) -> None:  # noqa: F811
        before = account.everything(US)
        status, out, err = run(*RELEASE, "--reason", "leaving")
        assert (status, err) == (2, "strongref: nothing was changed: give --yes where nobody can be asked\n")
        assert "shop still uses this. Afterward network can change or delete it, and nothing is refused." in out
        status, dry, _ = run(*RELEASE, "--reason", "leaving", "--dry-run")
        assert (status, dry) == (0, out)
        assert account.everything(US) == before

    def test_the_claim_goes_and_a_trace_stays(self, run: Run, account: Account) -> None:  # noqa: F811
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
        with pytest.raises(StrongRefError, match="Alb/Arn cannot be changed"):
            account.export("network", EU, US, Values={"Alb": {"Arn": "x", "Sg": SECRET}, "VpcId": "x"}, Hold=HOLD)

    def test_the_hold_goes_with_the_last_claim_of_its_import(self, run: Run, account: Account) -> None:  # noqa: F811
        assert len(account.hold_stacks(EU)) == 1
        run(*RELEASE, "--reason", "x", "--yes")
        assert len(account.hold_stacks(EU)) == 1
        run("release", "network", "Alb", "--consumer", "shop", "--region", US, "--reason", "x", "--yes")
        assert account.hold_stacks(EU) == []

    def test_the_installations_bus_gets_a_notice(
        self,
        run: Run,
        account: Account,  # noqa: F811
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        sent: list[tuple[str, str, Notice]] = []
        monkeypatch.setattr(
            EventBus, "put", lambda bus, notices: sent.extend((bus.name, bus.region, each) for each in notices)
        )
        account.stack("strongref", US, parameters={"EventBus": "platform"})
        assert run("release", "network", "Alb", "--consumer", "shop", "--region", US, "--reason", "x", "--yes")[0] == 0
        ((bus, region, notice),) = sent
        assert (bus, region, notice.type) == ("platform", US, NoticeType.CLAIM_RELEASED)
        assert [each["key"] for each in json.loads(notice.body)["values"]] == ["Alb/Arn", "Alb/Sg"]

    def test_a_release_is_reported_by_doctor(self, run: Run) -> None:
        run(*RELEASE, "--reason", "x", "--yes")
        assert findings(run) == [("released", "note", "VpcId of network")]

    def test_without_a_trace_nothing_is_released(
        self,
        run: Run,
        account: Account,  # noqa: F811
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def refused(store: SsmStore, name: str, *_: object) -> None:
            raise AccessDeniedError("PutParameter", "AccessDenied", name, store.region)

        monkeypatch.setattr(SsmStore, "create", refused)
        status, _, err = run(*RELEASE, "--reason", "x", "--yes")
        assert (status, "PutParameter of /strongref/releases/network/VpcId/" in err) == (3, True)
        assert len(account.claims(US, f"{NETWORK}/VpcId")) == 1

    def test_who_does_not_import_is_an_error(self, run: Run) -> None:
        status, _, err = run("release", "network", "VpcId", "--consumer", "shopp", "--region", US, "--reason", "x")
        assert (status, err) == (
            2,
            "strongref: shopp does not import VpcId of network. It is imported by shop.\n",
        )

    def test_a_claim_of_a_deleted_stack_is_said_to_be_one(self, run: Run, account: Account) -> None:  # noqa: F811
        account.delete_stack("shop", US)
        _, out, _ = run(*RELEASE, "--reason", "x", "--dry-run")
        assert "shop is gone, or has no such import: nothing uses this claim." in out

    def test_a_claim_that_lists_do_not_show_yet_is_released(
        self,
        run: Run,
        account: Account,  # noqa: F811
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        late = {f"{NETWORK}/{key}": {PRODUCER_TAG: account.stack("network", EU)} for key in ("VpcId", "Alb/Arn")}
        monkeypatch.setattr(OverviewReader, "_tags", lambda *_: late)
        assert run(*RELEASE, "--reason", "x", "--yes")[0] == 0
        assert account.claims(US, f"{NETWORK}/VpcId") == []

    def test_a_claim_that_no_stack_can_have_made_is_released(self, run: Run, account: Account) -> None:  # noqa: F811
        tags = [{"Key": f"{CLAIM_TAG}0123456789abcdef", "Value": "somebody"}]
        account.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=f"{NETWORK}/VpcId", Tags=tags)
        arguments = ("release", "network", "VpcId", "--consumer", "somebody", "--region", US, "--reason", "x", "--yes")
        assert run(*arguments)[0] == 0
        assert account.claims(US, f"{NETWORK}/VpcId") == [account.stack("shop", US)]

    def test_a_claim_of_manifests_is_released_if_no_set_lists_it(self, run: Run, account: Account) -> None:  # noqa: F811
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
        self,
        run: Run,
        account: Account,  # noqa: F811
        monkeypatch: pytest.MonkeyPatch,
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
        self,
        run: Run,
        account: Account,  # noqa: F811
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        run(*RELEASE, "--reason", "x", "--yes")
        before = {name: account.tags(US, name) for name in account.everything(US)}
        tags, settled = SsmStore.tags, list[bool]()
        monkeypatch.setattr(SsmStore, "tags", lambda store, name: tags(store, name) if settled else before.get(name))
        monkeypatch.setattr(ReadLag, "settle", lambda *_: settled.append(True))
        assert run("release", "network", "Alb", "--consumer", "shop", "--region", US, "--reason", "x", "--yes")[0] == 0
        assert account.hold_stacks(EU) == []

    def test_a_hold_that_cannot_change_yet_is_left_to_the_janitor(
        self,
        run: Run,
        account: Account,  # noqa: F811
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def begin(*_: object) -> None:
            raise HoldPendingError(HOLD, "stack network", "UPDATE_IN_PROGRESS")

        monkeypatch.setattr(HoldKeeper, "begin", begin)
        status, out, err = run(*RELEASE, "--reason", "x", "--yes")
        assert (status, "Released VpcId of network." in out) == (0, True)
        assert "A hold is left to the janitor" in err
        assert account.claims(US, f"{NETWORK}/VpcId") == []

    def test_who_cannot_look_for_the_bus_has_released_it_all_the_more(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def find(*_: object) -> None:
            raise AwsCallError("DescribeStacks", US, "AccessDenied")

        monkeypatch.setattr(installation, "find", find)
        status, out, err = run(*RELEASE, "--reason", "x", "--yes")
        assert (status, "Released VpcId of network." in out) == (0, True)
        assert "Notices were not sent" in err

    def test_a_reason_has_a_limit(self, run: Run) -> None:
        status, _, err = run(*RELEASE, "--reason", "x" * (MAX_REASON + 1))
        assert (status, f"at most {MAX_REASON} printable characters" in err) == (2, True)
