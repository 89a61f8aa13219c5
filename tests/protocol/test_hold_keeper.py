"""What a hold keeper does, step by step: no Parameter Store, and a CloudFormation of two stacks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import Mock

import pytest

from strongref.contract.hold_stacks import DIGEST, HoldStack, digest
from strongref.contract.names import StackArn, claim_tag
from strongref.errors import OutOfTimeError, StackLookupError, WaitInterruptedError
from strongref.protocol.hold_keeper import PAUSE, HoldKeeper, OwnStacks
from strongref.protocol.hold_steps import HoldStep
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import NewStack, Ports, StackInfo
from strongref.protocol.time import Patience
from strongref.refusals import HoldFailedError, HoldPendingError, ProducerLeavingError
from tests.support.builders import NETWORK, SCOPE, WEB
from tests.support.fake_ssm import EPOCH, FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable

OUTPUT = "network-Exports"
HOLDS = {OUTPUT: NETWORK}
HOLD = HoldStack.of_import(StackArn.parse(WEB), claim_tag("import"), SCOPE)
ARN = "arn of the hold stack"

PRODUCER = StackInfo(NETWORK, "network", "CREATE_COMPLETE", NETWORK, exports=frozenset([OUTPUT]))
UPDATING = replace(PRODUCER, status="UPDATE_IN_PROGRESS", exports=frozenset())
LEAVING = replace(PRODUCER, status="DELETE_IN_PROGRESS")
MADE = StackInfo(ARN, HOLD.name, "CREATE_COMPLETE", ARN, outputs={DIGEST: digest(HOLDS)}, tags=HOLD.tags)
MAKING, GOING, FAILED = (
    replace(MADE, status=each) for each in ("CREATE_IN_PROGRESS", "DELETE_IN_PROGRESS", "CREATE_FAILED")
)
OTHER = replace(MADE, outputs={})


@dataclass
class World:
    """The producer and the hold stack; what is called is noted, and changes nothing by itself."""

    hold: StackInfo | None = None
    producer: StackInfo | None = PRODUCER
    lag: float = 0.0
    clock: FakeClock = field(default_factory=FakeClock)
    calls: list[tuple[str, str]] = field(default_factory=list)

    def by_arn(self, arn: str) -> StackInfo | None:
        assert arn == NETWORK
        return self.producer

    def by_name(self, name: str, _region: str) -> StackInfo | None:
        assert name == HOLD.name
        return self.hold

    def importing_stacks(self, *_export: str) -> frozenset[str]:
        return frozenset([HOLD.name])

    def create_stack(self, stack: NewStack) -> str:
        self.calls.append(("create", stack.name))
        return ""

    def update_stack(self, stack: NewStack) -> None:
        self.calls.append(("update", stack.name))

    def delete_stack(self, stack: str, _region: str) -> None:
        self.calls.append(("delete", stack))

    def failure(self, arn: str) -> str:
        assert arn == ARN
        return "its reason"

    def keeper(self, **given: Any) -> HoldKeeper:
        ports = Ports(cast("Any", None), cast("Any", self), Patience(0, 0, lambda: 0.5), lambda: "", ReadLag(self.lag))
        return HoldKeeper(ports, self.clock, HOLD, **given)


CREATE, UPDATE, DELETE, DELETE_NAMED = (
    ("create", HOLD.name),
    ("update", HOLD.name),
    ("delete", ARN),
    ("delete", HOLD.name),
)


@pytest.mark.parametrize(
    ("hold", "holds", "step", "calls"),
    [
        pytest.param(None, HOLDS, HoldStep.CREATE, [CREATE], id="none yet"),
        pytest.param(MAKING, HOLDS, HoldStep.WAIT, [], id="being made"),
        pytest.param(MADE, HOLDS, HoldStep.NONE, [], id="made"),
        pytest.param(OTHER, HOLDS, HoldStep.UPDATE, [UPDATE], id="another one"),
        pytest.param(FAILED, HOLDS, HoldStep.REPLACE, [DELETE], id="failed"),
        pytest.param(None, {}, HoldStep.NONE, [], id="none, and none is needed"),
        pytest.param(MADE, {}, HoldStep.REPLACE, [DELETE], id="made, and not needed"),
        pytest.param(GOING, {}, HoldStep.REPLACE, [], id="not needed, and being deleted"),
    ],
)
def test_a_keeper_takes_one_step(
    hold: StackInfo | None, holds: dict[str, str], step: HoldStep, calls: list[tuple[str, str]]
) -> None:
    world = World(hold)
    assert (world.keeper().begin(holds), world.calls) == (step, calls)


@pytest.mark.parametrize(
    ("hold", "holds", "step"),
    [
        pytest.param(None, HOLDS, HoldStep.CREATE, id="none yet"),
        pytest.param(MADE, HOLDS, HoldStep.NONE, id="made"),
        pytest.param(None, {}, HoldStep.NONE, id="none, and none is needed"),
        pytest.param(MADE, {}, HoldStep.REPLACE, id="made, and not needed"),
        pytest.param(GOING, {}, HoldStep.NONE, id="not needed, and being deleted"),
    ],
)
def test_a_look_shows_the_step_and_takes_none(hold: StackInfo | None, holds: dict[str, str], step: HoldStep) -> None:
    world = World(hold)
    assert (world.keeper().look(holds), world.calls) == (step, [])


@pytest.mark.parametrize("hold", [None, OTHER, MAKING])
def test_a_look_asks_about_producers_only_where_a_step_needs_them(hold: StackInfo | None) -> None:
    keeper = World(hold, UPDATING).keeper(waits_for_producers=False)
    if hold is MAKING:
        assert keeper.look(HOLDS) is HoldStep.WAIT
    else:
        with pytest.raises(HoldPendingError):
            keeper.look(HOLDS)


@pytest.mark.parametrize("waits", [True, False])
def test_only_who_waits_for_producers_goes_on_while_one_is_in_progress(waits: bool) -> None:
    world = World(producer=UPDATING)
    keeper = world.keeper(waits_for_producers=waits)
    if waits:
        assert keeper.begin(HOLDS) is HoldStep.CREATE
    else:
        with pytest.raises(HoldPendingError):
            keeper.begin(HOLDS)
    assert world.calls == []


@pytest.mark.parametrize(
    ("producer", "is_effective"), [(PRODUCER, True), (UPDATING, True), (LEAVING, False), (None, False)]
)
def test_a_hold_protects_nothing_of_a_producer_that_is_leaving(producer: StackInfo | None, is_effective: bool) -> None:
    assert World(MADE, producer).keeper().is_effective(HOLDS) is is_effective


def test_nothing_of_a_producer_that_is_gone_is_held() -> None:
    with pytest.raises(ProducerLeavingError, match="deleted"):
        World(producer=None).keeper().begin(HOLDS)


def test_an_export_of_a_moment_ago_is_looked_for_again() -> None:
    world = World(producer=replace(PRODUCER, exports=frozenset()), lag=2.0)

    def show(_slept: float) -> None:
        world.producer = PRODUCER

    world.clock.on_sleep = show
    world.keeper().begin(HOLDS)
    assert (world.calls, world.clock.slept) == ([CREATE], [2.5])


def test_what_was_created_within_the_lag_is_not_created_again() -> None:
    world = World(lag=2.0)
    keeper = world.keeper()
    for calls, seconds in ((1, 2), (1, 2), (2, 0)):
        keeper.begin(HOLDS)
        assert world.calls == [CREATE] * calls
        world.clock.sleep(seconds)


def test_lists_are_waited_for_again_once_the_hold_stack_is_another_one() -> None:
    """Or has been updated: until then, they may show what it imported before."""
    world = World(lag=2.0)
    keeper = world.keeper()
    for hold, waits in ((MADE, 1), (MADE, 1), (replace(MADE, updated="2"), 2), (replace(MADE, arn="new"), 3)):
        world.hold = hold
        assert keeper.is_effective(HOLDS)
        assert world.clock.slept == [2.5] * waits


def finished(world: World, after: float) -> Callable[[float], None]:
    """The producer's update ends after so many seconds."""

    def show(slept: float) -> None:
        world.producer = PRODUCER if slept >= after else world.producer
        world.hold = MADE if world.calls else world.hold

    return show


