"""What an Export's event does about its places, rule by rule: the stores are in memory, and CloudFormation is given."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import pytest
from botocore.exceptions import ClientError

from strongref.contract.event import RequestType
from strongref.contract.fence import Fence
from strongref.contract.index import (
    DENIED,
    DROPPED,
    FORGOTTEN,
    IndexEntry,
    Place,
    encode_hold,
    encode_place,
    index_name,
    path_of,
)
from strongref.contract.names import Key, Site
from strongref.contract.record import RequestStamp, encode, part_name
from strongref.errors import AccessDeniedError, InvocationTimeoutError, OutdatedRequestError, StoreError
from strongref.protocol.export_event import ExportEvent
from strongref.protocol.export_index import ExportIndex
from strongref.protocol.lag import MustWaitError, ReadLag
from strongref.protocol.phases import Phase
from strongref.protocol.plan import Delete, ExportPlan, WriteRecord
from strongref.protocol.ports import Ports, ResourceInfo, StackInfo
from strongref.protocol.snapshot import Destination, Snapshot
from strongref.protocol.time import Patience
from strongref.protocol.unreached import EventPlaces, note_denied
from tests.protocol.test_newer_formats import NEWER
from tests.support.builders import ACCOUNT, NETWORK, SCOPE, WEB, ours, record, stock, values
from tests.support.cloud import Cloud
from tests.support.cloudformation.requests import SIGNED_FORMAT, ResourceRequest
from tests.support.fake_ssm import EPOCH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from strongref.aws.parameter_store import SsmStore
    from strongref.contract.values import Value
    from strongref.protocol.time import Clock

T = TypeVar("T")

EU, US, AP = "eu-west-1", "us-east-1", "ap-southeast-2"
IN_US, IN_AP = Place(ACCOUNT, US, "web"), Place(ACCOUNT, AP, "web")
NAME = index_name("network", "Exports")
SENT = EPOCH - timedelta(seconds=3)
CREATE, UPDATE, DELETE = RequestType
UPDATING, ROLLING_BACK, DELETING = "UPDATE_IN_PROGRESS", "UPDATE_ROLLBACK_IN_PROGRESS", "DELETE_IN_PROGRESS"
A, NOTHING = values(A="1"), values()
KEY = Key("A")


@dataclass
class World:
    """CloudFormation, where the Export is in progress as its events say; and stores in which nothing is stored yet."""

    status: str | None = UPDATING
    resource_status: str | None = UPDATING
    changed: datetime | None = None
    lag: float = 0.0
    cloud: Cloud = field(default_factory=Cloud)

    def by_arn(self, arn: str) -> StackInfo | None:
        return StackInfo(arn, "network", self.status, arn) if self.status else None

    def resource(self, *_resource: str) -> ResourceInfo | None:
        status = self.resource_status
        return ResourceInfo("Custom::CrossRegionExport", status, "x", self.changed) if status else None

    def places(
        self, kind: RequestType = UPDATE, *, hold: str = "", wanted: Mapping[str, str] | None = None, **regions: Any
    ) -> EventPlaces:
        """Those of an event that publishes to the US and AP."""
        given: dict[str, Any] = {
            "Region": [US, AP],
            "Consumer": "web",
            "Values": {"A": "1"} if wanted is None else wanted,
        }
        given |= {"Hold": hold} if hold else {}
        old = {**given, **regions} if kind is UPDATE else None
        request = ResourceRequest(kind, NETWORK, "Exports", given, "" if kind is CREATE else "x", old)
        event = request.event("1", signed=SENT.strftime(SIGNED_FORMAT))
        export = ExportEvent.parse(event)
        stores = cast("Any", self.cloud.stores)
        ports = Ports(stores, cast("Any", self), Patience(5, 2, lambda: 0.5), self.cloud.token, ReadLag(self.lag))
        return EventPlaces(ports, event, export, self.cloud.clock, [*export.destinations], IndexEntry(NETWORK))

    def put(self, region: str, name: str, text: str) -> None:
        self.cloud.ssm(region).put_parameter(Name=name, Type="String", Value=text, Overwrite=True)

    def name(self, place: Place, kind: str = "", at: datetime = EPOCH, **more: Any) -> None:
        self.put(EU, f"{NAME}{path_of(place, kind)}", encode_place(NETWORK, at, **more))

    def export(self, region: str, text: str, stack: str = NETWORK, last: RequestStamp | None = None) -> None:
        """Store a value and its record."""
        (part,) = encode(replace(record(stack, A=text), last=last), frozenset())
        self.put(region, part_name(SCOPE, "Exports", part.number), part.text)
        self.put(region, SCOPE.parameter_name(KEY), text)

    def deny(self, region: str, *actions: str) -> None:
        def before(called: str, _request: dict[str, Any]) -> None:
            if called in actions or not actions:
                raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": ""}}, called)

        self.cloud.ssm(region).before_call = before

    def forbid(self, region: str) -> None:
        self.cloud.ssm(region).before_call = lambda *call: pytest.fail(f"{call} is called")

    @property
    def index(self) -> dict[str, str]:
        """What it says, by what follows the Export's own parameter."""
        return {f"/{name}".removeprefix(NAME): text for name, text in self.cloud.texts(EU).items() if "index/" in name}


