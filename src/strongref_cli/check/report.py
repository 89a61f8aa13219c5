"""What `strongref check` answers. Data only; no text has a value in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from strongref.text import attribute_name

if TYPE_CHECKING:
    from strongref.contract.names import Key


class Verdict(StrEnum):
    """What would become of something, from the best to the worst."""

    ACCEPTED = "accepted"
    UNKNOWN = "unknown"
    """Only the deployment knows."""
    LOST = "lost"
    """It is not refused, and stacks lose what they import, or its protection."""
    REFUSED = "refused"


class ChangeKind(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    DROPPED = "dropped"
    WITHDRAWN = "withdrawn"
    """It stays for the stacks that import it, and nothing protects it anymore."""
    UNKNOWN = "unknown"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class ValueChange:
    """What would become of one exported value in one place."""

    kind: ChangeKind
    key: Key
    region: str
    consumer: str
    importers: tuple[str, ...] = ()  # the ARNs of the stacks that claim it
    because: str = ""  # why it is unknown
    account: str = ""  # of the place; empty for the stack's own

    @property
    def name(self) -> str:
        return attribute_name(self.key)


@dataclass(frozen=True, slots=True)
class ImportPrediction:
    """What would become of one Import, and of the attributes of it that the template names."""

    logical_id: str
    verdict: Verdict
    # a refusal in the function's words, what is lost, when it would be refused, or CloudFormation's reason in ours
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExportPrediction(ImportPrediction):
    changes: tuple[ValueChange, ...] = ()


@dataclass(frozen=True, slots=True)
class StackFinding:
    """Something about the stack as a whole."""

    verdict: Verdict  # ACCEPTED for what is only worth knowing
    text: str


@dataclass(frozen=True, slots=True)
class StackReport:
    """The answer for one stack, and for those that are nested in it."""

    stack: str  # its name
    region: str
    exports: tuple[ExportPrediction, ...] = ()
    findings: tuple[StackFinding, ...] = ()
    nested: tuple[StackReport, ...] = ()
    # whether it is about a nested stack that CloudFormation deletes in the cleanup, where a refusal stops nothing: what
    # that means is a finding of the stack above
    in_cleanup: bool = False
    imports: tuple[ImportPrediction, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """What would become of the whole deployment."""
        if self.in_cleanup:
            return Verdict.ACCEPTED
        parts: list[ImportPrediction | StackReport | StackFinding] = [*self.resources, *self.nested, *self.findings]
        return max((each.verdict for each in parts), key=list(Verdict).index, default=Verdict.ACCEPTED)

    @property
    def resources(self) -> tuple[ImportPrediction, ...]:
        return *self.exports, *self.imports

    @property
    def reasons(self) -> list[tuple[Verdict, str]]:
        """What says why, with the verdict that it explains."""
        of_resources = [(each.verdict, reason) for each in self.resources for reason in each.reasons]
        return of_resources + [(each.verdict, each.text) for each in self.findings]

    @property
    def all_stacks(self) -> Iterator[StackReport]:
        yield self
        for each in self.nested:
            yield from each.all_stacks
