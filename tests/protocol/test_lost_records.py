"""An Export whose own record cannot be read, or is gone: claimed values are refused as ever, and nothing is stuck."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.notices import NoticeType
from strongref.errors import BadRequestError, StrongRefError, UndecryptableError
from strongref.protocol.findings import FindingType
from strongref.refusals import ExportsInUseError
from tests.protocol.test_janitor import found
from tests.protocol.test_scenarios import AP, EU, US, exports, imports, name
from tests.protocol.test_scenarios_rare import refusing
from tests.support.builders import ACCOUNT, SCOPE
from tests.support.cloud import Cloud
from tests.support.cloudformation.operations import LaterResourceError

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = f"{SCOPE.path('records')}/Exports"
LARGE = {f"Large{number}": "x" * 2000 for number in range(3)}
VALUES: dict[str, Any] = {"A": "a1", "B": "b1", "S": "secret", **LARGE}
HOLDS = "/strongref/holds"


def exported(values: dict[str, Any] = VALUES, **more: Any) -> dict[str, Any]:
    return exports(values, **({"SecureKeys": ["S"]} if "S" in values else {}), **more)


def lock(cloud: Cloud) -> None:
    cloud.ssm(US).lock()


def unlock(cloud: Cloud) -> None:
    cloud.ssm(US).locked = {}


def lose_head(cloud: Cloud) -> None:
    cloud.ssm(US).delete_parameters(Names=[HEAD])


def lose(cloud: Cloud, logical_id: str) -> None:
    head = f"{SCOPE.path('records')}/{logical_id}"
    found = [name for each in cloud.texts(US) if (name := f"/{each}").partition(".")[0] == head]
    cloud.ssm(US).delete_parameters(Names=found)


def lose_all(cloud: Cloud) -> None:
    lose(cloud, "Exports")


def lose_part(cloud: Cloud) -> None:
    cloud.ssm(US).delete_parameters(Names=[f"{HEAD}.2"])


def scramble_head(cloud: Cloud) -> None:
    cloud.ssm(US).put_parameter(Name=HEAD, Type="String", Value="by hand", Overwrite=True)


WAYS = [lock, lose_head, lose_all, lose_part, scramble_head]


@pytest.fixture
def cloud() -> Cloud:
    """A, which is plain, is imported by web; S is secure, and the record has several parts."""
    cloud = Cloud()
    deploy(cloud)
    cloud.deploy("web", US, {"Imports": imports("A")})
    return cloud


def deploy(cloud: Cloud, values: dict[str, Any] = VALUES, **more: Any) -> None:
    cloud.deploy("network", EU, {"Exports": exported(values, **more)})


without_a = {key: value for key, value in VALUES.items() if key != "A"}
CHANGES: dict[str, Callable[[Cloud], object]] = {
    "drop it": partial(deploy, values=without_a),
    "drop all": partial(deploy, values={}),
    "change it": partial(deploy, values={**VALUES, "A": "a2"}),
    "change it and drop secrets": partial(deploy, values={"A": "a2", "B": "b1"}),
    "move": partial(deploy, Region=AP),
    "to another consumer": partial(deploy, Consumer="other"),
    "delete the stack": lambda cloud: cloud.delete("network", EU),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("lose", WAYS)
def test_a_claimed_value_is_refused_whatever_became_of_the_record(
    cloud: Cloud, lose: Callable[[Cloud], None], change: str
) -> None:
    lose(cloud)
    before = cloud.values(US)
    with pytest.raises((ExportsInUseError, UndecryptableError)):
        CHANGES[change](cloud)
    after = cloud.values(US)
    assert after[name("A")] == "a1"
    assert cloud.claims(US, name("A")) == ["web"]
    if change != "delete the stack":  # It is rolled back, well.
        assert cloud.stack("network", EU).status == "UPDATE_ROLLBACK_COMPLETE"
        assert after == before
    unlock(cloud)
    deploy(cloud, Revision="2")  # Everything is normal again.
    assert cloud.values(US) == before
    with pytest.raises(ExportsInUseError):
        CHANGES[change](cloud)
    assert found(cloud) == []


@pytest.mark.parametrize("lose", WAYS)
def test_a_resource_that_is_removed_leaves_and_reports_what_is_claimed(
    cloud: Cloud, lose: Callable[[Cloud], None]
) -> None:
    lose(cloud)
    cloud.deploy("network", EU, {"Other": exports({"X": "x"}, Consumer="other")})
    assert cloud.claims(US, name("A")) == ["web"]
    assert [each.type for each in cloud.notices] == [NoticeType.VALUES_KEPT]
    assert "A stays: imported by stack web" in cloud.stack("network", EU).reasons[-1]
    unlock(cloud)
    assert {each.kind for each in found(cloud)} == {FindingType.WITHDRAWN}
    cloud.delete("web", US)
    found(cloud)
    assert [each for each in cloud.texts(US) if "/web/" in f"/{each}/"] == []


@pytest.mark.parametrize("lose", [lock, lose_part, lose_all])
def test_the_janitor_deletes_no_hold_and_no_place_because_of_it(lose: Callable[[Cloud], None]) -> None:
    cloud = Cloud()
    deploy(cloud, Hold="network-Exports")
    cloud.deploy("web", US, {"Imports": imports("A", "S")})
    holds = cloud.texts(EU)
    assert any(each.startswith(HOLDS[1:]) for each in holds)
    lose(cloud)
    for region in (US, EU, US):
        found(cloud, region)
        cloud.clock.sleep(7200)
    assert cloud.texts(EU) == holds
    assert FindingType.WITHDRAWN not in {each.kind for each in found(cloud)}


def test_what_a_failed_update_had_not_begun_to_write_is_left_as_it_is(cloud: Cloud) -> None:
    """S is imported, so that its value cannot be told from another one while its key cannot be used."""
    cloud.deploy("web", US, {"Imports": imports("A", "S")})
    lock(cloud)
    before = cloud.values(US)
    with pytest.raises(StrongRefError):
        deploy(cloud, {**VALUES, "B": "b2"})
    assert cloud.stack("network", EU).status == "UPDATE_ROLLBACK_COMPLETE"
    assert cloud.values(US) == before
    unlock(cloud)
    deploy(cloud, {**VALUES, "B": "b2"})
    assert cloud.values(US)[name("B")] == "b2"


def test_what_a_failed_update_had_written_goes_back_when_the_key_is_back(cloud: Cloud) -> None:
    cloud.deploy("web", US, {"Imports": imports("A", "S")})
    stack = cloud.stack("network", EU)

    def lock_then_fail(*_: object) -> frozenset[str]:
        lock(cloud)
        raise LaterResourceError

    cloud._export, original = lock_then_fail, cloud._export  # type: ignore[method-assign,assignment]
    with pytest.raises(UndecryptableError, match="S in us-east-1 cannot be decrypted"):
        deploy(cloud, {**VALUES, "B": "b2"})
    cloud._export = original  # type: ignore[method-assign]
    assert stack.status == "UPDATE_ROLLBACK_FAILED"
    unlock(cloud)
    cloud.roll_back(stack)
    assert stack.status == "UPDATE_ROLLBACK_COMPLETE"
    assert cloud.values(US)[name("B")] == "b1"


def test_the_hold_of_a_withdrawn_value_goes_at_once() -> None:
    cloud = Cloud()
    deploy(cloud, Hold="network-Exports")
    cloud.deploy("web", US, {"Imports": imports("A")})
    cloud.deploy("network", EU, {}, outputs=["network-Exports"])
    assert cloud.claims(US, name("A")) == ["web"]
    found(cloud)
    assert [each for each in cloud.texts(EU) if each.startswith(HOLDS[1:])] == []


def test_the_last_import_of_a_withdrawn_value_takes_the_mark_with_it(cloud: Cloud) -> None:
    cloud.deploy("network", EU, {})
    assert '"withdrawn":true' in cloud.texts(US)[HEAD[1:]]
    assert {each.kind for each in found(cloud)} == {FindingType.WITHDRAWN}
    cloud.deploy("web", US, {})
    assert [each.kind for each in found(cloud)] == [FindingType.STRAY]
    assert cloud.texts(US) == {}


def denied_index(cloud: Cloud) -> None:
    """From now on the index cannot be read."""
    cloud.ssm(EU).before_call = refusing("GetParametersByPath", "/index/")


def held_exports(cloud: Cloud) -> set[str]:
    return {each.split("/")[2] for each in cloud.texts(EU) if each.startswith(HOLDS[1:])}


@pytest.mark.parametrize("fails", [False, True])
def test_an_update_of_the_import_deletes_no_hold_of_a_lost_record(fails: bool) -> None:
    cloud = Cloud()
    cloud.deploy("network", EU, {"E1": exports({"A": "a1"}, Hold="H1"), "E2": exports({"B": "b1"}, Hold="H2")})
    cloud.deploy("web", US, {"Imports": imports("A", "B")})
    lose(cloud, "E1")
    if fails:
        with pytest.raises(LaterResourceError):
            cloud.deploy("web", US, {"Imports": imports("B")}, fails=True)
    else:
        cloud.deploy("web", US, {"Imports": imports("A", "B", Strength="strong")})
    assert cloud.claims(US, name("A")) == ["web"]
    assert held_exports(cloud) == {"H1", "H2"}


def test_a_key_of_two_exports_is_not_withdrawn_while_one_record_is_lost() -> None:
    cloud = Cloud()
    export = exports({"A": "a1"}, Hold="network-Exports")
    cloud.deploy("network", EU, {"E1": export, "E2": export})
    cloud.deploy("web", US, {"Imports": imports("A")})
    lose(cloud, "E2")
    cloud.deploy("network", EU, {"E2": export})
    for region in (US, EU, US):
        kinds = {each.kind for each in found(cloud, region)}
        cloud.clock.sleep(7200)
    assert held_exports(cloud) == {"network-Exports"}
    assert kinds == {FindingType.UNREADABLE_RECORD}


def test_a_hold_of_what_version_0_2_0_has_withdrawn_goes_and_others_are_made() -> None:
    """It left no mark, and took the place out of the index."""
    cloud = Cloud()
    cloud.deploy("network", EU, {"E1": exports({"A": "a1"}, Hold="H1"), "E2": exports({"B": "b1"}, Hold="H2")})
    cloud.deploy("web", US, {"Imports": imports("A", "B")})
    cloud.deploy("network", EU, {"E1": exports({"A": "a1"}, Hold="H1")}, outputs=["H1", "H2"])
    lose(cloud, "E2")
    cloud.ssm(EU).delete_parameters(Names=[f"/strongref/index/network/E2/{ACCOUNT}/{US}/web"])
    found(cloud)
    assert held_exports(cloud) == {"H1"}


def test_a_rollback_ends_well_although_the_index_cannot_be_read() -> None:
    cloud = Cloud()
    old, new = exports({"Z": "z"}, Region=AP), exports({"A": "a1"})
    cloud.deploy("network", EU, {"Old": old, "Exports": new})
    cloud.deploy("web", AP, {"Imports": imports("Z")})
    cloud.deploy("network", EU, {"Exports": new})
    denied_index(cloud)
    with pytest.raises(StrongRefError):
        cloud.deploy("network", EU, {"Exports": exports({"A": "a1"}, Region=[US, AP])})
    assert cloud.stack("network", EU).status == "UPDATE_ROLLBACK_COMPLETE"


def test_the_janitor_tends_to_the_rest_although_the_index_cannot_be_read() -> None:
    cloud = Cloud()
    cloud.deploy("network", EU, {"E1": exports({"A": "a1"}), "E2": exports({"B": "b1"})})
    cloud.deploy("web", US, {"Imports": imports("A", "B")})
    lose(cloud, "E2")
    cloud.ssm(US).delete_parameters(Names=[f"{SCOPE.path('exports')}/A"])
    denied_index(cloud)
    found(cloud)
    assert name("A") in cloud.values(US)


def test_an_update_that_is_refused_at_once_is_rolled_back_although_a_key_is_gone(cloud: Cloud) -> None:
    cloud.deploy("web", US, {"Imports": imports("A", "S")})
    lock(cloud)
    with pytest.raises(BadRequestError):
        deploy(cloud, Typo="x")
    assert cloud.stack("network", EU).status == "UPDATE_ROLLBACK_COMPLETE"


def test_half_a_rollback_is_not_taken_for_none() -> None:
    """The record is right again, the value is not, and another Export's record cannot be read by then."""
    cloud = Cloud()
    other = exports({"S": "s"}, SecureKeys=["S"])
    cloud.deploy("network", EU, {"E1": exports({"A": "a1", "T": "t"}, SecureKeys=["T"]), "E2": other})
    ssm = cloud.ssm(US)

    def later(*_: object) -> None:
        ssm.before_call = refusing("PutParameter", "/network/A'")
        raise LaterResourceError

    cloud._export, original = later, cloud._export  # type: ignore[method-assign,assignment]
    with pytest.raises(StrongRefError):
        cloud.deploy("network", EU, {"E1": exports({"A": "a2", "T": "t"}, SecureKeys=["T"]), "E2": other})
    cloud._export = original  # type: ignore[method-assign]
    ssm.before_call = None
    ssm.locked = {
        each: "InvalidKeyId"
        for each, found in ssm.parameters().items()
        if found.kind == "SecureString" and "/E2" in each
    }
    stack = cloud.stack("network", EU)
    with pytest.raises(UndecryptableError):
        cloud.roll_back(stack)
    unlock(cloud)
    cloud.roll_back(stack)
    assert (stack.status, cloud.values(US)[name("A")]) == ("UPDATE_ROLLBACK_COMPLETE", "a1")


