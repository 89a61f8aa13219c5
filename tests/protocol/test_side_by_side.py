"""Calls that do not depend on each other: which they are, and what becomes of their results and failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.names import Site
from strongref.protocol import fences
from strongref.protocol.ports import Ports
from strongref.protocol.side_by_side import Work, call_all, carry_out, in_turn
from strongref.protocol.time import Patience
from tests.protocol.test_calls import exports, imports
from tests.support.builders import SCOPE
from tests.support.cloud import Cloud
from tests.support.fake_ssm import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from strongref.aws.parameter_store import SsmStore
    from strongref.protocol.time import Clock

EU, US = "eu-west-1", "us-east-1"


class Batches(Cloud):
    """The cloud; and how many calls of each region were given to it at once, by the actions that they made."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[tuple[str, list[int]]] = []

    def stores(self, region: str, clock: Clock) -> SsmStore:
        store = super().stores(region, clock)
        store.side_by_side = self._side_by_side
        return store

    def _side_by_side(self, queues: Sequence[Sequence[Callable[[], Any]]]) -> list[list[Any]]:
        before = len(self.calls)
        found = in_turn(queues)
        actions = sorted({action for action, _ in self.calls[before:]})
        if sum(map(len, queues)) > 1:
            self.batches.append((" ".join(actions), [*map(len, queues)]))
        return found

    def of(self, do: Callable[[], object]) -> list[tuple[str, list[int]]]:
        """The batches of several calls that something makes."""
        self.batches.clear()
        do()
        return self.batches[:]


def test_what_does_not_depend_on_each_other_is_given_to_be_made_side_by_side() -> None:
    cloud = Batches()
    made = cloud.of(lambda: cloud.deploy("network", EU, {"Exports": exports(25)}))
    listed, read = ("GetParametersByPath", [2]), [("GetParameters", [3]), ("GetParameters GetParametersByPath", [2])]
    assert made == [listed, ("PutParameter", [25])]
    taken = cloud.of(lambda: cloud.deploy("web", US, {"Imports": imports()}))
    assert taken == [*read, ("AddTagsToResource", [25]), *read]
    changed = exports(25, OnChange="propagate")
    changed["Values"] = {key: f"{text}!" for key, text in changed["Values"].items()}
    written = cloud.of(lambda: cloud.deploy("network", EU, {"Exports": changed}))
    assert written == [listed, ("ListTagsForResource", [25]), ("PutParameter", [25])]
    released = cloud.of(lambda: cloud.deploy("web", US, {}))
    assert released == [("RemoveTagsFromResource", [25])]
    gone = cloud.of(lambda: cloud.delete("network", EU))
    assert gone == [listed, ("ListTagsForResource", [25]), ("DeleteParameters", [3])]


def test_values_are_put_back_side_by_side() -> None:
    cloud = Batches()
    cloud.deploy("network", EU, {"Exports": exports(12)})
    names = [name for name in cloud.texts(US) if name.startswith("strongref/exports/")]
    for name in names:
        cloud.ssm(US).delete_parameter(Name=f"/{name}")
    taken = cloud.of(lambda: cloud.deploy("web", US, {"Imports": imports()}))
    assert ("PutParameter", [12]) in taken


def test_the_regions_of_an_export_make_their_calls_together() -> None:
    cloud = Batches()
    made = cloud.of(lambda: cloud.deploy("network", EU, {"Exports": exports(5, Region=[US, "us-west-2"])}))
    assert ("PutParameter", [5, 5]) in made


def test_two_places_in_one_region_share_what_it_may_have_in_flight() -> None:
    cloud = Cloud()
    store, other = (cloud.stores(US, FakeClock()) for _ in range(2))
    seen: list[list[int]] = []

    def side_by_side(queues: Sequence[Sequence[Callable[[], Any]]]) -> list[list[Any]]:
        seen.append([*map(len, queues)])
        return in_turn(queues)

    store.side_by_side = other.side_by_side = side_by_side

    def steps() -> Iterator[list[Callable[[], object]]]:
        yield [int, int, int]

    carry_out([Work(store, steps()), Work(other, steps())])
    assert seen == [[6]]


def test_calls_in_turn_begin_with_the_first_of_each_region_and_end_with_a_failure() -> None:
    made: list[str] = []

    def fail() -> None:
        raise ValueError("first")

    assert in_turn([[lambda: made.append("a"), lambda: made.append("b")], [lambda: made.append("c")]]) == [
        [None, None],
        [None],
    ]
    assert made == ["a", "c", "b"]
    with pytest.raises(ValueError, match="first"):
        in_turn([[fail, lambda: made.append("never")]])
    assert made == ["a", "c", "b"]


def test_of_calls_side_by_side_one_renews_the_fences() -> None:
    """Others that find half of the time over meanwhile go on, and do not renew them again."""
    cloud = Cloud()
    clock = FakeClock(remaining=600)
    ports = Ports(cloud.stores, cloud, Patience(0, 0, lambda: 0.0), cloud.token)
    own = fences.OwnFence.of(ports, Site(US), SCOPE, fences.FenceHolder("X", "somebody"))
    lease = fences.FenceLease.begin([own], clock, 0)
    clock.sleep(fences.FENCE_SECONDS / 2 + 1)
    put_up, renewed = lease._put_up, []

    def renewing(renewal_clock: Clock) -> None:
        renewed.append(True)
        lease.before_call("PutParameter")  # as another thread's would
        put_up(renewal_clock)

    lease_put_up: Any = renewing
    with pytest.MonkeyPatch.context() as patching:
        patching.setattr(fences.FenceLease, "_put_up", lambda _self, given: lease_put_up(given))
        lease.before_call("PutParameter")
    assert renewed == [True]
    assert lease.remaining() > fences.FENCE_SECONDS - 1


def test_results_come_in_the_order_of_the_calls() -> None:
    store = Cloud().stores(US, FakeClock())
    assert call_all(store, [lambda: 1, lambda: 2]) == [1, 2]
    assert call_all(store, []) == []
