"""What CloudFormation itself refuses: to remove or change an export that hold stacks import. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from strongref.contract.hold_stacks import HOLD_STACK, HoldParameter
from strongref.contract.names import StackArn
from strongref.text import some, stack_text
from strongref_cli.check.report import StackFinding, Verdict
from strongref_cli.check.unknown import Evaluated, Unknown
from strongref_cli.check.updates import Stays
from strongref_cli.overview.exports import participant_of

if TYPE_CHECKING:
    from strongref_cli.check.comparison import Comparison
    from strongref_cli.check.simulation import Simulation
    from strongref_cli.check.stored import Location, StoredStack
    from strongref_cli.check.version import StackVersion


def outputs_refused(simulation: Simulation) -> Iterator[StackFinding]:
    """The CloudFormation exports in use that the new template removes or changes."""
    comparison, stored = simulation.comparison, simulation.stored
    for name, former in comparison.old.outputs.items():
        if not (in_use := _in_use(name, stored)):
            continue
        stays, what = comparison.is_exported(name), "remove"
        if stays is Stays.YES:
            value = _with_holds(comparison.outputs[name].value, comparison.new, simulation)
            stays, what = comparison.stays(_with_holds(former.value, comparison.old, simulation), value), "change"
        if stays is Stays.UNKNOWN:
            text = f"CloudFormation refuses the update if export {name} is {what}d: it {in_use}."
            yield StackFinding(Verdict.UNKNOWN, text)
        elif stays is Stays.NO and _is_used_by_others(name, stored, [*simulation.changing, str(simulation.stack)]):
            text = f"CloudFormation refuses to {what} export {name}: it {in_use}. Nothing is changed then."
            yield StackFinding(Verdict.REFUSED, f"{text} {_way_out(name, simulation)}")
        elif stays is Stays.NO:
            text = f"unknown: only stacks that are updated with it use export {name}. CloudFormation refuses to {what} "
            yield StackFinding(Verdict.UNKNOWN, f"{text}it unless they are first: it {in_use}.")


def _way_out(name: str, simulation: Simulation) -> str:
    """What to do about a CloudFormation export that is in use."""
    stored, removal = simulation.stored, "Remove every Fn::ImportValue of it"
    if not (holds := stored.holds.get(name)):
        return f"{removal} first."
    last = f"{removal}, and then the output" if stored.users.get(name) else "Remove the output after that"
    text = "Remove the property Hold first, and deploy the importers with another Revision of their Imports. "
    if any(each.account != simulation.stack.account for each in holds):
        text += f"The janitor removes holds for other accounts {_JANITOR}. "
    return f"{text}{last}."


def deletion_refused(simulation: Simulation) -> Iterator[StackFinding]:
    """Why CloudFormation refuses to delete the stack before anything is touched.

    It does not if all that use its exports are stacks that are deleted with it, and before it.
    """
    stored = simulation.stored
    for name in simulation.comparison.new.outputs:
        if not (in_use := _in_use(name, stored)):
            continue
        if _is_used_by_others(name, stored, simulation.changing):
            text = f"CloudFormation refuses to remove export {name}: it {in_use}. Nothing is deleted."
            yield StackFinding(Verdict.REFUSED, text)
        else:
            text = f"unknown: only stacks that are deleted with it use export {name}. Refused if they are not first: "
            yield StackFinding(Verdict.UNKNOWN, f"{text}it {in_use}.")


def _is_used_by_others(name: str, stored: StoredStack, stacks: Collection[str]) -> bool:
    """Whether a CloudFormation export has users other than these stacks, and the imports in them."""
    names = {StackArn.parse(each).name for each in stacks}
    held = any(not any(_holds(importer, [each]) for importer in stacks) for each in stored.holds.get(name, ()))
    return held or not names.issuperset(stored.users.get(name, ()))


def hold_missing(comparison: Comparison, logical_id: str, hold: str) -> Iterator[StackFinding]:
    """Whether the export that an Export names in `Hold` is in the new template."""
    if hold and hold not in comparison.outputs and not comparison.has_unnamed_outputs:
        text = f"{logical_id} has Hold: {hold}, and no output exports that name: imports will be refused. Add the "
        text += f"output {{Value: !GetAtt {logical_id}.Hold, Export: {{Name: {hold}}}}}."
        yield StackFinding(Verdict.LOST, text)


def unheld(logical_id: str, stored: StoredStack) -> Iterator[StackFinding]:
    """The importers whose claims have no hold although the Export has one."""
    hold = stored.hold(logical_id)
    for at in stored.locations(logical_id) if hold else ():
        holds, importers = stored.holds.get(hold, ()), stored.importers(logical_id, at)
        is_abroad = bool(at.site.account)
        if found := [each for each in importers if not (_is_held(at, holds) if is_abroad else _holds(each, holds))]:
            who, are = some(map(stack_text, found), 5), "is" if len(found) == 1 else "are"
            step = f"The janitor makes holds for other accounts {_JANITOR}" if is_abroad else _REVISION
            yield StackFinding(Verdict.ACCEPTED, f"{logical_id} has Hold, but {who} {are} unheld. {step}.")


_REVISION = "Deploy with another Revision of the Import"
_JANITOR = "within 15 minutes, strongref doctor --fix at once"


def held_abroad(logical_id: str, stored: StoredStack) -> Iterator[StackFinding]:
    """What the holds of an Export's places in other accounts protect."""
    holds = stored.holds.get(stored.hold(logical_id), ())
    for at in stored.locations(logical_id):
        if at.site.account and _is_held(at, holds):
            text = f"{logical_id} is held for {at.scope.consumer} in {at.site}: while something is imported there, "
            text += f"nothing is deleted. After that, the janitor removes the hold {_JANITOR}."
            yield StackFinding(Verdict.ACCEPTED, text)


