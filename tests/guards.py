"""Removes each guard from a copy of the project, and shows that the tests which rest on it fail.

A test that passes with and without the code that it tests proves nothing. Run by `make guards`. A guard is named by its
function and a pattern of its code, see `code_patterns`; tests/test_guards.py checks that each is still there.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tests.support import examples, only
from tests.support.code_patterns import NotFoundOnceError, replace
from tests.support.emulator.control import executable
from tests.support.run_times import cpu_seconds, minutes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[1]
LEFT_BEHIND = (".git", ".build", ".aws-sam", ".hypothesis", ".*_cache")
"""Not what Python has compiled: it holds in a copy, too, since times of modification are copied."""

IMPORTED_ONCE = (
    "_hypothesis_pytestplugin",
    "aws_lambda_powertools",
    "boto3.session",
    "crhelper",
    "hypothesis.strategies",
)
"""What most tests import, and no guard is in: the forks that run them need not do so again."""

OURS = ("strongref", "tests")
"""The beginnings of the names of modules that a fork imports from its own copy."""

SMALLEST = "every_order and (change or drop) and not imports and not exporters and not crash"
"""The protocol's smallest cases: a change or a drop meets one import."""

REPORT = "report.xml"

WAITING = 2
"""How many run at a time beyond one a core."""

EVERY_FAULT = "test_whatever_goes_wrong_nothing_claimed_is_lost_and_the_next_event_makes_it_right"


@dataclass(frozen=True)
class Guard:
    """A piece of code that protects, and the tests that must fail without it.

    Attributes:
        name: what is removed.
        file: the module.
        function: its qualified name in the module.
        find: the code, as a pattern that matches once in the function; in other files than Python's, text.
        tests: pytest's selection.
        must_fail: the beginnings of the names of tests, each of which must be among those run, and must fail.
        instead: the code that replaces it; without it, the statement is removed.
    """

    name: str
    file: str
    function: str
    find: str
    tests: tuple[str, ...]
    must_fail: tuple[str, ...]
    instead: str = ""

    def removed(self) -> str:
        """The module's source without the guard.

        Raises:
            NotFoundOnceError: it is not there exactly once.
        """
        source = (ROOT / self.file).read_text()
        if self.file.endswith(".py"):
            return replace(source, self.function, self.find, self.instead)
        if source.count(self.find) != 1:
            raise NotFoundOnceError(f"{self.find!r} is there {source.count(self.find)} times.")
        return source.replace(self.find, self.instead)


