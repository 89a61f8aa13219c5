"""What is known of a field besides its name: whether it is a list, has to be there, or stands below a map. Pure.

A generator.yaml does not tell: ACK's code generator asks the API's own model. So does `models`; a CRD knows as well
(`crds`); and where neither is at hand, a plural name is a list (`names.is_many`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class FieldShape:
    """One field.

    Attributes:
        names: the path's steps as the API spells them, `("VpcConfig", "SubnetIds")`, or as manifests do.
        many: whether it is a list.
        required: whether it has to be there; None if that cannot be told.
        map_at: which of the steps is a map of structures, as an index; None if none is.
        spelled: whether the names are those of manifests.
        lists: of each step before the last, whether it is a list.
    """

    names: tuple[str, ...]
    many: bool
    required: bool | None = None
    map_at: int | None = None
    spelled: bool = False
    lists: tuple[bool, ...] = ()


class FieldShapes(Protocol):
    """Somebody who knows the fields of kinds."""

    def shape(self, kind: str, path: Sequence[str]) -> FieldShape | None:
        """A field's shape.

        Args:
            kind: as generator.yaml has it: `VpcLink`.
            path: its path, likewise; capitals do not matter.

        Returns:
            None if there is no such kind or field.
        """
        ...


class CombinedShapes:
    """Several of them: the first who knows a field tells of it; what he leaves open, the next one tells."""

    def __init__(self, *chain: FieldShapes) -> None:
        self._chain = chain

    def shape(self, kind: str, path: Sequence[str]) -> FieldShape | None:
        known = [found for each in self._chain if (found := each.shape(kind, path))]
        required = next((found.required for found in known if found.required is not None), None)
        return replace(known[0], required=required) if known else None
