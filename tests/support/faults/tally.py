"""How often each fault was tried at each kind of call."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.support.faults.fault_types import ABROAD, ANSWER, FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.faults.trial import Point

ACTIONS = (
    "GetParameters",
    "GetParametersByPath",
    "PutParameter",
    "DeleteParameters",
    "ListTagsForResource",
    "AddTagsToResource",
    "RemoveTagsFromResource",
    "DescribeStackResource",
    "DescribeStacks",
    "ListImports",
    "ListStackResources",
    "CreateStack",
    "UpdateStack",
    "DeleteStack",
    "DescribeStackEvents",
    "Invoke",
    "AssumeRole",
    *(
        f"{action}{ABROAD}"
        for action in (
            "GetParametersByPath",
            "PutParameter",
            "DeleteParameters",
            "ListTagsForResource",
            "RemoveTagsFromResource",
        )
    ),
    ANSWER,
)

Tally = Counter[tuple[str, str]]
"""By a call's action and a fault's name."""


def tally(points: Iterable[Point]) -> Tally:
    return Counter((point.action, point.fault.name) for point in points)


def missing(counted: Tally) -> list[str]:
    """What was never tried, and calls that `ACTIONS` does not have."""
    untried = [
        f"{action}: never {fault.name}"
        for action in ACTIONS
        for fault in FAULTS
        if fault.applies_to(action) and not counted[action, fault.name]
    ]
    return untried + [f"{action}: not known" for action in sorted({action for action, _ in counted} - {*ACTIONS})]


def table(counted: Tally) -> str:
    """The numbers, for people: a line for each kind of call, a column for each fault."""
    width = max(map(len, ACTIONS))
    lines = [
        f"{action:{width}} {sum(counted[action, fault.name] for fault in FAULTS):6}"
        + "".join(f"{counted[action, fault.name]:5}" for fault in FAULTS)
        for action in ACTIONS
    ]
    heads = [f"{'':{width + 7}}{'':{5 * at + 4}}{fault.name}" for at, fault in enumerate(FAULTS)]
    return "\n".join([f"{counted.total()} points", *heads, *lines])
