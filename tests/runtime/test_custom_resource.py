"""One event, one correct response: each fault of crhelper, and what replaces it."""

from __future__ import annotations

import io
import json
import logging
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

import pytest
from crhelper import CfnResource

from strongref.contract.response import Response
from strongref.errors import InvocationTimeoutError, PartialCreateError, ReinvokeError, StackLookupError, StrongRefError
from strongref.log import logger
from strongref.protocol.verification import EventNotVerifiedError, EventPendingError
from strongref.runtime.custom_resource import CustomResource, is_failed_create
from strongref.runtime.delivery import DeliveryError
from tests.support.response_server import SIGNATURE, FakeContext, ResponseServer
from tests.support.verifying import CREDULOUS, CredulousVerifier
from tests.support.waiting import GIVE_UP_SECONDS, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from strongref.contract.event import Event
    from strongref.protocol.time import Clock

EVENTS = Path(__file__).parents[1] / "events"
SECRET = "s3cret"
NEW = "strongref-import/web/Imports/new"
FAILED = "strongref-failed-create/web/Imports"
UNFINISHED = "strongref-unfinished-create/web/Imports"


class RefusedError(StrongRefError):
    """As a use case raises it."""

    text: str
    sentence = "{text}"


def load(name: str, server: ResponseServer, **changes: object) -> dict[str, Any]:
    """A real event that is to be answered here; a field that is to be None is taken out."""
    found: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    found |= {"ResponseURL": server.url} | changes
    return {key: value for key, value in found.items() if value is not None}


def nobody(_function: str, _event: object, left: StrongRefError, _clock: Clock) -> NoReturn:
    """A hand-over that Lambda does not take."""
    raise ReinvokeError("AccessDeniedException", left)


def answering(answer: object) -> CustomResource:
    return CustomResource(lambda _event, _clock: answer, nobody, CREDULOUS)  # type: ignore[arg-type,return-value]


def raising(error: BaseException) -> CustomResource:
    def handle(_event: Event, _clock: Clock) -> NoReturn:
        raise error

    return CustomResource(handle, nobody, CREDULOUS)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strongref.runtime.delivery.FIRST_PAUSE", 0.001)


@pytest.fixture
def server() -> Iterator[ResponseServer]:
    with ResponseServer() as started:
        yield started


@pytest.mark.parametrize("name", ["create_import", "update_import", "delete_import"])
def test_success_is_answered_once_with_the_handlers_own_id(name: str, server: ResponseServer) -> None:
    raw = load(name, server)
    answering(Response(NEW, {"CertArn": "arn"}, "noted"))(raw, FakeContext())
    assert server.answers == [
        {
            "Status": "SUCCESS",
            "Reason": "noted",
            "PhysicalResourceId": NEW,
            "StackId": raw["StackId"],
            "RequestId": raw["RequestId"],
            "LogicalResourceId": "Imports",
            "NoEcho": False,
            "Data": {"CertArn": "arn"},
        }
    ]


def test_the_handler_gets_the_typed_event_and_a_clock_that_leaves_time_to_answer(server: ResponseServer) -> None:
    seen: list[tuple[Event, float]] = []

    def handle(event: Event, clock: Clock) -> Response:
        seen.append((event, clock.remaining()))
        return Response(NEW)

    CustomResource(handle, nobody, CREDULOUS)(load("update_import", server), FakeContext(100))
    ((event, remaining),) = seen
    assert event.properties["Names"] == ["CertArn"]
    assert 80 < remaining < 90


@pytest.mark.parametrize(
    ("name", "physical_id"),
    [
        ("create_import", FAILED),
        ("update_import", "strongref-import/web/Imports/0123456789abcdef"),
        ("delete_import", "strongref-import/web/Imports/0123456789abcdef"),
    ],
)
def test_a_refusal_has_its_text_and_a_computed_id(name: str, physical_id: str, server: ResponseServer) -> None:
    raising(RefusedError("CertArn cannot be changed."))(load(name, server), FakeContext())
    (answer,) = server.answers
    assert answer["Status"] == "FAILED"
    assert answer["Reason"] == "CertArn cannot be changed."
    assert answer["PhysicalResourceId"] == physical_id
    assert answer["Data"] == {}


