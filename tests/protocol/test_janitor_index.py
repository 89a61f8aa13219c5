"""What the janitor does about the index, rule by rule: the stores are in memory, and CloudFormation is a dict."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest
from botocore.exceptions import ClientError

from strongref.contract.fence import Fence
from strongref.contract.index import DROPPED, FORGOTTEN, Place, encode_hold, encode_place, index_name, path_of
from strongref.contract.names import ExportScope, Producer, StackArn
from strongref.contract.record import Record, encode, part_name
from strongref.protocol.behind_fences import FencedStore
from strongref.protocol.findings import Finding, FindingType, Repairs
from strongref.protocol.inspection import TagInspector
from strongref.protocol.janitor import Janitor
from strongref.protocol.janitor_index import IndexTender
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports, StackInfo
from strongref.protocol.stored_exports import physical_id
from strongref.protocol.time import Patience
from tests.support.builders import ACCOUNT, NETWORK, SCOPE, record, stack_arn
from tests.support.cloud import Cloud
from tests.support.fake_ssm import EPOCH

if TYPE_CHECKING:
    from collections.abc import Callable

EU, US, AP = "eu-west-1", "us-east-1", "ap-southeast-2"
OTHER_ACCOUNT = "222222222222"
IN_US, IN_AP = Place(ACCOUNT, US, "web"), Place(ACCOUNT, AP, "web")
NAME = index_name("network", "Exports")
BASE = stack_arn("base", EU)
RESTING = StackInfo(NETWORK, "network", "UPDATE_COMPLETE", NETWORK, updated="1")
AT_WORK = replace(RESTING, status="UPDATE_IN_PROGRESS")
FENCE = f"{SCOPE.path('fences')}/Exports.1"
WRONG = [Finding(FindingType.INDEX_ENTRY, NAME, (NETWORK,))]


@dataclass
class World:
    """An index that names these places, and nothing else; the producer's stack is at rest."""

    places: tuple[Place, ...] = (IN_US,)
    stacks: dict[str, StackInfo] = field(default_factory=lambda: {NETWORK: RESTING})
    lag: float = 0.0
    repairs: bool = True
    cloud: Cloud = field(default_factory=Cloud)

    def __post_init__(self) -> None:
        for place in self.places:
            self.name(place)

    def by_arn(self, arn: str) -> StackInfo | None:
        return self.stacks.get(arn)

    def by_name(self, *_stack: str) -> StackInfo | None:
        return None

    def physical_ids(self, _arn: str) -> frozenset[str]:
        """The Export is still in its stack."""
        return frozenset([physical_id(StackArn.parse(NETWORK), "Exports")])

    def put(self, region: str, name: str, text: str) -> None:
        self.cloud.ssm(region).put_parameter(Name=name, Type="String", Value=text, Overwrite=True)

    def name(self, place: Place, kind: str = "", *, stack: str = NETWORK, at: str = NAME, later: float = 0) -> None:
        self.put(EU, f"{at}{path_of(place, kind)}", encode_place(stack, EPOCH + timedelta(seconds=later)))

    def record(self, what: Record, region: str = US) -> None:
        (part,) = encode(what, frozenset())
        self.put(region, part_name(SCOPE, "Exports", part.number), part.text)

    def fence(self, region: str) -> None:
        lifetime = timedelta(minutes=10)
        text = Fence("somebody", self.cloud.clock.now() + lifetime, lifetime=lifetime).encode()
        self.put(region, FENCE, text)

    def fail(self, region: str, code: str = "AccessDeniedException", action: str = "") -> None:
        def before(called: str, _request: dict[str, Any]) -> None:
            if called.startswith(action):
                raise ClientError({"Error": {"Code": code, "Message": ""}}, called)

        self.cloud.ssm(region).before_call = before

    def meanwhile(self, happens: Callable[[], object]) -> None:
        """Let something happen between two looks."""

        def once(_slept: float) -> None:
            self.cloud.clock.on_sleep = lambda _: None
            happens()

        self.lag, self.cloud.clock.on_sleep = 2.0, once

    @property
    def ports(self) -> Ports:
        patience = Patience(5, 2, lambda: 0.5)
        return Ports(self.cloud.stores, cast("Any", self), patience, self.cloud.token, ReadLag(self.lag))

    def tender(self, region: str = EU) -> IndexTender:
        return IndexTender(self.ports, region, ACCOUNT, self.cloud.clock, repairs=self.repairs)

    def correct(self) -> list[Finding]:
        return list(self.tender().correct())

    @property
    def index(self) -> list[str]:
        """What is left of it, by what follows the Export's own parameter."""
        return [f"/{name}".removeprefix(NAME) for name in self.cloud.texts(EU) if "index/" in name]


def test_a_place_without_a_record_is_removed() -> None:
    world = World()
    assert (world.correct(), world.index) == (WRONG, [])
    assert world.cloud.clock.slept == []


