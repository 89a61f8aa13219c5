"""Events that CloudFormation did not send: the real functions ask it at most, write nothing, and respond to nobody."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from strongref.contract.event import RequestType
from tests.support.builders import stack_arn
from tests.support.cloudformation.requests import SIGNED_FORMAT, ResourceRequest, response_url
from tests.support.cloudformation.stacks import CLEANUP, ROLLBACK
from tests.support.faults.fault_types import ANSWER, FAULTS, Fault, FaultDuration, FaultType
from tests.support.faults.functions import RETRY_WAITS
from tests.support.faults.scenario import EU, US, exports, imports, text
from tests.support.faults.wire import Wire
from tests.support.faults.world import World

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from tests.support.faults.functions import Delivery

ASKING = {"DescribeStackResource", "DescribeStacks"}
LOOKUP = {"TypeName": "AWS::S3::Bucket", "Name": "photos"}
CREATE, UPDATE, DELETE = RequestType


@pytest.fixture(autouse=True)
def counted() -> Iterator[list[Mapping[str, int]]]:
    """The metrics that are emitted, which are checked for every event that is rejected."""
    emitted: list[Mapping[str, int]] = []
    with patch("strongref.runtime.custom_resource.emit_counts", emitted.append):
        yield emitted


@pytest.fixture
def world() -> Iterator[World]:
    """The stack network exports A to the stack web, which imports it; both are at rest."""
    world = World()
    with world.functions.installed():
        world.deploy("network", EU, {"Exports": exports({"A": text("a")})})
        world.deploy("web", US, {"Imports": imports("A")})
        yield world


def event(world: World, function: str, kind: RequestType) -> ResourceRequest:
    """What CloudFormation could ask of a function: the last two would change or release what is claimed."""
    if function == "lookup":
        return ResourceRequest(kind, world.stack("web", US).arn, "Lookup", LOOKUP, "photos", LOOKUP)
    name, region, logical_id = ("network", EU, "Exports") if function == "exporter" else ("web", US, "Imports")
    stack = world.stack(name, region)
    resource = stack.resources[logical_id]
    changed = exports({"A": text("b")}, OnChange="propagate") if function == "exporter" else imports("A", Revision="2")
    wanted = changed if kind is UPDATE else resource.properties
    old = resource.properties if kind is UPDATE else None
    return stack.request(kind, logical_id, wanted, "" if kind is CREATE else resource.physical_id, old)


def raw_event(function: str, request: ResourceRequest, signed: str = "20250101T000001Z") -> dict[str, Any]:
    raw = request.raw("request-1", signed=signed)
    return raw | ({"ResourceType": "Custom::ResourceLookup"} if function == "lookup" else {})


def deliver(
    world: World, function: str, raw: dict[str, Any], asked: ResourceRequest | None = None, fault: Fault | None = None
) -> tuple[Delivery, bool]:
    """Invoke a function while CloudFormation waits for `asked`, or for nothing; and whether anything was written."""
    before = world.state()
    region = US if function != "exporter" else EU
    with world.stacks[asked.stack].asking(asked) if asked else nullcontext():
        delivery = world.functions.deliver(function, region, raw, Wire(world.time, fault, 0), 900)
    return delivery, bool(world.state().differences(before))


def check_rejected(
    delivery: Delivery, counted: list[Mapping[str, int]], *, written: bool, reads: Collection[str] = ()
) -> None:
    assert counted == [{"EventsRejected": 1}]
    assert {call.action for call in delivery.calls} <= {*ASKING, *reads}
    assert delivery.answers == ()
    assert not written
    assert not delivery.raised
    assert not delivery.errors
    assert "An event was rejected" in delivery.printed


@pytest.mark.parametrize("kind", list(RequestType), ids=str)
@pytest.mark.parametrize("function", ["exporter", "importer", "lookup"])
def test_for_a_resource_at_rest_nothing_is_done(
    function: str, kind: RequestType, world: World, counted: list[Mapping[str, int]]
) -> None:
    delivery, written = deliver(world, function, raw_event(function, event(world, function, kind)))
    early = ("GetParameters", "GetParametersByPath") if kind is RequestType.CREATE else ()
    check_rejected(delivery, counted, written=written, reads=early)
    assert delivery.calls


def other_fields(raw: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What a forger could say instead, by field."""
    stack, logical_id = raw["StackId"], raw["LogicalResourceId"]

    def url(of: str = stack, name: str = logical_id) -> dict[str, Any]:
        return {"ResponseURL": response_url(of, name, "request-1", signed="20250101T000001Z")}

    region, account = stack.split(":")[3:5]
    elsewhere = stack.replace(f":{account}:", ":222222222222:")
    abroad = stack.replace(f":{region}:", ":ap-south-1:")
    gone = stack.rsplit("/", 1)[0] + "/gone"
    return {
        "StackId of another account": {"StackId": elsewhere, **url(elsewhere)},
        "StackId of another region": {"StackId": abroad, **url(abroad)},
        "StackId of no stack": {"StackId": gone, **url(gone)},
        "LogicalResourceId": {"LogicalResourceId": "Other", **url(name="Other")},
        "ResourceType": {"ResourceType": "Custom::Other"},
        "RequestType": {"RequestType": "Delete" if raw["RequestType"] != "Delete" else "Create"},
        "ResponseURL of another host": {"ResponseURL": "https://example.org/?X-Amz-Date=20250101T000001Z"},
        "ResponseURL of another resource": url(name="Mine"),
        "ResponseURL without TLS": {"ResponseURL": raw["ResponseURL"].replace("https:", "http:")},
        "ResponseURL of yesterday": {"ResponseURL": raw["ResponseURL"].replace("20250101", "20241231")},
        "ResponseURL, malformed": {"ResponseURL": "https://example.org/", "ResourceProperties": None},
    }


