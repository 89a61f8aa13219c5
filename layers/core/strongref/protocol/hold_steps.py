"""What to do next about a hold stack. Pure; `hold_keeper` does it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import Enum
from typing import TYPE_CHECKING

from strongref.contract.hold_stacks import DIGEST, digest

if TYPE_CHECKING:
    from strongref.protocol.ports import StackInfo


class HoldStep(Enum):
    NONE = "none"
    """It holds what it should."""
    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    """It can neither be used nor updated: delete it, then create it."""
    WAIT = "wait"


_UNUSABLE = (
    *("CREATE_FAILED", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "DELETE_FAILED", "REVIEW_IN_PROGRESS"),
    *("UPDATE_FAILED", "UPDATE_ROLLBACK_FAILED", "IMPORT_ROLLBACK_COMPLETE", "IMPORT_ROLLBACK_FAILED"),
)


def next_step(
    found: StackInfo | None, exports: Collection[str], is_listed: Callable[[StackInfo], bool] = lambda _: True
) -> HoldStep:
    """What to do so that a hold stack holds these exports, given the stack of its name.

    Its output alone proves nothing, since anyone can write one. So it is also asked whether CloudFormation lists the
    stack among those that import each export. If not, an update with the hold's own template corrects it.
    """
    if found is None:
        return HoldStep.CREATE
    if found.status in _UNUSABLE:
        return HoldStep.REPLACE
    if found.at_rest or found.cleaning_up:
        if found.outputs.get(DIGEST) == digest(exports) and is_listed(found):
            return HoldStep.NONE
        return HoldStep.UPDATE if found.at_rest else HoldStep.WAIT
    return HoldStep.WAIT
