"""An Import without `From` where something cannot be read, comes late, or is not what it was."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from strongref.contract.names import ExportScope, Key, Producer, claim_tag
from strongref.errors import StrongRefError, UndecryptableError
from strongref.protocol.ports import Ports
from strongref.protocol.time import Patience
from strongref.refusals import SeveralProducersError
from strongref_cli.doctor.releasing import ClaimedValue, release
from strongref_cli.overview.exports import Claim
from strongref_cli.overview.states import ImportState, Protection
from tests.protocol.test_holds import hold_stacks, holding
from tests.protocol.test_import_rollbacks import AnsweringCloud, deny, roll_back
from tests.protocol.test_janitor_holds import tend
from tests.protocol.test_newer_formats import write
from tests.protocol.test_scenarios import EU, US, exports, imports
from tests.protocol.test_several_producers import A, B, claims, of_any, publish
from tests.support.builders import ACCOUNT
from tests.support.fake_ssm import FakeSsm

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.cloud import Cloud

BOTH = of_any("A", "B")
FULL = ["database-Exports", "network-Exports"]


@pytest.fixture
def cloud() -> AnsweringCloud:
    """Two producers."""
    made = AnsweringCloud()
    publish(made, "network", A="a1")
    publish(made, "database", B="b1")
    return made


# -- a rollback has to end ---------------------------------------------------------------------------------------------


def second(cloud: Cloud, then: Callable[[Cloud], None]) -> None:
    """Another producer comes, and then something else."""
    publish(cloud, "database", A="other", B="b1")
    then(cloud)


TAGS = partial(deny, action="ListTagsForResource")
RECORDS = partial(deny, action="GetParametersByPath", part="/records/")
VALUES = partial(deny, action="GetParametersByPath", part="/exports/")


@pytest.mark.parametrize("what", [TAGS, RECORDS, VALUES], ids=["tags", "records", "values"])
def test_a_rollback_ends_whatever_cannot_be_read(cloud: AnsweringCloud, what: Callable[[Cloud], None]) -> None:
    values, reason = roll_back(cloud, BOTH, lambda: what(cloud))
    assert values == {"A": "a1", "B": "b1"}
    assert ("denied" in reason) is (what is not VALUES)  # The records say enough to claim again.


@pytest.mark.parametrize("what", [RECORDS, VALUES], ids=["records", "values"])
def test_what_cannot_be_read_is_not_gone(cloud: AnsweringCloud, what: Callable[[Cloud], None]) -> None:
    def meanwhile() -> None:
        for stored in (A, B):
            cloud.ssm(US).delete_parameter(Name=f"/strongref/exports/{stored}")
        for stack in ("network", "database"):
            write(cloud, f"/strongref/records/web/{ACCOUNT}/{EU}/{stack}/Exports")
        what(cloud)

    with pytest.raises(StrongRefError, match="was denied"):
        roll_back(cloud, BOTH, meanwhile)


def test_where_claims_cannot_be_read_a_rollback_does_not_guess(cloud: AnsweringCloud) -> None:
    def meanwhile() -> None:
        cloud.deploy("network", EU, {})  # withdrawn, and kept for the claim
        publish(cloud, "database", A="other", B="b1")
        TAGS(cloud)

    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    values, reason = roll_back(cloud, BOTH, meanwhile)
    assert values == {"B": "b1"}
    assert "Left out, as several stacks export it: A." in reason


# -- what cannot be decrypted ------------------------------------------------------------------------------------------


@pytest.fixture
def locked(cloud: AnsweringCloud) -> AnsweringCloud:
    """What database exports in secret cannot be decrypted."""
    secret = exports({"B": "b1", "Db": {"Host": "h", "P": "p"}, "S": "s"}, SecureKeys=["Db/P", "S"])
    cloud.deploy("database", EU, {"Exports": secret})
    cloud.ssm(US).lock()
    return cloud


@pytest.mark.parametrize("strength", ["strong", "weak"])
@pytest.mark.parametrize("names", [("S",), ("Db",), ("X",)])
def test_what_cannot_be_decrypted_is_said_to_be_so(locked: AnsweringCloud, names: tuple[str], strength: str) -> None:
    with pytest.raises(UndecryptableError):
        locked.deploy("web", US, {"Imports": of_any("A", *names, Strength=strength)})


@pytest.mark.parametrize("strength", ["strong", "weak"])
def test_what_else_cannot_be_decrypted_does_not_matter(locked: AnsweringCloud, strength: str) -> None:
    locked.deploy("web", US, {"Imports": of_any("A", "B", "Db.Host", Strength=strength)})
    assert locked.get("web", US) == {"A": "a1", "B": "b1", "Db.Host": "h"}


def test_a_secret_of_the_same_name_that_cannot_be_decrypted_is_a_second_one(locked: AnsweringCloud) -> None:
    publish(locked, "network", S="s1")
    with pytest.raises(UndecryptableError):
        locked.deploy("web", US, {"Imports": of_any("S")})


# -- releasing ---------------------------------------------------------------------------------------------------------


def release_claim(cloud: Cloud, stack: str, key: str) -> None:
    """Somebody releases what web claims of a stack."""
    ports = Ports(cloud.stores, cloud, Patience(5, 2, lambda: 0.5), cloud.token)
    web, scope = cloud.stack("web", US), ExportScope("web", Producer(ACCOUNT, EU, stack))
    claim = Claim(web.arn, claim_tag(web.resources["Imports"].physical_id), ImportState.CURRENT, Protection.HELD)
    release(ports, cloud.clock, [ClaimedValue(US, scope, claim, Key(key))], "me", "why")


def test_a_released_claim_takes_its_part_of_the_hold_away(cloud: AnsweringCloud) -> None:
    cloud.deploy("web", US, {"Imports": BOTH})
    release_claim(cloud, "network", "A")
    assert (claims(cloud, A, B), holding(cloud)) == ([[], ["web"]], [["database-Exports"]])
    release_claim(cloud, "database", "B")
    assert (claims(cloud, A, B), holding(cloud)) == ([[], []], [])


def newer(cloud: Cloud) -> None:
    write(cloud, f"/strongref/records/web/{ACCOUNT}/{EU}/database/Exports")


def foreign(cloud: Cloud) -> None:
    (hold,) = hold_stacks(cloud)
    hold.tags = {}


@pytest.mark.parametrize("wrong", [newer, foreign])
def test_a_released_claim_is_released_whatever_is_wrong_with_the_hold(
    cloud: AnsweringCloud, wrong: Callable[[Cloud], None]
) -> None:
    cloud.deploy("web", US, {"Imports": BOTH})
    wrong(cloud)
    release_claim(cloud, "network", "A")
    assert (claims(cloud, A), holding(cloud)) == ([[]], [FULL])


# -- the janitor -------------------------------------------------------------------------------------------------------


def test_one_run_of_the_janitor_makes_a_hold_of_several_producers(
    cloud: AnsweringCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.deploy("web", US, {"Imports": BOTH})
    cloud.clock.sleep(2 * 3600)
    (hold,) = hold_stacks(cloud)
    cloud.delete_stack(hold.arn, EU)
    with monkeypatch.context() as slow:  # Its parameters are made only when the run is over.
        slow.setattr("strongref.protocol.janitor_holds.held_exports", lambda _: {})
        assert set(tend(cloud)) == {"unheld"}
    assert holding(cloud) == [FULL]
    assert tend(cloud) == []


# -- its deletion ------------------------------------------------------------------------------------------------------


def test_a_claim_that_reads_do_not_show_yet_is_released(cloud: AnsweringCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Delete may follow a Create that has failed a moment ago."""
    cloud.deploy("web", US, {"Imports": BOTH})
    with monkeypatch.context() as late:
        late.setattr(FakeSsm, "list_tags_for_resource", lambda *_, **__: {"TagList": []})
        cloud.deploy("web", US, {})
    assert claims(cloud, A, B) == [[], []]


