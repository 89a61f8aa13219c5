"""Tasks of which one runs at a time, and only when it is asked to: real code, stopped before each of its calls.

A task runs until it stops: before a call, in a pause, or while it waits for another task. So an order of steps is all
that distinguishes one history from another, and it can be played again.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

IN_FLIGHT_SECONDS = 19.0
"""How long a call may take, from the check of its fence to its effect (`store.READ_SECONDS` and more)."""

BEGINS = "begins"
"""Where a task stops that has not run yet."""


class TaskKilledError(BaseException):
    """The task's process is gone: it makes no call any more, not even to clean up."""


class TaskState(Enum):
    """Where a task stopped."""

    CALL = auto()
    PAUSE = auto()
    WAITING = auto()
    ENDED = auto()


@dataclass(eq=False)
class Task:
    """One thread.

    Attributes:
        name: in stories.
        state: where it stopped.
        what: the call that it is about to make.
        since: when it stopped there, in the scheduler's seconds.
        wakes: when its pause is over.
        killed: it must not make a call any more.
        failure: what its code raised and should not have.
    """

    name: str
    work: Callable[[], None]
    scheduler: Scheduler
    state: TaskState = TaskState.CALL
    what: str = BEGINS
    since: float = 0.0
    wakes: float = 0.0
    killed: bool = False
    failure: BaseException | None = None
    _resume: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def stop(self, state: TaskState, what: str) -> None:
        """Called by the task's own code: wait until it is resumed.

        Raises:
            TaskKilledError: meanwhile, or before.
        """
        if not self.killed:
            self.state, self.what, self.since = state, what, self.scheduler.seconds
            self.scheduler.stopped.release()
            self._resume.acquire()
        if self.killed:
            raise TaskKilledError

    def resume(self) -> None:
        """Let it run up to its next stop."""
        self._resume.release()
        self.scheduler.stopped.acquire()

    def kill(self) -> None:
        """Its process is gone."""
        self.killed = True
        while self.state is not TaskState.ENDED:
            self.resume()

    def run(self) -> None:
        self._resume.acquire()
        try:
            if not self.killed:
                self.work()
        except TaskKilledError:
            pass
        except BaseException as error:  # noqa: BLE001 (raised by the scheduler)
            self.failure = error
        self.state = TaskState.ENDED
        self.scheduler.stopped.release()


class Scheduler:
    """Which task may run, and what time it is."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.tasks: list[Task] = []
        self.stopped = threading.Semaphore(0)

    def start(self, name: str, work: Callable[[], None]) -> Task:
        """A new task, which has not begun yet."""
        task = Task(name, work, self, since=self.seconds)
        self.tasks.append(task)
        threading.Thread(target=task.run, daemon=True).start()
        return task

    def ready(self) -> list[Task]:
        """The tasks that can go on."""
        return [
            task
            for task in self.tasks
            if task.state is TaskState.CALL or (task.state is TaskState.PAUSE and task.wakes <= self.seconds)
        ]

    def remove_ended(self) -> None:
        """Forget the tasks that ended.

        Raises:
            BaseException: what a task's code raised and should not have.
        """
        ended = [task for task in self.tasks if task.state is TaskState.ENDED]
        self.tasks = [task for task in self.tasks if task.state is not TaskState.ENDED]
        for task in ended:
            if task.failure:
                raise task.failure

    def overdue(self) -> Task | None:
        """The task whose call has been in flight for as long as a call may be."""
        calls = [task for task in self.tasks if task.state is TaskState.CALL]
        oldest = min(calls, key=lambda task: task.since, default=None)
        return oldest if oldest and oldest.since + IN_FLIGHT_SECONDS <= self.seconds else None

    def next_moment(self) -> float | None:
        """When something happens by itself: a pause is over, or a call can be delayed no longer."""
        moments = [task.wakes for task in self.tasks if task.state is TaskState.PAUSE and task.wakes > self.seconds]
        moments += [task.since + IN_FLIGHT_SECONDS for task in self.tasks if task.state is TaskState.CALL]
        return min(moments, default=None)

    def end(self) -> None:
        """Kill every task."""
        for task in self.tasks:
            task.kill()
        self.tasks = []