@pytest.mark.parametrize(("after", "asks"), [(0, False), (2, False), (4, True), (8, True)])
def test_who_has_waited_for_longer_than_reads_lag_asks_whether_anybody_waits_for_it(after: float, asks: bool) -> None:
    world, given_up = World(producer=UPDATING if after else PRODUCER, lag=2.0), Mock(return_value=False)
    world.clock.on_sleep = finished(world, after)
    world.keeper(until=EPOCH + timedelta(minutes=1), is_given_up=given_up).make(HOLDS)
    assert (given_up.called, world.calls) == (asks, [CREATE])


def test_who_may_not_wait_reports_at_once_what_it_would_wait_for() -> None:
    world = World(MAKING)
    for until in (None, EPOCH):
        with pytest.raises(HoldPendingError):
            world.keeper(until=until).make(HOLDS)
    world.clock = FakeClock(PAUSE)
    with pytest.raises(WaitInterruptedError):
        world.keeper(until=EPOCH + timedelta(minutes=1)).make(HOLDS)
    assert world.clock.slept == []


@pytest.mark.parametrize(("until", "seconds"), [(None, 60), (10, 10), (600, 60)])
def test_who_hurries_waits_for_no_longer_than_before(until: float | None, seconds: float) -> None:
    keeper = World().keeper(until=until and EPOCH + timedelta(seconds=until)).hurried()
    assert (keeper.until, keeper.waits_for_producers) == (EPOCH + timedelta(seconds=seconds), False)


