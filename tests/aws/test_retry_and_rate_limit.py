"""Rate limits and retries, on a clock that moves only in `sleep`."""

from __future__ import annotations

import math
import threading
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError, ReadTimeoutError
from botocore.parsers import ResponseParserError

from strongref.aws.rate_limit import FIRST_IN_FLIGHT, IN_FLIGHT, RATE_OF_ACTION, RateLimiter, RateLimits, Turn
from strongref.aws.retry import CallFailedError, RetryingCaller
from strongref.errors import OUT_OF_TIME, BadRequestError
from strongref.runtime.clock import SystemClock
from tests.support.fake_ssm import FakeClock
from tests.support.virtual_time import VirtualClock, VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable

    from strongref.protocol.time import Clock

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


def turn(limiter: RateLimiter, clock: Clock, action: str = "PutParameter", region: str = REGION) -> Turn:
    """A turn at once, however long it is in coming."""
    found = limiter.take(action, region, clock.now(), math.inf)
    assert found is not None
    return found


def take(limiter: RateLimiter, clock: Clock, action: str = "PutParameter", region: str = REGION) -> float:
    return turn(limiter, clock, action, region).wait


def throttled(limiter: RateLimiter, clock: Clock, action: str = "PutParameter", chance: float = 0.5) -> float:
    """A call is throttled; how long the next one waits."""
    taken = turn(limiter, clock, action)
    limiter.throttled(action, REGION, taken, clock.now(), chance)
    return take(limiter, clock, action)


def patient() -> Clock:
    """A clock for many calls: `FakeClock` adds up all pauses whenever it is read."""
    return VirtualClock.lasting(VirtualTime(), 10_000)


def calls_until(clock: Clock, limiter: RateLimiter, seconds: float, action: str = "PutParameter") -> int:
    """How many calls are made in that time by one that never rests."""
    begin, made = clock.now(), 0
    while True:
        clock.sleep(take(limiter, clock, action))
        if (clock.now() - begin).total_seconds() > seconds:
            return made
        made += 1


FIRST = [("GetParameters", 40), ("PutParameter", 3), ("DeleteParameters", 5), ("AddTagsToResource", 10)]


@pytest.mark.parametrize("action", RATE_OF_ACTION)
def test_until_a_call_is_throttled_none_waits(action: str) -> None:
    limiter, clock = RateLimiter(RateLimits()), FakeClock()
    assert {take(limiter, clock, action) for _ in range(1000)} == {0}


@pytest.mark.parametrize(("action", "rate"), FIRST)
def test_the_first_throttled_call_sets_the_rate(action: str, rate: float) -> None:
    limiter, clock = RateLimiter(RateLimits()), FakeClock()
    calls = [turn(limiter, clock, action) for _ in range(10)]
    assert limiter.throttled(action, REGION, calls[0], clock.now(), 0.5) == pytest.approx(1 / (rate * 0.97))
    assert rate * 20 * 0.9 <= calls_until(clock, limiter, 20, action) <= rate * 20


def test_of_calls_that_are_throttled_together_one_counts() -> None:
    limiter, clock = RateLimiter(RateLimits()), FakeClock()
    together = [turn(limiter, clock) for _ in range(10)]
    waits = {limiter.throttled("PutParameter", REGION, each, clock.now(), 0.5) for each in together}
    assert waits == {1 / (3 * 0.97)}


def test_a_turn_that_was_given_before_a_call_was_throttled_is_none_anymore() -> None:
    limiter, clock = RateLimiter(RateLimits(writes=2)), FakeClock()
    first, *_, last = (turn(limiter, clock) for _ in range(6))
    assert last.wait == 2
    assert limiter.is_valid("PutParameter", REGION, last)
    limiter.throttled("PutParameter", REGION, first, clock.now(), 0.5)
    assert not limiter.is_valid("PutParameter", REGION, last)


@pytest.mark.parametrize(("action", "rate"), FIRST)
def test_a_limit_is_never_passed_but_for_a_small_burst(action: str, rate: float) -> None:
    clock, limit = patient(), {RATE_OF_ACTION[action]: rate}
    limiter = RateLimiter(RateLimits(**limit))
    assert rate * 60 <= calls_until(clock, limiter, 60, action) <= rate * 60 + max(1, rate) + 1
    throttled(limiter, clock, action)
    assert calls_until(clock, limiter, 200, action) <= rate * 200 + 1
    assert calls_until(clock, limiter, 60, action) <= rate * 60 + 1


@pytest.mark.parametrize(("action", "rate"), FIRST)
def test_the_rate_rises_slowly_where_doubling_it_fails(action: str, rate: float) -> None:
    """An account with a slightly higher quota gains by it."""
    clock, limiter = patient(), RateLimiter(RateLimits())

    def calls_with_a_failed_probe() -> int:
        made = calls_until(clock, limiter, 20, action)
        limiter.throttled(action, REGION, turn(limiter, clock, action), clock.now(), 0.5)
        return made

    throttled(limiter, clock, action)
    made = [calls_with_a_failed_probe() / rate for _ in range(6)]
    assert made[0] <= 20 * 1.02
    assert 20 * 1.4 <= made[-1] <= 20 * 2.1


