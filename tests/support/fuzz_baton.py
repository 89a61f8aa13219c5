"""Threads of which one runs at a time, and only when it is told to: real code, stopped before each of its calls.

Whoever holds the baton runs. A runner gives it back where it stops: before a call, in a pause, or while it waits for
another runner. So an order of steps is all that tells one history from another, and it can be played again.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

IN_FLIGHT_SECONDS = 19.0
"""How long a call may take, from when its turn was checked to when it comes to pass (`store.READ_SECONDS` and more)."""

BEGINS = "begins"
"""Where a runner stands that has not run yet."""


class Killed(BaseException):
    """The runner's process is gone: it makes no call any more, not even to tidy up."""


class At(Enum):
    """Where a runner stands."""

    CALL = auto()
    PAUSE = auto()
    WAITING = auto()
    ENDED = auto()


@dataclass(eq=False)
class Runner:
    """One thread.

    Attributes:
        name: in stories.
        at: where it stands.
        what: the call that it is about to make.
        since: when it came to it, in the baton's seconds.
        wakes: when its pause is over.
        killed: it is to make no call any more.
        failure: what its code raised that it should not have.
    """

    name: str
    work: Callable[[], None]
    baton: Baton
    at: At = At.CALL
    what: str = BEGINS
    since: float = 0.0
    wakes: float = 0.0
    killed: bool = False
    failure: BaseException | None = None
    _go: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def stop(self, at: At, what: str) -> None:
        """Called by the runner's own code: give the baton back, until told to go on.

        Raises:
            Killed: meanwhile, or before.
        """
        if not self.killed:
            self.at, self.what, self.since = at, what, self.baton.seconds
            self.baton.back.release()
            self._go.acquire()
        if self.killed:
            raise Killed

    def go(self) -> None:
        """Called by whoever holds the baton: let it run up to its next stop."""
        self._go.release()
        self.baton.back.acquire()

    def run(self) -> None:
        self._go.acquire()
        try:
            if not self.killed:
                self.work()
        except Killed:
            pass
        except BaseException as error:  # noqa: BLE001 (told by the baton)
            self.failure = error
        self.at = At.ENDED
        self.baton.back.release()


class Baton:
    """Who may run, and what time it is."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.runners: list[Runner] = []
        self.back = threading.Semaphore(0)

    def start(self, name: str, work: Callable[[], None]) -> Runner:
        """A new runner, which has not begun yet."""
        runner = Runner(name, work, self, since=self.seconds)
        self.runners.append(runner)
        threading.Thread(target=runner.run, daemon=True).start()
        return runner

    def ready(self) -> list[Runner]:
        """Those that can go on."""
        return [
            runner
            for runner in self.runners
            if runner.at is At.CALL or (runner.at is At.PAUSE and runner.wakes <= self.seconds)
        ]

    def sweep(self) -> None:
        """Forget who has ended.

        Raises:
            BaseException: what a runner's code raised and should not have.
        """
        ended = [runner for runner in self.runners if runner.at is At.ENDED]
        self.runners = [runner for runner in self.runners if runner.at is not At.ENDED]
        for runner in ended:
            if runner.failure:
                raise runner.failure

    def overdue(self) -> Runner | None:
        """Whose call has been in flight for as long as a call may be."""
        calls = [runner for runner in self.runners if runner.at is At.CALL]
        oldest = min(calls, key=lambda runner: runner.since, default=None)
        return oldest if oldest and oldest.since + IN_FLIGHT_SECONDS <= self.seconds else None

    def next_moment(self) -> float | None:
        """When something happens by itself: a pause is over, or a call can be put off no longer."""
        moments = [runner.wakes for runner in self.runners if runner.at is At.PAUSE and runner.wakes > self.seconds]
        moments += [runner.since + IN_FLIGHT_SECONDS for runner in self.runners if runner.at is At.CALL]
        return min(moments, default=None)

    def end(self) -> None:
        """Nobody runs on."""
        for runner in self.runners:
            runner.killed = True
            while runner.at is not At.ENDED:
                runner.go()
        self.runners = []