GUARDS = (
    Guard(
        name="the refusal to change or drop what is claimed",
        file="layers/core/strongref/protocol/planner.py",
        function="_in_use",
        find="if _: yield ExportsInUseError(...)",
        instead="if False: yield",
        tests=(
            "tests/protocol/test_scenarios.py",
            "tests/protocol/test_interleavings.py",
            "-k",
            f"claimed_value_is_not or cannot_be_deleted_under or fails_later_leaves_the_old or ({SMALLEST})",
        ),
        must_fail=(
            "test_a_claimed_value_is_not_changed",
            "test_a_claimed_value_is_not_dropped",
            "test_a_producer_cannot_be_deleted_under_its_consumer_and_can_once_it_is_released",
            "test_in_every_order_of_calls_no_reference_is_lost_and_none_is_torn[there: change x import]",
            "test_in_every_order_of_calls_no_reference_is_lost_and_none_is_torn[there: drop x import]",
        ),
    ),
    Guard(
        name="the fence that an exporter puts up before it reads the claims",
        file="layers/core/strongref/protocol/fences.py",
        function="OwnFence.put_up",
        find="_.overwrite(...)",
        tests=("tests/protocol/test_interleavings.py", "-k", SMALLEST),
        must_fail=(
            "test_in_every_order_of_calls_no_reference_is_lost_and_none_is_torn[there: change x import]",
            "test_in_every_order_of_calls_no_reference_is_lost_and_none_is_torn[there: drop x import]",
        ),
    ),
    Guard(
        name="the wait between a fence and the reads behind it",
        file="layers/core/strongref/protocol/fences.py",
        function="FenceLease.wait_before_reading",
        find="self.clock.sleep(seconds)",
        tests=("tests/protocol/test_late_reads.py", "-k", "where_reads_lag and (change or drop) and not exporters"),
        must_fail=(
            "test_where_reads_lag_no_reference_is_lost_and_none_is_torn[there: change x import]",
            "test_where_reads_lag_no_reference_is_lost_and_none_is_torn[there: drop x import]",
        ),
    ),
    Guard(
        name="the wait between the last write and the deletion of the fence",
        file="layers/core/strongref/protocol/behind_fences.py",
        function="_wait_after_writing",
        find="lag.settle(clock)",
        tests=("tests/protocol/test_late_reads.py", "-k", "where_reads_lag and (change or drop) and not exporters"),
        must_fail=(
            "test_where_reads_lag_no_reference_is_lost_and_none_is_torn[there: change x import]",
            "test_where_reads_lag_no_reference_is_lost_and_none_is_torn[there: drop x import]",
        ),
    ),
    Guard(
        name="the second look at a claim that seems stale",
        file="layers/core/strongref/protocol/inspection.py",
        function="TagInspector.confirm_stale",
        find="second.agree(_1, _2)",
        tests=("tests/protocol/test_waits.py",),
        must_fail=("test_a_claim_that_looks_stale_once_is_live[]",),
    ),
    Guard(
        name="the second look of a cleanup at a claim that seems stale",
        file="layers/core/strongref/protocol/cleanup.py",
        function="ClaimRelease._delete",
        find="inspector.confirm_stale(...)",
        tests=("tests/protocol/test_waits.py",),
        must_fail=("test_a_cleanup_looks_twice_at_a_claim_that_looks_stale",),
    ),
    Guard(
        name="that a producer is deleted only if the first look found it so",
        file="layers/core/strongref/protocol/janitor.py",
        function="Janitor._look_again",
        find="first.found_deleted(stack)",
        instead="True",
        tests=("tests/protocol/test_waits.py",),
        must_fail=("test_a_producer_that_looks_deleted_to_the_second_look_alone_keeps_its_exports",),
    ),
    Guard(
        name="the fence of an interrupted command whose writes may still be carried out",
        file="layers/core/strongref/protocol/behind_fences.py",
        function="_put_away_after",
        find="lease.has_written",
        instead="False",
        tests=("tests/protocol/test_fences.py", "-k", "ctrl_c"),
        must_fail=("test_ctrl_c_takes_the_fence_away_unless_a_write_may_still_be_on_its_way[True]",),
    ),
    Guard(
        name="that a cleanup asks about every claim",
        file="layers/core/strongref/protocol/cleanup.py",
        function="ClaimRelease._delete",
        find="inspector.check_asked()",
        instead="pass",
        tests=("tests/protocol/test_faults.py", "-k", "reads_lag and published"),
        must_fail=("test_where_reads_lag_nothing_claimed_is_lost_either[import: delete with its stack cleans what",),
    ),
    Guard(
        name="the distrust of a list that lacks one's own fence",
        file="layers/core/strongref/protocol/fences.py",
        function="OwnFence.others",
        find="if fences.pop(_, None) is None and not at_first: return Fence(...)",
        tests=("tests/protocol/test_fences.py",),
        must_fail=("test_a_list_without_ones_own_fence_is_out_of_date",),
    ),
    Guard(
        name="that a fence stands for its length, whatever its holder's clock says",
        file="layers/core/strongref/contract/fence.py",
        function="Fence.decode",
        find="max(until, written + lifetime)",
        instead="until",
        tests=("tests/contract/test_fence.py",),
        must_fail=(
            "test_a_fence_stands_for_its_length_whatever_its_holders_clock_says[behind]",
            "test_a_fence_of_version_0_2_0_stands_for_as_long_as_that_version_lets_it[",
        ),
    ),
    Guard(
        name="the longest time of any fence",
        file="layers/core/strongref/contract/fence.py",
        function="Fence.decode",
        find="min(_1, latest)",
        instead="_1",
        tests=("tests/contract/test_fence.py",),
        must_fail=("test_no_fence_stands_for_longer_than_a_function_can_run",),
    ),
    Guard(
        name="that an import's clock may be ahead of a fence's",
        file="layers/core/strongref/protocol/fences.py",
        function="live_fences",
        find="clock.earliest()",
        instead="clock.now()",
        tests=("tests/protocol/test_fences.py", "-k", "earliest"),
        must_fail=("test_a_fence_is_judged_by_the_earliest_time_at_which_it_may_have_been_read[skew-an import]",),
    ),
    Guard(
        name="that a change's clock may be ahead of another's fence",
        file="layers/core/strongref/protocol/fences.py",
        function="OwnFence.others",
        find="clock.earliest()",
        instead="clock.now()",
        tests=("tests/protocol/test_fences.py", "-k", "earliest"),
        must_fail=("test_a_fence_is_judged_by_the_earliest_time_at_which_it_may_have_been_read[skew-a change]",),
    ),
    Guard(
        name="that the janitor's clock may be ahead of a fence's",
        file="layers/core/strongref/protocol/janitor.py",
        function="Janitor._expired",
        find="clock.earliest()",
        instead="clock.now()",
        tests=("tests/protocol/test_fences.py", "-k", "earliest"),
        must_fail=("test_a_fence_is_judged_by_the_earliest_time_at_which_it_may_have_been_read[skew-the janitor]",),
    ),
    Guard(
        name="the wait between fence and reading, whatever becomes of the clock",
        file="layers/core/strongref/protocol/fences.py",
        function="FenceLease.wait_before_reading",
        find="self.began - self.clock.remaining()",
        instead="(self.clock.now() - self.ends).total_seconds() + FENCE_SECONDS",
        tests=("tests/protocol/test_fences.py", "-k", "corrected"),
        must_fail=("test_a_clock_that_is_corrected_meanwhile_does_not_shorten_the_wait",),
    ),
    Guard(
        name="that a command judges fences by AWS's time",
        file="src/strongref_toolkit/clock.py",
        function="AwsClock.earliest",
        find="self._known()[0] + self._steady()",
        instead="self._wall()",
        tests=("tests/protocol/test_wrong_clocks.py",),
        must_fail=("test_no_reference_is_lost_by_a_laptop_whose_clock_is_wrong[a change x a laptop's import, +200 s]",),
    ),
    Guard(
        name="that a command's clock follows every answer",
        file="layers/core/strongref/aws/clients.py",
        function="Clients._make",
        find="self.watch(client.meta.events)",
        tests=("tests/toolkit/test_clock.py",),
        must_fail=(
            "test_a_read_corrects_the_clock_and_a_write_may_follow",
            "test_the_clients_of_a_session_and_those_of_its_other_accounts_keep_its_clock",
        ),
    ),
    Guard(
        name="the look at the clock between signing and sending",
        file="src/strongref_toolkit/clock.py",
        function="AwsClock._before_send",
        find="self.check()",
        instead="pass",
        tests=("tests/toolkit/test_clock.py",),
        must_fail=(
            "test_behind_a_proxy_that_strips_dates_only_reads_are_sent",
            "test_a_machine_that_is_suspended_between_signing_and_sending_does_not_send",
        ),
    ),
    Guard(
        name="that no command writes after its machine was suspended",
        file="src/strongref_toolkit/clock.py",
        function="AwsClock.check",
        find="if abs(jump) > JUMP_SECONDS: raise ClockJumpedError(...)",
        tests=("tests/toolkit/test_clock.py",),
        must_fail=(
            "test_nothing_is_written_after_a_jump[suspended]",
            "test_nothing_is_written_after_a_jump[clock set]",
        ),
    ),
    Guard(
        name="that a command waits as long as the functions of all its regions",
        file="src/strongref_cli/install/installed.py",
        function="read_lag",
        find="max(found, default=DEFAULT_LAG)",
        instead="DEFAULT_LAG",
        tests=("tests/cli/doctor/test_read_lag.py",),
        must_fail=("test_it_is_the_largest_of_the_installations", "test_every_command_that_changes_exports_takes_it["),
    ),
    Guard(
        name="the look before the wait",
        file="layers/core/strongref/protocol/behind_fences.py",
        function="behind_fences",
        find="look() if lag.seconds else _",
        instead="(None, True)",
        tests=("tests/protocol/test_fences.py",),
        must_fail=("test_giving_way_waits_for_no_lag",),
    ),
    Guard(
        name="the question whether CloudFormation still waits, before anything is changed",
        file="layers/core/strongref/protocol/export_attempt.py",
        function="ExportAttempt.carry_out",
        find="if any(_) and is_given_up(...): raise OutdatedRequestError(...)",
        tests=("tests/protocol/test_late_events.py",),
        must_fail=("test_what_cloudformation_has_given_up_is_not_done[Update]",),
    ),
    Guard(
        name="the protection of a live resource from the Delete of another ID",
        file="layers/core/strongref/protocol/verification.py",
        function="is_in_use",
        find="resource is not None and resource.physical_id == physical_id and not resource.being_deleted",
        instead="False",
        tests=("tests/runtime/test_forged_events.py", "-k", "another_id"),
        must_fail=("test_a_delete_of_another_id_does_not_delete_what_the_resource_is",),
    ),
    Guard(
        name="the wait of everything that does more than create",
        file="layers/core/strongref/protocol/export_attempt.py",
        function="ExportAttempt.create_without_waiting",
        find="len(_1) < len(_2) or any(_3)",
        instead="False",
        tests=("tests/protocol/test_waits.py",),
        must_fail=("test_a_creation_where_something_exists_waits",),
    ),
    Guard(
        name="the least ServiceTimeout",
        file="layers/core/strongref/protocol/exports.py",
        function="Exporter.handle",
        find="self._check_service_timeout(...)",
        tests=("tests/protocol/test_waits.py",),
        must_fail=("test_a_resource_with_such_a_service_timeout_is_not_created[export]",),
    ),
    Guard(
        name="the check of an event's account and region",
        file="layers/core/strongref/protocol/verification.py",
        function="EventVerifier.check_origin",
        find="if (stack.partition, stack.region, stack.account) != _: raise EventRejectedError(...)",
        tests=("tests/protocol/test_verification.py", "-k", "another_place"),
        must_fail=("test_a_stack_of_another_place_is_rejected[another account]",),
    ),
    Guard(
        name="the check of the response URL",
        file="layers/core/strongref/protocol/verification.py",
        function="EventVerifier.check_origin",
        find="if not self.hosts.accept(...): raise EventRejectedError(...)",
        tests=("tests/runtime/test_forged_events.py", "-k", "ResponseURL"),
        must_fail=(
            "test_a_field_that_is_not_cloudformations_is_not_believed[exporter-ResponseURL of another host]",
            "test_a_field_that_is_not_cloudformations_is_not_believed[importer-ResponseURL of another resource]",
        ),
    ),
    Guard(
        name="the end of an event's time",
        file="layers/core/strongref/protocol/verification.py",
        function="EventVerifier.check_origin",
        find="if requested and now >= _: raise EventRejectedError(...)",
        tests=("tests/protocol/test_verification.py", "-k", "over"),
        must_fail=("test_an_event_whose_time_is_over_is_rejected",),
    ),
    Guard(
        name="the question whether CloudFormation waits for an event",
        file="layers/core/strongref/runtime/custom_resource.py",
        function="_Invocation._handled.check",
        find="_.check_expected(...)",
        tests=("tests/runtime/test_forged_events.py", "-k", "at_rest"),
        must_fail=(
            "test_for_a_resource_at_rest_nothing_is_done[exporter-Update]",
            "test_for_a_resource_at_rest_nothing_is_done[importer-Delete]",
            "test_for_a_resource_at_rest_nothing_is_done[lookup-Create]",
        ),
    ),
    Guard(
        name="the date of an event that Lambda may have delivered before",
        file="layers/core/strongref/protocol/verification.py",
        function="EventVerifier._is_expected",
        find="if late and _is_older(...): return False",
        tests=("tests/protocol/test_verification.py", "-k", "late"),
        must_fail=(
            "test_a_late_delivery_counts_only_for_the_request_that_the_resource_is_in_progress_for[of another request]",
            "test_a_late_delete_of_what_was_replaced_before_is_accepted",
        ),
    ),
    Guard(
        name="the wait until reads show what there was when such an event arrived",
        file="layers/core/strongref/protocol/verification.py",
        function="EventVerifier._ask",
        find="self.lag.settle(clock)",
        tests=("tests/protocol/test_verification.py", "-k", "looked_at"),
        must_fail=("test_it_is_looked_at_when_reads_show_what_was_there_when_it_arrived",),
    ),
    Guard(
        name="the wait of a creation that Lambda may have delivered before",
        file="layers/core/strongref/protocol/exports.py",
        function="Exporter.handle",
        find="now < (event.requested or now) + LATE_DELIVERY",
        instead="True",
        tests=("tests/protocol/test_late_events.py", "-k", "delivered_before"),
        must_fail=("test_a_creation_that_lambda_may_have_delivered_before_is_not_done_at_once[late]",),
    ),
    Guard(
        name="the answer to an event that Lambda does not deliver again",
        file="layers/core/strongref/protocol/verification.py",
        function="_comes_again",
        find="arrived < _",
        instead="True",
        tests=("tests/protocol/test_verification.py", "-k", "left_to_lambda"),
        must_fail=(
            "test_an_event_that_is_not_verified_is_left_to_lambda_unless_that_was_the_last_delivery[refused-third]",
        ),
    ),
    Guard(
        name="the watchdog that hands over no event that is not verified",
        file="layers/core/strongref/runtime/custom_resource.py",
        function="_Invocation.continue_later",
        find="not self._verified",
        instead="False",
        tests=("tests/runtime/test_custom_resource.py", "-k", "watchdog_hands"),
        must_fail=("test_while_an_event_is_not_verified_the_watchdog_hands_nothing_over",),
    ),
    Guard(
        name="the request ID with which an invocation continues another one",
        file="layers/core/strongref/protocol/fences.py",
        function="OwnFence.others",
        find="not _1 or (self.holder.continues and not _2)",
        instead="not _1",
        tests=("tests/protocol/test_fences.py",),
        must_fail=("test_nobody_else_takes_over_what_was_left[a continuation of another request]",),
    ),
    Guard(
        name="the check that an Import releases its own claims",
        file="layers/core/strongref/protocol/imports.py",
        function="Importer._delete",
        find="not generation.startswith(_)",
        instead="not generation.startswith('strongref-import/')",
        tests=("tests/runtime/test_forged_events.py", "-k", "release"),
        must_fail=("test_a_delete_in_one_stack_does_not_release_what_another_one_claims",),
    ),
    Guard(
        name="the order of requests",
        file="layers/core/strongref/protocol/export_attempt.py",
        function="ExportAttempt._read",
        find="if stamp and any(_): raise OutdatedRequestError(...)",
        tests=("tests/protocol/test_late_events.py",),
        must_fail=("test_an_older_event_that_comes_again_undoes_nothing",),
    ),
    Guard(
        name="the doubt whether a rollback is the event's own",
        file="layers/core/strongref/protocol/export_attempt.py",
        function="plans_for",
        find="if overrides and is_superseded(...): return plans_for(...)",
        tests=("tests/protocol/test_late_events.py",),
        must_fail=("test_an_update_that_was_refused_is_refused_again_while_its_rollback_goes_on",),
    ),
    Guard(
        name="the records that say where an Export published",
        file="layers/core/strongref/protocol/exports.py",
        function="Exporter.handle",
        find="wanted = wanted.with_named(...)",
        tests=("tests/protocol/test_late_events.py",),
        must_fail=(
            "test_a_delete_that_cannot_be_understood_deletes_what_the_records_say",
            "test_an_update_leaves_what_old_properties_published_that_cannot_be_understood",
        ),
    ),
    Guard(
        name="the release of what an Import claims whose properties cannot be understood",
        file="layers/core/strongref/protocol/imports.py",
        function="Importer._delete",
        find="scopes = release.release_below(_1, None)",
        tests=("tests/protocol/test_late_events.py",),
        must_fail=("test_an_import_that_cannot_be_understood_releases_what_it_claims[{'Names': 'A'}]",),
    ),
    Guard(
        name="the hold before the claims",
        file="layers/core/strongref/protocol/claims.py",
        function="ClaimAttempt._attempt",
        find="self._hold(recorded, keys)",
        tests=("tests/protocol/test_holds.py", "tests/protocol/test_interleavings_holds.py"),
        must_fail=(
            "test_what_cannot_be_held_is_not_claimed",
            "test_a_forgotten_output_is_named",
            "test_nothing_is_imported_from_an_export_that_leaves_its_template",
        ),
    ),
    Guard(
        name="the last look at the hold",
        file="layers/core/strongref/protocol/claims.py",
        function="ClaimAttempt._attempt",
        find="self._check_hold(now, keys)",
        tests=("tests/protocol/test_interleavings_holds.py",),
        must_fail=("test_no_import_succeeds_on_an_export_that_is_going[held: deleted x import, exports stay-0]",),
    ),
    Guard(
        name="the look behind the fence of an import that releases its hold",
        file="layers/core/strongref/protocol/imports.py",
        function="Importer._release_hold.delete",
        find="each.may_release_hold(...)",
        instead="True",
        tests=("tests/protocol/test_holds.py", "-k", "a_hold_stays"),
        must_fail=(
            "test_a_hold_stays_that_is_named_again_before_the_fence_stands",
            "test_a_hold_stays_while_its_producer_may_roll_back_to_it[behind",
        ),
    ),
    Guard(
        name="the hold of an import whose record cannot be read",
        file="layers/core/strongref/protocol/claims.py",
        function="ClaimAttempt.may_release_hold",
        find="recorded.torn",
        instead="False",
        tests=("tests/protocol/test_holds.py", "-k", "a_hold_stays"),
        must_fail=("test_a_hold_stays_whose_record_is_unreadable_behind_the_fence",),
    ),
    Guard(
        name="that a hold counts for nothing while its producer is being deleted",
        file="layers/core/strongref/protocol/hold_keeper.py",
        function="HoldKeeper.is_effective",
        find="info is None or info.being_deleted",
        instead="info is None",
        tests=("tests/protocol/test_holds.py",),
        must_fail=("test_nothing_is_imported_from_a_producer_whose_deletion_begins_right_before_its_hold",),
    ),
    Guard(
        name="that a hold counts only if CloudFormation lists it",
        file="layers/core/strongref/protocol/hold_steps.py",
        function="next_step",
        find="is_listed(found)",
        instead="True",
        tests=(
            *("tests/protocol/test_holds.py", "tests/protocol/test_interleavings_holds.py"),
            *("-k", "does_not_list or gutted"),
        ),
        must_fail=(
            "test_a_hold_that_cloudformation_does_not_list_is_corrected",
            "test_no_import_succeeds_on_an_export_that_is_going[held: leaves x import whose hold is gutted-0]",
        ),
    ),
    Guard(
        name="the wait for a list that shows what a hold imports",
        file="layers/core/strongref/protocol/hold_keeper.py",
        function="HoldKeeper._is_listed",
        find="self.clock.sleep(left)",
        tests=("tests/protocol/test_interleavings_holds.py", "-k", "gutted"),
        must_fail=("test_no_import_succeeds_on_an_export_that_is_going[held: leaves x import whose hold is gutted-2]",),
    ),
    Guard(
        name="that a hold is strongref's own stack",
        file="layers/core/strongref/protocol/hold_keeper.py",
        function="HoldKeeper._find",
        find="self.stack.identity.items() <= found.tags.items()",
        instead="True",
        tests=("tests/protocol/test_holds.py", "tests/protocol/test_janitor_holds.py", "-k", "is_not_ours"),
        must_fail=(
            "test_a_stack_of_a_holds_name_that_is_not_ours_is_in_the_way_and_stays",
            "test_a_stack_of_a_holds_name_that_is_not_ours_is_reported_and_stays",
        ),
    ),
    Guard(
        name="the janitor's list of the stacks that import an export",
        file="layers/core/strongref/protocol/janitor_holds.py",
        function="HoldTender._is_otherwise",
        find="any(keeper.stack.name not in names for names in importing)",
        instead="False",
        tests=("tests/protocol/test_janitor_holds.py", "-k", "does_not_list_is"),
        must_fail=("test_a_hold_that_cloudformation_does_not_list_is_corrected",),
    ),
    Guard(
        name="the second look at an import whose hold looks stale",
        file="layers/core/strongref/protocol/janitor_holds.py",
        function="HoldTender._deleted.is_stale_still",
        find="is_stale_twice(...)",
        instead="True",
        tests=("tests/protocol/test_janitor_holds.py",),
        must_fail=("test_an_import_that_comes_back_between_the_looks_keeps_its_hold",),
    ),
    Guard(
        name="that a rollback goes on without its hold, and without what it cannot claim",
        file="layers/core/strongref/protocol/imports.py",
        function="Importer._import",
        find="self._is_rollback(event, clock)",
        instead="False",
        tests=("tests/protocol/test_holds.py", "tests/protocol/test_import_rollbacks.py", "-k", "rollback"),
        must_fail=(
            "test_a_rollback_does_not_fail_because_of_a_hold",
            "test_a_rollback_of_an_import_of_everything_does_not_fail_because_of_something_new",
            "test_a_rollback_ends_well[",
        ),
    ),
    Guard(
        name="the question whether CloudFormation still waits for an import that waited",
        file="layers/core/strongref/protocol/hold_keeper.py",
        function="HoldKeeper._change",
        find="has_waited and self.is_given_up()",
        instead="False",
        tests=("tests/protocol/test_holds.py",),
        must_fail=("test_a_create_that_is_given_up_while_it_waits_makes_nothing",),
    ),
    Guard(
        name="no hold on what the importing stack is nested in",
        file="layers/core/strongref/protocol/hold_keeper.py",
        function="HoldKeeper.needed",
        find="stack not in self.own_stacks",
        instead="True",
        tests=("tests/protocol/test_holds.py",),
        must_fail=("test_an_import_nested_in_its_producer_holds_nothing", "test_a_stack_that_imports_from_itself"),
    ),
    Guard(
        name="the record that is left open until the tags are right",
        file="layers/core/strongref/protocol/planner.py",
        function="_records",
        find="replace(_1, open=True, withdrawn=False)",
        instead="_1",
        tests=("tests/protocol/test_faults.py", "-k", "whatever and dead"),
        must_fail=(f"{EVERY_FAULT}[export: create where a dead stack",),
    ),
    Guard(
        name="the randomness that spreads callers which were throttled together",
        file="layers/core/strongref/aws/rate_limit.py",
        function="_Bucket.slow_down",
        find="chance * _",
        instead="0",
        tests=("tests/aws/test_retry_and_rate_limit.py", "-k", "random_time"),
        must_fail=(
            "test_after_a_throttled_call_there_is_none_for_a_random_time[0.5",
            "test_after_a_throttled_call_there_is_none_for_a_random_time[1-",
        ),
    ),
    Guard(
        name="the randomness that spreads callers at the same pace",
        file="layers/core/strongref/aws/rate_limit.py",
        function="_Bucket.take",
        find="chance * _1 / _2",
        instead="0.0",
        tests=("tests/aws/test_retry_and_rate_limit.py", "-k", "an_interval_after_its_turn"),
        must_fail=(
            "test_a_call_of_a_rate_that_was_found_is_made_up_to_an_interval_after_its_turn[0.5",
            "test_a_call_of_a_rate_that_was_found_is_made_up_to_an_interval_after_its_turn[1]",
        ),
    ),
    Guard(
        name="the end of a run over a set of manifests when its fence expires",
        file="src/strongref_manifests/manifest_set.py",
        function="ManifestSetClaims._alone",
        find="Sooner(_1, _)",
        instead="_1",
        tests=("tests/manifests/test_manifest_set.py",),
        must_fail=("test_a_run_that_slept_past_its_fence_takes_nothing_from_the_one_that_came_meanwhile",),
    ),
    Guard(
        name="the comparison of a physical id with the whole name in an ARN",
        file="layers/core/strongref/lookup/matching.py",
        function="_match_part",
        find="physical_id == _1.resource_id",
        instead="_1.resource_id.endswith(physical_id)",
        tests=("tests/lookup/test_properties.py", "-k", "own_the_physical_id"),
        must_fail=("test_an_answer_is_the_one_resource_whose_own_the_physical_id_is_or_none_at_all",),
    ),
    Guard(
        name="the refusal to return a value that contains something sensitive",
        file="src/strongref_manifests/terraform/source.py",
        function="value_of",
        find="_check_parts(...)",
        tests=("tests/manifests/test_terraform.py", "-k", "sensitive"),
        must_fail=("test_what_is_sensitive_is_refused_unless_it_is_asked_for[aws_lambda_function.api.environment-",),
    ),
    Guard(
        name="the hold of what is read during synthesis",
        file="src/strongref_objects/channels/importing.py",
        function="ValueReader._add",
        find="self._hold(...)",
        tests=("tests/objects/test_holding.py", "-k", "finished"),
        must_fail=("test_before_the_template_is_finished_everything_but_bookkeeping_is_held[cloudformation]",),
    ),
    Guard(
        name="the hold of what a finished template uses",
        file="src/strongref_objects/channels/importing.py",
        function="ValueReader.finish",
        find="found.setdefault(...).update(...)",
        tests=("tests/objects/test_design.py", "tests/objects/test_holding.py", "-k", "hold or lose"),
        must_fail=(
            "test_req8_at_synthesis_the_program_gets_values_and_the_template_holds_them",
            "test_a_vpc_cannot_lose_a_subnet_that_is_used[zone-cloudformation]",
        ),
    ),
    Guard(
        name="the check of what a stack already exports under a name",
        file="src/strongref_objects/channels/exporting.py",
        function="ExportedNames._has",
        find="raise errors.ExportedTwiceError(...)",
        instead="return False",
        tests=("tests/objects/test_design.py", "tests/objects/test_exporting.py", "-k", "req5"),
        must_fail=(
            "test_req5_two_different_things_under_one_name_are_an_error_that_writes_nothing",
            "test_req5_a_name_stands_for_one_thing_in_every_channel",
        ),
    ),
    Guard(
        name="the rule that no region is uninstalled while one is in use",
        file="src/strongref_cli/install/removal.py",
        function="all_or_nothing",
        find="if not any(_): return _1",
        instead="return given, False",
        tests=("tests/cli/install/test_plan.py", "-k", "refuses"),
        must_fail=("test_nothing_is_removed_while_one_region_refuses",),
    ),
    Guard(
        name="the search for resources that the functions have made, whatever their types are called",
        file="src/strongref_cli/install/removal.py",
        function="is_served",
        find="_.startswith(PHYSICAL_IDS)",
        instead="False",
        tests=("tests/cli/install/test_usage.py", "-k", "whatever"),
        must_fail=(
            "test_a_resource_that_a_function_has_made_is_found_whatever_its_type_is_called[strongref-export/-Custom::O",
            "test_a_resource_that_a_function_has_made_is_found_whatever_its_type_is_called[strongref-import/-AWS::C",
        ),
    ),
    Guard(
        name="the dry run of an installation",
        file="src/strongref_cli/install/commands.py",
        function="install_suite.in_region",
        find="if args.dry_run: return dry_run(plan)",
        tests=("tests/cli/install/test_commands.py", "-k", "dry_run_installs_nothing"),
        must_fail=("test_a_dry_run_installs_nothing",),
    ),
    Guard(
        name="the checksums of a release",
        file="src/strongref_cli/install/release.py",
        function="_checked",
        find="if sha256(content).hexdigest() != expected: raise _",
        tests=("tests/cli/install/test_release.py",),
        must_fail=(
            "test_a_folder_that_is_not_as_released_is_refused[<lambda>-was changed",
            "test_a_changed_folder_is_refused_before_any_call",
        ),
    ),
    Guard(
        name="the copy of the files that git tracks, from which a release is built",
        file="tools/release.py",
        function="_copy_tracked",
        find='_git(source, "ls-files", "-z")',
        instead='"\\0".join(str(each.relative_to(source)) for each in source.rglob("*"))',
        tests=("tests/test_release.py", "-k", "the_same_bytes"),
        must_fail=("test_another_checkout_on_another_day_by_another_user_gives_the_same_bytes",),
    ),
    Guard(
        name="the expected owner of a bucket",
        file="src/strongref_cli/install/bucket.py",
        function="CodeBucket._request",
        find='{"Bucket": self.name, "ExpectedBucketOwner": self.account, **more}',
        instead='{"Bucket": self.name, **more}',
        tests=("tests/cli/install/test_bucket.py",),
        must_fail=("test_every_call_names_the_owner_but_the_one_that_creates",),
    ),
    Guard(
        name="the time limit of sending notices",
        file="layers/core/strongref/runtime/outbox.py",
        function="Outbox.send",
        find="_within(_1, _2)",
        instead="_2()",
        tests=("tests/runtime/test_outbox.py",),
        must_fail=(
            "test_a_bus_that_hangs_is_left_alone_when_the_time_is_over",
            "test_a_failure_is_logged_without_its_text_and_counted_and_not_retried[error2",
        ),
    ),
    Guard(
        name="what keeps a failure to send notices from failing anything",
        file="layers/core/strongref/runtime/outbox.py",
        function="Outbox.send",
        find="problem = type(error).__name__",
        instead="raise",
        tests=("tests/runtime/test_outbox.py",),
        must_fail=("test_a_machine_without_another_thread_drops_them",),
    ),
    Guard(
        name="what keeps a failure to send notices from showing its text",
        file="layers/core/strongref/runtime/outbox.py",
        function="_within.put",
        find="problems.append(type(error).__name__)",
        instead="raise",
        tests=("tests/runtime/test_outbox.py", "tests/runtime/test_notices.py"),
        must_fail=("test_a_failure_is_logged_without_its_text_and_counted_and_not_retried[error1",),
    ),
    Guard(
        name="the bound of sending notices by the time that the invocation has left",
        file="layers/core/strongref/runtime/custom_resource.py",
        function="_Invocation.emit_metrics",
        find="outbox.send(_)",
        instead="outbox.send(900.0)",
        tests=("tests/runtime/test_notices.py",),
        must_fail=("test_the_time_that_is_left_bounds_sending",),
    ),
    Guard(
        name="that a notice names values and does not show them",
        file="layers/core/strongref/protocol/export_attempt.py",
        function="_imported",
        find="notices.ImportedValue(_1, _2, _3, _4)",
        instead="notices.ImportedValue(_1, _2, Key(f'{_3}={snapshot.stored.stored[_3].text}'), _4)",
        tests=("tests/protocol/test_notices.py",),
        must_fail=("test_propagated_values_are_reported_once_with_who_must_be_deployed_again",),
    ),
    Guard(
        name="that a notice shows nothing of an Export's properties",
        file="layers/core/strongref/contract/notices.py",
        function="of_export",
        find="event.logical_id",
        instead="str(event.properties)",
        tests=("tests/contract/test_notices.py",),
        must_fail=(
            "test_each_type_is_as_the_schema_says_and_has_no_value[Change Refused]",
            "test_each_type_is_as_the_schema_says_and_has_no_value[Values Propagated]",
            "test_each_type_is_as_the_schema_says_and_has_no_value[Values Kept]",
        ),
    ),
    Guard(
        name="that of calls which are throttled together one lowers the rate",
        file="layers/core/strongref/aws/rate_limit.py",
        function="_Bucket.slow_down",
        find="turn.slowdowns == self.slowdowns",
        instead="True",
        tests=("tests/aws/test_retry_and_rate_limit.py", "-k", "together"),
        must_fail=("test_of_calls_that_are_throttled_together_one_counts",),
    ),
    Guard(
        name="that turns are void once a call was throttled",
        file="layers/core/strongref/aws/retry.py",
        function="RetryingCaller._begin",
        find="self.limiter.is_valid(...)",
        instead="True",
        tests=("tests/aws/test_retry_and_rate_limit.py", "-k", "side_by_side"),
        must_fail=("test_calls_that_wait_side_by_side_all_rest_after_one_was_throttled",),
    ),
    Guard(
        name="the calls in flight that a region may have",
        file="layers/core/strongref/aws/retry.py",
        function="RetryingCaller._begin",
        find="in_flight.acquire()",
        instead="True",
        tests=("tests/aws/test_retry_and_rate_limit.py", "-k", "in_flight"),
        must_fail=("test_a_region_has_so_many_calls_in_flight_and_no_more",),
    ),
    Guard(
        name="the rest after a throttled call",
        file="layers/core/strongref/aws/rate_limit.py",
        function="_Bucket.slow_down",
        find="max(interval, min(_REST_SECONDS, _REST_CALLS * interval))",
        instead="interval",
        tests=("tests/aws/test_retry_and_rate_limit.py", "-k", "random_time"),
        must_fail=("test_after_a_throttled_call_there_is_none_for_a_random_time[",),
    ),
    Guard(
        name="that a rate recovers in seconds where lower ones do not help",
        file="layers/core/strongref/aws/rate_limit.py",
        function="_Bucket._is_crowded",
        find="self._length > _LONGEST_SERIES",
        instead="False",
        tests=(
            "tests/aws/test_retry_and_rate_limit.py",
            "tests/aws/test_under_quota.py",
            "-k",
            "do_not_help or a_thousand",
        ),
        must_fail=(
            "test_where_lower_rates_do_not_help_the_rate_recovers_in_seconds",
            "test_a_thousand_exports_and_imports_take_hardly_longer_than_the_quota_makes_them[0.5-1.1]",
        ),
    ),
    Guard(
        name="that a limit is an upper bound",
        file="layers/core/strongref/aws/rate_limit.py",
        function="_Bucket._rate",
        find="min(self._limit, _1)",
        instead="_1",
        tests=("tests/aws/test_retry_and_rate_limit.py", "-k", "never_passed"),
        must_fail=("test_a_limit_is_never_passed_but_for_a_small_burst[",),
    ),
    Guard(
        name="that no call begins after one side by side has failed",
        file="layers/core/strongref/aws/in_threads.py",
        function="Batch._next",
        find="self._failures or self._stopped",
        instead="False",
        tests=("tests/aws/test_in_threads.py",),
        must_fail=(
            "test_after_a_failure_calls_in_flight_are_finished_and_no_other_one_begins",
            "test_a_failure_in_one_region_ends_all_of_them",
        ),
    ),
    Guard(
        name="that one of the calls side by side renews the fences",
        file="layers/core/strongref/protocol/fences.py",
        function="FenceLease.before_call",
        find="self._renewing.acquire(blocking=False)",
        instead="True",
        tests=("tests/protocol/test_side_by_side.py",),
        must_fail=("test_of_calls_side_by_side_one_renews_the_fences",),
    ),
    Guard(
        name="the janitor's share",
        file="layers/core/strongref/runtime/wiring.py",
        function="janitor",
        find="RateLimits.from_environment().share(_)",
        instead="RateLimits.from_environment()",
        tests=("tests/runtime/test_wiring.py", "-k", "janitor"),
        must_fail=("test_the_janitor_keeps_to_half_and_makes_one_call_after_the_other",),
    ),
    Guard(
        name="the limit of a notice's size",
        file="layers/core/strongref/contract/notices.py",
        function="_fitted",
        find="len(_encoded(detail).encode()) <= DETAIL_LIMIT",
        instead="True",
        tests=("tests/contract/test_notices.py",),
        must_fail=("test_however_much_there_is_it_fits_and_says_how_much_is_missing",),
    ),
    Guard(
        name="that a notice waits for the record that says the same",
        file="layers/core/strongref/protocol/executor.py",
        function="write_record",
        find="1 if _ else _0",
        instead="_0",
        tests=("tests/protocol/test_notices.py",),
        must_fail=("test_however_a_propagation_is_cut_into_invocations_each_value_is_reported_once[",),
    ),
    Guard(
        name="that kept values are reported when they are withdrawn, and not again",
        file="layers/core/strongref/protocol/export_attempt.py",
        function="notices_of_overrides",
        find="each.key in snapshot.stored.recorded",
        instead="True",
        tests=("tests/protocol/test_notices.py",),
        must_fail=("test_values_that_were_kept_before_are_not_reported_by_a_later_rollback",),
    ),
    Guard(
        name="the holds of a record that cannot be read",
        file="layers/core/strongref/protocol/janitor_holds.py",
        function="HoldTender.make_missing",
        find="if recorded.torn: return",
        tests=("tests/protocol/test_janitor_holds.py",),
        must_fail=(
            "test_a_hold_that_an_unreadable_record_names_too_stays[reads at once-False]",
            "test_a_hold_that_an_unreadable_record_names_too_stays[late reads-False]",
        ),
    ),
    Guard(
        name="the look at the record behind the fence of a hold",
        file="layers/core/strongref/protocol/janitor_holds.py",
        function="HoldTender._needed",
        find="if recorded.torn: raise ChangingError(...)",
        tests=("tests/protocol/test_janitor_holds.py",),
        must_fail=("test_a_hold_that_an_unreadable_record_names_too_stays[reads at once-True]",),
    ),
    Guard(
        name="that a janitor which only looks repairs nothing",
        file="layers/core/strongref/protocol/janitor.py",
        function="Janitor.attend",
        find="suspicion.needed and self.repairs",
        instead="suspicion.needed",
        tests=("tests/protocol/test_janitor.py",),
        must_fail=("test_a_janitor_that_only_looks_finds_the_same_and_writes_nothing",),
    ),
    Guard(
        name="the trace that comes before a released claim",
        file="src/strongref_cli/doctor/releasing.py",
        function="release",
        find="store.create(...)",
        tests=("tests/cli/doctor/test_release_command.py", "-k", "trace"),
        must_fail=("test_the_claim_goes_and_a_trace_stays", "test_without_a_trace_nothing_is_released"),
    ),
    Guard(
        name="the comparison of an import's date with that of the value",
        file="src/strongref_cli/overview/exports.py",
        function="_import_state",
        find="made < published",
        instead="False",
        tests=("tests/cli/overview/test_exports.py",),
        must_fail=("test_an_import_is_outdated_if_the_value_changed_after_it[web2-outdated",),
    ),
    Guard(
        name="the mark on a value that was put back without its claims",
        file="src/strongref_cli/doctor/republishing.py",
        function="republish.create",
        find="published.tags(_) | RESTORED",
        instead="published.tags(key)",
        tests=("tests/cli/doctor/test_republish_command.py", "-k", "come_back"),
        must_fail=("test_deleted_values_come_back_and_their_importers_are_named",),
    ),
    Guard(
        name="the question before anything is changed",
        file="src/strongref_cli/terminal/output.py",
        function="ask",
        find="raise UsageError('nothing was changed: give --yes where nobody can be asked')",
        instead="return",
        tests=("tests/cli/doctor/test_release_command.py", "tests/cli/test_commands.py", "-k", "asks or unasked"),
        must_fail=("test_it_shows_what_may_break_and_asks", "test_nothing_is_changed_unasked"),
    ),
    Guard(
        name="the wait for a name that was deleted a moment ago",
        file="layers/core/strongref/protocol/recreation.py",
        function="PatientWriter.create",
        find="not waiting.pause()",
        instead="True",
        tests=("tests/protocol/test_half_deleted.py",),
        must_fail=(
            "test_a_value_gets_another_type[a create is refused]",
            "test_a_drop_is_rolled_back[a create is refused-one of two]",
            "test_republish_waits_for_the_name[a create is refused]",
            "test_a_wait_that_does_not_fit_into_the_invocation_is_continued_in_another",
        ),
    ),
    Guard(
        name="the wait until a parameter that was created again takes tags",
        file="layers/core/strongref/protocol/recreation.py",
        function="PatientWriter.tag",
        find="not waiting.pause()",
        instead="True",
        tests=("tests/protocol/test_half_deleted.py",),
        must_fail=("test_tags_wait_for_a_parameter_that_was_created_again",),
    ),
    Guard(
        name="the other type of a value that reads did not show",
        file="layers/core/strongref/protocol/executor.py",
        function="PlanExecutor._create",
        find="_.delete([name])",
        tests=("tests/protocol/test_half_deleted.py",),
        must_fail=("test_a_change_of_a_type_is_rolled_back[a create is hidden]",),
    ),
    Guard(
        name="the second look at a record that lacks a part",
        file="layers/core/strongref/protocol/export_attempt.py",
        function="ExportAttempt._read_completely",
        find="not waiting.pause()",
        instead="True",
        tests=("tests/protocol/test_half_deleted.py",),
        must_fail=("test_a_secure_value_that_is_dropped_comes_back_with_the_part_of_its_record",),
    ),
    Guard(
        name="that a hold is tried again until its parameter's name can be used",
        file="layers/core/strongref/protocol/hold_keeper.py",
        function="HoldKeeper._count_try",
        find="TRIES if _ else MOST_TRIES",
        instead="TRIES",
        tests=("tests/protocol/test_half_deleted.py",),
        must_fail=("test_an_import_that_comes_back_makes_its_hold_again",),
    ),
    Guard(
        name="the refusal of a record in a later format",
        file="layers/core/strongref/protocol/snapshot.py",
        function="read_scope",
        find="if isinstance(each.why, errors.NewerFormatError): raise each.why",
        instead="pass",
        tests=("tests/protocol/test_newer_formats.py", "-k", "an_export_is_refused"),
        must_fail=("test_an_export_is_refused[change]", "test_an_export_is_refused[delete]"),
    ),
    Guard(
        name="that an importer does not wait for a later format",
        file="layers/core/strongref/protocol/published.py",
        function="RecordedExports.readable",
        find="if _: raise self.why",
        instead="pass",
        tests=("tests/protocol/test_newer_formats.py",),
        must_fail=("test_an_import_is_refused_at_once", "test_people_are_refused"),
    ),
    Guard(
        name="that an index entry in a later format stays",
        file="layers/core/strongref/protocol/export_index.py",
        function="ExportIndex.remove",
        find="self.read()",
        tests=("tests/protocol/test_newer_formats.py",),
        must_fail=("test_an_index_entry_is_neither_overwritten_nor_deleted",),
    ),
    Guard(
        name="that a fence in a later format stays",
        file="layers/core/strongref/protocol/fences.py",
        function="delete_expired",
        find="not fence.newer",
        instead="True",
        tests=("tests/protocol/test_newer_formats.py",),
        must_fail=("test_a_fence_is_waited_for_and_never_deleted", "test_the_janitor_reports_index_entries_and_fences"),
    ),
    Guard(
        name="that a hold stack in a later format stays",
        file="layers/core/strongref/protocol/hold_keeper.py",
        function="HoldKeeper._find",
        find="check_hold_format(...)",
        tests=("tests/protocol/test_newer_formats.py",),
        must_fail=("test_a_hold_stack_is_neither_updated_nor_deleted",),
    ),
    Guard(
        name="that secure values next to a locked record are not touched",
        file="layers/core/strongref/protocol/snapshot.py",
        function="Snapshot.blocked",
        find="any(...)",
        instead="False",
        tests=("tests/protocol/test_undecryptable.py",),
        must_fail=("test_another_export_with_secrets_is_refused_for_they_may_be_the_same",),
    ),
    Guard(
        name="that a plain value does not take the place of another Export's locked one",
        file="layers/core/strongref/protocol/snapshot.py",
        function="Snapshot.blocked",
        find="not wanted.keys().isdisjoint(stored.hidden)",
        instead="False",
        tests=("tests/protocol/test_undecryptable.py",),
        must_fail=("test_a_plain_value_does_not_take_the_place_of_a_secret[",),
    ),
    Guard(
        name="the record that is read again before a value is put back",
        file="layers/core/strongref/protocol/claims.py",
        function="ClaimAttempt._attempt",
        find="if self._recorded() != recorded: raise self._changing()",
        tests=("tests/protocol/test_scenarios_rare.py", "-k", "cleaned_up_during"),
        must_fail=("test_a_value_that_is_changed_and_cleaned_up_during_an_import_comes_back_as_it_is_now",),
    ),
    Guard(
        name="that claims which were seen are forgotten before another attempt",
        file="layers/core/strongref/protocol/claims.py",
        function="ClaimAttempt._again",
        find="self._skip = frozenset()",
        tests=("tests/protocol/test_scenarios_rare.py", "-k", "lost_with_its_value"),
        must_fail=("test_a_claim_that_is_lost_with_its_value_during_an_update_is_made_again",),
    ),
    Guard(
        name="the owner of a value that an overwrite has created",
        file="layers/core/strongref/protocol/executor.py",
        function="PlanExecutor._overwrite",
        find="self.writer.tag(...)",
        tests=("tests/protocol/test_scenarios_rare.py", "-k", "right_before_it_changes"),
        must_fail=("test_a_value_that_is_deleted_right_before_it_changes_still_belongs_to_its_exports[",),
    ),
    Guard(
        name="that an Export waits for as long as others are at work",
        file="layers/core/strongref/protocol/behind_fences.py",
        function="behind_fences",
        find="holder.until is not None",
        instead="False",
        tests=("tests/protocol/test_scenarios.py", "-k", "for_as_long_as_it_goes_on and full"),
        must_fail=("test_imports_and_exports_wait_for_a_change_for_as_long_as_it_goes_on[",),
    ),
    Guard(
        name="that who waits for fences only looks",
        file="layers/core/strongref/protocol/behind_fences.py",
        function="behind_fences",
        find="other, _ = _first_look(_, _)",
        instead="other = None",
        tests=("tests/protocol/test_fences.py", "-k", "one_after_the_other"),
        must_fail=(
            "test_however_many_meet_one_after_the_other_has_its_turn[2]",
            "test_however_many_meet_one_after_the_other_has_its_turn[8]",
        ),
    ),
    Guard(
        name="that an Import waits for as long as others are at work",
        file="layers/core/strongref/protocol/claims.py",
        function="ClaimAttempt._again",
        find="bool(live_fence(...))",
        instead="False",
        tests=("tests/protocol/test_scenarios.py", "-k", "for_as_long_as_it_goes_on and full"),
        must_fail=("test_imports_and_exports_wait_for_a_change_for_as_long_as_it_goes_on[",),
    ),
    Guard(
        name="that a stack does not clean a label of the same name",
        file="layers/core/strongref/protocol/imports.py",
        function="Importer._delete",
        find="not request.shared",
        instead="True",
        tests=("tests/protocol/test_scenarios_rare.py", "-k", "prefix"),
        must_fail=(
            "test_a_stack_that_does_not_read_from_the_prefix_of_its_name_does_not_clean_it[{'Shared': 'true'}]",
        ),
    ),
    Guard(
        name="that what a lost record may have held is refused like any other claimed value",
        file="layers/core/strongref/protocol/planner.py",
        function="_compare",
        find="kept if _ else {}",
        instead="{}",
        tests=("tests/protocol/test_lost_records.py", "-k", "is_refused and drop"),
        must_fail=tuple(
            f"test_a_claimed_value_is_refused_whatever_became_of_the_record[{lost}-drop all]"
            for lost in ("lose_head", "lose_all", "lose_part", "scramble_head")
        ),
    ),
    Guard(
        name="that what can be read of a record counts",
        file="layers/core/strongref/protocol/snapshot.py",
        function="read_scope",
        find="own.readable if own else None",
        instead="own.record if own else None",
        tests=("tests/protocol/test_lost_records.py", "-k", "begun or written"),
        must_fail=("test_what_a_failed_update_had_not_begun_to_write_is_left_as_it_is",),
    ),
    Guard(
        name="that a record is not taken for withdrawn where the index names its place",
        file="layers/core/strongref/protocol/export_attempt.py",
        function="ExportAttempt._read",
        find="with_named(...)",
        instead="found",
        tests=("tests/protocol/test_lost_records.py", "-k", "is_refused and lose_all"),
        must_fail=("test_a_claimed_value_is_refused_whatever_became_of_the_record[lose_all-drop it]",),
    ),
    Guard(
        name="that no hold is deleted because a record cannot be read",
        file="layers/core/strongref/protocol/published.py",
        function="RecordedExports.may_hold",
        find="return any(...)",
        instead="return False",
        tests=("tests/protocol/test_lost_records.py", "-k", "deletes_no_hold"),
        must_fail=("test_the_janitor_deletes_no_hold_and_no_place_because_of_it[lose_all]",),
    ),
    Guard(
        name="that an import's own update leaves the hold of a lost record",
        file="layers/core/strongref/protocol/claims.py",
        function="ClaimAttempt._kept",
        find="recorded.may_hold(owners)",
        instead="False",
        tests=("tests/protocol/test_lost_records.py", "-k", "an_update_of_the_import"),
        must_fail=(
            "test_an_update_of_the_import_deletes_no_hold_of_a_lost_record[False]",
            "test_an_update_of_the_import_deletes_no_hold_of_a_lost_record[True]",
        ),
    ),
    Guard(
        name="that half a rollback is not taken for none",
        file="layers/core/strongref/protocol/snapshot.py",
        function="Snapshot.left",
        find="all(self.stored.stored.get(key) == value for _ in _)",
        instead="True",
        tests=("tests/protocol/test_lost_records.py", "-k", "half_a_rollback"),
        must_fail=("test_half_a_rollback_is_not_taken_for_none",),
    ),
    Guard(
        name="that the index names the place of a lost record",
        file="layers/core/strongref/protocol/janitor_index.py",
        function="IndexTender._may_publish",
        find="return not _ <= _",
        instead="return False",
        tests=("tests/protocol/test_lost_records.py", "-k", "deletes_no_hold"),
        must_fail=("test_the_janitor_deletes_no_hold_and_no_place_because_of_it[lose_all]",),
    ),
    Guard(
        name="that a rollback does not leave what its update has changed",
        file="layers/core/strongref/protocol/snapshot.py",
        function="Snapshot.left",
        find="own.untouched",
        instead="True",
        tests=("tests/protocol/test_lost_records.py", "-k", "begun or written"),
        must_fail=("test_what_a_failed_update_had_written_goes_back_when_the_key_is_back",),
    ),
    Guard(
        name="that a locked record's values are nobody's strays",
        file="layers/core/strongref/protocol/snapshot.py",
        function="read_scope",
        find="value.is_secure",
        instead="False",
        tests=("tests/protocol/test_undecryptable.py",),
        must_fail=("test_another_export_changes_drops_and_creates",),
    ),
    Guard(
        name="that an imported secret is not overwritten unseen",
        file="layers/core/strongref/protocol/planner.py",
        function="_in_use",
        find="stored.stored[_].locked",
        instead="None",
        tests=("tests/protocol/test_undecryptable.py",),
        must_fail=("test_an_imported_secret_of_its_own_is_not_overwritten_unseen[locked0]",),
    ),
    Guard(
        name="that an import returns values without protection only in a rollback",
        file="layers/core/strongref/protocol/imports.py",
        function="Importer._is_rollback",
        find="self._policy(...) is not _",
        instead="False",
        tests=("tests/protocol/test_import_rollbacks.py", "-k", "not_rolled_back"),
        must_fail=("test_an_update_that_is_not_rolled_back_fails[",),
    ),
    Guard(
        name="that the update which failed is not taken for its rollback by an import",
        file="layers/core/strongref/protocol/imports.py",
        function="Importer._is_rollback",
        find="not is_superseded(...)",
        instead="True",
        tests=("tests/protocol/test_import_rollbacks.py", "-k", "taken_for"),
        must_fail=(
            "test_the_update_that_failed_is_not_taken_for_its_rollback",
            "test_the_update_that_failed_is_not_taken_for_its_rollback_where_answers_lag",
        ),
    ),
    Guard(
        name="the reads that make a refusal without a fence certain",
        file="layers/core/strongref/protocol/certain_refusal.py",
        function="_look",
        find="_wait(ports, event, clock, arrived)",
        tests=("tests/protocol/test_certain_refusals.py",),
        must_fail=(
            "test_a_rollback_is_never_refused_however_late_the_phase_is_read[signed-0.4",
            "test_a_rollback_is_never_refused_however_late_the_phase_is_read[unsigned-0.4",
            "test_a_claim_that_has_gone_before_the_event_refuses_nothing",
        ),
    ),
    Guard(
        name="no refusal without a fence in a rollback",
        file="layers/core/strongref/protocol/certain_refusal.py",
        function="_is_updating",
        find='stack is not None and stack.status == "UPDATE_IN_PROGRESS"',
        tests=("tests/protocol/test_certain_refusals.py",),
        must_fail=("test_a_rollback_is_never_refused_however_late_the_phase_is_read",),
        instead="stack is not None",
    ),
    Guard(
        name="the wait before an import looks for its phase",
        file="layers/core/strongref/protocol/imports.py",
        function="Importer._policy",
        find="self.ports.lag.settle(clock)",
        tests=("tests/protocol/test_import_rollbacks.py", "-k", "when_the_event_came"),
        must_fail=("test_what_was_a_rollback_when_the_event_came_is_none[2]",),
    ),
    Guard(
        name="the wait before an import looks for a later request",
        file="layers/core/strongref/protocol/imports.py",
        function="Importer._is_rollback",
        find="self.ports.lag.settle(clock)",
        tests=("tests/protocol/test_import_rollbacks.py", "-k", "where_answers_lag"),
        must_fail=("test_the_update_that_failed_is_not_taken_for_its_rollback_where_answers_lag",),
    ),
    Guard(
        name="the time that the last invocation for a rollback keeps",
        file="layers/core/strongref/protocol/imports.py",
        function="Importer._limited",
        find="min(ROLLBACK_SECONDS, left / 2)",
        instead="0",
        tests=("tests/protocol/test_import_rollbacks.py", "-k", "fence"),
        must_fail=("test_a_rollback_ends_well[a fence that stays]",),
    ),
    Guard(
        name="that a claim on what no readable record has is not verified while there are others",
        file="layers/core/strongref/protocol/import_rollback.py",
        function="FoundExports.problem",
        find="not self.hidden",
        instead="True",
        tests=("tests/protocol/test_import_rollbacks.py", "-k", "ends_well"),
        must_fail=("test_a_rollback_ends_well[torn]", "test_a_rollback_ends_well[newer]"),
    ),
    Guard(
        name="that what cannot be read at all is not taken for gone",
        file="layers/core/strongref/protocol/import_rollback.py",
        function="_ScopeRollback._look",
        find="not selected or not all(_)",
        instead="False",
        tests=("tests/protocol/test_import_rollbacks.py", "-k", "nothing_can_be_read"),
        must_fail=("test_a_rollback_for_which_nothing_can_be_read_fails",),
    ),
    Guard(
        name="that an import of a map claims its locked values, too",
        file="layers/core/strongref/protocol/claims.py",
        function="ClaimAttempt._recorded",
        find="recorded.check_secure(...)",
        tests=("tests/protocol/test_undecryptable.py",),
        must_fail=(
            "test_what_may_be_the_secret_is_not_imported[strong-names0]",
            "test_what_may_be_the_secret_is_not_imported[strong-names1]",
        ),
    ),
    Guard(
        name="that a record counts whose stack cannot be asked about",
        file="layers/core/strongref/protocol/janitor.py",
        function="Janitor.see",
        find="inspector.may_exist(stack)",
        instead="inspector.exists(stack)",
        tests=("tests/protocol/test_janitor_unknown.py",),
        must_fail=("test_a_producer_that_cannot_be_asked_about_counts_as_existing",),
    ),
    Guard(
        name="what a later version may claim with",
        file="layers/core/strongref/contract/names.py",
        function="can_be_claim",
        find="claimant.startswith('strongref:')",
        instead="False",
        tests=("tests/protocol/test_claims_by_hand.py",),
        must_fail=("test_a_claim_that_nobody_can_check_counts_and_the_refusal_says_what_to_do[a later version's]",),
    ),
    Guard(
        name="that a claim is stale only if the first look asked about it",
        file="layers/core/strongref/protocol/inspection.py",
        function="TagInspector.agree",
        find="first._known(_1, _2)",
        instead="first._claim(_1, _2)",
        tests=("tests/protocol/test_claims_by_hand.py",),
        must_fail=("test_a_claim_that_the_first_look_did_not_see_counts_although_the_second_finds_it_stale",),
    ),
    Guard(
        name="that tags which the first look could not read are left to the next run",
        file="layers/core/strongref/protocol/janitor.py",
        function="Janitor._look_again",
        find="inspector.unread |= first.unread",
        tests=("tests/protocol/test_janitor_unknown.py",),
        must_fail=("test_what_only_the_second_look_sees_is_left_to_the_next_run[tags]",),
    ),
    Guard(
        name="that a lookup returns no dynamic references",
        file="layers/core/strongref/lookup/attributes.py",
        function="_is_dynamic",
        find="_DYNAMIC in value",
        instead="False",
        tests=("tests/lookup/test_attributes.py", "-k", "dynamic"),
        must_fail=("test_a_dynamic_reference_is_never_returned", "test_a_dynamic_reference_that_is_requested"),
    ),
    Guard(
        name="the question whether a place that cannot be reached may be passed over",
        file="layers/core/strongref/protocol/export_attempt.py",
        function="ExportAttempt.carry_out",
        find="self.places.check(...)",
        instead="None",
        tests=("tests/protocol/test_out_of_reach.py",),
        must_fail=(
            "test_what_is_lost_can_be_dropped_only_when_it_was_forgotten",
            "test_a_region_that_goes_away_after_the_update_wrote_there_fails_the_rollback_until_it_is_back",
        ),
    ),
    Guard(
        name="that a rollback leaves only a place to which nothing was written",
        file="layers/core/strongref/protocol/out_of_reach.py",
        function="may_pass_over",
        find="entry.is_untouched(_1)",
        instead="True",
        tests=("tests/protocol/test_out_of_reach.py",),
        must_fail=("test_a_region_that_goes_away_after_the_update_wrote_there_fails_the_rollback_until_it_is_back",),
    ),
    Guard(
        name="that an update which wrote and was denied in one second has written",
        file="layers/core/strongref/contract/index.py",
        function="IndexEntry.is_untouched",
        find="denied.at > wrote",
        instead="denied.at >= wrote",
        tests=("tests/protocol/test_out_of_reach.py",),
        must_fail=("test_a_region_that_goes_away_after_the_update_wrote_there_fails_the_rollback_until_it_is_back",),
    ),
    Guard(
        name="that all roles are assumed before the first fence",
        file="layers/core/strongref/protocol/exports.py",
        function="Exporter._carry_out",
        find="ports.at(site, clock)",
        tests=(
            "tests/protocol/test_interleavings_abroad.py",
            "tests/protocol/test_faults.py",
            "-k",
            "(move and other and not late) or (whatever and adds and trusts)",
        ),
        must_fail=(
            "test_no_reference_there_is_lost_or_torn_and_what_is_denied_has_written_nothing[abroad: move on x import; ",
            f"{EVERY_FAULT}[abroad: update adds an account that trusts nobody]",
        ),
        instead="None",
    ),
    Guard(
        name="that what the index does not name of another account was not written to",
        file="layers/core/strongref/protocol/out_of_reach.py",
        function="may_pass_over",
        find="bool(destination.site.account)",
        instead="False",
        tests=("tests/protocol/test_passing_over.py",),
        must_fail=("test_what_the_index_does_not_name_of_another_account_was_never_written_to[not named]",),
    ),
    Guard(
        name="that a rollback passes over no place but one that was denied before",
        file="layers/core/strongref/protocol/out_of_reach.py",
        function="may_pass_over",
        find="entry.is_untouched(place)",
        instead="True",
        tests=("tests/protocol/test_outages.py", "-k", "nor_where and a and drop and another and not dies"),
        must_fail=("test_nor_where_more_happens[a drop, another account]",),
    ),
    Guard(
        name="that what was written in a place since it was denied counts",
        file="layers/core/strongref/contract/index.py",
        function="IndexEntry.is_untouched",
        find="denied.at > wrote",
        instead="True",
        tests=("tests/protocol/test_outages.py", "-k", "nor_where and a and drop and another and not dies"),
        must_fail=("test_nor_where_more_happens[a drop, another account]",),
    ),
    Guard(
        name="that no claim is stale in another account",
        file="layers/core/strongref/protocol/inspection.py",
        function="TagInspector._interpreted",
        find="self._of_another_account(_1, _2)",
        instead="self._value_tags(_1, _2)",
        tests=("tests/protocol/test_abroad.py", "-k", "stale"),
        must_fail=("test_no_claim_there_is_stale[",),
    ),
    Guard(
        name="that another account's role writes nothing below the place of a third one",
        file="src/strongref_cli/install/trust.yaml",
        function="",
        find="Effect: Deny",
        instead="Effect: Allow",
        tests=("tests/cli/install/test_trust.py", "-k", "exactly_this"),
        must_fail=("test_the_role_may_do_exactly_this",),
    ),
    Guard(
        name="the hold of a place in another account",
        file="layers/core/strongref/protocol/janitor_abroad.py",
        function="AbroadTender.tend",
        find="self._needed(each, first, recorded, claims)",
        instead="{}",
        tests=("tests/protocol/test_janitor_abroad.py", "-k", "held_once"),
        must_fail=("test_a_place_with_claims_is_held_once_until_the_last_is_gone",),
    ),
    Guard(
        name="the second look at a place whose hold nobody seems to need",
        file="layers/core/strongref/protocol/janitor_abroad.py",
        function="AbroadTender._without_holds",
        find="is_so_still(each)",
        instead="True",
        tests=("tests/protocol/test_janitor_abroad.py", "-k", "second_look"),
        must_fail=("test_a_claim_that_is_seen_by_the_second_look_keeps_the_hold",),
    ),
    Guard(
        name="the look at the stack after a place was named",
        file="layers/core/strongref/protocol/unreached.py",
        function="EventPlaces.name",
        find="self.is_over",
        instead="False",
        tests=("tests/protocol/test_out_of_reach.py",),
        must_fail=(
            "test_a_create_that_waits_does_not_publish_after_its_delete_has_answered[reads at once]",
            "test_an_update_that_is_canceled_while_its_place_is_passed_over_writes_nothing",
        ),
    ),
    Guard(
        name="the date of the last request that began to write in a place",
        file="layers/core/strongref/protocol/export_index.py",
        function="ExportIndex.name",
        find="max(at, entry.wrote.get(_, at))",
        instead="entry.wrote.get(place, at)",
        tests=("tests/protocol/test_outages.py", "-k", "never_torn and change"),
        must_fail=("test_a_place_that_goes_away_is_never_torn_and_sticks_nobody[a change]",),
    ),
    Guard(
        name="the look at the fences of a place that a rollback cannot write to",
        file="layers/core/strongref/protocol/unreached.py",
        function="EventPlaces._are_right",
        find="live_fence(...)",
        instead="None",
        tests=("tests/protocol/test_out_of_reach.py",),
        must_fail=("test_a_rollback_needs_a_fence_where_another_one_stood_before_it_looked",),
    ),
    Guard(
        name="that a place is no longer given up once it is published to again",
        file="layers/core/strongref/protocol/unreached.py",
        function="EventPlaces.name",
        find="index.unmark(marked)",
        instead="None",
        tests=("tests/protocol/test_out_of_reach.py",),
        must_fail=(
            "test_what_is_exported_to_a_forgotten_region_again_stays_and_is_protected[reads at once-added again]",
        ),
    ),
    Guard(
        name="that an update which was denied writes nothing any more",
        file="layers/core/strongref/protocol/unreached.py",
        function="EventPlaces.name",
        find="any(entry.denied[at].request_id == _1 for at in denied)",
        instead="False",
        tests=("tests/protocol/test_out_of_reach.py",),
        must_fail=("test_an_update_that_was_denied_writes_nothing_while_the_rollback_passes_over_the_region",),
    ),
    Guard(
        name="that the janitor makes no index exact",
        file="layers/core/strongref/protocol/export_index.py",
        function="ExportIndex.add",
        find="index.encode_place(self.export.stack, at)",
        instead="index.encode_place(self.export.stack, at, exact=True)",
        tests=("tests/protocol/test_out_of_reach.py",),
        must_fail=("test_the_janitor_makes_no_index_exact",),
    ),
    Guard(
        name="that an import holds what its producer may roll back to",
        file="layers/core/strongref/protocol/claims.py",
        function="exports_to_hold",
        find="found.setdefault(_1, _2)",
        instead="None",
        tests=("tests/protocol/test_holds.py", "-k", "roll_back_to"),
        must_fail=("test_a_new_import_holds_what_its_producer_may_roll_back_to",),
    ),
    Guard(
        name="that a hold stays while its producer may roll back to it",
        file="layers/core/strongref/protocol/janitor_holds.py",
        function="HoldTender._needed",
        find="self._is_changing(_1)",
        instead="False",
        tests=("tests/protocol/test_janitor_holds.py", "-k", "roll_back_to"),
        must_fail=("test_a_hold_stays_while_its_producer_may_roll_back_to_it",),
    ),
    Guard(
        name="that a late update names nothing during its rollback",
        file="layers/core/strongref/protocol/unreached.py",
        function="EventPlaces.name",
        find="is_superseded(_1, _2)",
        instead="False",
        tests=("tests/protocol/test_out_of_reach.py",),
        must_fail=("test_a_late_update_does_not_publish_after_the_rollback_passed_over_the_region",),
    ),
    Guard(
        name="the look at what an event has left when its time is over",
        file="layers/core/strongref/protocol/export_attempt.py",
        function="ExportAttempt._apply",
        find="not all(self.places.is_done(_1) for _2 in _3)",
        instead="False",
        tests=("tests/protocol/test_out_of_time.py",),
        must_fail=("test_a_value_that_only_a_later_look_shows_is_not_left_behind",),
    ),
    Guard(
        name="that an import with time left goes on releasing its claims",
        file="layers/core/strongref/protocol/imports.py",
        function="_in_time",
        find="clock.now() < _",
        instead="False",
        tests=("tests/protocol/test_out_of_time.py",),
        must_fail=("test_an_import_that_has_no_time_to_release_its_claims_leaves_them_to_the_janitor[3600]",),
    ),
    Guard(
        name="the deletion of recorded values that reads do not show",
        file="layers/core/strongref/protocol/planner.py",
        function="plan_export",
        find="_delete(found.unseen)",
        instead="()",
        tests=("tests/protocol/test_scenarios.py", "-k", "does_as_it_likes"),
        must_fail=("test_after_its_consumer_is_gone_the_producer_does_as_it_likes[deleted names are hidden]",),
    ),
    Guard(
        name="the bucket and the object of a response at a listed host",
        file="layers/core/strongref/contract/origin.py",
        function="ResponseHosts.accept",
        find="parts.path.startswith(root) and is_key is not None",
        instead="host in self.more or is_key is not None",
        tests=("tests/contract/test_origin.py",),
        must_fail=(
            "test_there_too_a_response_goes_only_to_the_object_in_cloudformations_bucket[new.example.com/whatever]",
        ),
    ),
    Guard(
        name="the key of the installation on secure values",
        file="layers/core/strongref/aws/parameter_store.py",
        function="SsmStore._put",
        find="how['KeyId'] = key",
        tests=("tests/aws/test_parameter_store.py", "-k", "secure_values"),
        must_fail=("test_secure_values_are_encrypted_with_the_installations_key_and_others_with_none[alias",),
        instead="pass",
    ),
    Guard(
        name="the termination protection of what is installed",
        file="src/strongref_cli/install/apply.py",
        function="install",
        find="stacks.protect(plan.stack, on=True)",
        tests=("tests/cli/install/test_apply.py", "-k", "protect"),
        must_fail=("test_whatever_is_installed_is_protected_afterward", "test_protection_alone_needs_no_change_set"),
        instead="pass",
    ),
    Guard(
        name="the request ID of a failed call in the log",
        file="layers/core/strongref/aws/retry.py",
        function="_classify",
        find="error.response.get('ResponseMetadata', {}).get('RequestId', '')",
        tests=("tests/test_next_steps.py", "-k", "request_id"),
        must_fail=("test_a_failed_call_is_logged_with_its_code_and_request_id_and_without_its_text[PutParameter]",),
        instead="''",
    ),
    Guard(
        name="that a withdrawn value stays which is exported again before it goes",
        file="layers/core/strongref/protocol/cleanup.py",
        function="ClaimRelease._delete_behind_fences.delete",
        find="key not in recorded.values",
        instead="True",
        tests=("tests/protocol/test_cleanup.py",),
        must_fail=("test_a_withdrawn_value_that_is_exported_again_meanwhile_stays",),
    ),
    Guard(
        name="that nothing foreign goes with a consumer",
        file="layers/core/strongref/protocol/cleanup.py",
        function="ClaimRelease._delete",
        find="tags.producer is not None",
        instead="True",
        tests=("tests/protocol/test_cleanup.py",),
        must_fail=("test_nothing_foreign_goes_with_a_consumer",),
    ),
    Guard(
        name="that what was written is not forgotten when something is read",
        file="layers/core/strongref/protocol/fences.py",
        function="FenceLease.before_call",
        find="self.has_written or _1",
        instead="_1",
        tests=("tests/protocol/test_fence_leases.py",),
        must_fail=("test_what_was_written_is_not_forgotten_by_reading",),
    ),
    Guard(
        name="that nothing is created without waiting while somebody else is at work",
        file="layers/core/strongref/protocol/unreached.py",
        function="EventPlaces.create.check",
        find="if any(_): raise MustWaitError",
        instead="look()",
        tests=("tests/protocol/test_event_places.py",),
        must_fail=(
            "test_a_creation_goes_on_only_if_nobody_is_there_and_names_nothing_out_of_reach[others]",
            "test_a_creation_goes_on_only_if_nobody_is_there_and_names_nothing_out_of_reach[what it left]",
        ),
    ),
    Guard(
        name="that a creation takes back what it named if a place is out of reach",
        file="layers/core/strongref/protocol/export_index.py",
        function="ExportIndex.create",
        find="self.store.delete(made)",
        tests=("tests/protocol/test_event_places.py",),
        must_fail=("test_a_creation_goes_on_only_if_nobody_is_there_and_names_nothing_out_of_reach[no access]",),
    ),
    Guard(
        name="that a creation which fails at once is verified",
        file="layers/core/strongref/runtime/custom_resource.py",
        function="_Invocation._handled.carry_out",
        find="checked.wait()",
        instead="pass",
        tests=("tests/runtime/test_verified_first.py",),
        must_fail=("test_a_creation_that_fails_at_once_is_answered_only_if_its_event_is_verified[True-answers1]",),
    ),
    Guard(
        name="that nothing is written for an event that is not verified",
        file="layers/core/strongref/runtime/clock.py",
        function="VerifiedFirst.before_call",
        find="self.check()",
        tests=("tests/runtime/test_verified_first.py",),
        must_fail=(
            "test_a_creation_reads_while_its_event_is_verified_and_goes_on_after_it[writes]",
            "test_a_creation_that_is_rejected_only_reads_and_is_not_answered[writes]",
        ),
    ),
    Guard(
        name="that a late event of a stack that is gone does not take over the record of a new one",
        file="layers/core/strongref/protocol/snapshot.py",
        function="read_scope",
        find="written and written.stack != export.stack and inspector.exists(_)",
        instead="False",
        tests=("tests/protocol/test_snapshot.py",),
        must_fail=("test_a_late_event_of_a_stack_that_is_gone_leaves_the_new_one_alone[",),
    ),
    Guard(
        name="the second look of an Import without From at all producers",
        file="layers/core/strongref/protocol/several_producers.py",
        function="SeveralProducers._attempt",
        find="recorded, now = self._look()",
        instead="now = found",
        tests=("tests/protocol/test_several_producers.py", "tests/protocol/test_interleavings_several.py"),
        must_fail=(
            "test_a_second_producer_that_comes_while_it_claims_is_seen[",
            "test_no_reference_is_lost_and_no_name_comes_from_one_of_two[a third x import]",
        ),
    ),
    Guard(
        name="that a name of two producers is refused",
        file="layers/core/strongref/protocol/several_producers.py",
        function="sources",
        find="len(left) == 1",
        instead="left",
        tests=("tests/protocol/test_several_producers.py", "tests/protocol/test_interleavings_several.py"),
        must_fail=(
            "test_what_two_export_is_refused_with_both[",
            "test_no_reference_is_lost_and_no_name_comes_from_one_of_two[a third x import]",
        ),
    ),
    Guard(
        name="that what all scopes of a region need is held together",
        file="layers/core/strongref/protocol/several_producers.py",
        function="SeveralProducers._needed",
        find="needed.setdefault(region, {}).update(_1)",
        instead="needed[region] = _1",
        tests=("tests/protocol/test_several_producers.py", "tests/protocol/test_interleavings_several.py"),
        must_fail=(
            "test_all_names_of_one_region_are_held_by_one_stack[",
            "test_no_reference_is_lost_and_no_name_comes_from_one_of_two[held: the other leaves x import]",
        ),
    ),
    Guard(
        name="that a Writer of the CDK waits for its Exports, which may refuse",
        file="layers/core/strongref/macro/cdk_edits.py",
        function="_orders",
        find="added = made.get(logical_id, [])",
        instead="added = []",
        tests=("tests/macro/test_cdk.py", "-k", "writer_is_exported or certificate or lambda_versions"),
        must_fail=(
            "test_every_value_of_a_writer_is_exported_to_its_stack_before_the_writer_changes[certificate-Cert]",
            "test_a_certificate",
            "test_names_of_lambda_versions_stay_with_the_cdk_on_both_sides",
        ),
    ),
)


