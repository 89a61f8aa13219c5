"""Functions send notices after their response, and no bus can delay or fail a deployment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from strongref.contract.notices import Notice, NoticeType
from strongref.contract.response import Response
from strongref.errors import OutOfTimeError
from strongref.protocol.findings import Finding, FindingType
from strongref.protocol.janitor import JanitorProgress
from strongref.refusals import ExportsInUseError, InUse
from strongref.runtime.custom_resource import CustomResource
from strongref.runtime.outbox import Outbox
from strongref.runtime.schedule import ScheduledFunction
from tests.support.notices import detail_of
from tests.support.response_server import FakeContext, ResponseServer
from tests.support.verifying import CREDULOUS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strongref.contract.event import Event
    from strongref.protocol.janitor import Checkpoint
    from strongref.protocol.time import Clock

EVENT = Path(__file__).parents[1] / "events/create_export.json"
IN_USE = ExportsInUseError([InUse("A", "changed", ("web",))])
OUT_OF_TIME = OutOfTimeError("PutParameter", "OutOfTime", "/a", "us-east-1")
PROPAGATED = Notice(NoticeType.VALUES_PROPAGATED, {"summary": "A changed."})
A = "/strongref/exports/web/111111111111/eu-west-1/network/A"


class WatchingBus:
    """A bus that notes how many responses there were when it was called, and then may fail."""

    def __init__(self, server: ResponseServer | None = None, error: Exception | None = None) -> None:
        self.server = server
        self.error = error
        self.sent: list[Notice] = []
        self.responses: list[int] = []

    def put(self, notices: Sequence[Notice]) -> None:
        self.sent += notices
        if self.server:
            self.responses.append(len(self.server.answers))
        if self.error:
            raise self.error


def metrics(capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
    return {
        metric["Name"]: line[metric["Name"]][0]
        for line in lines
        for metric in line["_aws"]["CloudWatchMetrics"][0]["Metrics"]
    }


def handled(bus: WatchingBus, outcome: Response | Exception, server: ResponseServer, seconds: float = 900) -> None:
    """Have a function handle an event whose use case notices something, and then ends like this."""
    outbox = Outbox(bus.put)

    def handle(_event: Event, _clock: Clock) -> Response:
        outbox(PROPAGATED)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    raw = json.loads(EVENT.read_text(encoding="utf-8")) | {"ResponseURL": server.url}
    CustomResource(handle, lambda *_: None, CREDULOUS, outbox)(raw, FakeContext(seconds))


@pytest.fixture
def server() -> Iterator[ResponseServer]:
    with ResponseServer() as started:
        yield started


@pytest.mark.parametrize("outcome", [Response("id"), IN_USE])
def test_notices_are_sent_when_cloudformation_has_its_response(
    outcome: Response | Exception, server: ResponseServer, capsys: pytest.CaptureFixture[str]
) -> None:
    bus = WatchingBus(server)
    handled(bus, outcome, server)
    assert bus.sent == [PROPAGATED]
    assert bus.responses == [1]
    assert metrics(capsys)["Propagations"] == 1


def test_an_invocation_that_is_continued_sends_what_it_noticed(server: ResponseServer) -> None:
    bus = WatchingBus(server)
    handled(bus, OUT_OF_TIME, server)
    assert (bus.sent, bus.responses) == ([PROPAGATED], [0])


@pytest.mark.parametrize("outcome", [Response("id"), IN_USE])
def test_a_bus_that_fails_changes_no_response_and_is_counted(
    outcome: Response | Exception, server: ResponseServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with ResponseServer() as other:
        handled(WatchingBus(), outcome, other)
        expected = other.answers
    capsys.readouterr()
    handled(WatchingBus(error=ValueError("s3cret")), outcome, server)
    assert server.answers == expected
    assert metrics(capsys)["NoticesDropped"] == 1


def test_a_warm_function_does_not_send_a_notice_again(server: ResponseServer) -> None:
    bus = WatchingBus()
    outbox = Outbox(bus.put)

    def handle(event: Event, _clock: Clock) -> Response:
        if event.request_id == "first":
            outbox(PROPAGATED)
        return Response("id")

    function = CustomResource(handle, lambda *_: None, CREDULOUS, outbox)
    for request in ("first", "second"):
        raw = json.loads(EVENT.read_text(encoding="utf-8")) | {"ResponseURL": server.url, "RequestId": request}
        function(raw, FakeContext())
    assert bus.sent == [PROPAGATED]


def test_the_time_that_is_left_bounds_sending(server: ResponseServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lambda kills a function that goes on, and delivers its event again."""
    given: list[float] = []

    def send(_outbox: Outbox, seconds: float) -> int:
        given.append(seconds)
        return 0

    monkeypatch.setattr(Outbox, "send", send)
    handled(WatchingBus(), Response("id"), server, seconds=10)
    assert 8 < given[0] <= 9.5


