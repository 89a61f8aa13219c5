"""A manifest set claims what it uses: strong as an Import, one run at a time, and nothing is claimed for ever."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongref.contract.names import SHARED, ExportScope, Key, ManifestSet, Producer, Site
from strongref.contract.values import ParameterType
from strongref.errors import StrongRefError
from strongref.protocol.behind_fences import behind_fences
from strongref.protocol.claims import Claimant, ClaimAttempt
from strongref.protocol.fences import FenceHolder
from strongref.protocol.ports import Ports
from strongref.protocol.published import ImportingAccount
from strongref.protocol.time import Patience
from strongref.refusals import ExportsInUseError, NoSuchExportError, NoSuchProducerError, NothingExportedError
from strongref_manifests.manifest_set import (
    PAGE_BYTES,
    ClaimLedger,
    ManifestSetBusyError,
    ManifestSetClaims,
    NothingUsedError,
    UnreadableLedgerError,
)
from strongref_toolkit.errors import WriteFailedError
from tests.support.builders import ACCOUNT
from tests.support.cloud import Cloud

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.contract.values import Value
    from strongref_toolkit.published_exports import Use

EU, US = "eu-west-1", "us-east-1"
SHOP = ManifestSet(ACCOUNT, "shop")
CLUSTER = ExportScope("cluster", Producer(ACCOUNT, EU, "network"))
ALL = ExportScope(SHARED, CLUSTER.producer)
A, B, C = ((CLUSTER, Key(key)) for key in "ABC")


class Died(BaseException):
    """The process was killed."""


class Calls(list[Any]):
    """A cloud's calls, of which only so many are made before the caller dies."""

    def __init__(self, left: int) -> None:
        super().__init__()
        self._left = left

    def append(self, call: Any) -> None:
        if len(self) >= self._left:
            raise Died
        super().append(call)


@dataclass
class World:
    """A producer that exports to a cluster, and a manifest set that uses it."""

    cloud: Cloud

    def export(self, values: Mapping[str, object], **more: object) -> None:
        properties = {"Region": US, "Consumer": "cluster", "Values": dict(values), **more}
        self.cloud.deploy("network", EU, {"Exports": properties})

    def set(self, name: str = "shop", patience: float = 10) -> ManifestSetClaims:
        ports = Ports(self.cloud.stores, self.cloud, Patience(patience, 2, lambda: 0.5), self.cloud.token)
        return ManifestSetClaims(ports, self.cloud.clock, US, replace(SHOP, name=name))

    def hold(self, *used: Use, write: Callable[[Mapping[Use, Value]], None] | None = None) -> dict[str, str]:
        """What was written, by key."""
        written: dict[str, str] = {}

        def written_down(values: Mapping[Use, Value]) -> None:
            written.update({key: value.text for (_, key), value in values.items()})

        self.set().hold(used, write or written_down)
        return written

    def claims(self, key: str) -> list[str]:
        """Who claims a value, as its tags say it."""
        tags = self.cloud.tags(US, f"{CLUSTER.path('exports')}/{key}".removeprefix("/strongref/exports/"))
        return sorted(who for tag, who in tags.items() if tag.startswith("strongref:claim:"))

    def ledger(self) -> list[str]:
        pages = [text for name, text in self.cloud.texts(US).items() if name.startswith("strongref/manifests/shop/")]
        return sorted(name.rsplit("/", 1)[-1] for page in pages for name in json.loads(page))

    def left(self) -> list[str]:
        """What is stored beside values and records."""
        names = self.cloud.texts(US)
        return [name for name in names if not name.startswith(("strongref/exports/", "strongref/records/"))]


@pytest.fixture
def world() -> World:
    world = World(Cloud())
    world.export({"A": "a1", "B": "b1", "C": "c1"})
    return world


