"""An Import without `From`: which producer each name comes from, what is held, and what becomes of it later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.hold_stacks import PRODUCER_STACK_TAG
from strongref.contract.names import CLAIM_TAG, ExportScope, Producer
from strongref.contract.response import ResponseTooLargeError
from strongref.errors import PartialCreateError, StrongRefError
from strongref.protocol.lag import ReadLag
from strongref.protocol.several_producers import sources
from strongref.refusals import ExportsInUseError, NoProducerError, SeveralProducersError
from tests.protocol.test_holds import hold_stacks, holding
from tests.protocol.test_import_rollbacks import AnsweringCloud
from tests.protocol.test_janitor_holds import tend
from tests.protocol.test_scenarios import EU, US, exports, name
from tests.support.builders import ACCOUNT
from tests.support.cloudformation.operations import ExportInUseError, LaterResourceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.cloud import Cloud

A = name("A")
B = name("B", stack="database")
OTHER_A = name("A", stack="database")
C = name("C", stack="queue", region=US)


def of_any(*names: str, **more: Any) -> dict[str, Any]:
    return {"Names": list(names), **more}


def publish(cloud: Cloud, stack: str, region: str = EU, **values: str) -> None:
    cloud.deploy(stack, region, {"Exports": exports(values, Hold=f"{stack}-Exports")})


@pytest.fixture(params=[0.0, 2.0], ids=["reads at once", "late reads"])
def cloud(request: pytest.FixtureRequest) -> AnsweringCloud:
    """Three producers, in two regions."""
    made = AnsweringCloud()
    made.lag = ReadLag(request.param)
    publish(made, "network", A="a1")
    publish(made, "database", B="b1", D="d1")
    publish(made, "queue", US, C="c1")
    return made


@pytest.fixture
def imported(cloud: AnsweringCloud) -> AnsweringCloud:
    cloud.deploy("web", US, {"Imports": of_any("A", "B", "C")})
    cloud.clock.sleep(2 * 3600)
    return cloud


def claims(cloud: Cloud, *of: str) -> list[list[str]]:
    return [cloud.claims(US, each) for each in of]


# -- where names come from ---------------------------------------------------------------------------------------------

NETWORK, DATABASE, QUEUE = (
    ExportScope("web", Producer(ACCOUNT, EU, each)) for each in ("network", "database", "queue")
)


@pytest.mark.parametrize(
    ("published", "claimed", "found"),
    [
        ([NETWORK], [], NETWORK),
        ([NETWORK], [NETWORK], NETWORK),
        ([NETWORK], [DATABASE], DATABASE),
        ([], [DATABASE], DATABASE),
        ([DATABASE, NETWORK], [NETWORK], NETWORK),
        ([DATABASE, NETWORK], [NETWORK, QUEUE], NETWORK),
        ([NETWORK], [DATABASE, QUEUE], NETWORK),
        ([], [], None),
        ([DATABASE, NETWORK], [], [DATABASE, NETWORK]),
        ([DATABASE, NETWORK], [DATABASE, NETWORK], [DATABASE, NETWORK]),
    ],
)
def test_a_name_comes_from_the_producer_it_was_claimed_of_or_from_the_only_one(
    published: list[ExportScope], claimed: list[ExportScope], found: Any
) -> None:
    got = sources(["A"], {"A": published}, {"A": claimed})
    assert (got.missing == ["A"]) is (found is None)
    assert got.ambiguous.get("A") == (found if isinstance(found, list) else None)
    assert list(got.scopes) == ([found] if isinstance(found, ExportScope) else [])
    others = [each for each in published if each != found]
    assert got.others.get("A") == (others if isinstance(found, ExportScope) and others else None)


def test_each_name_comes_from_the_stack_that_exports_it(imported: AnsweringCloud) -> None:
    assert imported.get("web", US) == {"A": "a1", "B": "b1", "C": "c1"}
    assert claims(imported, A, B, C) == [["web"]] * 3
    assert claims(imported, name("D", stack="database")) == [[]]


def test_all_names_of_one_region_are_held_by_one_stack(imported: AnsweringCloud) -> None:
    assert sorted(holding(imported)) == [["database-Exports", "network-Exports"], ["queue-Exports"]]
    assert not [each for each in hold_stacks(imported) if PRODUCER_STACK_TAG in each.tags]
    for stack, region in (("network", EU), ("database", EU), ("queue", US)):
        with pytest.raises(ExportInUseError):
            imported.delete(stack, region)


def test_a_claimed_value_cannot_change_wherever_it_comes_from(imported: AnsweringCloud) -> None:
    with pytest.raises(ExportsInUseError, match="A cannot be changed: it is imported by stack web"):
        publish(imported, "network", A="a2")
    with pytest.raises(ExportsInUseError):
        publish(imported, "database", D="d1")
    publish(imported, "database", B="b1", D="d2")


def test_a_map_is_imported_whole(cloud: AnsweringCloud) -> None:
    cloud.deploy("alb", EU, {"Exports": exports({"Alb": {"Arn": "x", "Dns": "y"}})})
    cloud.deploy("web", US, {"Imports": of_any("Alb", "A")})
    assert cloud.get("web", US) == {"Alb.Arn": "x", "Alb.Dns": "y", "A": "a1"}


def test_weakly_nothing_is_claimed_or_held(cloud: AnsweringCloud) -> None:
    cloud.deploy("web", US, {"Imports": of_any("A", "C", Strength="weak")})
    assert cloud.get("web", US) == {"A": "a1", "C": "c1"}
    assert (claims(cloud, A, C), holding(cloud)) == ([[], []], [])


@pytest.mark.parametrize("more", [{}, {"Strength": "weak"}])
def test_what_nobody_exports_is_named(cloud: AnsweringCloud, more: dict[str, Any]) -> None:
    with pytest.raises(NoProducerError) as refused:
        cloud.deploy("web", US, {"Imports": of_any("A", "X", "Alb.Dns", **more)})
    assert str(refused.value).startswith(
        "X and Alb.Dns is not exported to web in us-east-1 by any stack of this account."
    )
    assert (claims(cloud, A), holding(cloud)) == ([[]], [])


@pytest.mark.parametrize("more", [{}, {"Strength": "weak"}])
def test_what_two_export_is_refused_with_both(cloud: AnsweringCloud, more: dict[str, Any]) -> None:
    publish(cloud, "database", A="other", B="b1")
    with pytest.raises(SeveralProducersError) as refused:
        cloud.deploy("web", US, {"Imports": of_any("B", "A", **more)})
    both = f"stack database ({EU}, {ACCOUNT}) and stack network ({EU}, {ACCOUNT})"
    assert str(refused.value).startswith(f"A is exported to web by {both}. Give the Import a From")
    assert (claims(cloud, A, B), holding(cloud)) == ([[], []], [])


def test_what_another_account_exports_here_does_not_count(cloud: AnsweringCloud) -> None:
    for tree in ("exports", "records"):
        foreign = f"/strongref/{tree}/web/222222222222/{EU}/network/{'A' if tree == 'exports' else 'Exports'}"
        cloud.ssm(US).put_parameter(Name=foreign, Type="String", Value='{"stack": "x", "values": {"A": "forged"}}')
    cloud.deploy("web", US, {"Imports": of_any("A")})
    assert cloud.get("web", US) == {"A": "a1"}


def test_the_values_have_to_fit_into_one_response_together(cloud: AnsweringCloud) -> None:
    publish(cloud, "network", A="a" * 2500)
    publish(cloud, "database", B="b" * 2500)
    with pytest.raises(ResponseTooLargeError):
        cloud.deploy("web", US, {"Imports": of_any("A", "B")})
    assert (claims(cloud, A, B), holding(cloud)) == ([[], []], [])


def test_an_unreadable_record_of_any_producer_may_name_it_too(cloud: AnsweringCloud) -> None:
    record = f"/strongref/records/web/{ACCOUNT}/{EU}/database/Exports"
    cloud.ssm(US).put_parameter(Name=record, Type="String", Value="?", Overwrite=True)
    with pytest.raises(StrongRefError, match=r"The exports of stack database .* are being changed right now"):
        cloud.deploy("web", US, {"Imports": of_any("A")})


# -- what comes meanwhile ----------------------------------------------------------------------------------------------


def at_first_claim(cloud: Cloud, act: Callable[[], object]) -> None:
    """Do something just before the first claim is put on."""

    def look(action: str, _request: dict[str, Any]) -> None:
        if action == "AddTagsToResource":
            cloud.ssm(US).before_call = None
            act()

    cloud.ssm(US).before_call = look


def test_a_second_producer_that_comes_while_it_claims_is_seen(cloud: AnsweringCloud) -> None:
    at_first_claim(cloud, lambda: publish(cloud, "database", A="other", B="b1"))
    with pytest.raises(PartialCreateError, match=r"^A is exported to web by stack database "):
        cloud.deploy("web", US, {"Imports": of_any("A")})
    assert claims(cloud, A, OTHER_A) == [[], []]  # Its Delete has removed them.


def test_what_an_earlier_try_has_claimed_is_released_if_a_later_one_claims_nothing(cloud: AnsweringCloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})

    def move() -> None:
        """A goes to another producer, where it is not what the record says."""
        cloud.deploy("network", EU, {})
        cloud.deploy("database", EU, {"Exports": exports({"A": "a1", "B": "b1"})})
        cloud.ssm(US).put_parameter(Name=f"/strongref/exports/{OTHER_A}", Type="String", Value="x", Overwrite=True)

    at_first_claim(cloud, move)
    with pytest.raises(PartialCreateError, match=r"^The stored value of A differs"):
        cloud.deploy("web", US, {"Imports": of_any("A")})


def test_a_hold_that_comes_while_it_claims_is_made(cloud: AnsweringCloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    at_first_claim(cloud, lambda: publish(cloud, "network", A="a1"))
    cloud.deploy("web", US, {"Imports": of_any("A", "B")})
    assert holding(cloud) == [["database-Exports", "network-Exports"]]


# -- what comes later --------------------------------------------------------------------------------------------------


def test_another_import_of_the_same_keeps_what_it_claimed_and_says_so(imported: AnsweringCloud) -> None:
    publish(imported, "database", A="other", B="b1")
    imported.deploy("web", US, {"Imports": of_any("A", "B", "C", Revision="2")})
    assert imported.get("web", US)["A"] == "a1"
    assert imported.answer.reason == (
        f"A is also exported to web by stack database ({EU}, {ACCOUNT}), and stays with the stack that it was claimed "
        "of. Give the Import a From."
    )
    with pytest.raises(SeveralProducersError):
        imported.deploy("web", US, {"Imports": of_any("A", "C")})
    assert claims(imported, A, OTHER_A) == [["web"], []]


def test_an_update_replaces_what_it_no_longer_names(imported: AnsweringCloud) -> None:
    imported.deploy("web", US, {"Imports": of_any("B")})
    assert claims(imported, A, B, C) == [[], ["web"], []]
    assert holding(imported) == [["database-Exports"]]


def test_a_deleted_import_releases_everything(imported: AnsweringCloud) -> None:
    imported.deploy("web", US, {})
    assert (claims(imported, A, B, C), holding(imported)) == ([[], [], []], [])
    publish(imported, "network", A="a2")


def test_a_deleted_consumer_leaves_nothing(imported: AnsweringCloud) -> None:
    imported.delete("web", US)
    assert (imported.values(US), holding(imported)) == ({}, [])


def test_a_failed_create_leaves_no_claim_and_no_hold(cloud: AnsweringCloud) -> None:
    with pytest.raises(LaterResourceError):
        cloud.deploy("web", US, {"Imports": of_any("A", "B")}, fails=True)
    assert (claims(cloud, A, B), holding(cloud)) == ([[], []], [])


def test_a_rollback_returns_to_the_one_that_was_claimed(cloud: AnsweringCloud) -> None:
    """What its producer has withdrawn meanwhile is kept for it, and another one that exports it does not matter."""
    imported = cloud
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})  # Without a hold, its Export can be dropped.
    cloud.deploy("web", US, {"Imports": of_any("A", "B", "C")})
    original = imported._export

    def meanwhile(*_: object) -> None:
        imported._export = original  # type: ignore[method-assign]
        imported.deploy("network", EU, {})
        assert '"withdrawn":true' in imported.texts(US)[f"strongref/records/web/{ACCOUNT}/{EU}/network/Exports"]
        publish(imported, "database", A="other", B="b1")
        raise LaterResourceError

    imported._export = meanwhile  # type: ignore[method-assign,assignment]
    with pytest.raises(LaterResourceError):
        imported.deploy("web", US, {"Imports": of_any("B")})
    assert imported.answer.data == {"A": "a1", "B": "b1", "C": "c1"}
    assert "A is also exported to web by stack database" in imported.answer.reason
    assert claims(imported, A, OTHER_A, B) == [["web"], [], ["web"]]


def test_a_rollback_leaves_out_what_two_export_and_nobody_claimed(imported: AnsweringCloud) -> None:
    original = imported._export

    def meanwhile(*_: object) -> None:
        imported._export = original  # type: ignore[method-assign]
        keys = [key for key in imported.tags(US, A) if key.startswith(CLAIM_TAG)]
        imported.ssm(US).remove_tags_from_resource(
            ResourceType="Parameter", ResourceId=f"/strongref/exports/{A}", TagKeys=keys
        )
        publish(imported, "database", A="other", B="b1")
        raise LaterResourceError

    imported._export = meanwhile  # type: ignore[method-assign,assignment]
    with pytest.raises(LaterResourceError):
        imported.deploy("web", US, {"Imports": of_any("B")})
    assert imported.answer.data == {"B": "b1", "C": "c1"}
    assert imported.answer.reason.startswith("Left out, as several stacks export it: A.")
    assert claims(imported, B, C) == [["web"]] * 2


# -- the janitor -------------------------------------------------------------------------------------------------------


def test_the_janitor_leaves_a_hold_of_several_producers_as_it_is(imported: AnsweringCloud) -> None:
    before = [(each.arn, each.updated) for each in hold_stacks(imported)]
    assert tend(imported) == []
    assert tend(imported, EU) == []
    assert [(each.arn, each.updated) for each in hold_stacks(imported)] == before


def test_the_janitor_adds_what_a_hold_of_several_producers_lacks(cloud: AnsweringCloud) -> None:
    cloud.deploy("network", EU, {"Exports": exports({"A": "a1"})})
    cloud.deploy("web", US, {"Imports": of_any("A", "B")})
    assert holding(cloud) == [["database-Exports"]]
    publish(cloud, "network", A="a1")
    assert tend(cloud) == ["unheld"]
    assert holding(cloud) == [["database-Exports", "network-Exports"]]
    assert tend(cloud) == []


def test_the_janitor_makes_a_hold_of_several_producers_that_is_gone(imported: AnsweringCloud) -> None:
    for each in hold_stacks(imported):
        imported.delete_stack(each.arn, each.region)
    for _ in range(3):
        tend(imported)
    assert sorted(holding(imported)) == [["database-Exports", "network-Exports"], ["queue-Exports"]]
    imported.deploy("web", US, {"Imports": of_any("A", "B", "C", Revision="2")})
    imported.deploy("web", US, {})
    assert holding(imported) == []


def test_the_janitor_deletes_the_hold_of_several_producers_with_its_import(imported: AnsweringCloud) -> None:
    imported.stack("web", US).resources.clear()
    tend(imported)
    tend(imported, EU)
    assert holding(imported) == []