def test_the_delete_of_a_failed_create_does_nothing(server: ResponseServer) -> None:
    resource = raising(RefusedError("no"))
    resource(load("create_import", server), FakeContext())
    physical_id = server.answers[0]["PhysicalResourceId"]
    assert is_failed_create(physical_id)
    resource(load("delete_import", server, PhysicalResourceId=physical_id), FakeContext())
    assert server.answers[1]["Status"] == "SUCCESS"
    assert server.answers[1]["PhysicalResourceId"] == physical_id


def test_an_update_of_a_failed_create_reaches_the_use_case(server: ResponseServer) -> None:
    answering(Response(NEW))(load("update_import", server, PhysicalResourceId=FAILED), FakeContext())
    assert server.answers[0]["PhysicalResourceId"] == NEW


def test_a_partial_create_responds_with_the_physical_id_for_its_delete(server: ResponseServer) -> None:
    seen: list[str | None] = []

    def handle(event: Event, _clock: Clock) -> Response:
        if event.physical_id is None:
            raise PartialCreateError(RefusedError("throttled"), NEW)
        seen.append(event.physical_id)
        return Response(event.physical_id)

    resource = CustomResource(handle, nobody, CREDULOUS)
    resource(load("create_import", server), FakeContext())
    assert server.answers[0]["Reason"] == "throttled"
    assert server.answers[0]["PhysicalResourceId"] == NEW
    resource(load("delete_import", server, PhysicalResourceId=NEW), FakeContext())
    assert seen == [NEW]


def test_an_unfinished_update_keeps_the_events_id(server: ResponseServer) -> None:
    raising(PartialCreateError(RefusedError("no"), NEW))(load("update_import", server), FakeContext())
    assert server.answers[0]["PhysicalResourceId"] == "strongref-import/web/Imports/0123456789abcdef"


@pytest.mark.parametrize("error", [RuntimeError(SECRET), SystemExit(SECRET), KeyboardInterrupt(), Exception()])
def test_any_exception_is_reported_by_its_type(error: BaseException, server: ResponseServer) -> None:
    raising(error)(load("update_import", server), FakeContext())
    (answer,) = server.answers
    assert answer["Status"] == "FAILED"
    assert answer["Reason"] == (
        f"Internal error ({type(error).__name__}). See the function's log, invocation function-request."
    )


def test_a_create_with_an_unknown_result_is_not_a_failed_create(server: ResponseServer) -> None:
    seen: list[str | None] = []

    def handle(event: Event, _clock: Clock) -> Response:
        seen.append(event.physical_id)
        if event.physical_id is None:
            raise KeyError(SECRET)
        return Response(event.physical_id)

    resource = CustomResource(handle, nobody, CREDULOUS)
    resource(load("create_import", server), FakeContext())
    assert server.answers[0]["PhysicalResourceId"] == UNFINISHED
    resource(load("delete_import", server, PhysicalResourceId=UNFINISHED), FakeContext())
    assert seen == [None, UNFINISHED]
    assert server.answers[1]["Status"] == "SUCCESS"


@pytest.mark.parametrize("text", ["", " "])
def test_an_error_without_a_text_is_reported_by_its_type(text: str, server: ResponseServer) -> None:
    raising(RefusedError(text))(load("create_import", server), FakeContext())
    assert server.answers[0]["Reason"] == "RefusedError"


def test_a_long_reason_keeps_its_start(server: ResponseServer) -> None:
    raising(RefusedError("CertArn cannot be changed " + "x" * 2000))(load("create_import", server), FakeContext())
    assert server.answers[0]["Reason"].startswith("CertArn cannot be changed ")


def test_a_create_whose_response_is_too_large_fails_with_its_physical_id(server: ResponseServer) -> None:
    answering(Response(NEW, {"Big": "x" * 5000}))(load("create_import", server), FakeContext())
    (answer,) = server.answers
    assert answer["Status"] == "FAILED"
    assert "Big cannot be imported: a single value is too large" in answer["Reason"]
    assert answer["PhysicalResourceId"] == NEW