def out(region: str = AP) -> StoreError:
    return AccessDeniedError("PutParameter", "AccessDeniedException", "name", region)


def at(place: Place, wanted: Mapping[Key, Value] = A, *, residual: bool = False) -> Destination:
    return Destination(Site(place.region), SCOPE, wanted, is_residual=residual)


NO_PLAN = ExportPlan(SCOPE)
WRITES = ExportPlan(SCOPE, (WriteRecord("Exports", record(A="1"), frozenset()),))
UNSEEN = ExportPlan(SCOPE, unseen=(Delete((KEY,)),))

# -- which are left out ------------------------------------------------------------------------------------------------


def test_the_places_of_a_region_that_is_out_of_reach_are_left_out_alone() -> None:
    places = World(ROLLING_BACK).places()
    places.go_on_without(out())
    assert [each.site.region for each in places.visited] == [US]
    assert [each.site.region for each, _ in places.unreached] == [AP]


@pytest.mark.parametrize("error", [out(EU), StoreError("PutParameter", "ValidationException", "name", AP)])
def test_an_error_of_another_kind_or_region_fails_the_event(error: StoreError) -> None:
    with pytest.raises(StoreError):
        World(ROLLING_BACK).places().go_on_without(error)


@pytest.mark.parametrize("kind", [UPDATE, DELETE])
def test_an_event_that_has_begun_to_write_fails(kind: RequestType) -> None:
    places = World(ROLLING_BACK if kind is UPDATE else DELETING).places(kind)
    places.has_begun = True
    with pytest.raises(StoreError):
        places.go_on_without(out())


@pytest.mark.parametrize(
    ("stored", "fence", "is_right"),
    [("1", 0, True), ("1", -1, True), ("1", 1, False), ("2", 0, False), (None, 0, False)],
)
def test_a_rollback_needs_no_fence_where_all_is_right(stored: str | None, fence: int, is_right: bool) -> None:
    """Unless somebody else may be at work: another one's fence stands, or has expired."""
    world, hours = World(ROLLING_BACK), timedelta(hours=fence)
    if stored:
        world.export(AP, stored)
    if fence:
        text = Fence("somebody", EPOCH + hours, lifetime=hours).encode()
        world.put(AP, f"{SCOPE.path('fences')}/Exports.1", text)
    places = world.places()
    places.go_on_without(out())
    assert bool(places.unreached) is not is_right


def test_only_a_rollback_goes_by_what_can_be_read() -> None:
    places = World(DELETING).places(DELETE)
    places.go_on_without(out())
    assert [each.site.region for each, _ in places.unreached] == [AP]


# -- what is noted about them ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "forgotten", "residual", "was_dropped", "is_dropped"),
    [
        (NOTHING, True, False, False, True),
        (A, True, False, True, False),
        (A, True, False, False, False),
        (NOTHING, True, True, False, False),
        (NOTHING, False, False, False, False),
    ],
)
def test_a_forgotten_place_that_is_left_is_noted_as_dropped(
    wanted: Mapping[Key, Value], forgotten: bool, residual: bool, was_dropped: bool, is_dropped: bool
) -> None:
    world = World(ROLLING_BACK)
    for kind in [FORGOTTEN] * forgotten + [DROPPED] * was_dropped:
        world.name(IN_AP, kind)
    places = world.places()
    places.read_index(world.cloud.clock)
    places.unreached = [(at(IN_AP, wanted, residual=residual), out())]
    world.cloud.ssm(EU).before_call = lambda *call: world.cloud.calls.append(call)
    world.cloud.calls.clear()
    places.note_dropped(world.cloud.clock)
    assert (path_of(IN_AP, DROPPED) in world.index) is is_dropped
    assert ("PutParameter" in {action for action, _ in world.cloud.calls}) is is_dropped


