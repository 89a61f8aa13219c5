"""One history of a cloud at work: its steps, its time and its story."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from tests.support.fuzz_baton import At
from tests.support.fuzz_invocation import ANSWERS
from tests.support.fuzz_ledger import WatchedCloud

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.cloud import Resources
    from tests.support.fuzz_baton import Runner

CALL_SECONDS = 0.1
MOST = 30_000
"""Steps after which something that should have come to an end has not."""


class History:
    """A cloud at work, one step at a time, and its story."""

    def __init__(self) -> None:
        self.cloud = WatchedCloud()
        self.story: list[str] = []
        self.steps = 0

    def tell(self, text: str) -> None:
        self.story.append(f"{self.cloud.baton.seconds:8.1f}  {text}")

    def step(self, runner: Runner) -> None:
        """Let a runner make its call, and check everything."""
        if runner.at is At.ENDED:
            return  # what another did just now has ended it
        self.steps += runner.at is At.CALL and runner.what != ANSWERS
        if runner.at is At.CALL:
            self.tell(f"{runner.name}: {runner.what}")
        runner.go()
        self.settle()

    def settle(self) -> None:
        """See what has come of a step, and that all is well."""
        self.cloud.settle()
        for key, refused in self.cloud.outcomes.items():
            self.tell(f"stack {key[0]} is done: {f'{type(refused).__name__}: {refused}' if refused else 'well'}")
        self.cloud.outcomes.clear()
        wrong = next(self.cloud.wrongs(), None)
        if wrong:
            self.fail(wrong)

    def fail(self, why: str) -> NoReturn:
        raise AssertionError("\n".join([f"{why}. How it came to that:", *self.story]))

    def wait(self, seconds: float) -> None:
        """Let time pass: calls come to pass in time, and pauses end."""
        baton = self.cloud.baton
        end = baton.seconds + seconds
        while (moment := baton.next_moment()) is not None and moment <= end:
            baton.seconds = max(baton.seconds, moment)
            awake = [runner for runner in baton.ready() if runner.at is At.PAUSE]
            overdue = baton.overdue()
            for runner in [*awake, *([overdue] if overdue else [])]:
                self.step(runner)
        baton.seconds = end

    def finish(self) -> None:
        """Everybody comes to an end."""
        at = 0
        while self.cloud.baton.runners:
            ready = self.cloud.baton.ready()
            if ready:
                self.step(ready[at % len(ready)])
                self.wait(CALL_SECONDS)
            else:
                moment = self.cloud.baton.next_moment()
                if moment is None:
                    self.fail("nobody can go on")
                self.wait(moment - self.cloud.baton.seconds)
            at += 1
            if at > MOST:
                self.fail("somebody does not come to an end")

    def begin(self, name: str, region: str, what: str, work: Callable[[], object]) -> None:
        self.tell(f"{what} {name} begins")
        self.cloud.begin(name, region, what, work)
        self.settle()

    def deploy(self, name: str, region: str, resources: Resources, *, fails: bool = False) -> None:
        self.tell(f"{name} is to be {resources}{', and a later resource fails' if fails else ''}")
        self.begin(name, region, "deploy", lambda: self.cloud.deploy(name, region, resources, fails=fails))

    def delete(self, name: str, region: str) -> None:
        self.begin(name, region, "delete", lambda: self.cloud.delete(name, region))

    def go_on_rolling_back(self, name: str, region: str) -> None:
        stack = self.cloud.stack(name, region)
        self.begin(name, region, "continue the roll-back of", lambda: self.cloud.go_on_rolling_back(stack))
