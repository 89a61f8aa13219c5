"""What a rollback can return of an import that cannot be claimed as a whole, and why it cannot be claimed. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.names import PRODUCER_TAG, Key
from strongref.contract.values import ParameterType, Value
from strongref.refusals import UnsettledError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.errors import StrongRefError

_REASON = {Key("reason"): Value(ParameterType.STRING, " " * 500)}
"""As large as what the stack's events say about values that were left out."""


@dataclass(frozen=True, slots=True)
class FoundExports:
    """What one look shows of a scope. Pure."""

    published: Mapping[Key, Value]  # by records that can be read
    hidden: bool  # whether there is a record that cannot be read completely
    stored: Mapping[Key, Value]
    tags: Mapping[Key, Mapping[str, str]]  # of stored values, where they matter and can be read
    claim: Mapping[str, str]  # the tag of the import's claims; empty if it claims nothing

    def is_claimed(self, key: Key) -> bool:
        return self.claim.items() <= self.tags.get(key, {}).items()

    def values(self, *, named: bool) -> dict[Key, Value]:
        """What can be returned: what records say, and what is stored where no readable record says anything."""
        others = {key for key, tags in self.tags.items() if PRODUCER_TAG in tags}
        others = {key for key in others if named or self.hidden or self.is_claimed(key)}
        return {**{key: self.stored[key] for key in others}, **self.published}

    def problem(self, key: Key, producer: str, why: StrongRefError) -> StrongRefError | None:
        """Why a key cannot be claimed; `why` if only that of the whole import is known."""
        value = self.stored.get(key)
        if value and value.locked:
            return value.locked
        if key not in self.published:  # It may be kept for this very claim.
            return None if self.is_claimed(key) and not self.hidden else why
        return None if value in (None, self.published[key]) else UnsettledError([key], producer)

    def fitting(self, values: Mapping[Key, Value], fits: Callable[[Mapping[Key, Value]], bool]) -> dict[Key, Value]:
        """As many values as fit; with the reason, if some do not.

        First those go that were not claimed before, then the largest.
        """
        left = dict(values)
        sizes = {key: len(json.dumps([key, each.attribute])) for key, each in values.items() if not each.is_secure}
        for key in sorted(sizes, key=lambda key: (self.is_claimed(key), -sizes[key])):
            if fits(left if left == values else left | _REASON):
                break
            del left[key]
        return left