@pytest.mark.parametrize(("action", "rate"), FIRST)
def test_half_a_minute_after_the_last_throttled_call_nothing_is_limited(action: str, rate: float) -> None:
    clock, limiter = patient(), RateLimiter(RateLimits())
    throttled(limiter, clock, action)
    for _ in range(99):  # As slow as it gets.
        limiter.throttled(action, REGION, turn(limiter, clock, action), clock.now(), 0.5)
    assert calls_until(clock, limiter, 19, action) <= rate * 19
    calls_until(clock, limiter, 3, action)
    clock.sleep(4)
    assert {take(limiter, clock, action) for _ in range(1000)} == {0}


def test_rest_raises_no_rate_and_a_long_one_forgets_it() -> None:
    clock, limiter = patient(), RateLimiter(RateLimits())
    throttled(limiter, clock)
    clock.sleep(290)
    assert calls_until(clock, limiter, 9) <= 3 * 9 + 3 + 1
    clock.sleep(300)
    assert {take(limiter, clock) for _ in range(1000)} == {0}


def test_throttled_calls_lower_the_rate_one_after_the_other() -> None:
    clock, limiter = FakeClock(), RateLimiter(RateLimits())
    throttled(limiter, clock)
    for times in range(1, 7):
        interval = limiter.throttled("PutParameter", REGION, turn(limiter, clock), clock.now(), 0.5)
        assert interval == pytest.approx(1 / (3 * 0.97 * 0.93**times))


def test_where_lower_rates_do_not_help_the_rate_recovers_in_seconds() -> None:
    """Others call at random moments: a rate that stays low would leave to nobody what they do not use."""

    def calls_after(throttled_calls: int) -> int:
        clock, limiter = FakeClock(), RateLimiter(RateLimits())
        for _ in range(throttled_calls):
            throttled(limiter, clock)
        return calls_until(clock, limiter, 15)

    assert calls_after(7) < 3 * 15 * 0.67
    assert calls_after(8) > 3 * 15 * 0.75


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


def test_a_wait_beyond_the_deadline_takes_no_turn() -> None:
    limiter, clock = RateLimiter(RateLimits(writes=1)), FakeClock()
    take(limiter, clock)
    for _ in range(10):
        assert limiter.take("PutParameter", REGION, clock.now(), within=1) is None
    assert take(limiter, clock) == 1


def test_after_the_deadline_there_are_no_turns() -> None:
    limiter, clock = RateLimiter(RateLimits()), FakeClock()
    assert limiter.take("PutParameter", REGION, clock.now(), within=0) is None


@pytest.mark.parametrize(("chance", "part"), [(0, 0.5), (0.5, 1), (1, 1.5)])
def test_after_a_throttled_call_there_is_none_for_a_random_time(chance: float, part: float) -> None:
    """A quota recovers meanwhile. Where calls are slow or fast, it is as long as one takes, or eight."""
    clock, limiter = FakeClock(), RateLimiter(RateLimits())
    assert throttled(limiter, clock, chance=chance) == pytest.approx(part * 0.75)
    assert throttled(limiter, clock, "GetParameters", chance) == pytest.approx(part * 8 / (40 * 0.97))
    slow = RateLimiter(RateLimits(writes=0.5))
    assert throttled(slow, clock, chance=chance) == pytest.approx(part / (0.5 * 0.93))


@pytest.mark.parametrize("chance", [0, 0.5, 1])
def test_a_call_of_a_rate_that_was_found_is_made_up_to_an_interval_after_its_turn(chance: float) -> None:
    clock, limiter = FakeClock(), RateLimiter(RateLimits(tags=10))
    throttled(limiter, clock)
    turns = [limiter.take("PutParameter", REGION, clock.now(), math.inf, each) for each in (0, chance)]
    sooner, later = (each.wait for each in turns if each)
    assert later - sooner == pytest.approx((1 + chance) / (3 * 0.97))
    limited = [limiter.take("AddTagsToResource", REGION, clock.now(), math.inf, chance) for _ in range(10)]
    assert [each.wait for each in limited if each][:5] == [0] * 5


def test_throttling_again_and_again_never_stops_it() -> None:
    clock, limiter = FakeClock(), RateLimiter(RateLimits(writes=16))
    for _ in range(99):
        wait = throttled(limiter, clock)
    assert wait <= 60


def test_limits_come_from_the_environment() -> None:
    assert RateLimits.from_environment({}) == RateLimits()
    found = RateLimits.from_environment({"STRONGREF_WRITES_PER_SECOND": "10", "STRONGREF_TAGS_PER_SECOND": ""})
    assert found == RateLimits(writes=10)
    assert RateLimits.from_environment({"STRONGREF_WRITES_PER_SECOND": "0"}) == RateLimits()


