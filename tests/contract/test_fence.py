"""Fences stand as long as they say; unreadable ones as long as a function can run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from strongref.contract.fence import UNREADABLE, Fence
from strongref.contract.values import Kind, Parameter

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def parameter(text: str, modified: str = NOON.isoformat()) -> Parameter:
    return Parameter("/strongref/fences/web/1/eu-west-1/network/Exports.1", Kind.STRING, text, 1, modified)


@given(
    st.text(),
    st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1)),  # noqa: DTZ001 (the strategy's)
    st.integers(-12, 14),
)
def test_a_fence_comes_back_to_the_second_and_in_utc(by: str, until: datetime, hours: int) -> None:
    aware = until.replace(tzinfo=timezone(timedelta(hours=hours)))
    found = Fence.decode(parameter(Fence(by, aware).encode()))
    assert found == Fence(by, aware.replace(microsecond=0))
    assert found.until.tzinfo is UTC


def test_a_fence_is_small_json_that_says_who_and_until_when() -> None:
    assert Fence("Exports of stack network", NOON).encode() == (
        '{"by":"Exports of stack network","until":"2030-01-01T12:00:00+00:00"}'
    )


def test_a_fence_stands_until_its_time_and_no_longer() -> None:
    fence = Fence("somebody", NOON)
    assert fence.stands(NOON - timedelta(seconds=1))
    assert not fence.stands(NOON)
    assert not fence.stands(NOON + timedelta(seconds=1))


def test_a_fence_reads_as_who_and_until_when() -> None:
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
    '{"by":"me","until":"0001-01-01T00:00:00+14:00"}',
    '{"by":"me","until":"9999-12-31T23:59:59-10:00"}',
]


@pytest.mark.parametrize("text", UNREADABLE_TEXTS)
def test_an_unreadable_fence_stands_fifteen_minutes_from_when_it_was_written(text: str) -> None:
    fence = Fence.decode(parameter(text))
    assert timedelta(minutes=15) == UNREADABLE
    assert fence == Fence("somebody", NOON + UNREADABLE)
    assert fence.stands(NOON + timedelta(minutes=14, seconds=59))
    assert not fence.stands(NOON + timedelta(minutes=15))


@pytest.mark.parametrize("modified", ["", "yesterday", "0001-01-01T00:00:00+14:00"])
def test_one_that_does_not_even_say_when_it_was_written_is_void(modified: str) -> None:
    assert not Fence.decode(parameter("nonsense", modified)).stands(NOON)


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(str))
@example('{"by":[],"until":"2030-01-01"}')
def test_whatever_a_fence_says_it_is_read_and_falls_some_day(text: str) -> None:
    assert not Fence.decode(parameter(text)).stands(datetime.max.replace(tzinfo=UTC))
