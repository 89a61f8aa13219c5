"""A creation reads while its event is verified. It writes, and waits for others, only after that."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from strongref.aws.in_threads import in_threads
from strongref.contract.response import Response
from strongref.protocol.verification import EventRejectedError, EventVerifier
from strongref.runtime.custom_resource import CustomResource
from strongref.runtime.outbox import Outbox
from tests.runtime.test_custom_resource import NEW, RefusedError, load, nobody
from tests.support.response_server import FakeContext, ResponseServer
from tests.support.verifying import CREDULOUS, CredulousVerifier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from strongref.contract.event import Event
    from strongref.protocol.time import Clock

LONG = 30.0
"""Seconds: a test that would wait forever fails."""

STEPS: dict[str, Callable[[Clock], None]] = {
    "writes": lambda clock: clock.before_call("PutParameter"),
    "waits": lambda clock: clock.sleep(0),
}


def failing(_clock: Clock) -> None:
    raise RefusedError("no")


@pytest.fixture
def server() -> Iterator[ResponseServer]:
    with ResponseServer() as started:
        yield started


@dataclass(frozen=True, slots=True)
class Late(CredulousVerifier):
    """Is done when something else has been done."""

    done: list[str] = field(default_factory=list)
    after: threading.Event = field(default_factory=threading.Event)
    rejects: bool = False

    @classmethod
    def of(cls, *, rejects: bool = False) -> Late:
        return cls(CREDULOUS.hosts, CREDULOUS.suffix, CREDULOUS.stacks, CREDULOUS.lag, rejects=rejects)

    def check_expected(self, event: Event, clock: Clock) -> None:  # noqa: ARG002
        self.after.wait(LONG)
        self.done.append("verified")
        if self.rejects:
            raise EventRejectedError("it is at rest")

    def handled_by(self, step: Callable[[Clock], None]) -> CustomResource:
        def handle(_event: Event, clock: Clock) -> Response:
            clock.before_call("GetParametersByPath")
            self.done.append("read")
            self.after.set()
            step(clock)
            self.done.append("went on")
            return Response(NEW)

        verifier: EventVerifier = self
        return CustomResource(handle, nobody, verifier, side_by_side=in_threads)


@pytest.mark.parametrize("step", STEPS)
def test_a_creation_reads_while_its_event_is_verified_and_goes_on_after_it(step: str, server: ResponseServer) -> None:
    late = Late.of()
    late.handled_by(STEPS[step])(load("create_import", server), FakeContext())
    assert late.done == ["read", "verified", "went on"]
    assert [answer["Status"] for answer in server.answers] == ["SUCCESS"]


@pytest.mark.parametrize("step", STEPS)
def test_a_creation_that_is_rejected_only_reads_and_is_not_answered(step: str, server: ResponseServer) -> None:
    late = Late.of(rejects=True)
    late.handled_by(STEPS[step])(load("create_import", server), FakeContext())
    assert late.done == ["read", "verified"]
    assert server.received == []


@pytest.mark.parametrize(("rejects", "answers"), [(False, ["FAILED"]), (True, [])])
def test_a_creation_that_fails_at_once_is_answered_only_if_its_event_is_verified(
    rejects: bool, answers: list[str], server: ResponseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, start = Late.of(rejects=rejects), threading.Thread.start
    late.after.set()

    def starts_first(thread: threading.Thread) -> None:
        start(thread)
        if "_quietly" in thread.name:
            thread.join(0.2)  # It would have failed by now.

    monkeypatch.setattr(threading.Thread, "start", starts_first)
    late.handled_by(failing)(load("create_import", server), FakeContext())
    assert late.done == ["read", "verified"]
    assert [answer["Status"] for answer in server.answers] == answers


@pytest.mark.parametrize("name", ["update_import", "delete_import"])
def test_other_events_are_verified_before_anything_is_read(name: str, server: ResponseServer) -> None:
    late = Late.of()
    late.after.set()
    late.handled_by(STEPS["writes"])(load(name, server), FakeContext())
    assert late.done == ["verified", "read", "went on"]


def test_what_the_response_need_not_wait_for_is_done_after_it_even_if_it_is_a_failure(server: ResponseServer) -> None:
    outbox, answered = Outbox(), list[int]()

    def handle(_event: Event, _clock: Clock) -> Response:
        outbox.later(lambda: int("what"))  # What fails then does not matter.
        outbox.later(lambda: answered.append(len(server.received)))
        raise RuntimeError

    CustomResource(handle, nobody, CREDULOUS, outbox)(load("create_import", server), FakeContext())
    assert answered == [1]
    outbox.finish()
    assert answered == [1]
