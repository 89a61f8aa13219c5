"""What CloudFormation itself refuses: to remove or change an export that hold stacks import. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.contract.holds import HOLD_STACK, HoldParameter
from strongref.contract.names import BadArnError, StackArn
from strongref.text import some, stack_text
from strongref_check.comparison import Stays
from strongref_check.report import Finding, Verdict
from strongref_check.unknown import Unknown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from strongref_check.comparison import Comparison
    from strongref_check.simulation import Simulation
    from strongref_check.stored import StoredStack
    from strongref_check.unknown import Evaluated
    from strongref_check.version import StackVersion


def outputs_refused(simulation: Simulation) -> Iterator[Finding]:
    """The held CloudFormation exports that the new template removes or changes."""
    comparison = simulation.comparison
    old, new = comparison.old, comparison.new
    for name in simulation.stored.used_exports:
        in_use = _in_use(name, simulation.stored)
        condition = new.perhaps.get(name)
        if name not in new.outputs or (condition is not None and not _stays(comparison, name, condition)):
            if new.unnamed or condition is not None:
                yield Finding(Verdict.UNKNOWN, f"{_REFUSES_IF} is removed: it {in_use}.".format(name))
            else:
                yield Finding(Verdict.REFUSED, _removal_refused(name, simulation.stored))
        elif old and name in old.outputs:
            before = _with_holds(old.outputs[name], old, simulation)
            match comparison.stays(before, _with_holds(new.outputs[name], new, simulation)):
                case Stays.NO:
                    text = f"CloudFormation refuses to change export {name}: it {in_use}."
                    yield Finding(Verdict.REFUSED, text)
                case Stays.UNKNOWN:
                    yield Finding(Verdict.UNKNOWN, f"{_REFUSES_IF} changes: it {in_use}.".format(name))


def _stays(comparison: Comparison, name: str, condition: Unknown) -> bool:
    former = comparison.old.perhaps.get(name) if comparison.old else None
    return former is not None and comparison.stays(former, condition) is Stays.YES


_REFUSES_IF = "CloudFormation refuses the update if export {}"


def deletion_refused(stored: StoredStack, going: Collection[str]) -> Iterator[Finding]:
    """Why CloudFormation refuses to delete the stack before anything is touched.

    It does not if all that hold it are stacks that are deleted with it, and before it.
    """
    own = {StackArn.parse(each).name for each in going}
    for name in stored.used_exports:
        in_use = _in_use(name, stored)
        is_held = any(not any(_holds(importer, [each]) for importer in going) for each in stored.holds.get(name, ()))
        if is_held or any(each not in own for each in stored.users.get(name, ())):
            text = f"CloudFormation refuses to remove export {name}: it {in_use}. Nothing is deleted."
            yield Finding(Verdict.REFUSED, text)
        else:
            text = f"unknown: only stacks that are deleted with it use export {name}. Refused if they are not first: "
            yield Finding(Verdict.UNKNOWN, f"{text}it {in_use}.")


def _removal_refused(name: str, stored: StoredStack) -> str:
    text = f"CloudFormation refuses to remove export {name}: it {_in_use(name, stored)}. Nothing is changed then."
    return text + (_WAY_OUT if stored.holds.get(name) else " Remove those imports first.")


def hold_missing(comparison: Comparison, logical_id: str, hold: str) -> Iterator[Finding]:
    """Whether the export that an Export names in `Hold` is in the new template."""
    if hold and hold not in comparison.new.outputs and not comparison.new.unnamed:
        yield Finding(
            Verdict.UNKNOWN,
            f"{logical_id} has Hold: {hold}, and no output exports that name: imports will be refused. Add the output "
            f"{{Value: !GetAtt {logical_id}.Hold, Export: {{Name: {hold}}}}}.",
        )


def unprotected(logical_id: str, stored: StoredStack) -> Iterator[Finding]:
    """The importers whose claims have no hold although the Export has one."""
    hold = stored.hold(logical_id)
    held = stored.holds.get(hold, ())
    found = {
        importer
        for at in stored.locations(logical_id)
        for key, tags in stored.at(logical_id, at).tags.items()
        if hold and key in stored.at(logical_id, at).exports.recorded
        for importer in tags.importers
        if not _holds(importer, held)
    }
    if found:
        who = some([stack_text(arn) for arn in sorted(found)], 5)
        has = "has no hold and is" if len(found) == 1 else "have no hold and are"
        text = (
            f"{logical_id} has Hold, but {who} {has} not protected by it. Deploy with another Revision of the Import."
        )
        yield Finding(Verdict.ACCEPTED, text)


_WAY_OUT = (
    " Remove the property Hold first, deploy the importers with another Revision of their "
    "Imports, and remove the output after that."
)


def _holds(importer: str, holds: Collection[HoldParameter]) -> bool:
    try:
        stack = StackArn.parse(importer)
    except BadArnError:  # a set of manifests: `strongref:manifests:<account>:<name>`
        *_, account, label = ["", *importer.split(":")]
        return any((hold.account, hold.label) == (account, label) for hold in holds)
    return any((hold.account, hold.region, hold.label) == (stack.account, stack.region, stack.name) for hold in holds)


def _in_use(export: str, stored: StoredStack) -> str:
    """By whom an export is in use: those who hold it, and then the stacks that import it themselves."""
    users = []
    if holds := stored.holds.get(export):
        importers = some(sorted({f"{hold.label} ({hold.region}, {hold.account})" for hold in holds}), 5)
        users.append(f"{HOLD_STACK}… for {importers}")
    if stacks := stored.users.get(export):
        users.append(some([f"stack {each}" for each in stacks], 5))
    return f"is in use by {' and by '.join(users)}"


def _with_holds(value: Evaluated, version: StackVersion | None, simulation: Simulation) -> Evaluated:
    """The value of an output, which is known if it is the attribute `Hold` of an Export."""
    match value.expression if isinstance(value, Unknown) else None:
        case {"Fn::GetAtt": [str(logical_id), "Hold"]}:
            return simulation.hold(version, logical_id) or value
    return value