def outcomes(report: Path) -> dict[str, bool]:
    """Whether each test that ran failed, by name; none, if pytest did not get as far as its report."""
    found: dict[str, bool] = {}
    if not report.exists():
        return found
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314 (pytest has just written it)
        found[case.get("name", "")] = case.find("failure") is not None
    return found


def run_without(guard: Guard, copy: Path) -> None:
    """Run the tests that must fail without a guard, in a copy of the project, and write a report."""
    paths = list(map(str, (copy / "layers/core", copy / "src", copy)))
    os.environ |= {
        "PYTHONPATH": os.pathsep.join(paths),
        "STRONGREF_EMULATOR_PYTHON": executable("STRONGREF_EMULATOR_PYTHON", ".build/venv-emulator/bin/python"),
        "STRONGREF_SAM": executable("STRONGREF_SAM", ".build/venv-sam/bin/sam"),
        examples.THOROUGH: "1",
        only.VARIABLE: json.dumps(guard.must_fail),
    }
    # Python takes a module of the same size and second for the one that it has compiled.
    sys.dont_write_bytecode = True
    for name in [name for name in sys.modules if name.startswith(OURS)]:
        del sys.modules[name]
    sys.path[:0] = paths
    os.chdir(copy)
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    (copy / guard.file).write_text(guard.removed())
    pytest.main(["-q", "--tb=no", "-p", "no:cacheprovider", "-p", only.__name__, f"--junitxml={REPORT}", *guard.tests])