@pytest.mark.parametrize("text", ["fast", "-1", "nan", "inf"])
def test_a_bad_limit_names_its_variable(text: str) -> None:
    with pytest.raises(BadRequestError, match="STRONGREF_DELETES_PER_SECOND must be a number") as raised:
        RateLimits.from_environment({"STRONGREF_DELETES_PER_SECOND": text})
    assert repr(text) in str(raised.value)


def test_a_share_is_one_of_the_limit_or_of_the_first_rate() -> None:
    share = RateLimits(writes=10).share(0.5)
    assert (share.writes, share.tags, share.deletes) == (5, 5, 2.5)


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
        calls = caller(clock, jitter=1)
        calls.call("PutParameter", failing(*errors))
        for _ in range(40):
            calls.call("PutParameter", failing())
        return sum(clock.slept)

    assert spent() == 0
    assert 12 < spent(client_error(code)) < 16


@pytest.mark.parametrize("code", THROTTLED)
def test_a_call_that_is_throttled_again_and_again_waits_longer_each_time(code: str) -> None:
    def spent(times: int) -> float:
        clock = FakeClock(remaining=10_000)
        caller(clock, jitter=1).call("PutParameter", failing(*[client_error(code)] * times))
        return sum(clock.slept)

    assert spent(5) <= 5 * (0.75 * 1.5 + 0.5)
    assert spent(9) - spent(8) > 1.4 * (spent(8) - spent(7))
    assert spent(60) - spent(59) < 20 + 16 / 3 * 1.5


def test_calls_that_wait_side_by_side_all_rest_after_one_was_throttled() -> None:
    """Turns that were given before would come too soon."""
    time, limiter = VirtualTime(), RateLimiter(RateLimits())
    made: list[float] = []
    throttled_at: list[float] = []

    def call() -> None:
        made.append(time.seconds)
        if not throttled_at and time.seconds > 2:
            throttled_at.append(time.seconds)
            raise client_error("ThrottlingException")

    def calls() -> None:
        clock = VirtualClock.lasting(time, 100)
        for _ in range(4):
            RetryingCaller(REGION, limiter, clock, lambda: 0.5).call("PutParameter", call)

    now = VirtualClock.lasting(time, 100).now()
    first = limiter.take("PutParameter", REGION, now, 100)
    assert first is not None
    limiter.throttled("PutParameter", REGION, first, now, 0.5)
    time.run(*[calls] * 10)
    assert [each for each in made if throttled_at[0] < each < throttled_at[0] + 0.75] == []
    assert min(later - sooner for sooner, later in pairwise(made)) > 0.3


def test_a_region_has_so_many_calls_in_flight_and_no_more() -> None:
    """Whoever makes them: real threads, of which none goes on before as many as may have begun."""
    limiter, begun, may_end = RateLimiter(RateLimits()), threading.Semaphore(0), threading.Semaphore(0)
    running: list[int] = []

    def call() -> None:
        running.append(1)
        begun.release()
        may_end.acquire(timeout=60)

    def calls() -> None:
        RetryingCaller(REGION, limiter, SystemClock(600)).call("GetParameters", call)

    threads = [threading.Thread(target=calls, daemon=True) for _ in range(3 * IN_FLIGHT)]
    for thread in threads:
        thread.start()
    for _ in range(FIRST_IN_FLIGHT):
        assert begun.acquire(timeout=60)
    assert not limiter.in_flight[REGION].acquire()
    assert len(running) == FIRST_IN_FLIGHT
    for _ in range(IN_FLIGHT - FIRST_IN_FLIGHT):  # Each that ends has its place taken, and one more.
        may_end.release()
        assert begun.acquire(timeout=60)
        assert begun.acquire(timeout=60)
    may_end.release()
    assert begun.acquire(timeout=60)
    assert not limiter.in_flight[REGION].acquire()
    assert "us-east-1" not in limiter.in_flight
    may_end.release(3 * IN_FLIGHT)
    for thread in threads:
        thread.join(60)
    assert len(running) == 3 * IN_FLIGHT


def test_a_throttled_call_takes_back_what_a_region_may_have_more_in_flight_than_at_first() -> None:
    limiter, clock = RateLimiter(RateLimits()), FakeClock()
    for _ in range(IN_FLIGHT):
        RetryingCaller(REGION, limiter, clock).call("GetParameters", lambda: None)
    in_flight = limiter.in_flight[REGION]
    assert sum(in_flight.acquire() for _ in range(2 * IN_FLIGHT)) == IN_FLIGHT
    for _ in range(IN_FLIGHT):
        in_flight.release(throttled=False)
    RetryingCaller(REGION, limiter, clock).call("GetParameters", failing(client_error("ThrottlingException")))
    assert sum(in_flight.acquire() for _ in range(2 * IN_FLIGHT)) == FIRST_IN_FLIGHT + 1  # its retry was not throttled


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
