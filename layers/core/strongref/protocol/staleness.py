"""Whether a claim is stale, given what CloudFormation says about the stack that made it. Pure; `inspection` asks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClaimingStack:
    """What CloudFormation says about a stack that claims."""

    exists: bool  # False once it is deleted
    at_rest: bool = False  # no operation is running in it or left unfinished
    claims: frozenset[str] = frozenset()  # the claim tags that its imports stand for now; only known of a stack at rest
    updated: str = ""  # when its last update began


def is_stale(claim_tag: str, stack: ClaimingStack | None) -> bool:
    """Whether a claim protects nothing any more: its stack is gone, or is at rest and has no such import.

    If nothing is known about the stack (None), as for manifests or a stack of another account, the claim counts.
    """
    if stack is None:
        return False
    return not stack.exists or (stack.at_rest and claim_tag not in stack.claims)


def is_stale_twice(claim_tag: str, first: ClaimingStack | None, second: ClaimingStack | None) -> bool:
    """Whether a claim is stale for two looks, of which the second was more than a lag after the first.

    One look is not enough: CloudFormation's answers may lag, each for itself. Of a stack at rest, the two must be about
    the same rest: if no update began between them, the second look's list of resources is up to date.
    """
    if not (is_stale(claim_tag, first) and is_stale(claim_tag, second)) or not (first and second):
        return False
    return not second.exists or (first.exists and first.updated == second.updated)