def left_behind(exports: Collection[str], stored: StoredStack) -> Iterator[str]:
    """What is imported from Exports that were retained when they left the template: the index still has them."""
    for logical_id in sorted(stored.index.keys() - set(exports)):
        if found := stored.importers(logical_id):
            who, use = some(map(stack_text, found), 5), "imports" if len(found) == 1 else "import"
            text = f"{logical_id} is no longer in the template, and {who} {use} its values: nothing protects what they "
            yield f"{text}refer to. Add it again with its logical ID and its properties."


def _is_held(at: Location, holds: Collection[HoldParameter]) -> bool:
    """Whether a place in another account has a hold, which is for all that is imported there."""
    return at.place in [(each.account, each.region, each.label) for each in holds]


def _holds(importer: str, holds: Collection[HoldParameter]) -> bool:
    who = participant_of(importer)
    own = [hold for hold in holds if (hold.account, hold.label) == (who.account, who.name)]
    return any(who.region in ("", hold.region) for hold in own)  # A manifest set has no region.


def _in_use(export: str, stored: StoredStack) -> str:
    """By whom an export is in use: those who hold it, then those who import it themselves; empty if nobody does."""
    users = []
    if holds := stored.holds.get(export):
        importers = some(sorted({f"{hold.label} ({hold.region}, {hold.account})" for hold in holds}), 5)
        users.append(f"{HOLD_STACK}… for {importers}")
    if stacks := stored.users.get(export):
        users.append(some([f"stack {each}" for each in stacks], 5))
    return f"is in use by {' and by '.join(users)}" if users else ""


def _with_holds(value: Evaluated, version: StackVersion, simulation: Simulation) -> Evaluated:
    """The value of an output, which is known if it is the attribute `Hold` of an Export."""
    match value.expression if isinstance(value, Unknown) else None:
        case {"Fn::GetAtt": [str(logical_id), "Hold"]}:
            return simulation.hold(version, logical_id) or value
    return value
