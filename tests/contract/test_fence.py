"""Fences expire when they say; unreadable ones after the longest time that a function can run."""

from __future__ import annotations

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
)
def test_a_fence_comes_back_to_the_second_and_in_utc(by: str, until: datetime, hours: int) -> None:
    aware = until.replace(tzinfo=timezone(timedelta(hours=hours)))
    found = Fence.decode(parameter(Fence(by, aware).encode()))
    assert found == Fence(by, aware.replace(microsecond=0))
    assert found.expires_at.tzinfo is UTC


def test_a_fence_is_small_json_with_its_holder_and_its_end() -> None:
    assert Fence("Exports of stack network", NOON).encode() == (
        '{"by":"Exports of stack network","until":"2030-01-01T12:00:00+00:00"}'
    )


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
    finished = Fence("Exports", datetime(2025, 6, 1, tzinfo=UTC), finished=True)
    assert Fence.decode(Parameter("", ParameterType.STRING, finished.encode())) == finished
    assert "done" not in Fence("Exports", datetime(2025, 6, 1, tzinfo=UTC)).encode()
