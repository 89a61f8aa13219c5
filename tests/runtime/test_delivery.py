"""The delivery of a response ends in time."""

from __future__ import annotations

import pytest

from strongref.runtime.delivery import DeliveryError, deliver
from tests.support.fake_ssm import FakeClock
from tests.support.response_server import ResponseServer


def test_a_server_that_keeps_silent_is_given_up_in_time_for_another_try() -> None:
    with ResponseServer("hang") as server:
        deliver(server.url, b"{}", FakeClock(4.0), lambda: -0.9)
    assert len(server.received) == 2


def test_tries_are_bounded_by_the_time_that_is_left() -> None:
    clock = FakeClock(2.0)
    with ResponseServer(*[500] * 9) as server, pytest.raises(DeliveryError):
        deliver(server.url, b"{}", clock, lambda: 1.0)
    assert len(server.received) == 3
    assert sum(clock.slept) == 1.5