def test_what_is_right_is_looked_at_once() -> None:
    world = World(lag=2.0)
    world.record(record(A="1"))
    assert (world.correct(), world.index) == ([], [path_of(IN_US)])
    assert world.cloud.clock.slept == []


def test_who_only_looks_changes_nothing_and_needs_no_fence() -> None:
    for stacks in ({NETWORK: RESTING}, {}):
        world = World(stacks=dict(stacks), repairs=False)
        world.fence(US)
        assert (world.correct(), world.index) == (WRONG, [path_of(IN_US)])
        assert {action for action, _ in world.cloud.calls} <= {"GetParametersByPath", "PutParameter"}
        assert [name for name in world.cloud.texts(US) if "fences/" in name] == [FENCE.removeprefix("/")]


@pytest.mark.parametrize("repairs", [True, False])
@pytest.mark.parametrize(
    "happens",
    [
        pytest.param(lambda world: world.record(record(A="1")), id="its record is there"),
        pytest.param(lambda world: world.name(IN_US, later=5), id="an update begins to write"),
        pytest.param(lambda world: world.stacks.clear(), id="its stack goes"),
        pytest.param(
            lambda world: world.stacks.update({NETWORK: replace(RESTING, updated="2")}), id="an update has ended"
        ),
        pytest.param(
            lambda world: world.stacks.update({NETWORK: replace(RESTING, status="DELETE_IN_PROGRESS")}),
            id="its deletion begins",
        ),
    ],
)
def test_two_looks_have_to_agree(happens: Callable[[World], object], repairs: bool) -> None:
    world = World(repairs=repairs)
    world.meanwhile(lambda: happens(world))
    assert (world.correct(), world.index) == ([], [path_of(IN_US)])


def test_a_stack_at_work_may_still_publish_to_what_it_named() -> None:
    world = World(stacks={NETWORK: AT_WORK})
    world.meanwhile(lambda: world.stacks.update({NETWORK: RESTING}))
    assert world.correct() == []
    world = World(stacks={NETWORK: AT_WORK})
    world.name(IN_AP)
    world.stacks[BASE] = replace(RESTING, arn=BASE)
    base = index_name("base", "Exports")
    world.name(IN_US, at=base, stack=BASE)
    world.meanwhile(lambda: world.stacks.update({NETWORK: RESTING}))
    assert [each.parameter for each in world.correct()] == [base]


@pytest.mark.parametrize("stacks", [{NETWORK: RESTING}, {}], ids=["at rest", "gone"])
def test_a_place_where_somebody_is_at_work_is_left_for_the_next_run(stacks: dict[str, StackInfo]) -> None:
    world = World(stacks=dict(stacks))
    world.fence(US)
    assert (world.correct(), world.index) == ([], [path_of(IN_US)])


def test_a_fence_elsewhere_is_in_the_way_of_a_whole_entry_alone() -> None:
    for stacks, is_left in (({NETWORK: RESTING}, False), ({}, True)):
        world = World((IN_US, IN_AP), dict(stacks))
        world.record(record(A="1"), AP)
        world.fence(AP)
        assert (path_of(IN_US) in world.index, world.correct()) == (True, [] if is_left else WRONG)
        assert (path_of(IN_US) in world.index) is is_left


@pytest.mark.parametrize(("fenced", "is_left"), [(None, False), (US, True)])
def test_where_nobody_can_publish_no_fence_is_needed(fenced: str | None, is_left: bool) -> None:
    world = World((IN_US, IN_AP), {})
    world.fail(AP)
    if fenced:
        world.fence(fenced)
    assert world.correct() == ([] if is_left else WRONG)
    assert bool(world.index) is is_left


@pytest.mark.parametrize(
    ("region", "code", "action"),
    [(AP, "ValidationException", ""), (EU, "AccessDeniedException", "DeleteParameters")],
    ids=["a region that fails", "the index"],
)
def test_what_fails_for_another_reason_is_reported(region: str, code: str, action: str) -> None:
    world = World((IN_US, IN_AP), {})
    world.fail(region, code, action)
    assert [each.kind for each in world.correct()] == [FindingType.FAILED_CALL]
    assert world.index


def test_another_accounts_places_stay_named_also_without_the_stack() -> None:
    """Only they say where its values are."""
    there = Place(OTHER_ACCOUNT, AP, "web")
    world = World((there, IN_US), {})
    world.cloud.ssm(AP).before_call = lambda *_: pytest.fail("it is called")
    assert (world.correct(), world.index) == (WRONG, [path_of(there)])


def test_a_record_that_cannot_be_read_may_be_the_exports() -> None:
    world = World()
    world.put(US, part_name(SCOPE, "Exports", 0), "torn")
    assert world.correct() == []


