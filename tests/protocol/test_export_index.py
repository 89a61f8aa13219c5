"""What an Export's event asks for and where, and what it writes to the index: the store is in memory."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import timedelta
from typing import Any, NoReturn

import pytest
from botocore.exceptions import ClientError

from strongref.contract.event import Event, RequestType
from strongref.contract.index import DENIED, IndexEntry, Place, encode_hold, encode_place, index_name, path_of
from strongref.contract.names import StackArn
from strongref.errors import BadRequestError, InvocationTimeoutError, StoreError
from strongref.protocol.export_event import ExportEvent
from strongref.protocol.export_index import ExportIndex
from strongref.protocol.exports import Exporter
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports
from strongref.protocol.stored_exports import ExportIdentity, physical_id
from strongref.protocol.time import Patience
from tests.protocol.test_newer_formats import NEWER
from tests.support.builders import ACCOUNT, ME, NETWORK
from tests.support.cloud import Cloud
from tests.support.cloudformation.requests import ResourceRequest
from tests.support.fake_ssm import EPOCH

EU, US, AP = "eu-west-1", "us-east-1", "ap-southeast-2"
IN_US, IN_AP, ELSEWHERE = (
    Place(ACCOUNT, US, "web"),
    Place(ACCOUNT, AP, "web"),
    Place("222222222222", "eu-central-1", "web"),
)
NAME, MORE = index_name("network", "Exports"), index_name("network", "Exports2")
LATER = EPOCH + timedelta(hours=1)
CREATE, UPDATE, DELETE = RequestType


@pytest.fixture
def cloud() -> Cloud:
    return Cloud()


def put(cloud: Cloud, place: Place | None, text: str, kind: str = "", at: str = NAME) -> None:
    name = f"{at}{path_of(place, kind)}" if place else at
    cloud.ssm(EU).put_parameter(Name=name, Type="String", Value=text, Overwrite=True)


def place(cloud: Cloud, place: Place, kind: str = "", at: str = NAME) -> None:
    put(cloud, place, encode_place(NETWORK, EPOCH), kind, at)


def older(cloud: Cloud) -> str:
    """An entry of version 0.2.0."""
    text = f'{{"stack":"{NETWORK}","hold":"h","places":{{"{ACCOUNT}":{{"web":["{US}"]}}}}}}'
    put(cloud, None, text)
    return text


def index(cloud: Cloud, export: ExportIdentity = ME) -> ExportIndex:
    return ExportIndex(cloud.stores(EU, cloud.clock), export)


def written(cloud: Cloud, at: str = NAME) -> dict[str, str]:
    return {f"/{name}".removeprefix(at): text for name, text in cloud.texts(EU).items() if "index/" in name}


# -- the entry ---------------------------------------------------------------------------------------------------------


def test_another_exports_entry_of_a_later_version_is_in_nobodys_way(cloud: Cloud) -> None:
    place(cloud, IN_US)
    put(cloud, IN_US, NEWER, at=MORE)
    assert index(cloud).read().places == {IN_US}


@pytest.mark.parametrize(("given", "kept"), [("new", "new"), ("", "h")])
def test_a_hold_is_kept_until_there_is_another(cloud: Cloud, given: str, kept: str) -> None:
    older(cloud)
    entry = index(cloud).read()
    assert index(cloud).name(entry, [IN_US], given, EPOCH).hold == kept
    assert written(cloud)[""] == encode_hold(NETWORK, kept)


def test_what_is_named_already_is_written_only_if_that_makes_it_later_or_exact(cloud: Cloud) -> None:
    entry = IndexEntry(NETWORK, frozenset({IN_US}), wrote={IN_US: EPOCH}, exact=frozenset({IN_US}))
    for before, at, is_written in (
        (entry, EPOCH, False),
        (entry, EPOCH - timedelta(hours=1), False),
        (entry, LATER, True),
        (IndexEntry(NETWORK, frozenset({IN_US}), wrote={IN_US: EPOCH}), EPOCH, True),
    ):
        index(cloud).name(before, [IN_US], "", at)
        assert written(cloud) == ({path_of(IN_US): encode_place(NETWORK, at, exact=True)} if is_written else {})
        index(cloud).remove([IN_US])


def test_a_place_that_is_named_was_not_denied_since(cloud: Cloud) -> None:
    for each in (IN_US, IN_AP):
        place(cloud, each, DENIED)
    index(cloud).name(index(cloud).read(), [IN_US], "", LATER)
    assert {*written(cloud)} == {path_of(IN_US), path_of(IN_AP, DENIED)}


def test_what_is_added_replaces_nothing(cloud: Cloud) -> None:
    text = older(cloud)
    index(cloud).add(index(cloud).read(), IN_US, "new", EPOCH)
    assert written(cloud) == {"": text}
    put(cloud, None, encode_hold(NETWORK, "h"))
    place(cloud, IN_US)
    before = written(cloud)
    index(cloud).add(index(cloud).read(), IN_US, "", LATER)
    assert written(cloud) == before
    index(cloud).add(index(cloud).read(), IN_US, "new", LATER)
    assert written(cloud) == before | {"": encode_hold(NETWORK, "new")}


def test_an_entry_is_removed_without_those_of_other_exports(cloud: Cloud) -> None:
    for at in (NAME, MORE):
        place(cloud, IN_US, at=at)
    index(cloud).remove_all()
    assert written(cloud, MORE) == {path_of(IN_US): encode_place(NETWORK, EPOCH)}


def test_what_is_said_about_a_place_is_noted_and_removed_by_itself(cloud: Cloud) -> None:
    place(cloud, IN_US)
    index(cloud).note(DENIED, [IN_US], LATER, "1")
    index(cloud).note(DENIED, [IN_AP], LATER)
    assert written(cloud)[path_of(IN_US, DENIED)] == encode_place(NETWORK, LATER, request="1")
    assert written(cloud)[path_of(IN_AP, DENIED)] == encode_place(NETWORK, LATER)
    index(cloud).remove([IN_US], DENIED)
    assert {*written(cloud)} == {path_of(IN_US), path_of(IN_AP, DENIED)}


# -- the event ---------------------------------------------------------------------------------------------------------

GOOD, BAD = {"Region": US, "Consumer": "web", "Values": {"A": "1"}}, {"Region": [AP], "Unknown": "x"}


def event(kind: RequestType, given: dict[str, Any], old: dict[str, Any] | None = None, own_id: str = "x") -> Event:
    return ResourceRequest(kind, NETWORK, "Exports", given, "" if kind is CREATE else own_id, old).event("1")


def named(cloud: Cloud, sent: Event) -> list[Place]:
    ports = Ports(cloud.stores, cloud, Patience(5, 2, lambda: 0.5), cloud.token)
    return [each.place for each in ExportEvent.parse(sent).with_named(ports, cloud.clock).destinations]


@pytest.mark.parametrize(
    ("sent", "unclear"),
    [(event(CREATE, GOOD), ()), (event(UPDATE, GOOD, GOOD), ()), (event(UPDATE, GOOD, BAD), (US, AP))],
)
def test_only_old_properties_that_were_refused_are_unclear(sent: Event, unclear: tuple[str, ...]) -> None:
    assert ExportEvent.parse(sent).unclear_regions == unclear


def test_another_accounts_places_are_visited(cloud: Cloud) -> None:
    for each in (IN_AP, ELSEWHERE):
        place(cloud, each)
    assert named(cloud, event(UPDATE, GOOD, GOOD)) == [IN_US, IN_AP, ELSEWHERE]


def deny(cloud: Cloud, region: str, code: str = "AccessDeniedException") -> None:
    def fail(action: str, _request: dict[str, Any]) -> None:
        raise ClientError({"Error": {"Code": code, "Message": ""}}, action)

    cloud.ssm(region).before_call = fail


@pytest.mark.parametrize(("old", "fails"), [(GOOD, False), (BAD, True)])
def test_the_index_is_needed_where_old_properties_are_unclear(cloud: Cloud, old: dict[str, Any], fails: bool) -> None:
    deny(cloud, EU)
    with pytest.raises(StoreError) if fails else nullcontext():
        named(cloud, event(UPDATE, GOOD, old))


def test_what_there_is_no_time_to_read_of_the_index_is_read_by_another_invocation(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: ExportIndex) -> NoReturn:
        raise InvocationTimeoutError

    monkeypatch.setattr(ExportIndex, "read", fail)
    with pytest.raises(InvocationTimeoutError):
        named(cloud, event(UPDATE, GOOD, GOOD))


@pytest.mark.parametrize(
    ("sent", "exact", "code", "fails"),
    [
        pytest.param(event(UPDATE, GOOD, BAD), False, "AccessDeniedException", False, id="an update"),
        pytest.param(event(UPDATE, GOOD, BAD), True, "ValidationException", True, id="another error"),
        pytest.param(event(DELETE, BAD), True, "AccessDeniedException", False, id="a delete, with an exact index"),
        pytest.param(event(DELETE, BAD), False, "AccessDeniedException", True, id="a delete"),
    ],
)
def test_an_unclear_region_may_be_out_of_reach_where_nothing_can_be(
    cloud: Cloud, sent: Event, exact: bool, code: str, fails: bool
) -> None:
    put(cloud, IN_US, encode_place(NETWORK, EPOCH, exact=exact))
    deny(cloud, AP, code)
    with pytest.raises(StoreError) if fails else nullcontext():
        assert named(cloud, sent) == [IN_US]


def test_a_delete_without_a_place_waits_for_nothing_and_leaves_the_index_alone(cloud: Cloud) -> None:
    put(cloud, None, encode_hold(NETWORK, "h"))
    ports = Ports(cloud.stores, cloud, Patience(5, 2, lambda: 0.5), cloud.token, ReadLag(2.0))
    assert Exporter(ports).handle(event(DELETE, BAD), cloud.clock).physical_id == "x"
    assert (cloud.clock.slept, written(cloud)) == ([], {"": encode_hold(NETWORK, "h")})


@pytest.mark.parametrize("kind", [CREATE, DELETE])
def test_only_an_update_notes_what_it_was_denied(cloud: Cloud, kind: RequestType) -> None:
    stack = cloud.deploy("network", EU, {})
    own = ExportIdentity(stack.arn, "Exports")
    index(cloud, own).name(IndexEntry(stack.arn), [IN_AP], "", EPOCH)
    before = written(cloud)
    deny(cloud, AP)
    given = {"Region": "nowhere", "Values": "x"}
    own_id = physical_id(StackArn.parse(stack.arn), "Exports")
    sent = ResourceRequest(kind, stack.arn, "Exports", given, "" if kind is CREATE else own_id)
    ports = Ports(cloud.stores, cloud, Patience(5, 2, lambda: 0.5), cloud.token)
    with pytest.raises(BadRequestError):
        Exporter(ports).handle(sent.event("1", signed="20250101T000000Z"), cloud.clock)
    assert written(cloud) == before
