"""A producer whose values another account imports: what protects it from deletion, from when on, and what is left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.hold_stacks import HOLDS
from tests.e2e.between_accounts import CREATED, ROLLED_BACK, UPDATED, B, revoke, trust
from tests.e2e.templates import EMPTY, EU, US, Template, held, stack, topic

if TYPE_CHECKING:
    from tests.e2e.between_accounts import Between


@pytest.fixture
def between(between_alone: Between) -> Between:
    return between_alone


def tend(between: Between) -> list[str]:
    """Have A's janitor look after other accounts: what it found about the consumer's places."""
    done = between.a.invoke("Janitor", {"Only": "abroad"}, EU)
    assert not done.failed, done.result
    assert not done.result["Continues"]
    return sorted(each["Kind"] for each in done.result["Findings"] if between.consumer in json.dumps(each))


def producing(between: Between, *accounts: str, **more: Any) -> Template:
    """A topic, an Export of its ARN, and something that neither depends on."""
    return {
        "Topic": topic(),
        "Exports": between.exports({"Arn": {"Ref": "Topic"}}, *accounts, **more),
        "Independent": topic(),
    }


def holds(between: Between) -> list[tuple[str, str]]:
    """The accounts and regions of the places for which the producer is held."""
    path = f"{HOLDS}/{between.producer}-Exports/"
    names = [name.removeprefix(path).split("/") for name in between.a.parameters(EU, HOLDS) if name.startswith(path)]
    return sorted((account, region) for account, region, *_ in names)


def produce(between: Between, *accounts: str, **more: Any) -> dict[str, str]:
    """Deploy the producer; the physical IDs of its resources."""
    between.a.deploy(between.producer, held(producing(between, *accounts, **more)), EU, CREATED)
    return between.a.physical_ids(between.producer, EU)


def test_what_the_other_account_imports_is_held_by_cloudformation_until_the_janitor_sees_it_released(
    between: Between,
) -> None:
    before = produce(between)
    assert tend(between) == []
    between.consume("Arn", expect=CREATED)
    changed = held({**producing(between), "Exports": between.exports({"Arn": "another"})})
    between.a.deploy(between.producer, changed, EU, ROLLED_BACK)
    assert f"imported by stack {between.consumer} ({US}, {B})" in between.why()
    assert tend(between) == ["unheld"]
    assert holds(between) == [(B, US)]

    between.a.delete(between.producer, EU, expect=ROLLED_BACK)
    assert f"Delete canceled. Cannot delete export {between.producer}-Exports" in between.why()
    assert f"in use by strongref-hold-{B}-{between.consumer}-" in between.why()
    between.a.deploy(between.producer, stack({"Topic": topic()}), EU, ROLLED_BACK)
    assert "Cannot delete export" in between.why()
    assert between.a.physical_ids(between.producer, EU) == before

    between.b.delete(between.consumer, US)
    between.a.delete(between.producer, EU, expect=ROLLED_BACK)
    assert "Delete canceled" in between.why()
    assert tend(between) == ["cleaned-up", "stale-hold"]
    between.a.delete(between.producer, EU)
    assert (holds(between), between.left(between.b)) == ([], [])


def test_before_the_janitors_run_a_deletion_fails_at_the_export(between: Between) -> None:
    """As without a hold: the values stay, and what the Export does not depend on goes."""
    produce(between)
    imported = between.consume("Arn", expect=CREATED).outputs
    between.a.delete(between.producer, EU, expect="DELETE_FAILED")
    assert f"imported by stack {between.consumer} ({US}, {B})" in between.why()
    assert "Independent" not in between.a.physical_ids(between.producer, EU)
    assert between.stored(between.b) == imported
    between.b.delete(between.consumer, US)
    between.a.delete(between.producer, EU)
    assert between.left(between.b) == []


def test_an_export_without_hold_is_not_held(between: Between) -> None:
    between.a.deploy(between.producer, stack(producing(between)), EU, CREATED)
    between.consume("Arn", expect=CREATED)
    assert (tend(between), holds(between)) == ([], [])


def test_a_place_is_held_once_until_its_last_import_leaves(between: Between) -> None:
    produce(between, consumer=None)
    first, second = f"{between.consumer}-1", f"{between.consumer}-2"
    for name in (first, second):
        between.b.deploy(name, between.taking("Arn", Shared="true"), US, CREATED)
    for name in (first, second):
        tend(between)
        assert holds(between) == [(B, US)]
        between.b.delete(name, US)
    tend(between)
    assert holds(between) == []


def test_a_consumer_that_is_created_again_is_held_by_the_same_hold(between: Between) -> None:
    produce(between)
    between.consume("Arn", expect=CREATED)
    tend(between)
    between.b.delete(between.consumer, US)
    between.consume("Arn", expect=CREATED)
    between.a.delete(between.producer, EU, expect=CREATED)
    assert "Delete canceled" in between.why()
    assert (tend(between), holds(between)) == ([], [(B, US)])


def test_a_revoked_place_stays_held_and_others_are_looked_after(between: Between) -> None:
    produce(between, B, between.partner.account)
    between.consume("Arn", expect=CREATED)
    name = f"/strongref/exports/{between.consumer}/{between.a.account}/{EU}/{between.producer}/Arn"
    claim = {"Key": "strongref:claim:0123456789abcdef", "Value": between.b.stack_arn(between.consumer, US)}
    ssm = between.partner.client("ssm", US)
    ssm.add_tags_to_resource(ResourceType="Parameter", ResourceId=name, Tags=[claim])
    partner = (between.partner.account, US)
    assert (tend(between), holds(between)) == (["unheld"] * 2, [(B, US), partner])
    revoke(between.partner, between.a.account)
    between.b.delete(between.consumer, US)
    assert (tend(between), holds(between)) == (["cleaned-up", "stale-hold", "unreachable"], [partner])
    trust(between.partner, between.a.account)
    ssm.remove_tags_from_resource(ResourceType="Parameter", ResourceId=name, TagKeys=[claim["Key"]])
    assert (tend(between), holds(between)) == (["cleaned-up", "stale-hold"], [])


def test_a_person_has_the_janitor_look_at_once(between: Between) -> None:
    """Their own credentials may not assume the role of the other account."""
    produce(between)
    between.consume("Arn", expect=CREATED)
    printed = between.command(between.a, "doctor", "--fix", "--yes", "--region", EU).out
    assert f"strongref-hold-{B}-{between.consumer}-" in printed
    assert holds(between) == [(B, US)]
    between.b.delete(between.consumer, US)
    between.command(between.a, "doctor", "--fix", "--yes", "--region", EU)
    between.a.delete(between.producer, EU)
    assert (holds(between), between.left(between.b)) == ([], [])


def test_what_a_deleted_stack_left_is_deleted_once_nobody_imports_it(between: Between) -> None:
    template = stack({"Exports": between.exports({"A": "a1", "B": "b1"})})
    template["Resources"]["Exports"]["DeletionPolicy"] = "Retain"
    between.a.deploy(between.producer, template, EU, CREATED)
    between.consume("A", expect=CREATED)
    between.a.delete(between.producer, EU)
    tend(between)
    assert between.stored(between.b) == {"A": "a1"}
    between.b.deploy(between.consumer, EMPTY, US, UPDATED)
    tend(between)
    assert between.left(between.b) == []


def test_an_account_that_was_given_up_is_cleaned_when_it_trusts_again(between: Between) -> None:
    between.publish({"A": "a1"}, B, between.partner.account, expect=CREATED)
    revoke(between.partner, between.a.account)
    done = between.command(between.a, "forget", between.partner.account, "--stack", between.producer, "--yes")
    assert done.status == 0, done.err
    between.a.delete(between.producer, EU)
    assert between.stored(between.partner) == {"A": "a1"}
    trust(between.partner, between.a.account)
    tend(between)
    assert [each for each in between.left(between.b, between.partner) if "/releases/" not in each] == []
