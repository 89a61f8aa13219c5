"""Whether an identifier is the one that a physical id stands for. Pure; every rule is here.

What it may never do is to take another resource's identifier for it: a part is compared as a whole, and of an ARN only
what is its resource's own name. Where an ARN does not tell whether what stands at its end is the whole name, the
resource itself is asked.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from strongref.contract.arns import Arn
from strongref.lookup.table import SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref.lookup.base import LookupScope
    from strongref.lookup.table import Shape


class Fit(IntEnum):
    """Whether it is."""

    NO = 0
    IF_CALLED_SO = 1
    """It is, if that is what the resource says that its name is."""
    YES = 2


def fit(shape: Shape, identifier: str, physical_id: str, known: Mapping[str, str], here: LookupScope) -> Fit:
    """Whether an identifier is that of the resource with a physical id.

    Args:
        shape: its type's.
        identifier: of a resource that there is.
        physical_id: what is looked for; an empty one fits nothing.
        known: the resource's properties that are known; who differs in one of them is another resource.
        here: where the resources are.
    """
    parts = shape.parts(identifier)
    if not physical_id or not (parts is None or agrees(shape, parts, known, here)):
        return Fit.NO
    if identifier == physical_id:
        return Fit.YES
    if parts is None:
        return Fit.NO
    return max((_named(parts[position], physical_id) for position in telling(shape, known)), default=Fit.NO)


def telling(shape: Shape, known: Mapping[str, str]) -> list[int]:
    """The positions at which a physical id tells a resource from all others.

    That is the one of the part that is its own. At any other, its siblings may have the same; there it tells only if
    all the other parts are known.
    """
    return [
        position
        for position in range(len(shape.identifier))
        if position == shape.own or not _unknown(shape, position, known)
    ]


def unknown_beside(shape: Shape, known: Mapping[str, str]) -> list[str]:
    """The parts that would have to be known, where a physical id tells nothing by itself."""
    return [part for part in shape.identifier if part not in known]


def _unknown(shape: Shape, position: int, known: Mapping[str, str]) -> list[str]:
    return [part for other, part in enumerate(shape.identifier) if other != position and part not in known]


def agrees(shape: Shape, parts: tuple[str, ...], known: Mapping[str, str], here: LookupScope) -> bool:
    """Whether the parts are what is known of them."""
    return all(
        same(part, known[name], here) for name, part in zip(shape.identifier, parts, strict=True) if name in known
    )


def same(part: str, value: str, here: LookupScope) -> bool:
    """Whether both stand for the same: as one may be the ARN of what the other is the name of."""
    if part == value:
        return True
    of_part, of_value = Arn.parse(part), Arn.parse(value)
    if of_part and not of_value:
        return of_part.resource_id == value
    return bool(of_value and not of_part and of_value.resource_id == part and here.may_contain(of_value))


def _named(part: str, physical_id: str) -> Fit:
    arn = Arn.parse(part)
    if physical_id == part or (arn and physical_id == arn.resource_id):
        return Fit.YES
    return Fit.IF_CALLED_SO if arn and physical_id == arn.last_segment else Fit.NO


def complete(shape: Shape, physical_id: str, known: Mapping[str, str], here: LookupScope) -> str | None:
    """The whole identifier, if a physical id is one already: as many parts as it has.

    A part may be empty, as the base path of an `AWS::ApiGateway::BasePathMapping`; not all of them.
    """
    parts = shape.parts(physical_id)
    if parts is None or not any(parts) or not agrees(shape, parts, known, here):
        return None
    return physical_id


def put_together(shape: Shape, physical_id: str, known: Mapping[str, str]) -> str | None:
    """The identifier, if a physical id is the only part of it that is not known otherwise."""
    missing = [part for part in shape.identifier if part not in known]
    if len(missing) > 1 or (not missing and physical_id not in (known[part] for part in shape.identifier)):
        return None
    if missing and missing != [shape.own_part] and known.get(shape.own_part or "") == physical_id:
        return None  # It is the resource's own part, which is known, and not its parent's, which is not.
    parts = [known.get(part, physical_id) for part in shape.identifier]
    # Parts that hold separators could be those of another resource, put together in another way.
    return None if any(SEPARATOR in part for part in parts) else SEPARATOR.join(parts)
