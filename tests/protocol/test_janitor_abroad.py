"""What the janitor does about places in other accounts: their holds, what a deleted stack left there, and the index."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.index import DROPPED, FORGOTTEN, Place, encode_place, index_name, path_of
from strongref.contract.names import RESTORED, Site, claim_tag
from strongref.contract.values import ParameterType
from strongref.protocol.findings import Finding, FindingType
from strongref.protocol.janitor import Checkpoint, Janitor
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports
from strongref.protocol.time import Patience
from tests.protocol.test_abroad import CLAIM, FURTHER, THERE, B, C, claim, deploy
from tests.protocol.test_holds import HOLD, hold_stacks, holding
from tests.protocol.test_out_of_reach import DatedCloud, not_writable
from tests.protocol.test_scenarios import EU, US, exports, name
from tests.support.builders import ACCOUNT
from tests.support.cloudformation.operations import ExportInUseError

if TYPE_CHECKING:
    from strongref.protocol.ports import StackInfo
    from tests.support.cloud import Cloud

IN_B = Place(B, US, "web")
INDEX = index_name("network", "Exports")
RECORD = f"/strongref/records/web/{ACCOUNT}/{EU}/network/Exports"


@pytest.fixture(params=[0.0, 2.0], ids=["reads at once", "late reads"])
def cloud(request: pytest.FixtureRequest) -> Cloud:
    cloud = DatedCloud()
    cloud.lag = ReadLag(request.param)
    cloud.trusting = {B: True, C: True}
    return cloud


def tend(cloud: Cloud, after: Checkpoint = ("", ""), *, only_abroad: bool = True, **more: Any) -> list[Finding]:
    """Run the janitor of the producer's region; what it found."""
    ports = Ports(cloud.stores, cloud, Patience(30, 2, lambda: 0.5), cloud.token, cloud.lag, abroad=cloud.store)
    janitor = Janitor(ports, EU, ACCOUNT, **({"tends_abroad": True} | more))
    return [each for done in janitor.tend(cloud.clock, after, only_abroad=only_abroad) for each in done.settled]


def kinds(found: list[Finding]) -> list[FindingType]:
    return [each.kind for each in found]


def release(cloud: Cloud, key: str = "A", site: str = THERE) -> None:
    tags = [each for each in cloud.tags(site, name(key)) if each.startswith("strongref:claim:")]
    cloud.ssm(site).remove_tags_from_resource(
        ResourceType="Parameter", ResourceId=f"/strongref/exports/{name(key)}", TagKeys=tags
    )


def forget(cloud: Cloud, *places: Place, kind: str = FORGOTTEN) -> None:
    for place in places:
        text = encode_place(cloud.stack("network", EU).arn, cloud.clock.now())
        mark = f"{INDEX}{path_of(place, kind)}"
        cloud.stores(EU, cloud.clock).overwrite(mark, ParameterType.STRING, text)


def indexed(cloud: Cloud) -> list[str]:
    return [each.removeprefix(f"{INDEX}/") for each in cloud.parameters_below(EU, INDEX)]


# -- holds ------------------------------------------------------------------------------------------------------------


