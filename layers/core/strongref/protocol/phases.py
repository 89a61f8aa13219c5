"""Which phase of a stack's operation an event belongs to, and what the phase allows for claimed values. Pure."""

from __future__ import annotations

from enum import Enum, Flag, auto
from typing import TYPE_CHECKING

from strongref.contract.event import RequestType
from strongref.contract.requests import OnChange

if TYPE_CHECKING:
    from strongref.protocol.ports import StackInfo


class Phase(Enum):
    """What CloudFormation is doing with the stack while it sends an event."""

    CREATE = "create"
    CREATE_ROLLBACK = "the rollback of a create"
    """A Delete: the resource's Create, or that of another one, failed."""
    UPDATE = "update"
    ROLLBACK = "the rollback of an update"
    """An Update with old and new properties swapped. Refusing it leaves the stack in UPDATE_ROLLBACK_FAILED."""
    CLEANUP = "cleanup"
    """A Delete after an update or its rollback succeeded. A failure there is only reported, and the resource leaks."""
    DELETE = "delete"


class ClaimPolicy(Flag):
    """What to do about a claimed value that is to change or to go. The last two can be combined."""

    REFUSE = 0
    PROPAGATE = auto()
    """Change it anyway, and report who imports it."""
    KEEP = auto()
    """Keep a value that is to go: withdrawn, which means that no record holds it, until its last claim is gone."""


def phase_of(request_type: RequestType, stack: StackInfo | None) -> Phase:
    """The phase of an event, given what CloudFormation says about the stack at that time (None: it is gone)."""
    if request_type is RequestType.CREATE:
        return Phase.CREATE
    if request_type is RequestType.UPDATE:
        return Phase.ROLLBACK if stack and stack.rolling_back else Phase.UPDATE
    if stack and stack.cleaning_up:
        return Phase.CLEANUP
    return Phase.DELETE if stack is None or stack.being_deleted else Phase.CREATE_ROLLBACK


_REFUSE = dict.fromkeys(OnChange, ClaimPolicy.REFUSE)
_KEEP = dict.fromkeys(OnChange, ClaimPolicy.KEEP)
_AS_ASKED = {OnChange.REFUSE: ClaimPolicy.REFUSE, OnChange.PROPAGATE: ClaimPolicy.PROPAGATE}
_ROLLBACK = {on_change: policy | ClaimPolicy.KEEP for on_change, policy in _AS_ASKED.items()}

POLICIES = {
    Phase.CREATE: _AS_ASKED,
    Phase.CREATE_ROLLBACK: _REFUSE,
    Phase.UPDATE: _AS_ASKED,
    Phase.ROLLBACK: _ROLLBACK,
    Phase.CLEANUP: _KEEP,
    Phase.DELETE: _REFUSE,
}
"""By phase and `OnChange`. In a rollback, a value that the failed update published and that was claimed since is kept,
and one that it propagated is propagated back. A value that it changed and that was claimed since cannot go back."""


def claim_policy(phase: Phase, on_change: OnChange, failed_on_change: OnChange | None = None) -> ClaimPolicy:
    """What a phase does about claimed values, given what the event's properties ask for.

    In a rollback, `failed_on_change` is what the failed update asked for.
    """
    policy = POLICIES[phase][on_change]
    return policy | POLICIES[phase][failed_on_change] if failed_on_change else policy
