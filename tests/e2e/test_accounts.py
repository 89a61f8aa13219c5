"""References between accounts, with IAM on: what is published, imported, refused and held, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.between_accounts import CREATED, NOT_CREATED, ROLLED_BACK, UPDATED, A, B, C
from tests.e2e.harness import Aws, failing_resource
from tests.e2e.templates import EMPTY, EU, US, stack
from tests.e2e.test_events import Inbox

if TYPE_CHECKING:
    from tests.e2e.between_accounts import Between


def test_a_value_is_held_by_an_import_of_the_other_account(between: Between) -> None:
    between.publish({"A": "a1", "B": "b1"}, expect=CREATED)
    assert between.consume("A", expect=CREATED).outputs == {"A": "a1"}

    between.publish({"A": "a2", "B": "b1"}, expect=ROLLED_BACK)
    assert f"A cannot be changed: it is imported by stack {between.consumer} ({US}, {B})" in between.why()
    assert f"If that stack is gone, run strongref doctor --fix in account {B}" in between.why()
    between.publish({"A": "a1", "B": "b2", "C": "c1"}, expect=UPDATED)
    between.publish({"A": "a1", "B": "b2", "C": "c1"}, A, expect=ROLLED_BACK)

    between.b.delete(between.consumer, US)
    between.publish({"A": "a2"}, expect=UPDATED)
    assert between.stored(between.b) == {"A": "a2"}
    between.a.delete(between.producer, EU)
    assert between.left(between.b) == []


def test_an_import_before_the_export_fails_and_succeeds_after_it(between: Between) -> None:
    between.consume("A", expect=NOT_CREATED)
    assert "Nothing to import" in between.why_not()
    between.b.delete(between.consumer, US)
    between.publish({"A": "a1"}, expect=CREATED)
    between.consume("A", expect=CREATED)
    between.publish({"A": "a1"}, A, expect=ROLLED_BACK)
    assert between.claims("A") == [between.consumer]


def test_an_import_of_what_is_not_exported_to_this_account_names_what_is(between: Between) -> None:
    between.publish({"Vpc": "v1"}, expect=CREATED)
    between.consume("Vcp", expect=NOT_CREATED)
    assert "does not export Vcp (did you mean Vpc?) to this consumer" in between.why_not()


def test_a_consumer_is_deleted_and_created_again(between: Between) -> None:
    between.publish({"A": "a1"}, expect=CREATED)
    between.consume("A", expect=CREATED)
    between.b.delete(between.consumer, US)
    assert between.stored(between.b) == {}
    assert between.consume("A", expect=CREATED).outputs == {"A": "a1"}
    between.publish({"A": "a2"}, expect=ROLLED_BACK)
    between.b.delete(between.consumer, US)
    between.publish({"A": "a2"}, expect=UPDATED)
    assert between.consume("A", expect=CREATED).outputs == {"A": "a2"}


def test_an_import_that_is_rolled_back_holds_what_it_held(between: Between) -> None:
    between.publish({"A": "a1", "B": "b1"}, expect=CREATED)
    between.consume("A", expect=CREATED)
    template = between.taking("A", "B")
    template["Resources"]["Failing"] = failing_resource("Imports")
    between.b.deploy(between.consumer, template, US, ROLLED_BACK)
    assert (between.claims("A"), between.claims("B")) == ([between.consumer], [])
    between.publish({"A": "a1", "B": "b2"}, expect=UPDATED)
    between.publish({"B": "b2"}, expect=ROLLED_BACK)


def test_two_producers_are_imported_by_one_stack(between: Between) -> None:
    other = f"{between.producer}-2"
    between.publish({"A": "a1"}, expect=CREATED)
    between.a.deploy(other, stack({"Exports": between.exports({"A": "other"})}), EU, CREATED)
    template = between.taking("A")
    template["Resources"]["More"] = between.taking("A", producer=other)["Resources"]["Imports"]
    template["Outputs"]["Other"] = {"Value": {"Fn::GetAtt": ["More", "A"]}}
    assert between.b.deploy(between.consumer, template, US, CREATED).outputs == {"A": "a1", "Other": "other"}
    between.a.deploy(other, stack({"Exports": between.exports({"A": "changed"})}), EU, ROLLED_BACK)
    assert f"imported by stack {between.consumer}" in between.why(other)
    between.consume("A", expect=UPDATED)
    between.a.deploy(other, stack({"Exports": between.exports({"A": "changed"})}), EU, UPDATED)
    between.publish({"A": "a2"}, expect=ROLLED_BACK)


def test_what_is_shared_is_imported_by_any_stack_of_the_account(between: Between) -> None:
    between.publish({"Zone": "z1"}, consumer=None, expect=CREATED)
    first, second = f"{between.consumer}-1", f"{between.consumer}-2"
    for name in (first, second):
        between.b.deploy(name, between.taking("Zone", Shared="true"), US, CREATED)
    assert between.claims("Zone", consumer="_shared") == [first, second]
    between.publish({"Zone": "z2"}, consumer=None, expect=ROLLED_BACK)
    assert f"imported by stack {first} ({US}, {B}) and stack {second} ({US}, {B})" in between.why()
    for name in (first, second):
        between.b.delete(name, US)
    between.publish({"Zone": "z2"}, consumer=None, expect=UPDATED)


def test_nested_keys_lists_and_all_names(between: Between) -> None:
    values: dict[str, Any] = {"Subnets": {"Private": ["s1", "s2"], "Public": "s3"}, "Vpc": "v1"}
    between.publish(values, expect=CREATED)
    template = between.taking()
    template["Outputs"] = {"Public": {"Value": {"Fn::GetAtt": ["Imports", "Subnets.Public"]}}}
    assert between.b.deploy(between.consumer, template, US, CREATED).outputs == {"Public": "s3"}
    assert between.claims("Subnets/Public") == between.claims("Vpc") == [between.consumer]
    between.publish({**values, "Vpc": "v2"}, expect=ROLLED_BACK)
    between.b.deploy(between.consumer, between.taking("Subnets.Public"), US, UPDATED)
    between.publish({**values, "Vpc": "v2"}, expect=UPDATED)
    between.publish({"Vpc": "v2"}, expect=ROLLED_BACK)
    assert "Subnets.Public cannot be dropped" in between.why()


def test_a_change_is_propagated_if_the_export_says_so(between: Between) -> None:
    between.publish({"A": "a1"}, expect=CREATED, OnChange="propagate")
    between.consume("A", expect=CREATED)
    between.publish({"A": "a2"}, expect=UPDATED, OnChange="propagate")
    assert between.consume("A", expect=UPDATED, Revision="2").outputs == {"A": "a2"}
    assert between.claims("A") == [between.consumer]


def test_values_go_to_two_accounts_and_regions_and_one_import_refuses_for_all(between: Between) -> None:
    places = [(aws, region) for aws in (between.b, between.partner) for region in (EU, US)]
    accounts, regions = (B, between.partner.account), [EU, US]
    between.publish({"A": "a1", "B": "b1"}, *accounts, region=regions, expect=CREATED)
    between.consume("A", region=EU, expect=CREATED)
    before = [between.stored(*place) for place in places]
    assert before == [{"A": "a1", "B": "b1"}] * 4
    between.publish({"A": "a2", "B": "b2"}, *accounts, region=regions, expect=ROLLED_BACK)
    assert f"imported by stack {between.consumer} ({EU}, {B})" in between.why()
    assert [between.stored(*place) for place in places] == before
    between.publish({"A": "a1", "B": "b2"}, *accounts, region=regions, expect=UPDATED)
    assert [between.stored(*place) for place in places] == [{"A": "a1", "B": "b2"}] * 4
    between.publish({"A": "a1", "B": "b2"}, B, region=EU, expect=UPDATED)
    assert [between.stored(*place) for place in places] == [{"A": "a1", "B": "b2"}, {}, {}, {}]


def test_the_own_account_may_be_one_of_several(between: Between) -> None:
    between.publish({"A": "a1"}, A, B, region=EU, expect=CREATED)
    between.a.deploy(between.consumer, between.taking("A"), EU, CREATED)
    between.consume("A", region=EU, expect=CREATED)
    between.publish({"A": "a2"}, A, B, region=EU, expect=ROLLED_BACK)
    for account in (A, B):
        assert f"stack {between.consumer} ({EU}, {account})" in between.why()
    between.a.delete(between.consumer, EU)
    between.publish({"A": "a1"}, B, region=EU, expect=UPDATED)
    assert between.stored(between.a, EU) == {}
    between.publish({"A": "a1"}, A, region=EU, expect=ROLLED_BACK)


def test_a_value_moves_to_another_account_while_nobody_imports_it(between: Between) -> None:
    between.publish({"A": "a1"}, A, expect=CREATED)
    between.publish({"A": "a1"}, B, expect=UPDATED)
    assert (between.stored(between.a), between.stored(between.b)) == ({}, {"A": "a1"})
    between.consume("A", expect=CREATED)
    between.publish({"A": "a1"}, between.partner.account, expect=ROLLED_BACK)
    assert (between.stored(between.partner), between.stored(between.b)) == ({}, {"A": "a1"})


def test_an_update_that_fails_later_is_rolled_back_in_every_account(between: Between) -> None:
    between.publish({"A": "a1"}, expect=CREATED)
    between.begin_an_update({"A": "a2", "New": "n"}, B, between.partner.account)
    assert between.stored(between.b) == between.stored(between.partner) == {"A": "a2", "New": "n"}
    between.roll_back(ROLLED_BACK)
    assert (between.stored(between.b), between.stored(between.partner)) == ({"A": "a1"}, {})
    between.a.delete(between.producer, EU)
    assert between.left(between.b, between.partner) == []


@pytest.mark.parametrize(
    ("values", "more", "problem"),
    [
        ({"A": {A: "a1"}}, {}, f"Values.A.{A} must have no level {A}"),
        ({"A": "a1"}, {"SecureKeys": ["A"]}, "must not be secure: secure values are not exported to other accounts"),
        ({"A": "a1"}, {"Account": [A, B, "4"]}, "Account[2] must be an account's twelve digits"),
        ({"A": "a1"}, {"Account": "444444444444"}, "--parameter ExportAccounts="),
        ({"A": "a1"}, {"Account": [B, C]}, f"There, run strongref trust {A}"),
    ],
    ids=["level", "secure", "digits", "not listed", "no trust"],
)
def test_what_is_refused_is_written_nowhere_and_goes(
    between: Between, values: dict[str, Any], more: dict[str, Any], problem: str
) -> None:
    template = stack({"Exports": between.exports(values)})
    template["Resources"]["Exports"]["Properties"] |= more
    between.a.deploy(between.producer, template, EU, NOT_CREATED)
    assert problem in between.why()
    between.a.delete(between.producer, EU)
    assert between.left(between.b) == []


def test_an_account_that_trusts_nobody_is_added_by_mistake(between: Between) -> None:
    between.publish({"A": "a1"}, expect=CREATED)
    between.consume("A", expect=CREATED)
    for account in (C, "444444444444"):
        between.publish({"A": "a1", "B": "b1"}, B, account, expect=ROLLED_BACK)
        assert between.stored(between.b) == {"A": "a1"}
    between.publish({"A": "a1", "B": "b1"}, expect=UPDATED)
    between.b.delete(between.consumer, US)
    between.a.delete(between.producer, EU)
    assert between.left(between.b, Aws(between.a.emulator, C)) == []


def test_events_have_the_accounts_of_both_sides(between: Between) -> None:
    inbox = Inbox.of(between.a, EU, between.producer)
    between.publish({"A": "a1"}, expect=CREATED)
    between.consume("A", expect=CREATED)
    between.publish({"A": "a2"}, expect=ROLLED_BACK)
    (refused,) = inbox.wait_for("Change Refused")
    assert refused["producer"]["account"] == A
    assert [(each["name"], each["account"]) for each in refused["importers"]] == [(between.consumer, B)]
    assert [(each["key"], each["region"], each["account"]) for each in refused["values"]] == [("A", US, B)]


def test_a_claim_that_nobody_needs_stays_until_its_own_account_takes_it_off(between: Between) -> None:
    between.publish({"A": "a1"}, expect=CREATED)
    template = between.taking("A")
    template["Resources"]["Imports"]["DeletionPolicy"] = "Retain"
    between.b.deploy(between.consumer, template, US, CREATED)
    between.b.deploy(between.consumer, EMPTY, US, UPDATED)
    between.publish({"A": "a2"}, expect=ROLLED_BACK)
    assert between.claims("A") == [between.consumer]
    between.command(between.b, "doctor", "--fix", "--yes", "--region", US)
    assert between.claims("A") == []
    between.publish({"A": "a2"}, expect=UPDATED)
