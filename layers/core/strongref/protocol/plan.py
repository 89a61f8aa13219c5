"""What an Export does in one scope: a list of instructions, or why it is refused. Data only.

`planner` makes plans, and `executor` carries them out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from strongref.errors import UndecryptableError
from strongref.refusals import ConflictingExportError, ExportsInUseError, ForeignParameterError, InUse

if TYPE_CHECKING:
    from strongref.contract.names import ExportScope, Key
    from strongref.contract.record import Record
    from strongref.contract.values import Value

Importers = tuple[str, ...]
"""The ARNs of the stacks that claim a value, sorted."""

Refusal = ConflictingExportError | ForeignParameterError | ExportsInUseError | UndecryptableError


@dataclass(frozen=True, slots=True)
class _OfRecord:
    logical_id: str  # of the Export
    record: Record | None  # None deletes it
    used: frozenset[int]  # the numbers of the parts that the record has now


class WriteRecord(_OfRecord):
    """Replace the record of an Export, or delete it."""


class CloseRecord(_OfRecord):
    """Mark the record that was written open as complete, or delete the head that a withdrawal left."""


@dataclass(frozen=True, slots=True)
class _OfKey:
    key: Key


@dataclass(frozen=True, slots=True)
class _OfTaggedValue(_OfKey):
    value: Value
    tags: Mapping[str, str]


class Create(_OfTaggedValue):
    """Create a parameter with its tags."""


class Overwrite(_OfTaggedValue):
    """Write a value over an existing parameter; one that has gone meanwhile gets the tags."""


class TakeOwnership(_OfTaggedValue):
    """Add owner tags to a parameter; create it if it has gone."""


class GiveUpOwnership(_OfKey):
    """Remove the Export's own owner tag: another Export still publishes the value."""


@dataclass(frozen=True, slots=True)
class RemoveClaims(_OfKey):
    """Remove stale claims: the tags' keys, and the ARNs of the stacks that they name."""

    claims: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete parameters, whether they exist or not; as many as one call takes."""

    keys: tuple[Key, ...]


Instruction = WriteRecord | CloseRecord | Create | Overwrite | TakeOwnership | GiveUpOwnership | RemoveClaims | Delete


@dataclass(frozen=True, slots=True)
class ExportPlan:
    scope: ExportScope  # where
    # in the order in which they are carried out; empty where the plan is refused
    instructions: tuple[Instruction, ...] = ()
    refusals: tuple[Refusal, ...] = ()  # why nothing may be done
    propagated: Mapping[Key, Importers] = field(default_factory=dict)  # claimed values that change anyway
    kept: Mapping[Key, Importers] = field(default_factory=dict)  # claimed values that were to go, and stay
    # stale claims on values that change or go: the tags' keys, the ARNs of the stacks that they name
    stale: Mapping[Key, Mapping[str, str]] = field(default_factory=dict)
    # after everything else, as far as there is time: what its record held and reads do not show
    unseen: tuple[Delete, ...] = ()

    def as_creation(self) -> ExportPlan | None:
        """This plan if it only creates, with the record as the last: nobody can import before that.

        None if it does anything else. The record too must be new: one that exists may hold more than was read.
        """
        creates = [each for each in self.instructions if isinstance(each, Create)]
        records = [
            each for each in self.instructions if isinstance(each, WriteRecord) and each.record and not each.used
        ]
        if self.refusals or self.overrides_claims or len(creates) + len(records) < len(self.instructions):
            return None
        return replace(self, instructions=(*creates, *records))

    @property
    def overrides_claims(self) -> bool:
        """Whether it changes or withdraws claimed values."""
        return bool(self.propagated or self.kept)

    def counts(self) -> dict[str, int]:
        """How many values it creates, changes, adopts and drops, for the log."""
        deleted = {key for each in (*self.instructions, *self.unseen) if isinstance(each, Delete) for key in each.keys}
        created = {each.key for each in self.instructions if isinstance(each, Create)}
        kinds = [type(each) for each in self.instructions]
        return {
            "made": len(created - deleted),
            "changed": kinds.count(Overwrite) + len(created & deleted),
            "adopted": kinds.count(TakeOwnership),
            "dropped": len(deleted - created) + kinds.count(GiveUpOwnership),
        }


def refusal_of(plans: Sequence[ExportPlan]) -> Refusal | None:
    """Why several plans cannot be carried out; None if they can. Values in use are reported for all plans together."""
    refusals = [refusal for plan in plans for refusal in plan.refusals]
    in_use: list[InUse] = []
    unknown: set[str] = set()
    accounts: set[str] = set()
    for refusal in refusals:
        if not isinstance(refusal, ExportsInUseError):
            return refusal
        in_use.extend(refusal.in_use)
        unknown.update(refusal.unknown)
        accounts.update(refusal.accounts)
    return ExportsInUseError(in_use, unknown, accounts) if in_use else None
