"""Fences while work goes on: short, renewed in time, left to whoever goes on, and never held twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from random import Random
from typing import TYPE_CHECKING, TypeVar, cast

import pytest

from strongref.aws.parameter_store import SsmStore
from strongref.aws.rate_limit import RateLimiter, RateLimits
from strongref.contract.fence import IN_FLIGHT, MAX_EXCEPTIONS, Fence, TagScan
from strongref.contract.names import Site
from strongref.contract.values import Parameter, ParameterType
from strongref.errors import InvocationTimeoutError, OutOfTimeError
from strongref.protocol.behind_fences import FencedStore, behind_fences
from strongref.protocol.fences import FENCE_SECONDS, LIFETIME, FenceHolder, OwnFence, live_fence
from strongref.protocol.janitor import Janitor
from strongref.protocol.lag import DEFAULT_LAG, ReadLag
from strongref.protocol.ports import Ports
from strongref.protocol.side_by_side import in_turn
from strongref.protocol.time import CLOCK_SKEW_SECONDS, Patience
from strongref.refusals import ChangingError
from strongref.runtime.wiring import PATIENCE
from tests.support.builders import SCOPE
from tests.support.fake_ssm import EPOCH, FakeClock, FakeSsm
from tests.support.late_reads import Lateness, LateSsm
from tests.support.virtual_time import VirtualClock, VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from strongref.protocol.ports import Store
    from strongref.protocol.time import Clock
    from tests.support.fake_ssm import FakeParameter

T = TypeVar("T")

REGION = "us-east-1"
LATENCY = 0.1
SECOND = timedelta(seconds=1)
UNTIL = EPOCH + timedelta(hours=1)
EXPORTER = FenceHolder("Exports", "Exports of stack network", "request-1", UNTIL)
OTHER = FenceHolder("release", "strongref release")


class World:
    """One place, and who works there, in virtual time."""

    def __init__(self) -> None:
        self.time = VirtualTime()
        self.ssm = FakeSsm(REGION, clock=self.now, before_call=lambda *_: self.time.sleep(LATENCY))
        self.tokens = 0

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.time.seconds)

    def token(self) -> str:
        self.tokens += 1
        return f"token{self.tokens}"

    def ports(self, patience: float = 0.0) -> Ports:
        limiter = RateLimiter(RateLimits(1e6, 1e6, 1e6, 1e6))
        return Ports(
            stores=lambda region, clock: SsmStore(self.ssm.as_client(), region, limiter, clock, lambda: 0.5),
            stacks=None,  # type: ignore[arg-type] # nobody is asked
            patience=Patience(patience, 2, lambda: 0.5),
            token=self.token,
        )

    def work(self, post: FencedStore, seconds: float) -> None:
        """A call each second."""
        for _ in range(int(seconds)):
            self.time.sleep(1 - LATENCY)
            post.store.get(["/x"])

    def behind(
        self, seconds: float, holder: FenceHolder = EXPORTER, *, lasts: float = 885, patience: float = 0
    ) -> None:
        """Work for so long behind a fence, in an invocation that lasts so long."""
        clock = VirtualClock.lasting(self.time, lasts)
        ports = self.ports(patience)
        behind_fences(ports, clock, [(Site(REGION), SCOPE)], holder, lambda posts: self.work(posts[0], seconds))

    @property
    def fences(self) -> dict[str, Fence]:
        below = {name: found for name, found in self.ssm.parameters().items() if "/fences/" in name}
        return {name.rpartition("/")[2]: _decoded(found) for name, found in below.items()}

    def watch(self, seconds: float) -> list[float]:
        """How long the fences still stand, at each second, in seconds."""
        seen = []
        for _ in range(int(seconds)):
            self.time.sleep(1)
            seen += [(fence.expires_at - self.now()).total_seconds() for fence in self.fences.values()]
        return seen


class KilledError(BaseException):
    """The function's process ends."""


def _decoded(found: FakeParameter) -> Fence:
    return Fence.decode(Parameter("", ParameterType.STRING, found.text, 1, found.modified.isoformat()))