@pytest.mark.parametrize("forgotten", [True, False])
def test_what_cannot_be_read_is_reported_unless_a_person_gave_it_up(forgotten: bool) -> None:
    world = World()
    world.fail(US)
    if forgotten:
        world.name(IN_US, FORGOTTEN)
    assert [each.kind for each in world.correct()] == ([] if forgotten else [FindingType.FAILED_CALL])
    assert path_of(IN_US) in world.index


@pytest.mark.parametrize("stack", [BASE, "no ARN"])
def test_an_entry_of_another_stack_than_its_name_says_is_not_ours(stack: str) -> None:
    world = World((), {})
    world.name(IN_US, stack=stack)
    assert (world.correct(), world.index) == ([], [path_of(IN_US)])


# -- what is missing ---------------------------------------------------------------------------------------------------

HELD = replace(record(A="1"), hold="H")
OF_ANOTHER = ExportScope("web", Producer(OTHER_ACCOUNT, EU, "network"))


@pytest.mark.parametrize(("what", "names"), [(record(A="1"), [path_of(IN_US)]), (HELD, ["", path_of(IN_US)])])
def test_a_place_with_a_record_is_added(what: Record, names: list[str]) -> None:
    world = World(())
    assert list(world.tender(US).add_missing(SCOPE, {"Exports": what})) == WRONG
    assert world.index == names
    assert list(world.tender(US).add_missing(SCOPE, {"Exports": what})) == []


def test_a_hold_that_an_entry_lacks_is_added() -> None:
    world = World()
    world.put(EU, NAME, encode_hold(NETWORK, "former"))
    assert list(world.tender(US).add_missing(SCOPE, {"Exports": HELD})) == WRONG
    assert world.cloud.texts(EU)[NAME[1:]] == encode_hold(NETWORK, "H")


def test_a_place_that_was_named_since_the_index_was_listed_is_not_missing() -> None:
    world = World(())
    tender = world.tender(EU)
    assert list(tender.correct()) == []
    in_eu = Place(ACCOUNT, EU, "web")
    world.name(in_eu)
    assert list(tender.add_missing(SCOPE, {"Exports": record(A="1")})) == []


def test_another_accounts_exports_have_no_entry_here() -> None:
    world = World(())
    assert list(world.tender(US).add_missing(OF_ANOTHER, {"Exports": record(A="1")})) == []
    assert world.index == []


# -- what was dropped --------------------------------------------------------------------------------------------------


def dropped(world: World, scope: ExportScope = SCOPE) -> set[tuple[str, str]]:
    return world.tender(US).dropped(Place(ACCOUNT, US, scope.consumer), scope, TagInspector(cast("Any", world)))


@pytest.mark.parametrize(("stack", "is_dropped"), [(RESTING, True), (AT_WORK, False), (None, False)])
def test_what_a_stack_at_rest_has_left_is_dropped(stack: StackInfo | None, is_dropped: bool) -> None:
    world = World(stacks={NETWORK: stack} if stack else {})
    assert dropped(world) == set()
    world.name(IN_US, DROPPED)
    assert dropped(world) == ({("Exports", NETWORK)} if is_dropped else set())


def test_what_others_have_left_is_not() -> None:
    world = World(stacks={NETWORK: RESTING, BASE: replace(RESTING, arn=BASE)})
    world.name(IN_US, DROPPED, at=index_name("base", "Exports"), stack=BASE)
    assert dropped(world) == set()
    world.name(IN_US, DROPPED)
    assert dropped(world, OF_ANOTHER) == set()


@pytest.mark.parametrize(
    ("before", "now", "left", "is_dropped"),
    [
        pytest.param(RESTING, RESTING, [IN_US], True, id="left, and at rest"),
        pytest.param(RESTING, RESTING, [IN_AP], False, id="another place"),
        pytest.param(RESTING, RESTING, [], False, id="not named anymore"),
        pytest.param(RESTING, AT_WORK, [IN_US], False, id="at work now"),
        pytest.param(RESTING, replace(RESTING, updated="2"), [IN_US], False, id="updated meanwhile"),
        pytest.param(RESTING, None, [IN_US], False, id="gone now"),
        pytest.param(None, RESTING, [IN_US], False, id="not there before"),
    ],
)
def test_what_was_dropped_is_so_for_two_looks(
    before: StackInfo | None, now: StackInfo | None, left: list[Place], is_dropped: bool
) -> None:
    world, exports = World((), {NETWORK: before} if before else {}), {("Exports", NETWORK)}
    first = TagInspector(cast("Any", world))
    first.info(NETWORK)
    world.stacks = {NETWORK: now} if now else {}
    for place in left:
        world.name(place, DROPPED)
    at = FencedStore(world.cloud.stores(US, world.cloud.clock), world.cloud.clock)
    seen, _ = Janitor(world.ports, US, ACCOUNT)._look_again(at, SCOPE, Repairs(dropped=exports), first)
    assert seen.dropped == (exports if is_dropped else set())
