"""What becomes of what is deployed when a program that exports or imports across regions is changed a little."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strongref.contract.event import RequestType
from strongref.contract.response import RESPONSE_LIMIT, Response, ResponseStatus, ResponseTooLargeError, encode
from strongref.errors import StrongRefError
from strongref.macro.imports import DATA_BYTES, VALUE_BYTES
from strongref_objects import CrossRegion, PlainTarget, ResolveType, Stack
from strongref_objects.base.errors import BadChannelError, ExportedTwiceError
from strongref_objects.channels.cross_region import ImportResources
from strongref_objects.synthesis.context_file import reset
from tests.support.builders import ACCOUNT
from tests.support.cloudformation.operations import ExportInUseError
from tests.support.objects import EU, US, World, custom, produced, template

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from strongref_objects.channels import Channel

WEST = "us-west-2"
AT_DEPLOYMENT = ResolveType.DEPLOYMENT
FROM_NETWORK = CrossRegion(stack="network", region=EU)
SHARED = CrossRegion(stack="network", region=EU, shared=True)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "context.json")


def produce(world: World, regions: Sequence[str], **values: str) -> None:
    produced(world, via=CrossRegion(regions=regions, consumer="web"), **values)


def consume(world: World, *names: str, region: str = US) -> None:
    stack = world.stack("web", region)
    for name in names:
        stack.import_string(name, type=AT_DEPLOYMENT, via=FROM_NETWORK)
    world.deploy(stack)


def stored(world: World, region: str) -> dict[str, str]:
    return {name.rpartition("/")[2]: text for name, text in world.cloud.values(region).items()}


REGIONS = [
    ([US], [US, WEST]),
    ([US, WEST], [WEST, US]),
    ([US, WEST, EU], [EU, WEST, US]),
    ([US, WEST], [US]),
    ([], [EU, US]),
    ([EU], []),
]
"""A list of regions, and another one that a program has in its place."""


@pytest.mark.parametrize(("before", "after"), REGIONS)
def test_other_regions_are_no_reason_not_to_change_a_value(world: World, before: list[str], after: list[str]) -> None:
    produce(world, before, A="1", B="2")
    produce(world, after, A="changed", B="2", C="3")
    for region in after or [EU]:
        assert stored(world, region) == {"A": "changed", "B": "2", "C": "3"}
    for region in set(before) - set(after or [EU]):
        assert stored(world, region) == {}


@pytest.mark.parametrize(("before", "after"), [(one, other) for one, other in REGIONS if US in one])
def test_with_other_regions_an_imported_value_can_still_be_neither_changed_nor_dropped(
    world: World, before: list[str], after: list[str]
) -> None:
    produce(world, before, A="1", B="2")
    consume(world, "B")
    for values in ({"A": "1"}, {"A": "1", "B": "changed"}):
        with pytest.raises(StrongRefError, match=r"B cannot be (dropped|changed): it is imported by stack web"):
            produce(world, after, **values)
        assert stored(world, US) == {"A": "1", "B": "2"}
    produce(world, after, A="1", B="2")
    consume(world, "A", "B")


def test_a_list_of_regions_that_grows_with_others_next_to_it_makes_no_conflict(world: World) -> None:
    """One value to one region, and the same to this one and another."""
    for value in ("vpc-1", "vpc-2"):
        stack = world.stack("network")
        for regions in ([US], [US, WEST], [WEST, US]):
            stack.export_string("VpcId", value, via=CrossRegion(regions=regions, consumer="web"))
        assert sorted(each["Region"] for each in custom(stack)) == [US, WEST]
        world.deploy(stack)
        assert stored(world, US) == stored(world, WEST) == {"VpcId": value}


def test_a_region_that_is_exported_to_no_longer_is_refused_while_it_is_imported_there(world: World) -> None:
    produce(world, [US], A="1")
    consume(world, "A")
    with pytest.raises(ExportInUseError):
        produce(world, [WEST], A="1")
    assert (stored(world, US), stored(world, WEST)) == ({"A": "1"}, {})


def test_without_a_hold_it_withdraws_what_is_imported_there(world: World) -> None:
    produced(world, via=CrossRegion(regions=[US], consumer="web", hold=False), A="1")
    consume(world, "A")
    produced(world, via=CrossRegion(regions=[WEST], consumer="web", hold=False), A="1")
    assert "A stays: imported by stack web" in world.cloud.stack("network", EU).reasons[-1]
    assert stored(world, US) == {"A": "1"}


@pytest.mark.parametrize("consumer", [None, "web"])
def test_req5_the_stacks_own_region_is_one_place_however_it_is_named(world: World, consumer: str | None) -> None:
    ways = [CrossRegion(consumer=consumer), CrossRegion(regions=[EU], consumer=consumer)]
    for first, second in (ways, ways[::-1]):
        stack = world.stack("network")
        for via in (first, second, first):
            stack.export_string("Name", "n", via=via)
        with pytest.raises(ExportedTwiceError):
            stack.export_string("Name", "m", via=second)
        (properties,) = custom(stack)
        assert "Region" not in properties
        stack.export_string("Other", "o", via=second)
        assert custom(stack)[0]["Values"] == {"Name": "n", "Other": "o"}
        world.deploy(stack)


def held(world: World, names: Sequence[str]) -> dict[str, list[str]]:
    stack = world.stack("web", US)
    for name in names:
        stack.import_string(name, via=SHARED)
    world.deploy(stack)
    return {logical_id: each["Properties"]["Names"] for logical_id, each in template(stack)["Resources"].items()}


def test_in_which_import_a_value_is_held_follows_from_the_values_alone(world: World) -> None:
    names = [f"N{number:02d}" for number in range(30)]
    produced(world, via=CrossRegion(regions=[US]), **{name: name * 60 for name in [*names, "A"]})
    former = held(world, names)
    assert len(former) > 1
    assert held(world, names[::-1]) == held(world, [*names[10:], *names]) == former
    more = held(world, ["A", *names])
    assert more == held(world, [*names, "A"])
    assert sum(former.get(logical_id) != part for logical_id, part in more.items()) == 1


@given(st.lists(st.integers(1, DATA_BYTES - 60), min_size=1, max_size=25))
def test_however_values_are_dealt_out_each_is_held_by_one_import_that_has_room_for_it(sizes: list[int]) -> None:
    target = PlainTarget("web", US, ACCOUNT)
    imports = ImportResources(target)
    values: dict[str, object] = {}
    for number, size in enumerate(sizes):
        values[f"Group.Value{number}"] = "v" * size
        imports.hold(FROM_NETWORK, values)
    parts = [each["Properties"]["Names"] for each in target.template()["Resources"].values()]
    assert sorted(name for part in parts for name in part) == sorted(f"Group.Value{n}" for n in range(len(sizes)))
    for part in parts:
        assert sum(sizes[int(name.removeprefix("Group.Value"))] + len(name) + 6 for name in part) < DATA_BYTES


def test_a_value_that_is_read_both_ways_is_held_by_both(world: World) -> None:
    produced(world, via=CrossRegion(regions=[US]), Name="n")
    stack = world.stack("web", US)
    assert stack.import_string("Name", via=SHARED) == "n"
    value = stack.import_string("Name", type=AT_DEPLOYMENT, via=SHARED)
    assert [each["Names"] for each in custom(stack)] == [["Name"], ["Name"]]
    assert world.deploy(stack)(value) == "n"


def test_what_is_imported_twice_at_deployment_is_imported_once(world: World) -> None:
    stack = world.stack("web", US)
    first, second = (stack.import_string("Name", type=AT_DEPLOYMENT, via=SHARED) for _ in range(2))
    assert first == second
    assert [each["Names"] for each in custom(stack)] == [["Name"]]


@pytest.mark.parametrize("via", [None, SHARED])
def test_what_was_kept_is_out_of_date_where_nothing_was_held_in_between(world: World, via: Channel | None) -> None:
    """The importing stack was deleted; or had the import taken out, as here."""
    to = CrossRegion(regions=[US]) if via else None

    def imports(*, deployed: bool = True) -> str:
        stack = world.stack("web", US if via else EU)
        value = stack.import_string("Name", via=via)
        if deployed:
            world.deploy(stack)
        return str(value)

    produced(world, via=to, Name="old")
    assert imports() == "old"
    world.deploy(world.stack("web", US if via else EU))
    produced(world, via=to, Name="new")
    assert imports(deployed=False) == "old"
    reset(world.context_file, ["Name"])
    assert imports() == "new"


LONG = "x" * 128


@pytest.mark.parametrize("kind", list(ResolveType))
@pytest.mark.parametrize("text", ["v" * 300, "ü" * 100, '"\\\n' * 90], ids=["plain", "umlauts", "quotes"])
def test_however_long_names_are_what_is_known_has_room_in_an_answer(world: World, kind: ResolveType, text: str) -> None:
    values = {f"K{number:02d}": text for number in range(30)}
    produced_by, consumer, region = f"p{LONG[1:]}", f"c{LONG[1:]}", "ap-southeast-2"
    producer = world.stack(produced_by)
    for name, value in values.items():
        producer.export_string(name, value, via=CrossRegion(regions=[region], consumer=LONG))
    world.deploy(producer)
    stack = world.stack(consumer, region)
    via = CrossRegion(stack=produced_by, region=EU, account=ACCOUNT, consumer=LONG, value_bytes=600)
    for name in values:
        stack.import_string(name, type=kind, via=via)
    world.deploy(stack)
    deployed = world.cloud.stack(consumer, region)
    sizes = []
    for logical_id, resource in deployed.resources.items():
        event = world.cloud.event(deployed.request(RequestType.CREATE, logical_id, resource.properties))
        arn = f"{event.stack.rpartition('/')[0]}/51af3dc0-da77-11e4-872e-1234567db123"
        event = dataclasses.replace(event, stack=arn, request_id="51af3dc0-da77-11e4-872e-1234567db123")
        sizes.append(
            len(encode(event, ResponseStatus.SUCCESS, Response(resource.physical_id, dict(resource.attributes))))
        )
    assert len(sizes) > 1
    assert max(sizes) <= RESPONSE_LIMIT


def test_longer_values_at_deployment_are_reported_of(world: World) -> None:
    names = [f"K{number:02d}" for number in range(12)]
    produced(world, via=CrossRegion(regions=[US]), **dict.fromkeys(names, "v" * 330))
    stack = world.stack("web", US)
    for name in names:
        stack.import_string(name, type=AT_DEPLOYMENT, via=SHARED)
    with pytest.raises(ResponseTooLargeError):
        world.deploy(stack)
    stack = world.stack("web", US)
    longer = dataclasses.replace(SHARED, value_bytes=330)
    values = [stack.import_string(name, type=AT_DEPLOYMENT, via=longer) for name in names]
    assert [world.deploy(stack)(value) for value in values] == ["v" * 330] * 12
    assert len(custom(stack)) == 2


def test_the_larger_of_two_lengths_counts_and_it_is_one_import(world: World) -> None:
    stack = Stack(PlainTarget("web", US, ACCOUNT), synthesis=world.run())
    short, long = (dataclasses.replace(SHARED, value_bytes=number) for number in (1, DATA_BYTES))
    assert short == SHARED == long
    one = stack.import_object("Web", type=AT_DEPLOYMENT, via=short)
    assert stack.import_object("Web", type=AT_DEPLOYMENT, via=long) is one
    stack.import_string("A", type=AT_DEPLOYMENT, via=short)
    stack.import_string("B", type=AT_DEPLOYMENT, via=SHARED)
    assert [each["Names"] for each in custom(stack)] == [["A"], ["B"]]


@pytest.mark.parametrize("number", [0, -1, DATA_BYTES + 1, True, "300", 1.5])
def test_a_length_is_a_number_that_an_answer_has_room_for(number: int) -> None:
    with pytest.raises(BadChannelError, match=f"value_bytes must be a number from 1 to {DATA_BYTES}"):
        CrossRegion(stack="network", value_bytes=number)


def test_a_length_is_of_no_use_to_an_export(world: World) -> None:
    assert CrossRegion().value_bytes == VALUE_BYTES
    with pytest.raises(BadChannelError, match="value_bytes is for imports"):
        world.stack("network").export_string("Name", "n", via=CrossRegion(value_bytes=300))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["A", "B", "C", "D"]), min_size=1, max_size=8))
def test_what_holds_other_exports_is_another_resource_since_it_cannot_be_updated(
    tmp_path: Path, names: list[str]
) -> None:
    world = World(tmp_path / "context.json")
    produced(world, A="a", B="b", C="c", D="d")
    stack = world.stack("web")
    seen: dict[str, object] = {}
    for name in names:
        stack.import_string(name)
        ((logical_id, resource),) = template(stack)["Resources"].items()
        assert seen.setdefault(logical_id, resource) == resource
    assert len(seen) == len(set(names))
    other = world.stack("web")
    for name in sorted(names):
        other.import_string(name)
    assert template(other) == template(stack)