class Janitor:
    """A janitor that finds this, and then meets an error, if there is one."""

    def __init__(self, *tended: JanitorProgress, error: Exception | None = None) -> None:
        self.tended = tended
        self.error = error

    def __call__(self, _account: str, _region: str, _clock: Clock) -> Any:
        return self

    def tend(self, _clock: Clock, _after: Checkpoint, *, skip: bool, only_abroad: bool) -> Iterator[JanitorProgress]:
        assert (skip, only_abroad) == (False, False)
        yield from self.tended
        if self.error:
            raise self.error


STALE = JanitorProgress(("a", "A"), 5, (Finding(FindingType.STALE_CLAIM, A),))
DIFFERENT = JanitorProgress(("b", "B"), 5, (Finding(FindingType.CHANGED_BY_HAND, A), Finding(FindingType.WITHDRAWN, A)))
BUSY = JanitorProgress(("c", "C"), 5, (Finding(FindingType.ORPHANED, A),), busy=True)


def test_the_janitor_sends_one_notice_of_repairs_and_one_of_findings() -> None:
    bus = WatchingBus()
    ScheduledFunction(Janitor(STALE, DIFFERENT, BUSY, STALE), lambda *_: None, Outbox(bus.put))({}, FakeContext())
    found = {notice.type: [each["finding"] for each in detail_of(notice)["findings"]] for notice in bus.sent}
    assert found == {
        NoticeType.REPAIRS_MADE: ["stale-claim", "stale-claim"],
        NoticeType.FINDINGS_REPORTED: ["changed-by-hand"],
    }
    assert detail_of(bus.sent[0])["region"] == "us-east-1"


def test_a_janitor_that_finds_nothing_sends_nothing() -> None:
    bus = WatchingBus()
    ScheduledFunction(Janitor(), lambda *_: None, Outbox(bus.put))({}, FakeContext())
    assert bus.sent == []


def test_each_invocation_of_the_janitor_sends_what_it_found_itself() -> None:
    bus = WatchingBus()
    function = ScheduledFunction(Janitor(STALE, error=OUT_OF_TIME), lambda *_: None, Outbox(bus.put))
    function({}, FakeContext())
    function({}, FakeContext())
    assert [len(detail_of(notice)["findings"]) for notice in bus.sent] == [1, 1]


def test_a_bus_that_fails_does_not_fail_the_janitor(capsys: pytest.CaptureFixture[str]) -> None:
    bus = WatchingBus(error=ValueError("s3cret"))
    ScheduledFunction(Janitor(STALE, DIFFERENT), lambda *_: None, Outbox(bus.put))({}, FakeContext())
    assert metrics(capsys)["NoticesDropped"] == 2


def test_a_janitor_that_fails_reports_what_it_had_done() -> None:
    def fail(*_: object) -> NoReturn:
        raise AssertionError

    bus = WatchingBus()
    with pytest.raises(ExportsInUseError):
        ScheduledFunction(Janitor(STALE, error=IN_USE), fail, Outbox(bus.put))({}, FakeContext())
    assert [notice.type for notice in bus.sent] == [NoticeType.REPAIRS_MADE]
