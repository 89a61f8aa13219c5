"""What a function that works behind fences does with its time, and with fences that it has left or finds."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from strongref.contract.fence import Fence
from strongref.contract.names import Site
from strongref.contract.values import ParameterType
from strongref.errors import InvocationTimeoutError, OutOfTimeError
from strongref.protocol.behind_fences import FencedStore, FirstLook, behind_fences
from strongref.protocol.fences import FenceLease, OwnFence
from strongref.protocol.lag import MustWaitError, ReadLag
from strongref.refusals import ChangingError, UnsettledError
from tests.protocol.test_fences import EXPORTER, OTHER, REGION, World
from tests.support.builders import SCOPE
from tests.support.fake_ssm import EPOCH, FakeClock
from tests.support.virtual_time import VirtualClock

if TYPE_CHECKING:
    from strongref.protocol.ports import Ports

SITES = [(Site(REGION), SCOPE)]


@pytest.fixture
def world() -> World:
    return World()


def lease(world: World, lasts: float, reserve: float = 5.0) -> FenceLease:
    clock = VirtualClock.lasting(world.time, lasts)
    return FenceLease.begin([OwnFence.of(world.ports(), Site(REGION), SCOPE, EXPORTER)], clock, reserve)


def lagging(world: World) -> Ports:
    return replace(world.ports(), lag=ReadLag(2.0))


def test_what_was_written_is_not_forgotten_by_reading(world: World) -> None:
    def work() -> None:
        begun = lease(world, 60)
        for action, has_written in (("GetParameters", False), ("PutParameter", True), ("GetParameters", True)):
            begun.before_call(action)
            assert begun.has_written is has_written

    world.time.run(work)


def test_the_wait_before_reading_is_no_longer_than_needed_and_ends_in_time(world: World) -> None:
    def work() -> None:
        begun, before = lease(world, 60), world.time.seconds
        begun.wait_before_reading(ReadLag(2.0))
        assert world.time.seconds == before + 4.5
        begun.wait_before_reading(ReadLag(2.0))
        assert world.time.seconds == before + 4.5
        with pytest.raises(InvocationTimeoutError):
            lease(world, 9).wait_before_reading(ReadLag(2.0))

    world.time.run(work)


def test_without_a_lag_nobody_sleeps() -> None:
    clock = FakeClock(60)
    FenceLease(clock, (), 5, EPOCH + timedelta(seconds=60), began=60).wait_before_reading(ReadLag())
    assert not clock.slept


def other_fence(world: World) -> None:
    own = OwnFence.of(world.ports(), Site(REGION), SCOPE, OTHER)
    clock = VirtualClock.lasting(world.time, 60)
    own.put_up(clock, Fence(OTHER.says, clock.now() + timedelta(seconds=90)))


def test_nothing_is_created_while_somebody_else_is_at_work(world: World) -> None:
    def never(_posts: list[FencedStore]) -> None:
        pytest.fail("it is tried")

    def meet(_posts: list[FencedStore], look: FirstLook) -> None:
        other, continues = look()
        assert (other and other.held_by, continues) == (OTHER.says, False)
        raise MustWaitError

    def work() -> None:
        other_fence(world)
        clock, holder = VirtualClock.lasting(world.time, 60), replace(EXPORTER, until=None)
        with pytest.raises(ChangingError):
            behind_fences(lagging(world), clock, SITES, holder, never, without_waiting=meet)
        why = UnsettledError(["A"], "stack network")
        with pytest.raises(UnsettledError):
            behind_fences(lagging(world), clock, SITES, holder, never, busy=lambda _fence: why)

    world.time.run(work)


def test_the_continuation_of_a_request_takes_its_fence_over(world: World) -> None:
    def work() -> None:
        with pytest.raises(OutOfTimeError):
            world.behind(100, lasts=20)
        before = world.time.seconds
        world.behind(1, replace(EXPORTER, continues=True))
        assert world.time.seconds < before + 5

    world.time.run(work)
    assert world.fences == {}


def test_a_holder_that_nobody_continues_leaves_no_fence(world: World) -> None:
    def work() -> None:
        with pytest.raises(OutOfTimeError):
            world.behind(100, OTHER, lasts=20)

    world.time.run(work)
    assert world.fences == {}


def test_an_interruption_before_the_fence_stands_is_reported_as_such(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_fence: object, **_what: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(OwnFence, "put_up", interrupted)
    clock = VirtualClock.lasting(world.time, 60)

    def work() -> None:
        with pytest.raises(KeyboardInterrupt):
            behind_fences(world.ports(), clock, SITES, EXPORTER, lambda _posts: None)

    world.time.run(work)


def test_a_fence_behind_which_there_is_no_time_to_wait_expires(world: World) -> None:
    def write(posts: list[FencedStore]) -> None:
        posts[0].store.create("/x", ParameterType.STRING, "x", {})
        world.time.sleep(50)

    def work() -> None:
        behind_fences(lagging(world), VirtualClock.lasting(world.time, 56), SITES, EXPORTER, write)

    world.time.run(work)
    assert world.time.seconds < 56
    assert len(world.fences) == 1


def test_what_has_to_wait_is_done_after_the_wait(world: World) -> None:
    def must_wait(_posts: list[FencedStore], _look: FirstLook) -> float:
        raise MustWaitError

    def work() -> None:
        clock = VirtualClock.lasting(world.time, 60)
        seconds = behind_fences(
            lagging(world), clock, SITES, EXPORTER, lambda _posts: world.time.seconds, without_waiting=must_wait
        )
        assert seconds > 4.5

    world.time.run(work)
