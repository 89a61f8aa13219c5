"""Names that are used again a moment after their deletion, where Parameter Store takes 30 seconds to forget them.

`test_scenarios` plays everything else that users live through over the same stores.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.event import RequestType
from strongref.contract.fence import Fence
from strongref.contract.index import index_name
from strongref.contract.values import ParameterType
from strongref.errors import InvocationTimeoutError, RecentlyDeletedError, UnreadableRecordError
from strongref.protocol.executor import PlanExecutor
from strongref.protocol.fences import FENCE_SECONDS, OwnFence
from strongref.protocol.janitor import Janitor
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports
from strongref.protocol.recreation import RECREATION_SECONDS, PatientWriter
from strongref.protocol.time import Patience
from strongref.refusals import ForeignParameterError
from strongref.runtime.wiring import PATIENCE, PATIENCE_TO_CREATE_AN_IMPORT
from strongref_cli.doctor.republishing import republish
from tests.protocol.test_scenarios import EU, US, exports, imports, name
from tests.support.builders import ACCOUNT, SCOPE, text
from tests.support.cloudformation.operations import LaterResourceError
from tests.support.fake_ssm import FakeClock
from tests.support.half_deleted import SECONDS, Again, RememberingCloud

if TYPE_CHECKING:
    from strongref.protocol.time import Clock

BOTH = [Again.REFUSED, Again.HIDDEN]
A = f"/strongref/exports/{name('A')}"


@pytest.fixture(params=BOTH, ids=lambda again: f"a create is {again.value}")
def cloud(request: pytest.FixtureRequest) -> RememberingCloud:
    found = RememberingCloud(request.param)
    found.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"})})
    return found


def physical_id(cloud: RememberingCloud, logical_id: str = "Exports") -> str:
    return cloud.stack("network", EU).resources[logical_id].physical_id


def test_the_wait_is_the_one_that_aws_documents() -> None:
    assert RECREATION_SECONDS == SECONDS == 30
    for patience in (PATIENCE, PATIENCE_TO_CREATE_AN_IMPORT):
        assert patience.under(ReadLag(0)) > RECREATION_SECONDS


def test_a_value_gets_another_type(cloud: RememberingCloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": ["a1", "a2"], "B": "b1"})})
    assert A in cloud.used_again(US)
    cloud.deploy("web", US, {"Imports": imports("A")})
    assert cloud.get("web", US) == {"A": ["a1", "a2"]}
    assert cloud.tags(US, name("A")).keys() >= {"strongref:producer"}


def test_a_change_of_a_type_is_rolled_back(cloud: RememberingCloud) -> None:
    with pytest.raises(LaterResourceError):
        cloud.deploy("network", EU, {"Exports": exports({"A": ["a1"], "B": "b1"})}, fails=True)
    cloud.deploy("web", US, {"Imports": imports("A")})
    assert cloud.get("web", US) == {"A": "a1"}


@pytest.mark.parametrize("left", [{}, {"B": "b1"}], ids=["everything", "one of two"])
def test_a_drop_is_rolled_back(cloud: RememberingCloud, left: dict[str, Any]) -> None:
    with pytest.raises(LaterResourceError):
        cloud.deploy("network", EU, {"Exports": exports(left)}, fails=True)
    assert A in cloud.used_again(US)
    if not left:
        cloud.clock.sleep(SECONDS)  # The record was deleted, too: until reads show it, nothing is exported.
    cloud.deploy("web", US, {"Imports": imports("A")})
    assert cloud.get("web", US) == {"A": "a1"}
    assert cloud.claims(US, name("A")) == ["web"]
    assert cloud.tags(US, name("A"))["strongref:producer"] == cloud.stack("network", EU).arn


def test_a_secure_value_that_is_dropped_comes_back_with_the_part_of_its_record() -> None:
    cloud = RememberingCloud(Again.HIDDEN)
    secret = exports({"P": "hunter2", "B": "b1"}, SecureKeys=["P"])
    cloud.deploy("network", EU, {"Exports": secret, "Others": exports({"C": "c1"})})
    with pytest.raises(LaterResourceError):
        cloud.deploy("network", EU, {"Exports": exports({"B": "b1"}), "Others": exports({"C": "c1"})}, fails=True)
    assert f"{SCOPE.path('records')}/Exports.1" in cloud.used_again(US)
    cloud.deploy("network", EU, {"Exports": secret, "Others": exports({"C": "c2"})})  # reads the record next to it
    assert cloud.values(US)[name("C")] == "c2"


def test_a_consumer_that_is_deleted_and_created_again_imports(cloud: RememberingCloud) -> None:
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.delete("web", US)
    assert name("A") not in cloud.values(US)
    cloud.deploy("web", US, {"Imports": imports("A")})
    assert A in cloud.used_again(US)
    assert cloud.get("web", US) == {"A": "a1"}
    assert cloud.claims(US, name("A")) == ["web"]


def test_a_producer_that_is_deleted_and_created_again_exports(cloud: RememberingCloud) -> None:
    cloud.delete("network", EU)
    cloud.deploy("network", EU, {"Exports": exports({"A": "a2"})})
    assert {A, f"{SCOPE.path('records')}/Exports"} <= cloud.used_again(US)
    assert f"{index_name('network', 'Exports')}/{ACCOUNT}/{US}/web" in cloud.used_again(EU)
    cloud.clock.sleep(SECONDS)
    cloud.deploy("web", US, {"Imports": imports("A")})
    assert cloud.get("web", US) == {"A": "a2"}


def test_an_import_that_comes_back_makes_its_hold_again() -> None:
    cloud = RememberingCloud(Again.REFUSED)
    cloud.lag = ReadLag(2.0)
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"}, Hold="network-Exports")})
    stack = cloud.deploy("web", US, {"Imports": imports("A")})
    held = {each for each in cloud.texts(EU) if "strongref/holds/" in each}
    cloud.deploy("web", US, {"Imports": imports("B")})
    cloud.deploy("web", US, {"Imports": imports("A")})
    assert {f"/{each}" for each in held} <= cloud.used_again(EU)
    assert {each for each in cloud.texts(EU) if "strongref/holds/" in each} == held
    assert stack.status == "UPDATE_COMPLETE"


def test_republish_waits_for_the_name(cloud: RememberingCloud) -> None:
    cloud.ssm(US).delete_parameter(Name=A)
    ports = Ports(cloud.stores, cloud, Patience(5, 2, lambda: 0.5), cloud.token)
    assert republish(ports, cloud.clock, US, SCOPE, None).keys == ("A",)
    assert cloud.values(US)[name("A")] == "a1"


def test_the_janitor_restores_what_was_deleted_with_its_next_run(cloud: RememberingCloud) -> None:
    cloud.deploy("web", US, {"Imports": imports("B")})
    cloud.ssm(US).delete_parameter(Name=A)
    ports = Ports(cloud.stores, cloud, Patience(5, 2, lambda: 0.5), cloud.token)
    for _ in range(2):
        list(Janitor(ports, US, ACCOUNT).tend(cloud.clock))
        cloud.clock.sleep(SECONDS)
    assert cloud.values(US)[name("A")] == "a1"
    assert [found for tended in Janitor(ports, US, ACCOUNT).tend(cloud.clock) for found in tended.settled] != []


def test_no_fence_uses_a_name_twice(cloud: RememberingCloud) -> None:
    for number in range(5):
        cloud.deploy("network", EU, {"Exports": exports({"A": f"a{number}"})})
        cloud.deploy("web", US, {"Imports": imports("A")})
        cloud.delete("web", US)
    fences = [
        request["Name"] for action, request in cloud.calls if action == "PutParameter" and "/fences/" in str(request)
    ]
    assert len(fences) >= 10
    assert not [each for each in cloud.used_again(US) if "/fences/" in each]


def test_the_fence_is_renewed_while_a_name_is_waited_for(
    cloud: RememberingCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The calls before it took their time, so the fence would expire during the wait."""
    if cloud.ssm(US)._again is Again.HIDDEN:  # type: ignore[attr-defined]
        return
    renewed: list[float] = []
    put_up = OwnFence.put_up

    def noting(own: OwnFence, clock: Clock, fence: Fence) -> None:
        renewed.append(sum(cloud.clock.slept))
        put_up(own, clock, fence)

    monkeypatch.setattr(OwnFence, "put_up", noting)
    create = PlanExecutor._create

    def late(executor: PlanExecutor, *what: Any) -> None:
        executor.writer.clock.sleep(FENCE_SECONDS / 2 - 5)
        create(executor, *what)

    monkeypatch.setattr(PlanExecutor, "_create", late)
    before = sum(cloud.clock.slept)
    cloud.deploy("network", EU, {"Exports": exports({"A": ["a1"], "B": "b1"})})
    assert len(renewed) == 2
    assert before + FENCE_SECONDS / 2 <= renewed[1] < before + FENCE_SECONDS
    live = [Fence.decode(each) for each in cloud.stores(US, cloud.clock).under("/strongref/fences").values()]
    assert [each for each in live if each.is_live(cloud.clock.now())] == []