@pytest.mark.parametrize("lose", WAYS)
@pytest.mark.parametrize("claims", [True, False])
def test_a_stack_is_deleted_whatever_became_of_the_record_of_its_other_export(
    lose: Callable[[Cloud], None], *, claims: bool
) -> None:
    """It can no longer be deployed, to write that record again. What is claimed is refused as ever."""
    cloud = Cloud()
    secret = exports({"C": "c1", "T": "t1"}, SecureKeys=["T"])
    cloud.deploy("network", EU, {"Exports": exported(), "More": secret})  # CloudFormation deletes More first.
    cloud.deploy("web", US, {"Imports": imports("T")} if claims else {})
    lose(cloud)
    for _ in range(2 if claims else 0):
        with pytest.raises(ExportsInUseError, match="T cannot be dropped"):
            cloud.delete("network", EU)
    assert (name("T") in cloud.values(US), name("C") in cloud.values(US)) == (True, True)
    cloud.deploy("web", US, {})
    cloud.delete("network", EU)
    assert cloud.values(US) == {}


def test_a_place_that_only_the_index_knows_is_not_abandoned(cloud: Cloud) -> None:
    resources = cloud.stack("network", EU).resources
    before = resources["Exports"]
    resources["Exports"] = replace(before, properties={**before.properties, "Future": "x"})  # of a later version
    lose(cloud, "Exports")
    with pytest.raises(StrongRefError):
        deploy(cloud, Consumer="other")
    assert "A cannot be dropped" in cloud.stack("network", EU).reasons[0]
    with pytest.raises(ExportsInUseError):
        cloud.delete("network", EU)


def test_a_mark_that_cannot_be_written_does_not_hide_the_refusal(cloud: Cloud) -> None:
    lock(cloud)
    cloud.ssm(US).before_call = refusing("PutParameter", SCOPE.path("records"))
    with pytest.raises(ExportsInUseError, match="A cannot be dropped"):
        deploy(cloud, without_a)
    assert "A cannot be dropped" in cloud.stack("network", EU).reasons[0]


def test_a_mark_makes_no_advanced_parameter() -> None:
    for size in range(3700, 4000):
        cloud = Cloud()
        deploy(cloud, {"A": "a1", "L": "x" * size, "S": "s"})
        if '"parts"' in cloud.texts(US)[HEAD[1:]]:
            break
        full = size
    cloud = Cloud()
    deploy(cloud, {"A": "a1", "L": "x" * full, "S": "s"})
    cloud.deploy("web", US, {"Imports": imports("A", "S")})
    lock(cloud)
    with pytest.raises(StrongRefError):
        deploy(cloud, {"A": "a2", "L": "x" * full, "S": "s"})
    assert '"untouched":true' in cloud.texts(US)[HEAD[1:]]
    assert cloud.ssm(US).parameters()[HEAD].tier == "Standard"
