"""What a later version of strongref wrote: every part refuses or reports it, and none changes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.event import RequestType
from strongref.contract.format import HOLD_FORMAT, HOLD_WRITER
from strongref.contract.hold_stacks import HOLDS
from strongref.contract.index import index_name
from strongref.contract.names import ManifestSet, Producer
from strongref.errors import NewerFormatError, PartialCreateError
from strongref.protocol.findings import FindingType
from strongref.protocol.janitor import Janitor
from strongref.protocol.ports import Ports
from strongref.protocol.time import Patience
from strongref_cli.doctor.releasing import ClaimedValue, release
from strongref_cli.doctor.republishing import republish
from strongref_cli.overview.exports import Claim
from strongref_cli.overview.states import ImportState, Protection
from strongref_manifests.manifest_set import ClaimLedger
from strongref_toolkit.published_exports import PublishedExports
from tests.protocol.test_holds import HELD, hold_stacks, holding
from tests.protocol.test_janitor import examined, found
from tests.protocol.test_scenarios import EU, US, exports, imports, name
from tests.support.builders import ACCOUNT, SCOPE, stack_arn
from tests.support.cloud import Cloud
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = f"{SCOPE.path('records')}/Exports"
A = f"/strongref/exports/{name('A')}"
NEWER = json.dumps({"format": 2, "writer": "9.8.7", "publishes": {}})
SAYS = "has format 2, written by strongref 9.8.7"


@pytest.fixture
def cloud() -> Cloud:
    """A record of a later format, next to one of today's."""
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"}), "Others": exports({"C": "c1"})})
    write(cloud, HEAD)
    return cloud


def write(cloud: Cloud, parameter: str, region: str = US) -> None:
    cloud.ssm(region).put_parameter(Name=parameter, Value=NEWER, Type="String", Overwrite=True)


def update(cloud: Cloud, logical_id: str, values: dict[str, Any]) -> None:
    stack = cloud.stack("network", EU)
    old = stack.resources[logical_id]
    cloud.send(stack.request(RequestType.UPDATE, logical_id, exports(values), old.physical_id, old.properties))


def delete(cloud: Cloud, logical_id: str) -> None:
    stack = cloud.stack("network", EU)
    old = stack.resources[logical_id]
    cloud.send(stack.request(RequestType.DELETE, logical_id, old.properties, old.physical_id))


def create(cloud: Cloud) -> None:
    cloud.send(cloud.stack("network", EU).request(RequestType.CREATE, "New", exports({"N": "n"})))


@pytest.mark.parametrize(
    "act",
    [
        lambda cloud: update(cloud, "Exports", {"A": "a2", "B": "b1"}),
        lambda cloud: update(cloud, "Exports", {"A": "a1", "B": "b1"}),
        lambda cloud: update(cloud, "Others", {"C": "c2"}),
        lambda cloud: delete(cloud, "Exports"),
        lambda cloud: delete(cloud, "Others"),
        create,
    ],
    ids=["change", "no change", "change next to it", "delete", "delete next to it", "create next to it"],
)
def test_an_export_is_refused(cloud: Cloud, act: Callable[[Cloud], None]) -> None:
    before = cloud.texts(US)
    with pytest.raises(NewerFormatError, match=f"{HEAD} {SAYS}"):
        act(cloud)
    assert cloud.texts(US) == before


@pytest.mark.parametrize("more", [{}, {"Strength": "weak"}, {"Names": ["C"]}])
def test_an_import_is_refused_at_once(cloud: Cloud, more: dict[str, Any]) -> None:
    waited = len(cloud.clock.slept)
    with pytest.raises(NewerFormatError, match=f"{HEAD} {SAYS}"):
        cloud.deploy("web", US, {"Imports": imports("A") | more})
    assert len(cloud.clock.slept) == waited
    assert cloud.claims(US, name("A")) == cloud.claims(US, name("C")) == []


def test_an_import_of_before_is_released(cloud: Cloud) -> None:
    cloud.ssm(US).put_parameter(Name=HEAD, Value=_today(cloud), Type="String", Overwrite=True)
    cloud.deploy("web", US, {"Imports": imports("A", Consumer="web")})
    write(cloud, HEAD)
    cloud.deploy("web", US, {})
    assert cloud.claims(US, name("A")) == []
    assert cloud.texts(US)[HEAD.removeprefix("/")] == NEWER


def _today(cloud: Cloud) -> str:
    others = json.loads(cloud.ssm(US).parameters()[f"{SCOPE.path('records')}/Others"].text)
    return json.dumps({**others, "values": {"A": "a1", "B": "b1"}})


def test_the_janitor_reports_it_and_leaves_its_exports_alone(cloud: Cloud) -> None:
    cloud.ssm(US).delete_parameter(Name=f"/strongref/exports/{name('C')}")  # otherwise restored
    cloud.vanish("network", EU)  # otherwise deleted
    before = cloud.texts(US)
    for findings in (examined(cloud), found(cloud)):
        assert [(each.kind, each.parameter) for each in findings if each.kind is FindingType.NEWER_FORMAT] == [
            (FindingType.NEWER_FORMAT, HEAD)
        ]
        assert SAYS in next(each.why for each in findings if each.kind is FindingType.NEWER_FORMAT)
    assert cloud.texts(US) == before


@pytest.fixture
def held() -> Cloud:
    """An import with its hold."""
    cloud = Cloud()
    cloud.deploy("network", EU, HELD)
    cloud.deploy("web", US, {"Imports": imports("A")})
    return cloud


