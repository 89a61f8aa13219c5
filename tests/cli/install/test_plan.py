"""What an installation does in a region, by what is there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from strongref_cli.install.plan import (
    IN_REVIEW,
    NEVER_WORKED,
    PROTECTION,
    UPDATABLE,
    Action,
    Found,
    FoundStack,
    InstallPlan,
    RegionOutcome,
    RegionResult,
    Wanted,
    is_older,
    plan_install,
)
from strongref_cli.install.removal import Leftovers, all_or_nothing, leftover_texts, plan_removal

EU = "eu-west-1"
TEMPLATE = "Resources: {}\n"
WANTED = Wanted("strongref", "0.2.0", ("Macro", "ReadLag"))
TAGS = {"application": "strongref"}
THERE = FoundStack("arn", "CREATE_COMPLETE", "0.2.0", {"Macro": "true", "ReadLag": "2"}, TAGS, TEMPLATE, protected=True)


def planned(stack: FoundStack | None, wanted: Wanted = WANTED, *, elsewhere: str = "") -> InstallPlan:
    return plan_install(Found(EU, stack, elsewhere), wanted, TEMPLATE)


def there(**more: Any) -> FoundStack:
    return replace(THERE, **more)


def wanting(**more: Any) -> Wanted:
    return replace(WANTED, **more)


@pytest.mark.parametrize("stack", [None, there(status=IN_REVIEW, parameters={}, version=None, tags={})])
def test_where_nothing_is_there_it_is_created_with_what_was_given(stack: FoundStack | None) -> None:
    plan = planned(stack, wanting(parameters={"ReadLag": "0"}, tags={"team": "a"}))
    assert (plan.action, plan.parameters) == (Action.CREATE, {"ReadLag": "0"})
    assert plan.tags == {**TAGS, "team": "a"}


@pytest.mark.parametrize("status", UPDATABLE)
def test_where_all_is_as_wanted_nothing_is_done(status: str) -> None:
    assert planned(there(status=status)).action is Action.NOTHING
    assert planned(there(status=status, template=f"{TEMPLATE}\n")).action is Action.NOTHING
    assert planned(there(status=status), wanting(parameters={"ReadLag": "2"})).action is Action.NOTHING


@pytest.mark.parametrize(
    ("stack", "wanted", "change"),
    [
        (there(version="0.1.0"), WANTED, "version 0.1.0 → 0.2.0"),
        (there(version=None), WANTED, "version unknown → 0.2.0"),
        (there(template="Resources: {A: {}}\n"), WANTED, "template or code"),
        (THERE, wanting(parameters={"ReadLag": "0"}), "ReadLag 2 → 0"),
        (there(parameters={"Macro": "true"}), wanting(parameters={"ReadLag": "0"}), "ReadLag (default) → 0"),
        (THERE, wanting(parameters={"ReadLag": ""}), "ReadLag 2 → (empty)"),
        (THERE, wanting(tags={"team": "a"}), "tag team → a"),
        (there(tags={}), WANTED, "tag application → strongref"),
    ],
)
def test_what_differs_is_updated_and_shown(stack: FoundStack, wanted: Wanted, change: str) -> None:
    plan = planned(stack, wanted)
    assert (plan.action, plan.changes, plan.before) == (Action.UPDATE, (change,), stack.version)


def test_a_stack_that_anyone_could_delete_is_protected_whatever_else_is_done() -> None:
    plan = planned(there(protected=False))
    assert (plan.action, plan.changes, plan.protected) == (Action.PROTECT, (PROTECTION,), False)
    plan = planned(there(protected=False), wanting(parameters={"ReadLag": "0"}))
    assert (plan.action, plan.changes, plan.protected) == (Action.UPDATE, ("ReadLag 2 → 0", PROTECTION), False)
    assert planned(THERE, wanting(parameters={"ReadLag": "0"})).protected


def test_an_update_keeps_parameters_and_tags_that_are_not_given() -> None:
    old = {"Macro": "false", "Gone": "x"}
    plan = planned(there(version="0.1.0", parameters=old, tags={"team": "a"}), wanting(parameters={"ReadLag": "0"}))
    assert plan.parameters == {"Macro": None, "ReadLag": "0"}  # Gone is no parameter of the new template
    assert plan.tags == {**TAGS, "team": "a"}


@pytest.mark.parametrize("status", NEVER_WORKED)
def test_a_stack_that_can_only_be_deleted_is_not_updated(status: str) -> None:
    plan = planned(there(status=status))
    assert plan.action is Action.REFUSE
    assert f"is in {status} and cannot be updated. Remove it with strongref uninstall" in plan.reason


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        ("UPDATE_IN_PROGRESS", "Wait until CloudFormation has finished"),
        ("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "Wait until CloudFormation has finished"),
        ("DELETE_IN_PROGRESS", "Wait until CloudFormation has finished"),
        ("UPDATE_ROLLBACK_FAILED", "aws cloudformation continue-update-rollback --stack-name strongref"),
    ],
)
def test_a_stack_at_work_or_stuck_is_not_updated(status: str, hint: str) -> None:
    plan = planned(there(status=status, version="0.1.0"))
    assert plan.action is Action.REFUSE
    assert status in plan.reason
    assert hint in plan.reason


def test_an_older_version_is_installed_only_by_force() -> None:
    newer = there(version="0.10.0")
    plan = planned(newer)
    assert plan.action is Action.REFUSE
    assert "Version 0.10.0 is installed, and this would install 0.2.0." in plan.reason
    assert planned(newer, wanting(force=True)).action is Action.UPDATE


def test_an_installation_under_another_name_is_not_doubled() -> None:
    plan = planned(None, elsewhere="platform")
    assert plan.action is Action.REFUSE
    assert "installed as stack platform. Give --stack platform" in plan.reason


@pytest.mark.parametrize(
    ("version", "other"),
    [("0.1.0", "0.2.0"), ("0.9.0", "0.10.0"), ("0.2.0rc1", "0.2.0"), ("0.2.0a1", "0.2.0rc1"), ("1.9.9", "2.0.0")],
)
def test_versions_have_an_order(version: str, other: str) -> None:
    assert is_older(version, other)
    assert not is_older(other, version)
    assert not is_older(other, other)


def test_what_is_no_version_is_neither_older_nor_newer() -> None:
    assert not is_older("development", "0.1.0")
    assert not is_older("0.1.0", "development")


def test_an_installation_that_is_used_stays_and_its_users_are_named() -> None:
    uses = ["web: Custom::CrossRegionImport (Imports)", "shop: uses the macro StrongRef"]
    outcome = plan_removal(Found(EU, THERE), uses)
    assert (outcome.result, outcome.details) == (RegionResult.IN_USE, tuple(uses))


@pytest.mark.parametrize(
    ("found", "result", "text"),
    [
        (Found(EU, None), RegionResult.NOT_INSTALLED, ""),
        (Found(EU, None, "platform"), RegionResult.REFUSED, "Give --stack platform"),
        (Found(EU, THERE), RegionResult.WOULD_REMOVE, ""),
        (Found(EU, there(status="ROLLBACK_COMPLETE")), RegionResult.WOULD_REMOVE, ""),
        (Found(EU, there(status=IN_REVIEW)), RegionResult.WOULD_REMOVE, ""),
        (Found(EU, there(status="DELETE_FAILED")), RegionResult.WOULD_REMOVE, ""),
        (Found(EU, there(status="UPDATE_IN_PROGRESS")), RegionResult.REFUSED, "Wait until CloudFormation has finished"),
        (Found(EU, there(protected=False)), RegionResult.WOULD_REMOVE, ""),
    ],
)
def test_what_is_not_used_may_go_if_cloudformation_lets_it(found: Found, result: RegionResult, text: str) -> None:
    outcome = plan_removal(found, [])
    assert outcome.result is result
    assert text in "".join(outcome.details)


@pytest.mark.parametrize("bad", [RegionResult.IN_USE, RegionResult.REFUSED, RegionResult.FAILED])
def test_nothing_is_removed_while_one_region_refuses(bad: RegionResult) -> None:
    given = [
        RegionOutcome("a", RegionResult.WOULD_REMOVE),
        RegionOutcome("b", bad),
        RegionOutcome("c", RegionResult.NOT_INSTALLED),
    ]
    outcomes, refused = all_or_nothing(given)
    assert refused
    assert [each.result for each in outcomes] == [RegionResult.UNTOUCHED, bad, RegionResult.NOT_INSTALLED]


def test_without_a_refusal_all_outcomes_stay() -> None:
    given = [RegionOutcome("a", RegionResult.WOULD_REMOVE), RegionOutcome("c", RegionResult.NOT_INSTALLED)]
    assert all_or_nothing(given) == (given, False)


def test_what_stays_is_named() -> None:
    left = Leftovers("bucket", 7, 2)
    stays, stored = leftover_texts(EU, left, purge=False, dry_run=False)
    assert stays == f"{EU}: the bucket bucket stays, with 7 objects of strongref. See --purge."
    assert stored == f"{EU}: 2 parameters below /strongref/ stay in Parameter Store."
    assert leftover_texts(EU, left, purge=True, dry_run=False) == [stored]
    assert (
        leftover_texts(EU, left, purge=True, dry_run=True)[0]
        == f"{EU}: 7 objects in the bucket bucket would be deleted."
    )
    assert leftover_texts(EU, Leftovers(), purge=False, dry_run=False) == []
