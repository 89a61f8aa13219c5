"""The conditions of a template under which a value is used, and the condition of its Import. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strongref.macro.template import Node

_AND_MOST = 10
"""Conditions in one `Fn::And` (AWS: CloudFormation, condition functions)."""


@dataclass(frozen=True, slots=True)
class When:
    """Conditions that must hold together; without any, always."""

    holds: frozenset[tuple[str, bool]] = frozenset()  # names of conditions, each with the value that it must have

    def also(self, condition: str, *, true: bool = True) -> When:
        return When(self.holds | {(condition, true)})

    def covers(self, other: When) -> bool:
        """Whether these conditions hold in every case in which the others do."""
        return self.holds <= other.holds

    @property
    def order(self) -> list[tuple[str, bool]]:
        """A sort key that is the same for the same conditions."""
        return sorted(self.holds)

    @property
    def name(self) -> str | None:
        """The name of the combined condition: the template's own if there is only that one; None for always."""
        match self.order:
            case []:
                return None
            case [(condition, True)]:
                return condition
        return f"StrongRef{sha256(repr(self.order).encode()).hexdigest()[:12]}"

    @property
    def definition(self) -> Node | None:
        """The definition of the combined condition; None if the template has it already."""
        if self.name is None or (self.name, True) in self.holds:
            return None
        terms: list[Node] = []
        for condition, true in self.order:
            term = {"Condition": condition}
            terms.append(term if true else {"Fn::Not": [term]})
        while len(terms) > 1:
            parts = [terms[start : start + _AND_MOST] for start in range(0, len(terms), _AND_MOST)]
            terms = [{"Fn::And": part} if len(part) > 1 else part[0] for part in parts]
        return terms[0]


ALWAYS = When()


def weakest(given: Collection[When]) -> list[When]:
    """Those that no other one covers, sorted."""
    different = set(given)
    left = [each for each in different if not any(other != each and other.covers(each) for other in different)]
    return sorted(left, key=lambda when: when.order)