def test_a_hold_that_a_newer_record_may_name_stays(held: Cloud) -> None:
    write(held, HEAD)
    before = holding(held)
    assert before
    assert {each.kind for each in found(held)} == {FindingType.NEWER_FORMAT}
    assert holding(held) == before


def test_people_are_refused(cloud: Cloud) -> None:
    ports = Ports(cloud.stores, cloud, Patience(5, 2, lambda: 0.5), cloud.token)
    with pytest.raises(NewerFormatError, match=SAYS):
        republish(ports, cloud.clock, US, SCOPE, None)
    claim = Claim(stack_arn("web"), "strongref:claim:1", ImportState.CURRENT, Protection.UNPROTECTED)
    before = cloud.texts(US)
    with pytest.raises(NewerFormatError, match=SAYS):
        release(ports, cloud.clock, [ClaimedValue(US, SCOPE, claim, SCOPE.key(A))], "me", "why")
    assert cloud.texts(US) == before
    published = PublishedExports(cloud.stores(US, cloud.clock), cloud.clock, Patience(5, 2, lambda: 0.5), "web")
    with pytest.raises(NewerFormatError, match=SAYS):
        published.value(Producer(ACCOUNT, EU, "network"), "C", "token")


INDEX = index_name("network", "Exports")


def test_an_index_entry_is_neither_overwritten_nor_deleted() -> None:
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    write(cloud, INDEX, EU)
    with pytest.raises(NewerFormatError, match=f"{INDEX} {SAYS}"):
        update(cloud, "Exports", {"A": "a2"})
    assert cloud.values(US)[name("A")] == "a1"
    delete(cloud, "Exports")
    assert cloud.values(US) == {}
    stack = cloud.stack("network", EU)
    with pytest.raises(PartialCreateError, match=SAYS):
        cloud.send(stack.request(RequestType.CREATE, "Exports", exports({"A": "a1"})))
    assert cloud.texts(EU)[INDEX.removeprefix("/")] == NEWER


def test_the_janitor_reports_index_entries_and_fences() -> None:
    cloud = Cloud()
    cloud.deploy("network", US, {"Exports": exports({"A": "a1"})})
    fence = f"{SCOPE.path('fences')}/Somebody.1"
    write(cloud, INDEX)
    write(cloud, fence)
    cloud.deploy("base", US, {"Exports": exports({"A": "a1"})})
    cloud.ssm(US).delete_parameter(Name=f"{index_name('base', 'Exports')}/{ACCOUNT}/{US}/web")
    cloud.clock.sleep(3600)
    kinds = {(each.kind, each.parameter) for each in found(cloud)}
    assert kinds == {
        (FindingType.NEWER_FORMAT, INDEX),
        (FindingType.NEWER_FORMAT, fence),
        (FindingType.INDEX_ENTRY, index_name("base", "Exports")),
    }
    assert cloud.texts(US)[INDEX.removeprefix("/")] == cloud.texts(US)[fence.removeprefix("/")] == NEWER


def test_a_fence_is_waited_for_and_never_deleted() -> None:
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    fence = f"{SCOPE.path('fences')}/Exports.1"
    cloud.ssm(US)._clock = cloud.clock.now
    write(cloud, fence)
    update(cloud, "Exports", {"A": "a2"})
    assert 900 <= sum(cloud.clock.slept) < 910
    assert cloud.values(US)[name("A")] == "a2"
    assert cloud.texts(US)[fence.removeprefix("/")] == NEWER


def test_a_hold_stack_is_neither_updated_nor_deleted(held: Cloud) -> None:
    (hold,) = hold_stacks(held)
    hold.tags = {**hold.tags, HOLD_FORMAT: "2", HOLD_WRITER: "9.8.7"}
    stack = held.stack("web", US)
    with pytest.raises(PartialCreateError, match=f"{hold.name} {SAYS}"):
        held.send(stack.request(RequestType.CREATE, "Imports", imports("A")))
    held.vanish("web", US)
    held.clock.sleep(2 * 3600)
    ports = Ports(held.stores, held, Patience(5, 2, lambda: 0.5), held.token)
    findings = [each for tended in Janitor(ports, EU, ACCOUNT).tend(held.clock) for each in tended.findings]
    assert [(each.kind, each.parameter) for each in findings] == [(FindingType.NEWER_FORMAT, hold.name)]
    assert hold_stacks(held) == [hold]


@pytest.mark.parametrize("repairs", [True, False])
def test_the_importing_regions_janitor_reports_a_hold_stack(held: Cloud, repairs: bool) -> None:
    (hold,) = hold_stacks(held)
    hold.tags = {**hold.tags, HOLD_FORMAT: "2", HOLD_WRITER: "9.8.7"}
    for parameter in held.parameters_below(EU, HOLDS):
        held.ssm(EU).delete_parameter(Name=parameter)
    ports = Ports(held.stores, held, Patience(5, 2, lambda: 0.5), held.token)
    janitor = Janitor(ports, US, ACCOUNT, repairs)
    findings = [each for tended in janitor.tend(held.clock) for each in tended.findings]
    assert [(each.kind, each.parameter) for each in findings] == [(FindingType.NEWER_FORMAT, hold.name)]
    assert hold_stacks(held) == [hold]


def test_a_ledger_is_refused() -> None:
    cloud = Cloud()
    ledger = ManifestSet(ACCOUNT, "shop").ledger
    write(cloud, f"{ledger}/page")
    with pytest.raises(NewerFormatError, match=f"{ledger}/page {SAYS}"):
        ClaimLedger(cloud.stores(US, FakeClock()), ledger, cloud.token).read()
