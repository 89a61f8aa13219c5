"""Which phase an event belongs to, and what that means for claimed values: every row of the table."""

from __future__ import annotations

import pytest

from strongref.contract.event import RequestType
from strongref.contract.requests import OnChange
from strongref.protocol.phases import POLICIES, ClaimPolicy, ImportPolicy, Phase, claim_policy, phase_of
from strongref.protocol.ports import StackInfo
from tests.support.builders import WEB

CREATE, UPDATE, DELETE = RequestType.CREATE, RequestType.UPDATE, RequestType.DELETE
REFUSE, PROPAGATE, KEEP = ClaimPolicy.REFUSE, ClaimPolicy.PROPAGATE, ClaimPolicy.KEEP


def stack(status: str) -> StackInfo:
    return StackInfo(WEB, "web", status, WEB)


@pytest.mark.parametrize(
    ("request_type", "status", "phase"),
    [
        (CREATE, "CREATE_IN_PROGRESS", Phase.CREATE),
        (CREATE, "UPDATE_IN_PROGRESS", Phase.CREATE),
        (UPDATE, "UPDATE_IN_PROGRESS", Phase.UPDATE),
        (UPDATE, "UPDATE_ROLLBACK_IN_PROGRESS", Phase.ROLLBACK),
        (DELETE, "ROLLBACK_IN_PROGRESS", Phase.CREATE_ROLLBACK),
        (DELETE, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", Phase.CLEANUP),
        (DELETE, "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS", Phase.CLEANUP),
        (DELETE, "DELETE_IN_PROGRESS", Phase.DELETE),
    ],
)
def test_the_phase_follows_from_the_request_and_the_stacks_status(
    request_type: RequestType, status: str, phase: Phase
) -> None:
    assert phase_of(request_type, lambda: stack(status)) is phase


@pytest.mark.parametrize(
    ("request_type", "phase"), [(CREATE, Phase.CREATE), (UPDATE, Phase.UPDATE), (DELETE, Phase.DELETE)]
)
def test_of_a_stack_that_is_gone_only_the_request_is_known(request_type: RequestType, phase: Phase) -> None:
    assert phase_of(request_type, lambda: None) is phase


@pytest.mark.parametrize(
    ("phase", "refuse", "propagate"),
    [
        (Phase.CREATE, REFUSE, PROPAGATE),
        (Phase.CREATE_ROLLBACK, REFUSE, REFUSE),
        (Phase.UPDATE, REFUSE, PROPAGATE),
        (Phase.ROLLBACK, KEEP, KEEP | PROPAGATE),
        (Phase.CLEANUP, KEEP, KEEP),
        (Phase.DELETE, REFUSE, REFUSE),
    ],
)
def test_the_policy_follows_from_the_phase_and_on_change(
    phase: Phase, refuse: ClaimPolicy, propagate: ClaimPolicy
) -> None:
    assert claim_policy(phase, OnChange.REFUSE) == refuse
    assert claim_policy(phase, OnChange.PROPAGATE) == propagate


def test_every_phase_has_a_policy_for_every_choice() -> None:
    assert {phase: set(policy.exports) for phase, policy in POLICIES.items()} == {
        phase: set(OnChange) for phase in Phase
    }


def test_a_phase_is_looked_up_only_where_it_matters() -> None:
    def look() -> StackInfo | None:
        raise AssertionError

    assert phase_of(CREATE, look) is Phase.CREATE


@pytest.mark.parametrize(
    ("phase", "policy"),
    [
        (Phase.CREATE, ImportPolicy.CLAIM),
        (Phase.CREATE_ROLLBACK, ImportPolicy.RELEASE),
        (Phase.UPDATE, ImportPolicy.CLAIM),
        (Phase.ROLLBACK, ImportPolicy.CLAIM_UNHELD),
        (Phase.CLEANUP, ImportPolicy.RELEASE),
        (Phase.DELETE, ImportPolicy.CLEAN),
    ],
)
def test_what_an_import_does_follows_from_the_phase(phase: Phase, policy: ImportPolicy) -> None:
    assert POLICIES[phase].imports is policy


def test_the_rollback_of_an_update_that_propagated_propagates_back() -> None:
    assert claim_policy(Phase.ROLLBACK, OnChange.REFUSE, OnChange.PROPAGATE) == KEEP | PROPAGATE
    assert claim_policy(Phase.ROLLBACK, OnChange.PROPAGATE, OnChange.REFUSE) == KEEP | PROPAGATE
    assert claim_policy(Phase.ROLLBACK, OnChange.REFUSE, OnChange.REFUSE) == KEEP
