"""Rate limits and retries, on a clock that moves only in `sleep`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError, ReadTimeoutError
from botocore.parsers import ResponseParserError

from strongref.aws.retry_and_rate_limit import CallFailedError, RateLimiter, RateLimits, RetryingCaller
from strongref.errors import OUT_OF_TIME, BadRequestError
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable

REGION = "eu-west-1"
THROTTLED = ["ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded"]


def client_error(code: str, status: int = 400) -> ClientError:
    answer: Any = {"Error": {"Code": code, "Message": "text"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "Action")


def failing(*errors: Exception) -> Callable[[], str]:
    """Raises one error after the other, then answers."""
    left = iter(errors)

    def call() -> str:
        for error in left:
            raise error
        return "answer"

    return call


def caller(clock: FakeClock, jitter: float = 0.5, **rates: float) -> RetryingCaller:
    return RetryingCaller(REGION, RateLimiter(RateLimits(**rates)), clock, lambda: jitter)


def take(limiter: RateLimiter, clock: FakeClock, action: str = "PutParameter", region: str = REGION) -> float:
    """Take a token at once, however long its turn is in coming."""
    wait = limiter.take(action, region, clock.now(), math.inf)
    assert wait is not None
    return wait


def calls_until(clock: FakeClock, limiter: RateLimiter, seconds: float, action: str = "PutParameter") -> int:
    """How many calls are made in that time by one that never rests."""
    begin, made = clock.now(), 0
    while True:
        clock.sleep(take(limiter, clock, action))
        if (clock.now() - begin).total_seconds() > seconds:
            return made
        made += 1


@pytest.mark.parametrize(
    ("action", "rate"),
    [("GetParameters", 40), ("PutParameter", 3), ("DeleteParameters", 5), ("AddTagsToResource", 10)],
)
def test_the_pace_is_the_rate_after_a_small_burst(action: str, rate: float) -> None:
    clock = FakeClock()
    made = calls_until(clock, RateLimiter(RateLimits()), 60, action)
    assert rate * 60 <= made <= rate * 60 + max(1, rate) + 1


def test_classes_of_action_and_regions_do_not_wait_for_each_other() -> None:
    limiter, clock = RateLimiter(RateLimits(writes=1, tags=1)), FakeClock()
    assert take(limiter, clock) == 0
    assert take(limiter, clock) == 1
    assert take(limiter, clock, region="us-east-1") == 0
    assert take(limiter, clock, "AddTagsToResource") == 0
    assert take(limiter, clock, "ListTagsForResource") == 1


def test_a_clock_that_steps_back_costs_and_gains_nothing() -> None:
    limiter, clock = RateLimiter(RateLimits(writes=1)), FakeClock()
    clock.sleep(100)
    assert take(limiter, clock) == 0
    clock.sleep(-50)
    assert take(limiter, clock) == 1


def test_a_wait_beyond_the_deadline_takes_no_token() -> None:
    limiter, clock = RateLimiter(RateLimits(writes=1)), FakeClock()
    take(limiter, clock)
    for _ in range(10):
        assert limiter.take("PutParameter", REGION, clock.now(), within=1) is None
    assert take(limiter, clock) == 1


def test_throttling_slows_a_little_each_time_and_the_rate_recovers() -> None:
    clock, limiter = FakeClock(), RateLimiter(RateLimits(writes=4))
    for times in range(1, 8):
        assert limiter.throttled("PutParameter", REGION, 0.5) == pytest.approx(1 / (4 * 0.9**times))
    slow = calls_until(clock, limiter, 2)
    assert 4 <= slow <= 6
    clock.sleep(20)
    assert 40 <= calls_until(clock, limiter, 10) <= 45


@pytest.mark.parametrize(("chance", "wait"), [(0, 0.5), (0.5, 1), (1, 1.5)])
def test_a_throttled_call_is_retried_at_a_random_time_about_one_call_later(chance: float, wait: float) -> None:
    clock, limiter = FakeClock(), RateLimiter(RateLimits(writes=4))
    apart = limiter.throttled("PutParameter", REGION, chance)
    assert take(limiter, clock) == pytest.approx(wait * apart)


def test_throttling_again_and_again_never_stops_it() -> None:
    clock, limiter = FakeClock(), RateLimiter(RateLimits(writes=16))
    for _ in range(99):
        limiter.throttled("PutParameter", REGION, 0.5)
    assert take(limiter, clock) <= 60


def test_rates_come_from_the_environment() -> None:
    assert RateLimits.from_environment({}) == RateLimits()
    found = RateLimits.from_environment({"STRONGREF_WRITES_PER_SECOND": "10", "STRONGREF_TAGS_PER_SECOND": ""})
    assert found == RateLimits(writes=10)


@pytest.mark.parametrize("text", ["fast", "0", "-1", "nan", "inf"])
def test_a_bad_rate_names_its_variable(text: str) -> None:
    with pytest.raises(BadRequestError, match="STRONGREF_DELETES_PER_SECOND must be a number") as raised:
        RateLimits.from_environment({"STRONGREF_DELETES_PER_SECOND": text})
    assert repr(text) in str(raised.value)


@pytest.mark.parametrize("code", [*THROTTLED, "TooManyUpdates", "InternalServerError"])
def test_a_transient_failure_is_retried(code: str) -> None:
    clock = FakeClock()
    assert caller(clock).call("PutParameter", failing(*[client_error(code)] * 3)) == "answer"
    assert sum(clock.slept) > 0


def test_any_server_fault_is_retried() -> None:
    assert caller(FakeClock()).call("PutParameter", failing(client_error("502", status=502))) == "answer"


@pytest.mark.parametrize("code", THROTTLED)
def test_throttling_slows_the_calls_that_follow(code: str) -> None:
    def spent(*errors: Exception) -> float:
        clock = FakeClock()
        calls = caller(clock, jitter=1, writes=100)
        calls.call("PutParameter", failing(*errors))
        for _ in range(100):
            calls.call("PutParameter", failing())
        return sum(clock.slept)

    assert spent(*[client_error(code)] * 5) > 1.5 * spent()


@pytest.mark.parametrize("code", THROTTLED)
def test_a_call_that_is_throttled_again_and_again_waits_longer_each_time(code: str) -> None:
    def spent(times: int) -> float:
        clock = FakeClock(remaining=10_000)
        caller(clock, jitter=1).call("PutParameter", failing(*[client_error(code)] * times))
        return sum(clock.slept)

    assert spent(5) < 5
    assert spent(8) - spent(7) > 2 * (spent(7) - spent(6)) * 0.9
    assert spent(60) - spent(59) < 20 + 16 / 3


def test_pauses_double_up_to_a_limit_and_are_jittered_in_full() -> None:
    def pauses(jitter: float) -> list[float]:
        clock = FakeClock()
        errors = [client_error("InternalServerError")] * 10
        caller(clock, jitter, reads=1000).call("GetParameters", failing(*errors))
        return clock.slept

    assert pauses(1) == [0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 20, 20, 20, 20]
    assert pauses(0.5) == [pause / 2 for pause in pauses(1)]
    assert sum(pauses(0)) == 0


@pytest.mark.parametrize(("code", "throttled"), [("ThrottlingException", True), ("InternalServerError", False)])
def test_it_gives_up_at_the_deadline_with_the_last_code(code: str, throttled: bool) -> None:
    clock = FakeClock(remaining=30)
    with pytest.raises(CallFailedError) as raised:
        caller(clock).call("PutParameter", failing(*[client_error(code)] * 1000))
    assert (raised.value.code, raised.value.throttled) == (code, throttled)
    assert 0 <= clock.remaining() < 30


def test_a_call_that_must_wait_beyond_the_deadline_is_not_made() -> None:
    clock = FakeClock(remaining=1)
    calls = caller(clock, writes=0.5)
    calls.call("PutParameter", failing())
    with pytest.raises(CallFailedError) as raised:
        calls.call("PutParameter", pytest.fail)
    assert (raised.value.code, raised.value.throttled, clock.slept) == (OUT_OF_TIME, False, [])


@pytest.mark.parametrize(
    "error",
    [EndpointConnectionError(endpoint_url="https://x"), ResponseParserError("<html>")],
    ids=["unreachable", "a proxy's page"],
)
def test_a_lost_connection_is_retried_a_few_times(error: Exception) -> None:
    def unreachable(count: int) -> Callable[[], str]:
        return failing(*[error] * count)

    assert caller(FakeClock()).call("GetParameters", unreachable(4)) == "answer"
    with pytest.raises(CallFailedError) as raised:
        caller(FakeClock()).call("GetParameters", unreachable(5))
    assert (raised.value.code, raised.value.unknown) == (type(error).__name__, True)


@pytest.mark.parametrize(
    "error", [client_error("ParameterNotFound"), NoCredentialsError(), client_error("ValidationException")]
)
def test_a_permanent_error_is_not_retried(error: Exception) -> None:
    clock = FakeClock()
    with pytest.raises(CallFailedError):
        caller(clock).call("GetParameters", failing(error))
    assert clock.slept == []


def test_no_error_of_botocore_is_behind_ours() -> None:
    errors = [ReadTimeoutError(endpoint_url="secret"), client_error("AccessDeniedException")]
    with pytest.raises(CallFailedError) as raised:
        caller(FakeClock()).call("GetParameters", failing(*errors))
    assert raised.value.__context__ is None
    assert raised.value.__cause__ is None
