"""The protocol, proven on the code: the real exporter and importer in every order of their calls."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strongref import fencing, imports
from strongref.address import Key, StackArn
from strongref.claiming import Claiming
from strongref.event import Event, RequestType
from strongref.inspection import Inspector
from strongref.published import Published
from strongref.request import ImportRequest
from tests.support.explorer import ACCOUNT, REGION, Actor, Explorer, Report, Session, World, exporter, importer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

PRODUCER = f"arn:aws:cloudformation:eu-west-1:{ACCOUNT}:stack/network/11111111-0000-0000-0000-000000000000"
KEY = Key("K")
VALUE_NAME = f"/strongref/exports/web/{ACCOUNT}/eu-west-1/network/K"


def stack(name: str) -> str:
    return f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/{name}/22222222-0000-0000-0000-000000000000"


def event(kind: RequestType, arn: str, logical_id: str, properties: dict[str, object], **more: object) -> Event:
    return Event(
        request_type=kind,
        stack=arn,
        logical_id=logical_id,
        request_id=f"{logical_id}-{kind.value}",
        physical_id=more.get("physical_id"),  # type: ignore[arg-type]
        properties=properties,
        old_properties=more.get("old_properties"),  # type: ignore[arg-type]
        response_url="http://127.0.0.1/answer",
        resource_type="Custom::Test",
    )


def wanting(value: str, *, update: bool = False) -> Event:
    values = {} if value == "drop" else {KEY: value}
    properties: dict[str, object] = {"Region": REGION, "Consumer": "web", "Values": values}
    if update:
        old = {**properties, "Values": {}}
        return event(RequestType.UPDATE, PRODUCER, "Exports", properties, physical_id="x", old_properties=old)
    return event(RequestType.CREATE, PRODUCER, "Exports", properties)


def E(*wanted: str, name: str = "E", update: bool = False) -> Actor:  # noqa: N802
    events = [wanting(value, update=update) for value in wanted]
    return Actor(name, PRODUCER, exporter, events, status="UPDATE_IN_PROGRESS", fences=True)


IMPORT: dict[str, object] = {
    "From": {"Stack": "network", "Region": "eu-west-1"},
    "Names": [KEY],
    "Consumer": "web",
}


def I(name: str, *, lets_go: bool = False) -> Actor:  # noqa: E743, N802
    arn = stack(name)
    events = [event(RequestType.CREATE, arn, "Imports", IMPORT)]
    if lets_go:
        parsed = StackArn.parse(arn)
        generation = imports.physical_id(parsed, "Imports", ImportRequest.parse(IMPORT, parsed))
        events.append(event(RequestType.DELETE, arn, "Imports", IMPORT, physical_id=generation))
    return Actor(name, arn, importer, events, stays=not lets_go)


def C() -> Actor:  # noqa: N802
    """A consumer's clean-up: its stack, which the prefix is named after, is being deleted."""
    properties = {**IMPORT, "Strength": "weak"}
    deletion = event(RequestType.DELETE, stack("web"), "Imports", properties, physical_id="strongref-import/C")
    return Actor("C", stack("web"), importer, [deletion], status="DELETE_IN_PROGRESS", fences=True)


class _Direct(Session):
    """Calls carried out at once."""

    def __init__(self, world: World) -> None:
        super().__init__("direct", ())
        self.world = world

    def ask(self, _operation: object, perform: Callable[[World], object]) -> object:
        return perform(self.world)


def there(world: World) -> None:
    exporter(_Direct(world), wanting("v1"))


def gone(world: World) -> None:
    """The parameter was cleaned away with an earlier life of the consumer; the record stands."""
    there(world)
    world.ssm.delete_parameter(Name=VALUE_NAME)


Case = tuple[str, list[Actor], "Callable[[World], None]", str]

