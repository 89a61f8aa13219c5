"""What `strongref doctor` finds, and what each finding says."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.names import CLAIM_TAG, PRODUCER_TAG
from strongref.protocol import janitor_holds
from strongref.protocol.hold_keeper import HoldKeeper
from strongref.protocol.installations import IMPORTER
from strongref.protocol.janitor_index import IndexTender
from strongref.refusals import ProducerLeavingError
from strongref_cli.doctor import diagnosis
from strongref_toolkit.errors import CallerDeniedError
from tests.support.commands import SECRET
from tests.support.doctor import EU, FENCES, HOLD, HOME, NETWORK, US, findings, put_up_fence

if TYPE_CHECKING:
    from tests.support.commands import Run
    from tests.support.overview import Account


def test_what_is_wrong_has_a_name_and_a_next_step(run: Run, account: Account) -> None:
    ssm = account.ssm(US)
    ssm.delete_parameter(Name=f"{NETWORK}/Alb/Arn")
    ssm.put_parameter(Name=f"{NETWORK}/VpcId", Value="by hand", Type="String", Overwrite=True)
    ssm.put_parameter(Name=f"{NETWORK}/Mine", Value="x", Type="String")
    assert findings(run) == [
        ("changed-by-hand", "action", "VpcId of network for _shared"),
        ("foreign", "action", "Mine of network for _shared"),
        ("missing", "repairable", "Alb.Arn of network for _shared"),
    ]
    _, out, _ = run("doctor", "--region", US)
    assert "--fix restores it; then deploy its importers with another Revision" in out
    assert out.endswith("3 findings in us-east-1: 1 that --fix repairs, 2 that need a person, 0 to know.\n")


def test_claims_by_hand_and_later_formats_are_shown(run: Run, account: Account) -> None:
    ssm = account.ssm(US)
    far = "arn:aws:cloudformation:us-east-1:999999999999:stack/far/1"
    for key, claim in (("VpcId", "somebody"), ("Alb/Arn", far)):
        tags = [{"Key": f"{CLAIM_TAG}0123456789abcdef", "Value": claim}]
        ssm.add_tags_to_resource(ResourceType="Parameter", ResourceId=f"{NETWORK}/{key}", Tags=tags)
    index = "/strongref/index/other/Exports"
    ssm.put_parameter(Name=index, Value='{"format": 2, "writer": "9.8.7"}', Type="String")
    assert findings(run) == [
        ("newer-format", "action", index),
        ("unknown-claim", "action", "Alb.Arn of network for _shared"),
        ("stale-claim", "repairable", "VpcId of network for _shared"),
    ]
    _, out, _ = run("doctor", "--region", US)
    assert "upgrade strongref in this region: /strongref/index/other/Exports has format 2, written by" in out
    assert "nobody can check whether its import exists; if not, strongref release removes it" in out


def test_what_is_being_changed_is_not_judged(run: Run, account: Account) -> None:
    account.ssm(US).put_parameter(Name=f"{NETWORK}/VpcId", Value="half", Type="String", Overwrite=True)
    fence = f"{NETWORK}/x".replace("/exports/", "/fences/")
    until = '{"by":"x","until":"2099-01-01T00:00:00+00:00"}'
    account.ssm(US).put_parameter(Name=fence, Type="String", Value=until)
    assert findings(run) == [("in-progress", "note", "exports of network for _shared")]


def test_fences_are_shown_with_their_holder_and_their_end(run: Run, account: Account) -> None:
    put_up_fence(account, "Exports.1", by="Exports of stack network", until="2099-01-01T00:00:00+00:00")
    put_up_fence(account, "janitor.2", by="the janitor", until="2001-01-01T00:00:00+00:00")
    put_up_fence(account, "Done.3", by="Done of stack network", until="2099-01-01T00:00:00+00:00", done=True)
    account.ssm(US).put_parameter(Name=f"{FENCES}/odd", Type="String", Value="nonsense")
    manifests = f"/strongref/fences/_manifests/{HOME}/{US}/site/manifests-site.4"
    text = json.dumps({"by": "the manifests site", "until": "2099-01-01T00:00:00+00:00"})
    account.ssm(US).put_parameter(Name=manifests, Type="String", Value=text)
    assert findings(run) == [
        ("unreadable-fence", "action", "fence odd of network for _shared"),
        ("expired-fence", "repairable", "fence janitor.2 of network for _shared"),
        ("in-progress", "note", "exports of network for _shared"),
        ("in-progress", "note", "manifests site"),
    ]
    _, out, _ = run("doctor", "--region", US)
    assert re.search(r"held by Exports of stack network until [-0-9]+ [:0-9]+ UTC, or longer if it goes on", out)
    assert re.search(r"held by the janitor until [-0-9]+ [:0-9]+ UTC, which has crashed; --fix deletes it", out)
    assert "held by an unknown holder until 20" in out
    assert "wait until then, or delete it if nothing is being deployed there" in out
    status, out, err = run("doctor", "--region", US, "--fix", "--yes")
    assert (status, err) == (1, "")
    assert "Repaired: expired-fence (fence janitor.2 of network for _shared)." in out
    assert f"{FENCES}/janitor.2" not in account.everything(US)
    account.ssm(US).delete_parameter(Name=f"{FENCES}/odd")  # as the finding says
    assert {kind for kind, *_ in findings(run)} == {"in-progress"}


def test_a_hold_that_cannot_be_made_is_shown_with_its_reason(
    run: Run, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    account.delete_stack(account.hold_stacks(EU)[0], EU)

    def look(*_: object) -> None:
        raise ProducerLeavingError("stack network", HOLD, deleted=False)

    monkeypatch.setattr(HoldKeeper, "look", look)
    status, out, err = run("doctor", "--region", US)
    assert (status, err) == (1, "")
    assert "hold-impossible" in out
    assert "The reason: network-Exports cannot be held: stack network removes it from its template" in out


def test_what_cannot_be_examined_is_a_finding(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    read = IndexTender._listed

    def listed(index: IndexTender, region: str) -> Any:
        if region == EU:
            raise CallerDeniedError("GetParametersByPath", "AccessDenied", "/strongref/index", EU)
        return read(index, region)

    monkeypatch.setattr(IndexTender, "_listed", listed)
    assert findings(run) == [("failed-call", "action", "/strongref/index/network/Exports")]


def test_an_import_without_its_hold_is_found(run: Run, account: Account) -> None:
    account.delete_stack(account.hold_stacks(EU)[0], EU)
    assert [kind for kind, *_ in findings(run)] == ["unheld"]


def test_a_producer_that_names_no_hold_is_worth_knowing(run: Run, account: Account) -> None:
    account.export("certificate", US, US, Consumer="shop", Values={"Arn": SECRET})
    account.claim("shop", US, "certificate", US, "Arn", Consumer="shop")
    assert findings(run) == [("unprotected", "note", "exports of certificate for shop")]


def test_a_value_near_a_limit_is_found(run: Run, account: Account) -> None:
    tags = [{"Key": f"tag{number}", "Value": "x"} for number in range(42)]
    account.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=f"{NETWORK}/VpcId", Tags=tags)
    account.export("long", EU, US, Values={"Text": "x" * 7500})
    assert findings(run) == [
        ("near-size-limit", "action", "Text of long for _shared"),
        ("near-tag-limit", "action", "VpcId of network for _shared"),
    ]


def test_a_region_that_is_near_its_limit_is_found(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "MAX_PARAMETERS", 4)
    ((kind, severity, subject),) = findings(run)
    assert (kind, severity) == ("near-parameter-limit", "action")
    assert subject.endswith(" parameters of strongref; a region has 4 standard ones")


def test_a_hold_whose_import_is_gone_is_deleted(run: Run, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    (hold,) = account.hold_stacks(EU)
    account.delete_stack("shop", US)
    assert ("stale-hold", "repairable", hold) not in findings(run, "--region", EU)  # It may be of an import at work.
    monkeypatch.setattr(janitor_holds, "YOUNG", timedelta(0))
    assert ("stale-hold", "repairable", hold) in findings(run, "--region", EU)
    run("doctor", "--region", EU, "--region", US, "--fix", "--yes")
    assert account.hold_stacks(EU) == []
    assert findings(run, "--region", EU) == []


def test_a_missing_entry_of_the_index_is_written(run: Run, account: Account) -> None:
    entry = "/strongref/index/network/Exports"
    account.ssm(EU).delete_parameter(Name=entry)
    assert findings(run) == [("index-entry", "repairable", entry)]
    run("doctor", "--region", US, "--fix", "--yes")
    assert entry in account.everything(EU)
    assert findings(run) == []


@pytest.mark.parametrize("harm", ["value", "record"])
def test_another_revision_mends_what_was_changed_by_hand(run: Run, account: Account, harm: str) -> None:
    names = {"value": f"{NETWORK}/VpcId", "record": f"{NETWORK}/Exports".replace("/exports/", "/records/")}
    account.ssm(US).put_parameter(Name=names[harm], Value="by hand", Type="String", Overwrite=True)
    kinds = {"value": ("changed-by-hand", "VpcId"), "record": ("unreadable-record", "record Exports")}
    kind, subject = kinds[harm]
    assert [each for each in findings(run) if each[0] != "outdated-import"] == [
        (kind, "action", f"{subject} of network for _shared")
    ]
    _, out, _ = run("doctor", "--region", US)
    assert "deploy the producer with another Revision of its Export" in out
    values = {"Alb": {"Arn": SECRET, "Sg": SECRET}, "VpcId": SECRET}
    account.export("network", EU, US, Values=values, Hold=HOLD, Revision="2")
    assert findings(run) == []


def test_what_a_deleted_producer_leaves_is_deleted_unless_it_is_imported(run: Run, account: Account) -> None:
    account.delete_stack("network", EU)
    found = findings(run)
    assert {(kind, subject) for kind, _, subject in found if "orphan" in kind} == {
        ("imported-orphan", "Alb.Arn of network for _shared"),
        ("imported-orphan", "Alb.Sg of network for _shared"),
        ("imported-orphan", "VpcId of network for _shared"),
    }
    account.delete_stack("shop", US)
    assert {kind for kind, *_ in findings(run)} >= {"orphaned"}
    run("doctor", "--region", US, "--region", EU, "--fix", "--yes")
    assert [name for name in account.everything(US) if name.startswith(NETWORK)] == []


def test_a_withdrawn_value_is_worth_knowing_and_a_stray_one_goes(run: Run, account: Account) -> None:
    tags = [{"Key": PRODUCER_TAG, "Value": account.stack("network", EU)}]
    account.ssm(US).put_parameter(Name=f"{NETWORK}/Old", Value="x", Type="String", Tags=tags)
    assert findings(run) == [("stray", "repairable", "Old of network for _shared")]
    (importer,) = account.claims(US, f"{NETWORK}/VpcId")
    (claim,) = [each for each in account.tags(US, f"{NETWORK}/VpcId") if each.startswith(CLAIM_TAG)]
    claims = [{"Key": claim, "Value": importer}]
    account.ssm(US).add_tags_to_resource(ResourceType="Parameter", ResourceId=f"{NETWORK}/Old", Tags=claims)
    assert findings(run) == [("withdrawn", "note", "Old of network for _shared")]
    account.ssm(US).remove_tags_from_resource(ResourceType="Parameter", ResourceId=f"{NETWORK}/Old", TagKeys=[claim])
    account.tag_claim(US, f"{NETWORK}/Old", "web")  # It has no such import.
    assert ("stale-claim", "repairable", "Old of network for _shared") in findings(run)
    run("doctor", "--region", US, "--fix", "--yes")
    assert f"{NETWORK}/Old" not in account.everything(US)
    assert findings(run) == []


def test_versions_that_differ_between_regions_are_found(run: Run, account: Account) -> None:
    for region, version in ((US, "0.1.0"), (EU, "0.2.0")):
        account.stack("strongref", region, outputs={"Version": {"Value": version}})
    _, out, _ = run("doctor", "--region", US, "--region", EU)
    assert "strongref is 0.2.0 in eu-west-1, 0.1.0 in us-east-1" in out
    assert "run strongref install in all of them" in out
    assert findings(run) == []


def test_a_region_with_exports_and_without_strongref_is_worth_knowing(run: Run, account: Account) -> None:
    account.ssm(US).delete_parameter(Name=IMPORTER)
    assert ("not-installed", "note", "3 exports to it") in findings(run)


def test_a_list_of_stacks_that_is_cut_says_where_all_are(run: Run, account: Account) -> None:
    assert "names all stacks" not in run("doctor", "--region", US)[1]
    account.export("plain", EU, US, Values={"A": SECRET})
    for number in range(4):
        account.claim(f"site-{number}", US, "plain", EU, "A", Shared="true")
    out = run("doctor", "--region", US)[1]
    assert "and 1 more" in out
    assert "\n--output json names all stacks.\n" in out
