"""Reads that lag in worlds whose time passes: each item of each answer is of some time in the last few seconds.

The explorer tries every combination (`explorer.lagging`); here one is drawn for each read, so that long histories and
faults at every call meet some of them. A seed decides which, so a run can be repeated.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tests.support.explorer.lagging import NOTHING, is_read
from tests.support.fake_ssm import FakeSsm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.support.cloudformation.stacks import FakeStack, StackResource
    from tests.support.fake_ssm import Slot

T = TypeVar("T")

Past = tuple[tuple[float, T], ...]
"""What was there before, each with the time at which it was superseded."""


@dataclass
class Lateness:
    """How late reads are in a world.

    Attributes:
        seconds: by which they may lag; 0: they do not.
        now: the world's time, in seconds.
        random: draws what a read shows.
    """

    seconds: float
    now: Callable[[], float]
    random: Random = field(default_factory=lambda: Random(0))  # noqa: S311 (which reads lag is no secret)

    def kept(self, past: Past[T]) -> Past[T]:
        """What may still be read of it."""
        if not self.seconds:
            return ()
        return tuple(each for each in past if each[0] >= self.now() - self.seconds)

    def draw(self, current: T, past: Past[T]) -> T:
        """What a read shows: half of them lag, if they can."""
        old: Sequence[T] = [each for _, each in self.kept(past)]
        return self.random.choice(old) if old and self.random.random() < 0.5 else current


class LateSsm(FakeSsm):
    """A Parameter Store whose reads lag. Writes apply to what is stored."""

    def __init__(self, region: str, account: str, lateness: Lateness, **how: Any) -> None:
        super().__init__(region, account, **how)
        self.past: dict[str, Past[Slot]] = {}
        self._lateness = lateness

    def get_parameters(self, **request: Any) -> dict[str, Any]:
        return self._late("get_parameters", request, super().get_parameters)

    def get_parameters_by_path(self, **request: Any) -> dict[str, Any]:
        return self._late("get_parameters_by_path", request, super().get_parameters_by_path)

    def list_tags_for_resource(self, **request: Any) -> dict[str, Any]:
        return self._late("list_tags_for_resource", request, super().list_tags_for_resource)

    def _late(self, method: str, request: dict[str, Any], read: Callable[..., dict[str, Any]]) -> dict[str, Any]:
        self.past = {name: kept for name, past in self.past.items() if (kept := self._lateness.kept(past))}
        names = [name for name in sorted(self.past) if is_read(name, method, request)]
        now = {name: self._slots.get(name, NOTHING) for name in names}
        self._slots.update({name: self._lateness.draw(now[name], self.past[name]) for name in names})
        try:
            return read(**request)
        finally:
            self._slots.update(now)

    def _set(self, name: str, slot: Slot) -> None:
        before = self._slots.get(name, NOTHING)
        if before != slot:
            self.past[name] = (*self.past.get(name, ()), (self._lateness.now(), before))
        super()._set(name, slot)


class PastStacks(NamedTuple):
    """What stacks were, by ARN; None before they existed."""

    last: Mapping[str, FakeStack]
    past: Mapping[str, Past[FakeStack | None]]


class LateStacks:
    """Answers about stacks that lag: of a list of resources, each may be of another time."""

    def __init__(self, lateness: Lateness) -> None:
        self.lateness = lateness
        self._last: dict[str, FakeStack] = {}
        self._past: dict[str, Past[FakeStack | None]] = {}

    def moment(self) -> PastStacks:
        return PastStacks(dict(self._last), dict(self._past))

    def go_back(self, moment: PastStacks) -> None:
        self._last, self._past = dict(moment.last), dict(moment.past)

    def remember(self, stacks: dict[str, FakeStack]) -> None:
        """Time is about to pass: what the stacks are now can be read until they are changed, and a while after."""
        for arn, stack in stacks.items():
            if self._last.get(arn) != stack:
                past = self.lateness.kept(self._past.get(arn, ()))
                self._past[arn] = (*past, (self.lateness.now(), self._last.get(arn)))
                self._last[arn] = stack.copy()

    def shown(self, stack: FakeStack) -> FakeStack | None:
        """A stack as a read shows it; None: it does not exist yet."""
        past = self.lateness.kept(self._past.get(stack.arn, ()))
        found = self.lateness.draw(stack, past)
        if found is None or not past:
            return found
        listed: dict[str, StackResource] = {}
        versions = [each for _, each in past if each] + [stack]
        for logical_id in sorted({name for each in versions for name in each.resources}):
            old = tuple((at, each.resources.get(logical_id)) for at, each in past if each)
            resource = self.lateness.draw(stack.resources.get(logical_id), old)
            if resource:
                listed[logical_id] = resource
        return replace(found, resources=listed)
