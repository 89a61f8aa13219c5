"""The event bus: the calls that are made, in which region, and what becomes of EventBridge's answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from strongref.aws.clients import CONNECT_SECONDS, READ_SECONDS, Clients
from strongref.aws.event_bus import MAX_BYTES, MAX_ENTRIES, EventBus
from strongref.contract.notices import DETAIL_LIMIT, Notice, NoticeType
from strongref.errors import ServiceError
from tests.support.builders import ACCOUNT, NETWORK

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.untyped import Untyped

ARN = f"arn:aws:events:eu-central-1:{ACCOUNT}:event-bus/people"
SECRET = "s3cret"


def notice(text: str = "A cannot be changed.") -> Notice:
    return Notice(NoticeType.CHANGE_REFUSED, {"summary": text}, (NETWORK,))


class FakeEvents:
    """boto3's client, which answers as it is told."""

    def __init__(self, answer: Callable[[list[Untyped]], dict[str, Any]] | None = None) -> None:
        self.calls: list[list[Untyped]] = []
        self.regions: list[str] = []
        self._answer = answer or (lambda entries: {"Entries": [{"EventId": "1"} for _ in entries]})

    def __call__(self, region: str) -> FakeEvents:
        self.regions.append(region)
        return self

    def put_events(self, *, Entries: list[Untyped]) -> dict[str, Any]:  # noqa: N803 (as boto3)
        self.calls.append(Entries)
        return self._answer(Entries)


def test_an_event_is_what_was_noticed() -> None:
    events = FakeEvents()
    EventBus("people", "us-east-1", events).put([notice()])
    assert events.calls == [
        [
            {
                "Source": "strongref",
                "DetailType": "Change Refused",
                "Detail": '{"summary":"A cannot be changed."}',
                "Resources": [NETWORK],
                "EventBusName": "people",
            }
        ]
    ]


@pytest.mark.parametrize(("name", "region"), [("people", "us-east-1"), (ARN, "eu-central-1")])
def test_a_bus_by_name_is_in_the_functions_region_and_one_by_arn_in_its_own(name: str, region: str) -> None:
    events = FakeEvents()
    EventBus(name, "us-east-1", events).put([notice()])
    assert events.regions == [region]
    assert events.calls[0][0]["EventBusName"] == name


def test_a_call_has_no_more_events_and_bytes_than_eventbridge_takes() -> None:
    events = FakeEvents()
    bus = EventBus("people", "us-east-1", events)
    bus.put([notice()] * (2 * MAX_ENTRIES + 1))
    assert [len(call) for call in events.calls] == [MAX_ENTRIES, MAX_ENTRIES, 1]
    events.calls.clear()
    large = notice("é" * ((DETAIL_LIMIT - 100) // 6))
    bus.put([large] * 5)
    sizes = [sum(len(entry["Detail"].encode()) for entry in call) for call in events.calls]
    assert [len(call) for call in events.calls] == [2, 2, 1]
    assert max(sizes) <= MAX_BYTES < 256 * 1024


def refusing(entries: list[Untyped]) -> dict[str, Any]:
    accepted = [{"EventId": "1"} for _ in entries[1:]]
    return {"FailedEntryCount": 1, "Entries": [*accepted, {"ErrorCode": "InternalFailure", "ErrorMessage": SECRET}]}


def denying(_entries: list[Untyped]) -> dict[str, Any]:
    raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": SECRET}}, "PutEvents")


def unreachable(_entries: list[Untyped]) -> dict[str, Any]:
    raise EndpointConnectionError(endpoint_url=f"https://{SECRET}")


@pytest.mark.parametrize(
    ("answer", "code"),
    [(refusing, "InternalFailure"), (denying, "AccessDeniedException"), (unreachable, "EndpointConnectionError")],
)
def test_what_is_not_accepted_is_an_error_with_a_code_and_no_text(
    answer: Callable[[list[Untyped]], dict[str, Any]], code: str
) -> None:
    with pytest.raises(ServiceError) as raised:
        EventBus("people", "us-east-1", FakeEvents(answer)).put([notice(), notice()])
    assert str(raised.value).startswith(f"PutEvents of people in us-east-1 failed: {code}. ")
    assert SECRET not in str(raised.value)
    assert raised.value.__context__ is None


def test_a_call_that_fails_is_not_tried_again_and_does_not_stop_the_others() -> None:
    events = FakeEvents(denying)
    with pytest.raises(ServiceError):
        EventBus("people", "us-east-1", events).put([notice()] * (MAX_ENTRIES + 1))
    assert [len(call) for call in events.calls] == [MAX_ENTRIES, 1]


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)


@pytest.mark.usefixtures("credentials")
def test_the_layers_client_has_short_timeouts_and_one_try() -> None:
    config = cast("Any", Clients().events("us-east-1")).meta.config
    assert (config.connect_timeout, config.read_timeout) == (2, 2)
    assert config.connect_timeout < CONNECT_SECONDS
    assert config.read_timeout < READ_SECONDS
    assert config.retries["total_max_attempts"] == 1


@pytest.mark.usefixtures("credentials")
def test_the_layers_client_sends_what_eventbridge_takes() -> None:
    with mock_aws():
        boto3.client("events", "us-east-1").create_event_bus(Name="people")
        EventBus("people", "us-east-1", Clients().events).put([notice()] * MAX_ENTRIES)
