"""Holds: CloudFormation itself protects what is imported, from a deletion and from the cleanup of an update."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.event import RequestType
from strongref.contract.hold_stacks import HOLDS, digest
from strongref.errors import (
    OutdatedRequestError,
    PartialCreateError,
    StackLookupError,
    StrongRefError,
    WaitInterruptedError,
)
from strongref.protocol.hold_keeper import HoldKeeper
from strongref.protocol.hold_steps import HoldStep, next_step
from strongref.protocol.lag import ReadLag
from strongref.protocol.ports import NewStack, StackInfo
from strongref.refusals import HoldFailedError, HoldMissingError, HoldPendingError, ProducerLeavingError
from tests.protocol.test_scenarios import EU, US, exports, imports, name
from tests.support.builders import ACCOUNT
from tests.support.cloud import Cloud
from tests.support.cloudformation.operations import ExportInUseError, LaterResourceError
from tests.support.cloudformation.stacks import CREATING, DELETED, DELETING, UPDATING, FakeStack

if TYPE_CHECKING:
    from collections.abc import Callable

HOLD = "network-Exports"
HELD = {"Exports": exports({"A": "a1", "B": "b1"}, Hold=HOLD)}


@pytest.fixture
def cloud() -> Cloud:
    return Cloud()


@pytest.fixture
def held(cloud: Cloud) -> Cloud:
    """A is imported by web, and so held."""
    cloud.deploy("network", EU, HELD)
    cloud.deploy("web", US, {"Imports": imports("A")})
    return cloud


def hold_stacks(cloud: Cloud) -> list[FakeStack]:
    """Those that exist, with the CloudFormation exports that they hold."""
    return [
        each for each in cloud.stacks.values() if each.name.startswith("strongref-hold-") and each.status != DELETED
    ]


def holding(cloud: Cloud) -> list[list[str]]:
    return [sorted(each.imports) for each in hold_stacks(cloud)]


def claims(cloud: Cloud, key: str = "A") -> list[str]:
    return cloud.claims(US, name(key))


# -- the two holes --------------------------------------------------------------------------------------------------


def test_the_deletion_of_a_producer_is_refused_before_anything(held: Cloud) -> None:
    with pytest.raises(ExportInUseError, match=f"export {HOLD} as it is in use by strongref-hold-{ACCOUNT}-web-"):
        held.delete("network", EU)
    assert held.stack("network", EU).status == "CREATE_COMPLETE"
    assert (held.values(US)[name("A")], claims(held)) == ("a1", ["web"])


def test_an_update_that_removes_the_export_fails_before_its_cleanup(held: Cloud) -> None:
    with pytest.raises(ExportInUseError):
        held.deploy("network", EU, {"Other": exports({"C": "c"})})
    assert held.stack("network", EU).resources.keys() == {"Exports"}
    assert (held.values(US)[name("A")], claims(held)) == ("a1", ["web"])


@pytest.mark.parametrize("whole", [True, False])
def test_without_hold_the_same_deletes_resources_first(cloud: Cloud, whole: bool) -> None:
    """The holes as they are without: only the Export's own turn is refused."""
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    cloud.deploy("web", US, {"Imports": imports("A")})
    if whole:
        with pytest.raises(Exception, match="A cannot be dropped: it is imported by stack web"):
            cloud.delete("network", EU)
        assert cloud.stack("network", EU).status == "DELETE_FAILED"
    else:
        cloud.deploy("network", EU, {"Other": exports({"C": "c"})})
        assert cloud.stack("network", EU).status == "UPDATE_COMPLETE"


@pytest.mark.parametrize("how", ["deleted", "without the Import"])
def test_when_the_import_is_gone_both_go_through(held: Cloud, how: str) -> None:
    if how == "deleted":
        held.delete("web", US)
    else:
        held.deploy("web", US, {})
    assert hold_stacks(held) == []
    held.deploy("network", EU, {"Other": exports({"C": "c"})})
    held.delete("network", EU)
    assert held.find("network", EU) is None


# -- the hold stack -------------------------------------------------------------------------------------------------


