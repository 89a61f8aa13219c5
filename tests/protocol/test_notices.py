"""Who learns what: a notice for each deployment that touches imported values, once, and never with a value."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.event import RequestType
from strongref.contract.names import Site, claim_tag
from strongref.contract.notices import NoticeType
from strongref.errors import OutOfTimeError, StoreError
from strongref.protocol.exports import Exporter
from strongref.protocol.findings import Finding, FindingType
from strongref.protocol.janitor import Janitor, JanitorProgress, notices
from strongref.protocol.ports import Ports
from strongref.protocol.time import Patience
from strongref.refusals import ConflictingExportError, ExportsInUseError, ExportsKeptError, OutOfReachError
from tests.support.builders import ACCOUNT, WEB
from tests.support.cloud import Cloud
from tests.support.cloudformation.operations import LaterResourceError
from tests.support.cloudformation.stacks import CLEANUP
from tests.support.notices import detail_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.contract.event import Event

EU, US, AP = "eu-west-1", "us-east-1", "ap-southeast-2"
OTHER = "222222222222"
OLD, NEW = "s3cret-old", "s3cret-new"
DENIED = StoreError("PutParameter", "AccessDeniedException", "/x", US)


def exports(values: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"Region": US, "Consumer": "web", "Values": values} | more


def imports(*names: str, **more: Any) -> dict[str, Any]:
    return {"From": {"Stack": "network", "Region": EU}, "Names": list(names), **more}


@pytest.fixture
def cloud() -> Cloud:
    """A and B are imported by web, C by nobody."""
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports({"A": OLD, "B": OLD, "C": OLD})})
    cloud.deploy("web", US, {"Imports": imports("A", "B")})
    return cloud


def told(cloud: Cloud) -> list[tuple[str, list[str], list[str]]]:
    """The notices so far: type, keys and importers. No notice has a value, and each is as the schema says."""
    found = []
    for notice in cloud.notices:
        detail = detail_of(notice)
        assert OLD not in notice.body
        assert NEW not in notice.body
        keys, importers = [each["key"] for each in detail["values"]], [each["name"] for each in detail["importers"]]
        found.append((notice.type.value, keys, importers))
    return found


def test_what_touches_no_imported_value_is_not_reported(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": OLD, "B": OLD, "C": NEW, "D": NEW})})
    cloud.deploy("network", EU, {"Exports": exports({"A": OLD, "B": OLD})})
    cloud.delete("web", US)
    cloud.delete("network", EU)
    assert cloud.notices == []


def test_a_refused_change_is_reported_with_what_and_to_whom(cloud: Cloud) -> None:
    with pytest.raises(ExportsInUseError) as refused:
        cloud.deploy("network", EU, {"Exports": exports({"A": NEW, "C": NEW})})
    assert told(cloud) == [("Change Refused", ["A", "B"], ["web"])]
    detail = detail_of(cloud.notices[0])
    assert detail["summary"] == str(refused.value)
    assert [each["change"] for each in detail["values"]] == ["changed", "dropped"]
    assert detail["request"]["type"] == "Update"
    assert detail["export"] == "Exports"


def test_a_refused_deletion_is_reported(cloud: Cloud) -> None:
    with pytest.raises(ExportsInUseError):
        cloud.delete("network", EU)
    assert told(cloud) == [("Change Refused", ["A", "B"], ["web"])]
    assert detail_of(cloud.notices[0])["request"]["type"] == "Delete"


@pytest.mark.parametrize(("policy", "kind"), [("refuse", "Change Refused"), ("propagate", "Values Propagated")])
def test_a_value_in_another_account_has_that_account(cloud: Cloud, policy: str, kind: str) -> None:
    cloud.trusting = {OTHER: True}
    export = exports({"A": OLD}, Account=[ACCOUNT, OTHER], Consumer="all", OnChange=policy)
    cloud.deploy("far", EU, {"Exports": export})
    cloud.deploy("here", US, {"Imports": imports("A", Consumer="all") | {"From": {"Stack": "far", "Region": EU}}})
    name, there = f"/strongref/exports/all/{ACCOUNT}/{EU}/far/A", cloud.store(Site(US, OTHER), cloud.clock)
    assert there.tag(name, {claim_tag("web's import"): WEB.replace(ACCOUNT, OTHER)})
    with suppress(ExportsInUseError):
        cloud.deploy("far", EU, {"Exports": export | {"Values": {"A": NEW}}})
    assert told(cloud) == [(kind, ["A", "A"], ["here", "web"])]
    values = detail_of(cloud.notices[0])["values"]
    assert sorted((each["region"], each.get("account", "")) for each in values) == [(US, ""), (US, OTHER)]


def test_what_the_janitor_finds_in_other_accounts_has_their_places() -> None:
    there = [Site(US, OTHER), Site(US, "333333333333")]
    found = [Finding(FindingType.UNREACHABLE, "/strongref/x", site=each) for each in there]
    (notice,) = notices(ACCOUNT, EU, found)
    assert [(each["region"], each["account"]) for each in detail_of(notice)["findings"]] == there


def test_a_refusal_that_is_the_deployers_own_mistake_concerns_nobody_else(cloud: Cloud) -> None:
    with pytest.raises(ConflictingExportError):
        cloud.deploy("network", EU, {"Exports": exports({"A": OLD, "B": OLD, "C": OLD}), "More": exports({"A": NEW})})
    assert cloud.notices == []


def test_propagated_values_are_reported_once_with_who_must_be_deployed_again(cloud: Cloud) -> None:
    cloud.deploy("web2", US, {"Imports": imports("B", Consumer="web")})
    wanted = exports({"A": NEW, "B": NEW, "C": NEW}, OnChange="propagate")
    cloud.deploy("network", EU, {"Exports": wanted})
    assert told(cloud) == [("Values Propagated", ["A", "B"], ["web", "web2"])]
    cloud.deploy("network", EU, {"Exports": wanted | {"Revision": "2"}})
    assert len(cloud.notices) == 1


def test_one_notice_has_all_regions_and_consumers_of_an_export(cloud: Cloud) -> None:
    both = exports({"A": OLD}, Region=[US, AP], Consumer="all")
    cloud.deploy("network", EU, {"Exports": exports({"A": OLD, "B": OLD, "C": OLD}), "Both": both})
    for region in (US, AP):
        cloud.deploy(f"in-{region}", region, {"Imports": imports("A", Consumer="all")})
    changed = {"Both": both | {"Values": {"A": NEW}, "OnChange": "propagate"}}
    cloud.deploy("network", EU, {"Exports": exports({"A": OLD, "B": OLD, "C": OLD}), **changed})
    assert told(cloud) == [("Values Propagated", ["A", "A"], [f"in-{AP}", f"in-{US}"])]
    summary = detail_of(cloud.notices[0])["summary"]
    assert f"in-{AP}" in summary
    assert f"in-{US}" in summary


def test_values_that_stay_when_their_export_leaves_the_template_are_reported_once(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {})
    assert told(cloud) == [("Values Kept", ["A", "B"], ["web"])]
    assert detail_of(cloud.notices[0])["request"]["type"] == "Delete"


def test_values_that_were_kept_before_are_not_reported_by_a_later_rollback(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {})
    cloud.deploy("network", EU, {"Exports": exports({"D": OLD})})
    with pytest.raises(LaterResourceError):
        cloud.deploy("network", EU, {"Exports": exports({"D": NEW})}, fails=True)
    assert told(cloud) == [("Values Kept", ["A", "B"], ["web"])]


def delivered(cloud: Cloud, event: Event) -> None:
    """Lambda delivers an event to the exporter."""
    ports = Ports(cloud.stores, cloud, Patience(120, 2, lambda: 0.5), cloud.token, cloud.lag, cloud.notices.append)
    Exporter(ports).handle(event, cloud.clock)


def update(cloud: Cloud, values: dict[str, str], **more: Any) -> Event:
    stack = cloud.stack("network", EU)
    stack.begin_update()
    resource = stack.resources["Exports"]
    request = stack.request(
        RequestType.UPDATE, "Exports", exports(values, **more), resource.physical_id, dict(resource.properties)
    )
    return cloud.event(request)


def removed(cloud: Cloud) -> Event:
    """The Delete of an Export in the cleanup of its stack."""
    stack = cloud.stack("network", EU)
    stack.status = CLEANUP
    resource = stack.resources["Exports"]
    return cloud.event(stack.request(RequestType.DELETE, "Exports", resource.properties, resource.physical_id))


def test_an_event_that_is_delivered_again_when_it_is_done_reports_nothing_more(cloud: Cloud) -> None:
    event = update(cloud, {"A": NEW, "B": NEW, "C": NEW}, OnChange="propagate")
    delivered(cloud, event)
    delivered(cloud, event)
    assert told(cloud) == [("Values Propagated", ["A", "B"], ["web"])]


def reported_however_it_is_cut(deployed: Callable[[], tuple[Cloud, Event]], error: StoreError) -> list[list[str]]:
    """What was reported of an event, where every call in turn is the first that fails, and the event comes again."""
    found = []
    for stop in count():
        cloud, event = deployed()
        calls = count()

        def fail_after(*_: object, calls: count[int] = calls, stop: int = stop) -> None:
            if next(calls) == stop:
                raise error

        for region in (US, AP):
            cloud.ssm(region).before_call = fail_after
        for _ in range(2):
            with suppress(StoreError, ExportsKeptError, OutOfReachError):
                delivered(cloud, event)
            cloud.clock.sleep(1000)  # The fences expire.
        told(cloud)
        values = [each for notice in cloud.notices for each in detail_of(notice)["values"]]
        found.append(sorted(f"{each['region']} {each['key']}" for each in values))
        if next(calls) <= stop:
            return found
    raise AssertionError


@pytest.mark.parametrize("error", [OutOfTimeError("PutParameter", "OutOfTime", "/x", US), DENIED])
def test_however_a_propagation_is_cut_into_invocations_each_value_is_reported_once(error: StoreError) -> None:
    """In two regions, with records of several parts."""
    values = {f"Key{number}": OLD + "x" * 3000 for number in range(4)}

    def deployed() -> tuple[Cloud, Event]:
        cloud = Cloud()
        cloud.deploy("network", EU, {"Exports": exports(values, Region=[US, AP])})
        for region in (US, AP):
            cloud.deploy("web", region, {f"Import{key}": imports(key) for key in values})
        changed = dict.fromkeys(values, NEW + "x" * 3000)
        return cloud, update(cloud, changed, Region=[US, AP], OnChange="propagate")

    found = reported_however_it_is_cut(deployed, error)
    assert len(found) > 20
    assert {tuple(each) for each in found} == {tuple(f"{region} {key}" for region in (AP, US) for key in values)}


@pytest.mark.parametrize("error", [OutOfTimeError("DeleteParameters", "OutOfTime", "/x", US), DENIED])
def test_however_a_cleanup_is_cut_into_invocations_each_value_is_reported_once(error: StoreError) -> None:
    def deployed() -> tuple[Cloud, Event]:
        cloud = Cloud()
        cloud.deploy("network", EU, {"Exports": exports({f"Key{number}": OLD for number in range(25)})})
        cloud.deploy("web", US, {"Imports": imports("Key3")})
        return cloud, removed(cloud)

    found = reported_however_it_is_cut(deployed, error)
    assert len(found) > 20
    assert {tuple(each) for each in found} == {(f"{US} Key3",)}


FOUND = [
    Finding(FindingType.STALE_CLAIM, f"/strongref/exports/web/{ACCOUNT}/{EU}/network/A", (WEB,)),
    Finding(FindingType.CHANGED_BY_HAND, f"/strongref/exports/web/{ACCOUNT}/{EU}/network/B", (WEB,)),
    Finding(FindingType.WITHDRAWN, f"/strongref/exports/web/{ACCOUNT}/{EU}/network/C", (WEB,)),
]


def test_the_janitor_reports_repairs_and_what_needs_a_person_apart_and_nothing_else() -> None:
    found = {notice.type: detail_of(notice)["findings"] for notice in notices(ACCOUNT, US, FOUND)}
    assert {kind: [each["finding"] for each in listed] for kind, listed in found.items()} == {
        NoticeType.REPAIRS_MADE: ["stale-claim"],
        NoticeType.FINDINGS_REPORTED: ["changed-by-hand"],
    }


def test_what_is_left_for_the_next_run_is_not_reported_yet() -> None:
    busy = JanitorProgress(("a", "A"), 3, tuple(FOUND), busy=True)
    assert busy.settled == ()


def test_what_a_run_finds_is_reported_without_values(cloud: Cloud) -> None:
    parameter = f"/strongref/exports/web/{ACCOUNT}/{EU}/network/A"
    cloud.ssm(US).put_parameter(Name=parameter, Type="String", Value=NEW, Overwrite=True)
    cloud.vanish("web", US)
    ports = Ports(cloud.stores, cloud, Patience(5, 2, lambda: 0.5), cloud.token)
    findings = [each for done in Janitor(ports, US, ACCOUNT).tend(cloud.clock) for each in done.settled]
    sent = list(notices(ACCOUNT, US, findings))
    assert [notice.type for notice in sent] == [NoticeType.REPAIRS_MADE, NoticeType.FINDINGS_REPORTED]
    for notice in sent:
        assert {each["consumer"] for each in detail_of(notice)["findings"]} == {"web"}
        assert OLD not in notice.body
        assert NEW not in notice.body


def test_a_cleanup_that_is_delivered_again_reports_nothing_more(cloud: Cloud) -> None:
    event = removed(cloud)
    for _ in range(2):
        with pytest.raises(ExportsKeptError):
            delivered(cloud, event)
    assert told(cloud) == [("Values Kept", ["A", "B"], ["web"])]
