"""A manifest set that holds: CloudFormation protects what it claims, and nothing stays held that it does not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.hold_stacks import HOLD_STACK, HoldStack
from strongref.contract.names import SHARED, ExportScope, Key, ManifestSet, Producer
from strongref.protocol.janitor import Janitor
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import Ports
from strongref.protocol.time import Patience
from strongref.refusals import HoldFailedError, HoldMissingError, HoldPendingError, ProducerLeavingError
from strongref_manifests.manifest_set import ManifestSetBusyError, ManifestSetClaims
from strongref_manifests.set_holds import HoldLeftError
from strongref_toolkit.errors import WriteFailedError
from tests.manifests.test_manifest_set import Calls, Died
from tests.protocol.test_holds import hold_stacks, holding
from tests.protocol.test_scenarios import exports
from tests.support.builders import ACCOUNT
from tests.support.cloud import Cloud
from tests.support.cloudformation.operations import ExportInUseError
from tests.support.cloudformation.stacks import CREATING, DELETING, UPDATING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.contract.values import Value
    from strongref.errors import StrongRefError
    from strongref.protocol.ports import NewStack
    from strongref_toolkit.published_exports import Use

EU, US, AP = "eu-west-1", "us-east-1", "ap-south-1"
SHOP = ManifestSet(ACCOUNT, "shop")
FIRST, SECOND, REMOTE = "network-First", "network-Second", "remote-Exports"
BOTH = {
    "First": exports({"A": "a1"}, Consumer="cluster", Hold=FIRST),
    "Second": exports({"B": "b1"}, Consumer="cluster", Hold=SECOND),
    "Unheld": exports({"C": "c1"}, Consumer="cluster"),
}


def use(key: str, stack: str = "network", region: str = EU, consumer: str = "cluster") -> Use:
    return ExportScope(consumer, Producer(ACCOUNT, region, stack)), Key(key)


A, B, C = (use(key) for key in "ABC")
Z, R = use("Z", "zones", consumer=SHARED), use("R", "remote", AP)


@pytest.fixture
def cloud() -> Cloud:
    return producing()


def producing() -> Cloud:
    """Two stacks in one region, and one in another, export to a cluster or to all."""
    cloud = Cloud()
    cloud.deploy("network", EU, BOTH)
    cloud.deploy("zones", EU, {"Exports": {"Region": US, "Values": {"Z": "z"}, "Hold": "zones-Exports"}})
    cloud.deploy("remote", AP, {"Exports": exports({"R": "r"}, Consumer="cluster", Hold=REMOTE)})
    return cloud


def claims_of(cloud: Cloud, name: str = "shop", patience: float = 10, stacks: Any = None) -> ManifestSetClaims:
    ports = Ports(cloud.stores, stacks or cloud, Patience(patience, 2, lambda: 0.5), cloud.token, cloud.lag)
    return ManifestSetClaims(ports, cloud.clock, US, replace(SHOP, name=name))


def ignore(_values: Mapping[Use, Value]) -> None:
    """Write nothing."""


def hold(cloud: Cloud, *used: Use, write: Callable[[Mapping[Use, Value]], None] = ignore, stacks: Any = None) -> None:
    claims_of(cloud, stacks=stacks).hold(used, write, hold_stacks=True)


def claim(cloud: Cloud, *used: Use) -> None:
    """Without hold stacks."""
    claims_of(cloud).hold(used, ignore)


def claimed(cloud: Cloud) -> str:
    names = [name for name in cloud.values(US) if str(SHOP) in cloud.tags(US, name).values()]
    return "".join(sorted(name.rsplit("/", 1)[-1] for name in names))


def ledger(cloud: Cloud) -> str:
    """Keys of exports, and the regions of hold stacks."""
    pages = [text for name, text in cloud.texts(US).items() if name.startswith("strongref/manifests/")]
    return " ".join(sorted(name.rsplit("/", 1)[-1] for page in pages for name in json.loads(page)))


def left(cloud: Cloud) -> list[str]:
    """What a set left in any region: fences, its ledger, holds."""
    kept = ("strongref/exports/", "strongref/records/", "strongref/index/")
    return [name for region in (EU, US, AP) for name in cloud.texts(region) if not name.startswith(kept)]


# -- what is held -----------------------------------------------------------------------------------------------------


def test_what_a_set_holds_is_protected_before_anything_is_deleted_until_it_is_unclaimed(cloud: Cloud) -> None:
    hold(cloud, A)
    refused = f"Cannot delete export {FIRST} as it is in use by .*{HOLD_STACK}{ACCOUNT}-shop-"
    with pytest.raises(ExportInUseError, match=refused):
        cloud.delete("network", EU)
    with pytest.raises(ExportInUseError, match=refused):
        cloud.deploy("network", EU, {"Second": BOTH["Second"]})
    assert claims_of(cloud).release_all() == [A]
    assert (hold_stacks(cloud), left(cloud)) == ([], [])
    cloud.delete("network", EU)


def test_without_the_option_nothing_is_held(cloud: Cloud) -> None:
    claim(cloud, A, R)
    assert (hold_stacks(cloud), ledger(cloud)) == ([], "A R")


def test_a_run_without_the_option_removes_what_an_earlier_one_held(cloud: Cloud) -> None:
    hold(cloud, A, R)
    claim(cloud, A)
    assert (hold_stacks(cloud), claimed(cloud), ledger(cloud)) == ([], "A", "A")


def test_a_region_has_one_hold_stack_for_all_its_exporting_stacks(cloud: Cloud) -> None:
    hold(cloud, A, C, Z, R)
    assert sorted(holding(cloud)) == [[FIRST, "zones-Exports"], [REMOTE]]
    assert {each.region for each in hold_stacks(cloud)} == {EU, AP}
    assert (claimed(cloud), ledger(cloud)) == ("ACRZ", "A C R Z ap-south-1 eu-west-1")


def test_exports_without_hold_have_no_hold_stack(cloud: Cloud) -> None:
    hold(cloud, C)
    assert (hold_stacks(cloud), ledger(cloud)) == ([], "C")


def test_exports_of_other_accounts_are_not_held(cloud: Cloud) -> None:
    other = replace(claims_of(cloud), manifests=ManifestSet("222222222222", "shop"))
    other.hold([A], ignore, hold_stacks=True)
    assert hold_stacks(cloud) == []


def test_a_run_that_changes_nothing_changes_no_hold_stack(cloud: Cloud) -> None:
    hold(cloud, A, R)
    before = [each.copy() for each in hold_stacks(cloud)], cloud.texts(US)
    hold(cloud, A, R)
    assert (hold_stacks(cloud), cloud.texts(US)) == before


def test_the_new_is_held_before_it_is_claimed_and_the_old_until_it_is_released(cloud: Cloud) -> None:
    hold(cloud, A)
    seen = []
    hold(cloud, B, write=lambda _: seen.append((holding(cloud), claimed(cloud))))
    assert seen == [([[FIRST, SECOND]], "AB")]
    assert (holding(cloud), claimed(cloud)) == ([[SECOND]], "B")


def test_two_sets_hold_apart(cloud: Cloud) -> None:
    hold(cloud, A)
    claims_of(cloud, "other").hold([A], ignore, hold_stacks=True)
    claims_of(cloud).release_all()
    with pytest.raises(ExportInUseError, match="-other-"):
        cloud.delete("network", EU)


def test_a_hold_that_is_deleted_during_the_run_is_made_again(cloud: Cloud) -> None:
    class DeletesHold(list[Any]):
        def append(self, call: Any) -> None:
            if call[0] == "AddTagsToResource" and hold_stacks(cloud) and not self:
                super().append(call)
                cloud.delete_stack(hold_stacks(cloud)[0].arn, EU)

    cloud.calls = DeletesHold()
    hold(cloud, A)
    assert (holding(cloud), len(cloud.calls)) == ([[FIRST]], 1)


@pytest.mark.parametrize("lag", [0.0, 2.0])
def test_the_janitors_leave_a_sets_holds_alone(cloud: Cloud, lag: float) -> None:
    cloud.lag = ReadLag(lag)
    hold(cloud, A, R)
    cloud.clock.sleep(7200)
    ports = replace(claims_of(cloud).ports, patience=Patience(30, 2, lambda: 0.5))
    found = [each for region in (EU, US, AP) for each in Janitor(ports, region, ACCOUNT).tend(cloud.clock)]
    assert [finding for each in found for finding in each.findings] == []
    assert sorted(holding(cloud)) == [[FIRST], [REMOTE]]
    assert all(HoldStack.of_tags(each.tags, each.region) is None for each in hold_stacks(cloud))


# -- what cannot be held ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "error"),
    [("UPDATE_COMPLETE", HoldMissingError), (UPDATING, HoldPendingError), (DELETING, ProducerLeavingError)],
)
def test_what_cannot_be_held_is_refused_at_once_and_nothing_is_claimed_or_left(
    cloud: Cloud, status: str, error: type[StrongRefError]
) -> None:
    cloud.deploy("network", EU, BOTH, outputs=[])
    cloud.stack("network", EU).status = status
    with pytest.raises(error):
        hold(cloud, A, R, write=lambda _: pytest.fail("written"))
    assert (claimed(cloud), hold_stacks(cloud), left(cloud)) == ("", [], [])
    assert sum(cloud.clock.slept) < 5


def test_a_hold_that_cannot_be_made_is_refused_with_cloudformations_reason(cloud: Cloud) -> None:
    hold(cloud, A)
    cloud.fail_stacks("no stacks today")
    with pytest.raises(HoldFailedError, match="no stacks today"):
        hold(cloud, A, R)
    assert (holding(cloud), claimed(cloud), ledger(cloud)) == ([[FIRST]], "A", "A eu-west-1")


@pytest.mark.parametrize("how", ["deleted", "output forgotten"])
def test_what_is_not_used_any_more_need_not_exist(cloud: Cloud, how: str) -> None:
    claim(cloud, A, Z)
    hold(cloud, A, Z)
    cloud.delete_stack(hold_stacks(cloud)[0].arn, EU)
    cloud.stack("zones", EU).exports = frozenset()
    if how == "deleted":
        cloud.vanish("zones", EU)
    hold(cloud, A)
    assert (holding(cloud), claimed(cloud)) == ([[FIRST]], "A")


# -- runs that fail ---------------------------------------------------------------------------------------------------


def full(_values: Mapping[Use, Value]) -> None:
    raise OSError("disk full")


def half(_values: Mapping[Use, Value]) -> None:
    raise WriteFailedError("b.yaml", "disk full", 1)


def test_of_a_run_that_fails_the_holds_before_it_are_left(cloud: Cloud) -> None:
    with pytest.raises(OSError, match="disk full"):
        hold(cloud, A, write=full)
    assert (hold_stacks(cloud), left(cloud)) == ([], [])
    claim(cloud, A)
    with pytest.raises(OSError, match="disk full"):
        hold(cloud, A, write=full)
    assert (hold_stacks(cloud), ledger(cloud)) == ([], "A")
    hold(cloud, A)
    with pytest.raises(OSError, match="disk full"):
        hold(cloud, B, R, write=full)
    assert (holding(cloud), claimed(cloud), ledger(cloud)) == ([[FIRST]], "A", "A eu-west-1")
    with pytest.raises(OSError, match="disk full"):
        claims_of(cloud).hold([B], full)
    assert (holding(cloud), claimed(cloud), ledger(cloud)) == ([[FIRST]], "A", "A eu-west-1")


def test_of_a_run_that_wrote_a_part_all_is_held_until_the_next_one(cloud: Cloud) -> None:
    hold(cloud, A)
    with pytest.raises(WriteFailedError):
        hold(cloud, B, write=half)
    assert (holding(cloud), claimed(cloud)) == ([[FIRST, SECOND]], "AB")
    hold(cloud, B)
    assert (holding(cloud), claimed(cloud)) == ([[SECOND]], "B")


def test_a_hold_stack_that_cannot_be_deleted_is_reported_and_found_by_the_next_run(cloud: Cloud) -> None:
    hold(cloud, A)
    (stack,) = hold_stacks(cloud)
    cloud.fail_stacks("", deletions=True)
    reported = (
        f"Stack {stack.name} in eu-west-1 still protects .* manifests shop .*: its deletion ends as DELETE_FAILED"
    )
    with pytest.raises(HoldLeftError, match=reported):
        claims_of(cloud).release_all()
    assert (claimed(cloud), ledger(cloud)) == ("", EU)
    cloud.fail_stacks("")
    assert claims_of(cloud).release_all() == []
    assert (hold_stacks(cloud), left(cloud)) == ([], [])


def test_a_hold_stack_that_cannot_be_updated_at_the_end_is_reported(cloud: Cloud) -> None:
    hold(cloud, A, B)
    with pytest.raises(HoldLeftError, match="it could not be updated") as reported:
        hold(cloud, A, write=lambda _: cloud.fail_stacks("no stacks today"))
    assert "Everything else is done" in str(reported.value)
    assert (holding(cloud), claimed(cloud), ledger(cloud)) == ([[FIRST, SECOND]], "A", "A eu-west-1")
    cloud.fail_stacks("")
    hold(cloud, A)
    assert holding(cloud) == [[FIRST]]


class DyingStacks:
    """`ports.Stacks` of a cloud whose caller dies between calls, and whose operations are not cut in half."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    def __getattr__(self, method: str) -> Callable[..., object]:
        def call(*given: object) -> object:
            calls = self._cloud.calls
            calls.append((method, {}))
            self._cloud.calls = []
            try:
                return getattr(self._cloud, method)(*given)
            finally:
                self._cloud.calls = calls

        return call