def test_a_fence_never_stands_for_long_and_never_falls_while_someone_works_behind_it() -> None:
    world = World()
    seen: list[float] = []
    world.time.run(partial(world.behind, 300), lambda: seen.extend(world.watch(290)))
    whole = FENCE_SECONDS + IN_FLIGHT.total_seconds()
    assert len(seen) >= 285
    assert max(seen) <= whole
    assert min(seen) > FENCE_SECONDS / 2 + IN_FLIGHT.total_seconds() - 3
    assert world.fences == {}


def test_a_dead_ones_fence_has_fallen_before_anyones_patience_is_at_its_end() -> None:
    world = World()
    assert FENCE_SECONDS + IN_FLIGHT.total_seconds() < PATIENCE.seconds

    def die() -> None:
        def kill(*_: object) -> None:
            raise KilledError

        world.ssm.before_call = kill

    def killed() -> None:
        with pytest.raises(KilledError):
            behind_fences(
                world.ports(), VirtualClock.lasting(world.time, 885), [(Site(REGION), SCOPE)], EXPORTER, lambda _: die()
            )

    world.time.run(killed)
    world.ssm.before_call = lambda *_: world.time.sleep(LATENCY)
    assert len(world.fences) == 1
    began = world.time.seconds
    other = FenceHolder("More", "More of stack network")
    world.time.run(partial(world.behind, 1, other, patience=PATIENCE.seconds))
    assert FENCE_SECONDS < world.time.seconds - began < PATIENCE.seconds


def test_whose_fence_fell_begins_again_behind_a_new_one() -> None:
    """It could not be renewed in time: nothing is done as if it still stood."""
    world = World()
    attempts = []

    def work(posts: list[FencedStore]) -> None:
        attempts.append(world.time.seconds)
        if len(attempts) == 1:
            world.time.sleep(FENCE_SECONDS + 1)
        posts[0].store.get(["/x"])

    clock = VirtualClock.lasting(world.time, 885)
    world.time.run(lambda: behind_fences(world.ports(), clock, [(Site(REGION), SCOPE)], EXPORTER, work))
    assert len(attempts) == 2
    assert world.tokens == 2


def test_whose_time_is_up_leaves_the_fence_with_what_it_looked_at_and_its_successor_takes_over() -> None:
    world = World()
    seen: list[tuple[str, bool]] = []

    def first(posts: list[FencedStore]) -> None:
        posts[0].scan.note("A", unclaimed=True)
        posts[0].scan.note("B", unclaimed=False)
        posts[0].scan.note("C", unclaimed=True)
        world.work(posts[0], 100)

    def run(work: object, lasts: float) -> None:
        clock = VirtualClock.lasting(world.time, lasts)
        behind_fences(world.ports(), clock, [(Site(REGION), SCOPE)], EXPORTER, work)  # type: ignore[arg-type]

    def out_of_time() -> None:
        with pytest.raises(OutOfTimeError):
            run(first, 30)

    world.time.run(out_of_time)
    (left,) = world.fences.values()
    assert left.unfinished == TagScan("request-1", "C", ["B"])

    def second(posts: list[FencedStore]) -> None:
        seen.extend((key, posts[0].scan.needs(key)) for key in "ABCD")
        assert list(world.fences) == ["Exports.token1", "Exports.token2"]

    world.time.run(lambda: run(second, 30))
    assert seen == [("A", False), ("B", True), ("C", False), ("D", True)]
    assert world.fences == {}


@pytest.mark.parametrize(("until", "left"), [(35.0, 1), (29.0, 0)], ids=["another one follows", "none does"])
def test_the_last_invocation_leaves_no_fence(until: float, left: int) -> None:
    world = World()

    def out_of_time() -> None:
        with pytest.raises(OutOfTimeError):
            world.behind(100, replace(EXPORTER, until=EPOCH + timedelta(seconds=until)), lasts=36)

    world.time.run(out_of_time)
    assert len(world.fences) == left