@pytest.mark.parametrize(("status", "is_noted"), [(UPDATING, True), (ROLLING_BACK, False), (None, False)])
def test_what_an_update_cannot_reach_is_noted_before_its_rollback_begins(status: str | None, is_noted: bool) -> None:
    world = World(status)
    world.name(IN_US)
    world.name(IN_AP)
    world.deny(AP)
    note_denied(world.places().ports, world.places().event, world.cloud.clock)
    assert {path for path in world.index if DENIED in path} == ({path_of(IN_AP, DENIED)} if is_noted else set())


def test_what_is_known_to_be_out_of_reach_is_not_asked_again() -> None:
    world = World()
    world.name(IN_AP)
    world.forbid(AP)
    world.cloud.calls.clear()
    note_denied(world.places().ports, world.places().event, world.cloud.clock, [IN_AP])
    assert path_of(IN_AP, DENIED) in world.index
    assert [name for action, name in world.cloud.calls if action == "PutParameter"][1:] == []


def test_where_all_can_be_reached_nothing_is_waited_for() -> None:
    world = World(lag=2.0)
    world.name(IN_US)
    note_denied(world.places().ports, world.places().event, world.cloud.clock)
    assert world.cloud.clock.slept == []


# -- the index ---------------------------------------------------------------------------------------------------------


def test_the_index_is_read_once_behind_its_fences_and_joined_with_what_was_read_before() -> None:
    world = World()
    world.name(IN_US)
    places, clock = world.places(), world.cloud.clock
    assert places.read_index(clock).places == {IN_US}
    world.cloud.stores(EU, clock).delete([f"{NAME}{path_of(IN_US)}"])
    world.name(IN_AP)
    assert places.read_index(clock).places == {IN_US}
    places.is_read = False
    assert places.read_index(clock).places == {IN_US, IN_AP}


@pytest.mark.parametrize(
    ("found", "stays"),
    [((Fence("More", EPOCH), False), True), ((None, True), True), (out(), False)],
    ids=["others", "what it left", "no access"],
)
def test_a_creation_goes_on_only_if_nobody_is_there_and_names_nothing_out_of_reach(
    found: tuple[Fence | None, bool] | StoreError, stays: bool
) -> None:
    world = World()
    places = world.places(CREATE, hold="H")

    def backwards(queues: Sequence[Sequence[Callable[[], T]]]) -> list[list[T]]:
        return [[call() for call in queue] for queue in queues[::-1]][::-1]

    def stores(region: str, clock: Clock) -> SsmStore:
        return replace(world.cloud.stores(region, clock), side_by_side=backwards)

    def look() -> tuple[Fence | None, bool]:
        assert {*world.index} == {"", path_of(IN_US)}  # It is made at the same time, and comes last here.
        if isinstance(found, StoreError):
            raise found
        return found

    places.ports = replace(places.ports, stores=stores)
    with pytest.raises((MustWaitError, StoreError)):
        places.create([(at(IN_US, A), WRITES)], look)
    assert bool(world.index) is stays