@pytest.mark.parametrize("then", ["holds", *(pytest.param(n, marks=pytest.mark.slow) for n in ("claims", "unclaims"))])
@pytest.mark.parametrize("begins_with", [(), (A, Z)], ids=["nothing before", "others before"])
def test_wherever_a_run_dies_the_next_one_leaves_no_other_hold_stack(begins_with: tuple[Use, ...], then: str) -> None:
    died = 0
    while True:
        cloud = producing()
        hold(cloud, *begins_with) if begins_with else None
        cloud.calls = Calls(died)
        try:
            hold(cloud, A, R, stacks=DyingStacks(cloud))
        except Died:
            cloud.calls = []
        else:
            break
        died += 1
        held = {export for each in holding(cloud) for export in each}
        assert not begins_with or FIRST in held
        if set(claimed(cloud)) - {key for _, key in begins_with}:
            assert held >= {FIRST, REMOTE}  # it held before it claimed
        cloud.clock.sleep(200)  # The fence of the dead run expires.
        if then == "holds":
            hold(cloud, A, R)
            assert (sorted(holding(cloud)), ledger(cloud)) == ([[FIRST], [REMOTE]], "A R ap-south-1 eu-west-1")
        elif then == "claims":
            claim(cloud, B)
            assert (hold_stacks(cloud), ledger(cloud)) == ([], "B")
        claims_of(cloud).release_all()
        assert (hold_stacks(cloud), claimed(cloud), left(cloud)) == ([], "", [])
    assert died > 20


