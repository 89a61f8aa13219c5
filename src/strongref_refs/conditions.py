"""The condition `ACK.ReferencesResolved`, as ACK's controllers set it. Pure.

By `aws-controllers-k8s/runtime`, `pkg/condition/condition.go`, `WithReferencesResolvedCondition`: the message is always
the same, what is wrong stands in the reason. False is what does not mend itself, Unknown what may.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from strongref.text import REASON_LIMIT, cut
from strongref_refs.errors import (
    FieldError,
    ResourceReferenceCrossNamespaceNotAllowedError,
    ResourceReferenceTerminalError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strongref.errors import StrongRefError

_FAILED = "Reference resolution failed"
_FINAL = (ResourceReferenceTerminalError, ResourceReferenceCrossNamespaceNotAllowedError)


@dataclass(frozen=True, slots=True)
class Condition:
    """One entry of `status.conditions`.

    Attributes:
        type: always `ACK.ReferencesResolved`.
        status: True, False or Unknown.
        message: empty if True.
        reason: what is wrong, in the words of ACK's controllers; of several problems all, with `; ` between them.
    """

    type: ClassVar[str] = "ACK.ReferencesResolved"
    status: str
    message: str = ""
    reason: str = ""

    def as_manifest(self) -> dict[str, str]:
        """As it stands in an object, but for the time."""
        both = {"message": self.message, "reason": self.reason}
        return {"type": self.type, "status": self.status, **{key: text for key, text in both.items() if text}}


def references_resolved(problems: Sequence[StrongRefError]) -> Condition:
    """The condition of an object that has references, by all that is wrong with them."""
    if not problems:
        return Condition("True")
    status = "False" if any(isinstance(each, _FINAL) for each in problems) else "Unknown"
    texts = (each.upstream if isinstance(each, FieldError) else str(each) for each in problems)
    return Condition(status, _FAILED, cut("; ".join(texts), REASON_LIMIT))