def test_a_creation_names_its_places_by_the_clock_of_the_invocation(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what is written by the clock of a fence, that fence stands longer."""
    places, clocks = World().places(CREATE), list[object]()
    index = places.index

    def noted(_places: EventPlaces, clock: Clock) -> ExportIndex:
        clocks.append(clock)
        return index(clock)

    monkeypatch.setattr(EventPlaces, "index", noted)
    places.create([(at(IN_US, A), WRITES)], lambda: (None, False))
    assert clocks == [places.clock]


@pytest.mark.parametrize(
    ("wanted", "hold", "paths"), [(A, "", [path_of(IN_US)]), (NOTHING, "", []), (NOTHING, "H", [""])]
)
def test_a_creation_names_where_it_publishes(wanted: Mapping[Key, Value], hold: str, paths: list[str]) -> None:
    world = World()
    places = world.places(CREATE, hold=hold, wanted={} if wanted == NOTHING else None)
    places.create([(at(IN_US, wanted), WRITES)], lambda: (None, False))
    assert [*world.index] == paths
    assert all(text == encode_place(NETWORK, SENT, exact=True) for text in world.index.values() if not hold)


@pytest.mark.parametrize(
    ("planned", "hold", "paths"),
    [
        pytest.param((at(IN_US), WRITES), "", [path_of(IN_US)], id="written"),
        pytest.param((at(IN_US), NO_PLAN), "", [path_of(IN_US)], id="wanted"),
        pytest.param((at(IN_US, NOTHING), WRITES), "", [path_of(IN_US)], id="left"),
        pytest.param((at(IN_US, NOTHING), UNSEEN), "", [path_of(IN_US)], id="left, where something may be hidden"),
        pytest.param((at(IN_US, NOTHING), NO_PLAN), "", [], id="nothing to do"),
        pytest.param((at(IN_US, NOTHING), NO_PLAN), "H", [""], id="a hold alone"),
    ],
)
def test_an_update_names_where_it_writes_with_its_date(
    planned: tuple[Destination, ExportPlan], hold: str, paths: list[str]
) -> None:
    world = World()
    world.places(hold=hold).name(Phase.UPDATE, [planned], world.cloud.clock)
    assert world.index == {
        path: encode_place(NETWORK, SENT, exact=True) if path else encode_hold(NETWORK, hold) for path in paths
    }


def test_an_update_that_names_nothing_needs_no_index() -> None:
    world = World()
    world.forbid(EU)
    world.places().name(Phase.UPDATE, [(at(IN_US, NOTHING), NO_PLAN)], world.cloud.clock)


@pytest.mark.parametrize("wanted", [A, NOTHING])
def test_what_is_published_to_again_is_not_given_up(wanted: Mapping[Key, Value]) -> None:
    world = World()
    world.name(IN_US, exact=True)
    world.name(IN_US, FORGOTTEN)
    world.places().name(Phase.UPDATE, [(at(IN_US, wanted), WRITES)], world.cloud.clock)
    assert (path_of(IN_US, FORGOTTEN) in world.index) is (wanted == NOTHING)


@pytest.mark.parametrize(
    ("named", "exact", "mark", "fails"),
    [
        pytest.param(True, True, "", False, id="named"),
        pytest.param(True, True, FORGOTTEN, True, id="given up"),
        pytest.param(False, True, "", True, id="new"),
        pytest.param(False, False, "", False, id="new, in an index that names too little"),
    ],
)
def test_a_rollback_needs_the_index_only_where_a_place_is_new_or_was_given_up(
    named: bool, exact: bool, mark: str, fails: bool
) -> None:
    world = World(ROLLING_BACK, ROLLING_BACK)
    world.name(IN_AP, exact=exact)
    if named:
        world.name(IN_US, at=EPOCH - timedelta(hours=1), exact=exact)
    if mark:
        world.name(IN_US, mark)
    world.deny(EU, "PutParameter", "DeleteParameters")
    with pytest.raises(StoreError) if fails else nullcontext():
        world.places().name(Phase.ROLLBACK, [(at(IN_US), WRITES)], world.cloud.clock)


def test_a_rollback_without_time_for_the_index_goes_on_in_another_invocation(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> NoReturn:
        raise InvocationTimeoutError

    monkeypatch.setattr(ExportIndex, "name", fail)
    world = World(ROLLING_BACK, ROLLING_BACK)
    world.name(IN_US, exact=True)
    with pytest.raises(InvocationTimeoutError):
        world.places().name(Phase.ROLLBACK, [(at(IN_US), WRITES)], world.cloud.clock)


@pytest.mark.parametrize(
    ("named", "exact", "superseded", "is_late"),
    [(False, True, True, True), (True, True, True, False), (False, False, True, False), (False, True, False, False)],
)
def test_a_rollback_that_wants_a_place_that_was_never_named_is_a_late_update(
    named: bool, exact: bool, superseded: bool, is_late: bool
) -> None:
    world = World(ROLLING_BACK, changed=EPOCH if superseded else SENT)
    world.name(IN_AP, exact=exact)
    if named:
        world.name(IN_US, exact=exact)
    with pytest.raises(OutdatedRequestError) if is_late else nullcontext():
        world.places().name(Phase.ROLLBACK, [(at(IN_US), WRITES)], world.cloud.clock)


def test_a_late_update_changes_nothing_in_the_index() -> None:
    """It comes again while its stack rolls back, and was denied before."""
    world = World(ROLLING_BACK)
    world.name(IN_US, exact=True)
    world.name(IN_US, FORGOTTEN)
    world.name(IN_US, DENIED, SENT, request="1")
    before = world.index
    with pytest.raises(OutdatedRequestError):
        world.places().name(Phase.ROLLBACK, [(at(IN_US), WRITES)], world.cloud.clock)
    assert world.index == before


@pytest.mark.parametrize(
    ("kind", "status", "resource_status", "is_over"),
    [
        (UPDATE, UPDATING, UPDATING, False),
        (UPDATE, ROLLING_BACK, UPDATING, True),
        (UPDATE, DELETING, UPDATING, True),
        (UPDATE, None, None, True),
        (CREATE, UPDATING, "CREATE_IN_PROGRESS", False),
        (CREATE, UPDATING, UPDATING, False),
        (CREATE, UPDATING, DELETING, True),
        (CREATE, UPDATING, None, True),
        (CREATE, ROLLING_BACK, "CREATE_IN_PROGRESS", False),
    ],
)
def test_an_event_is_over_when_its_stack_or_its_resource_is_at_something_else(
    kind: RequestType, status: str | None, resource_status: str | None, is_over: bool
) -> None:
    assert World(status, resource_status).places(kind).is_over is is_over


# -- what leaves it ----------------------------------------------------------------------------------------------------


def removed(world: World, kind: RequestType, place: Place = IN_US, *, kept: bool = False, wanted: bool = False) -> None:
    tags = {KEY: ours(by=(WEB,), owners=("strongref:export:1",))} if kept else {}
    stored = stock(A, record(A="1")) if kept else stock()
    found = Snapshot(cast("Any", None), at(place, A if wanted else NOTHING), stored, (), tags)
    plan = ExportPlan(SCOPE, kept={KEY: (WEB,)} if kept else {})
    places = world.places(kind)
    places.read_index(world.cloud.clock)
    places.is_read = kind is UPDATE
    places.remove([(found, plan)], world.cloud.clock)


@pytest.mark.parametrize(
    ("kind", "kept", "left"),
    [
        (UPDATE, False, [""]),
        (UPDATE, True, ["", path_of(IN_US)]),
        (DELETE, False, []),
        (DELETE, True, [path_of(IN_US)]),
    ],
)
def test_a_place_without_values_leaves_the_index_and_a_deleted_exports_hold_too(
    kind: RequestType, kept: bool, left: list[str]
) -> None:
    world = World()
    world.put(EU, NAME, encode_hold(NETWORK, "H"))
    world.name(IN_US)
    world.name(IN_US, FORGOTTEN)
    removed(world, kind, kept=kept)
    assert [*world.index] == left


def test_what_a_later_version_wrote_stays() -> None:
    world = World()
    places = world.places()
    world.put(EU, f"{NAME}{path_of(IN_US)}", NEWER)
    found = Snapshot(cast("Any", None), at(IN_US, NOTHING), stock(), (), {})
    places.remove([(found, NO_PLAN)], world.cloud.clock)
    assert [*world.index] == [path_of(IN_US)]


def test_where_nothing_goes_the_index_is_left_alone() -> None:
    world = World()
    places = world.places()
    world.forbid(EU)
    found = Snapshot(cast("Any", None), at(IN_US), stock(), (), {})
    places.remove([(found, NO_PLAN)], world.cloud.clock)


@pytest.mark.parametrize(("stored", "is_done"), [(None, False), ("1", True), ("2", False)])
def test_a_place_is_done_if_it_has_what_is_wanted(stored: str | None, is_done: bool) -> None:
    world = World()
    if stored:
        world.export(US, stored)
    assert world.places().is_done(at(IN_US)) is is_done