class SlowStacks(DyingStacks):
    """Its hold stacks are created when so many seconds have been slept; something happens once meanwhile."""

    def __init__(
        self, cloud: Cloud, seconds: float, meanwhile: Callable[[], None] = lambda: None, at: float = 0
    ) -> None:
        super().__init__(cloud)
        self._seconds, self._meanwhile, self._at = seconds, meanwhile, at
        self.interrupted = False

    def create_stack(self, stack: NewStack) -> str:
        arn = self._cloud.create_stack(stack)
        self._cloud.stacks[arn].status = CREATING

        def slept(seconds: float) -> None:
            if seconds >= self._at and not self.interrupted:
                self.interrupted = True
                self._meanwhile()
            if seconds >= self._seconds and self._cloud.stacks[arn].status == CREATING:
                self._cloud.stacks[arn].status = "CREATE_COMPLETE"

        self._cloud.clock.on_sleep = slept
        return arn


def test_a_run_that_waits_for_its_hold_stack_keeps_its_fence(cloud: Cloud) -> None:
    def meanwhile() -> None:
        with pytest.raises(ManifestSetBusyError):
            claims_of(cloud, patience=0).hold([B], ignore)

    slow = SlowStacks(cloud, 150, meanwhile, at=120)
    hold(cloud, A, stacks=slow)
    assert (holding(cloud), slow.interrupted) == ([[FIRST]], True)


def test_a_hold_stack_that_takes_too_long_is_given_up(cloud: Cloud) -> None:
    with pytest.raises(HoldPendingError, match="that stack is in progress"):
        hold(cloud, A, stacks=SlowStacks(cloud, 1000))
    assert 180 <= sum(cloud.clock.slept) < 190
    assert (hold_stacks(cloud), claimed(cloud), left(cloud)) == ([], "", [])


def test_a_run_that_slept_past_its_fence_during_the_wait_begins_again(cloud: Cloud) -> None:
    def meanwhile() -> None:
        cloud.clock.sleep(200)
        claim(cloud, B)  # a whole other run
        assert (hold_stacks(cloud), ledger(cloud)) == ([], "B")

    slow = SlowStacks(cloud, 20, meanwhile)
    hold(cloud, A, stacks=slow)
    assert (holding(cloud), claimed(cloud), ledger(cloud)) == ([[FIRST]], "A", "A eu-west-1")
    assert slow.interrupted
