"""Which phase of a stack's operation an event belongs to, and what exports and imports do in each phase. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, Flag, auto
from typing import TYPE_CHECKING, NamedTuple

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


class ImportPolicy(Enum):
    CLAIM = "claim"
    """Hold, claim and verify; what cannot be held is refused."""
    CLAIM_UNHELD = "claim unheld"
    """Claim and verify, if need be without the hold, which the janitor makes later."""
    RELEASE = "release"
    """Release what was claimed."""
    CLEAN = "clean"
    """Release, and delete what is published for the consumer, which is going."""


def phase_of(request_type: RequestType, look: Callable[[], StackInfo | None]) -> Phase:
    """The phase of an event. What CloudFormation says about the stack (None: it is gone) is looked up if it matters."""
    if request_type is RequestType.CREATE:
        return Phase.CREATE
    stack = look()
    if request_type is RequestType.UPDATE:
        return Phase.ROLLBACK if stack and stack.rolling_back else Phase.UPDATE
    if stack and stack.cleaning_up:
        return Phase.CLEANUP
    return Phase.DELETE if stack is None or stack.being_deleted else Phase.CREATE_ROLLBACK


_REFUSE = dict.fromkeys(OnChange, ClaimPolicy.REFUSE)
_KEEP = dict.fromkeys(OnChange, ClaimPolicy.KEEP)
_AS_ASKED = {OnChange.REFUSE: ClaimPolicy.REFUSE, OnChange.PROPAGATE: ClaimPolicy.PROPAGATE}
_ROLLBACK = {on_change: policy | ClaimPolicy.KEEP for on_change, policy in _AS_ASKED.items()}


class PhasePolicy(NamedTuple):
    exports: Mapping[OnChange, ClaimPolicy]  # by what their properties ask for
    imports: ImportPolicy


POLICIES = {
    Phase.CREATE: PhasePolicy(_AS_ASKED, ImportPolicy.CLAIM),
    Phase.CREATE_ROLLBACK: PhasePolicy(_REFUSE, ImportPolicy.RELEASE),
    Phase.UPDATE: PhasePolicy(_AS_ASKED, ImportPolicy.CLAIM),
    Phase.ROLLBACK: PhasePolicy(_ROLLBACK, ImportPolicy.CLAIM_UNHELD),
    Phase.CLEANUP: PhasePolicy(_KEEP, ImportPolicy.RELEASE),
    Phase.DELETE: PhasePolicy(_REFUSE, ImportPolicy.CLEAN),
}
"""In a rollback, a value that the failed update published and that was claimed since is kept, and one that it
propagated is propagated back. A value that it changed and that was claimed since cannot go back."""


def claim_policy(phase: Phase, on_change: OnChange, failed_on_change: OnChange | None = None) -> ClaimPolicy:
    """What a phase does about claimed values, given what the event's properties ask for.

    In a rollback, `failed_on_change` is what the failed update asked for.
    """
    policies = POLICIES[phase].exports
    return policies[on_change] | policies[failed_on_change] if failed_on_change else policies[on_change]