def test_what_manifests_use_cannot_be_changed_or_dropped_and_the_refusal_names_them(world: World) -> None:
    assert world.hold(A, B) == {"A": "a1", "B": "b1"}
    assert (world.claims("A"), world.claims("C")) == ([str(SHOP)], [])
    with pytest.raises(ExportsInUseError) as refused:
        world.export({"A": "a2", "B": "b1", "C": "c1"})
    assert "A cannot be changed: it is imported by manifests shop (111111111111). Remove that" in str(refused.value)
    with pytest.raises(ExportsInUseError, match=r"A and B cannot be dropped: they are imported by manifests shop"):
        world.cloud.delete("network", EU)
    world.export({"A": "a1", "B": "b1", "C": "c2"})


def test_what_was_let_go_may_change_and_nothing_is_left(world: World) -> None:
    world.hold(A, B)
    assert sorted(world.set().release_all()) == [A, B]
    assert (world.claims("A"), world.left()) == ([], [])
    assert world.set().release_all() == []
    world.export({"A": "a2"})


def test_what_is_not_used_any_more_is_let_go_after_the_new_is_claimed_and_written(world: World) -> None:
    world.hold(A, B)
    seen = []
    world.hold(B, C, write=lambda _: seen.append([world.claims(key) for key in "ABC"]))
    assert seen == [[[str(SHOP)]] * 3]
    assert [world.claims(key) for key in "ABC"] == [[], [str(SHOP)], [str(SHOP)]]
    assert world.ledger() == ["B", "C"]


def test_a_run_that_changes_nothing_writes_nothing_but_its_fence(world: World) -> None:
    world.hold(A, B)
    before = world.cloud.texts(US)
    world.cloud.calls.clear()
    assert world.hold(A, B) == {"A": "a1", "B": "b1"}
    wrote = [call for call, _ in world.cloud.calls if not call.startswith(("Get", "List"))]
    assert wrote == ["PutParameter", "DeleteParameters"]
    assert world.cloud.texts(US) == before


def test_of_a_run_that_fails_to_write_the_claims_before_it_are_left(world: World) -> None:
    world.hold(A)

    def full(_values: Mapping[Use, Value]) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        world.hold(B, write=full)
    assert [world.claims(key) for key in "AB"] == [[str(SHOP)], []]
    assert world.ledger() == ["A"]


def test_of_a_run_that_wrote_a_part_all_is_held_until_the_next_one(world: World) -> None:
    world.hold(A)

    def half(_values: Mapping[Use, Value]) -> None:
        raise WriteFailedError("b.yaml", "disk full", 1)

    with pytest.raises(WriteFailedError):
        world.hold(B, write=half)
    assert [world.claims(key) for key in "AB"] == [[str(SHOP)], [str(SHOP)]]
    assert world.ledger() == ["A", "B"]
    world.hold(B)
    assert [world.claims(key) for key in "AB"] == [[], [str(SHOP)]]


def test_a_run_that_uses_nothing_does_not_let_go_of_what_is_claimed(world: World) -> None:
    world.hold()
    assert world.left() == []
    world.hold(A, B)
    with pytest.raises(NothingUsedError, match=r"manifests shop claim 2\. .* use --unclaim shop\."):
        world.hold()
    assert world.ledger() == ["A", "B"]


def test_of_a_run_that_cannot_claim_all_nothing_is_claimed_and_nothing_written(world: World) -> None:
    missing = (CLUSTER, Key("Vpc"))
    with pytest.raises(NoSuchExportError, match="does not export Vpc"):
        world.hold(A, missing, write=lambda _: pytest.fail("written"))
    assert (world.claims("A"), world.left()) == ([], [])


def test_errors_say_what_is_wrong_with_the_producer(world: World) -> None:
    with pytest.raises(NoSuchProducerError):
        world.hold((ExportScope("cluster", Producer(ACCOUNT, EU, "nobody")), Key("A")))
    with pytest.raises(NothingExportedError, match="leave Shared out"):
        world.set("cluster").hold([(ALL, Key("A"))], lambda _: None)


