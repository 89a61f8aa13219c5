"""A trust that is revoked, and comes back or does not: before, during and after an update, with IAM on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.e2e.between_accounts import CREATED, NOT_CREATED, ROLLED_BACK, STUCK, UPDATED, A, B, revoke, trust
from tests.e2e.templates import EMPTY, EU, US

if TYPE_CHECKING:
    from tests.e2e.between_accounts import Between


def forget(between: Between) -> str:
    """Give up the partner for the producer; what the command prints."""
    account = between.partner.account
    done = between.command(between.a, "forget", account, "--stack", between.producer, "--region", EU, "--yes")
    assert done.status == 0, done.err
    return done.out


def test_revoked_before_an_update_nothing_is_changed_anywhere(between: Between) -> None:
    partner = between.partner.account
    between.publish({"A": "a1"}, B, partner, expect=CREATED)
    revoke(between.partner)
    between.publish({"A": "a2", "B": "b1"}, B, partner, expect=ROLLED_BACK)
    assert f"Account {partner} does not let this account write" in between.why()
    assert f"There, run strongref trust {A}" in between.why()
    assert between.stored(between.b) == between.stored(between.partner) == {"A": "a1"}
    trust(between.partner)
    between.publish({"A": "a2", "B": "b1"}, B, partner, expect=UPDATED)
    assert between.stored(between.b) == between.stored(between.partner) == {"A": "a2", "B": "b1"}


def test_revoked_before_a_creation_the_stack_is_deleted_and_created_once_there_is_trust(between: Between) -> None:
    revoke(between.partner)
    between.publish({"A": "a1"}, B, between.partner.account, expect=NOT_CREATED)
    between.a.delete(between.producer, EU)
    assert between.left(between.b, between.partner) == []
    trust(between.partner)
    between.publish({"A": "a1"}, B, between.partner.account, expect=CREATED)
    assert between.stored(between.partner) == {"A": "a1"}


def test_revoked_during_an_update_the_rollback_waits_until_the_trust_is_back(between: Between) -> None:
    """The second of two places is denied: neither is rolled back before both are."""
    between.publish({"A": "a1"}, B, between.partner.account, expect=CREATED)
    between.begin_an_update({"A": "a2"}, B, between.partner.account)
    revoke(between.partner)
    between.roll_back(STUCK)
    assert f"strongref forget {between.partner.account} --stack {between.producer} --region {EU}" in between.why()
    assert between.stored(between.b) == between.stored(between.partner) == {"A": "a2"}
    trust(between.partner)
    between.a.continue_rollback(between.producer, EU)
    assert between.stored(between.b) == between.stored(between.partner) == {"A": "a1"}


def test_revoked_during_an_update_the_account_is_given_up(between: Between) -> None:
    between.publish({"A": "a1"}, B, between.partner.account, expect=CREATED)
    between.begin_an_update({"A": "a2"}, B, between.partner.account)
    revoke(between.partner)
    between.roll_back(STUCK)
    assert f"Places to forget in {between.partner.account}" in forget(between)
    between.a.continue_rollback(between.producer, EU)
    assert (between.stored(between.b), between.stored(between.partner)) == ({"A": "a1"}, {"A": "a2"})
    between.publish({"A": "a1"}, B, expect=UPDATED)
    between.a.delete(between.producer, EU)
    assert (between.stored(between.b), between.stored(between.partner)) == ({}, {"A": "a2"})


def test_an_account_that_is_added_and_revoked_during_the_update(between: Between) -> None:
    between.publish({"A": "a1"}, expect=CREATED)
    between.begin_an_update({"A": "a1"}, B, between.partner.account)
    revoke(between.partner)
    between.roll_back(STUCK)
    trust(between.partner)
    between.a.continue_rollback(between.producer, EU)
    assert (between.stored(between.b), between.stored(between.partner)) == ({"A": "a1"}, {})


def test_revoked_after_an_update_the_account_is_neither_dropped_nor_deleted_before_it_is_given_up(
    between: Between,
) -> None:
    between.publish({"A": "a1"}, B, between.partner.account, expect=CREATED)
    revoke(between.partner)
    between.publish({"A": "a1"}, expect=ROLLED_BACK)
    assert f"strongref forget {between.partner.account}" in between.why()
    between.a.delete(between.producer, EU, expect="DELETE_FAILED")
    forget(between)
    between.a.delete(between.producer, EU)
    assert (between.stored(between.b), between.stored(between.partner)) == ({}, {"A": "a1"})


def test_what_is_given_up_is_dropped_and_published_again_when_the_trust_is_back(between: Between) -> None:
    between.publish({"A": "a1"}, B, between.partner.account, expect=CREATED)
    revoke(between.partner)
    forget(between)
    between.publish({"A": "a2"}, expect=UPDATED)
    assert between.stored(between.partner) == {"A": "a1"}
    trust(between.partner)
    between.publish({"A": "a2"}, B, between.partner.account, expect=UPDATED)
    assert between.stored(between.b) == between.stored(between.partner) == {"A": "a2"}


def test_without_trust_the_consumers_account_deletes_what_nobody_imports(between: Between) -> None:
    between.publish({"A": "a1"}, between.partner.account, expect=CREATED)
    revoke(between.partner)
    done = between.command(between.partner, "forget", A, "--region", US, "--yes")
    assert done.status == 0, done.err
    assert between.stored(between.partner) == {}
    forget(between)
    between.a.delete(between.producer, EU)


def test_what_is_claimed_while_the_trust_is_away_is_held_when_it_is_back(between: Between) -> None:
    name = f"/strongref/exports/{between.consumer}/{A}/{EU}/{between.producer}/A"
    between.publish({"A": "a1"}, between.partner.account, expect=CREATED)
    revoke(between.partner)
    claim = {"Key": "strongref:claim:0123456789abcdef", "Value": between.a.stack_arn(between.producer, EU)}
    ssm = between.partner.client("ssm", US)
    ssm.add_tags_to_resource(ResourceType="Parameter", ResourceId=name, Tags=[claim])
    trust(between.partner)
    between.publish({"A": "a2"}, between.partner.account, expect=ROLLED_BACK)
    ssm.remove_tags_from_resource(ResourceType="Parameter", ResourceId=name, TagKeys=[claim["Key"]])
    between.a.deploy(between.producer, EMPTY, EU, UPDATED)
    assert between.left(between.partner) == []
