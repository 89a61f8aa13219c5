"""What `install`, `status` and `uninstall` show: what is broken, and what differs between regions. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from strongref.grouping import grouped
from strongref.text import some
from strongref_cli.install.plan import UPDATABLE, Found, RegionOutcome
from strongref_cli.terminal.output import Result, TextTable

INSTALLED = "installed"
NOT_INSTALLED = "not installed"
UNKNOWN = "unknown"


class Difference(NamedTuple):
    what: str  # `version`, `installed`, or a parameter's name
    values: Mapping[str, str]  # by region


def outcome_report(outcomes: Sequence[RegionOutcome], version: str, notes: Sequence[str], *, dry_run: bool) -> Result:
    """What `install` or `uninstall` did in each region; `version` is that of the command."""
    rows = []
    for each in outcomes:
        first, *more = each.details or ("",)
        rows.append((each.region, each.result.value, first))
        rows += [("", "", detail) for detail in more]
    regions = [
        {"region": each.region, "result": each.result.value, "before": each.before, "details": list(each.details)}
        for each in outcomes
    ]
    data = {"strongref": version, "dryRun": dry_run, "regions": regions, "notes": list(notes)}
    return Result([TextTable(("REGION", "RESULT", "DETAILS"), rows, notes=notes)], data)


def status_report(
    regions: Sequence[Found], failed: Sequence[RegionOutcome], version: str, *, everywhere: bool
) -> Result:
    """What is installed where; the `failed` regions could not be read, and `version` is that of the command.

    Unless `everywhere`, regions without an installation are left out, and `differences` are only between the others.
    """
    shown = [each for each in regions if everywhere or each.stack or each.elsewhere]
    broken = [*problems(regions), *(f"{each.region} could not be read. {each.details[0]}" for each in failed)]
    different = differences(regions, everywhere=everywhere)
    notes = [*broken, *map(_difference, different)]
    trusted = [(account, each.region, each.trusted[account]) for each in regions for account in sorted(each.trusted)]
    data = {
        "strongref": version,
        "healthy": not notes,
        "regions": [_status(each) for each in shown],
        "problems": broken,
        "differences": [{"what": each.what, "values": dict(each.values)} for each in different],
        "trusted": [dict(zip(("account", "region", "stack"), row, strict=True)) for row in trusted],
    }
    columns = ("REGION", "STACK", "VERSION", "PROTECTED", "MACRO", "EVENT BUS")
    tables = [TextTable(columns, [_status_row(each) for each in shown], notes=notes)]
    return Result([*tables, TextTable(("TRUSTED ACCOUNT", "REGION", "STACK"), trusted)] if trusted else tables, data)


def _status_row(found: Found) -> tuple[str, ...]:
    stack = found.stack
    if not stack:
        return found.region, NOT_INSTALLED, *[""] * 4
    macro = {"true": "yes", "false": "no"}.get(stack.parameters.get("Macro", ""), UNKNOWN)
    protected, bus = "yes" if stack.protected else "no", stack.parameters.get("EventBus") or "none"
    return found.region, stack.status, stack.version or UNKNOWN, protected, macro, bus


def _status(found: Found) -> dict[str, Any]:
    stack = found.stack
    return {
        "region": found.region,
        "installed": stack is not None,
        "stack": stack.arn if stack else None,
        "status": stack.status if stack else None,
        "version": stack.version if stack else None,
        "protected": stack.protected if stack else None,
        "parameters": dict(stack.parameters) if stack else {},
        "otherStack": found.elsewhere or None,
    }


def _difference(difference: Difference) -> str:
    if difference.what == INSTALLED:
        missing = [region for region, state in difference.values.items() if state == NOT_INSTALLED]
        return f"strongref is not installed in {some(missing, 5)}."
    groups = grouped((value, region) for region, value in difference.values.items())
    by_value = "; ".join(f"{value or '(none)'} in {', '.join(regions)}" for value, regions in groups.items())
    return f"{difference.what} differs: {by_value}."


def problems(regions: Sequence[Found]) -> list[str]:
    """What is broken, one sentence each."""
    broken = [
        f"The stack in {each.region} is in {each.stack.status}."
        for each in regions
        if each.stack and each.stack.status not in UPDATABLE
    ]
    elsewhere = [
        f"In {each.region}, strongref is installed as stack {each.elsewhere}: give --stack {each.elsewhere}."
        for each in regions
        if each.elsewhere
    ]
    if not (elsewhere or any(each.stack for each in regions)):
        broken.append("strongref is not installed in any of these regions.")
    return broken + elsewhere


def differences(regions: Sequence[Found], *, everywhere: bool = True) -> list[Difference]:
    """What differs between regions; if `everywhere`, also whether they have an installation."""
    stacks = {each.region: each.stack for each in regions if each.stack}
    found = []
    if everywhere and stacks and len(stacks) < len(regions):
        states = {each.region: INSTALLED if each.stack else NOT_INSTALLED for each in regions if not each.elsewhere}
        found.append(Difference(INSTALLED, states))
    found.append(Difference("version", {region: stack.version or UNKNOWN for region, stack in stacks.items()}))
    names = sorted({name for stack in stacks.values() for name in stack.parameters})
    found += [
        Difference(name, {region: stack.parameters.get(name, "") for region, stack in stacks.items()}) for name in names
    ]
    return [each for each in found if len(set(each.values.values())) > 1]
