"""What an import takes for its own, and what it must not: withdrawn values, claims that it sees, names of nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.event import RequestType
from strongref.contract.fence import Fence
from strongref.errors import StrongRefError
from strongref.protocol.claims import Claimant, ClaimAttempt
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports
from strongref.protocol.published import ImportingAccount
from strongref.protocol.time import Patience
from strongref.refusals import ChangingError, NoSuchExportError, NothingExportedError, UnsettledError
from tests.protocol.test_scenarios import EU, US, exports, imports, name
from tests.support.builders import ACCOUNT, SCOPE
from tests.support.cloud import Cloud
from tests.support.cloudformation.operations import LaterResourceError

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def cloud() -> Cloud:
    """Two Exports, of which one has been withdrawn while web imports from both."""
    found = Cloud()
    kept, withdrawn = exports({"A": "a1", "M": {"A": "ma"}}), exports({"B": "b1", "M": {"B": "mb"}})
    found.deploy("network", EU, {"Exports": kept, "More": withdrawn})
    found.deploy("web", US, {"Imports": imports("A", "B", "M")})
    found.deploy("network", EU, {"Exports": kept})
    return found


@pytest.mark.parametrize("lag", [0.0, 2.0])
def test_everything_of_nothing_is_an_error_after_another_look(lag: float) -> None:
    cloud = Cloud()
    cloud.lag = ReadLag(lag)
    cloud.deploy("network", EU, {})
    for wanted in (imports(), imports("A")):
        with pytest.raises(NothingExportedError):
            cloud.deploy("web", US, {"Imports": wanted})


def test_an_import_of_everything_returns_to_what_was_withdrawn() -> None:
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}), "More": exports({"B": "b1"})})
    cloud.deploy("web", US, {"Imports": imports()})
    cloud.deploy("network", EU, {"More": exports({"B": "b1"})})
    with pytest.raises(LaterResourceError):
        cloud.deploy("web", US, {"Imports": imports("B")}, fails=True)
    assert cloud.get("web", US) == {"A": "a1", "B": "b1"}


def test_a_value_that_its_record_holds_must_agree_with_it_although_others_are_withdrawn(cloud: Cloud) -> None:
    cloud.ssm(US).put_parameter(Name=f"/strongref/exports/{name('A')}", Value="mine", Overwrite=True)
    with pytest.raises(UnsettledError):
        cloud.deploy("web", US, {"Imports": imports("A", "B", "M", Revision="2")})


def test_of_a_map_that_is_exported_only_what_is_exported_is_imported(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1", "M": {"A": "ma"}})})
    cloud.deploy("web", US, {"Imports": imports("A", "B", "M", Revision="2")})
    assert cloud.get("web", US) == {"A": "a1", "B": "b1", "M.A": "ma"}


def test_what_is_kept_for_others_is_not_exported(cloud: Cloud) -> None:
    cloud.deploy("api", US, {"Imports": imports("A", Consumer="web")})
    with pytest.raises(NoSuchExportError):
        cloud.deploy("api", US, {"Imports": imports("B", Consumer="web")})
    assert cloud.claims(US, name("B")) == ["web"]


def test_a_claim_among_as_many_tags_as_there_can_be_is_a_claim(cloud: Cloud) -> None:
    cloud.fill_tags(US, name("A"))
    cloud.deploy("web", US, {"Imports": imports("A", "B", "M", Revision="2")})
    assert cloud.get("web", US)["A"] == "a1"


def test_a_create_claims_although_it_sees_its_claim() -> None:
    """Reads may lag, and show the claim of a former resource that was just released."""
    cloud, wanted = Cloud(), imports("A", Shared="true")
    cloud.deploy("network", EU, {"Exports": {"Region": US, "Values": {"A": "a1"}}})
    web = cloud.deploy("web", US, {"Imports": wanted})
    cloud.calls.clear()
    cloud.send(web.request(RequestType.CREATE, "Imports", wanted))
    assert "AddTagsToResource" in {action for action, _ in cloud.calls}


@pytest.mark.parametrize("at", ["B", "A"])
def test_a_value_that_goes_before_its_tags_are_read_is_not_there(cloud: Cloud, at: str) -> None:
    def go(action: str, request: dict[str, Any]) -> None:
        if action == "ListTagsForResource" and request["ResourceId"].endswith(f"/{at}"):
            cloud.ssm(US).before_call = None
            cloud.ssm(US).delete_parameter(Name=f"/strongref/exports/{name(at)}")

    cloud.ssm(US).before_call = go
    update = imports("A", "B", "M", Revision="2")
    if at == "B":
        with pytest.raises(NoSuchExportError):
            cloud.deploy("web", US, {"Imports": update})
    else:
        cloud.deploy("web", US, {"Imports": update})
        assert cloud.claims(US, name("A")) == ["web"]


def on_call(cloud: Cloud, when: str, act: Callable[[], object], after: str = "") -> None:
    """Do something right before a call, or before the first one after another one."""
    waits_for = [each for each in (after, when) if each]

    def before(action: str, _request: dict[str, Any]) -> None:
        if action == waits_for[0]:
            waits_for.pop(0)
            if not waits_for:
                cloud.ssm(US).before_call = None
                act()

    cloud.ssm(US).before_call = before


def put(cloud: Cloud, parameter: str, text: str) -> None:
    cloud.ssm(US).put_parameter(Name=parameter, Value=text, Overwrite=True)


RECORD = f"/strongref/records/{name('Exports')}"


def exported() -> Cloud:
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    return cloud


def test_a_record_that_changes_while_claims_are_put_on_is_not_overlooked() -> None:
    """Its Export died before it wrote the value, so no fence is left."""
    cloud = exported()
    changed = cloud.texts(US)[RECORD[1:]].replace("a1", "a2")
    on_call(cloud, "AddTagsToResource", lambda: put(cloud, RECORD, changed))
    with pytest.raises(StrongRefError, match="The stored value of A differs"):
        cloud.deploy("web", US, {"Imports": imports("A")})


def test_a_value_that_changes_right_after_it_was_put_back_is_not_returned() -> None:
    cloud, value = exported(), f"/strongref/exports/{name('A')}"
    cloud.ssm(US).delete_parameter(Name=value)
    on_call(cloud, "GetParameters", lambda: put(cloud, value, "mine"), after="PutParameter")
    with pytest.raises(StrongRefError, match="The stored value of A differs"):
        cloud.deploy("web", US, {"Imports": imports("A")})


def test_a_record_that_is_being_written_is_waited_for() -> None:
    cloud = exported()
    whole = cloud.texts(US)[RECORD[1:]]
    put(cloud, RECORD, whole[:-5])
    cloud.clock.on_sleep = lambda _slept: put(cloud, RECORD, whole)
    cloud.deploy("web", US, {"Imports": imports("A")})
    assert cloud.get("web", US) == {"A": "a1"}


def test_who_cannot_go_on_in_another_invocation_gives_up_while_others_are_at_work() -> None:
    cloud = exported()
    fence = Fence("x", cloud.clock.now() + timedelta(minutes=10), lifetime=timedelta(minutes=10))
    cloud.ssm(US).put_parameter(Name=f"{SCOPE.path('fences')}/x.1", Type="String", Value=fence.encode())
    ports = Ports(cloud.stores, cloud, Patience(35, 2, lambda: 0.5), cloud.token)
    claimant = Claimant("set", "manifests", ImportingAccount(ACCOUNT, "web"))
    attempt = ClaimAttempt(ports, cloud.stores(US, cloud.clock), cloud.clock, claimant, SCOPE, ["A"])
    with pytest.raises(ChangingError):
        attempt.claim()
