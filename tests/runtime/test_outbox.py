"""Sending notices: after everything else, once, in bounded time, and whatever happens nothing fails."""

from __future__ import annotations

import io
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.notices import Notice, NoticeType
from strongref.errors import ServiceError
from strongref.log import logger
from strongref.runtime.outbox import DROPPED, SEND_SECONDS, Outbox
from tests.support.waiting import GIVE_UP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

REFUSED = Notice(NoticeType.CHANGE_REFUSED, {"summary": "no"})
PROPAGATED = Notice(NoticeType.VALUES_PROPAGATED, {"summary": "yes"})
SECRET = "s3cret"


class RecordingBus:
    """A bus that takes everything, or raises."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.calls: list[list[Notice]] = []
        self.error = error

    def put(self, notices: Sequence[Notice]) -> None:
        self.calls.append(list(notices))
        if self.error:
            raise self.error


class HangingBus:
    """A bus that does not answer before it is let go."""

    def __init__(self) -> None:
        self.free = threading.Event()

    def put(self, _notices: Sequence[Notice]) -> None:
        self.free.wait(GIVE_UP_SECONDS)


def filled(bus: Any, *notices: Notice) -> Outbox:
    outbox = Outbox(bus and bus.put)
    for notice in notices or (REFUSED, PROPAGATED):
        outbox(notice)
    return outbox


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What is logged."""
    stream = io.StringIO()
    monkeypatch.setattr(logger.registered_handler, "stream", stream)
    return stream


def problems(log: io.StringIO) -> list[str]:
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert all(line["message"] == "Notices were not sent" for line in lines)
    return [line["error"] for line in lines]


def test_what_was_collected_is_sent_in_one_call_and_only_once() -> None:
    bus = RecordingBus()
    outbox = filled(bus)
    assert outbox.send() == 0
    assert outbox.send() == 0
    assert bus.calls == [[REFUSED, PROPAGATED]]


def test_without_notices_nothing_is_called() -> None:
    bus = RecordingBus()
    assert Outbox(bus.put).send() == 0
    assert bus.calls == []


def test_without_a_bus_notices_are_counted_and_nothing_is_dropped() -> None:
    outbox = filled(None)
    assert outbox.counts() == {"Propagations": 1}
    assert outbox.send() == 0
    assert outbox.counts() == {}


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (
            ServiceError("PutEvents", "NotHeardOf", "bus", "us-east-1"),
            "PutEvents of bus in us-east-1 failed: NotHeardOf.",
        ),
        (ValueError(SECRET), "ValueError"),
        (SystemExit(SECRET), "SystemExit"),
    ],
)
def test_a_failure_is_logged_without_its_text_and_counted_and_not_retried(
    error: BaseException, shown: str, log: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    bus = RecordingBus(error)
    assert filled(bus).send() == 2
    assert len(bus.calls) == 1
    output = capsys.readouterr()
    assert SECRET not in log.getvalue() + output.out + output.err
    assert problems(log) == [shown]
    assert json.loads(log.getvalue())["detail_types"] == ["Change Refused", "Values Propagated"]


def test_a_bus_that_hangs_is_left_alone_when_the_time_is_over(log: io.StringIO) -> None:
    bus = HangingBus()
    dropped: list[int] = []
    sending = threading.Thread(target=lambda: dropped.append(filled(bus).send(0.05)), daemon=True)
    sending.start()
    sending.join(30)
    still_sending = sending.is_alive()
    bus.free.set()
    assert not still_sending
    assert dropped == [2]
    assert problems(log) == ["timed out"]


def test_sending_never_takes_longer_than_its_own_limit_however_much_time_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[float | None] = []
    monkeypatch.setattr(threading.Thread, "join", lambda _thread, timeout=None: waited.append(timeout))
    filled(RecordingBus()).send(900)
    filled(RecordingBus()).send(1)
    assert waited == [SEND_SECONDS, 1]
    assert SEND_SECONDS < 5


def test_without_time_nothing_is_tried(log: io.StringIO) -> None:
    bus = RecordingBus()
    assert filled(bus).send(0) == 2
    assert bus.calls == []
    assert problems(log) == ["no time left"]


def test_a_machine_without_another_thread_drops_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert filled(RecordingBus()).send() == 2


def test_the_metric_is_the_documented_one() -> None:
    assert DROPPED == "NoticesDropped"
