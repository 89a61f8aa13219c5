"""The model of the quotas admits what AWS's would, no more and no less."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.quota import CLASSES, Quotas

HERE = "111111111111", "us-east-1"


def admitted(quotas: Quotas, action: str, seconds: float, every: float = 0.01) -> int:
    """How many calls get through if one is tried all the time."""
    steps = int(seconds / every)
    return sum(quotas.admit(action, *HERE, number * every) for number in range(steps))


@pytest.mark.parametrize(("action", "rate"), [("GetParameters", 40), ("PutParameter", 3), ("AddTagsToResource", 10)])
def test_a_class_admits_its_rate_and_a_seconds_worth_more(action: str, rate: int) -> None:
    assert admitted(Quotas(), action, 100) == pytest.approx(rate * 101, abs=1)


def test_a_full_bucket_gives_a_seconds_worth_at_once_and_then_nothing() -> None:
    quotas = Quotas()
    assert [quotas.admit("PutParameter", *HERE, 5.0) for _ in range(4)] == [True, True, True, False]


def test_a_rate_below_one_a_second_still_lets_a_call_through() -> None:
    quotas = Quotas(puts=0.5)
    assert [quotas.admit("PutParameter", *HERE, now) for now in (0.0, 1.0, 2.0)] == [True, False, True]


def test_what_is_refused_costs_no_token() -> None:
    quotas = Quotas(puts=1)
    assert quotas.admit("PutParameter", *HERE, 0.0)
    assert not any(quotas.admit("PutParameter", *HERE, now / 100) for now in range(1, 100))
    assert quotas.admit("PutParameter", *HERE, 1.0)


def test_actions_of_a_class_share_it_and_classes_do_not() -> None:
    quotas = Quotas(reads=2)
    assert quotas.admit("GetParameters", *HERE, 0.0)
    assert quotas.admit("GetParametersByPath", *HERE, 0.0)
    assert not quotas.admit("GetParameter", *HERE, 0.0)
    assert quotas.admit("PutParameter", *HERE, 0.0)


def test_each_account_and_region_has_its_own() -> None:
    quotas = Quotas(puts=1)
    places = [("1", "us-east-1"), ("1", "eu-west-1"), ("2", "us-east-1")]
    assert all(quotas.admit("PutParameter", account, region, 0.0) for account, region in places)
    assert not any(quotas.admit("PutParameter", account, region, 0.0) for account, region in places)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("action", ["PutParameter", "ListTagsForResource"])
def test_others_use_up_their_share_and_leave_the_rest(share: float, action: str) -> None:
    quotas = Quotas(others=share, seed=7)
    rate = quotas.rate(action)
    noise = 4 * (rate * share * 1000) ** 0.5  # of arrivals at random
    assert admitted(quotas, action, 1000, every=0.05) == pytest.approx(rate * (1 - share) * 1000, abs=noise)


def test_others_who_find_no_token_get_the_next_ones() -> None:
    """Nobody who asks all the time can push them aside: the sum of both is the quota."""
    patient, alone = Quotas(others=0.9, seed=3), Quotas()
    assert admitted(patient, "PutParameter", 300) < admitted(alone, "PutParameter", 300) * 0.2


def test_the_same_seed_gives_the_same_traffic_whatever_the_order_of_classes() -> None:
    def run(seed: int, *, warm: bool) -> list[bool]:
        quotas = Quotas(others=0.5, seed=seed)
        if warm:
            quotas.admit("GetParameters", *HERE, 0.0)
        return [quotas.admit("PutParameter", *HERE, number / 4) for number in range(200)]

    assert run(1, warm=False) == run(1, warm=True) != run(2, warm=False)


def test_time_that_seems_to_go_back_neither_gives_nor_takes() -> None:
    quotas = Quotas(puts=1)
    assert quotas.admit("PutParameter", *HERE, 10.0)
    assert not quotas.admit("PutParameter", *HERE, 9.0)
    assert not quotas.admit("PutParameter", *HERE, 10.5)
    assert quotas.admit("PutParameter", *HERE, 11.0)


@given(st.lists(st.floats(0, 2), max_size=200), st.floats(0, 0.9), st.integers(0, 5))
def test_no_pattern_of_calls_gets_more_than_the_rate_and_one_seconds_worth(
    gaps: list[float], others: float, seed: int
) -> None:
    quotas, now, through = Quotas(others=others, seed=seed), 0.0, 0
    for gap in gaps:
        now += gap
        through += quotas.admit("PutParameter", *HERE, now)
    assert through <= 3 + 3 * now + 1e-6


def test_the_least_time_is_that_of_the_slowest_class() -> None:
    calls = {"PutParameter": 300, "GetParameters": 400, "GetParametersByPath": 400, "Invoke": 9}
    assert Quotas().least_seconds(calls) == pytest.approx(100)
    assert Quotas(others=0.5).least_seconds(calls) == pytest.approx(200)
    assert Quotas().least_seconds({}) == 0


def test_nobody_is_faster_than_the_least_time_by_more_than_a_seconds_worth() -> None:
    quotas = Quotas(others=0.5, seed=1)
    through = 0
    for step in count():
        through += quotas.admit("PutParameter", *HERE, step / 100)
        if through == 300:
            break
    assert step / 100 == pytest.approx(quotas.least_seconds({"PutParameter": 300}), rel=0.15)


@pytest.mark.parametrize("wrong", [{"puts": 0}, {"reads": -1}, {"others": 1}, {"others": -0.1}])
def test_quotas_that_would_never_admit_anything_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="0"):
        Quotas(**wrong)  # type: ignore[arg-type]


def test_an_action_that_nobody_has_put_into_a_class_is_an_error_and_not_free() -> None:
    with pytest.raises(KeyError):
        Quotas().admit("SendCommand", *HERE, 0.0)
    assert Quotas().admit("Invoke", *HERE, 0.0)
    assert all(Quotas().rate(action) > 0 for action in CLASSES)
