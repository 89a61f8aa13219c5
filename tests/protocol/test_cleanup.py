"""What goes with an import: its claims, withdrawn values, and the prefix of its stack; and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from strongref.contract.event import RequestType
from strongref.contract.fence import Fence
from strongref.contract.names import StackArn
from strongref.contract.requests import ImportRequest
from strongref.protocol.cleanup import ClaimRelease
from strongref.protocol.fences import LIFETIME, FenceHolder
from strongref.protocol.imports import physical_id
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports
from strongref.protocol.time import Patience
from tests.protocol.test_scenarios import EU, US, exports, imports, name
from tests.support.builders import ACCOUNT, SCOPE
from tests.support.cloud import Cloud


def release(cloud: Cloud, claim: str) -> ClaimRelease:
    ports = Ports(cloud.stores, cloud, Patience(35, 2, lambda: 0.5), cloud.token, cloud.lag, cloud.notices.append)
    return ClaimRelease(ports, cloud.clock, US, claim, FenceHolder("Imports", "the cleanup"))


@pytest.fixture
def cloud() -> Cloud:
    found = Cloud()
    found.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    return found


def test_an_import_of_everything_takes_withdrawn_values_with_it(cloud: Cloud) -> None:
    cloud.deploy("web", US, {"Imports": imports()})
    cloud.deploy("network", EU, {})
    assert cloud.values(US) == {name("A"): "a1"}
    cloud.deploy("web", US, {})
    assert cloud.values(US) == {}


def test_a_withdrawn_value_that_is_exported_again_meanwhile_stays(cloud: Cloud) -> None:
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.deploy("network", EU, {})

    def export_again(action: str, request: dict[str, Any]) -> None:
        if action == "PutParameter" and "/fences/" in request["Name"]:
            cloud.ssm(US).before_call = None
            cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})

    cloud.ssm(US).before_call = export_again
    cloud.deploy("web", US, {})
    assert cloud.ssm(US).before_call is None
    assert cloud.values(US) == {name("A"): "a1"}


def test_nothing_foreign_goes_with_a_consumer(cloud: Cloud) -> None:
    cloud.deploy("web", US, {"Imports": imports("A")})
    foreign = {f"/strongref/exports/{name('Foreign')}", "/strongref/exports/web/odd"}
    for each in foreign:
        cloud.ssm(US).put_parameter(Name=each, Type="String", Value="mine")
    cloud.delete("web", US)
    assert {f"/strongref/exports/{each}" for each in cloud.values(US)} == foreign


def test_a_change_that_goes_on_keeps_the_values_of_its_producer_alone(cloud: Cloud) -> None:
    cloud.deploy("base", EU, {"Exports": exports({"B": "b1"})})
    cloud.deploy("web", US, {"Imports": imports("A")})
    fence = Fence("somebody", cloud.clock.now() + LIFETIME, lifetime=LIFETIME).encode()
    cloud.ssm(US).put_parameter(Name=f"/strongref/fences/web/{ACCOUNT}/{EU}/base/Exports.1", Type="String", Value=fence)
    cloud.delete("web", US)
    assert cloud.values(US) == {name("B", stack="base"): "b1"}


def test_who_cleans_takes_its_claim_off_what_others_claim(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"})})
    for stack in ("api", "web"):
        cloud.deploy(stack, US, {"Imports": imports("A", Consumer="web")})
    (own,) = [tag for tag, arn in cloud.tags(US, name("A")).items() if arn == cloud.stack("web", US).arn]
    release(cloud, own).clean("web")
    assert (cloud.claims(US, name("A")), list(cloud.values(US))) == (["api"], [name("A")])


def test_a_value_that_goes_while_all_claims_are_looked_for_has_none(cloud: Cloud) -> None:
    cloud.deploy("web", US, {"Imports": imports("A")})
    (own,) = [tag for tag, arn in cloud.tags(US, name("A")).items() if arn == cloud.stack("web", US).arn]
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"})})

    def go(action: str, _request: dict[str, Any]) -> None:
        if action == "ListTagsForResource":
            cloud.ssm(US).before_call = None
            cloud.ssm(US).delete_parameter(Name=f"/strongref/exports/{name('B')}")

    cloud.ssm(US).before_call = go
    assert release(cloud, own).release_below("/strongref/exports", None) == [SCOPE]
    assert cloud.claims(US, name("A")) == []
    assert release(cloud, own).release_below("/strongref/exports", None) == []


@pytest.mark.parametrize("more", [{}, {"Unknown": "x"}], ids=["understood", "refused"])
def test_the_delete_of_a_create_that_never_answered_keeps_the_made_up_id(cloud: Cloud, more: dict[str, object]) -> None:
    web = cloud.deploy("web", US, {})
    made_up = "web-Imports-1ABCDEF"
    request = web.request(RequestType.DELETE, "Imports", imports("A") | more, made_up)
    assert cloud.send(request).physical_id == made_up
    assert cloud.values(US) == {name("A"): "a1"}


def test_the_delete_of_a_create_that_never_answered_releases_nothing_that_is_in_use(cloud: Cloud) -> None:
    web, made_up = cloud.deploy("web", US, {"Imports": imports("A")}), "web-Imports-1ABCDEF"
    assert cloud.send(web.request(RequestType.DELETE, "Imports", imports("A"), made_up)).physical_id == made_up
    assert cloud.claims(US, name("A")) == ["web"]


def test_a_stack_that_is_gone_takes_nothing_with_it(cloud: Cloud) -> None:
    """Another one of its name may import by now."""
    web = cloud.deploy("web", US, {"Imports": imports("A")})
    request = web.request(RequestType.DELETE, "Imports", imports("A"), web.resources["Imports"].physical_id)
    cloud.vanish("web", US)
    cloud.send(request)
    assert (cloud.values(US), cloud.claims(US, name("A"))) == ({name("A"): "a1"}, [])


@pytest.mark.parametrize(
    ("status", "slept"), [("DELETE_IN_PROGRESS", []), ("DELETE_COMPLETE", []), ("UPDATE_COMPLETE", [2.5])]
)
def test_a_delete_looks_again_at_a_stack_that_removes_nothing(cloud: Cloud, status: str, slept: list[float]) -> None:
    web, wanted = cloud.deploy("web", US, {}), imports(Names=[])
    cloud.lag, web.status = ReadLag(2.0), status
    cloud.clock.slept.clear()
    own_id = physical_id(StackArn.parse(web.arn), "Imports", ImportRequest.parse(wanted, StackArn.parse(web.arn)))
    cloud.send(web.request(RequestType.DELETE, "Imports", wanted, own_id))
    assert cloud.clock.slept == slept


def test_an_import_of_nothing_cleans_nothing(cloud: Cloud) -> None:
    cloud.deploy("web", US, {"Imports": imports("A") | {"Names": []}})
    cloud.delete("web", US)
    assert cloud.values(US) == {name("A"): "a1"}
