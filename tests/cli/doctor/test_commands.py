"""`strongref doctor`, `republish` and `release`: what they find, what they change, and what they leave."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError

from strongref.aws.event_bus import EventBus
from strongref.aws.parameter_store import KMS_KEY, SsmStore
from strongref.contract.fence import Fence
from strongref.contract.names import CLAIM_TAG, PRODUCER_TAG, RESTORED_TAG, ExportScope, ManifestSet
from strongref.contract.notices import Notice, NoticeType
from strongref.contract.releases import MAX_REASON, Release
from strongref.errors import (
    AccessDeniedError,
    CallerDeniedError,
    HoldPendingError,
    ProducerLeavingError,
    StrongRefError,
)
from strongref.log import logger
from strongref.protocol import janitor_holds
from strongref.protocol.hold_stacks import HoldKeeper
from strongref.protocol.janitor_index import IndexTender
from strongref.protocol.lag import ReadLag
from strongref_cli.doctor import diagnosis, wait_notice
from strongref_cli.doctor.examination import Examination
from strongref_cli.install import installed
from strongref_cli.install.errors import AwsCallError
from strongref_cli.overview.reading import OverviewReader
from strongref_toolkit import session
from tests.support.commands import SECRET, heed_interrupts
from tests.support.schemas import validate

if TYPE_CHECKING:
    from strongref_cli.doctor.diagnosis import Problem, RegionFailure
    from tests.support.commands import Run
    from tests.support.overview import Account

EU, US = "eu-west-1", "us-east-1"
HOME = "123456789012"
NETWORK = f"/strongref/exports/_shared/{HOME}/{EU}/network"
FENCES = NETWORK.replace("/exports/", "/fences/")
HOLD = "network-Exports"


def network_and_shop(account: Account) -> None:
    account.stack("network", EU, exported=HOLD)
    account.export("network", EU, US, Values={"Alb": {"Arn": SECRET, "Sg": SECRET}, "VpcId": SECRET}, Hold=HOLD)
    account.claim("shop", US, "network", EU, "VpcId", "Alb", Shared="true")


@pytest.fixture
def run(account: Account, command_line: Run) -> Run:
    account.begin(network_and_shop)
    return command_line


def lose_a_value_in_both_regions(account: Account) -> None:
    account.export("certificate", US, EU, Values={"A": "x"})
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
    account.ssm(EU).delete_parameter(Name=f"/strongref/exports/_shared/{HOME}/{US}/certificate/A")


def findings(run: Run, *options: str) -> list[tuple[str, str, str]]:
    status, out, _ = run("doctor", "--region", US, "--output", "json", *options)
    document = json.loads(out)
    validate("doctor", document)
    found = [(each["kind"], each["severity"], each["subject"]) for each in document["findings"]]
    assert status == int(any(severity != "note" for _, severity, _ in found))
    return found


def deny(monkeypatch: pytest.MonkeyPatch, action: str, region: str = US) -> None:
    """Have AWS deny an action in a region."""
    call = BaseClient._make_api_call  # type: ignore[attr-defined] # botocore declares it elsewhere

    def denied(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:  # noqa: ANN401
        if operation == action and client.meta.region_name == region:
            text = SECRET if client.meta.service_model.service_name == "ssm" else "Not allowed"
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": text}}, operation)
        return call(client, operation, request)

    monkeypatch.setattr(BaseClient, "_make_api_call", denied)


def put_up_fence(account: Account, holder: str, *, by: str, until: str, done: bool = False) -> None:
    text = json.dumps({"by": by, "until": until, "done": done})
    account.ssm(US).put_parameter(Name=f"{FENCES}/{holder}", Type="String", Value=text)


def wait_a_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have commands wait for others for a second."""
    monkeypatch.setattr(session, "FENCE_WAIT", 1.0)
    monkeypatch.setattr(session, "_PAUSE", 0.2)


