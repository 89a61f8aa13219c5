"""When a claim is stale, as a value: no store, no CloudFormation."""

from __future__ import annotations

import pytest

from strongref.protocol.staleness import ClaimingStack, is_stale, is_stale_twice

TAG, OTHER = "strongref:claim:1", "strongref:claim:2"


@pytest.mark.parametrize(
    ("stack", "stale"),
    [
        pytest.param(None, False, id="nothing is known about the stack"),
        pytest.param(ClaimingStack(exists=False), True, id="deleted"),
        pytest.param(ClaimingStack(exists=True), False, id="an operation is running"),
        pytest.param(ClaimingStack(exists=True, claims=frozenset([OTHER])), False, id="running, without that import"),
        pytest.param(ClaimingStack(exists=True, at_rest=True), True, id="at rest, without imports"),
        pytest.param(
            ClaimingStack(exists=True, at_rest=True, claims=frozenset([OTHER])), True, id="another generation"
        ),
        pytest.param(ClaimingStack(exists=True, at_rest=True, claims=frozenset([TAG, OTHER])), False, id="imported"),
    ],
)
def test_a_claim_is_stale_only_if_its_stack_is_gone_or_at_rest_without_it(
    stack: ClaimingStack | None, stale: bool
) -> None:
    assert is_stale(TAG, stack) is stale


def test_two_looks_agree_only_about_the_same_rest() -> None:
    rested = ClaimingStack(exists=True, at_rest=True)
    assert is_stale_twice(TAG, rested, rested)
    assert not is_stale_twice(TAG, ClaimingStack(exists=False), rested)
