"""What a resolver is: it is asked about every primitive value that is about to be written."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref_toolkit.json_values import Json, Primitive


_PLAIN = re.compile(r'[^\s."\[\]]+')
"""A key that needs no quotes in a path."""


@dataclass(frozen=True, slots=True)
class ResolutionContext:
    """Where a value stands.

    Attributes:
        obj: the object that is being written, whole: a manifest's document.
        key: the keys and positions that lead to the value in it, as in `("spec", "containers", 0, "image")`.
    """

    obj: Mapping[str, Json]
    key: tuple[str | int, ...]

    @property
    def path(self) -> str:
        """`spec.containers[0].image`, `metadata.annotations["example.com/queue"]`."""
        return "".join(map(_step, self.key)).removeprefix(".")


def _step(step: str | int) -> str:
    if isinstance(step, str) and _PLAIN.fullmatch(step):
        return f".{step}"
    return f"[{json.dumps(step, ensure_ascii=False)}]"


class Resolver(Protocol):
    """One step of a chain: each gets what the one before it returned."""

    def resolve(self, context: ResolutionContext, value: Primitive) -> Json:
        """What is to be written in the place of a value; the value itself where it is none of this resolver's.

        Raises:
            StrongRefError: what the value stands for cannot be found; the run fails, and nothing is written.
        """
        ...
