"""Which stacks of a region need the functions there. Pure.

CloudFormation calls a function to delete its custom resources, so a function has to outlive them: without it their
stacks cannot be deleted, and CloudFormation waits an hour for each. How a template came by the service token does not
matter: every physical ID that the functions return begins with `strongref-`, and a resource that has none yet is found
by its type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from strongref.contract.hold_stacks import HOLD_STACK
from strongref.text import some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from mypy_boto3_cloudformation.type_defs import StackResourceSummaryTypeDef

PHYSICAL_IDS = ("strongref-export/", "strongref-import/", "strongref-lookup/")
TYPES = ("Custom::CrossRegionExport", "Custom::CrossRegionImport", "Custom::ResourceLookup")
MACRO = "StrongRef"


class ListedResource(NamedTuple):
    """A resource of a stack, as CloudFormation lists it."""

    logical_id: str
    type: str
    physical_id: str = ""  # empty until its creation has succeeded

    @classmethod
    def of(cls, summary: StackResourceSummaryTypeDef) -> ListedResource:
        return cls(summary["LogicalResourceId"], summary["ResourceType"], summary.get("PhysicalResourceId", ""))


@dataclass(frozen=True, slots=True)
class Use:
    """A stack that needs the suite in its region."""

    stack: str  # its name
    reasons: tuple[str, ...]  # what for, as in `Custom::CrossRegionExport (Exports)`

    def __str__(self) -> str:
        return f"{self.stack}: {some(self.reasons, 5)}"


def is_served(resource: ListedResource) -> bool:
    """Whether one of the functions has made a resource, or is making it."""
    return resource.physical_id.startswith(PHYSICAL_IDS) or resource.type in TYPES


def use_of(
    stack: str, resources: Iterable[ListedResource], imports: Collection[str], transforms: Collection[str]
) -> Use | None:
    """What a stack needs the suite for; None if for nothing.

    `imports` are the suite's CloudFormation exports that it imports, `transforms` the macros of its template.
    """
    reasons = [f"{each.type} ({each.logical_id})" for each in resources if is_served(each)]
    if stack.startswith(HOLD_STACK):
        reasons.append("holds an Export of this region")
    if not reasons:
        reasons += [f"imports {name}" for name in sorted(imports)]
    if not reasons and MACRO in transforms:
        reasons.append(f"uses the macro {MACRO}")
    return Use(stack, tuple(reasons)) if reasons else None


def importing(importers: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """The exports that each stack imports, given the stacks that import each export."""
    found: dict[str, set[str]] = {}
    for export, stacks in importers.items():
        for stack in stacks:
            found.setdefault(stack, set()).add(export)
    return found