def test_a_hold_that_fails_is_tried_again_and_then_reported_with_the_reason() -> None:
    world = World(OTHER, clock=FakeClock(10_000))
    with pytest.raises(HoldFailedError, match="its reason"):
        world.keeper(until=EPOCH + timedelta(hours=1)).make(HOLDS)
    assert set(world.calls) == {UPDATE}


def test_one_that_was_never_made_has_no_reason() -> None:
    with pytest.raises(HoldFailedError, match="See its events"):
        World(clock=FakeClock(10_000)).keeper(until=EPOCH + timedelta(hours=1)).make(HOLDS)


@pytest.mark.parametrize(
    ("hold", "expected", "calls"), [(None, False, []), (None, True, [DELETE_NAMED]), (MADE, False, [DELETE])]
)
def test_what_may_exist_is_deleted(hold: StackInfo | None, expected: bool, calls: list[tuple[str, str]]) -> None:
    world = World(hold, clock=FakeClock(PAUSE))
    assert world.keeper().delete(expected=expected) is hold
    assert (world.calls, world.clock.slept) == (calls, [])


@pytest.mark.parametrize(
    ("hold", "retry", "again"), [(MADE, True, 29), (MADE, False, 0), (GOING, True, 0), (None, True, 0)]
)
def test_a_deletion_is_waited_for_and_begun_again_if_it_did_not_begin(
    hold: StackInfo | None, retry: bool, again: int
) -> None:
    world = World(hold)
    assert world.keeper().wait_until_deleted(retry=retry) is hold
    assert world.calls == [DELETE] * again
    assert sum(world.clock.slept) == (60 if hold else 0)


def test_nothing_is_deleted_when_the_time_for_changes_is_over() -> None:
    world = World(MADE, clock=FakeClock(0))
    with pytest.raises(OutOfTimeError):
        world.keeper().begin({})
    assert world.calls == []


def test_a_hold_that_was_seen_may_exist_whatever_a_later_look_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(MADE)
    keeper = world.keeper()
    assert keeper.may_exist()
    world.hold = None
    assert keeper.may_exist()
    assert not world.keeper().may_exist()

    def fail(*_stack: str) -> None:
        raise StackLookupError(ARN, "eu-west-1", "AccessDenied")

    monkeypatch.setattr(world, "by_name", fail)
    assert world.keeper().may_exist()


def test_the_stacks_around_an_import_are_looked_up_once() -> None:
    parents = {"leaf": "middle", "middle": "root", "root": ""}
    looked: list[str] = []

    def look_up(arn: str) -> StackInfo:
        looked.append(arn)
        return StackInfo(arn, arn, "CREATE_COMPLETE", "root", parent_arn=parents[arn])

    own = OwnStacks(look_up, "leaf")
    assert [each in own for each in ("leaf", "middle", "root", "other")] == [True, True, True, False]
    assert looked == ["leaf", "middle", "root"]
