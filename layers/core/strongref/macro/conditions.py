"""Under which conditions of a template something is used, and what an Import for it alone is made under. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from strongref.macro.base import Node

_AND_MOST = 10
"""Conditions in one `Fn::And` (AWS: CloudFormation, condition functions)."""


@dataclass(frozen=True, slots=True)
class When:
    """Conditions that have to hold together; none of them: always.

    Attributes:
        holds: names of conditions, each with whether it is to be true.
    """

    holds: frozenset[tuple[str, bool]] = frozenset()

    def also(self, condition: str, *, true: bool = True) -> When:
        """These, and one more."""
        return When(self.holds | {(condition, true)})

    def covers(self, other: When) -> bool:
        """Whether these hold wherever the others do."""
        return self.holds <= other.holds

    @property
    def order(self) -> list[tuple[str, bool]]:
        """The same for the same conditions, and something to sort by."""
        return sorted(self.holds)

    @property
    def name(self) -> str | None:
        """The condition that says it: the template's own, if it is that alone; None for always."""
        if not self.holds:
            return None
        if len(self.holds) == 1:
            ((condition, true),) = self.holds
            if true:
                return condition
        return f"StrongRef{sha256(repr(self.order).encode()).hexdigest()[:12]}"

    @property
    def definition(self) -> Node | None:
        """What that condition has to be defined as; None if the template has it."""
        if self.name is None or (self.name, True) in self.holds:
            return None
        return _all(
            [
                {"Condition": condition} if true else {"Fn::Not": [{"Condition": condition}]}
                for condition, true in self.order
            ]
        )


ALWAYS = When()


def weakest(given: Collection[When]) -> list[When]:
    """Those of several that no other one of them covers, in their order."""
    different = set(given)
    return sorted(
        (each for each in different if not any(other != each and other.covers(each) for other in different)),
        key=lambda when: when.order,
    )


def _all(terms: list[Node]) -> Node:
    while len(terms) > 1:
        terms = [
            {"Fn::And": part} if len(part) > 1 else part[0]
            for part in (terms[start : start + _AND_MOST] for start in range(0, len(terms), _AND_MOST))
        ]
    return terms[0]