def test_what_was_looked_at_for_another_request_does_not_count() -> None:
    world = World()

    def out_of_time() -> None:
        with pytest.raises(OutOfTimeError):
            behind_fences(world.ports(), VirtualClock.lasting(world.time, 20), [(Site(REGION), SCOPE)], EXPORTER, note)

    def note(posts: list[FencedStore]) -> None:
        posts[0].scan.note("A", unclaimed=True)
        world.work(posts[0], 100)

    world.time.run(out_of_time)
    needs: list[bool] = []
    rolling_back = FenceHolder("Exports", "Exports of stack network", "request-2")
    clock = VirtualClock.lasting(world.time, 60)
    world.time.run(
        lambda: behind_fences(
            world.ports(),
            clock,
            [(Site(REGION), SCOPE)],
            rolling_back,
            lambda posts: needs.append(posts[0].scan.needs("A")),
        )
    )
    assert needs == [True]


def test_of_two_that_would_go_on_with_the_same_work_one_gives_way() -> None:
    world = World()
    at_work: list[int] = []
    most: list[int] = []

    def work(posts: list[FencedStore]) -> None:
        at_work.append(1)
        most.append(len(at_work))
        world.work(posts[0], 5)
        at_work.pop()

    def go_on(chance: float) -> None:
        ports = world.ports(60)
        ports = Ports(ports.stores, ports.stacks, Patience(60, 2, lambda: chance), ports.token)
        behind_fences(ports, VirtualClock.lasting(world.time, 885), [(Site(REGION), SCOPE)], EXPORTER, work)

    world.time.run(partial(go_on, 0.1), partial(go_on, 0.9))
    assert most == [1, 1]


class SlowClock(VirtualClock):
    """Each call takes its time."""

    def before_call(self, action: str) -> None:  # noqa: ARG002
        self.sleep(LATENCY)


@pytest.mark.parametrize("count", [2, 8])
def test_however_many_meet_one_after_the_other_has_its_turn(count: int) -> None:
    """Reads show fences whose holders have given way by then, so those who put up theirs again and again never end."""
    world = World()
    world.ssm = LateSsm(REGION, "", Lateness(DEFAULT_LAG, lambda: world.time.seconds), clock=world.now)

    def meet(number: int) -> None:
        patience = Patience(PATIENCE.seconds, 2, Random(number).random)  # noqa: S311 (jitter)
        ports = replace(world.ports(), patience=patience, lag=ReadLag(DEFAULT_LAG))
        clock, holder = SlowClock.lasting(world.time, 885), FenceHolder(f"Export{number}", "", "", UNTIL)
        sites = [(Site(REGION), SCOPE), (Site(REGION), replace(SCOPE, consumer="shop"))]
        behind_fences(ports, clock, sites, holder, lambda posts: world.work(posts[0], 2))

    world.time.run(*[partial(meet, number) for number in range(count)])
    assert world.time.seconds < 20 * count
    assert world.fences == {}


@pytest.mark.parametrize(
    "who",
    [
        FenceHolder("More", "More of stack network", "request-1"),
        FenceHolder("Exports", "Exports of stack network", "forged", continues=True),
    ],
    ids=["another holder", "a continuation of another request"],
)
def test_nobody_else_takes_over_what_was_left(who: FenceHolder) -> None:
    world = World()

    def out_of_time() -> None:
        with pytest.raises(OutOfTimeError):
            world.behind(100, lasts=20)

    world.time.run(out_of_time)

    def other() -> None:
        with pytest.raises(ChangingError):
            world.behind(1, who)

    world.time.run(other)
    assert len(world.fences) == 1


def test_what_was_left_stays_until_others_see_the_new_fence() -> None:
    """A second delivery looks at once, and has no time to wait until it is seen itself."""
    world = World()

    def out_of_time(lasts: float, lag: float) -> Callable[[], None]:
        def work() -> None:
            ports = replace(world.ports(), lag=ReadLag(lag))
            clock = VirtualClock.lasting(world.time, lasts)
            with pytest.raises((OutOfTimeError, InvocationTimeoutError)):
                behind_fences(ports, clock, [(Site(REGION), SCOPE)], EXPORTER, lambda posts: world.work(posts[0], 100))

        return work

    world.time.run(out_of_time(20, 0))
    world.time.run(out_of_time(20, 10))
    assert len(world.fences) == 2


