"""Whether an installation may go: which stacks of its region need the functions, and what stays behind. Pure.

CloudFormation calls a function to delete its custom resources, so a function has to outlive them: without it their
stacks cannot be deleted, and CloudFormation waits an hour for each. How a template came by the service token does not
matter: every physical ID that the functions return begins with `strongref-`, and a resource that has none yet is found
by its type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.hold_stacks import HOLD_STACK
from strongref.contract.requests import EXPORT_TYPE, IMPORT_TYPE
from strongref.macro.template import MACRO
from strongref.text import some
from strongref_cli.install.plan import BAD, IN_REVIEW, Found, FoundStack, RegionOutcome, RegionResult

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.type_defs import StackResourceSummaryTypeDef

PHYSICAL_IDS = ("strongref-export/", "strongref-import/", "strongref-lookup/")
TYPES = (EXPORT_TYPE, IMPORT_TYPE, "Custom::ResourceLookup")
WITHOUT_FUNCTIONS = ("ROLLBACK_COMPLETE", IN_REVIEW)
"""Statuses of a stack that has no functions, so nothing can need them."""


def is_served(resource: StackResourceSummaryTypeDef) -> bool:
    """Whether one of the functions has made a resource, or is making it: then it has no physical ID yet."""
    return resource.get("PhysicalResourceId", "").startswith(PHYSICAL_IDS) or resource["ResourceType"] in TYPES


def use_of(
    stack: str, resources: Iterable[StackResourceSummaryTypeDef], imports: Collection[str], transforms: Collection[str]
) -> str:
    """What a stack needs the suite for, as in `web: Custom::CrossRegionExport (Exports)`; empty if for nothing.

    `imports` are the suite's CloudFormation exports that it imports, `transforms` the macros of its template.
    """
    served = [f"{each['ResourceType']} ({each['LogicalResourceId']})" for each in resources if is_served(each)]
    reasons = served + (["holds an Export of this region"] if stack.startswith(HOLD_STACK) else [])
    if not reasons:
        reasons += [f"imports {name}" for name in sorted(imports)]
    if not reasons and MACRO in transforms:
        reasons.append(f"uses the macro {MACRO}")
    return f"{stack}: {some(reasons, 5)}" if reasons else ""


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What is in a region and does not belong to the stack."""

    bucket: str = ""  # its name; empty if there is none
    objects: int = 0  # how many of the command's own are in it
    parameters: int = 0  # how many of strongref's are in Parameter Store


@dataclass(frozen=True, slots=True)
class PlannedRemoval:
    """What removing the installation of a region does, or why it is refused."""

    outcome: RegionOutcome
    leftovers: Leftovers
    stack: FoundStack | None = None  # to be deleted; None if there is none


def plan_removal(found: Found, uses: Sequence[str]) -> RegionOutcome:
    """Decide for one region, given what stacks need its installation for."""
    stack = found.stack
    if found.elsewhere:
        hint = f"strongref is installed as stack {found.elsewhere}. Give --stack {found.elsewhere} to remove it."
        return RegionOutcome(found.region, RegionResult.REFUSED, details=(hint,))
    if not stack:
        return RegionOutcome(found.region, RegionResult.NOT_INSTALLED)
    if uses:
        return RegionOutcome(found.region, RegionResult.IN_USE, stack.version, tuple(uses))
    if stack.status.endswith("_IN_PROGRESS") and stack.status not in WITHOUT_FUNCTIONS:
        reason = f"The stack is in {stack.status}. Wait until CloudFormation has finished, then try again."
        return RegionOutcome(found.region, RegionResult.REFUSED, stack.version, (reason,))
    return RegionOutcome(found.region, RegionResult.WOULD_REMOVE, stack.version)


def all_or_nothing(outcomes: Iterable[RegionOutcome]) -> tuple[list[RegionOutcome], bool]:
    """The outcomes if nothing is removed because one region refuses; and whether one does."""
    given = list(outcomes)
    if not any(each.result in BAD for each in given):
        return given, False
    return [
        RegionOutcome(each.region, RegionResult.UNTOUCHED, each.before)
        if each.result is RegionResult.WOULD_REMOVE
        else each
        for each in given
    ], True


def leftover_texts(region: str, left: Leftovers, *, purge: bool, dry_run: bool) -> list[str]:
    """What stays in a region, one sentence each; and what `purge` would delete."""
    texts = []
    if left.bucket and purge and dry_run:
        texts.append(f"{region}: {left.objects} objects in the bucket {left.bucket} would be deleted.")
    elif left.bucket and not purge:
        texts.append(
            f"{region}: the bucket {left.bucket} stays, with {left.objects} objects of strongref. See --purge."
        )
    if left.parameters:
        texts.append(f"{region}: {left.parameters} parameters below /strongref/ stay in Parameter Store.")
    return texts
