"""Clients are shared by the threads of a process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, BrokenBarrierError
from typing import TYPE_CHECKING

from strongref.aws.clients import Clients

if TYPE_CHECKING:
    import pytest

EU, US = "eu-west-1", "us-east-1"


class Meeting:
    """Takes the place of the code that makes clients; sees whether two threads are in it at the same time."""

    def __init__(self) -> None:
        self.made: list[object] = []
        self.met = False
        self._barrier = Barrier(2)

    def make(self, _service: str, _region: str) -> object:
        try:
            self._barrier.wait(0.2)
            self.met = True
        except BrokenBarrierError:
            pass
        self.made.append(object())
        return self.made[-1]


def test_threads_make_a_client_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clients, meeting = Clients(), Meeting()
    monkeypatch.setattr(clients, "_make", meeting.make)
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(clients.ssm, [US, US])
    assert one is other
    assert meeting.made == [one]


def test_threads_make_different_clients_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session is not thread-safe."""
    clients, meeting = Clients(), Meeting()
    monkeypatch.setattr(clients, "_make", meeting.make)
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(clients.ssm, [US, EU])
    assert one is not other
    assert not meeting.met