def test_giving_way_waits_for_no_lag() -> None:
    world = World()
    ports = replace(world.ports(), lag=ReadLag(10))
    other = OwnFence.of(ports, Site(REGION), SCOPE, FenceHolder("More", "More of stack network"))

    def give_way() -> None:
        clock = VirtualClock.lasting(world.time, 885)
        other.put_up(clock, Fence(other.holder.says, clock.now() + timedelta(seconds=90)))
        with pytest.raises(ChangingError):
            behind_fences(ports, clock, [(Site(REGION), SCOPE)], replace(EXPORTER, until=None), lambda _: None)

    world.time.run(give_way)
    assert world.time.seconds < 1


def test_a_list_without_ones_own_fence_is_out_of_date() -> None:
    world = World()
    clock = VirtualClock.lasting(world.time, 885)
    own = OwnFence.of(world.ports(), Site(REGION), SCOPE, EXPORTER)
    found = []

    def look() -> None:
        found.append(own.others(clock))
        own.put_up(clock, Fence(own.holder.says, clock.now() + timedelta(seconds=30)))
        found.append(own.others(clock))

    world.time.run(look)
    assert [each is None for each in found] == [False, True]


def test_what_is_noted_stays_small() -> None:
    looked = TagScan("request")
    for number in range(100):
        looked.note(f"Key{number:03d}", unclaimed=False)
    assert len(looked.exceptions) == MAX_EXCEPTIONS
    assert looked.upto == f"Key{MAX_EXCEPTIONS - 1:03d}"
    assert looked.needs("Key050")


@pytest.mark.parametrize("writes", [True, False])
def test_ctrl_c_takes_the_fence_away_unless_a_write_may_still_be_on_its_way(writes: bool) -> None:
    world = World()

    def interrupted(posts: list[FencedStore]) -> None:
        if writes:
            posts[0].store.create("/x", ParameterType.STRING, "x", {})
        raise KeyboardInterrupt

    def work() -> None:
        clock = VirtualClock.lasting(world.time, 885)
        ports = replace(world.ports(), lag=ReadLag(2.0))
        with pytest.raises(KeyboardInterrupt):
            behind_fences(ports, clock, [(Site(REGION), SCOPE)], EXPORTER, interrupted)

    world.time.run(work)
    assert bool(world.fences) is writes


def test_who_waits_is_told_for_whom_and_for_how_long_at_most() -> None:
    world = World()
    told: list[tuple[str, float]] = []

    def wait() -> None:
        world.time.sleep(1)
        ports = replace(world.ports(30), waits=lambda _, fence, left: told.append((fence.held_by, left)))
        behind_fences(ports, VirtualClock.lasting(world.time, 885), [(Site(REGION), SCOPE)], OTHER, lambda _: None)

    world.time.run(partial(world.behind, 10), wait)
    assert {who for who, _ in told} == {"Exports of stack network"}
    left = [seconds for _, seconds in told]
    assert 29 <= left[0] <= 30
    assert left == sorted(left, reverse=True)
    assert len(left) >= 4


def test_the_fences_of_one_region_are_one_queue_however_many_there_are() -> None:
    """A thread for each would be hundreds, where a consumer of many producers is cleaned."""
    world, other_region = World(), FakeSsm("eu-west-1")
    asked: list[list[int]] = []
    ports = world.ports()

    def side_by_side(queues: Sequence[Sequence[Callable[[], T]]]) -> list[list[T]]:
        asked.append([len(queue) for queue in queues])
        return in_turn(queues)

    def stores(region: str, clock: Clock) -> SsmStore:
        ssm = world.ssm if region == REGION else other_region
        store = SsmStore(ssm.as_client(), region, RateLimiter(RateLimits()), clock)
        store.side_by_side = side_by_side
        return store

    scopes = [replace(SCOPE, consumer=f"web{number}") for number in range(3)]
    sites = [(Site(region), scope) for scope in scopes for region in (REGION, "eu-west-1")]
    fenced = behind_fences(replace(ports, stores=stores), FakeClock(), sites, OTHER, lambda found: found)
    assert [each.store.region for each in fenced] == [site.region for site, _ in sites]
    assert max(asked) == [3, 3]
    assert max(map(len, asked)) == 2