def test_each_import_has_a_hold_stack_of_its_own(held: Cloud) -> None:
    held.deploy("network", EU, HELD | {"Shared": exports({"S": "s"}, Consumer="api", Hold="network-Shared")})
    held.deploy("api", US, {"Imports": imports("S")})
    assert holding(held) == [[HOLD], ["network-Shared"]]
    (first, second) = hold_stacks(held)
    assert first.region == second.region == EU
    assert sorted(held.parameters_below(EU, HOLDS)) == sorted(first.parameters | second.parameters)


def test_an_import_of_two_exports_holds_both(cloud: Cloud) -> None:
    more = {"More": exports({"C": "c"}, Hold="network-More"), "Unheld": exports({"D": "d"})}
    cloud.deploy("network", EU, HELD | more)
    cloud.deploy("web", US, {"Imports": imports("A", "C", "D")})
    assert holding(cloud) == [[HOLD, "network-More"]]


def test_weak_imports_and_those_of_exports_without_hold_make_none(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a"}), "Held": exports({"B": "b"}, Hold=HOLD)})
    cloud.deploy("web", US, {"Imports": imports("A"), "Weak": imports("B", Strength="weak")})
    assert hold_stacks(cloud) == []


def test_an_import_in_the_producers_region_holds_too(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a"}, Region=EU, Hold=HOLD)})
    cloud.deploy("web", EU, {"Imports": imports("A")})
    assert holding(cloud) == [[HOLD]]


def test_a_stack_that_imports_from_itself_holds_nothing(cloud: Cloud) -> None:
    own = {"Exports": exports({"A": "a"}, Region=EU, Consumer="network", Hold=HOLD), "Imports": imports("A")}
    cloud.deploy("network", EU, own)
    assert hold_stacks(cloud) == []
    cloud.deploy("network", EU, {each: own[each] for each in ["Exports"]})
    cloud.delete("network", EU)


def test_an_import_nested_in_its_producer_holds_nothing(cloud: Cloud) -> None:
    """Its deletion would be refused because of the import that it is going to delete."""
    root = cloud.deploy("network", EU, {"Exports": exports({"A": "a"}, Region=EU, Hold=HOLD)})
    middle = cloud.deploy("middle", EU, {}, root=root.arn)
    middle.parent = root.arn
    leaf = cloud.new_stack("leaf", EU, root.arn)
    leaf.parent, leaf.status = middle.arn, "CREATE_COMPLETE"
    cloud.deploy("leaf", EU, {"Imports": imports("A", Consumer="web")})
    assert hold_stacks(cloud) == []


def test_a_new_generation_holds_before_the_old_one_lets_go(held: Cloud) -> None:
    (first,) = hold_stacks(held)
    held.deploy("web", US, {"Imports": imports("A", "B")}, cleanup=False)
    assert len(hold_stacks(held)) == 2
    held.clean_up(held.stack("web", US))
    (left,) = hold_stacks(held)
    assert left.name != first.name


def test_a_rolled_back_update_keeps_the_old_hold(held: Cloud) -> None:
    (first,) = hold_stacks(held)
    with pytest.raises(LaterResourceError):
        held.deploy("web", US, {"Imports": imports("A", "B")}, fails=True)
    assert [each.name for each in hold_stacks(held)] == [first.name]


def test_a_create_that_fails_leaves_no_hold(cloud: Cloud) -> None:
    cloud.deploy("network", EU, HELD)
    with pytest.raises(LaterResourceError):
        cloud.deploy("web", US, {"Imports": imports("A")}, fails=True)
    assert hold_stacks(cloud) == []


# -- no export of that name -----------------------------------------------------------------------------------------


def test_a_forgotten_output_is_named(cloud: Cloud) -> None:
    cloud.deploy("network", EU, HELD, outputs=[])
    with pytest.raises(HoldMissingError, match="no output of that stack exports this name"):
        cloud.deploy("web", US, {"Imports": imports("A")})
    assert (claims(cloud), hold_stacks(cloud)) == ([], [])


def test_what_cannot_be_held_is_not_claimed(cloud: Cloud) -> None:
    """The hold comes first: an import that is refused for it never stood in the producer's way."""
    cloud.deploy("network", EU, HELD, outputs=[])
    with pytest.raises(HoldMissingError):
        cloud.deploy("web", US, {"Imports": imports("A")})
    assert not [call for call in cloud.calls if call[0] == "add_tags_to_resource"]


def test_a_producer_in_progress_is_waited_for(cloud: Cloud) -> None:
    cloud.deploy("network", EU, HELD, outputs=[])
    network = cloud.stack("network", EU)
    network.status = UPDATING

    def finish(seconds: float) -> None:
        if seconds > 600:
            network.status, network.exports = "UPDATE_COMPLETE", frozenset([HOLD])

    cloud.clock.on_sleep = finish
    cloud.deploy("web", US, {"Imports": imports("A")})
    assert (holding(cloud), claims(cloud)) == ([[HOLD]], ["web"])


def test_a_producer_that_stays_in_progress_is_waited_for_half_the_service_timeout(cloud: Cloud) -> None:
    cloud.deploy("network", EU, HELD, outputs=[])
    cloud.stack("network", EU).status = CREATING
    with pytest.raises(HoldPendingError, match=r"that stack is CREATE_IN_PROGRESS\. Deploy again when it has finished"):
        cloud.deploy("web", US, {"Imports": imports("A", ServiceTimeout="600")})
    assert 300 <= sum(cloud.clock.slept) <= 310
    assert claims(cloud) == []


@pytest.mark.parametrize("status", ["UPDATE_ROLLBACK_FAILED", "DELETE_FAILED", "ROLLBACK_FAILED"])
def test_a_producer_that_is_stuck_is_not_waited_for(cloud: Cloud, status: str) -> None:
    cloud.deploy("network", EU, HELD, outputs=[])
    cloud.stack("network", EU).status = status
    with pytest.raises(HoldPendingError, match=f"that stack is {status}"):
        cloud.deploy("web", US, {"Imports": imports("A")})
    assert sum(cloud.clock.slept) < 10


@pytest.mark.parametrize("exporting", [True, False])
def test_nothing_is_imported_from_a_producer_that_is_being_deleted(cloud: Cloud, exporting: bool) -> None:
    cloud.deploy("network", EU, HELD, outputs=None if exporting else [])
    cloud.stack("network", EU).status = DELETING
    with pytest.raises(ProducerLeavingError, match=r"stack network \(eu-west-1, \d+\) is being deleted"):
        cloud.deploy("web", US, {"Imports": imports("A")})
    assert (claims(cloud), hold_stacks(cloud)) == ([], [])


def test_nothing_is_imported_from_a_producer_whose_deletion_begins_right_before_its_hold(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CloudFormation still finds the export, so the hold can be made, and it stops the deletion no longer."""
    cloud.deploy("network", EU, HELD)
    create_stack = cloud.create_stack

    def begin_to_delete(stack: NewStack) -> str:
        cloud.stack("network", EU).status = DELETING
        return create_stack(stack)

    monkeypatch.setattr(cloud, "create_stack", begin_to_delete)
    with pytest.raises(PartialCreateError, match=r"being changed right now \(by the stack that holds"):
        cloud.deploy("web", US, {"Imports": imports("A")})
    assert (claims(cloud), hold_stacks(cloud)) == ([], [])
    cloud.delete("network", EU)
    assert cloud.texts(US) == {}


def test_nothing_is_imported_from_an_export_that_leaves_its_template(cloud: Cloud) -> None:
    cloud.deploy("network", EU, HELD)
    cloud.deploy("network", EU, {"Other": exports({"C": "c"})}, cleanup=False)
    with pytest.raises(ProducerLeavingError, match=f"{HOLD} cannot be held: .* removes it from its template"):
        cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.clean_up(cloud.stack("network", EU))
    assert (cloud.values(US), hold_stacks(cloud)) == ({name("C"): "c"}, [])


# -- what goes wrong ------------------------------------------------------------------------------------------------


def test_a_hold_that_cannot_be_made_is_a_refusal_with_cloudformations_reason(cloud: Cloud) -> None:
    cloud.deploy("network", EU, HELD)
    cloud.fail_stacks("User: x is not authorized to perform: ssm:PutParameter")
    with pytest.raises(PartialCreateError, match=r"could not be made in eu-west-1\. User: x is not authorized"):
        cloud.deploy("web", US, {"Imports": imports("A")})
    assert claims(cloud) == []


def test_a_rollback_does_not_fail_because_of_a_hold(held: Cloud) -> None:
    held.delete_stack(hold_stacks(held)[0].arn, EU)
    held.fail_stacks("no stacks today")
    with pytest.raises(HoldFailedError):
        held.deploy("web", US, {"Imports": imports("A", Revision="2")})
    assert held.stack("web", US).status == "UPDATE_ROLLBACK_COMPLETE"
    assert claims(held) == ["web"]


def test_a_rollback_of_an_import_of_everything_does_not_fail_because_of_something_new(cloud: Cloud) -> None:
    """An Export whose output was forgotten appears: the update is refused, and its rollback would read it as well."""
    cloud.deploy("network", EU, HELD)
    cloud.deploy("web", US, {"Imports": imports()})
    cloud.deploy("network", EU, HELD | {"More": exports({"C": "c"}, Hold="network-More")}, outputs=[HOLD])
    with pytest.raises(HoldMissingError):
        cloud.deploy("web", US, {"Imports": imports(Revision="2")})
    assert cloud.stack("web", US).status == "UPDATE_ROLLBACK_COMPLETE"


def test_claims_of_a_failed_update_are_no_reason_to_go_on_without_a_hold(held: Cloud) -> None:
    """They look like those of a rollback, and the Export that they are on may be leaving."""
    web = held.stack("web", US)
    both = imports("A", "B")
    with web.asking(request := web.request(RequestType.UPDATE, "Imports", both, "x", imports("A"))):
        held.send(request)  # CloudFormation does not believe it, so both claims are left
    held.delete_stack(hold_stacks(held)[1].arn, EU)
    held.delete_stack(hold_stacks(held)[0].arn, EU)
    held.deploy("network", EU, {"Other": exports({"C": "c"})}, cleanup=False)
    with pytest.raises(ProducerLeavingError):
        held.deploy("web", US, {"Imports": both})


def test_a_create_that_is_given_up_while_it_waits_makes_nothing(cloud: Cloud) -> None:
    """CloudFormation cancels it when another resource fails: its Delete has found nothing to delete."""
    cloud.deploy("network", EU, HELD, outputs=[])
    network = cloud.stack("network", EU)
    network.status = UPDATING
    web = cloud.new_stack("web", US)

    def end(seconds: float) -> None:
        if seconds > 60:
            web.asked, network.status, network.exports = None, "UPDATE_COMPLETE", frozenset([HOLD])

    cloud.clock.on_sleep = end
    request = web.request(RequestType.CREATE, "Imports", imports("A"))
    with web.asking(request), pytest.raises(OutdatedRequestError):
        cloud.send(request)
    assert (claims(cloud), hold_stacks(cloud)) == ([], [])


def test_a_refused_create_leaves_the_hold_of_an_earlier_delivery_to_its_delete(cloud: Cloud) -> None:
    cloud.deploy("network", EU, HELD)
    web = cloud.new_stack("web", US)
    request = web.request(RequestType.CREATE, "Imports", imports("A"))
    with web.asking(request):
        cloud.send(request)
        records = [name for name in cloud.texts(US) if "/records/" in name]
        cloud.ssm(US).delete_parameters(Names=[f"/{name}" for name in records])
        with pytest.raises(PartialCreateError):
            cloud.send(request)


def test_an_update_that_claims_something_new_needs_its_hold(held: Cloud) -> None:
    held.fail_stacks("no stacks today")
    with pytest.raises(HoldFailedError):
        held.deploy("web", US, {"Imports": imports("A", "B")})
    assert (held.stack("web", US).status, claims(held, "B")) == ("UPDATE_ROLLBACK_COMPLETE", [])


def test_adding_hold_protects_importers_with_their_next_event(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}, Hold=HOLD)})
    assert hold_stacks(cloud) == []
    cloud.deploy("web", US, {"Imports": imports("A", Revision="2")})
    assert holding(cloud) == [[HOLD]]


def test_a_delete_succeeds_although_the_hold_stays(held: Cloud) -> None:
    held.fail_stacks("no stacks today", deletions=True)
    held.delete("web", US)
    assert (hold_stacks(held) != [], held.find("web", US)) == (True, None)


def test_a_hold_made_by_a_create_that_never_answered_is_deleted_by_its_delete(cloud: Cloud) -> None:
    cloud.deploy("network", EU, HELD)
    web = cloud.new_stack("web", US)
    request = web.request(RequestType.CREATE, "Imports", imports("A"))
    with web.asking(request):
        cloud.send(request)
    assert holding(cloud) == [[HOLD]]
    delete = web.request(RequestType.DELETE, "Imports", imports("A"), "web-Imports-1ABCDEF")
    web.status = "ROLLBACK_IN_PROGRESS"
    with web.asking(delete):
        cloud.send(delete)
    assert (hold_stacks(cloud), claims(cloud)) == ([], [])


def test_a_create_that_made_its_hold_and_then_failed_is_found_by_its_delete(cloud: Cloud) -> None:
    """Something was left, so its physical ID must say so, although nothing was claimed."""
    cloud.deploy("network", EU, HELD)
    cloud.fill_tags(US, name("A"))
    web = cloud.new_stack("web", US)
    request = web.request(RequestType.CREATE, "Imports", imports("A"))
    with web.asking(request), pytest.raises(PartialCreateError):
        cloud.send(request)
    assert holding(cloud) == [[HOLD]]


# -- the property, the attribute, and removing both -----------------------------------------------------------------


def test_the_attribute_repeats_the_property(held: Cloud) -> None:
    assert held.get("network", EU, "Exports")["Hold"] == HOLD


def test_an_export_can_be_renamed_while_it_is_held(held: Cloud) -> None:
    held.deploy("network", EU, {"Renamed": HELD["Exports"]})
    assert (held.get("network", EU, "Renamed")["Hold"], holding(held)) == (HOLD, [[HOLD]])


def test_the_attribute_stays_when_the_property_goes(held: Cloud) -> None:
    """First the property, then the output: while the hold is there, its value must not change."""
    plain = exports({"A": "a1", "B": "b1"})
    held.deploy("network", EU, {"Exports": plain}, outputs=[HOLD])
    assert held.get("network", EU, "Exports")["Hold"] == HOLD
    held.deploy("network", EU, {"Exports": plain | {"Revision": "2"}}, outputs=[HOLD])
    assert held.get("network", EU, "Exports")["Hold"] == HOLD
    held.deploy("web", US, {})
    held.deploy("network", EU, {"Exports": plain | {"Revision": "3"}}, outputs=[])
    assert held.stack("network", EU).exports == frozenset()


# -- what counts as a hold ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lag", [0.0, 2.0])
def test_a_hold_that_cloudformation_does_not_list_is_corrected(held: Cloud, lag: float) -> None:
    """Somebody took its import out, and left its output."""
    held.lag = ReadLag(lag)
    (stack,) = hold_stacks(held)
    stack.imports = frozenset()
    held.deploy("web", US, AGAIN)
    assert (holding(held), stack.updates) == ([[HOLD]], 1)


def test_a_hold_that_is_corrected_keeps_the_tags_that_others_gave_it(held: Cloud) -> None:
    """Without one of them, CloudFormation would remove it from the parameter: the function may not."""
    (stack,) = hold_stacks(held)
    stack.tags, stack.imports = {**stack.tags, "audit": "yes"}, frozenset()
    before = dict(stack.tags)
    held.deploy("web", US, AGAIN)
    assert (stack.tags, stack.updates) == (before, 1)


def test_a_hold_that_stays_without_its_import_is_no_endless_work(held: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    hold_stacks(held)[0].imports = frozenset()
    tried: list[NewStack] = []
    monkeypatch.setattr(held, "update_stack", tried.append)  # "No updates are to be performed."
    with pytest.raises(HoldFailedError, match="See its events"):
        held.deploy("web", US, AGAIN)
    assert 3 <= len(tried) <= 40
    assert held.stack("web", US).status == "UPDATE_ROLLBACK_COMPLETE"


@pytest.mark.parametrize("imports", [HOLD, ""])
def test_a_stack_of_a_holds_name_that_is_not_ours_is_in_the_way_and_stays(held: Cloud, imports: str) -> None:
    (stack,) = hold_stacks(held)
    stack.tags, stack.imports = {"strongref:consumer": "x"}, frozenset({imports} - {""})
    before = stack.copy()
    with pytest.raises(HoldFailedError, match=f"{stack.name}.* strongref did not make it. Delete that stack"):
        held.deploy("web", US, AGAIN)
    assert held.stack("web", US).status == "UPDATE_ROLLBACK_COMPLETE"
    held.delete("web", US)
    assert stack == before


@pytest.mark.parametrize("throttled", [False, True])
def test_where_cloudformation_does_not_list_imports_an_import_fails_and_a_rollback_goes_on(
    held: Cloud, monkeypatch: pytest.MonkeyPatch, throttled: bool
) -> None:
    def fail(export: str, region: str) -> frozenset[str]:
        denied = StackLookupError(export, region, "Throttling" if throttled else "AccessDenied", action="ListImports")
        raise WaitInterruptedError(denied) if throttled else denied

    monkeypatch.setattr(held, "importing_stacks", fail)
    before = hold_stacks(held)[0].copy()
    why = f"asked about export {HOLD}: .*{'quota of the account' if throttled else 'needs cloudformation:ListImports'}"
    with pytest.raises(StrongRefError, match=why):
        held.deploy("web", US, AGAIN)
    assert (held.stack("web", US).status, claims(held), hold_stacks(held)) == (
        "UPDATE_ROLLBACK_COMPLETE",
        ["web"],
        [before],
    )
    if not throttled:  # Otherwise another invocation continues.
        with pytest.raises(PartialCreateError, match=why):
            held.deploy("api", US, {"Imports": imports("B", Consumer="web")})
        assert (claims(held, "B"), hold_stacks(held)) == ([], [before])


def test_imports_of_an_export_are_listed_once_and_waited_for_once(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.lag, listed, ask = ReadLag(2.0), [], cloud.importing_stacks

    def count(export: str, region: str) -> frozenset[str]:
        listed.append(export)
        return ask(export, region)

    monkeypatch.setattr(cloud, "importing_stacks", count)
    cloud.deploy("network", EU, HELD)
    cloud.deploy("web", US, {"Imports": imports("A")})
    before = sum(cloud.clock.slept)
    assert listed.pop() == HOLD
    assert listed == []
    cloud.deploy("web", US, AGAIN)
    assert (listed, sum(cloud.clock.slept) - before) == ([HOLD], 2.5)


# -- the hold that nothing needs anymore ----------------------------------------------------------------------------

UNHELD = {"Exports": exports({"A": "a1", "B": "b1"})}
AGAIN = {"Imports": imports("A", Revision="2")}


@pytest.mark.parametrize("lag", [0.0, 2.0])
def test_without_the_property_the_next_event_of_the_import_deletes_its_hold(held: Cloud, lag: float) -> None:
    """As docs/holds.md promises: then the output can be removed at once."""
    held.lag = ReadLag(lag)
    held.deploy("api", US, {"Imports": imports("B", Consumer="web")})
    held.deploy("network", EU, UNHELD, outputs=[HOLD])
    held.deploy("web", US, AGAIN)
    assert ([each.imports for each in hold_stacks(held)], len(hold_stacks(held))) == ([frozenset([HOLD])], 1)
    held.deploy("api", US, {"Imports": imports("B", Consumer="web", Revision="2")})
    held.deploy("network", EU, UNHELD, outputs=[])
    assert (hold_stacks(held), claims(held), claims(held, "B")) == ([], ["web"], ["api"])


def test_of_two_holds_the_one_that_is_needed_stays(cloud: Cloud) -> None:
    more = {"More": exports({"C": "c"}, Hold="network-More")}
    cloud.deploy("network", EU, HELD | more)
    cloud.deploy("web", US, {"Imports": imports("A", "C")})
    cloud.deploy("network", EU, UNHELD | more, outputs=[HOLD, "network-More"])
    cloud.deploy("web", US, {"Imports": imports("A", "C", Revision="2")})
    assert holding(cloud) == [["network-More"]]


def as_it_looks(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen as an import begins to look whether its hold may exist."""
    look = HoldKeeper.may_exist

    def late(keeper: HoldKeeper) -> bool:
        happens()
        return look(keeper)

    monkeypatch.setattr(HoldKeeper, "may_exist", late)


@pytest.mark.parametrize("when", ["before", "behind the fence"])
def test_a_hold_stays_while_its_producer_may_roll_back_to_it(
    held: Cloud, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    held.deploy("network", EU, UNHELD, outputs=[HOLD])

    def begin() -> None:
        held.stack("network", EU).status = UPDATING

    if when == "before":
        begin()
    else:
        as_it_looks(monkeypatch, begin)
    held.deploy("web", US, AGAIN)
    assert holding(held) == [[HOLD]]


def test_a_hold_stays_that_is_named_again_before_the_fence_stands(held: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    held.deploy("network", EU, UNHELD, outputs=[HOLD])
    as_it_looks(monkeypatch, lambda: held.deploy("network", EU, HELD))
    held.deploy("web", US, AGAIN)
    assert holding(held) == [[HOLD]]


def test_a_hold_stays_whose_record_is_unreadable_behind_the_fence(held: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    held.deploy("network", EU, UNHELD, outputs=[HOLD])

    def tear() -> None:
        (record,) = [name for name in held.texts(US) if "/records/" in f"/{name}"]
        held.ssm(US).put_parameter(Name=f"/{record}", Value="torn", Type="String", Overwrite=True)

    as_it_looks(monkeypatch, tear)
    held.deploy("web", US, AGAIN)
    assert holding(held) == [[HOLD]]


def test_a_hold_that_cannot_be_deleted_fails_no_update(held: Cloud) -> None:
    held.deploy("network", EU, UNHELD, outputs=[HOLD])
    held.fail_stacks("no stacks today", deletions=True)
    held.deploy("web", US, AGAIN)
    assert (held.stack("web", US).status, holding(held)) == ("UPDATE_COMPLETE", [[HOLD]])


def test_removing_both_at_once_is_refused_by_cloudformation(held: Cloud) -> None:
    with pytest.raises(ExportInUseError):
        held.deploy("network", EU, {"Exports": exports({"A": "a1", "B": "b1"})})
    assert held.get("network", EU, "Exports")["Hold"] == HOLD


def test_an_export_without_hold_has_no_such_attribute(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a"})})
    assert "Hold" not in cloud.get("network", EU, "Exports")


# -- every status of a hold stack -----------------------------------------------------------------------------------

_RIGHT, _WRONG = {"Exports": digest([HOLD])}, {"Exports": digest(["other"])}
_STEPS = {
    "CREATE_IN_PROGRESS": (HoldStep.WAIT, HoldStep.WAIT),
    "CREATE_FAILED": (HoldStep.REPLACE, HoldStep.REPLACE),
    "CREATE_COMPLETE": (HoldStep.NONE, HoldStep.UPDATE),
    "ROLLBACK_IN_PROGRESS": (HoldStep.WAIT, HoldStep.WAIT),
    "ROLLBACK_FAILED": (HoldStep.REPLACE, HoldStep.REPLACE),
    "ROLLBACK_COMPLETE": (HoldStep.REPLACE, HoldStep.REPLACE),
    "DELETE_IN_PROGRESS": (HoldStep.WAIT, HoldStep.WAIT),
    "DELETE_FAILED": (HoldStep.REPLACE, HoldStep.REPLACE),
    "UPDATE_IN_PROGRESS": (HoldStep.WAIT, HoldStep.WAIT),
    "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS": (HoldStep.NONE, HoldStep.WAIT),
    "UPDATE_COMPLETE": (HoldStep.NONE, HoldStep.UPDATE),
    "UPDATE_FAILED": (HoldStep.REPLACE, HoldStep.REPLACE),
    "UPDATE_ROLLBACK_IN_PROGRESS": (HoldStep.WAIT, HoldStep.WAIT),
    "UPDATE_ROLLBACK_FAILED": (HoldStep.REPLACE, HoldStep.REPLACE),
    "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS": (HoldStep.NONE, HoldStep.WAIT),
    "UPDATE_ROLLBACK_COMPLETE": (HoldStep.NONE, HoldStep.UPDATE),
    "REVIEW_IN_PROGRESS": (HoldStep.REPLACE, HoldStep.REPLACE),
    "IMPORT_IN_PROGRESS": (HoldStep.WAIT, HoldStep.WAIT),
    "IMPORT_COMPLETE": (HoldStep.NONE, HoldStep.UPDATE),
    "IMPORT_ROLLBACK_IN_PROGRESS": (HoldStep.WAIT, HoldStep.WAIT),
    "IMPORT_ROLLBACK_FAILED": (HoldStep.REPLACE, HoldStep.REPLACE),
    "IMPORT_ROLLBACK_COMPLETE": (HoldStep.REPLACE, HoldStep.REPLACE),
}
"""By status: what to do if the stack says that it holds the right exports, and if not."""


@pytest.mark.parametrize("status", _STEPS)
def test_every_status_has_a_rule(status: str) -> None:
    found = StackInfo("arn", "n", status, "arn")
    steps = tuple(next_step(replace(found, outputs=each), [HOLD]) for each in (_RIGHT, _WRONG))
    assert steps == _STEPS[status]


def test_the_statuses_are_all_that_cloudformation_has() -> None:
    from botocore.session import get_session  # noqa: PLC0415 (slow)

    statuses: Any = get_session().get_service_model("cloudformation").shape_for("StackStatus")
    assert {*statuses.enum} - {"DELETE_COMPLETE"} == _STEPS.keys()


def test_without_a_stack_one_is_created() -> None:
    assert next_step(None, [HOLD]) is HoldStep.CREATE


@pytest.mark.parametrize("status", [status for status, steps in _STEPS.items() if steps[1] is not HoldStep.WAIT])
def test_whatever_is_there_becomes_the_hold(cloud: Cloud, status: str) -> None:
    cloud.deploy("network", EU, HELD)
    cloud.deploy("web", US, {"Imports": imports("A")})
    (stack,) = hold_stacks(cloud)
    stack.status, stack.outputs, stack.imports = status, _WRONG, frozenset()
    cloud.deploy("web", US, {"Imports": imports("A", Revision="2")})
    assert holding(cloud) == [[HOLD]]


@pytest.mark.parametrize("lag", [0.0, 2.0])
def test_late_reads_change_nothing(lag: float) -> None:
    cloud = Cloud()
    cloud.lag = ReadLag(lag)
    cloud.deploy("network", EU, HELD)
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.delete("web", US)
    assert hold_stacks(cloud) == []


def test_a_new_import_holds_what_its_producer_may_roll_back_to(held: Cloud) -> None:
    """The update that names no hold has not ended."""
    original = held._export

    def later(*_: object) -> None:
        held._export = original  # type: ignore[method-assign]
        held.deploy("web", US, {"Imports": imports("A", "B")})
        raise LaterResourceError

    held._export = later  # type: ignore[method-assign,assignment]
    with pytest.raises(LaterResourceError):
        held.deploy("network", EU, UNHELD, outputs=[HOLD])
    assert holding(held)
