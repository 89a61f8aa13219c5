"""A region that cannot be reached: mistyped, not enabled, denied, or gone for good."""

from __future__ import annotations

import json
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from strongref.contract.event import RequestType
from strongref.contract.fence import Fence
from strongref.contract.index import FORGOTTEN, Place, encode_place, index_name, path_of
from strongref.contract.notices import NoticeType
from strongref.contract.values import ParameterType
from strongref.errors import OutdatedRequestError, PartialCreateError, StoreError, StrongRefError
from strongref.protocol.findings import FindingType
from strongref.protocol.lag import ReadLag
from strongref.protocol.out_of_reach import may_pass_over
from strongref.refusals import ExportsInUseError, OutOfReachError
from tests.protocol.test_janitor import found
from tests.protocol.test_scenarios import AP, EU, US, exports, imports, name
from tests.support.builders import ACCOUNT, SCOPE
from tests.support.cloud import Cloud
from tests.support.cloudformation.operations import ExportInUseError, LaterResourceError
from tests.support.cloudformation.requests import SIGNED_FORMAT
from tests.support.cloudformation.stacks import ROLLBACK

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.contract.event import Event
    from tests.support.cloudformation.requests import ResourceRequest

CENTRAL = "eu-central-1"
INDEX = index_name("network", "Exports")
IN_AP = Place(ACCOUNT, AP, "web")
COMPLETE, ROLLED_BACK = "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"


def unreached(action: str, _request: dict[str, Any]) -> None:
    """Every call is denied, as by a service control policy."""
    raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, action)


def nowhere(_action: str, _request: dict[str, Any]) -> None:
    """There is no such region."""
    raise EndpointConnectionError(endpoint_url="https://ssm.eu-wset-1")


def not_writable(action: str, request: dict[str, Any]) -> None:
    """No parameter can be put, not even a fence."""
    if action == "PutParameter":
        unreached(action, request)


def no_record(action: str, request: dict[str, Any]) -> None:
    """No record can be put."""
    if "/records/" in str(request):
        not_writable(action, request)


def full(action: str, request: dict[str, Any]) -> None:
    """The region has as many parameters as its quota allows, so nothing new can be put."""
    if action == "PutParameter" and "/fences/" in request["Name"]:
        raise ClientError({"Error": {"Code": "ParameterLimitExceeded", "Message": "no"}}, action)


def lose(cloud: Cloud, region: str = AP, how: Callable[[str, dict[str, Any]], None] = unreached) -> None:
    cloud.ssm(region).before_call = how


def restore(cloud: Cloud, region: str = AP) -> None:
    cloud.ssm(region).before_call = None


def deploy(cloud: Cloud, values: dict[str, Any], *regions: str, fails: bool = False, **more: Any) -> None:
    properties = exports(values, Region=list(regions), **more)
    cloud.deploy("network", EU, {"Exports": properties}, fails=fails)
    cloud.clock.sleep(10)


def status(cloud: Cloud) -> str:
    return cloud.stack("network", EU).status