def test_two_stacks_of_one_consumer_label_hold_and_release_for_themselves() -> None:
    cloud = AnsweringCloud()
    for stack in ("network", "database"):
        values = {"A": "a1"} if stack == "network" else {"B": "b1"}
        cloud.deploy(stack, EU, {"Exports": exports(values, Consumer="fleet", Hold=f"{stack}-Exports")})
    for stack in ("web", "shop"):
        cloud.deploy(stack, US, {"Imports": BOTH | {"Consumer": "fleet"}})
    fleet = [each.replace("web/", "fleet/", 1) for each in (A, B)]
    assert (claims(cloud, *fleet), holding(cloud)) == ([["shop", "web"]] * 2, [FULL, FULL])
    cloud.clock.sleep(2 * 3600)
    assert (tend(cloud), tend(cloud, EU)) == ([], [])
    cloud.delete("web", US)
    assert (claims(cloud, *fleet), holding(cloud)) == ([["shop"]] * 2, [FULL])
    cloud.delete("shop", US)
    assert (claims(cloud, *fleet), holding(cloud)) == ([[]] * 2, [])


def test_imports_with_and_without_from_of_one_stack_are_two(cloud: AnsweringCloud) -> None:
    with_from = imports("A")
    cloud.deploy("web", US, {"Imports": of_any("A"), "Others": with_from})
    assert (len(cloud.tags(US, A)), holding(cloud)) == (4, [["network-Exports"]] * 2)
    cloud.clock.sleep(2 * 3600)
    assert (tend(cloud), tend(cloud, EU)) == ([], [])
    cloud.deploy("web", US, {"Others": with_from})
    assert (claims(cloud, A), holding(cloud)) == ([["web"]], [["network-Exports"]])