def test_shared_exports_are_held_as_well(world: World) -> None:
    shared = {"Region": US, "Values": {"Zone": "z"}}
    world.cloud.deploy("zones", EU, {"Exports": shared})
    zone = (ExportScope(SHARED, Producer(ACCOUNT, EU, "zones")), Key("Zone"))
    assert world.hold(zone, A) == {"Zone": "z", "A": "a1"}
    with pytest.raises(ExportsInUseError, match="imported by manifests shop"):
        world.cloud.delete("zones", EU)


def test_a_withdrawn_value_goes_with_the_last_claim(world: World) -> None:
    world.hold(A)
    world.cloud.deploy("network", EU, {})
    assert world.cloud.values(US) == {CLUSTER.parameter_name(Key("A")).removeprefix("/strongref/exports/"): "a1"}
    with pytest.raises(StrongRefError):
        world.hold(A)  # it is no export any more, and still held
    assert world.claims("A") == [str(SHOP)]
    world.set().release_all()
    assert (world.cloud.values(US), world.left()) == ({}, [])


def test_a_deleted_consumers_cleanup_leaves_what_manifests_use(world: World) -> None:
    imported = {"From": {"Stack": "network", "Region": EU}, "Consumer": "cluster", "Names": ["A"]}
    world.cloud.deploy("cluster", US, {"Imports": imported})
    world.hold(B)
    world.cloud.delete("cluster", US)
    assert [name.rsplit("/", 1)[-1] for name in world.cloud.values(US)] == ["B"]


def test_two_sets_hold_apart(world: World) -> None:
    world.hold(A)
    world.set("other").hold([A], lambda _: None)
    world.set().release_all()
    with pytest.raises(ExportsInUseError, match="imported by manifests other"):
        world.export({})
    world.set("other").release_all()
    world.export({})


def test_one_run_at_a_time_works_on_a_set(world: World) -> None:
    def meanwhile(_values: Mapping[Use, Value]) -> None:
        reported = r"manifests shop are being changed right now \(by the manifests shop"
        with pytest.raises(ManifestSetBusyError, match=reported):
            world.set(patience=0).hold([B], lambda _: pytest.fail("written"))
        world.set("other", patience=0).hold([B], lambda _: None)

    world.hold(A, write=meanwhile)
    assert world.ledger() == ["A"]


@pytest.mark.parametrize("fails", [False, True], ids=["goes on", "fails"])
def test_a_run_that_slept_past_its_fence_takes_nothing_from_the_one_that_came_meanwhile(
    world: World, *, fails: bool
) -> None:
    """The one that slept begins anew if it goes on: then it is the later one."""
    world.hold(C)
    slept: list[bool] = []

    def sleeps(_values: Mapping[Use, Value]) -> None:
        if not slept:
            slept.append(True)
            world.cloud.clock.sleep(200)
            world.hold(A, B)
            assert [len(world.claims(key)) for key in "ABC"] == [1, 1, 0]
            if fails:
                raise OSError("disk full")

    if fails:
        with pytest.raises(OSError, match="disk full"):
            world.hold(A, write=sleeps)
        assert [len(world.claims(key)) for key in "ABC"] == [1, 1, 0]
    else:
        world.hold(A, write=sleeps)
        assert [len(world.claims(key)) for key in "ABC"] == [1, 0, 0]
    world.set().release_all()
    assert ([world.claims(key) for key in "ABC"], world.left()) == ([[], [], []], [])


def test_a_set_gives_way_to_an_exporter_at_work(world: World) -> None:
    store = world.cloud.stores(US, world.cloud.clock)

    def meanwhile(_posts: object) -> None:
        with pytest.raises(StrongRefError, match="are being changed right now") as refused:
            world.set(patience=0).hold([A], lambda _: pytest.fail("written"))
        assert not isinstance(refused.value, ManifestSetBusyError)

    ports = world.set().ports
    behind_fences(
        ports, world.cloud.clock, [(Site(US), CLUSTER)], FenceHolder("Exports", "Exports of stack network"), meanwhile
    )
    assert store.under(SHOP.ledger) == {}
    assert world.claims("A") == []