@pytest.mark.parametrize("answer", [Response(NEW, {"Key": object()}), Response(NEW, {"Key": float("nan")}), None, True])
def test_an_invalid_response_fails_with_all_ids(answer: object, server: ResponseServer) -> None:
    raw = load("create_import", server)
    answering(answer)(raw, FakeContext())
    (given,) = server.answers
    assert given["Status"] == "FAILED"
    assert given["Reason"].startswith("Internal error (")
    assert (given["StackId"], given["RequestId"], given["LogicalResourceId"]) == (
        raw["StackId"],
        raw["RequestId"],
        "Imports",
    )
    assert given["PhysicalResourceId"] == UNFINISHED


def test_of_a_create_that_could_not_be_verified_an_earlier_delivery_may_have_left_something(
    server: ResponseServer,
) -> None:
    asked = StackLookupError("web", "us-east-1", "Throttling")
    raising(EventNotVerifiedError(asked))(load("create_import", server), FakeContext())
    (answer,) = server.answers
    assert answer["Status"] == "FAILED"
    assert answer["PhysicalResourceId"] == UNFINISHED


def test_a_malformed_event_never_gets_a_response_to_the_event_before(server: ResponseServer) -> None:
    resource = answering(Response(NEW))
    resource(load("create_import", server), FakeContext())
    for raw in (None, {}, load("create_import", server, ResponseURL=None), load("create_import", server, StackId=7)):
        resource(raw, FakeContext())
    assert len(server.answers) == 1


def test_a_malformed_event_with_a_response_target_is_rejected(server: ResponseServer) -> None:
    def handle(_event: Event, _clock: Clock) -> NoReturn:
        pytest.fail("handed on")

    raw = load("create_import", server, ResourceProperties=[SECRET])
    CustomResource(handle, nobody, CREDULOUS)(raw, FakeContext())
    (answer,) = server.answers
    assert answer["Status"] == "FAILED"
    assert answer["Reason"] == "Not a CloudFormation event: ResourceProperties is missing or not a map."
    assert answer["RequestId"] == raw["RequestId"]
    assert is_failed_create(answer["PhysicalResourceId"])


def test_a_malformed_update_keeps_its_id(server: ResponseServer) -> None:
    answering(Response(NEW))(load("update_import", server, OldResourceProperties=None), FakeContext())
    assert server.answers[0]["PhysicalResourceId"] == "strongref-import/web/Imports/0123456789abcdef"


def test_a_malformed_event_with_ids_too_long_for_a_response_is_ignored(server: ResponseServer) -> None:
    answering(Response(NEW))(load("create_import", server, RequestId="x" * 5000, ResourceType=None), FakeContext())
    assert server.answers == []


def test_a_failure_is_not_carried_over_to_the_next_event(server: ResponseServer) -> None:
    outcomes = iter([RefusedError("no"), None, SystemExit(1), None])

    def handle(_event: Event, _clock: Clock) -> Response:
        error = next(outcomes)
        if error:
            raise error
        return Response(NEW)

    resource = CustomResource(handle, nobody, CREDULOUS)
    for _ in range(4):
        resource(load("create_import", server), FakeContext())
    assert [answer["Status"] for answer in server.answers] == ["FAILED", "SUCCESS", "FAILED", "SUCCESS"]
    assert server.answers[1]["Reason"] == server.answers[3]["Reason"] == ""


def test_crhelpers_own_fields_in_an_event_are_ignored(server: ResponseServer) -> None:
    raw = load("create_import", server, CrHelperPoll=True, CrHelperData={"Key": SECRET}, CrHelperRule="x")
    answering(Response(NEW))(raw, FakeContext())
    assert server.answers[0]["Data"] == {}


