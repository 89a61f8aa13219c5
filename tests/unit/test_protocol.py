"""The protocol, proven on the code: the real exporter and importer in every order of their calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from strongref import exports, fencing, imports
from strongref.address import Key
from strongref.event import Event, RequestType

from tests.support.explorer import ACCOUNT, REGION, Actor, Explorer, Session, World, exporter, importer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
        from strongref.address import StackArn
        from strongref.request import ImportRequest

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


def walk(actors: list[Actor], before: Callable[[World], None], crashing: Iterable[str]) -> Explorer:
    world = World(actors, {PRODUCER: "UPDATE_IN_PROGRESS"})
    before(world)
    return Explorer(actors, world, crashing=crashing)


if __name__ == "__main__":
    import sys
    import time

    for label, actors, before, crashing in SMALL + LARGE:
        if len(sys.argv) > 1 and sys.argv[1] not in label:
            continue
        t = time.time()
        ex = walk(actors, before, crashing)
        r = ex.walk(30_000_000)
        print(f"{label:45} {r.states:8} {time.time() - t:6.1f}s nodes {len(ex._nodes)} {'holds' if r.holds else 'LOST' if r.lost else 'torn'}", sorted(r.succeeded), sorted(r.refused), flush=True)
        for line in r.lost or r.torn or []:
            print("    ", line)
