"""Calls side by side in threads: in any order, with results and failures in the order of the calls."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from strongref.aws.in_threads import MOST, in_threads
from strongref.aws.rate_limit import IN_FLIGHT

SECONDS = 60
"""After which a thread that waits for another one has waited in vain."""


def test_results_come_in_the_order_of_the_calls_and_queues() -> None:
    queues = [[partial(int, number) for number in range(count)] for count in (100, 0, 1, 25)]
    assert in_threads(queues) == [list(range(count)) for count in (100, 0, 1, 25)]
    assert in_threads([]) == []
    assert in_threads([[]]) == [[]]


def test_one_call_needs_no_thread() -> None:
    assert in_threads([[threading.current_thread]]) == [[threading.current_thread()]]


@pytest.mark.parametrize("regions", [1, 3])
def test_so_many_calls_of_each_region_are_made_at_the_same_time_and_no_more(regions: int) -> None:
    """Each waits until as many are there as may be; one more would never come."""
    share = min(IN_FLIGHT, MOST // regions)
    gates = [threading.Barrier(share) for _ in range(regions)]
    calls = [[partial(gate.wait, SECONDS)] * (2 * share) for gate in gates]
    found = in_threads(calls)
    assert [sorted(each) for each in found] == [sorted([*range(share)] * 2)] * regions
    running: list[int] = []
    most: list[int] = []
    lock = threading.Lock()

    def call() -> None:
        with lock:
            running.append(1)
            most.append(len(running))
        with lock:
            running.pop()

    in_threads([[call] * 200])
    assert max(most) <= IN_FLIGHT


def test_more_queues_than_threads_are_carried_out() -> None:
    before = threading.active_count()
    found: list[list[object]] = in_threads(
        [[partial(divmod, number, 7), threading.active_count] for number in range(3 * MOST)]
    )
    assert [each[0] for each in found] == [divmod(number, 7) for number in range(3 * MOST)]
    assert max(int(str(each[1])) for each in found) <= before + MOST


def test_after_a_failure_calls_in_flight_are_finished_and_no_other_one_begins() -> None:
    together, failed = threading.Barrier(IN_FLIGHT), threading.Event()
    finished: list[int] = []

    def call(number: int) -> None:
        together.wait(SECONDS)
        if number == 3:
            failed.set()
            raise ValueError(str(number))
        assert failed.wait(SECONDS)
        if number == 1:
            raise KeyError(str(number))
        finished.append(number)

    with pytest.raises(KeyError, match="1"):  # the first in order, though it failed later
        in_threads([[partial(call, number) for number in range(50)]])
    assert sorted(finished) == [each for each in range(IN_FLIGHT) if each not in {1, 3}]


def test_a_failure_in_one_region_ends_all_of_them() -> None:
    begun: list[int] = []

    def begin(number: int) -> None:
        if number < 0:
            raise ValueError("first")
        begun.append(number)

    with pytest.raises(ValueError, match="first"):
        in_threads([[partial(begin, -1)] * 3, [partial(begin, number) for number in range(100_000)]])
    assert len(begun) < 100_000


def test_what_ends_the_process_does_not_wait_for_the_threads() -> None:
    """As a Ctrl-C in the command, which arrives in the main thread."""
    may_end = threading.Event()
    waiting: list[bool] = []

    def call() -> None:
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        waiting.append(may_end.wait(SECONDS))

    with pytest.raises(KeyboardInterrupt):
        in_threads([[call] * 50])
    assert waiting == []
    may_end.set()


def test_what_ends_the_process_may_come_in_any_thread(capsys: pytest.CaptureFixture[str]) -> None:
    """As the interruption of a thread that repairs a region."""
    raised = threading.Event()

    def call() -> None:
        if threading.current_thread() is threading.main_thread():
            assert raised.wait(SECONDS)
            return
        raised.set()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_threads([[call] * 2])
    assert capsys.readouterr().err == ""
