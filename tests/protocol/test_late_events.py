"""Events that come late, again, or with properties that cannot be understood: what is stored decides."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.event import RequestType
from strongref.errors import BadRequestError, OutdatedRequestError, StrongRefError
from strongref.protocol.exports import Exporter
from strongref.protocol.imports import Importer
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports
from strongref.protocol.time import Patience
from strongref.refusals import ExportsInUseError
from tests.support.cloud import Cloud
from tests.support.cloudformation.requests import SIGNED_FORMAT, ResourceRequest
from tests.support.cloudformation.stacks import ROLLBACK, FakeStack
from tests.support.fake_ssm import EPOCH

if TYPE_CHECKING:
    from strongref.contract.event import Event
    from strongref.contract.response import Response

EU, US, AP = "eu-west-1", "us-east-1", "ap-southeast-2"
CREATE, UPDATE, DELETE = RequestType
ID = "strongref-export/network/00000001/Exports"


def exports(values: object, region: object = US, **more: Any) -> dict[str, Any]:
    return {"Region": region, "Consumer": "web", "Values": values} | more


def imports(*names: str, **more: Any) -> dict[str, Any]:
    return {"From": {"Stack": "network", "Region": EU}, "Names": list(names)} | more


class Lambda:
    """Delivers single events of one Export, in any order, while its stack is at work."""

    def __init__(self) -> None:
        self.cloud = Cloud()
        self.stack = self.cloud.new_stack("network", EU)
        self.lag = ReadLag()

    def event(
        self, second: int, kind: RequestType, properties: dict[str, Any], old: dict[str, Any] | None = None
    ) -> Event:
        given = ("" if kind is CREATE else ID, old)
        request = self.stack.request(kind, "Exports", properties, *given)
        return request.event(f"request-{second}", signed=(EPOCH + timedelta(seconds=second)).strftime(SIGNED_FORMAT))

    def deliver(self, event: Event, *, in_progress: bool = True) -> Response:
        asked = ResourceRequest(event.request_type, event.stack, event.logical_id, event.properties)
        with nullcontext() if self.stack.asked or not in_progress else self.stack.asking(asked):
            return Exporter(self.ports).handle(event, self.cloud.clock)

    @property
    def ports(self) -> Ports:
        return Ports(self.cloud.stores, self.cloud, Patience(0, 0, lambda: 0.5), self.cloud.token, self.lag)

    def stored(self, region: str = US) -> dict[str, str]:
        return self.cloud.texts(region)

    def consume(self, *names: str) -> FakeStack:
        return self.cloud.deploy("web", US, {"Imports": imports(*names)})


@pytest.fixture
def network() -> Lambda:
    return Lambda()


def test_an_older_event_that_comes_again_undoes_nothing(network: Lambda) -> None:
    first, second, third = exports({"A": "1"}), exports({"A": "2", "B": "b"}), exports({"A": "3", "B": "b", "C": "c"})
    create, update = network.event(1, CREATE, first), network.event(2, UPDATE, second, first)
    for event in (create, update, network.event(3, UPDATE, third, second)):
        network.deliver(event)
    after = network.stored()
    for older in (create, update, network.event(2, DELETE, second)):
        with pytest.raises(OutdatedRequestError, match="sent a later request for Exports"):
            network.deliver(older)
        assert network.stored() == after
    assert {name.rpartition("/")[2]: text for name, text in after.items() if "/exports/" in name} == {
        "A": "3",
        "B": "b",
        "C": "c",
    }


@pytest.mark.parametrize("second", [2, 3], ids=["of the same second", "later"])
def test_others_count_in_the_order_in_which_they_come(network: Lambda, second: int) -> None:
    network.deliver(network.event(1, CREATE, exports({"A": "1"})))
    network.deliver(network.event(2, UPDATE, exports({"A": "2"}), exports({"A": "1"})))
    request = network.stack.request(UPDATE, "Exports", exports({"A": "3"}), ID, exports({"A": "2"}))
    signed = (EPOCH + timedelta(seconds=second)).strftime(SIGNED_FORMAT)
    network.deliver(request.event("another", signed=signed))
    assert network.cloud.values(US)["web/111111111111/eu-west-1/network/A"] == "3"


def test_the_same_event_again_finishes_what_it_began(network: Lambda) -> None:
    create = network.event(1, CREATE, exports({"A": "1", "B": "2"}))
    network.deliver(create)
    after = network.stored()
    network.cloud.ssm(US).delete_parameter(Name=f"/{next(name for name in after if name.endswith('/B'))}")
    network.deliver(create)
    assert network.stored() == after


def test_without_a_date_nothing_is_older(network: Lambda) -> None:
    network.deliver(network.event(5, CREATE, exports({"A": "1"})))
    undated = network.stack.request(UPDATE, "Exports", exports({"A": "2"}), ID, exports({"A": "1"}))
    network.deliver(undated.event("undated"))
    network.deliver(network.event(1, UPDATE, exports({"A": "3"}), exports({"A": "2"})))
    assert network.cloud.values(US)["web/111111111111/eu-west-1/network/A"] == "3"


def test_an_unchanged_event_writes_nothing(network: Lambda) -> None:
    network.deliver(network.event(1, CREATE, exports({"A": "1"})))
    before = network.stored()
    network.deliver(network.event(2, UPDATE, exports({"A": "1"}), exports({"A": "1"}, ServiceTimeout="300")))
    assert network.stored() == before


def test_an_update_that_was_refused_is_refused_again_while_its_rollback_goes_on(network: Lambda) -> None:
    """The first delivery is refused, the second one is late: it must not take itself for the rollback."""
    before, after = exports({"A": "1"}), exports({})
    network.deliver(network.event(1, CREATE, before))
    network.stack.status = "CREATE_COMPLETE"
    network.consume("A")
    update = network.event(10, UPDATE, after, before)
    network.stack.status = "UPDATE_IN_PROGRESS"
    with pytest.raises(ExportsInUseError):
        network.deliver(update)
    network.stack.status = ROLLBACK
    stored = network.stored()
    with pytest.raises(ExportsInUseError):
        network.deliver(update, in_progress=False)
    rollback = network.stack.request(UPDATE, "Exports", before, ID, after)
    with network.stack.asking(rollback, EPOCH + timedelta(seconds=12)), pytest.raises(ExportsInUseError):
        network.deliver(update)
    assert network.stored() == stored


def test_a_rollback_of_its_own_may_withdraw(network: Lambda) -> None:
    network.deliver(network.event(1, CREATE, exports({"A": "1"})))
    network.stack.status = "CREATE_COMPLETE"
    network.consume("A")
    network.stack.status = ROLLBACK
    rollback = network.stack.request(UPDATE, "Exports", exports({}), ID, exports({"A": "1"}))
    with network.stack.asking(rollback, EPOCH + timedelta(seconds=12, milliseconds=900)):
        network.deliver(network.event(12, UPDATE, exports({}), exports({"A": "1"})))
    (mark,) = [text for name, text in network.stored().items() if "/records/" in name]
    assert '"withdrawn":true' in str(mark)
    assert len(network.cloud.values(US)) == 1
    with pytest.raises(OutdatedRequestError):  # The Update that was rolled back, once more.
        network.deliver(network.event(11, UPDATE, exports({"A": "1"}), exports({})))


@pytest.mark.parametrize("kind", [CREATE, UPDATE], ids=str)
def test_what_cloudformation_has_given_up_is_not_done(network: Lambda, kind: RequestType) -> None:
    """It was canceled, and its rollback found nothing to do and is over."""
    network.deliver(network.event(1, CREATE, exports({"B": "1"})))
    before = network.stored()
    canceled = network.event(2, kind, exports({"A": "1"}), exports({"B": "1"}) if kind is UPDATE else None)
    with pytest.raises(StrongRefError, match="does not wait for this one anymore"):
        network.deliver(canceled, in_progress=False)
    assert network.stored() == before


def test_a_creation_that_comes_late_is_not_done_at_once(network: Lambda) -> None:
    """The Update after it has published nothing, so no record shows that there was one."""
    create = network.event(1, CREATE, exports({"A": "1"}))
    network.deliver(create)
    network.deliver(network.event(2, UPDATE, exports({}), exports({"A": "1"})))
    assert network.stored() == {}
    network.cloud.clock.slept.append(100)
    network.lag = ReadLag(2)
    update = network.stack.request(UPDATE, "Exports", exports({}), ID, exports({"A": "1"}))
    with network.stack.asking(update, EPOCH + timedelta(seconds=90)), pytest.raises(OutdatedRequestError):
        network.deliver(create)
    assert network.stored() == {}


@pytest.mark.parametrize(("age", "waits"), [(29, False), (30, True)], ids=["prompt", "late"])
def test_a_creation_that_lambda_may_have_delivered_before_is_not_done_at_once(
    network: Lambda, age: float, waits: bool
) -> None:
    network.cloud.clock.slept.append(1 + age)
    network.lag = ReadLag(2)
    create = network.event(1, CREATE, exports({"A": "1"}))
    network.deliver(create)
    assert (sum(network.cloud.clock.slept) > 1 + age + 2 * network.lag.seconds) is waits
    assert network.stored()


@pytest.mark.parametrize("values", [{"A": "2"}, {"A": {"B": None}}], ids=["understood", "refused"])
def test_a_rollback_goes_on_whatever_its_service_timeout(network: Lambda, values: object) -> None:
    old, new = exports({"A": "1"}, ServiceTimeout="20"), exports(values, ServiceTimeout="20")
    network.deliver(network.event(1, CREATE, old))  # by a version, or with a ReadLag, that was content with it
    network.lag = ReadLag(2)
    network.stack.status = ROLLBACK
    rollback = network.stack.request(UPDATE, "Exports", old, ID, new)
    with network.stack.asking(rollback, EPOCH + timedelta(seconds=12)):
        network.deliver(network.event(12, UPDATE, old, new))
    network.stack.status = "UPDATE_IN_PROGRESS"
    with pytest.raises(BadRequestError, match="ServiceTimeout must be at least"):
        network.deliver(network.event(13, UPDATE, old, exports({"A": "2"})))


BAD = {"A": {"B": None}}
"""Values that are refused."""


def test_a_delete_that_cannot_be_understood_deletes_what_the_records_say(network: Lambda) -> None:
    for second, consumer in enumerate(("web", "other")):
        network.deliver(network.event(second, CREATE, exports({"A": "1"}, [US, AP], Consumer=consumer)))
    network.cloud.deploy("network", AP, {"Exports": exports({"A": "1"})})  # another one of that name
    network.deliver(network.event(3, DELETE, exports(BAD, [US, AP, "nowhere"])))
    assert [name for name in network.stored(AP) if not name.startswith("strongref/index/")] == []
    assert {name.split("/")[4] for name in network.stored(US)} == {AP}


def test_it_is_refused_where_a_value_is_claimed(network: Lambda) -> None:
    network.deliver(network.event(1, CREATE, exports({"A": "1"})))
    network.stack.status = "CREATE_COMPLETE"
    network.consume("A")
    before = network.stored()
    network.stack.status = "DELETE_IN_PROGRESS"
    with pytest.raises(ExportsInUseError):
        network.deliver(network.event(2, DELETE, exports(BAD)))
    assert network.stored() == before


def test_without_a_region_nobody_knows_where_to_look(network: Lambda) -> None:
    network.deliver(network.event(1, CREATE, exports({"A": "1"})))
    before = network.stored()
    with pytest.raises(BadRequestError, match="Region must be a region or a list of regions"):
        network.deliver(network.event(2, DELETE, exports({"A": "1"}, "Europe")))
    assert network.stored() == before
    never = network.stack.request(DELETE, "Exports", exports(BAD, "Europe"), "network-Exports-1ABC")
    assert network.deliver(never.event("request")).physical_id == "network-Exports-1ABC"


def test_left_out_the_region_is_the_stacks(network: Lambda) -> None:
    network.deliver(network.event(1, CREATE, {"Values": {"A": "1"}}))
    assert network.stored(EU)
    network.deliver(network.event(2, DELETE, {"Values": BAD}))
    assert network.stored(EU) == {}


def test_an_update_leaves_what_old_properties_published_that_cannot_be_understood(network: Lambda) -> None:
    network.deliver(network.event(1, CREATE, exports({"A": "1"}, US)))
    network.deliver(network.event(2, UPDATE, exports({"A": "1"}, AP), exports(BAD, US)))
    assert network.stored(US) == {}
    assert len(network.stored(AP)) == 2


def test_the_rollback_of_an_update_that_was_refused_changes_nothing(network: Lambda) -> None:
    network.deliver(network.event(1, CREATE, exports({"A": "1"})))
    before = network.stored()
    bad = exports(BAD, [US, AP])
    with pytest.raises(BadRequestError):
        network.deliver(network.event(2, UPDATE, bad, exports({"A": "1"})))
    network.stack.status = ROLLBACK
    network.deliver(network.event(3, UPDATE, exports({"A": "1"}), bad))
    assert network.stored() == before
    assert network.stored(AP) == {}


@pytest.mark.parametrize("spoiled", [{"Names": "A"}, {"From": "network"}, {"Consumer": "a/b"}], ids=str)
def test_an_import_that_cannot_be_understood_releases_what_it_claims(network: Lambda, spoiled: dict[str, Any]) -> None:
    network.deliver(network.event(1, CREATE, exports({"A": "1", "B": "2"})))
    network.stack.status = "CREATE_COMPLETE"
    web = network.consume("A")
    kept = network.cloud.deploy("other", US, {"Imports": imports("A", "B", Consumer="web")})
    web.status = "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"
    delete = web.request(DELETE, "Imports", imports("A") | spoiled, web.resources["Imports"].physical_id)
    answer = Importer(network.ports).handle(delete.event("request"), network.cloud.clock)
    assert answer.physical_id == web.resources["Imports"].physical_id
    scope = "web/111111111111/eu-west-1/network"
    assert network.cloud.claims(US, f"{scope}/A") == network.cloud.claims(US, f"{scope}/B") == [kept.name]