class TestDoctor:
    def test_where_all_is_well_nothing_is_wrong(self, run: Run) -> None:
        assert run("doctor", "--region", US) == (0, "Nothing is wrong in us-east-1.\n", "")

    def test_what_is_wrong_has_a_name_and_a_next_step(self, run: Run, account: Account) -> None:
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

    def test_without_fix_nothing_is_written(self, run: Run, account: Account) -> None:
        account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
        before = account.everything(US)
        findings(run)
        assert account.everything(US) == before

    def test_fix_repairs_what_is_safe_and_says_what_is_left(self, run: Run, account: Account) -> None:
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

    def test_claims_by_hand_and_later_formats_are_shown(self, run: Run, account: Account) -> None:
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

    def test_one_finding_needs_a_person(self, run: Run, account: Account) -> None:
        account.ssm(US).put_parameter(Name=f"{NETWORK}/VpcId", Value="by hand", Type="String", Overwrite=True)
        out = run("doctor", "--region", US)[1]
        assert out.endswith("1 finding in us-east-1: 0 that --fix repairs, 1 that needs a person, 0 to know.\n")

    @pytest.mark.parametrize("command", ["list", "who network", "graph", "order", "republish network"])
    @pytest.mark.parametrize("what", ["record", "index entry"])
    def test_other_commands_refuse_a_later_format(
        self,
        run: Run,
        account: Account,
        command: str,
        what: str,
    ) -> None:
        head = NETWORK.replace("/exports/", "/records/") + "/Exports"
        name = head if what == "record" else "/strongref/index/other/Exports"
        newer = '{"format": 2, "writer": "9.8.7"}'
        account.ssm(US).put_parameter(Name=name, Value=newer, Type="String", Overwrite=True)
        status, _, err = run(*command.split(), "--region", US, "--region", EU)
        assert status in (1, 3)
        assert f"{name} has format 2, written by strongref 9.8.7" in err

    def test_what_is_being_changed_is_not_judged(self, run: Run, account: Account) -> None:
        account.ssm(US).put_parameter(Name=f"{NETWORK}/VpcId", Value="half", Type="String", Overwrite=True)
        fence = f"{NETWORK}/x".replace("/exports/", "/fences/")
        until = '{"by":"x","until":"2099-01-01T00:00:00+00:00"}'
        account.ssm(US).put_parameter(Name=fence, Type="String", Value=until)
        assert findings(run) == [("in-progress", "note", "exports of network for all")]

    def test_fences_are_shown_with_their_holder_and_their_end(self, run: Run, account: Account) -> None:
        put_up_fence(account, "Exports.1", by="Exports of stack network", until="2099-01-01T00:00:00+00:00")
        put_up_fence(account, "janitor.2", by="the janitor", until="2001-01-01T00:00:00+00:00")
        put_up_fence(account, "Done.3", by="Done of stack network", until="2099-01-01T00:00:00+00:00", done=True)
        account.ssm(US).put_parameter(Name=f"{FENCES}/odd", Type="String", Value="nonsense")
        manifests = f"/strongref/fences/_manifests/{HOME}/{US}/site/manifests-site.4"
        text = json.dumps({"by": "the manifests site", "until": "2099-01-01T00:00:00+00:00"})
        account.ssm(US).put_parameter(Name=manifests, Type="String", Value=text)
        assert findings(run) == [
            ("unreadable-fence", "action", "fence odd of network for all"),
            ("dead-fence", "healable", "fence janitor.2 of network for all"),
            ("in-progress", "note", "exports of network for all"),
            ("in-progress", "note", "manifests site"),
        ]
        _, out, _ = run("doctor", "--region", US)
        assert "held by Exports of stack network until 2099-01-01 00:00:00 UTC, or longer if it goes on" in out
        assert "held by the janitor until 2001-01-01 00:00:00 UTC, which has crashed; --fix deletes it" in out
        assert "held by an unknown holder until 20" in out
        assert "wait until then, or delete it if nothing is being deployed there" in out
        status, out, err = run("doctor", "--region", US, "--fix", "--yes")
        assert (status, err) == (1, "")
        assert "Repaired: dead-fence (fence janitor.2 of network for all)." in out
        assert f"{FENCES}/janitor.2" not in account.everything(US)
        account.ssm(US).delete_parameter(Name=f"{FENCES}/odd")  # as the finding says
        assert {kind for kind, *_ in findings(run)} == {"in-progress"}

    def test_nothing_is_logged_while_it_repairs(self, run: Run, account: Account) -> None:
        account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
        account.ssm(US).put_parameter(Name=f"{NETWORK}/Mine", Value="x", Type="String")
        put_up_fence(account, "janitor.2", by="the janitor", until="2001-01-01T00:00:00+00:00")
        status, _, err = run("doctor", "--region", US, "--fix", "--yes")
        assert (status, err) == (1, "")
        logger.warning("Logged again")
        assert run("doctor", "--region", US)[2] == ""

    def test_a_repair_that_fails_is_a_finding_that_remains_with_its_reason(
        self,
        run: Run,
        account: Account,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        account.export("other", EU, US, Values={"A": "x"})
        other = f"/strongref/exports/_shared/{HOME}/{EU}/other/A"
        account.ssm(US).delete_parameters(Names=[f"{NETWORK}/Alb/Arn", other])
        create = SsmStore.create

        def refused(store: SsmStore, name: str, *more: Any) -> None:  # noqa: ANN401
            if name.startswith(NETWORK):
                raise CallerDeniedError("PutParameter", "AccessDenied", name, store.region)
            create(store, name, *more)

        monkeypatch.setattr(SsmStore, "create", refused)
        status, out, err = run("doctor", "--region", US, "--fix", "--yes", "--output", "json")
        document = json.loads(out)
        validate("doctor", document)
        (left,) = [each for each in document["findings"] if each["kind"] == "missing"]
        reason = f"PutParameter of {NETWORK}/Alb/Arn in {US} was denied (AccessDenied). Check the caller's permissions"
        assert f"That failed: {reason}" in left["nextStep"]
        assert [each["subject"] for each in document["repaired"]] == ["A of other for all"]
        assert (status, err.count("\n"), f"strongref: {reason}" in err) == (3, 1, True)

    def test_a_hold_that_cannot_be_made_is_shown_with_its_reason(
        self,
        run: Run,
        account: Account,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        account.delete_stack(account.hold_stacks(EU)[0], EU)

        def look(*_: object) -> None:
            raise ProducerLeavingError("stack network", HOLD, deleted=False)

        monkeypatch.setattr(HoldKeeper, "look", look)
        status, out, err = run("doctor", "--region", US)
        assert (status, err) == (1, "")
        assert "hold-impossible" in out
        assert "The reason: network-Exports cannot be held: stack network removes it from its template" in out

    def test_what_cannot_be_examined_is_a_finding(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        read = IndexTender._listed

        def listed(index: IndexTender, region: str) -> Any:  # noqa: ANN401
            if region == EU:
                raise CallerDeniedError("GetParametersByPath", "AccessDenied", "/strongref/index", EU)
            return read(index, region)

        monkeypatch.setattr(IndexTender, "_listed", listed)
        assert findings(run) == [("not-examined", "action", "/strongref/index/network/Exports")]

    def test_only_what_fix_repairs_is_said_to_be_repaired(self, run: Run, account: Account) -> None:
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
        account: Account,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        lose_a_value_in_both_regions(account)
        create, failed = SsmStore.create, threading.Event()

        def slow(store: SsmStore, name: str, *more: Any) -> None:  # noqa: ANN401
            if store.region == EU:
                failed.set()
                raise AccessDeniedError("PutParameter", "AccessDenied", name, store.region)
            failed.wait(10)
            time.sleep(0.2)
            create(store, name, *more)

        monkeypatch.setattr(SsmStore, "create", slow)
        status, _, err = run("doctor", "--region", EU, "--region", US, "--fix", "--yes")
        assert (status, err.count("PutParameter of /strongref/exports/_shared/")) == (3, 1)
        assert f"{NETWORK}/Alb/Arn" in account.everything(US)

    def test_repairs_give_way_to_a_deployment_and_say_so(
        self,
        run: Run,
        account: Account,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        wait_a_little(monkeypatch)
        account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
        found = Examination.heal

        def late(examination: Examination, regions: list[str]) -> tuple[list[Problem], list[RegionFailure]]:
            put_up_fence(account, "Exports.1", by="Exports of stack network", until="2099-01-01T00:00:00+00:00")
            return found(examination, regions)

        monkeypatch.setattr(Examination, "heal", late)
        status, out, err = run("doctor", "--region", US, "--fix", "--yes", "--output", "json")
        assert err == (
            "strongref: waiting up to 1 s for Exports of stack network, which is changing exports of network\n"
        )
        assert [each["kind"] for each in json.loads(out)["findings"]] == ["in-progress"]
        assert (status, json.loads(out)["repaired"]) == (0, [])

    def test_ctrl_c_takes_the_fences_of_all_regions_away(
        self,
        run: Run,
        account: Account,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        lose_a_value_in_both_regions(account)
        both, fenced = threading.Barrier(2), list[bool]()

        def pressed(store: SsmStore, *_: object) -> None:
            both.wait(60)
            fenced.append(any("/fences/" in name for name in account.everything(store.region)))
            if store.region == US:
                os.kill(os.getpid(), signal.SIGINT)
            store.clock.sleep(60)
            fenced.append(False)  # It goes on.

        monkeypatch.setattr(SsmStore, "create", pressed)
        heed_interrupts()
        assert run("doctor", "--region", EU, "--region", US, "--fix", "--yes")[::2] == (130, "strongref: interrupted\n")
        assert fenced == [True, True]
        assert [name for region in (EU, US) for name in account.everything(region) if "/fences/" in name] == []

    def test_who_is_asked_has_seen_what_is_found(
        self,
        run: Run,
        account: Account,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
        monkeypatch.setattr(sys, "stdin", None)
        status, out, err = run("doctor", "--region", US, "--fix", "--output", "json")
        assert (status, out, "--fix restores it" in err) == (2, "", True)
        status, out, err = run(*RELEASE, "--reason", "x", "--output", "markdown")
        assert (status, out, "shop still uses this." in err) == (2, "", True)

    def test_an_import_without_its_hold_is_found(self, run: Run, account: Account) -> None:
        account.delete_stack(account.hold_stacks(EU)[0], EU)
        assert [kind for kind, *_ in findings(run)] == ["no-hold"]

    def test_a_producer_that_names_no_hold_is_worth_knowing(self, run: Run, account: Account) -> None:
        account.export("certificate", US, US, Consumer="shop", Values={"Arn": SECRET})
        account.claim("shop", US, "certificate", US, "Arn", Consumer="shop")
        assert findings(run) == [("no-hold-named", "note", "exports of certificate for shop")]

    def test_a_value_near_a_limit_is_found(self, run: Run, account: Account) -> None:
        tags = [{"Key": f"tag{number}", "Value": "x"} for number in range(42)]
        account.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=f"{NETWORK}/VpcId", Tags=tags)
        account.export("long", EU, US, Values={"Text": "x" * 7500})
        assert findings(run) == [
            ("near-size-limit", "action", "Text of long for all"),
            ("near-tag-limit", "action", "VpcId of network for all"),
        ]

    def test_a_region_that_is_near_its_limit_is_found(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(diagnosis, "MAX_PARAMETERS", 4)
        ((kind, severity, subject),) = findings(run)
        assert (kind, severity) == ("near-parameter-limit", "action")
        assert subject.endswith(" parameters of strongref; a region has 4 standard ones")

    def test_a_hold_whose_import_is_gone_is_deleted(
        self,
        run: Run,
        account: Account,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        (hold,) = account.hold_stacks(EU)
        account.delete_stack("shop", US)
        assert ("stale-hold", "healable", hold) not in findings(run, "--region", EU)  # It may be of an import at work.
        monkeypatch.setattr(janitor_holds, "YOUNG", timedelta(0))
        assert ("stale-hold", "healable", hold) in findings(run, "--region", EU)
        run("doctor", "--region", EU, "--region", US, "--fix", "--yes")
        assert account.hold_stacks(EU) == []
        assert findings(run, "--region", EU) == []

    def test_a_missing_entry_of_the_index_is_written(self, run: Run, account: Account) -> None:
        entry = "/strongref/index/network/Exports"
        account.ssm(EU).delete_parameter(Name=entry)
        assert findings(run) == [("index", "healable", entry)]
        run("doctor", "--region", US, "--fix", "--yes")
        assert entry in account.everything(EU)
        assert findings(run) == []

    @pytest.mark.parametrize("harm", ["value", "record"])
    def test_another_revision_mends_what_was_changed_by_hand(self, run: Run, account: Account, harm: str) -> None:
        names = {"value": f"{NETWORK}/VpcId", "record": f"{NETWORK}/Exports".replace("/exports/", "/records/")}
        account.ssm(US).put_parameter(Name=names[harm], Value="by hand", Type="String", Overwrite=True)
        kinds = {"value": ("changed-by-hand", "VpcId"), "record": ("unreadable-record", "record Exports")}
        kind, subject = kinds[harm]
        assert [each for each in findings(run) if each[0] != "outdated-import"] == [
            (kind, "action", f"{subject} of network for all")
        ]
        _, out, _ = run("doctor", "--region", US)
        assert "deploy the producer with another Revision of its Export" in out
        values = {"Alb": {"Arn": SECRET, "Sg": SECRET}, "VpcId": SECRET}
        account.export("network", EU, US, Values=values, Hold=HOLD, Revision="2")
        assert findings(run) == []

    def test_what_a_deleted_producer_leaves_is_deleted_unless_it_is_imported(
        self,
        run: Run,
        account: Account,
    ) -> None:
        account.delete_stack("network", EU)
        found = findings(run)
        assert {(kind, subject) for kind, _, subject in found if "orphan" in kind} == {
            ("imported-orphan", "Alb.Arn of network for all"),
            ("imported-orphan", "Alb.Sg of network for all"),
            ("imported-orphan", "VpcId of network for all"),
        }
        account.delete_stack("shop", US)
        assert {kind for kind, *_ in findings(run)} >= {"orphan"}
        run("doctor", "--region", US, "--region", EU, "--fix", "--yes")
        assert [name for name in account.everything(US) if name.startswith(NETWORK)] == []

    def test_a_withdrawn_value_is_worth_knowing_and_a_stray_one_goes(self, run: Run, account: Account) -> None:
        tags = [{"Key": PRODUCER_TAG, "Value": account.stack("network", EU)}]
        account.ssm(US).put_parameter(Name=f"{NETWORK}/Old", Value="x", Type="String", Tags=tags)
        assert findings(run) == [("stray", "healable", "Old of network for all")]
        (importer,) = account.claims(US, f"{NETWORK}/VpcId")
        (claim,) = [each for each in account.tags(US, f"{NETWORK}/VpcId") if each.startswith(CLAIM_TAG)]
        claims = [{"Key": claim, "Value": importer}]
        account.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=f"{NETWORK}/Old", Tags=claims)
        assert findings(run) == [("withdrawn", "note", "Old of network for all")]
        account.ssm(US).remove_tags_from_resource(
            ResourceType="Parameter", ResourceId=f"{NETWORK}/Old", TagKeys=[claim]
        )
        account.tag_claim(US, f"{NETWORK}/Old", "web")  # It has no such import.
        assert ("stale-claim", "healable", "Old of network for all") in findings(run)
        run("doctor", "--region", US, "--fix", "--yes")
        assert f"{NETWORK}/Old" not in account.everything(US)
        assert findings(run) == []

    def test_versions_that_differ_between_regions_are_found(self, run: Run, account: Account) -> None:
        for region, version in ((US, "0.1.0"), (EU, "0.2.0")):
            account.stack("strongref", region, outputs={"Version": {"Value": version}})
        _, out, _ = run("doctor", "--region", US, "--region", EU)
        assert "strongref is 0.2.0 in eu-west-1, 0.1.0 in us-east-1" in out
        assert "run strongref install in all of them" in out
        assert findings(run) == []


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


class TestRepublish:
    def test_deleted_values_come_back_and_their_importers_are_named(self, run: Run, account: Account) -> None:
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

    def test_only_what_was_asked_for_comes_back(self, run: Run, account: Account) -> None:
        account.ssm(US).delete_parameters(Names=[f"{NETWORK}/Alb/Arn", f"{NETWORK}/VpcId"])
        _, out, _ = run("republish", "network", "--region", US, "--key", "Alb", "--output", "json")
        document = json.loads(out)
        validate("republish", document)
        assert [each["keys"] for each in document["restored"]] == [["Alb.Arn"]]

    def test_a_named_consumer_is_its_importer(self, run: Run, account: Account) -> None:
        account.export("certificate", US, US, Consumer="site", Values={"Arn": SECRET})
        account.stack("site", US)
        account.ssm(US).delete_parameter(Name=f"/strongref/exports/site/{HOME}/{US}/certificate/Arn")
        _, out, _ = run("republish", "certificate", "--region", US)
        assert [line.split() for line in out.splitlines()[1:-1]] == [[US, "Arn", "site", "site"]]

    @pytest.mark.parametrize("stack", ["strongref", "of-another-name"])
    def test_a_secret_is_restored_under_the_key_of_the_regions_installation(
        self,
        run: Run,
        account: Account,
        monkeypatch: pytest.MonkeyPatch,
        stack: str,
    ) -> None:
        parameters = {"KmsKey": "alias/own", "EventBus": ""}
        account.stack(stack, US, exported="strongref-exporter", parameters=parameters)
        account.export("vault", EU, US, Values={"Password": SECRET}, SecureKeys=["Password"])
        name = f"{NETWORK.replace('network', 'vault')}/Password"

        def key() -> str:
            account.ssm(US).delete_parameter(Name=name)
            assert run("republish", "vault", "--region", EU)[0] == 0
            filters = [{"Key": "Name", "Values": [name]}]
            (found,) = account.ssm(US).describe_parameters(ParameterFilters=filters)["Parameters"]
            return str(found["KeyId"])

        assert key() == "alias/own"
        monkeypatch.setenv(KMS_KEY, "alias/given")
        assert key() == "alias/given"

    def test_without_a_word_on_the_key_no_secret_is_restored(
        self,
        run: Run,
        account: Account,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def denied(*_: object) -> None:
            raise AwsCallError("DescribeStacks", US, "AccessDenied")

        account.export("vault", EU, US, Values={"Password": SECRET}, SecureKeys=["Password"])
        name = f"{NETWORK.replace('network', 'vault')}/Password"
        account.ssm(US).delete_parameter(Name=name)
        monkeypatch.setattr(installed, "installed_in", denied)
        status, out, err = run("republish", "vault", "--region", EU)
        assert (status, out, err) == (3, "", "strongref: DescribeStacks in us-east-1 failed: AccessDenied.\n")
        assert name not in account.everything(US)

    def test_what_a_stack_imports_is_not_its_own_to_restore(self, run: Run) -> None:
        status, _, err = run("republish", "shop", "--key", "VpcId", "--region", US)
        assert (status, err) == (2, "strongref: shop imports VpcId: republish the stack that exports it\n")

    def test_a_value_that_another_restores_at_the_same_time_is_no_failure(
        self,
        run: Run,
        account: Account,
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
        account: Account,
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
        assert "are still being changed" in err
        assert err.replace("\n", "").isprintable()

    def test_it_says_for_whom_it_waits_and_how_long(
        self,
        run: Run,
        account: Account,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        wait_a_little(monkeypatch)
        account.ssm(US).delete_parameter(Name=f"{NETWORK}/VpcId")
        put_up_fence(account, "Exports.1", by="Exports of [/x] network\x1b[2J", until="2099-01-01T00:00:00+00:00")
        _, _, err = run("republish", "network", "--region", US)
        first, second, _ = err.split("\n")
        assert first.startswith("strongref: waiting up to 1 s for Exports of [/x] network")
        assert first.endswith(", which is changing exports of network")
        assert first.isprintable()
        assert second.startswith("strongref: The exports of stack network")
        shown: list[str] = []
        monkeypatch.setattr(sys, "stderr", Terminal())
        notice = wait_notice.WaitNotice(shown.append)
        scope = ExportScope.of("fences", f"{FENCES}/x")
        assert scope
        for seconds in (1.5, 0.5):
            notice(scope, Fence("[/x]", datetime(2099, 1, 1, tzinfo=UTC)), seconds)
        assert shown == [
            f"waiting up to {seconds} s for \\[/x], which is changing exports of network" for seconds in (2, 1)
        ]

    def test_nothing_is_restored_while_another_deployment_changes_it(
        self,
        run: Run,
        account: Account,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        account.ssm(US).delete_parameter(Name=f"{NETWORK}/VpcId")
        fence = f"{NETWORK}/x".replace("/exports/", "/fences/")
        until = '{"by":"x","until":"2099-01-01T00:00:00+00:00"}'
        account.ssm(US).put_parameter(Name=fence, Type="String", Value=until)
        monkeypatch.setattr(session, "FENCE_WAIT", 0.0)
        status, out, err = run("republish", "network", "--region", US)
        assert (status, out) == (1, "")
        assert err.startswith(
            "strongref: The exports of stack network (eu-west-1, 123456789012) are still being changed"
        )
        assert err.endswith("Run the command again when that has finished.\n")
        assert err.count("\n") == 1


class TestRegions:
    """`doctor` in several regions, of which some cannot be read."""

    BOTH = ("--region", EU, "--region", US)
    DENIED = f"GetParametersByPath of /strongref/fences in {US} was denied (AccessDeniedException)."

    def test_a_region_that_cannot_be_read_is_named_and_the_others_are_examined(
        self,
        run: Run,
        account: Account,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        account.export("certificate", US, EU, Values={"A": "x"})
        lost = f"/strongref/exports/_shared/{HOME}/{US}/certificate/A"
        account.ssm(EU).delete_parameter(Name=lost)
        account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
        deny(monkeypatch, "GetParametersByPath")
        status, out, err = run("doctor", *self.BOTH, "--output", "json")
        document = json.loads(out)
        validate("doctor", document)
        assert (status, document["regions"]) == (3, [EU])
        assert [(each["region"], each["kind"]) for each in document["findings"]] == [(EU, "missing")]
        (unread,) = document["unread"]
        assert (unread["region"], unread["error"].startswith(self.DENIED)) == (US, True)
        assert err == f"strongref: {US} was not read: {unread['error']}\n"

        status, out, err = run("doctor", *self.BOTH, "--fix", "--yes")
        assert (status, err.count("\n")) == (3, 1)
        assert "Repaired: missing (A of certificate for all)." in out
        assert account.ssm(EU).get_parameter(Name=lost)

    @pytest.mark.parametrize(
        "action", ["GetParametersByPath", "ListTagsForResource", "DescribeParameters", "GetResources", "ListExports"]
    )
    def test_whatever_is_denied_the_region_is_named_once(
        self, run: Run, monkeypatch: pytest.MonkeyPatch, action: str
    ) -> None:
        deny(monkeypatch, action)
        status, out, err = run("doctor", *self.BOTH)
        assert (status, out) == (3, f"Nothing is wrong in {EU}.\n")
        assert (err.startswith(f"strongref: {US} was not read: "), err.count("\n")) == (True, 1)

    def test_where_no_region_can_be_read_the_first_error_is_raised(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        deny(monkeypatch, "GetParametersByPath", EU)
        deny(monkeypatch, "GetParametersByPath", US)
        status, out, err = run("doctor", *self.BOTH)
        assert (status, out, err.count("\n")) == (3, "", 1)
        assert err.startswith(f"strongref: GetParametersByPath of /strongref/fences in {EU} was denied")


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        ("RemoveTagsFromResource", ("release", "network", "VpcId", "--consumer", "shop", "--reason", "x", "--yes")),
        ("PutParameter", ("release", "network", "VpcId", "--consumer", "shop", "--reason", "x", "--yes")),
        ("PutParameter", ("republish", "network")),
        ("GetParametersByPath", ("doctor",)),
    ],
)
def test_a_denied_call_is_about_the_callers_permissions(
    run: Run,
    account: Account,
    monkeypatch: pytest.MonkeyPatch,
    action: str,
    arguments: tuple[str, ...],
) -> None:
    account.ssm(US).delete_parameter(Name=f"{NETWORK}/Alb/Arn")
    deny(monkeypatch, action)
    status, _, err = run(*arguments, "--region", US)
    assert status == 3
    assert err.startswith(f"strongref: {action} of /strongref")
    assert "was denied (AccessDeniedException). Check the caller's permissions" in err
    assert "function" not in err


RELEASE = ("release", "network", "VpcId", "--consumer", "shop", "--region", US)


class TestRelease:
    def test_it_shows_what_may_break_and_asks(self, run: Run, account: Account) -> None:
        before = account.everything(US)
        status, out, err = run(*RELEASE, "--reason", "leaving")
        assert (status, err) == (2, "strongref: nothing was changed: give --yes where nobody can be asked\n")
        assert "shop still uses this. Afterward network can change or delete it, and nothing is refused." in out
        status, dry, _ = run(*RELEASE, "--reason", "leaving", "--dry-run")
        assert (status, dry) == (0, out)
        assert account.everything(US) == before

    def test_the_claim_goes_and_a_trace_stays(self, run: Run, account: Account) -> None:
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

    def test_the_hold_goes_with_the_last_claim_of_its_import(self, run: Run, account: Account) -> None:
        assert len(account.hold_stacks(EU)) == 1
        run(*RELEASE, "--reason", "x", "--yes")
        assert len(account.hold_stacks(EU)) == 1
        run("release", "network", "Alb", "--consumer", "shop", "--region", US, "--reason", "x", "--yes")
        assert account.hold_stacks(EU) == []

    def test_the_installations_bus_gets_a_notice(
        self,
        run: Run,
        account: Account,
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
        account: Account,
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

    def test_a_claim_of_a_deleted_stack_is_said_to_be_one(self, run: Run, account: Account) -> None:
        account.delete_stack("shop", US)
        _, out, _ = run(*RELEASE, "--reason", "x", "--dry-run")
        assert "shop is gone, or has no such import: nothing uses this claim." in out

    def test_a_claim_that_lists_do_not_show_yet_is_released(
        self,
        run: Run,
        account: Account,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        late = {f"{NETWORK}/{key}": {PRODUCER_TAG: account.stack("network", EU)} for key in ("VpcId", "Alb/Arn")}
        monkeypatch.setattr(OverviewReader, "_tags", lambda *_: late)
        assert run(*RELEASE, "--reason", "x", "--yes")[0] == 0
        assert account.claims(US, f"{NETWORK}/VpcId") == []

    def test_a_claim_that_no_stack_can_have_made_is_released(self, run: Run, account: Account) -> None:
        tags = [{"Key": f"{CLAIM_TAG}0123456789abcdef", "Value": "somebody"}]
        account.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=f"{NETWORK}/VpcId", Tags=tags)
        arguments = ("release", "network", "VpcId", "--consumer", "somebody", "--region", US, "--reason", "x", "--yes")
        assert run(*arguments)[0] == 0
        assert account.claims(US, f"{NETWORK}/VpcId") == [account.stack("shop", US)]

    def test_a_claim_of_manifests_is_released_if_no_set_lists_it(self, run: Run, account: Account) -> None:
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
        account: Account,
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
        account: Account,
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
        account: Account,
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

        monkeypatch.setattr(installed, "find", find)
        status, out, err = run(*RELEASE, "--reason", "x", "--yes")
        assert (status, "Released VpcId of network." in out) == (0, True)
        assert "Notices were not sent" in err

    def test_a_stack_is_told_from_manifests_of_the_same_name(self, run: Run, account: Account) -> None:
        tags = [{"Key": f"{CLAIM_TAG}0123456789abcdef", "Value": str(ManifestSet(HOME, "shop"))}]
        account.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=f"{NETWORK}/VpcId", Tags=tags)
        page = f"{ManifestSet(HOME, 'shop').ledger}/page"
        account.ssm(US).put_parameter(Name=page, Value=json.dumps([f"{NETWORK}/VpcId"]), Type="String")
        status, _, err = run(*RELEASE, "--reason", "x", "--yes")
        assert status == 2
        assert "named shop import this: give --consumer stack:shop or --consumer manifests:shop\n" in err
        arguments = ("release", "network", "VpcId", "--region", US, "--reason", "x", "--yes", "--consumer")
        status, _, err = run(*arguments, "manifests:shop")
        assert (status, err) == (
            2,
            "strongref: shop is a set of manifests: strongref resolve --unclaim shop releases it\n",
        )
        assert len(account.claims(US, f"{NETWORK}/VpcId")) == 2
        status, out, _ = run(*arguments, "stack:shop")
        assert (status, "shop still uses this." in out) == (0, True)
        assert account.claims(US, f"{NETWORK}/VpcId") == [str(ManifestSet(HOME, "shop"))]

    def test_whether_a_stack_of_another_account_uses_it_is_not_known(self, run: Run, account: Account) -> None:
        far = "arn:aws:cloudformation:us-east-1:999999999999:stack/far/1"
        tags = [{"Key": f"{CLAIM_TAG}0123456789abcdef", "Value": far}]
        account.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=f"{NETWORK}/Alb/Arn", Tags=tags)
        named = ("release", "network", "Alb.Arn", "--consumer", "far", "--region", US)
        status, out, _ = run(*named, "--reason", "x", "--dry-run")
        assert (status, "far may still use this. Afterward network can change or delete it" in out) == (0, True)

    def test_a_hold_stays_where_a_record_that_may_need_it_cannot_be_read(self, run: Run, account: Account) -> None:
        holds = account.hold_stacks(EU)
        record = f"{NETWORK}/Exports".replace("/exports/", "/records/")
        account.ssm(US).put_parameter(Name=record, Value="by hand", Type="String", Overwrite=True)
        assert run(*RELEASE, "--reason", "x", "--yes")[0] == 0
        assert run("doctor", "--region", US, "--fix", "--yes")[0] == 1
        assert account.hold_stacks(EU) == holds

    def test_a_reason_is_more_than_spaces(self, run: Run) -> None:
        status, _, err = run(*RELEASE, "--reason", " \t ")
        assert (status, err) == (
            2,
            "strongref: --reason is blank: say in up to 500 characters why the claim is released\n",
        )

    def test_a_reason_has_a_limit(self, run: Run) -> None:
        status, _, err = run(*RELEASE, "--reason", "x" * (MAX_REASON + 1))
        assert (status, f"at most {MAX_REASON} printable characters" in err) == (2, True)