def test_a_wait_that_does_not_fit_into_the_invocation_is_continued_in_another() -> None:
    cloud = RememberingCloud(Again.REFUSED)
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    request = cloud.stack("network", EU).request(
        RequestType.UPDATE, "Exports", exports({"A": ["a1"]}), physical_id(cloud), exports({"A": "a1"})
    )
    patience, everything = cloud.clock, cloud.clock.now
    cloud.clock = FakeClock(remaining=sum(patience.slept) + 25)
    cloud.clock.slept = patience.slept  # one time for all
    with pytest.raises(InvocationTimeoutError):
        cloud.send(request)
    assert name("A") not in cloud.values(US)
    assert everything() < cloud.clock.now() + timedelta(seconds=1)
    cloud.clock = patience
    cloud.send(request)
    assert cloud.values(US)[name("A")] == "a1"
    assert cloud.ssm(US).parameters()[A].kind == "StringList"


def test_a_parameter_without_tags_is_foreign_after_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was made by hand where a value was deleted a moment ago."""
    cloud = RememberingCloud(Again.REFUSED)
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    ssm = cloud.ssm(US)
    create = PatientWriter.create

    def by_hand(writer: PatientWriter, *what: Any) -> Any:
        ssm.put_parameter(Name=A, Type="String", Value="mine", Overwrite=True)
        return create(writer, *what)

    before = sum(cloud.clock.slept)
    monkeypatch.setattr(PatientWriter, "create", by_hand)
    with pytest.raises(ForeignParameterError, match="not made by strongref"):
        cloud.deploy("network", EU, {"Exports": exports({"A": ["a1"]})})
    assert sum(cloud.clock.slept) >= before + SECONDS
    assert ssm.parameters()[A].text == "mine"


def test_a_name_that_is_never_forgotten_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.half_deleted.SECONDS", 1e6)
    cloud = RememberingCloud(Again.REFUSED)
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    cloud.ssm(US).delete_parameter(Name=A)
    writer = PatientWriter(cloud.stores(US, cloud.clock), cloud.clock, ReadLag())
    with pytest.raises(RecentlyDeletedError, match=f"Parameter {A} in {US} was deleted a moment ago"):
        writer.create(A, text("a"), {"K": "v"})
    with pytest.raises(RecentlyDeletedError):
        writer.tag(A, {"K": "v"})


def test_tags_wait_for_a_parameter_that_was_created_again() -> None:
    cloud = RememberingCloud(Again.HIDDEN)
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    store = cloud.stores(US, cloud.clock)
    store.delete([A])
    assert store.overwrite(A, ParameterType.STRING, "a2") == 1
    assert not store.tag(A, {"K": "v"})
    PatientWriter(store, cloud.clock, ReadLag()).tag(A, {"K": "v"})
    assert cloud.tags(US, name("A")) == {"K": "v"}


def test_a_record_that_was_damaged_by_hand_is_reported_after_the_wait(cloud: RememberingCloud) -> None:
    head = cloud.ssm(US).parameters()[f"{SCOPE.path('records')}/Exports"]
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"}), "Others": exports({"C": "c1"})})
    cloud.ssm(US).put_parameter(
        Name=f"{SCOPE.path('records')}/Exports", Value=head.text[:-5], Type="String", Overwrite=True
    )
    before = sum(cloud.clock.slept)
    stack = cloud.stack("network", EU)
    with pytest.raises(UnreadableRecordError):
        cloud.send(
            stack.request(
                RequestType.UPDATE, "Others", exports({"C": "c2"}), physical_id(cloud, "Others"), exports({"C": "c1"})
            )
        )
    assert SECONDS <= sum(cloud.clock.slept) - before < SECONDS + 10
