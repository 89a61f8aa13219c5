"""What a channel is going to write for an object: known whole, and checked, before anything is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from strongref_objects.errors import TakenError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref_objects.base import Target
    from strongref_objects.collecting import Leaf
    from strongref_objects.naming import Path


@dataclass(frozen=True, slots=True)
class Plan:
    """What is going to be written.

    Attributes:
        places: in each of them one name stands for one thing: two exports to one region, say.
        written: what each value is called, if two of other names could be called the same.
        put: writes it.
    """

    places: tuple[str, ...]
    written: Mapping[Path, str]
    put: Callable[[], None]


class Writer(Protocol):
    """A channel out of a stack."""

    def plan(self, leaves: Mapping[Path, Leaf]) -> Plan:
        """What to write for these values.

        Raises:
            ObjectError: a name or a value that the channel cannot carry.
        """
        ...


def check_free(target: Target, logical_id: str, purpose: str) -> None:
    """Raises `TakenError` if the template has something of its own under a logical id that is needed."""
    if target.has(logical_id):
        raise TakenError(logical_id, target.name, purpose)
