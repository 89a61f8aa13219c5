"""What the deletion of a stack would do to its exports. Pure.

CloudFormation deletes a resource once nothing depends on it anymore. So what an Export refers to is still there when
the Export refuses, and everything else may be gone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from strongref.protocol.phases import Phase
from strongref.text import some
from strongref_cli.check.comparison import Comparison
from strongref_cli.check.exports_in_use import deletion_refused, held_abroad, left_behind, unheld
from strongref_cli.check.report import ChangeKind, ExportPrediction, StackFinding, StackReport, Verdict
from strongref_cli.check.simulation import Simulation
from strongref_cli.check.stored import StoredStack, unclear_place
from strongref_cli.check.unread import at_worst
from strongref_toolkit.cloudformation import NESTED_STACK

if TYPE_CHECKING:
    from strongref.contract.names import StackArn
    from strongref_cli.check.version import StackVersion


def predict_deletion(
    stack: StackArn, version: StackVersion, stored: StoredStack, going: Collection[str] = ()
) -> StackReport:
    """What the deletion of a stack would do, given the ARNs of those that are deleted with it."""
    return at_worst(Simulation(stack, Comparison(version, version), stored, going), _predict)


def _predict(simulation: Simulation) -> StackReport:
    stack, version, stored = simulation.stack, simulation.comparison.new, simulation.stored
    exports = [_deleted(simulation, each) for each in version.exports]
    findings = list(deletion_refused(simulation))
    refusing = [each.logical_id for each in exports if each.verdict is Verdict.REFUSED]
    at_once = any(each.verdict is Verdict.REFUSED for each in findings)
    if refusing and not at_once and (gone := _gone_before(version, refusing)):
        who = some(refusing)
        text = f"CloudFormation deletes {some(gone)} before or while {who} refuses: {who} cannot protect what it "
        text += "does not refer to."
        text += "" if all(map(stored.hold, refusing)) else " Add Hold to have CloudFormation refuse at once."
        findings.append(StackFinding(Verdict.LOST, text))
    for each in version.exports:
        findings += [*unheld(each, stored), *held_abroad(each, stored)]
    findings += [StackFinding(Verdict.LOST, text) for text in left_behind(version.exports, stored)]
    return StackReport(stack.name, stack.region, tuple(exports), tuple(findings))


def _deleted(simulation: Simulation, logical_id: str) -> ExportPrediction:
    lost = f"{logical_id} is retained, so it refuses nothing: what its values refer to is deleted while stacks use it."
    if found := unclear_or_retained(simulation, logical_id, [lost]):
        return found
    stored = simulation.stored
    recorded = stored.recorded_in_places(logical_id)
    changes = tuple(stored.change(ChangeKind.DROPPED, logical_id, *each) for each in recorded)
    refusal = simulation.removal(logical_id, Phase.DELETE).refusal
    if not refusal:
        return ExportPrediction(logical_id, Verdict.ACCEPTED, changes=changes)
    importers = stored.importers(logical_id)
    if importers and set(importers) <= set(simulation.changing):
        text = "unknown: only stacks that are deleted with it import it. Refused if they are not deleted first: "
        return ExportPrediction(logical_id, Verdict.UNKNOWN, (f"{text}{refusal}",), changes)
    return ExportPrediction(logical_id, Verdict.REFUSED, (str(refusal),), changes)


def unclear_or_retained(simulation: Simulation, logical_id: str, lost: Iterable[str]) -> ExportPrediction | None:
    """What becomes of an Export that leaves: nothing if it is retained; None if CloudFormation deletes it.

    `lost` says what it loses if it is retained while stacks import its values.
    """
    version, stored = simulation.comparison.old, simulation.stored
    if hidden := unclear_place(version, logical_id, stored):
        text = f"Where it publishes is unknown: only CloudFormation knows {hidden}, and the index has no entry for "
        text += "this Export. The janitor adds the entry: check again after its next run."
        return ExportPrediction(logical_id, Verdict.UNKNOWN, (text,))
    if not version.resources[logical_id].retained:
        return None
    recorded = stored.recorded_in_places(logical_id)
    changes = tuple(stored.change(ChangeKind.UNCHANGED, logical_id, *each) for each in recorded)
    if not stored.importers(logical_id):
        return ExportPrediction(logical_id, Verdict.ACCEPTED, changes=changes)
    return ExportPrediction(logical_id, Verdict.LOST, tuple(lost), changes)


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
