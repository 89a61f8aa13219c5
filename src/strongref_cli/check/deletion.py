"""What the deletion of a stack would do to its exports. Pure.

CloudFormation deletes a resource once nothing depends on it anymore. So what an Export refers to is still there when
the Export refuses, and everything else may be gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.protocol.phases import Phase
from strongref.text import some
from strongref_cli.check.comparison import Comparison
from strongref_cli.check.exports_in_use import deletion_refused, left_behind, unheld
from strongref_cli.check.report import ChangeKind, ExportPrediction, StackFinding, StackReport, Verdict, unclear
from strongref_cli.check.simulation import Simulation
from strongref_cli.check.stored import StoredStack, unclear_place
from strongref_toolkit.cloudformation import NESTED_STACK

if TYPE_CHECKING:
    from collections.abc import Collection

    from strongref.contract.names import StackArn
    from strongref_cli.check.version import StackVersion


def predict_deletion(
    stack: StackArn, version: StackVersion, stored: StoredStack, going: Collection[str] = ()
) -> StackReport:
    """What the deletion of a stack would do, given the ARNs of those that are deleted with it."""
    exports = [_deleted(stack, each, version, stored, going) for each in version.exports]
    findings = list(deletion_refused(version, stored, going))
    refusing = [each.logical_id for each in exports if each.verdict is Verdict.REFUSED]
    if refusing and not any(each.verdict is Verdict.REFUSED for each in findings):
        gone = _gone_before(version, refusing)
        if gone:
            text = (
                f"CloudFormation deletes {some(gone)} before or while {some(refusing)} refuses: {some(refusing)} "
                "cannot protect what it does not refer to. Add Hold to have CloudFormation refuse at once."
            )
            findings.append(StackFinding(Verdict.LOST, text))
    for each in version.exports:
        findings += unheld(each, stored)
    findings += [StackFinding(Verdict.LOST, text) for text in left_behind(version.exports, stored)]
    return StackReport(stack.name, stack.region, tuple(exports), tuple(findings))


def _deleted(
    stack: StackArn, logical_id: str, version: StackVersion, stored: StoredStack, going: Collection[str]
) -> ExportPrediction:
    if hidden := unclear_place(version, logical_id, stored):
        return unclear(logical_id, hidden)
    retained = version.resources[logical_id].retained
    kind = ChangeKind.UNCHANGED if retained else ChangeKind.DROPPED
    changes = tuple(stored.change(kind, logical_id, *each) for each in stored.recorded_in_places(logical_id))
    used_by = set(stored.importers(logical_id))
    if retained:
        if not used_by:
            return ExportPrediction(logical_id, Verdict.ACCEPTED, changes=changes)
        text = (
            f"{logical_id} is retained, so it refuses nothing: what its values refer to is deleted while stacks use it."
        )
        return ExportPrediction(logical_id, Verdict.LOST, (text,), changes)
    refusal = Simulation(stack, Comparison(version, version), stored).removal(logical_id, Phase.DELETE).refusal
    if not refusal:
        return ExportPrediction(logical_id, Verdict.ACCEPTED, changes=changes)
    if used_by <= set(going):
        text = (
            f"unknown: only stacks that are deleted with it import it. Refused if they are not deleted first: {refusal}"
        )
        return ExportPrediction(logical_id, Verdict.UNKNOWN, (text,), changes)
    return ExportPrediction(logical_id, Verdict.REFUSED, (str(refusal),), changes)


def _gone_before(version: StackVersion, refusing: Collection[str]) -> list[str]:
    """The resources that no refusing Export depends on, so that CloudFormation does not wait with them."""
    kept = {*refusing}.union(*map(version.needed_by, refusing))
    return [
        name
        for name, each in version.resources.items()
        if each.present
        and not each.retained
        and name not in kept
        and each.type != NESTED_STACK
        and not each.type.startswith("Custom::CrossRegion")
    ]