class LateAnswers:
    """A store with one fence, whose answers take their time to arrive."""

    side_by_side = staticmethod(in_turn)

    def __init__(self, clock: FakeClock, fence: Fence, seconds: float) -> None:
        self.clock, self.seconds = clock, seconds
        self.fence = Parameter("x", ParameterType.STRING, fence.encode(), 1, clock.now().isoformat())
        self.deleted: list[str] = []

    def under(self, _path: str) -> dict[str, Parameter]:
        self.clock.sleep(self.seconds)
        return {"x": self.fence}

    def delete(self, names: Iterable[str]) -> None:
        self.deleted += names


READERS: dict[str, Callable[[LateAnswers], object]] = {
    "an import": lambda store: store.delete([] if live_fence(cast("Store", store), SCOPE, store.clock) else ["x"]),
    "a change": lambda store: OwnFence.of(
        replace(World().ports(), stores=lambda *_: cast("Store", store)), Site(REGION), SCOPE, OTHER
    ).others(store.clock, at_first=True),
    "the janitor": lambda store: list(
        Janitor(World().ports(), REGION, "1")._expired(cast("Store", store), store.clock)
    ),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("before", "seconds"), [(LIFETIME.total_seconds() + CLOCK_SKEW_SECONDS - 0.1, 0), (80, 60)], ids=["skew", "late"]
)
def test_a_fence_is_judged_by_the_earliest_time_at_which_it_may_have_been_read(
    before: float, seconds: float, reader: str
) -> None:
    """It may have been renewed since, and its reader's clock may be ahead."""
    clock = FakeClock()
    store = LateAnswers(clock, Fence("somebody", clock.now() + LIFETIME, lifetime=LIFETIME), seconds)
    clock.sleep(before)
    READERS[reader](store)
    assert store.deleted == []
    clock.sleep(30)
    READERS[reader](store)
    assert store.deleted == ["x"]


def test_a_fence_that_is_let_expire_stands_no_longer_than_reads_and_clocks_are_off() -> None:
    world, lag = World(), ReadLag(2.0)
    clock = VirtualClock.lasting(world.time, 885)
    own = OwnFence.of(world.ports(), Site(REGION), SCOPE, EXPORTER)
    store = world.ports().stores(REGION, clock)
    stood: list[float] = []

    def look() -> None:
        own.let_expire(clock, lag)
        began = world.time.seconds
        while live_fence(store, SCOPE, clock):
            stood.append(world.time.seconds - began)

    world.time.run(look)
    assert lag.seconds + CLOCK_SKEW_SECONDS < stood[-1] < lag.after_writing + CLOCK_SKEW_SECONDS + 2 * LATENCY


def test_a_clock_that_is_corrected_meanwhile_does_not_shorten_the_wait() -> None:
    class Corrected(FakeClock):
        ahead = timedelta(0)

        def now(self) -> datetime:
            return super().now() + self.ahead

    clock, lag = Corrected(), ReadLag(2.0)
    ssm = FakeSsm(REGION, clock=clock.now, before_call=lambda *_: setattr(clock, "ahead", clock.ahead + SECOND))
    limiter = RateLimiter(RateLimits())
    ports = replace(World().ports(), stores=lambda *at: SsmStore(ssm.as_client(), at[0], limiter, at[1]), lag=lag)
    behind_fences(ports, clock, [(Site(REGION), SCOPE)], OTHER, lambda _: None)
    assert sum(clock.slept) >= lag.before_reading