FIELDS = sorted(other_fields(ResourceRequest(UPDATE, stack_arn("web", US), "Imports", {}).raw("1")))


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("function", ["exporter", "importer", "lookup"])
def test_a_field_that_is_not_cloudformations_is_not_believed(
    function: str, field: str, world: World, counted: list[Mapping[str, int]]
) -> None:
    asked = event(world, function, UPDATE)
    raw = raw_event(function, asked)
    delivery, written = deliver(world, function, raw | other_fields(raw)[field], asked)
    check_rejected(delivery, counted, written=written)
    assert "example.org" not in delivery.printed


def now(world: World) -> str:
    return world.now().strftime(SIGNED_FORMAT)


THROTTLED = next(each for each in FAULTS if each.name == "throttled until the time is up")


@pytest.mark.parametrize(("function", "kind"), [("exporter", UPDATE), ("importer", DELETE)])
def test_an_event_that_cannot_be_verified_at_first_is_done_when_it_comes_again(
    function: str, kind: RequestType, world: World, counted: list[Mapping[str, int]]
) -> None:
    asked = event(world, function, kind)
    raw, began = raw_event(function, asked, now(world)), world.time.seconds
    delivery, _ = deliver(world, function, raw, asked, THROTTLED)
    assert [each["Status"] for each in delivery.answers] == ["SUCCESS"]
    assert not {"Errors", "EventsRejected"} & set().union(*counted)
    assert world.time.seconds - began > RETRY_WAITS[0]
    first = [call.took_effect for call in delivery.calls].index(True)
    assert first > 1
    assert {call.action for call in delivery.calls[: first + 1]} == {"DescribeStackResource"}


def test_one_that_is_never_verified_fails_when_it_does_not_come_again(world: World) -> None:
    asked = event(world, "importer", UPDATE)
    denied = Fault("denied", FaultType.DENIED, FaultDuration.ACTION)
    raw, began = raw_event("importer", asked, now(world)), world.time.seconds
    with patch.object(Wire, "_concerns", lambda *call: call[2] in ASKING):
        delivery, written = deliver(world, "importer", raw, asked, denied)
    assert "AccessDenied" in delivery.answers[0]["Reason"]
    assert [call.action for call in delivery.calls] == ["DescribeStackResource"] * 3 + [ANSWER]
    assert not written
    assert world.time.seconds - began > sum(RETRY_WAITS)


@pytest.mark.parametrize(("function", "kind"), [("exporter", UPDATE), ("importer", DELETE)])
def test_what_cloudformation_did_ask_for_is_done(function: str, kind: RequestType, world: World) -> None:
    asked = event(world, function, kind)
    delivery, written = deliver(world, function, raw_event(function, asked), asked)
    assert delivery.status == "SUCCESS"
    assert written
    asked_again = function == "exporter"  # right before it changes anything
    assert [call.action for call in delivery.calls].count("DescribeStackResource") == 1 + asked_again


def test_a_delete_in_one_stack_does_not_release_what_another_one_claims(world: World) -> None:
    claimed = world.stack("web", US).resources["Imports"].physical_id
    world.deploy("mine", US, {"Imports": imports("A", Consumer="web")})
    mine = world.stack("mine", US)
    mine.status = CLEANUP  # what was replaced is deleted, and is not listed
    forged = mine.request(DELETE, "Imports", imports("A", Consumer="web"), claimed)
    delivery, _ = deliver(world, "importer", raw_event("importer", forged), forged)
    assert delivery.status == "SUCCESS"
    with pytest.raises(Exception, match=r"imported by .*stack web"):
        world.deploy("network", EU, {"Exports": exports({"A": text("b")})})


@pytest.mark.parametrize("status", [CLEANUP, ROLLBACK])
@pytest.mark.parametrize("function", ["exporter", "importer"])
def test_a_delete_of_another_id_does_not_delete_what_the_resource_is(function: str, status: str, world: World) -> None:
    deletion = event(world, function, DELETE)
    world.stacks[deletion.stack].status = status
    raw = raw_event(function, replace(deletion, physical_id="anything"))
    delivery, written = deliver(world, function, raw)
    assert delivery.status == "SUCCESS"
    assert not written


def test_a_malformed_event_is_answered_only_while_cloudformation_may_wait(world: World) -> None:
    raw = raw_event("importer", event(world, "importer", UPDATE)) | {"ResourceProperties": None}
    fresh, _ = deliver(world, "importer", raw)
    assert fresh.status == "FAILED"
    for field in ("StackId of another account", "ResponseURL of yesterday"):
        forged, _ = deliver(world, "importer", raw | other_fields(raw)[field])
        assert forged.answers == ()