@pytest.mark.parametrize("begins_with", [(), (A, C)], ids=["nothing before", "others before"])
def test_wherever_a_run_dies_the_next_one_or_unclaiming_leaves_nothing_behind(begins_with: tuple[Use, ...]) -> None:
    """After every call in turn: what was held stays held until the next run, and then only what that one uses is."""
    died = 0
    while True:
        world = World(Cloud())
        world.export({"A": "a1", "B": "b1", "C": "c1"})
        world.hold(*begins_with) if begins_with else None
        world.cloud.calls = Calls(died)
        try:
            world.hold(A, B)
        except Died:
            world.cloud.calls = []
        else:
            break
        died += 1
        claimed = [key for key in "ABC" if world.claims(key)]
        assert set(claimed) >= {key for _, key in begins_with} - {"C"}
        assert set(claimed) <= set(world.ledger())
        world.cloud.clock.sleep(200)  # the fence of the dead falls
        world.hold(A, B)
        assert [len(world.claims(key)) for key in "ABC"] == [1, 1, 0]
        world.set().release_all()
        assert ([world.claims(key) for key in "ABC"], world.left()) == ([[], [], []], [])
    assert died > 10


def test_a_ledger_that_was_changed_by_hand_is_not_guessed_at(world: World) -> None:
    world.hold(A)
    (name,) = (name for name in world.cloud.texts(US) if name.startswith("strongref/manifests/"))
    for text in ("{}", "[1]", "no JSON"):
        world.cloud.ssm(US).put_parameter(Name=f"/{name}", Type="String", Value=text, Overwrite=True)
        with pytest.raises(UnreadableLedgerError, match=f"/{name} cannot be read"):
            world.set().release_all()
    assert world.claims("A") == [str(SHOP)]


names = st.sets(st.text("abc/", min_size=1, max_size=300), max_size=60)


@given(st.lists(names, min_size=1, max_size=4))
def test_a_ledger_says_what_it_was_reported_last_in_pages_that_fit(reported: list[set[str]]) -> None:
    cloud = Cloud()
    ledger = ClaimLedger(cloud.stores(US, cloud.clock), SHOP.ledger, cloud.token)
    for each in reported:
        ledger.add(each)
        assert ledger.read() >= each
        ledger.replace(each)
        assert ledger.read() == each
        pages = cloud.stores(US, cloud.clock).under(SHOP.ledger)
        assert all(page.type is ParameterType.STRING and len(page.text) <= PAGE_BYTES for page in pages.values())


@pytest.mark.parametrize("count", [1, 10, 100, 1000])
def test_claiming_for_manifests_takes_six_calls_more_than_an_import_and_one_for_each_further_page(count: int) -> None:
    world = World(Cloud())
    world.export({f"Key{number}": "v" for number in range(count)})
    claimant = Claimant("x", "x", ImportingAccount(ACCOUNT, "x"))
    cloud = world.cloud
    names = [f"Key{number}" for number in range(count)]
    used = [(CLUSTER, Key(name)) for name in names]

    def calls(do: Callable[[], object]) -> int:
        cloud.calls.clear()
        do()
        return len(cloud.calls)

    ports, store = world.set().ports, cloud.stores(US, cloud.clock)
    as_an_import = calls(ClaimAttempt(ports, store, cloud.clock, claimant, CLUSTER, names).claim)
    assert calls(lambda: world.set().hold(used, lambda _: None)) <= as_an_import + 6 + count / 50
    assert calls(lambda: world.set().hold(used, lambda _: None)) <= as_an_import + 6 + count / 50
    assert calls(world.set().release_all) <= count + 8 + count / 50
