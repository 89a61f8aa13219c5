"""One history: its steps, its time and its story."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from tests.support.fuzz.abroad import unheld
from tests.support.fuzz.invocation import ANSWERS
from tests.support.fuzz.laptop import Laptop
from tests.support.fuzz.properties import PRODUCERS
from tests.support.fuzz.scheduler import TaskState
from tests.support.fuzz.watched_cloud import WatchedCloud

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.cloudformation.operations import Resources
    from tests.support.fuzz.scheduler import Task

CALL_SECONDS = 0.1
LONG = 4_000.0
"""Seconds after which every fence has expired."""

MOST = 30_000
"""Steps after which something that should have finished has not."""


class History:
    """A cloud at work, one step at a time, and its story."""

    def __init__(self, lag: float = 0.0, *, remembers: bool = False) -> None:
        self.cloud = WatchedCloud(lag, remembers=remembers)
        self.story: list[str] = []
        self.steps = 0

    def note(self, text: str) -> None:
        self.story.append(f"{self.cloud.scheduler.seconds:8.1f}  {text}")

    def step(self, task: Task) -> None:
        """Let a task make its call, and check everything."""
        if task.state is TaskState.ENDED:
            return  # another task has just ended it
        self.steps += task.state is TaskState.CALL and task.what != ANSWERS
        if task.state is TaskState.CALL:
            self.note(f"{task.name}: {task.what}")
        task.resume()
        self.settle()

    def settle(self) -> None:
        """Take in what a step did, and check that nothing is lost or torn."""
        self.cloud.settle()
        for key, refused in self.cloud.outcomes.items():
            self.note(f"stack {key[0]} has finished: {f'{type(refused).__name__}: {refused}' if refused else 'well'}")
        self.cloud.outcomes.clear()
        problem = next(self.cloud.problems(), None)
        if problem:
            self.fail(problem)

    def fail(self, why: str) -> NoReturn:
        raise AssertionError("\n".join([f"{why}. The story:", *self.story]))

    def wait(self, seconds: float) -> None:
        """Let time pass: calls take effect in time, and pauses end."""
        scheduler = self.cloud.scheduler
        end = scheduler.seconds + seconds
        while (moment := scheduler.next_moment()) is not None and moment <= end:
            self._pass(max(scheduler.seconds, moment))
            awake = [task for task in scheduler.ready() if task.state is TaskState.PAUSE]
            overdue = scheduler.overdue()
            for task in [*awake, *([overdue] if overdue else [])]:
                self.step(task)
        self._pass(end)

    def _pass(self, moment: float) -> None:
        self.cloud.past.remember(self.cloud.stacks)
        self.cloud.scheduler.seconds = moment

    def finish(self) -> None:
        """Let everybody finish."""
        at = 0
        while self.cloud.scheduler.tasks:
            ready = self.cloud.scheduler.ready()
            if ready:
                self.step(ready[at % len(ready)])
                self.wait(CALL_SECONDS)
            else:
                moment = self.cloud.scheduler.next_moment()
                if moment is None:
                    self.fail("nobody can go on")
                self.wait(moment - self.cloud.scheduler.seconds)
            at += 1
            if at > MOST:
                self.fail("somebody does not finish")

    def check_held(self) -> None:
        """Nobody is at work: the janitor of places in other accounts runs, and then all that is imported is held."""
        self.wait(LONG)
        for region in sorted({region for _, region in PRODUCERS}):
            self.note(f"the janitor of places abroad runs in {region}")
            Laptop.start(self.cloud, region, only_abroad=True)
            self.settle()
            self.finish()
        if problem := next(unheld(self.cloud), None):
            self.fail(problem)

    def begin(self, name: str, region: str, what: str, work: Callable[[], object]) -> None:
        self.note(f"{what} {name} begins")
        self.cloud.begin(name, region, what, work)
        self.settle()

    def deploy(self, name: str, region: str, resources: Resources, *, fails: bool = False) -> None:
        self.note(f"{name} is to be {resources}{', and a later resource fails' if fails else ''}")
        self.begin(name, region, "deploy", lambda: self.cloud.deploy(name, region, resources, fails=fails))

    def delete(self, name: str, region: str) -> None:
        self.begin(name, region, "delete", lambda: self.cloud.delete(name, region))

    def continue_rollback(self, name: str, region: str) -> None:
        stack = self.cloud.stack(name, region)
        self.begin(name, region, "continue the rollback of", lambda: self.cloud.roll_back(stack))
