"""The functions as they are wired: real clients, against moto."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import boto3
import pytest
from moto import mock_aws

from strongref.aws.clients import Clients
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref.contract.event import Event, RequestType
from strongref.protocol.side_by_side import in_turn
from strongref.refusals import ExportsInUseError
from strongref.runtime import wiring
from strongref.runtime.wiring import EVENT_BUS, exporter, importer, janitor, lookup
from tests.support.fake_ssm import FakeClock
from tests.support.notices import check
from tests.support.without_stacks import waited_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from strongref.runtime.custom_resource import CustomResource

STACK = "arn:aws:cloudformation:eu-west-1:123456789012:stack/network/1"
ELSEWHERE = "arn:aws:cloudformation:eu-west-1:210987654321:stack/web/1"
"""A stack of another account counts as existing."""

EXPORT = {
    "Region": ["us-east-1", "eu-west-1"],
    "Consumer": "web",
    "Values": {"A": "a1", "P": "p1"},
    "SecureKeys": ["P"],
}


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("STRONGREF_WRITES_PER_SECOND", "1000")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    for name in ("AWS_ENDPOINT_URL", EVENT_BUS):
        monkeypatch.delenv(name, raising=False)
    with mock_aws():
        yield


def event(
    kind: RequestType, logical_id: str, properties: Mapping[str, object], physical_id: str | None = None
) -> Event:
    return Event(kind, STACK, logical_id, "1", physical_id, properties, None, "https://example.com/", "Custom::Test")


def test_an_export_an_import_and_their_deletion_over_moto() -> None:
    export, take = exporter().handle, importer().handle
    imported: dict[str, object] = {"From": {"Stack": "network"}, "Consumer": "web"}
    with waited_for():
        made = export(event(RequestType.CREATE, "Exports", EXPORT), FakeClock())
    assert made.data == {"Prefix": "/strongref/exports/web/123456789012/eu-west-1/network", "Count": "2"}
    taken = take(event(RequestType.CREATE, "Imports", imported), FakeClock())
    assert taken.data == {"A": "a1"}
    for region in ("us-east-1", "eu-west-1"):
        stored = boto3.client("ssm", region).get_parameters_by_path(Path="/strongref/exports", Recursive=True)
        assert {each["Type"] for each in stored["Parameters"]} == {"String", "SecureString"}
    take(event(RequestType.DELETE, "Imports", imported, taken.physical_id), FakeClock())
    export(event(RequestType.DELETE, "Exports", EXPORT, made.physical_id), FakeClock())
    for region in ("us-east-1", "eu-west-1"):
        assert boto3.client("ssm", region).describe_parameters()["Parameters"] == []


def test_exporter_and_importer_make_calls_side_by_side_and_within_the_limits_that_are_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits: list[RateLimits] = []
    most: list[int] = []

    def limiter(given: RateLimits) -> RateLimiter:
        limits.append(given)
        return RateLimiter(given)

    def side_by_side(queues: Sequence[Sequence[Callable[[], Any]]]) -> list[list[Any]]:
        most.append(max(map(len, queues), default=0))
        return in_turn(queues)

    monkeypatch.setattr(wiring, "RateLimiter", limiter)
    monkeypatch.setattr(wiring, "in_threads", side_by_side)
    with waited_for():
        exporter().handle(event(RequestType.CREATE, "Exports", EXPORT), FakeClock())
    assert max(most) == 2
    most.clear()
    importer().handle(
        event(RequestType.CREATE, "Imports", {"From": {"Stack": "network"}, "Consumer": "web"}), FakeClock()
    )
    assert max(most) == 2
    assert limits == [RateLimits(writes=1000)] * 2


def test_an_event_of_one_value_starts_few_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each costs a tenth of a millisecond: less than a call that it saves a round."""
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def counted(thread: threading.Thread) -> None:
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", counted)
    one = {"Region": "eu-west-1", "Consumer": "web", "Values": {"A": "a1"}}
    with waited_for():
        exporter().handle(event(RequestType.CREATE, "Exports", one), FakeClock())
    importer().handle(
        event(RequestType.CREATE, "Imports", {"From": {"Stack": "network"}, "Consumer": "web"}), FakeClock()
    )
    assert len(started) == 3