@pytest.mark.parametrize("to", [imports("A"), of_any("A", Strength="weak"), of_any("A", "B")])
def test_another_import_under_the_same_id_takes_over(cloud: AnsweringCloud, to: dict[str, object]) -> None:
    cloud.deploy("web", US, {"Imports": of_any("A")})
    for properties in (to, of_any("A")):
        cloud.deploy("web", US, {"Imports": properties})
    assert (claims(cloud, A, B), holding(cloud)) == ([["web"], []], [["network-Exports"]])
    cloud.delete("web", US)
    assert (cloud.values(US), holding(cloud)) == ({}, [])


def test_what_a_stack_exports_to_itself_it_does_not_hold(cloud: AnsweringCloud) -> None:
    own = {"Exports": exports({"W": "w1"}, Consumer="web", Hold="web-Exports"), "Imports": of_any("A", "W")}
    cloud.deploy("web", US, own)
    assert (cloud.get("web", US), holding(cloud)) == ({"A": "a1", "W": "w1"}, [["network-Exports"]])
    cloud.clock.sleep(2 * 3600)
    assert (tend(cloud), tend(cloud, EU)) == ([], [])
    cloud.delete("web", US)
    assert holding(cloud) == []


def test_maps_of_two_producers_are_told_apart_as_names(cloud: AnsweringCloud) -> None:
    for stack, values in (("network", {"Arn": "x"}), ("database", {"Dns": "y"})):
        cloud.deploy(stack, EU, {"Exports": exports({"Alb": values}, Hold=f"{stack}-Exports")})
    with pytest.raises(SeveralProducersError):
        cloud.deploy("web", US, {"Imports": of_any("Alb")})
    cloud.deploy("web", US, {"Imports": of_any("Alb.Arn", "Alb.Dns")})
    assert cloud.get("web", US) == {"Alb.Arn": "x", "Alb.Dns": "y"}