def fork(guard: Guard, copy: Path) -> int:
    """The ID of a process that runs tests without a guard: to start Python and pytest takes longer than most tests."""
    if child := os.fork():
        return child
    try:
        run_without(guard, copy)
    finally:
        os._exit(0)  # What its tests did is in the report.


def verdict(guard: Guard, found: Mapping[str, bool]) -> tuple[str, bool]:
    """What became of the tests that must fail without a guard, a line each, and whether all failed."""
    lines, missed = [f"without {guard.name}:\n"], False
    for beginning in guard.must_fail:
        ran = [failed for name, failed in found.items() if name.startswith(beginning)]
        fails = bool(ran) and all(ran)
        missed |= not fails
        lines.append(f"  {'fails, as it should' if fails else 'PASSES' if ran else 'DID NOT RUN'}: {beginning}\n")
    return "".join(lines), not missed


def verdicts() -> Iterator[tuple[str, bool]]:
    """Remove each guard, several at a time, each in a copy of the project: some only wait until a test gives up."""
    gc.freeze()  # Memory that nobody writes to stays shared with the forks.
    waiting = list(reversed(GUARDS))
    running: dict[int, tuple[Guard, Path]] = {}
    with tempfile.TemporaryDirectory(prefix="strongref-guards-") as folder:
        free = [Path(folder) / str(number) for number in range((os.cpu_count() or 1) + WAITING)]
        for copy in free:
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
        while waiting or running:
            while waiting and free:
                guard, copy = waiting.pop(), free.pop()
                running[fork(guard, copy)] = guard, copy
            guard, copy = running.pop(os.wait()[0])
            yield verdict(guard, outcomes(copy / REPORT))
            (copy / REPORT).unlink(missing_ok=True)
            shutil.copy2(ROOT / guard.file, copy / guard.file)
            free.append(copy)


def main() -> int:
    """Remove each guard; 1 if a test passes without it."""
    began = time.monotonic()
    for name in IMPORTED_ONCE:
        import_module(name)
    good = True
    for lines, fails in verdicts():
        sys.stdout.write(lines)
        sys.stdout.flush()
        good &= fails
    sys.stdout.write(f"The run took {minutes(time.monotonic() - began)}, and {minutes(cpu_seconds())} of CPU.\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
