"""Work longer than one invocation: another one continues, and CloudFormation gets one response."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import boto3
import pytest
from botocore.exceptions import ConnectionClosedError
from botocore.stub import Stubber

from strongref.aws.lambda_functions import LambdaInvoker
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref.contract.continuation import CONTINUATION_FIELD, MAX_INVOCATIONS, Continuation
from strongref.contract.event import Event, MalformedEventError
from strongref.contract.response import Response
from strongref.errors import (
    InvocationTimeoutError,
    OutOfTimeError,
    ReinvokeError,
    StackLookupError,
    StrongRefError,
    ThrottledError,
    WaitInterruptedError,
)
from strongref.runtime.custom_resource import CustomResource
from tests.support.fake_ssm import FakeClock
from tests.support.response_server import FUNCTION, FakeContext, ResponseServer
from tests.support.verifying import CREDULOUS
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strongref.protocol.time import Clock

EVENTS = Path(__file__).parents[1] / "events"
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
OUT_OF_TIME = OutOfTimeError("PutParameter", "OutOfTime", "/strongref/exports/web/a", "us-east-1")
UNFINISHED = "strongref-unfinished-create/web/Imports"


class Lambda:
    """Takes events for other invocations, or does not."""

    def __init__(self, refusal: str = "") -> None:
        self.invoked: list[tuple[str, dict[str, Any]]] = []
        self.refusal = refusal

    def __call__(self, function: str, event: Mapping[str, Any], left: StrongRefError, clock: Clock) -> None:
        assert clock.remaining() > 0
        if self.refusal:
            raise ReinvokeError(self.refusal, left)
        self.invoked.append((function, json.loads(json.dumps(event))))


@pytest.fixture
def server() -> Iterator[ResponseServer]:
    with ResponseServer() as started:
        yield started


def event(
    server: ResponseServer, name: str = "create_import", changes: Mapping[str, object] | None = None
) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    return found | {"ResponseURL": server.url} | dict(changes or {})


def failing(error: BaseException, to: Lambda) -> CustomResource:
    def handle(_event: Event, _clock: Clock) -> NoReturn:
        raise error

    return CustomResource(handle, to, CREDULOUS)


def turn(number: int, since: datetime) -> dict[str, object]:
    return {CONTINUATION_FIELD: {"Turn": number, "Since": since.isoformat()}}


@pytest.mark.parametrize("name", ["create_import", "update_import", "delete_import"])
@pytest.mark.parametrize(
    "error",
    [
        OUT_OF_TIME,
        ThrottledError("PutParameter", "ThrottlingException", "/a", "us-east-1"),
        WaitInterruptedError(StackLookupError("web", "us-east-1", "Throttling")),
    ],
    ids=["out of time", "throttled", "cut short"],
)
def test_out_of_time_the_event_goes_to_another_invocation_without_a_response(
    name: str, error: StrongRefError, server: ResponseServer
) -> None:
    other, raw = Lambda(), event(server, name)
    failing(error, other)(raw, FakeContext())
    ((function, handed),) = other.invoked
    since = datetime.fromisoformat(handed[CONTINUATION_FIELD].pop("Since"))
    assert abs(datetime.now(UTC) - since) < timedelta(seconds=30)
    assert function == FUNCTION
    assert handed == raw | {CONTINUATION_FIELD: {"Turn": 2}}
    assert server.answers == []


def test_the_invocation_that_finishes_responds(server: ResponseServer) -> None:
    other = Lambda()
    failing(OUT_OF_TIME, other)(event(server), FakeContext())
    seen: list[Event] = []

    def handle(event: Event, _clock: Clock) -> Response:
        seen.append(event)
        return Response("strongref-import/web/Imports/1")

    CustomResource(handle, other, CREDULOUS)(other.invoked[0][1], FakeContext())
    assert seen[0].continuation is not None
    assert [answer["Status"] for answer in server.answers] == ["SUCCESS"]


def test_a_refusal_is_not_continued(server: ResponseServer) -> None:
    other = Lambda()
    failing(StackLookupError("web", "us-east-1", "AccessDenied"), other)(event(server), FakeContext())
    assert other.invoked == []
    assert server.answers[0]["Status"] == "FAILED"


def test_each_invocation_counts_from_when_the_first_began(server: ResponseServer) -> None:
    other, began = Lambda(), datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=20)
    failing(OUT_OF_TIME, other)(event(server, changes=turn(3, began)), FakeContext())
    assert other.invoked[0][1][CONTINUATION_FIELD] == {"Turn": 4, "Since": began.isoformat(timespec="milliseconds")}


@pytest.mark.parametrize(
    ("number", "ago", "timeout"),
    [(MAX_INVOCATIONS, 60, "3600"), (2, 3580, "3600"), (2, 100, "120"), (2, 4000, "3600")],
    ids=["often enough", "an hour", "its own ServiceTimeout", "too late"],
)
def test_the_last_invocation_responds(number: int, ago: float, timeout: str, server: ResponseServer) -> None:
    other = Lambda()
    raw = event(server, changes=turn(number, datetime.now(UTC) - timedelta(seconds=ago)))
    raw["ResourceProperties"] |= {"ServiceTimeout": timeout}
    failing(OUT_OF_TIME, other)(raw, FakeContext())
    (answer,) = server.answers
    assert other.invoked == []
    assert answer["Status"] == "FAILED"
    assert answer["PhysicalResourceId"] == UNFINISHED
    assert answer["Reason"].endswith(
        f" That was the last invocation, number {number}: CloudFormation waits for "
        f"ServiceTimeout ({timeout} s). Allow more calls per second or a longer ServiceTimeout, or make the resource "
        "smaller. If this was a rollback or a deletion, repeat it: it continues."
    )


def test_out_of_time_nobody_is_told_that_a_deployment_resumes() -> None:
    """CloudFormation rolls it back."""
    throttled = ThrottledError("PutParameter", "ThrottlingException", "/a", "us-east-1")
    for error in (OUT_OF_TIME, throttled, InvocationTimeoutError()):
        assert not re.search("again|resume", str(error))


def test_the_last_invocation_is_within_lambdas_recursion_limit() -> None:
    assert MAX_INVOCATIONS < 16


def test_the_work_ends_before_cloudformation_stops_waiting(server: ResponseServer) -> None:
    remaining: list[float] = []

    def handle(_event: Event, clock: Clock) -> Response:
        remaining.append(clock.remaining())
        return Response("strongref-import/web/Imports/1")

    for timeout in ("60", "3600"):
        raw = event(server)
        raw["ResourceProperties"] |= {"ServiceTimeout": timeout}
        CustomResource(handle, Lambda(), CREDULOUS)(raw, FakeContext(900))
    assert 40 < remaining[0] <= 45
    assert 880 < remaining[1] <= 885


def test_a_failed_reinvocation_is_reported(server: ResponseServer) -> None:
    failing(OUT_OF_TIME, Lambda("AccessDeniedException"))(event(server), FakeContext())
    (answer,) = server.answers
    assert answer["Status"] == "FAILED"
    assert answer["PhysicalResourceId"] == UNFINISHED
    assert "could not invoke itself again to continue (AccessDeniedException)" in answer["Reason"]


def test_a_defect_in_the_reinvocation_is_reported(server: ResponseServer) -> None:
    def broken(*_: object) -> NoReturn:
        raise RuntimeError("s3cret")

    def handle(_event: Event, _clock: Clock) -> NoReturn:
        raise OUT_OF_TIME

    CustomResource(handle, broken, CREDULOUS)(event(server), FakeContext())
    assert (
        server.answers[0]["Reason"]
        == "Internal error (RuntimeError). See the function's log, invocation function-request."
    )


@pytest.mark.parametrize("late", [Response("late"), OUT_OF_TIME, StackLookupError("web", "us-east-1", "AccessDenied")])
def test_who_is_stuck_is_handed_over_for_once_and_never_heard_again(
    late: Response | StrongRefError, server: ResponseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strongref.runtime.custom_resource.WATCHDOG_SECONDS", 59.9)
    monkeypatch.setattr("strongref.runtime.custom_resource._LATEST", 0.0)
    other = Lambda()

    def stuck(_event: Event, _clock: Clock) -> Response:
        wait_until(lambda: other.invoked, "the other invocation")
        if isinstance(late, StrongRefError):
            raise late
        return late

    CustomResource(stuck, other, CREDULOUS)(event(server), FakeContext(60))
    assert len(other.invoked) == 1
    assert server.answers == []


@pytest.mark.parametrize(
    "said",
    [None, "2", {}, {"Turn": 2}, {"Turn": "two", "Since": NOON.isoformat()}, {"Turn": 1, "Since": NOON.isoformat()}]
    + [{"Turn": 2, "Since": since} for since in ("noon", 12, None)],
)
def test_a_continuation_field_of_another_origin_is_rejected(said: object, server: ResponseServer) -> None:
    raw = event(server, changes={CONTINUATION_FIELD: said})
    with pytest.raises(MalformedEventError, match=CONTINUATION_FIELD):
        Event.parse(raw)
    failing(OUT_OF_TIME, Lambda())(raw, FakeContext())
    assert server.answers[0]["Status"] == "FAILED"


@pytest.mark.parametrize("given", [None, "", "soon", [], "0", "-1", "nan", "inf", "86400", True and "x"])
def test_without_a_sensible_timeout_cloudformation_waits_for_an_hour(given: object) -> None:
    handed = Continuation.parse({"ResourceProperties": {"ServiceTimeout": given}, **turn(2, NOON)})
    assert handed == Continuation(2, NOON, 3600.0)


def client_that(answer: Stubber) -> LambdaInvoker:
    client: Any = answer.client
    return LambdaInvoker(lambda _region: client, RateLimiter(RateLimits()), lambda: 0.0)


@pytest.fixture
def stubbed() -> Iterator[Stubber]:
    client = boto3.client("lambda", "us-east-1", aws_access_key_id="testing", aws_secret_access_key="testing")
    with Stubber(client) as stubber:
        yield stubber


EXPECTED = {"FunctionName": FUNCTION, "InvocationType": "Event", "Payload": b'{"a":"\\u00e9"}'}


def test_the_function_is_invoked_asynchronously(stubbed: Stubber) -> None:
    stubbed.add_response("invoke", {"StatusCode": 202}, EXPECTED)
    client_that(stubbed)(FUNCTION, {"a": "é"}, OUT_OF_TIME, FakeClock())
    stubbed.assert_no_pending_responses()


def test_a_transient_failure_to_invoke_is_retried(stubbed: Stubber) -> None:
    stubbed.add_client_error("invoke", "TooManyRequestsException", http_status_code=429)
    stubbed.add_client_error("invoke", "ServiceException", http_status_code=500)
    stubbed.add_response("invoke", {"StatusCode": 202}, EXPECTED)
    client_that(stubbed)(FUNCTION, {"a": "é"}, OUT_OF_TIME, FakeClock())
    stubbed.assert_no_pending_responses()


def test_a_denial_to_invoke_is_reported_with_what_is_left(stubbed: Stubber) -> None:
    stubbed.add_client_error("invoke", "AccessDeniedException", "s3cret")
    with pytest.raises(ReinvokeError, match=r"^Timed out before PutParameter") as raised:
        client_that(stubbed)(FUNCTION, {"a": "é"}, OUT_OF_TIME, FakeClock())
    assert raised.value.code == "AccessDeniedException"
    assert "s3cret" not in str(raised.value)


def test_an_invocation_whose_response_was_lost_is_retried() -> None:
    asked: list[object] = []

    class Client:
        def invoke(self, **request: object) -> None:
            asked.append(request)
            if len(asked) == 1:
                raise ConnectionClosedError(endpoint_url="x")

    LambdaInvoker(lambda _region: Client(), RateLimiter(RateLimits()), lambda: 0.0)(  # type: ignore[arg-type,return-value]
        FUNCTION, {}, OUT_OF_TIME, FakeClock()
    )
    assert len(asked) == 2
