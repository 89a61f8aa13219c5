"""What users seldom live through, and must get out of: failures half-way, moves and back, switched properties."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from strongref.contract.event import RequestType
from strongref.contract.names import OWNER_TAG, Site, owner_tag
from strongref.contract.requests import ExportRequest, OnChange
from strongref.contract.response import Response
from strongref.errors import AccessDeniedError, PartialCreateError, StrongRefError, UnfinishedError
from strongref.protocol.export_event import ExportEvent
from strongref.refusals import ExportsInUseError, NoSuchExportError
from tests.protocol.test_scenarios import AP, EU, US, exports, imports, name
from tests.support.builders import ME, SCOPE
from tests.support.cloud import Cloud
from tests.support.cloudformation.operations import LaterResourceError
from tests.support.cloudformation.stacks import StackResource
from tests.support.fake_ssm import FakeClock


def refusing(action: str, part: str) -> Any:
    """Makes calls of an action fail whose request speaks of something."""

    def refuse(called: str, request: dict[str, Any]) -> None:
        if called == action and part in str(request):
            denied = {"Error": {"Code": "AccessDeniedException", "Message": "no"}}
            raise ClientError(denied, called)  # type: ignore[arg-type]

    return refuse


def without_index(cloud: Cloud, region: str) -> dict[str, str]:
    """What is stored, but for the places that are named for a rollback."""
    return {name: text for name, text in cloud.texts(region).items() if not name.startswith("strongref/index/")}


def begun(cloud: Cloud, **values: str) -> Cloud:
    cloud.deploy("network", EU, {"Exports": exports(dict(values))})
    return cloud


def test_a_move_that_fails_later_moves_back() -> None:
    cloud = begun(Cloud(), A="a1")
    before = cloud.texts(US)
    with pytest.raises(LaterResourceError):
        cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}, Region=AP)}, fails=True)
    assert (cloud.texts(US), cloud.texts(AP)) == (before, {})


def test_a_fan_out_that_fails_in_the_second_region_is_rolled_back_in_both() -> None:
    cloud = begun(Cloud(), A="a1")
    before = cloud.texts(US)
    cloud.ssm(AP).before_call = refusing("PutParameter", "/exports/")
    with pytest.raises(AccessDeniedError):
        cloud.deploy("network", EU, {"Exports": exports({"A": "a2"}, Region=[US, AP])})
    assert cloud.stack("network", EU).status == "UPDATE_ROLLBACK_COMPLETE"
    assert (cloud.texts(US), cloud.texts(AP)) == (before, {})


@pytest.mark.parametrize("key", ["A", "B", "C"])
def test_a_create_that_fails_half_way_is_cleaned_up_by_its_delete(key: str) -> None:
    cloud = Cloud()
    cloud.ssm(US).before_call = refusing("PutParameter", f"network/{key}'")
    stack = cloud.deploy("network", EU, {})
    wanted = exports({"A": "a", "B": "b", "C": "c"})
    with pytest.raises(PartialCreateError) as failed:
        cloud.send(stack.request(RequestType.CREATE, "Exports", wanted))
    cloud.ssm(US).before_call = None
    cloud.send(stack.request(RequestType.DELETE, "Exports", wanted, failed.value.physical_id))
    assert cloud.texts(US) == {}


def test_of_an_import_that_fails_half_way_no_claim_is_left_once_it_is_rolled_back() -> None:
    cloud = begun(Cloud(), A="a", B="b", C="c")
    cloud.ssm(US).before_call = refusing("AddTagsToResource", "network/B")
    with pytest.raises(PartialCreateError, match=r"AddTagsToResource .* was denied"):
        cloud.deploy("web", US, {"Imports": imports("A", "B", "C")})
    assert [cloud.claims(US, name(key)) for key in "ABC"] == [[], [], []]


def test_the_claims_of_an_update_that_fails_half_way_protect_nothing_once_it_is_rolled_back() -> None:
    cloud = begun(Cloud(), A="a", B="b", C="c")
    cloud.deploy("web", US, {"Imports": imports("C")})
    cloud.ssm(US).before_call = refusing("AddTagsToResource", "network/B")
    with pytest.raises(AccessDeniedError):
        cloud.deploy("web", US, {"Imports": imports("A", "B")})
    cloud.ssm(US).before_call = None
    with pytest.raises(ExportsInUseError, match="C cannot be changed"):
        cloud.deploy("network", EU, {"Exports": exports({"A": "a2", "B": "b2", "C": "c2"})})
    cloud.deploy("network", EU, {"Exports": exports({"A": "a2", "B": "b2", "C": "c"})})
    assert [cloud.claims(US, name(key)) for key in "ABC"] == [[], [], ["web"]]


def test_plain_becomes_secure_and_plain_again_while_nobody_imports_it() -> None:
    cloud = begun(Cloud(), A="a1")
    for secure in (["A"], []):
        cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}, SecureKeys=secure)})
        found = cloud.ssm(US).parameters()[f"/strongref/exports/{name('A')}"]
        assert found.kind == ("SecureString" if secure else "String")
        assert cloud.tags(US, name("A"))["strongref:producer"] == cloud.stack("network", EU).arn
    cloud.deploy("web", US, {"Imports": imports("A")})
    with pytest.raises(ExportsInUseError):
        cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}, SecureKeys=["A"])})
    cloud.delete("web", US)
    cloud.delete("network", EU)
    assert cloud.texts(US) == {}


def test_a_map_whose_keys_come_and_go() -> None:
    cloud = Cloud()
    cloud.deploy("network", EU, {"Exports": exports({"M": {"A": "a", "B": "b"}})})
    cloud.deploy("web", US, {"Imports": imports("M")})
    cloud.deploy("network", EU, {"Exports": exports({"M": {"A": "a", "B": "b", "C": "c"}})})
    assert cloud.claims(US, name("M/C")) == []  # not imported yet
    cloud.deploy("network", EU, {"Exports": exports({"M": {"A": "a", "B": "b", "D": "d"}})})
    cloud.deploy("web", US, {"Imports": imports("M", Revision="2")})
    assert cloud.get("web", US) == {"M.A": "a", "M.B": "b", "M.D": "d"}
    with pytest.raises(ExportsInUseError, match=r"M\.D"):
        cloud.deploy("network", EU, {"Exports": exports({"M": {"A": "a", "B": "b"}})})
    cloud.deploy("web", US, {})
    assert {key: cloud.claims(US, name(f"M/{key}")) for key in "ABD"} == {"A": [], "B": [], "D": []}


@pytest.mark.parametrize("fails", [False, True], ids=["accepted", "rolled back"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (imports("A"), imports("A", Strength="weak")),
        (imports("A", Strength="weak"), imports("A")),
        (imports("A"), imports("A", Shared="true")),
        (imports("A", Shared="true"), imports("A")),
        (imports("A"), imports()),
        (imports(), imports("A")),
        (imports("A"), imports("A", "B")),
        (imports("A", "B"), imports("A")),
        (imports("A"), imports("A", Consumer="web")),
        (imports("A"), imports("A", Revision="2")),
    ],
)
def test_every_switch_of_an_import_holds_what_it_should(
    before: dict[str, Any], after: dict[str, Any], *, fails: bool
) -> None:
    cloud = Cloud()
    shared = {"Region": US, "Values": {"A": "shared", "B": "shared"}}
    cloud.deploy("network", EU, {"Exports": exports({"A": "a", "B": "b"}), "Shared": shared})
    cloud.deploy("web", US, {"Imports": before})
    if fails:
        with pytest.raises(LaterResourceError):
            cloud.deploy("web", US, {"Imports": after}, fails=True)
    else:
        cloud.deploy("web", US, {"Imports": after})
    now = before if fails else after
    for key in "AB":
        wanted = key in now.get("Names", ["A", "B"]) and now.get("Strength") != "weak"
        for consumer in ("web", "_shared"):
            holds = wanted and (consumer == "_shared") == ("Shared" in now)
            assert cloud.claims(US, name(key, consumer)) == (["web"] if holds else [])
    cloud.delete("web", US)
    cloud.delete("network", EU)
    assert cloud.texts(US) == {}


@pytest.mark.parametrize("fails", [False, True], ids=["accepted", "rolled back"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (exports({"A": "a"}), exports({"A": "a"}, Consumer="other")),
        (exports({"A": "a"}), {"Region": US, "Values": {"A": "a"}}),
        (exports({"A": "a"}), exports({"A": "b", "C": "c"}, Region=[AP, US])),
        (exports({"A": "a"}, Region=[AP, US]), exports({"A": "a"}, Region=EU)),
        (exports({"A": "a"}), exports({"A": ["x", "y"], "B": {"C": "c"}}, SecureKeys=["B"])),
        (exports({"A": "a"}), exports({})),
        (exports({}), exports({"A": "a"})),
        (exports({"A": "a"}), exports({"A": "a"}, Revision="2")),
        (exports({"A": "a"}), exports({"A": "a"}, OnChange="propagate")),
    ],
)
def test_every_change_of_an_export_is_made_or_unmade_whole(
    before: dict[str, Any], after: dict[str, Any], *, fails: bool
) -> None:
    """After it, what is stored is what a stack that began with it would have stored."""
    cloud, fresh = Cloud(), Cloud()
    cloud.deploy("network", EU, {"Exports": before})
    if fails:
        with pytest.raises(LaterResourceError):
            cloud.deploy("network", EU, {"Exports": after}, fails=True)
    else:
        cloud.deploy("network", EU, {"Exports": after})
    fresh.deploy("network", EU, {"Exports": before if fails else after})
    for region in (EU, US, AP):
        assert without_index(cloud, region) == without_index(fresh, region)
        for each in cloud.values(region):
            assert cloud.tags(region, each) == fresh.tags(region, each)
    cloud.delete("network", EU)
    assert [cloud.texts(region) for region in (EU, US, AP)] == [{}, {}, {}]


def test_an_update_with_bad_properties_is_rolled_back() -> None:
    cloud = begun(Cloud(), A="a1")
    cloud.deploy("web", US, {"Imports": imports("A")})
    before = cloud.texts(US)
    for stack, region, bad in (
        ("network", EU, {"Exports": exports({"A": ""})}),
        ("web", US, {"Imports": imports("A", Strength="medium")}),
        ("web", US, {"Imports": imports("Absent")}),
    ):
        with pytest.raises(StrongRefError):
            cloud.deploy(stack, region, bad)
        assert cloud.stack(stack, region).status == "UPDATE_ROLLBACK_COMPLETE"
    assert cloud.texts(US) == before
    assert cloud.claims(US, name("A")) == ["web"]


def test_a_failed_update_whose_import_was_replaced_in_the_same_stack() -> None:
    """An Import renamed in the template: the new one claims before the old one lets go."""
    cloud = begun(Cloud(), A="a1")
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.deploy("web", US, {"Renamed": imports("A")})
    assert cloud.claims(US, name("A")) == ["web"]
    with pytest.raises(LaterResourceError):
        cloud.deploy("web", US, {"Again": imports("A")}, fails=True)
    assert cloud.claims(US, name("A")) == ["web"]
    with pytest.raises(NoSuchExportError):
        cloud.deploy("web", US, {"Renamed": imports("A"), "Other": imports("Absent")})
    assert cloud.claims(US, name("A")) == ["web"]


@pytest.mark.parametrize("reads", [{"Shared": "true"}, {"Consumer": "api"}, {"Names": "no list"}], ids=str)
def test_a_stack_that_does_not_read_from_the_prefix_of_its_name_does_not_clean_it(reads: dict[str, Any]) -> None:
    """Others import by the label `web`, and know nothing of the stack."""
    cloud = begun(Cloud(), A="a1")
    cloud.deploy("other", EU, {"Exports": {"Region": US, "Values": {"A": "s"}}})
    cloud.deploy("api", EU, {"Exports": {"Region": US, "Consumer": "api", "Values": {"A": "a"}}})
    source = {"From": {"Stack": "api" if "Consumer" in reads else "other", "Region": EU}}
    web = cloud.deploy("web", US, {"Imports": imports("A", Shared="true") | {"From": {"Stack": "other", "Region": EU}}})
    if "Names" in reads:
        before = web.resources["Imports"]
        web.resources["Imports"] = replace(before, properties={**before.properties, **reads})  # as of a later version
    else:
        cloud.deploy("web", US, {"Imports": imports("A", **reads) | source})
    cloud.delete("web", US)
    assert cloud.values(US)[name("A")] == "a1"


def test_a_nested_stack_cleans_the_prefix_of_its_root_if_it_reads_from_it() -> None:
    cloud = begun(Cloud(), A="a1")
    root = cloud.deploy("web", US, {})
    cloud.deploy("web-Nested-1", US, {"Imports": imports("A")}, root=root.arn)
    root.status = "DELETE_IN_PROGRESS"
    cloud.delete("web-Nested-1", US)
    assert cloud.values(US) == {}


def test_an_update_that_publishes_the_same_puts_back_what_has_gone() -> None:
    cloud = begun(Cloud(), A="a1")
    cloud.ssm(US).delete_parameter(Name=f"/strongref/exports/{name('A')}")
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}, OnChange="propagate")})
    assert cloud.values(US) == {name("A"): "a1"}


def test_a_delete_whose_properties_cannot_be_read_needs_no_index() -> None:
    cloud = begun(Cloud(), A="a1")
    stack = cloud.stack("network", EU)
    for each in cloud.parameters_below(EU, "/strongref/index"):
        cloud.ssm(EU).delete_parameter(Name=each)
    odd = {"Region": US, "Unknown": "x"}
    cloud.send(stack.request(RequestType.DELETE, "Exports", odd, stack.resources["Exports"].physical_id))
    assert cloud.values(US) == {}


def test_the_attribute_hold_repeats_what_old_properties_named_and_a_delete_has_no_attributes() -> None:
    former = ExportRequest((Site(US),), SCOPE, {}, OnChange.REFUSE, "hold", "")
    event = ExportEvent(ME, (), Response("id", {"Count": "0"}), former=former)
    assert event.responded([]).data == {"Count": "0", "Hold": "hold"}
    assert not replace(event, response=Response("id")).responded([]).data


def test_values_whose_record_has_many_parts_are_changed_and_dropped() -> None:
    cloud = Cloud()
    values = {f"Key{number:04d}": f"value-{number}" for number in range(300)}
    cloud.deploy("network", EU, {"Exports": exports(values)})
    cloud.deploy("network", EU, {"Exports": exports(values | {"Key0000": "changed"}, Revision="2")})
    assert len(cloud.values(US)) == 300
    parts = [each for each in cloud.texts(US) if "records" in each]
    assert len(parts) > 2
    cloud.deploy("network", EU, {"Exports": exports({"A": "a"})})
    assert [each for each in cloud.texts(US) if "records" in each] == ["strongref/records/" + name("Exports")]


def test_of_two_deliveries_at_once_the_one_that_fails_does_not_take_the_others_claim() -> None:
    cloud = begun(Cloud(), A="a1")
    web = cloud.deploy("web", US, {})
    create = web.request(RequestType.CREATE, "Imports", imports("A"))
    fence = f"/strongref/fences/{name('Exports.x')}"

    def deliver_it_once_more(action: str, _request: dict[str, Any]) -> None:
        if action != "AddTagsToResource":
            return
        cloud.ssm(US).before_call = None
        answer = cloud.send(create)
        web.resources["Imports"] = StackResource(imports("A"), answer.physical_id, answer.data)
        cloud.ssm(US).put_parameter(Name=fence, Type="String", Value='{"by":"x","until":"2099-01-01T00:00:00+00:00"}')

    cloud.ssm(US).before_call = deliver_it_once_more
    cloud.clock = FakeClock(60)
    with pytest.raises(UnfinishedError):
        cloud.send(create)
    assert cloud.claims(US, name("A")) == ["web"]


def test_a_value_that_is_changed_and_cleaned_up_during_an_import_comes_back_as_it_is_now() -> None:
    """The import has read the record before the change. The old value must not return."""
    cloud = begun(Cloud(), A="a1")
    cloud.deploy("web", US, {"Imports": imports("A", Strength="weak")})

    def change_and_clean_up(action: str, _request: dict[str, Any]) -> None:
        if action == "GetParameters":
            cloud.ssm(US).before_call = None
            cloud.deploy("network", EU, {"Exports": exports({"A": "a2"})})
            cloud.delete("web", US)
            assert cloud.values(US) == {}

    cloud.ssm(US).before_call = change_and_clean_up
    cloud.deploy("api", US, {"Imports": imports("A", Consumer="web")})
    assert (cloud.get("api", US), cloud.values(US)) == ({"A": "a2"}, {name("A"): "a2"})
    assert cloud.claims(US, name("A")) == ["api"]


def test_a_claim_that_is_lost_with_its_value_during_an_update_is_made_again() -> None:
    """The update has seen its claim. Then the value is deleted by hand, and a Revision restores it without claims."""
    cloud = begun(Cloud(), A="a1")
    cloud.deploy("web", US, {"Imports": imports("A")})

    def delete_and_restore(_action: str, _request: dict[str, Any]) -> None:
        cloud.ssm(US).before_call = None
        cloud.ssm(US).delete_parameter(Name=f"/strongref/exports/{name('A')}")
        cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}, Revision="2")})
        assert cloud.claims(US, name("A")) == []

    def wait_for_tags(action: str, _request: dict[str, Any]) -> None:
        if action == "ListTagsForResource":
            cloud.ssm(US).before_call = delete_and_restore

    cloud.ssm(US).before_call = wait_for_tags
    cloud.deploy("web", US, {"Imports": imports("A", Revision="2")})
    assert cloud.claims(US, name("A")) == ["web"]
    with pytest.raises(ExportsInUseError):
        cloud.deploy("network", EU, {"Exports": exports({"A": "a2"})})


@pytest.mark.parametrize("others", [[], ["More"]], ids=["one", "two"])
def test_a_value_that_is_deleted_right_before_it_changes_still_belongs_to_its_exports(others: list[str]) -> None:
    cloud, more = begun(Cloud(), A="a1"), dict.fromkeys(others, exports({"A": "a1"}))
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}), **more})
    before = cloud.tags(US, name("A"))

    def delete_by_hand(action: str, request: dict[str, Any]) -> None:
        if action == "PutParameter" and request["Name"].endswith(name("A")):
            cloud.ssm(US).before_call = None
            cloud.ssm(US).delete_parameter(Name=request["Name"])

    cloud.ssm(US).before_call = delete_by_hand
    changed = exports({"A": "a1"}, Revision="2") if others else exports({"A": "a2"})
    cloud.deploy("network", EU, {"Exports": changed, **more})
    assert (list(cloud.values(US)), cloud.tags(US, name("A"))) == ([name("A")], before)
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1" if others else "a3"})})
    cloud.delete("network", EU)
    assert cloud.texts(US) == {}


def test_a_value_that_moved_to_a_new_export_with_another_text_moves_back() -> None:
    """The new Export goes only in the cleanup of the rollback."""
    cloud = Cloud()
    cloud.deploy("network", EU, {"Old": exports({"A": "a1", "B": "b1"})})
    with pytest.raises(LaterResourceError):
        cloud.deploy("network", EU, {"Old": exports({"B": "b1"}), "New": exports({"A": "a2"})}, fails=True)
    assert cloud.stack("network", EU).status == "UPDATE_ROLLBACK_COMPLETE"
    assert cloud.values(US) == {name("A"): "a1", name("B"): "b1"}
    owners = [tag for tag in cloud.tags(US, name("A")) if tag.startswith(OWNER_TAG)]
    assert owners == [owner_tag("Old")]
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.deploy("network", EU, {"Old": exports({"A": "a1"})})
    assert cloud.values(US) == {name("A"): "a1"}
