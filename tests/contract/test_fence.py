"""A fence expires when it says, and when its parameter is old enough; no fence outlives the longest function."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from strongref.contract.fence import UNREADABLE_LIFETIME, Fence
from strongref.contract.values import Parameter, ParameterType

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def parameter(text: str, modified: str = NOON.isoformat()) -> Parameter:
    return Parameter("/strongref/fences/web/1/eu-west-1/network/Exports.1", ParameterType.STRING, text, 1, modified)


@given(
    st.text(),
    st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1)),  # noqa: DTZ001 (the strategy's)
    st.integers(-12, 14),
    st.integers(0, 899),
)
def test_a_fence_comes_back_to_the_millisecond_and_in_utc(by: str, until: datetime, hours: int, seconds: int) -> None:
    aware = until.replace(tzinfo=timezone(timedelta(hours=hours)))
    lifetime = timedelta(seconds=seconds)
    found = Fence.decode(parameter(Fence(by, aware, lifetime=lifetime).encode(), aware.isoformat()))
    assert replace(found, expires_at=aware) == Fence(by, aware, lifetime=lifetime)
    assert abs(found.expires_at - aware - lifetime) < timedelta(milliseconds=1)
    assert found.expires_at.tzinfo is UTC


def test_a_fence_is_small_json_with_its_holder_its_end_and_its_length() -> None:
    assert Fence("Exports of stack network", NOON).encode() == (
        '{"by":"Exports of stack network","until":"2030-01-01T12:00:00.000+00:00","for":90.0}'
    )


MINUTE, LATE = timedelta(minutes=1), timedelta(seconds=200)


@pytest.mark.parametrize("off", [-LATE, timedelta(0), LATE], ids=["behind", "right", "ahead"])
def test_a_fence_stands_for_its_length_whatever_its_holders_clock_says(off: timedelta) -> None:
    fence = Fence.decode(parameter(Fence("Exports", NOON + off + MINUTE, lifetime=MINUTE).encode()))
    assert fence.expires_at == NOON + MINUTE + max(off, timedelta(0))


def test_no_fence_stands_for_longer_than_a_function_can_run() -> None:
    for until, length in ((NOON + timedelta(days=1), MINUTE), (NOON, timedelta(days=1))):
        fence = Fence.decode(parameter(Fence("Exports", until, lifetime=length).encode()))
        assert fence.expires_at == NOON + UNREADABLE_LIFETIME


@pytest.mark.parametrize(("more", "seconds"), [("", 90), (',"done":true', 12)], ids=["at work", "finished"])
def test_a_fence_of_version_0_2_0_stands_for_as_long_as_that_version_lets_it(more: str, seconds: int) -> None:
    text = f'{{"by":"Exports","until":"2030-01-01T11:00:00+00:00"{more}}}'
    assert Fence.decode(parameter(text)).expires_at == NOON + timedelta(seconds=seconds)


def test_a_fence_is_live_until_it_expires() -> None:
    fence = Fence("Exports", NOON)
    assert fence.is_live(NOON - timedelta(seconds=1))
    assert not fence.is_live(NOON)
    assert not fence.is_live(NOON + timedelta(seconds=1))


def test_the_text_of_a_fence_has_its_holder_and_its_end() -> None:
    assert str(Fence("Exports", NOON)) == "Exports, until 2030-01-01 12:00:00 UTC"


UNREADABLE_TEXTS = [
    "",
    "nonsense",
    "null",
    "[]",
    "{}",
    '"text"',
    "12",
    '{"by":"me"}',
    '{"until":"2030-01-01T12:00:00+00:00"}',
    '{"by":"me","until":"soon"}',
    '{"by":"me","until":3}',
    '{"by":"me","until":null}',
    '{"by":"me","until":"2030-01-01T12:00:00+00:00","for":"ever"}',
    '{"by":"me","until":"2030-01-01T12:00:00+00:00","for":null}',
    '{"by":"me","until":"2030-01-01T12:00:00+00:00","for":1e99}',
    '{"by":"me","until":"2030-01-01T12:00:00+00:00","for":NaN}',
    '{"by":"me","until":"0001-01-01T00:00:00+14:00"}',
    '{"by":"me","until":"9999-12-31T23:59:59-10:00"}',
]


@pytest.mark.parametrize("text", UNREADABLE_TEXTS)
def test_an_unreadable_fence_expires_fifteen_minutes_after_it_was_written(text: str) -> None:
    fence = Fence.decode(parameter(text))
    assert timedelta(minutes=15) == UNREADABLE_LIFETIME
    assert fence == Fence("an unknown holder", NOON + UNREADABLE_LIFETIME, readable=False)
    assert fence.is_live(NOON + timedelta(minutes=14, seconds=59))
    assert not fence.is_live(NOON + timedelta(minutes=15))


@pytest.mark.parametrize("modified", ["", "yesterday", "0001-01-01T00:00:00+14:00"])
def test_an_unreadable_fence_without_a_date_has_expired(modified: str) -> None:
    assert not Fence.decode(parameter("nonsense", modified)).is_live(NOON)


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(str))
@example('{"by":[],"until":"2030-01-01"}')
def test_any_fence_can_be_read_and_expires(text: str) -> None:
    assert not Fence.decode(parameter(text)).is_live(datetime.max.replace(tzinfo=UTC))


def test_a_fence_whose_holder_has_finished_says_so() -> None:
    finished = Fence("Exports", NOON + MINUTE, finished=True, lifetime=MINUTE)
    assert Fence.decode(parameter(finished.encode())) == finished
    assert "done" not in Fence("Exports", NOON).encode()