def test_a_place_with_claims_is_held_once_until_the_last_is_gone(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a", "B": "b"}, B, C, Hold=HOLD)
    assert (tend(cloud), holding(cloud)) == ([], [])
    claim(cloud, "A")
    claim(cloud, "B", {claim_tag("api's import"): CLAIM})
    assert kinds(tend(cloud)) == [FindingType.UNHELD]
    (hold,) = hold_stacks(cloud)
    assert hold.name.startswith(f"strongref-hold-{B}-web-")
    assert holding(cloud) == [[HOLD]]
    with pytest.raises(ExportInUseError, match=f"in use by {hold.name}"):
        cloud.delete("network", EU)
    release(cloud, "A")
    assert (tend(cloud), holding(cloud)) == ([], [[HOLD]])
    release(cloud, "B")
    assert kinds(tend(cloud)) == [FindingType.STALE_HOLD]
    assert tend(cloud) == []
    cloud.delete("network", EU)
    assert [cloud.texts(each) for each in (US, EU, THERE, FURTHER)] == [{}] * 4


def test_each_place_and_each_export_has_a_hold_of_its_own(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a"}, B, C, Hold=HOLD)
    for site in (Site(US, B), Site(US, C)):
        cloud.store(site, cloud.clock).tag(f"/strongref/exports/{name('A')}", {claim_tag("it"): CLAIM})
    assert kinds(tend(cloud)) == [FindingType.UNHELD] * 2
    release(cloud, site=FURTHER)
    assert kinds(tend(cloud)) == [FindingType.STALE_HOLD]
    assert [each.name.rsplit("-", 1)[0] for each in hold_stacks(cloud)] == [f"strongref-hold-{B}-web"]


def test_an_export_that_names_no_hold_has_none(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a"}, B)
    claim(cloud)
    assert (tend(cloud), holding(cloud)) == ([], [])
    deploy(cloud, {"A": "a"}, B, Hold=HOLD)
    assert kinds(tend(cloud)) == [FindingType.UNHELD]


def test_a_claim_that_is_seen_by_the_second_look_keeps_the_hold(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    deploy(cloud, {"A": "a"}, B, Hold=HOLD)
    claim(cloud)
    tend(cloud)
    release(cloud)
    monkeypatch.setattr(ReadLag, "settle", lambda *_: claim(cloud))
    assert (tend(cloud), holding(cloud)) == ([], [[HOLD]])


def test_a_hold_that_was_deleted_or_changed_by_hand_comes_back(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a"}, B, Hold=HOLD)
    claim(cloud)
    tend(cloud)
    cloud.delete_stack(hold_stacks(cloud)[0].arn, EU)
    assert holding(cloud) == []
    assert kinds(tend(cloud)) == [FindingType.UNHELD]
    assert holding(cloud) == [[HOLD]]


def test_a_producer_at_work_and_a_record_that_is_lost_leave_the_hold_as_it_is(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a"}, B, Hold=HOLD)
    claim(cloud)
    tend(cloud)
    text = cloud.texts(THERE)[RECORD.removeprefix("/")]
    for record in ("{", None):
        cloud.ssm(THERE).delete_parameters(Names=[RECORD])
        if record:
            cloud.ssm(THERE).put_parameter(Name=RECORD, Type="String", Value=record)
        assert FindingType.STALE_HOLD not in kinds(tend(cloud))
        assert holding(cloud) == [[HOLD]]
    cloud.ssm(THERE).put_parameter(Name=RECORD, Type="String", Value=text)
    cloud.delete_stack(hold_stacks(cloud)[0].arn, EU)
    stack = cloud.stack("network", EU)
    stack.status, before = "UPDATE_IN_PROGRESS", stack.status
    assert (tend(cloud), holding(cloud)) == ([], [])
    stack.status = before
    assert kinds(tend(cloud)) == [FindingType.UNHELD]


def test_a_producer_that_is_stuck_loses_a_hold_that_nobody_needs(cloud: Cloud) -> None:
    """Otherwise it could not be deleted, which is the way out."""
    deploy(cloud, {"A": "a"}, B, Hold=HOLD)
    claim(cloud)
    tend(cloud)
    release(cloud)
    cloud.stack("network", EU).status = "UPDATE_ROLLBACK_FAILED"
    assert kinds(tend(cloud)) == [FindingType.STALE_HOLD]


@pytest.mark.parametrize("text", [None, "{", '{"format": 99, "at": "2025-01-01T00:00:00+00:00"}'])
def test_an_entry_that_is_lost_or_newer_leaves_the_hold_which_says_what_was_there(
    cloud: Cloud, text: str | None
) -> None:
    deploy(cloud, {"A": "a"}, B, Hold=HOLD)
    claim(cloud)
    tend(cloud)
    name_ = f"{INDEX}{path_of(IN_B)}"
    cloud.ssm(EU).delete_parameters(Names=[name_])
    if text:
        cloud.ssm(EU).put_parameter(Name=name_, Type="String", Value=text)
    found = tend(cloud)
    assert holding(cloud) == [[HOLD]]
    is_newer = bool(text and "format" in text)
    assert kinds(found) == [FindingType.NEWER_FORMAT if is_newer else FindingType.INDEX_ENTRY]
    assert tend(cloud) == (found if text else [])  # What cannot be read is not overwritten.
    if not text:
        release(cloud)
        assert kinds(tend(cloud)) == [FindingType.STALE_HOLD]


def test_what_is_held_is_what_the_own_index_names(cloud: Cloud) -> None:
    """Whoever may write in the other account could name any export of the stack in the record there."""
    deploy(cloud, {"A": "a"}, B)
    claim(cloud)
    record = json.loads(cloud.texts(THERE)[RECORD.removeprefix("/")])
    forged = json.dumps({**record, "hold": "network-Vpc"})
    cloud.ssm(THERE).put_parameter(Name=RECORD, Type="String", Value=forged, Overwrite=True)
    assert (tend(cloud), holding(cloud)) == ([], [])


def test_a_hold_whose_parameter_is_gone_is_found_by_what_it_imports(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a"}, B, Hold=HOLD)
    claim(cloud)
    tend(cloud)
    cloud.ssm(EU).delete_parameters(Names=[f"/{each}" for each in cloud.texts(EU) if "/holds/" in f"/{each}"])
    release(cloud)
    assert kinds(tend(cloud)) == [FindingType.STALE_HOLD]
    cloud.delete("network", EU)


def test_each_place_is_done_with_before_the_next(cloud: Cloud) -> None:
    """A run that goes on in another invocation leaves nothing of the places before."""
    deploy(cloud, {"A": "a"}, B, C, Hold=HOLD)
    claim(cloud)
    tend(cloud)
    release(cloud)
    cloud.ssm(FURTHER).delete_parameters(Names=[RECORD.replace(B, C), f"/strongref/exports/{name('A')}"])
    ports = Ports(cloud.stores, cloud, Patience(30, 2, lambda: 0.5), cloud.token, cloud.lag, abroad=cloud.store)
    janitor, found = Janitor(ports, EU, ACCOUNT, tends_abroad=True), list[FindingType]()
    after: Checkpoint = ("", "")
    for _ in range(3):
        progress = next(janitor.tend(cloud.clock, after, only_abroad=True))
        found += kinds(list(progress.settled))
        after = progress.mark
    assert found == [FindingType.STALE_HOLD, FindingType.INDEX_ENTRY]


def test_a_place_where_no_fence_can_be_put_up_stays_named(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a"}, B)
    there = cloud.ssm(THERE)
    there.delete_parameters(Names=[RECORD, f"/strongref/exports/{name('A')}"])
    there.before_call = not_writable
    assert kinds(tend(cloud)) == [FindingType.FAILED_CALL]
    assert indexed(cloud) == [f"{B}/{US}/web"]


def test_the_janitor_of_holds_leaves_those_of_places_alone(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a"}, B, Hold=HOLD)
    claim(cloud)
    tend(cloud)
    cloud.clock.sleep(7200)
    assert tend(cloud, only_abroad=False, tends_abroad=False) == []
    assert holding(cloud) == [[HOLD]]


def test_a_place_that_the_export_has_left_loses_its_hold(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a"}, B, Hold=HOLD)
    claim(cloud)
    tend(cloud)
    release(cloud)
    deploy(cloud, {"A": "a"}, ACCOUNT, Hold=HOLD)
    found = tend(cloud)
    assert sorted(kinds(found)) == [FindingType.INDEX_ENTRY, FindingType.STALE_HOLD]
    assert holding(cloud) == []
    assert indexed(cloud) == [f"{ACCOUNT}/{US}/web"]


# -- what cannot be reached -------------------------------------------------------------------------------------------


def test_a_denied_place_is_reported_keeps_its_hold_and_stops_nothing_else(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a"}, B, C, Hold=HOLD)
    claim(cloud)
    tend(cloud)
    release(cloud)
    cloud.store(Site(US, C), cloud.clock).tag(f"/strongref/exports/{name('A')}", {claim_tag("it"): CLAIM})
    cloud.trusting[B] = False
    found = tend(cloud)
    assert kinds(found) == [FindingType.UNREACHABLE, FindingType.UNHELD]
    assert (found[0].site, found[0].stacks) == (Site(US, B), (cloud.stack("network", EU).arn,))
    assert f"run strongref trust {ACCOUNT}" in found[0].why
    assert len(hold_stacks(cloud)) == 2
    assert f"{B}/{US}/web" in indexed(cloud)


@pytest.mark.parametrize("trusts", [False, True])
def test_a_forgotten_place_holds_nothing(cloud: Cloud, trusts: bool) -> None:
    deploy(cloud, {"A": "a"}, B, Hold=HOLD)
    claim(cloud)
    tend(cloud)
    cloud.trusting[B] = trusts
    forget(cloud, IN_B)
    found = kinds(tend(cloud))
    assert found == ([FindingType.STALE_HOLD, FindingType.FORGOTTEN] if trusts else [FindingType.STALE_HOLD])
    assert holding(cloud) == []
    if not trusts:
        cloud.delete("network", EU)
        tend(cloud, only_abroad=False)
        assert cloud.texts(EU) == {}


def test_an_account_that_was_taken_out_of_the_list_is_reported(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a"}, B)
    cloud.trusting = {}
    assert kinds(tend(cloud, only_abroad=False)) == [FindingType.UNREACHABLE]


# -- what a deleted stack left, and the index -------------------------------------------------------------------------


def test_what_a_deleted_stack_left_goes_unless_it_is_claimed(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a", "B": "b"}, B)
    claim(cloud)
    cloud.stack("network", EU).status = "DELETE_COMPLETE"
    found = tend(cloud)
    assert {FindingType.ORPHANED, FindingType.IMPORTED_ORPHAN} == set(kinds(found))
    assert cloud.values(THERE) == {name("A"): "a"}
    assert indexed(cloud) == [f"{B}/{US}/web"]
    release(cloud)
    assert {FindingType.ORPHANED, FindingType.INDEX_ENTRY} == set(kinds(tend(cloud)))
    assert (cloud.texts(THERE), indexed(cloud)) == ({}, [])


def test_what_was_left_without_reaching_it_goes_once_it_is_reached(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a"}, B)
    forget(cloud, IN_B)
    forget(cloud, IN_B, kind=DROPPED)
    assert FindingType.ORPHANED in kinds(tend(cloud))
    assert cloud.values(THERE) == {}


def test_what_its_own_janitor_does_is_left_to_that(cloud: Cloud) -> None:
    """It puts back what is missing, and says so once that is claimed; and it knows its own stacks."""
    deploy(cloud, {"A": "a", "B": "b"}, B)
    claim(cloud, tags={claim_tag("it"): CLAIM, **RESTORED})
    cloud.ssm(THERE).delete_parameters(Names=[f"/strongref/exports/{name('B')}"])
    before = cloud.tags(THERE, name("A"))
    assert kinds(tend(cloud)) == [FindingType.CLEANED_UP]
    assert (cloud.tags(THERE, name("A")), cloud.values(THERE)) == (before, {name("A"): "a"})


def test_a_place_where_nothing_is_published_is_named_no_longer(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a"}, B, C)
    there = cloud.ssm(THERE)
    there.delete_parameters(Names=[RECORD, f"/strongref/exports/{name('A')}"])
    assert kinds(tend(cloud)) == [FindingType.INDEX_ENTRY]
    assert indexed(cloud) == [f"{C}/{US}/web"]


def test_without_exports_to_other_accounts_a_run_makes_the_same_calls(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a"}, ACCOUNT, Hold=HOLD)
    counts = []
    for tends_abroad in (False, True):
        cloud.calls.clear()
        tend(cloud, only_abroad=False, tends_abroad=tends_abroad)
        counts.append([action for action, _ in cloud.calls])
    assert counts[0] == counts[1] != []
    cloud.calls.clear()
    tend(cloud)
    assert {request["Path"] for _, request in cloud.calls} == {"/strongref/index", "/strongref/holds"}


def test_a_stack_is_asked_about_once_for_all_places(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """CloudFormation answers few calls a second, and a run must not take longer than a quarter of an hour."""
    asked: list[str] = []
    by_arn = cloud.by_arn

    def counted(arn: str) -> StackInfo | None:
        asked.append(arn)
        return by_arn(arn)

    monkeypatch.setattr(cloud, "by_arn", counted)
    counts = []
    for accounts in ((B,), (B, C)):
        deploy(cloud, {"A": "a"}, *accounts)
        asked.clear()
        assert tend(cloud) == []
        counts.append(len(asked))
    assert counts == [1, 1]


def test_a_run_goes_on_where_the_one_before_it_stopped(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a"}, B, C, Hold=HOLD)
    cloud.deploy("api", EU, {"Exports": exports({"A": "a"}, Account=B, Region="eu-central-1")})
    ports = Ports(cloud.stores, cloud, Patience(30, 2, lambda: 0.5), cloud.token, cloud.lag, abroad=cloud.store)
    janitor = Janitor(ports, EU, ACCOUNT, tends_abroad=True)
    marks = [each.mark for each in janitor.tend(cloud.clock, only_abroad=True)]
    assert marks == sorted(marks)
    for number, mark in enumerate(marks):
        assert [each.mark for each in janitor.tend(cloud.clock, mark, only_abroad=True)] == marks[number + 1 :]
    assert len(marks) == len({B, C} | {"api", "the end"})
    first, *_ = janitor.tend(cloud.clock, skip=True, only_abroad=True)
    assert [(each.kind, each.site) for each in first.findings] == [(FindingType.FAILED_CALL, Site("eu-central-1", B))]
    assert first.values == 0
