"""Makes, checks and removes hold stacks (`contract.hold_stacks`), for every importer and for the janitor.

An import makes its hold before it claims, and looks at it once more when its claims have been verified. CloudFormation
creates the hold, or an operation of the producer removes the export, but never both: so an import whose hold exists
cannot lose its producer.

A hold counts if it has this import's tags, is complete, and CloudFormation lists it among the stacks that import each
export. A stack of that name with other tags is not strongref's: it is neither changed nor deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from strongref import errors
from strongref.contract.format import check_hold_format
from strongref.contract.hold_stacks import HOLD_TYPE, OWN_TAGS, PRODUCER_STACK_TAG, HoldStack
from strongref.contract.names import ExportScope, Producer, StackArn, by_scope, consumer_prefix
from strongref.log import logger
from strongref.protocol.hold_steps import HoldStep, next_step
from strongref.protocol.ports import NewStack, Ports, StackInfo, Store
from strongref.protocol.recreation import RECREATION_SECONDS
from strongref.refusals import HoldFailedError, HoldMissingError, HoldPendingError, ProducerLeavingError

if TYPE_CHECKING:
    from strongref.protocol.time import Clock

PAUSE = 2.0
"""Seconds between two looks at a stack that is changing."""

TRIES, MOST_TRIES = 3, 15
"""How often a hold stack that fails is created again: an export may just have gone. A parameter of that name may have,
too: so it is tried more often until the name can be used again."""

REMOVAL_SECONDS = 60.0
"""How long a Delete waits for its hold stack to be gone, so that the producer can be deleted right after it."""

HURRIED_SECONDS = 60.0
"""How long the rollback of an import waits for its hold before it goes on without it."""

FOREIGN = "A stack of that name exists, but strongref did not make it. Delete that stack, then deploy this one again."


def scopes_of(hold: HoldStack, store: Store) -> list[ExportScope]:
    """Where the import of a hold may claim, given the store of its region."""
    if hold.producer.stack:
        return [hold.scope]
    records = store.under(consumer_prefix(hold.consumer, "records"), decrypted=False)
    of = (hold.account, hold.producer.region)
    found = [each for each in by_scope("records", records) if (each.producer.account, each.producer.region) == of]
    return found or [ExportScope(hold.consumer, Producer(*of, hold.label))]


@dataclass(slots=True)
class OwnStacks:
    """A stack and all that it is nested in, looked up when first needed. What they export, it does not hold.

    Their deletion would be refused because of the very import that it is going to delete.
    """

    look_up: Callable[[str], StackInfo | None]  # by ARN
    stack: str  # its ARN
    _found: frozenset[str] | None = None

    def __contains__(self, arn: object) -> bool:
        if self._found is None:
            found = [self.stack]
            while (info := self.look_up(found[-1])) and info.parent_arn:
                found.append(info.parent_arn)
            self._found = frozenset(found)
        return arn in self._found


@dataclass(slots=True)
class HoldKeeper:
    """One importer, and what it holds of the stacks of one region."""

    ports: Ports
    clock: Clock
    stack: HoldStack
    own_stacks: Container[str] = ()  # as `OwnStacks`
    until: datetime | None = None  # how long to wait for the hold stack, and for producers that are in progress
    waits_for_producers: bool = True
    is_given_up: Callable[[], bool] = lambda: False  # whether nobody waits for the import anymore
    began: bool = False  # whether there is a hold stack, or may be
    _made: str | None = None  # the ARN of the stack that was created or updated last
    _made_at: datetime | None = None
    _since: datetime | None = None  # when it began to wait
    _tries: int = 0
    _first_tried: datetime | None = None
    _has_settled: bool = False
    _complete: tuple[str, str] | None = None  # the stack that was seen complete: its ARN, and when it was last updated
    _certain_at: datetime | None = None  # from when lists show what that stack imports
    _listed: tuple[tuple[str, str], frozenset[str]] | None = None  # the stack that lists have shown, and its exports

    def may_exist(self) -> bool:
        """Whether there is a hold stack, as far as is known: an earlier delivery of the event may have made it."""
        try:
            return self.began or self._find() is not None
        except errors.StrongRefError:
            return True

    def hurried(self) -> HoldKeeper:
        """A keeper for an import that must not fail: it does not wait for long, and not for producers."""
        until = self.clock.now() + timedelta(seconds=HURRIED_SECONDS)
        return replace(self, until=min(self.until or until, until), waits_for_producers=False)

    def of_several(self) -> HoldKeeper | None:
        """A keeper for the hold stack that there is, if that holds for producers other than this one, too."""
        found = self._find()
        if found is None or found.tags.get(PRODUCER_STACK_TAG) == self.stack.producer.stack:
            return None
        return replace(self, stack=replace(self.stack, producer=replace(self.stack.producer, stack="")))

    def needed(self, holds: Mapping[str, str]) -> dict[str, str]:
        """Those of these exports that are to be held: by name, with the ARN of the stack that exports each."""
        return {export: stack for export, stack in holds.items() if stack not in self.own_stacks}

    def is_made(self, holds: Mapping[str, str], *, is_listed: bool = False) -> bool:
        """Whether the hold stack holds these exports, as far as that can be known without waiting.

        CloudFormation is not asked what the stack imports if an earlier list says so (`is_listed`).
        """

        def is_known(found: StackInfo) -> bool:
            return self._seconds_until_certain(found) > 0 or is_listed or self._is_listed(holds, found)

        return next_step(self._find(), holds, is_known) is HoldStep.NONE

    @property
    def is_early(self) -> bool:
        """Whether lists may not show yet what the stack imports that was seen complete last."""
        return self._certain_at is not None and self.clock.now() < self._certain_at

    def is_effective(self, holds: Mapping[str, str]) -> bool:
        """Whether it is made and no producer is being deleted: AWS may not check exports again during a deletion."""
        if self._step(self._find(), holds) is not HoldStep.NONE:
            return False
        producers = [self.ports.stacks.by_arn(stack) for stack in set(holds.values())]
        return not any(info is None or info.being_deleted for info in producers)

    def make(self, holds: Mapping[str, str]) -> None:
        """Hold these exports: create or update the hold stack, and wait for that.

        Raises:
            HoldPendingError: a producer was in progress for too long.
            ProducerLeavingError: a producer is being deleted, or removes the export.
            HoldMissingError: a producer is at rest, and does not have the export.
            HoldFailedError: CloudFormation could not make the stack.
            UnfinishedError: the invocation ran out of time; another one can go on waiting.
        """
        # When it is made, reads show whether a producer was being deleted before.
        while (step := self._step(found := self._find(), holds)) is not HoldStep.NONE:
            why = self._advance(step, found, holds)
            if self._since is None:
                self._since = self.clock.now()
                logger.info("Waiting for a CloudFormation export to be held", extra={"why": str(why)})
            self._wait(why)

    def begin(self, holds: Mapping[str, str]) -> HoldStep:
        """Take one step towards holding these exports, or none at all; return which."""
        found = self._find()
        if not holds:
            if found and not found.being_deleted:
                self._delete(found.arn)
            return HoldStep.REPLACE if found else HoldStep.NONE
        step = self._step(found, holds)
        if step is not HoldStep.NONE:
            self._advance(step, found, holds)
        return step

    def look(self, holds: Mapping[str, str]) -> HoldStep:
        """The step that `begin` would take; nothing is changed.

        Raises:
            HoldPendingError, ProducerLeavingError, HoldMissingError: as for `make`, as it cannot be taken.
        """
        found = self._find()
        if not holds:
            return HoldStep.REPLACE if found and not found.being_deleted else HoldStep.NONE
        step = self._step(found, holds)
        if step in (HoldStep.CREATE, HoldStep.UPDATE):
            for export, producer in holds.items():
                if pending := self._pending(export, producer):
                    raise pending
        return step

    @contextmanager
    def left_to_janitor(self) -> Iterator[None]:
        """Log what fails: the janitor does what is left, so nobody has to fail for it."""
        try:
            yield
        except errors.StrongRefError as error:
            logger.warning("A hold is left to the janitor", extra={"hold": self.stack.name, "error": str(error)})

    def delete(self, *, expected: bool) -> StackInfo | None:
        """Delete the hold stack, wait a little for that, and return it if it still exists.

        If a stack is `expected`, it is deleted even if none is found: it may have been created a moment ago.
        """
        found = self._find()
        if not (found or expected):
            return None
        self.ports.stacks.delete_stack(found.arn if found else self.stack.name, self.stack.producer.region)
        return self.wait_until_deleted(retry=True)

    def wait_until_deleted(self, *, retry: bool = False) -> StackInfo | None:
        """Wait a little until the hold stack is gone, or delete it again (`retry`); return it if it still exists."""
        waited = 0.0
        while (left := self._find()) and waited < REMOVAL_SECONDS and self.clock.remaining() > PAUSE:
            # An operation was in progress, or the deletion has failed.
            if retry and waited and not left.being_deleted:
                self.ports.stacks.delete_stack(left.arn, self.stack.producer.region)
            self.clock.sleep(PAUSE)
            waited += PAUSE
        return left

    def _find(self) -> StackInfo | None:
        found = self.ports.stacks.by_name(self.stack.name, self.stack.producer.region)
        self.began = self.began or found is not None
        if found:
            check_hold_format(self.stack.name, found.tags)
            if not self.stack.identity.items() <= found.tags.items():
                raise HoldFailedError(self.stack.name, self.stack.producer.region, FOREIGN)
        return found

    def _step(self, found: StackInfo | None, holds: Mapping[str, str]) -> HoldStep:
        return next_step(found, holds, partial(self._is_listed, holds))

    def _is_listed(self, holds: Mapping[str, str], found: StackInfo) -> bool:
        """Whether CloudFormation lists the stack, which is complete, among those that import each of these exports.

        A list that begins earlier may show what a former stack of that name imported, or this one before an update, or
        nothing yet. The stack's own dates do not help: they say when an operation began, and not when it ended. Once a
        list has shown the stack, it is not asked again until the stack is updated or replaced.
        """
        if (left := self._seconds_until_certain(found)) > 0:
            self.clock.sleep(left)
            self._certain_at = self.clock.now()
        stack, region = ((found.arn, found.updated), frozenset(holds)), self.stack.producer.region
        ask = self.ports.stacks.importing_stacks
        if self._listed != stack and all(found.name in ask(export, region) for export in sorted(holds)):
            self._listed = stack
        return self._listed == stack

    def _seconds_until_certain(self, found: StackInfo) -> float:
        """How long lists may still not show what the stack imports, which is complete now."""
        if self._certain_at is None or self._complete != (found.arn, found.updated):
            self._complete = found.arn, found.updated
            self._certain_at = self.clock.now() + timedelta(seconds=self.ports.lag.after_writing)
        return -self._seconds_since(self._certain_at)

    def _advance(self, step: HoldStep, found: StackInfo | None, holds: Mapping[str, str]) -> errors.StrongRefError:
        """Do the step, if it can be done now; return why the exports are not held yet."""
        in_progress = HoldPendingError(", ".join(sorted(holds)), f"stack {self.stack.name}", "in progress")
        if step is HoldStep.WAIT:
            return in_progress
        if step is HoldStep.REPLACE:
            assert found is not None  # noqa: S101 (there is something to replace)
            self._count_try()
            self._made = found.arn
            self._delete(found.arn)
            return in_progress
        for export, producer in holds.items():
            if pending := self._pending(export, producer):
                return pending
        # If it was created or updated a moment ago, reads may not show that yet.
        if self._made_at is None or self._seconds_since(self._made_at) >= self.ports.lag.after_writing:
            self._change(found, holds)
        return in_progress

    def _change(self, found: StackInfo | None, holds: Mapping[str, str]) -> None:
        self._count_try()
        has_waited = self._since is not None and self._seconds_since(self._since) > self.ports.lag.after_writing
        if has_waited and self.is_given_up():
            raise errors.OutdatedRequestError(self.stack.label)
        others = {name: value for name, value in found.tags.items() if name not in OWN_TAGS} if found else {}
        template, tags = self.stack.template(holds), {**others, **self.stack.tags}
        new = NewStack(self.stack.name, self.stack.producer.region, template, (HOLD_TYPE,), tags)
        if found:
            self._made = found.arn
            self.ports.stacks.update_stack(new)
        else:
            self.began = True
            try:
                self._made = self.ports.stacks.create_stack(new)
            except errors.ServiceError as error:
                raise HoldFailedError(self.stack.name, self.stack.producer.region, str(error)) from None
        self._made_at = self.clock.now()

    def _delete(self, arn: str) -> None:
        """Begin to delete the hold stack; raises `OutOfTimeError` if the time is over in which changes may be made."""
        if self.clock.remaining() <= 0:
            raise errors.OutOfTimeError("DeleteStack", errors.OUT_OF_TIME, self.stack.name, self.stack.producer.region)
        self.ports.stacks.delete_stack(arn, self.stack.producer.region)

    def _seconds_since(self, then: datetime) -> float:
        return (self.clock.now() - then).total_seconds()

    def _count_try(self) -> None:
        self._tries += 1
        self._first_tried = self._first_tried or self.clock.now()
        most = TRIES if self._seconds_since(self._first_tried) > RECREATION_SECONDS else MOST_TRIES
        if self._tries > most:
            reason = self.ports.stacks.failure(self._made) if self._made else ""
            raise HoldFailedError(self.stack.name, self.stack.producer.region, reason or "See its events.")

    def _pending(self, export: str, producer: str) -> errors.StrongRefError | None:
        """Why an export does not exist yet; None if it does."""
        if not producer:  # It is held already.
            return None
        info = self.ports.stacks.by_arn(producer)
        if info and not info.being_deleted and export in info.exports:
            return None
        name = str(StackArn.parse(producer).producer)
        if info and info.being_deleted:
            raise ProducerLeavingError(name, export, deleted=True)
        if info and not (info.at_rest or info.cleaning_up):
            pending = HoldPendingError(export, name, info.status)
            if info.status.endswith("_FAILED") or not self.waits_for_producers:
                raise pending
            return pending
        if self.ports.lag.seconds and not self._has_settled:  # It may have been exported a moment ago.
            self._has_settled = True
            self.ports.lag.settle(self.clock)
            return self._pending(export, producer)
        if info is None or info.cleaning_up:
            raise ProducerLeavingError(name, export, deleted=info is None)
        raise HoldMissingError(export, name)

    def _wait(self, why: errors.StrongRefError) -> None:
        if self.until is None or self.clock.now() >= self.until:
            raise why
        if self.clock.remaining() <= PAUSE:
            raise errors.WaitInterruptedError(why)
        self.clock.sleep(PAUSE)