class DatedCloud(Cloud):
    """One whose events say when they were sent, each in its own second. A request that is sent again is the same."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[ResourceRequest, Event]] = []

    def event(self, request: ResourceRequest) -> Event:
        for sent, event in self.sent:
            if sent is request:
                return event
        self.clock.sleep(1)
        event = request.event(f"request-{next(self.numbers)}", signed=self.clock.now().strftime(SIGNED_FORMAT))
        self.sent.append((request, event))
        return event


@pytest.fixture(params=[0.0, 2.0], ids=["reads at once", "late reads"])
def cloud(request: pytest.FixtureRequest) -> Cloud:
    cloud = DatedCloud()
    cloud.lag = ReadLag(request.param)
    return cloud


@pytest.mark.parametrize("how", [unreached, nowhere, not_writable])
@pytest.mark.parametrize("values", [{"A": "a1"}, {"A": "a2"}])
def test_a_region_that_was_never_reached_is_passed_over_by_the_rollback(
    cloud: Cloud, how: Callable[..., None], values: dict[str, Any]
) -> None:
    deploy(cloud, {"A": "a1"}, US)
    lose(cloud, how=how)
    with pytest.raises(StoreError):
        deploy(cloud, values, US, AP)
    assert status(cloud) == ROLLED_BACK
    assert cloud.values(US) == {name("A"): "a1"}
    deploy(cloud, {"A": "a3"}, US)  # Nothing is left of it that needs the region.
    assert status(cloud) == COMPLETE
    cloud.delete("network", EU)
    assert {each: cloud.texts(each) for each in (US, EU)} == {US: {}, EU: {}}


@pytest.mark.parametrize(
    "more", [{"OnChange": "propagate"}, {"Revision": "2"}, {"SecureKeys": ["Z"]}, {"Values": None}]
)
def test_an_update_that_changes_no_value_is_rolled_back_in_a_lost_region_as_well(
    cloud: Cloud, more: dict[str, Any]
) -> None:
    """Of these, the last two are refused at once."""
    deploy(cloud, {"A": "a1"}, US, AP)
    lose(cloud)
    with pytest.raises(StrongRefError):
        deploy(cloud, {"A": "a1"}, US, AP, **more)
    assert status(cloud) == ROLLED_BACK


def test_a_bad_update_that_also_has_a_mistyped_region_is_rolled_back(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a1"}, US)
    lose(cloud)
    with pytest.raises(StrongRefError):
        deploy(cloud, {"A": ""}, US, AP)
    assert status(cloud) == ROLLED_BACK


def test_a_region_that_an_export_without_values_gets_is_passed_over_too(cloud: Cloud) -> None:
    deploy(cloud, {}, US)
    lose(cloud)
    with pytest.raises(StoreError):
        deploy(cloud, {"A": "a1"}, US, AP)
    assert status(cloud) == ROLLED_BACK


@pytest.mark.parametrize("values", [{"A": "a2"}, {"B": "b"}])
def test_a_lost_region_keeps_its_state_if_the_update_never_began_to_write_there(
    cloud: Cloud, values: dict[str, Any]
) -> None:
    deploy(cloud, {"A": "a1"}, US, AP)
    lose(cloud)
    for _ in range(2):
        with pytest.raises(StoreError):
            deploy(cloud, values, US, AP)
        assert status(cloud) == ROLLED_BACK
    assert {cloud.notices[-1].type} == {NoticeType.PLACE_PASSED_OVER}
    summary = str(cloud.notices[-1].detail["summary"])
    assert "ap-southeast-2 was left as it is, since it cannot be reached" in summary
    with pytest.raises(OutOfReachError):
        deploy(cloud, values, US)
    assert "So does one that drops it" in summary
    restore(cloud)
    assert cloud.values(AP) == cloud.values(US) == {name("A"): "a1"}
    deploy(cloud, values, US, AP)
    assert cloud.values(AP) == cloud.values(US)


def test_a_region_that_goes_away_after_the_update_wrote_there_fails_the_rollback_until_it_is_back(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a1"}, US, AP)
    stack = cloud.stack("network", EU)
    own_id = stack.resources["Exports"].physical_id
    before, after = exports({"A": "a1"}, Region=[US, AP]), exports({"A": "a2"}, Region=[US, AP])
    update = stack.request(RequestType.UPDATE, "Exports", after, own_id, before)
    rollback = stack.request(RequestType.UPDATE, "Exports", before, own_id, after)
    stack.begin_update()
    with stack.asking(update):
        cloud.send(update)
    lose(cloud)
    with stack.asking(update), pytest.raises(StoreError):
        cloud.send(update)  # It is delivered again, and denied: that counts as not later.
    cloud.clock.sleep(5)
    stack.status = ROLLBACK
    for _ in range(2):
        with (
            stack.asking(rollback),
            pytest.raises(OutOfReachError, match="strongref forget ap-southeast-2 --stack network --region eu-west-1"),
        ):
            cloud.send(rollback)
        cloud.clock.sleep(5)
    restore(cloud)
    with stack.asking(rollback):
        cloud.send(rollback)
    assert cloud.values(AP) == cloud.values(US) == {name("A"): "a1"}


CHANGES: dict[str, Callable[[Cloud], object]] = {
    "drop the region": lambda cloud: deploy(cloud, {"A": "a1"}, US),
    "move": lambda cloud: deploy(cloud, {"A": "a1"}, EU),
    "another consumer": lambda cloud: deploy(cloud, {"A": "a1"}, US, Consumer="api"),
    "delete the stack": lambda cloud: cloud.delete("network", EU),
}


def forget(cloud: Cloud, place: Place = IN_AP) -> None:
    text = encode_place(cloud.stack("network", EU).arn, datetime.now(UTC))
    cloud.stores(EU, cloud.clock).overwrite(f"{INDEX}{path_of(place, FORGOTTEN)}", ParameterType.STRING, text)


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_lost_can_be_dropped_only_when_it_was_forgotten(cloud: Cloud, change: str) -> None:
    """Nobody can know who imports there."""
    deploy(cloud, {"A": "a1"}, US, AP)
    cloud.deploy("web", AP, {"Imports": imports("A")})
    lose(cloud)
    with pytest.raises(OutOfReachError, match="nobody can know what is imported"):
        CHANGES[change](cloud)
    if change != "delete the stack":
        assert status(cloud) == ROLLED_BACK
    forget(cloud)
    CHANGES[change](cloud)
    if change != "delete the stack":
        assert status(cloud) == COMPLETE
    restore(cloud)
    assert cloud.values(AP) == {name("A"): "a1"}  # Whoever imports there goes on.
    assert cloud.claims(AP, name("A")) == ["web"]


def test_a_hold_of_a_forgotten_region_is_deleted_by_hand_as_the_documentation_says(cloud: Cloud) -> None:
    """Its janitor would do it, and that is gone as well."""
    deploy(cloud, {"A": "a1"}, US, AP, Hold="H")
    cloud.deploy("web", AP, {"Imports": imports("A")})
    lose(cloud)
    forget(cloud)
    with pytest.raises(ExportInUseError, match="strongref-hold-") as refused:
        cloud.delete("network", EU)
    cloud.delete_stack(refused.value.importers[0], EU)
    cloud.delete("network", EU)


def test_a_forgotten_region_counts_only_while_it_cannot_be_reached(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a1"}, US, AP)
    cloud.deploy("web", AP, {"Imports": imports("A")})
    forget(cloud)
    for change in CHANGES.values():
        with pytest.raises(ExportsInUseError):
            change(cloud)
    for region in (AP, EU):
        assert found(cloud, region) == []
    deploy(cloud, {"A": "a1", "B": "b"}, US, AP)
    assert [each for each in cloud.texts(EU) if FORGOTTEN in each] == []


@pytest.mark.parametrize("by", ["the next event", "the janitor"])
def test_a_forgotten_region_that_is_back_is_withdrawn_and_imports_go_on(cloud: Cloud, by: str) -> None:
    deploy(cloud, {"A": "a1", "B": "b"}, US, AP)
    cloud.deploy("web", AP, {"Imports": imports("A")})
    lose(cloud)
    forget(cloud)
    deploy(cloud, {"A": "a1", "B": "b"}, US)
    restore(cloud)
    if by == "the janitor":
        assert {each.kind for each in found(cloud, EU)} == {FindingType.FORGOTTEN}
        kinds = {FindingType.ORPHANED, FindingType.STRAY, FindingType.WITHDRAWN}
        assert {each.kind for each in found(cloud, AP)} == kinds
        assert {each.kind for each in found(cloud, AP)} == {FindingType.WITHDRAWN}
    else:
        deploy(cloud, {"A": "a2", "B": "b"}, US)
        assert status(cloud) == COMPLETE
    assert cloud.values(AP) == {name("A"): "a1"}
    assert cloud.claims(AP, name("A")) == ["web"]
    cloud.deploy("web", AP, {})
    cloud.clock.sleep(7200)
    for region in (AP, EU, AP, EU):
        found(cloud, region)
    assert cloud.texts(AP) == {}
    assert [each for each in cloud.texts(EU) if "index" in each] == [f"{INDEX}{path_of(Place(ACCOUNT, US, 'web'))}"[1:]]


def test_a_rollback_may_pass_over_what_was_forgotten(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a1"}, US, AP)
    original = cloud._export

    def later(*_: object) -> None:
        lose(cloud)
        raise LaterResourceError

    cloud._export = later  # type: ignore[method-assign,assignment]
    with pytest.raises(OutOfReachError):
        deploy(cloud, {"A": "a2"}, US, AP)
    cloud._export = original  # type: ignore[method-assign]
    assert status(cloud) == "UPDATE_ROLLBACK_FAILED"
    forget(cloud)
    cloud.roll_back(cloud.stack("network", EU))
    assert status(cloud) == ROLLED_BACK


def test_the_delete_of_a_create_that_never_succeeded_passes_over_what_was_never_reached(cloud: Cloud) -> None:
    stack = cloud.new_stack("network", EU)
    properties = exports({"A": "a"}, Region=[US, AP])
    lose(cloud)
    create = stack.request(RequestType.CREATE, "Exports", properties)
    with stack.asking(create), pytest.raises(StrongRefError):
        cloud.send(create)
    delete = stack.request(RequestType.DELETE, "Exports", properties, "made-up")
    stack.status = "ROLLBACK_IN_PROGRESS"
    with stack.asking(delete):
        cloud.send(delete)
    assert {each: cloud.texts(each) for each in (US, EU)} == {US: {}, EU: {}}


def test_a_create_that_waits_does_not_publish_after_its_delete_has_answered(cloud: Cloud) -> None:
    stack = cloud.new_stack("network", EU)
    properties = exports({"A": "a"})
    create = stack.request(RequestType.CREATE, "Exports", properties)
    seconds = timedelta(seconds=20)
    fence = Fence("another", cloud.clock.now() + seconds, lifetime=seconds)
    cloud.ssm(US).put_parameter(Name=f"{SCOPE.path('fences')}/Other.1", Type="String", Value=fence.encode())
    stack.status = "ROLLBACK_IN_PROGRESS"
    delete = stack.request(RequestType.DELETE, "Exports", properties, "made-up")
    with stack.asking(delete), pytest.raises((OutdatedRequestError, PartialCreateError)):
        cloud.send(create)
    assert [each for each in cloud.texts(EU) if "index" in each] == []


def test_a_late_update_does_not_publish_after_the_rollback_passed_over_the_region(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a1"}, US)
    stack = cloud.stack("network", EU)
    own_id = stack.resources["Exports"].physical_id
    before, after = exports({"A": "a1"}, Region=[US]), exports({"A": "a1"}, Region=[US, AP])
    update = stack.request(RequestType.UPDATE, "Exports", after, own_id, before)
    cloud.clock.sleep(10)
    rollback = stack.request(RequestType.UPDATE, "Exports", before, own_id, after)
    stack.begin_update()
    lose(cloud)
    with stack.asking(update, cloud.clock.now()), pytest.raises(StoreError):
        cloud.send(update)
    stack.status = ROLLBACK
    cloud.clock.sleep(1)
    with stack.asking(rollback, cloud.clock.now()):
        cloud.send(rollback)
        restore(cloud)
        with pytest.raises(OutdatedRequestError):
            cloud.send(update)
    assert cloud.values(AP) == {}


@pytest.mark.parametrize("how", [not_writable, full])
def test_a_rollback_that_finds_everything_as_wanted_needs_no_fence(cloud: Cloud, how: Callable[..., None]) -> None:
    deploy(cloud, {"A": "a1"}, US)
    lose(cloud, US, how)
    with pytest.raises(StoreError):
        deploy(cloud, {"A": "a2"}, US)
    assert status(cloud) == ROLLED_BACK
    restore(cloud, US)
    assert cloud.values(US) == {name("A"): "a1"}


def test_a_place_at_the_quota_is_never_passed_over_even_if_it_was_forgotten(cloud: Cloud) -> None:
    """What is there can be seen."""
    deploy(cloud, {"A": "a1"}, US, AP)
    forget(cloud)
    lose(cloud, AP, full)
    for change in CHANGES.values():
        with pytest.raises(StoreError, match="Even a deletion has to write one"):
            change(cloud)


def test_an_update_that_asks_for_the_same_is_rolled_back_where_a_region_is_lost(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a1"}, US, AP)
    lose(cloud)
    with pytest.raises(StoreError):
        deploy(cloud, {"A": "a1"}, US, AP, ServiceTimeout="600")
    assert status(cloud) == ROLLED_BACK


def test_an_update_that_is_canceled_while_its_place_is_passed_over_writes_nothing(cloud: Cloud) -> None:
    """The rollback reads the index before the update names the place, and sees no fence."""
    deploy(cloud, {"A": "a1"}, AP)
    lose(cloud)
    with pytest.raises(StoreError):
        deploy(cloud, {"A": "a0"}, AP)
    restore(cloud)
    stack = cloud.stack("network", EU)
    own_id, before, after = (
        stack.resources["Exports"].physical_id,
        exports({"A": "a1"}, Region=[AP]),
        exports({"A": "a2"}, Region=[AP]),
    )
    update = stack.request(RequestType.UPDATE, "Exports", after, own_id, before)
    rollback = stack.request(RequestType.UPDATE, "Exports", before, own_id, after)

    def roll_back(action: str, request: dict[str, Any]) -> None:
        if action == "PutParameter" and request["Name"].startswith(INDEX):
            restore(cloud, EU)
            lose(cloud)
            stack.status = ROLLBACK
            with stack.asking(rollback):
                cloud.send(rollback)
            stack.status = ROLLED_BACK
            restore(cloud)

    lose(cloud, EU, roll_back)
    stack.begin_update()
    with stack.asking(update), pytest.raises(OutdatedRequestError):
        cloud.send(update)
    assert cloud.values(AP) == {name("A"): "a1"}


def test_a_rollback_needs_a_fence_where_another_one_stood_before_it_looked(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a1"}, AP)
    stack, ssm = cloud.stack("network", EU), cloud.ssm(AP)
    before, after = exports({"A": "a1"}, Region=[AP]), exports({"A": "a2"}, Region=[AP])
    fence = Fence("the update", cloud.clock.now() + timedelta(hours=1), lifetime=timedelta(hours=1))
    fenced = f"{SCOPE.path('fences')}/Exports.1"
    ssm.put_parameter(Name=fenced, Type="String", Value=fence.encode())

    def finish(action: str, request: dict[str, Any]) -> None:
        """What the update does between two looks of its rollback, which cannot write."""
        not_writable(action, request)
        if action == "GetParametersByPath" and "/records/" in request["Path"]:
            restore(cloud)
            ssm.put_parameter(Name=f"/strongref/exports/{name('A')}", Type="String", Value="a2", Overwrite=True)
            ssm.delete_parameter(Name=fenced)
            lose(cloud, how=not_writable)

    own_id = stack.resources["Exports"].physical_id
    rollback = stack.request(RequestType.UPDATE, "Exports", before, own_id, after)
    stack.begin_update()
    stack.status = ROLLBACK
    lose(cloud, how=finish)
    with stack.asking(rollback), pytest.raises(OutOfReachError):
        cloud.send(rollback)


def test_a_denied_value_is_no_region_that_cannot_be_reached(cloud: Cloud) -> None:
    """Its rollback can write there."""
    deploy(cloud, {"A": "a1"}, US, AP)

    def denied(action: str, request: dict[str, Any]) -> None:
        if action == "PutParameter" and "/exports/" in request["Name"] and request["Value"] == "a2":
            unreached(action, request)

    lose(cloud, how=denied)
    with pytest.raises(StoreError):
        deploy(cloud, {"A": "a2"}, US, AP)
    assert status(cloud) == ROLLED_BACK
    assert cloud.values(AP) == cloud.values(US) == {name("A"): "a1"}


def tended(cloud: Cloud, *more: str) -> None:
    for region in 2 * (*more, AP, EU):
        found(cloud, region)
        cloud.clock.sleep(7200)


def drop_and_add_again(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a1"}, US)
    restore(cloud)
    deploy(cloud, {"A": "a1"}, US, AP)


def drop_and_roll_back(cloud: Cloud, *, back: bool) -> None:
    original = cloud._export

    def later(*_: object) -> None:
        if back:
            restore(cloud)
        raise LaterResourceError

    cloud._export = later  # type: ignore[method-assign,assignment]
    with pytest.raises(LaterResourceError):
        deploy(cloud, {"A": "a1"}, US)
    cloud._export = original  # type: ignore[method-assign]
    restore(cloud)


def delete_and_create_again(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a1"}, US)
    cloud.delete("network", EU)
    restore(cloud)
    deploy(cloud, {"A": "a1"}, US, AP)


RETURNS: dict[str, Callable[[Cloud], None]] = {
    "added again": drop_and_add_again,
    "rolled back while it is away": partial(drop_and_roll_back, back=False),
    "rolled back when it is back": partial(drop_and_roll_back, back=True),
    "a stack of the same name": delete_and_create_again,
}


@pytest.mark.parametrize("returns", RETURNS)
def test_what_is_exported_to_a_forgotten_region_again_stays_and_is_protected(cloud: Cloud, returns: str) -> None:
    deploy(cloud, {"A": "a1"}, US, AP)
    lose(cloud)
    forget(cloud)
    RETURNS[returns](cloud)
    tended(cloud)
    assert cloud.values(AP) == {name("A"): "a1"}
    cloud.deploy("web", AP, {"Imports": imports("A")})
    deploy(cloud, {"A": "a1", "B": "b"}, US, AP)
    lose(cloud)
    with pytest.raises(OutOfReachError):
        deploy(cloud, {"A": "a1", "B": "b"}, US)


@pytest.mark.parametrize("how", [unreached, not_writable, no_record])
@pytest.mark.parametrize("is_undone", [True, False], ids=["an update that renamed it, and failed", "its removal"])
def test_the_janitor_withdraws_what_the_cleanup_of_a_stack_could_not_delete(
    cloud: Cloud, how: Callable[..., None], *, is_undone: bool
) -> None:
    """CloudFormation goes on as if that had succeeded, so no event comes for it anymore."""
    before = exports({"A": "a1", "B": "b1"}, Region=[US, AP])
    cloud.deploy("network", EU, {"Exports": before})
    original = cloud._export

    def later(*given: Any) -> None:
        cloud._export = original  # type: ignore[method-assign]
        lose(cloud, how=how)
        if is_undone:
            raise LaterResourceError
        original(*given)

    cloud._export = later  # type: ignore[method-assign,assignment]
    with pytest.raises(LaterResourceError) if is_undone else nullcontext():
        cloud.deploy("network", EU, {"New": before} if is_undone else {})
    restore(cloud)
    tended(cloud, US)
    again = "Exports" if is_undone else "Later"
    cloud.deploy("network", EU, {again: exports({"A": "a2"}, Region=[US, AP])})
    assert cloud.values(AP) == cloud.values(US) == {name("A"): "a2"}
    cloud.delete("network", EU)
    tended(cloud, US)
    assert {each: cloud.texts(each) for each in (US, AP, EU)} == {US: {}, AP: {}, EU: {}}


def test_the_janitor_withdraws_nothing_while_the_update_may_roll_back(cloud: Cloud) -> None:
    deploy(cloud, {"A": "a1"}, US, AP)
    lose(cloud)
    forget(cloud)
    stack = cloud.stack("network", EU)
    before, after = exports({"A": "a1"}, Region=[US, AP]), exports({"A": "a1"}, Region=[US])
    update = stack.request(RequestType.UPDATE, "Exports", after, stack.resources["Exports"].physical_id, before)
    stack.begin_update()
    with stack.asking(update):
        cloud.send(update)
    restore(cloud)
    found(cloud, AP)
    assert cloud.values(AP) == {name("A"): "a1"}


@pytest.mark.parametrize("regions", [[US, AP, CENTRAL], [US]], ids=["a value", "drop both"])
def test_two_regions_that_are_lost_at_once_are_both_passed_over(cloud: Cloud, regions: list[str]) -> None:
    deploy(cloud, {"A": "a1"}, US, AP, CENTRAL)
    lose(cloud)
    lose(cloud, CENTRAL)
    with pytest.raises(StrongRefError):
        deploy(cloud, {"A": "a2"}, *regions)
    assert status(cloud) == ROLLED_BACK


@pytest.mark.parametrize("older", [True, False], ids=["of version 0.2.0", "deleted by hand"])
def test_a_mistyped_region_is_passed_over_whatever_the_index_was(cloud: Cloud, *, older: bool) -> None:
    deploy(cloud, {"A": "a1"}, US)
    cloud.ssm(EU).delete_parameters(Names=[f"/{each}" for each in cloud.texts(EU) if "index" in each])
    if older:
        text = {"stack": cloud.stack("network", EU).arn, "places": {ACCOUNT: {"web": [US]}}}
        cloud.ssm(EU).put_parameter(Name=INDEX, Type="String", Value=json.dumps(text))
    lose(cloud, how=nowhere)
    with pytest.raises(StrongRefError):
        deploy(cloud, {"A": "a1"}, US, AP)
    assert status(cloud) == ROLLED_BACK


def test_the_janitor_makes_no_index_exact(cloud: Cloud) -> None:
    """It adds what it finds; what it cannot find may be missing."""
    deploy(cloud, {"A": "a1"}, US, AP)
    cloud.deploy("web", AP, {"Imports": imports("A")})
    cloud.ssm(EU).delete_parameters(Names=[f"/{each}" for each in cloud.texts(EU) if "index" in each])
    found(cloud, US)
    lose(cloud)
    with pytest.raises(OutOfReachError):
        deploy(cloud, {"A": "a1"}, US)


@pytest.mark.parametrize("denied", ["GetParametersByPath", "ListTagsForResource"])
@pytest.mark.parametrize("change", ["drop the region", "delete the stack"])
def test_a_forgotten_region_of_which_only_fences_answer_is_left_as_well(cloud: Cloud, denied: str, change: str) -> None:
    deploy(cloud, {"A": "a1"}, US, AP)

    def half(action: str, request: dict[str, Any]) -> None:
        if action == denied and "/exports/" in str(request):
            unreached(action, request)

    lose(cloud, how=half)
    forget(cloud)
    CHANGES[change](cloud)


def test_an_update_that_was_denied_writes_nothing_while_the_rollback_passes_over_the_region(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy(cloud, {"A": "a1"}, AP)
    stack = cloud.stack("network", EU)
    own_id = stack.resources["Exports"].physical_id
    before, after = exports({"A": "a1"}, Region=[AP]), exports({"A": "a2"}, Region=[AP])
    update = stack.request(RequestType.UPDATE, "Exports", after, own_id, before)
    rollback = stack.request(RequestType.UPDATE, "Exports", before, own_id, after)
    stack.begin_update()
    lose(cloud)
    with stack.asking(update, cloud.clock.now()), pytest.raises(StoreError):
        cloud.send(update)
    stack.status = ROLLBACK

    def then(*given: Any) -> bool:
        restore(cloud)
        with pytest.raises(OutdatedRequestError):
            cloud.send(update)
        return may_pass_over(*given)

    monkeypatch.setattr("strongref.protocol.unreached.may_pass_over", then)
    with stack.asking(rollback, cloud.clock.now()):
        cloud.send(rollback)
    assert cloud.values(AP) == {name("A"): "a1"}