def test_no_delete_waits_before_it_is_answered(server: ResponseServer, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    answering(Response(NEW))(load("delete_import", server), FakeContext())
    assert len(server.answers) == 1
    assert sum(slept) == 0


def test_crhelpers_own_failure_is_reported(server: ResponseServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object) -> NoReturn:
        raise RuntimeError(SECRET)

    resource = answering(Response(NEW))
    monkeypatch.setattr(CfnResource, "_crhelper_init", break_down)
    resource(load("create_import", server), FakeContext())
    (answer,) = server.answers
    assert answer["Reason"].startswith("Internal error (RuntimeError).")
    assert answer["PhysicalResourceId"] == UNFINISHED


@pytest.mark.parametrize("local", [None, "x"])
def test_crhelper_creates_no_clients_and_the_environment_is_unchanged(
    local: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if local is None:
        monkeypatch.delenv("AWS_SAM_LOCAL", raising=False)
    else:
        monkeypatch.setenv("AWS_SAM_LOCAL", local)
    monkeypatch.setattr("boto3.client", lambda *_, **__: pytest.fail("a client"))
    answering(Response(NEW))
    assert os.environ.get("AWS_SAM_LOCAL") == local


class Stuck:
    """A handler that comes back when it is asked to."""

    def __init__(self, outcome: Callable[[], Response]) -> None:
        self.come_back = threading.Event()
        self._outcome = outcome

    def __call__(self, _event: Event, _clock: Clock) -> Response:
        self.come_back.wait(GIVE_UP_SECONDS)
        return self._outcome()

    def once_answered(self, server: ResponseServer) -> Self:
        """Come back as soon as somebody has answered for it."""

        def watch() -> None:
            wait_until(lambda: server.received, "the answer")
            self.come_back.set()

        threading.Thread(target=watch, daemon=True).start()
        return self


@pytest.fixture
def soon_late(monkeypatch: pytest.MonkeyPatch) -> FakeContext:
    """A context in which somebody else answers after 0.1 seconds, and has a minute to do it."""
    monkeypatch.setattr("strongref.runtime.custom_resource.WATCHDOG_SECONDS", 59.9)
    monkeypatch.setattr("strongref.runtime.custom_resource._LATEST", 0.0)
    return FakeContext(60)


@pytest.mark.parametrize(
    ("name", "physical_id"),
    [("create_import", UNFINISHED), ("update_import", "strongref-import/web/Imports/0123456789abcdef")],
)
@pytest.mark.parametrize("late", [Response(NEW), RefusedError("late")])
def test_who_does_not_come_back_in_time_is_answered_for_and_never_heard_again(
    name: str, physical_id: str, late: Response | RefusedError, server: ResponseServer, soon_late: FakeContext
) -> None:
    def outcome() -> Response:
        if isinstance(late, RefusedError):
            raise late
        return late

    stuck = Stuck(outcome).once_answered(server)
    CustomResource(stuck, nobody, CREDULOUS)(load(name, server), soon_late)
    (answer,) = server.answers
    assert answer["Status"] == "FAILED"
    assert answer["Reason"] == str(ReinvokeError("AccessDeniedException", InvocationTimeoutError()))
    assert answer["PhysicalResourceId"] == physical_id


@dataclass(frozen=True, slots=True)
class Unsure(CredulousVerifier):
    """Cannot verify an event: because of an error, or because it hangs until something says that it may go on."""

    outcome: EventPendingError | threading.Event = field(kw_only=True)

    def check_expected(self, event: Event, clock: Clock) -> None:  # noqa: ARG002
        if isinstance(self.outcome, threading.Event):
            self.outcome.wait(GIVE_UP_SECONDS)
            raise InvocationTimeoutError
        raise self.outcome


def unsure(outcome: EventPendingError | threading.Event) -> CustomResource:
    def call(*_: object) -> NoReturn:
        pytest.fail("handled, or handed over")

    verifier = Unsure(CREDULOUS.hosts, CREDULOUS.suffix, CREDULOUS.stacks, CREDULOUS.lag, outcome=outcome)
    return CustomResource(call, call, verifier)


def test_an_event_that_may_be_verified_later_is_raised_so_that_lambda_delivers_it_again(server: ResponseServer) -> None:
    with pytest.raises(EventPendingError):
        unsure(EventPendingError(RefusedError("no")))(load("create_import", server), FakeContext())
    assert server.received == []


def test_while_an_event_is_not_verified_the_watchdog_hands_nothing_over(
    server: ResponseServer, soon_late: FakeContext
) -> None:
    stuck = Stuck(lambda: Response(NEW)).once_answered(server)
    give_up = threading.Timer(30, stuck.come_back.set)  # Where nobody answers, the test fails without a long wait.
    give_up.daemon = True
    give_up.start()
    unsure(stuck.come_back)(load("create_import", server), soon_late)
    give_up.cancel()
    (answer,) = server.answers
    assert "it is not known whether CloudFormation sent the event" in answer["Reason"]
    assert answer["PhysicalResourceId"] == UNFINISHED


def test_the_handler_returns_only_after_an_answer_under_way_has_arrived(
    server: ResponseServer, soon_late: FakeContext
) -> None:
    server.then(500)
    stuck = Stuck(lambda: Response(NEW)).once_answered(server)
    CustomResource(stuck, nobody, CREDULOUS)(load("create_import", server), soon_late)
    assert [answer["Status"] for answer in server.answers] == ["FAILED", "FAILED"]


def test_after_an_answer_in_time_the_deadline_is_forgotten(
    server: ResponseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    timers: list[threading.Timer] = []

    class Recorded(threading.Timer):
        def start(self) -> None:
            timers.append(self)
            super().start()

    monkeypatch.setattr("threading.Timer", Recorded)
    answering(Response(NEW))(load("create_import", server), FakeContext())
    assert [timer.finished.is_set() for timer in timers] == [True]
    assert [answer["Status"] for answer in server.answers] == ["SUCCESS"]


def test_a_response_that_is_not_accepted_is_retried(server: ResponseServer) -> None:
    server.then(500, "close", 503)
    answering(Response(NEW))(load("create_import", server), FakeContext())
    assert len({received.body for received in server.received}) == 1
    assert len(server.received) == 4


def test_an_undelivered_response_is_raised_so_that_lambda_retries(server: ResponseServer) -> None:
    server.then(403)
    resource = answering(Response(NEW))
    with pytest.raises(DeliveryError):
        resource(load("create_import", server), FakeContext())
    resource(load("create_import", server), FakeContext())
    assert len(server.received) == 2


def test_an_undelivered_rejection_of_a_malformed_event_is_not_tried_by_another_invocation(
    server: ResponseServer,
) -> None:
    server.then(403)
    answering(Response(NEW))(load("create_import", server, ResourceType=None), FakeContext())


@pytest.fixture
def reported(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], str]]:
    """Everything that is printed, and everything logged on any logger, with the root logger at DEBUG."""
    stream = io.StringIO()
    handler: Any = logger.registered_handler
    before = handler.setStream(stream)
    caplog.set_level(logging.DEBUG)

    def tell() -> str:
        printed = capfd.readouterr()
        records = [f"{record.getMessage()} {record.__dict__} {record.exc_text}" for record in caplog.records]
        return "\n".join([printed.out, printed.err, stream.getvalue(), *records])

    yield tell
    handler.setStream(before)
    logger.clear_state()


def fail_with_a_value() -> NoReturn:
    try:
        int(SECRET)
    except ValueError as error:
        raise RuntimeError(f"Invalid value {SECRET}") from error
    pytest.fail("a number")


def succeed() -> Response:
    return Response(NEW, {"Key": SECRET})


def refuse() -> NoReturn:
    raise RefusedError("refused")


@pytest.mark.parametrize("do", [succeed, refuse, fail_with_a_value, lambda: Response(NEW, {"Key": SECRET * 999})])
@pytest.mark.parametrize("status", [200, 403])
@pytest.mark.parametrize("changes", [{}, {"ResourceType": None}, {"StackId": SECRET, "ResponseURL": "x" + SIGNATURE}])
def test_neither_values_nor_urls_are_shown(
    do: Callable[[], Response],
    status: int,
    changes: dict[str, object],
    server: ResponseServer,
    reported: Callable[[], str],
) -> None:
    server.then(status)
    raw = load("create_import", server, ResourceProperties={"Key": SECRET}, **changes)
    try:
        CustomResource(lambda _event, _clock: do(), nobody, CREDULOUS)(raw, FakeContext())
    except DeliveryError as error:
        logging.getLogger("lambda-runtime").exception("As Lambda logs it", exc_info=error)
    text = reported()
    assert '"service":"strongref"' in text
    assert SECRET not in text
    assert SIGNATURE not in text


def test_a_defect_is_logged_with_its_place_and_the_events_ids(
    server: ResponseServer, reported: Callable[[], str]
) -> None:
    raw = load("create_import", server)
    CustomResource(lambda _event, _clock: fail_with_a_value(), nobody, CREDULOUS)(raw, FakeContext())
    text = reported()
    assert "fail_with_a_value" in text
    assert "RuntimeError" in text
    assert raw["StackId"] in text
    assert raw["RequestId"] in text