def test_the_janitor_keeps_to_half_and_makes_one_call_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[RateLimits] = []

    def limiter(given: RateLimits) -> RateLimiter:
        limits.append(given)
        return RateLimiter(given)

    monkeypatch.setattr(wiring, "RateLimiter", limiter)
    ports = janitor().janitor("123456789012", "eu-west-1", FakeClock()).ports
    assert (limits[0].writes, limits[0].tags) == (500, 5)  # of the limit that is set, and of the first rate
    assert ports.stores("eu-west-1", FakeClock()).side_by_side is in_turn


class Events:
    """boto3's client of EventBridge, which takes everything."""

    def __init__(self) -> None:
        self.entries: list[dict[str, object]] = []

    def put_events(self, *, Entries: list[dict[str, object]]) -> dict[str, object]:  # noqa: N803 (as boto3)
        self.entries += Entries
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "1"} for _ in Entries]}


def refused() -> CustomResource:
    """An exporter that has refused the deletion of what is imported."""
    function, takes = exporter(), importer().handle
    imported: dict[str, object] = {"From": {"Stack": "network", "Account": "123456789012"}, "Consumer": "web"}
    with waited_for():
        made = function.handle(event(RequestType.CREATE, "Exports", EXPORT), FakeClock())
    takes(replace(event(RequestType.CREATE, "Imports", imported), stack=ELSEWHERE), FakeClock())
    with pytest.raises(ExportsInUseError):
        function.handle(event(RequestType.DELETE, "Exports", EXPORT, made.physical_id), FakeClock())
    return function


def test_a_refusal_goes_to_the_bus_of_the_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    events = Events()
    monkeypatch.setenv(EVENT_BUS, "people")
    monkeypatch.setattr(Clients, "events", lambda _clients, region: {"eu-west-1": events}[region])
    outbox = refused().outbox
    assert outbox
    assert events.entries == []
    assert outbox.send() == 0
    (entry,) = events.entries
    assert (entry["EventBusName"], entry["DetailType"]) == ("people", "Change Refused")
    detail = check(
        {"source": entry["Source"], "detail-type": entry["DetailType"], "detail": json.loads(str(entry["Detail"]))}
    )
    assert {each["key"] for each in detail["values"]} == {"A", "P"}
    assert "p1" not in str(entry)


def test_without_a_bus_there_is_no_client_of_eventbridge(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_clients: Clients, region: str) -> NoReturn:
        raise AssertionError(region)

    monkeypatch.setattr(Clients, "events", fail)
    outbox = refused().outbox
    assert outbox
    assert outbox.send() == 0
    assert janitor().outbox.send() == 0


class OneTopic:
    """boto3's client of Cloud Control, which moto does not have, where there is one topic."""

    def __init__(self, arn: str) -> None:
        self._arn = arn

    def get_resource(self, *, TypeName: str, Identifier: str) -> dict[str, object]:  # noqa: N803 (as boto3)
        assert (TypeName, Identifier) == ("AWS::SNS::Topic", self._arn)
        properties = json.dumps({"TopicArn": self._arn, "DisplayName": "News"})
        return {"TypeName": TypeName, "ResourceDescription": {"Identifier": Identifier, "Properties": properties}}


def test_a_lookup_by_tags_and_its_deletion(monkeypatch: pytest.MonkeyPatch) -> None:
    tags = [{"Key": "team", "Value": "web"}]
    arn = boto3.client("sns", "us-east-1").create_topic(Name="news", Tags=tags)["TopicArn"]
    monkeypatch.setattr(Clients, "cloudcontrol", lambda _clients, region: {"us-east-1": OneTopic(arn)}[region])
    wanted = {"TypeName": "AWS::SNS::Topic", "Tags": {"team": "web"}, "Region": "us-east-1"}
    look_up = lookup().handle
    found = look_up(event(RequestType.CREATE, "Found", wanted), FakeClock())
    assert found.data == {"Identifier": arn, "TopicArn": arn, "DisplayName": "News"}
    deleted = look_up(event(RequestType.DELETE, "Found", wanted, found.physical_id), FakeClock())
    assert (deleted.physical_id, deleted.data) == ("strongref-lookup/network/Found", {})
