"""What an update, or the creation of a stack, would do to its exports. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from strongref.grouping import grouped
from strongref.protocol.phases import Phase
from strongref.refusals import ExportsInUseError, ExportsKeptError, InUse
from strongref.text import attribute_name, some, stack_text
from strongref_cli.check.comparison import Comparison, because, origins
from strongref_cli.check.deletion import unclear_or_retained
from strongref_cli.check.exports_in_use import hold_missing, left_behind, outputs_refused, unheld
from strongref_cli.check.report import ChangeKind, ExportPrediction, StackFinding, StackReport, ValueChange, Verdict
from strongref_cli.check.simulation import Outcome, Simulation
from strongref_cli.check.unread import at_worst
from strongref_cli.check.updates import Stays
from strongref_cli.check.wanted import reason_of

if TYPE_CHECKING:
    from strongref.contract.names import Key, StackArn
    from strongref_cli.check.stored import StoredStack


def predict(
    stack: StackArn, comparison: Comparison, stored: StoredStack, changing: Collection[str] = ()
) -> StackReport:
    """What an update from the old version to the new one would do; a creation, if there is no old one.

    `changing` has the ARNs of the other stacks that the same operation updates: nested ones, and the one they are in.
    """
    return at_worst(Simulation(stack, comparison, stored, changing), _predict)


def _predict(simulation: Simulation) -> StackReport:
    stack, comparison, stored = simulation.stack, simulation.comparison, simulation.stored
    old, new = comparison.old.exports, comparison.new.exports
    runs = simulation.runs()
    exports = [_published(simulation, each, [run[each] for run in runs if each in run]) for each in new]
    exports += [_removed(simulation, each, runs) for each in old if each not in new]
    findings = [*outputs_refused(simulation), *_types_changed(comparison)]
    if comparison.changes is None and comparison.new.invalid:
        text = f"{some(comparison.new.invalid, 5)}: CloudFormation refuses that, unless it knows a function that check "
        findings.append(StackFinding(Verdict.UNKNOWN, f"{text}does not know. Correct it, or create a change set."))
    for each in new:
        findings += hold_missing(comparison, each, str(simulation.wanted[each].best.get("Hold", "")))
        findings += _propagated(simulation, each, [run[each] for run in runs if each in run])
    for each in dict.fromkeys([*old, *new]):
        findings += [*unheld(each, stored), *_missing(each, stored)]
    findings += [StackFinding(Verdict.ACCEPTED, text) for text in left_behind({*old, *new}, stored)]
    return StackReport(stack.name, stack.region, tuple(exports), tuple(findings))


def _types_changed(comparison: Comparison) -> Iterator[StackFinding]:
    """CloudFormation: "Update of resource type is not permitted". A change set with one is not made."""
    old, new = comparison.old.resources, comparison.new.resources
    both = {each for each in new.keys() & old.keys() if new[each].type != old[each].type}
    certain = {each for each in both if new[each].exists is True and old[each].exists is True}
    for verdict, names in ((Verdict.REFUSED, certain), (Verdict.UNKNOWN, both - certain)):
        if found := [each for each in sorted(names) if new[each].present and old[each].present]:
            text = f"CloudFormation refuses to change the Type of {some(found, 5)}"
            text += " if both exist" if verdict is Verdict.UNKNOWN else ""
            yield StackFinding(verdict, f"{text}: give the new resource another logical ID.")


def _published(simulation: Simulation, logical_id: str, outcomes: Sequence[Outcome]) -> ExportPrediction:
    """What becomes of an Export of the new version."""
    if undecided := _undecided(simulation, logical_id):
        return ExportPrediction(logical_id, Verdict.UNKNOWN, (undecided,))
    if not outcomes:
        return ExportPrediction(logical_id, Verdict.ACCEPTED)
    likely = next((each for each in outcomes if not each.refusal), outcomes[0])
    changes = tuple(_changes(simulation, logical_id, likely))
    verdict, reasons = _refused(simulation, logical_id, outcomes)
    if verdict is not Verdict.REFUSED and (gone := tuple(_behind(simulation, logical_id, changes))):
        verdict, reasons = Verdict.LOST, (*gone, *reasons)
    return ExportPrediction(logical_id, verdict, reasons, changes)


def _behind(simulation: Simulation, logical_id: str, changes: Collection[ValueChange]) -> Iterator[str]:
    """What CloudFormation deletes although an imported value goes on naming it: its new expression is another one."""
    for change in changes:
        if change.kind not in (ChangeKind.CHANGED, ChangeKind.UNKNOWN) and change.importers:
            for each in _deleted(simulation, logical_id, change.key):
                yield f"{change.name} stays the same, and {each}, which it comes from, is deleted while stacks use it."


def _deleted(simulation: Simulation, logical_id: str, key: Key) -> list[str]:
    """The resources that a deployed value comes from and that CloudFormation deletes in the cleanup."""
    comparison = simulation.comparison
    former = simulation.given(comparison.old, logical_id)
    for level in ("Values", *key.split("/")):
        former = former.get(level) if isinstance(former, dict) else former  # or what the value is in
    return [each for each in origins(former, comparison.old) if comparison.loses(each)]


def _refused(simulation: Simulation, logical_id: str, outcomes: Sequence[Outcome]) -> tuple[Verdict, tuple[str, ...]]:
    unknown = simulation.wanted[logical_id].unknown
    refusals = list(dict.fromkeys(str(each.refusal) for each in outcomes if each.refusal))
    if not refusals:
        return Verdict.ACCEPTED, ()
    if not all(each.refusal for each in outcomes):
        return Verdict.UNKNOWN, (f"unknown: {_why(unknown)}. Refused if that is so: {refusals[-1]}",)
    if all(_is_in_use_by(simulation.changing, each) for each in outcomes):
        text = "unknown: only stacks that are updated with it import it. Refused if they are not first: "
        return Verdict.UNKNOWN, (f"{text}{refusals[0]}",)
    return Verdict.REFUSED, (refusals[0], *([f"More is unknown: {_why(unknown)}."] if unknown else []))


def _is_in_use_by(stacks: Collection[str], outcome: Outcome) -> bool:
    """Whether an Export is refused only because of values that these stacks import."""
    refusal = outcome.refusal
    in_use = refusal.in_use if isinstance(refusal, ExportsInUseError) else ()
    return bool(in_use) and all(set(each.importers).issubset(stacks) for each in in_use)


def _undecided(simulation: Simulation, logical_id: str) -> str:
    """Why it is not known what an Export publishes, or whether it exists; empty if it is, or if that stays as it is."""
    if undecided := simulation.wanted[logical_id].undecided:
        return f"{undecided[0]} is unknown: {undecided[1]}."
    comparison = simulation.comparison
    if logical_id in comparison.old.exports and not comparison.may_change(logical_id):
        return ""
    old = comparison.old.resources.get(logical_id)
    new = comparison.new.resources[logical_id].exists
    if isinstance(new, bool) or (old and comparison.stays(old.exists, new) is Stays.YES):
        return ""
    return f"Whether it exists is unknown: {because(comparison, new)}."


def _why(unknown: Mapping[str, str]) -> str:
    """Why values are unknown. If none is, the order of the Exports decides."""
    causes = [f"{attribute_name(name) or 'Values'}: {cause}" for name, cause in unknown.items()]
    return "; ".join(causes) or "it depends on which Export is updated first"


def _changes(simulation: Simulation, logical_id: str, outcome: Outcome) -> Iterator[ValueChange]:
    """What becomes of each value of an Export, place by place."""
    stored, wanted = simulation.stored, simulation.wanted[logical_id]
    published = grouped(
        (key, f"{place.at.site} for {place.at.scope.consumer}") for place in outcome.places for key in place.wanted
    )
    for place in outcome.places:
        exports = stored.at(logical_id, place.at).exports
        recorded, others = exports.recorded, exports.recorded_by_others
        for key in sorted({*recorded, *place.wanted}):
            kind, cause = ChangeKind.UNCHANGED, ""
            if key not in place.wanted:
                if key not in others:  # Otherwise another Export publishes it, too.
                    kind, cause = ChangeKind.DROPPED, f"it moves to {some(published[key])}" if key in published else ""
            elif key not in recorded:
                kind = ChangeKind.ADDED
            elif unknown := reason_of(wanted.unknown, key):
                kind, cause = ChangeKind.UNKNOWN, unknown
            elif recorded[key] != place.wanted[key]:
                kind, cause = ChangeKind.CHANGED, reason_of(wanted.changed, key)
            yield stored.change(kind, logical_id, place.at, key, cause)


def _removed(simulation: Simulation, logical_id: str, runs: Sequence[Mapping[str, Outcome]]) -> ExportPrediction:
    """What becomes of an Export that has left the template, or whose condition is false.

    CloudFormation deletes it in its cleanup, where nothing can be refused.
    """
    lost = f"{logical_id} is retained: its values stay, and from then on nothing protects what they refer to."
    gone = tuple(_gone(simulation, logical_id))
    if found := unclear_or_retained(simulation, logical_id, [lost, *gone]):
        return found
    stored = simulation.stored
    recorded = stored.recorded_in_places(logical_id)
    outcome = simulation.removal(logical_id, Phase.CLEANUP, done=runs[0])
    kept = {(place.at, key): importers for place in outcome.places for key, importers in place.plan.kept.items()}
    going = {(place.at, key) for place in outcome.places for key in place.deletes}
    kinds = dict.fromkeys(going, ChangeKind.DROPPED) | dict.fromkeys(kept, ChangeKind.WITHDRAWN)
    changes = tuple(stored.change(kinds[each], logical_id, *each) for each in recorded if each in kinds)
    if not kept:
        # Another Export goes on with its values, if that is not refused.
        taken = [stored.change(ChangeKind.UNCHANGED, logical_id, *each) for each in recorded if each not in going]
        refused = any(outcome.refusal for run in runs for outcome in run.values())
        behind = () if refused else tuple(_behind(simulation, logical_id, taken))
        return ExportPrediction(logical_id, Verdict.LOST if behind else Verdict.ACCEPTED, behind, changes)
    text = str(ExportsKeptError([InUse(key, "kept", importers) for (_, key), importers in kept.items()]))
    text = f"{logical_id} is removed in the cleanup, where nothing can be refused. {text}"
    return ExportPrediction(logical_id, Verdict.LOST, (text, *gone), changes)


def _propagated(simulation: Simulation, logical_id: str, outcomes: Sequence[Outcome]) -> Iterator[StackFinding]:
    """The imported values that an Export may change, as it says `OnChange: propagate`."""
    importers: dict[Key, set[str]] = {}
    for place in (each for outcome in outcomes if not outcome.refusal for each in outcome.places):
        for key, found in place.plan.propagated.items():
            importers.setdefault(key, set()).update(found)
    for key, stacks in importers.items():
        who, keep = some(map(stack_text, sorted(stacks)), 5), "keeps" if len(stacks) == 1 else "keep"
        changes = "may change" if reason_of(simulation.wanted[logical_id].unknown, key) else "changes"
        text = f"{attribute_name(key)} {changes}: {who} {keep} the old value until deployed with another Revision"
        if gone := _deleted(simulation, logical_id, key):
            text += f"; {some(gone)} {'is' if len(gone) == 1 else 'are'} deleted in the cleanup"
        yield StackFinding(Verdict.ACCEPTED, f"{text}.")


def _missing(logical_id: str, stored: StoredStack) -> Iterator[StackFinding]:
    """The values that an Export has published and that somebody has deleted: their claims were deleted with them."""
    for at in stored.locations(logical_id):
        exports = stored.at(logical_id, at).exports
        if missing := [attribute_name(key) for key in exports.recorded if key not in exports.stored]:
            are, their = ("is", "its") if len(missing) == 1 else ("are", "their")
            text = f"{some(missing)} {are} missing in {at.site}; {their} claims are lost: deploy the Imports with "
            yield StackFinding(Verdict.ACCEPTED, f"{text}another Revision.")


def _gone(simulation: Simulation, logical_id: str) -> Iterator[str]:
    """What CloudFormation deletes, or may, of that what a removed Export publishes."""
    comparison = simulation.comparison
    for each in origins(simulation.given(comparison.old, logical_id), comparison.old):
        if comparison.leaves(each):
            yield f"{each} is removed with it: CloudFormation deletes it while stacks use it."
        elif comparison.may_be_replaced(each):
            yield f"{each} may be replaced: CloudFormation then deletes the old one while stacks use it."
