"""Long histories: stacks deployed, changed and deleted side by side, by functions that pause, die and run twice.

After every single call, no reference is lost or torn (`watched_cloud`); in the end everybody finishes, and nothing is
left over (`ending`).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, ClassVar
from unittest.mock import patch

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.support.abroad import OTHER
from tests.support.builders import ACCOUNT
from tests.support.cloudformation.operations import NoAnswerError
from tests.support.cloudformation.stacks import CREATING, ROLLBACK, UPDATING
from tests.support.fuzz.ending import delete_everything
from tests.support.fuzz.history import CALL_SECONDS, History
from tests.support.fuzz.invocation import remember_held
from tests.support.fuzz.laptop import Laptop
from tests.support.fuzz.properties import (
    ACCOUNTS,
    BOTH,
    CONSUMERS,
    NAMES,
    PRODUCERS,
    VALUES,
    exports,
    imports,
    plain,
    source,
    with_holds,
)

if TYPE_CHECKING:
    from tests.support.cloudformation.operations import Resources

MOST_AT_ONCE = 3
"""Invocations for one event."""

ANY = st.integers(0, 1_000)


class Machine(RuleBasedStateMachine):
    """What hypothesis plays with.

    Attributes:
        steps: calls made by all histories so far.
        lag: by how many seconds reads may lag.
        remembers: a deleted name cannot be used again at once.
        abroad: there is another account, too.
    """

    steps: ClassVar[int] = 0
    lag: ClassVar[float] = 0.0
    remembers: ClassVar[bool] = False
    abroad: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        logging.disable(logging.CRITICAL)
        self.patches = patch.object(*remember_held())
        self.patches.start()
        self.history = History(self.lag, remembers=self.remembers)
        self.cloud = self.history.cloud

    # -- operations ----------------------------------------------------------------------------------------------

    @initialize()
    def begin(self) -> None:
        """Every history begins with values that are there, so that there is something to fight over."""
        values = {"A": "one", "B": "one"}
        for which, account in zip(PRODUCERS, (BOTH, ACCOUNT), strict=True):
            at = {"Region": "us-east-1", "Account": account}
            self._deploy(*which, {"X": {**at, "Consumer": "web", "Values": values}}, fails=False)
        self.history.finish()

    @rule(
        which=st.sampled_from(PRODUCERS[:1] * 3 + PRODUCERS[1:]),
        resources=exports(),
        fails=st.integers(0, 5),
        holds=st.booleans(),
    )
    def deploy_producer(self, which: tuple[str, str], resources: Resources, fails: int, holds: bool) -> None:
        self._deploy(*which, with_holds(which[0], resources) if holds else resources, fails=fails == 0)

    @rule(which=st.sampled_from(CONSUMERS), data=st.data(), fails=st.integers(0, 5))
    def deploy_consumer(self, which: tuple[str, str], data: st.DataObject, fails: int) -> None:
        which = self._here(which)
        self._deploy(*which, data.draw(imports(which[0])), fails=fails == 0)

    @rule(
        producer=st.sampled_from(PRODUCERS),
        consumer=st.sampled_from(CONSUMERS),
        values=VALUES,
        names=NAMES,
        order=st.lists(ANY, min_size=10, max_size=60),
    )
    def meet(
        self,
        producer: tuple[str, str],
        consumer: tuple[str, str],
        values: dict[str, Any],
        names: list[str],
        order: list[int],
    ) -> None:
        """A producer and a consumer of it are deployed at the same moment."""
        consumer = self._here(consumer)
        imports = {"From": source(consumer[0], *producer), "Names": names, "Consumer": "web"}
        account = ACCOUNTS.get(consumer[0], ACCOUNT)
        exports = {
            "Region": consumer[1],
            "Account": account,
            "Consumer": "web",
            "Values": values if account == ACCOUNT else plain(values),
            "SecureKeys": ["S"] if "S" in values and account == ACCOUNT else [],
        }
        self._deploy(*consumer, {"P": imports}, fails=False)
        self._deploy(*producer, with_holds(producer[0], {"X": exports}), fails=False)
        self._step_all(order)

    @rule(which=st.sampled_from(PRODUCERS + CONSUMERS + CONSUMERS), vanishes=st.integers(0, 9))
    def delete(self, which: tuple[str, str], vanishes: int) -> None:
        if vanishes > 4 or which in self.cloud.operations or not self.cloud.find(*which):
            return
        if vanishes <= 1:
            self.history.note(f"stack {which[0]} vanishes, its resources retained")
            self.cloud.vanish(*which)
            self.history.settle()
        else:
            self.history.delete(*which)

    @rule(which=st.sampled_from(PRODUCERS + CONSUMERS))
    def go_on_with_rollback(self, which: tuple[str, str]) -> None:
        stack = self.cloud.find(*which)
        if which not in self.cloud.operations and stack and stack.status == "UPDATE_ROLLBACK_FAILED":
            self.history.continue_rollback(*which)

    def _here(self, consumer: tuple[str, str]) -> tuple[str, str]:
        """A consumer, or another one if there is no other account."""
        return CONSUMERS[0] if consumer[0] in ACCOUNTS and not self.abroad else consumer

    def _deploy(self, name: str, region: str, resources: Resources, *, fails: bool) -> None:
        if not self.abroad:
            resources = {at: {key: each[key] for key in each if key != "Account"} for at, each in resources.items()}
        stack = self.cloud.find(name, region)
        if (name, region) not in self.cloud.operations and not (stack and stack.status.endswith("_FAILED")):
            self.history.deploy(name, region, resources, fails=fails)

    # -- steps ---------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.cloud.scheduler.ready())
    @rule(which=ANY, calls=st.integers(1, 12))
    def step(self, which: int, calls: int) -> None:
        task = self._one(self.cloud.scheduler.ready(), which)
        for _ in range(calls):
            if task not in self.cloud.scheduler.ready():
                return
            self.history.step(task)
            self.history.wait(CALL_SECONDS)

    @precondition(lambda self: self.cloud.scheduler.tasks)
    @rule(order=st.lists(ANY, min_size=1, max_size=60))
    def step_all(self, order: list[int]) -> None:
        """Calls of several, in any order."""
        self._step_all(order)

    def _step_all(self, order: list[int]) -> None:
        for number in order:
            ready = self.cloud.scheduler.ready()
            if ready:
                self.history.step(self._one(ready, number))
                self.history.wait(CALL_SECONDS)

    @precondition(lambda self: self.cloud.scheduler.tasks)
    @rule(seconds=st.sampled_from([1.0, 5.0, 20.0, 40.0, 70.0, 950.0]))
    def wait(self, seconds: float) -> None:
        self.history.note(f"{seconds} seconds pass")
        self.history.wait(seconds)

    @precondition(lambda self: self.cloud.scheduler.tasks)
    @rule()
    def finish(self) -> None:
        self.history.finish()

    # -- trouble -------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.cloud.invocations)
    @rule(which=ANY, again=st.booleans())
    def kill(self, which: int, again: bool) -> None:
        invocation = self._one(self.cloud.invocations, which)
        self.history.note(f"{invocation.task.name} dies before: {invocation.task.what}")
        invocation.task.kill()
        if again and invocation.may_repeat():
            invocation.repeat()
        self.history.settle()

    @rule(which=st.sampled_from(CONSUMERS))
    def get_stuck(self, which: tuple[str, str]) -> None:
        """A rollback's function dies, and CloudFormation waits in vain."""
        stack = self.cloud.find(*which)
        if stack and stack.status == ROLLBACK:
            for invocation in list(self.cloud.invocations):
                if invocation.event.stack == stack.arn:
                    self.history.note(f"{invocation.task.name} dies")
                    invocation.task.kill()
            self.history.settle()

    @precondition(lambda self: self.cloud.invocations)
    @rule(which=ANY)
    def twice(self, which: int) -> None:
        """An event is delivered again, while an invocation for it is alive and CloudFormation waits for its answer.

        A delivery after the answer, and after the rollback has begun, looks the same: docs/how-it-works.md.
        """
        invocation = self._one(self.cloud.invocations, which)
        if invocation.may_repeat() and len(invocation.request.running) < MOST_AT_ONCE:
            self.history.note(f"{invocation.task.name}: its event is delivered again")
            invocation.repeat()
            self.history.settle()

    @precondition(lambda self: self.cloud.invocations)
    @rule(which=ANY)
    def cancel(self, which: int) -> None:
        """Another resource of the stack fails: CloudFormation gives up what is in progress, and rolls back."""
        invocation = self._one(self.cloud.invocations, which)
        stack = self.cloud.existing(invocation.event.stack)
        if stack and stack.status in (CREATING, UPDATING) and invocation.request.outcome is None:
            self.history.note(f"{invocation.task.name} is canceled")
            invocation.request.outcome = NoAnswerError()
            self.history.settle()

    @precondition(lambda self: self.cloud.invocations)
    @rule(which=ANY)
    def hand_over(self, which: int) -> None:
        """A function's time is up while a call of it is in flight."""
        invocation = self._one(self.cloud.invocations, which)
        if invocation.may_hand_over():
            self.history.note(f"{invocation.task.name} hands over, its last call in flight: {invocation.task.what}")
            invocation.hand_over()
            self.history.settle()

    @rule(is_away=st.booleans())
    def reach(self, is_away: bool) -> None:
        """The consumers' region goes away, for the functions of producers, or comes back."""
        region = CONSUMERS[0][1]
        if is_away is not (region in self.cloud.away):
            self.history.note(f"{region} {'cannot be reached any more' if is_away else 'is back'}")
            self.cloud.away ^= {region}

    @precondition(lambda self: self.abroad)
    @rule(trusts=st.booleans())
    def trust(self, trusts: bool) -> None:
        """The other account trusts nobody anymore, or again."""
        if trusts is not self.cloud.trusting[OTHER]:
            self.history.note(f"account {OTHER} {'trusts this one again' if trusts else 'takes its trust back'}")
            self.cloud.trusting[OTHER] = trusts

    @rule(off=st.sampled_from([-200.0, -100.0, 100.0, 200.0]), owner=st.sampled_from([ACCOUNT, ACCOUNT, OTHER]))
    def doctor(self, off: float, owner: str) -> None:
        """`doctor --fix`, on a laptop whose clock is wrong."""
        owner = owner if self.abroad else ACCOUNT
        self.history.note(f"doctor --fix in account {owner}, {off:+g} s")
        Laptop.start(self.cloud, CONSUMERS[0][1], off, owner=owner)
        self.history.settle()

    @precondition(lambda self: self.abroad)
    @rule()
    def tend_abroad(self) -> None:
        """The janitor of the producers' region looks after places in the other account, beside whoever is at work."""
        self.history.note("the janitor of places abroad")
        Laptop.start(self.cloud, PRODUCERS[0][1], only_abroad=True)
        self.history.settle()

    @precondition(lambda self: self.abroad and not self.cloud.scheduler.tasks)
    @rule()
    def hold_abroad(self) -> None:
        self.history.check_held()

    @rule(locks=st.booleans())
    def lock(self, locks: bool) -> None:
        """The KMS key of what is there cannot be used, or can be again."""
        ssm = self.cloud.ssm(CONSUMERS[0][1])
        self.history.note("a key cannot be used any more" if locks else "every key can be used")
        ssm.lock() if locks else ssm.locked.clear()

    def teardown(self) -> None:
        try:
            if not any(self.cloud.problems()):
                self.history.finish()
                delete_everything(self.history)
        finally:
            self.cloud.scheduler.end()
            self.patches.stop()
            logging.disable(logging.NOTSET)
            Machine.steps += self.history.steps

    @staticmethod
    def _one(candidates: list[Any], which: int) -> Any:
        return candidates[which % len(candidates)]