SMALL: list[Case] = [
    ("there: change x import", [E("v2", update=True), I("I")], there, ""),
    ("there: drop x import", [E("drop", update=True), I("I")], there, ""),
    ("gone: import", [I("I")], gone, ""),
    ("there: drop and restore x 2 imports", [E("drop", "v1"), I("I"), I("J", lets_go=True)], there, ""),
    ("there: change and back x 2 imports", [E("v2", "v1"), I("I"), I("J", lets_go=True)], there, ""),
    ("there: clean-up x 2 imports", [C(), I("I"), I("J")], there, ""),
    ("gone: drop x 2 imports", [E("drop"), I("I"), I("J")], gone, ""),
    ("gone: drop, change x 2 imports", [E("drop", "v2"), I("I"), I("J", lets_go=True)], gone, ""),
    ("gone: change; E and I may crash", [E("v2"), I("I"), I("J")], gone, "EI"),
]
LARGE: list[Case] = [
    ("there: clean-up, change x 2 imports", [C(), E("v2"), I("I"), I("J")], there, ""),
    ("there: clean-up, drop, restore; may crash", [C(), E("drop", "v1"), I("I"), I("J", lets_go=True)], there, "CE"),
    ("there: 2 exporters x import", [E("v2", "v3"), E("drop", "v1", name="F"), I("I")], there, ""),
    ("there: 2 exporters, E may crash, 2 imports", [E("drop", "v2"), E("v1", name="F"), I("I"), I("J")], there, "E"),
]


def walk(actors: list[Actor], before: Callable[[World], None], crashing: Iterable[str] = ()) -> Report:
    return explorer(actors, before, crashing).walk()


def explorer(actors: list[Actor], before: Callable[[World], None], crashing: Iterable[str] = ()) -> Explorer:
    world = World(actors, {PRODUCER: "UPDATE_IN_PROGRESS"})
    before(world)
    return Explorer(actors, world, crashing=crashing)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Millions of runs would log as many lines."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize(
    ("label", "actors", "before", "crashing"),
    [pytest.param(*case, id=case[0]) for case in SMALL]
    + [pytest.param(*case, id=case[0], marks=pytest.mark.exhaustive) for case in LARGE],
)
def test_in_every_order_of_calls_no_reference_is_lost_and_none_is_torn(
    label: str, actors: list[Actor], before: Callable[[World], None], crashing: str
) -> None:
    report = walk(actors, before, crashing)
    sys.stdout.write(f"{label}: {report.states} states\n")
    assert report.lost is None
    assert report.torn is None
    assert {f"{actor.name} " for actor in actors} <= report.succeeded  # in some order each of them gets through


@pytest.mark.parametrize(
    ("owner", "part", "without", "label"),
    [
        (fencing.Fencing, "put_up", lambda *_: None, "there: change x import"),
        (fencing.Fencing, "others", lambda *_: None, "there: 2 exporters x import"),
        (Claiming, "_is_unchanged", lambda *_: True, "there: clean-up x 2 imports"),
        (Published, "says", lambda *_: True, "gone: change; E and I may crash"),
        (Inspector, "inspect", lambda *_: {}, "there: drop x import"),
    ],
    ids=["fence", "giving way", "second read", "record", "claims"],
)
def test_without_any_one_part_of_the_protocol_a_reference_is_lost_or_torn(
    monkeypatch: pytest.MonkeyPatch, owner: type, part: str, without: object, label: str
) -> None:
    _, actors, before, crashing = next(case for case in SMALL + LARGE if case[0] == label)
    monkeypatch.setattr(owner, part, without)
    assert not walk(actors, before, crashing).holds


ANY_VALUES = st.sampled_from(["v1", "v2", "v3", "drop"])


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_in_long_histories_of_many_actors_no_reference_is_lost(data: st.DataObject) -> None:
    """Up to seven actors with several events each, dying or not, in an order of hypothesis's choice."""
    actors = [
        E(*data.draw(st.lists(ANY_VALUES, min_size=1, max_size=4)), name=n)
        for n in "EFG"[: data.draw(st.integers(1, 3))]
    ]
    actors += [I(n, lets_go=data.draw(st.booleans())) for n in "IJK"[: data.draw(st.integers(1, 3))]]
    actors += [C()] if data.draw(st.booleans()) else []
    crashing = data.draw(st.sets(st.sampled_from("EFC")))
    chosen = explorer(actors, data.draw(st.sampled_from([there, gone])), crashing)
    report = chosen.wander(lambda most: data.draw(st.integers(0, most - 1)), most=400)
    assert report.lost is None
