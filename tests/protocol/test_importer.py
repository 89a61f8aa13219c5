"""What an import asks for and waits for, and no more; and which holds it needs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from strongref.contract.event import RequestType
from strongref.contract.names import ExportScope, Producer, StackArn, owner_tag
from strongref.contract.requests import ImportRequest
from strongref.contract.unclaimed import UNCLAIMED
from strongref.protocol.claims import Claimant, ClaimAttempt
from strongref.protocol.imports import Importer, physical_id
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports, StackInfo
from strongref.protocol.published import ImportingAccount, RecordedExports
from strongref.protocol.time import Patience
from strongref.refusals import NoSuchExportError
from tests.protocol.test_scenarios import EU, US, exports, imports, name
from tests.support.builders import ACCOUNT, NETWORK, SCOPE, WEB, record, values
from tests.support.cloud import Cloud

if TYPE_CHECKING:
    from strongref.protocol.hold_keeper import HoldKeeper

A = next(iter(values(A="1")))
ELSEWHERE = ExportScope("web", Producer("222222222222", EU, "network"))


@pytest.fixture
def cloud() -> Cloud:
    found = Cloud()
    found.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    found.calls.clear()
    return found


@pytest.fixture
def no_holds(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """Nobody looks for a hold stack."""
    by_name = cloud.by_name

    def look(stack: str, region: str) -> StackInfo | None:
        assert not stack.startswith("strongref-hold-")
        return by_name(stack, region)

    monkeypatch.setattr(cloud, "by_name", look)
    return cloud


def test_a_weak_import_looks_for_no_hold(no_holds: Cloud) -> None:
    with pytest.raises(NoSuchExportError):
        no_holds.deploy("web", US, {"Imports": imports("B", Strength="weak")})


def test_a_new_import_of_what_names_no_hold_looks_for_none_and_for_no_note(no_holds: Cloud) -> None:
    no_holds.deploy("web", US, {"Imports": imports("A")})
    assert not [request for _, request in no_holds.calls if UNCLAIMED in str(request)]
    assert no_holds.claims(US, name("A")) == ["web"]


def ports(cloud: Cloud, lag: float = 0.0) -> Ports:
    return Ports(cloud.stores, cloud, Patience(35, 2, lambda: 0.5), cloud.token, ReadLag(lag))


def test_an_import_from_another_account_has_no_hold_that_it_can_make(no_holds: Cloud) -> None:
    web = no_holds.new_stack("web", US)
    given = imports("A") | {"From": {"Stack": "network", "Region": EU, "Account": ELSEWHERE.producer.account}}
    arn = StackArn.parse(web.arn)
    own_id = physical_id(arn, "Imports", ImportRequest.parse(given, arn))
    importer, create = Importer(ports(no_holds)), web.request(RequestType.CREATE, "Imports", given).event("1")
    assert importer._holds(create, own_id, ELSEWHERE, no_holds.clock) is None
    assert importer._holds(create, own_id, SCOPE, no_holds.clock)
    web.status = "DELETE_IN_PROGRESS"
    no_holds.send(web.request(RequestType.DELETE, "Imports", given, own_id))


def test_a_new_import_that_fails_asks_for_no_phase(cloud: Cloud) -> None:
    """It has waited once, for what may have been exported a moment ago."""
    web = cloud.new_stack("web", US)
    event = web.request(RequestType.CREATE, "Imports", imports("B")).event("1")
    with pytest.raises(NoSuchExportError):
        Importer(ports(cloud, 2.0)).handle(event, cloud.clock)
    assert cloud.clock.slept == [2.5]


def test_an_update_is_not_refused_for_a_service_timeout_that_was_accepted(cloud: Cloud) -> None:
    cloud.deploy("web", US, {"Imports": imports("A", ServiceTimeout="10")})
    cloud.lag = ReadLag(2.0)
    cloud.deploy("web", US, {"Imports": imports("A", ServiceTimeout="10", Revision="2")})
    assert cloud.claims(US, name("A")) == ["web"]


def test_the_consumer_of_a_stack_that_is_gone_is_its_name(cloud: Cloud) -> None:
    request = ImportRequest.parse(imports("A"), StackArn.parse(WEB))
    assert Importer(ports(cloud))._consumer(request, WEB, cloud.clock) == "web"


# -- which holds it needs ----------------------------------------------------------------------------------------------


class Holds:
    """A keeper of whose hold stack nothing is known but whether it may exist."""

    def __init__(self, *, exists: bool = False) -> None:
        self.exists = exists

    def may_exist(self) -> bool:
        return self.exists

    def needed(self, holds: dict[str, str]) -> dict[str, str]:
        return holds


def attempt(cloud: Cloud, holds: Holds | None = None) -> ClaimAttempt:
    claimant = Claimant("import", WEB, ImportingAccount(ACCOUNT, "web"), may_return=True)
    store = cloud.stores(US, cloud.clock)
    return ClaimAttempt(ports(cloud), store, cloud.clock, claimant, SCOPE, ["A"], cast("Any", holds))


STATUSES = [
    (None, False),
    ("UPDATE_COMPLETE", False),
    ("UPDATE_IN_PROGRESS", True),
    ("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", False),
    ("UPDATE_ROLLBACK_FAILED", True),
]


def with_producer(cloud: Cloud, monkeypatch: pytest.MonkeyPatch, status: str | None) -> Cloud:
    info = StackInfo(NETWORK, "network", status, NETWORK) if status else None
    for look in ("by_arn", "by_name"):
        monkeypatch.setattr(cloud, look, lambda *_: info)
    return cloud


@pytest.mark.parametrize(("status", "may_return"), [*STATUSES, ("DELETE_IN_PROGRESS", False)])
def test_what_was_named_before_is_held_while_its_producer_may_return_to_it(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, status: str | None, may_return: bool
) -> None:
    recorded = RecordedExports({"Exports": replace(record(A="1"), former_hold="H")}, torn=False)
    claiming = attempt(with_producer(cloud, monkeypatch, status), Holds())
    needed = claiming._needed(recorded, [A])
    assert needed == ({"H": NETWORK} if may_return else {})


@pytest.mark.parametrize(("status", "may_return"), [*STATUSES, ("DELETE_IN_PROGRESS", True)])
def test_a_hold_is_not_released_while_its_producer_may_return_to_it(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, status: str | None, may_return: bool
) -> None:
    claiming = attempt(with_producer(cloud, monkeypatch, status))
    assert claiming.may_release_hold(cast("HoldKeeper", Holds()), claiming.store) is not may_return


@pytest.mark.parametrize(("holds", "is_left"), [(None, False), (Holds(), False), (Holds(exists=True), True)])
def test_a_hold_that_a_lost_record_may_need_stays(cloud: Cloud, holds: Holds | None, is_left: bool) -> None:
    claiming = attempt(cloud, holds)
    tags = claiming.claimant.tag | {owner_tag("Lost"): "Lost", **claiming.claimant.tag}
    cloud.ssm(US).add_tags_to_resource(
        ResourceType="Parameter",
        ResourceId=SCOPE.parameter_name(A),
        Tags=[{"Key": key, "Value": text} for key, text in tags.items()],
    )
    assert list(claiming._kept(RecordedExports({}, torn=False))) == [A]
    claiming._check_hold(RecordedExports({}, torn=False), [A])
    assert (claiming._leaves_hold, claiming.needs_hold) == (is_left, is_left or holds is None)
