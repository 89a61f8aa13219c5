"""From a physical id to a primary identifier: which of the rules holds. Pure; `finding` does what is to be done.

1. What `overrides.STRATEGIES` says of a type.
2. A single identifier that is an ARN: the physical id, if it is one; else what the physical id is the name of.
3. Any other single identifier: the physical id.
4. A composite one: what it is put together of, or what is found in a list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from strongref.contract.arns import Arn, is_arn
from strongref.lookup import overrides
from strongref.lookup.base import LookupScope
from strongref.lookup.errors import MissingPropertyError, WantedError
from strongref.lookup.matching import complete, put_together, telling, unknown_beside
from strongref.lookup.overrides import Candidates, Identifier, Strategy
from strongref.lookup.table import shape_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref.lookup.base import Wanted
    from strongref.lookup.table import Shape


@dataclass(frozen=True, slots=True)
class Asked:
    """An identifier that is to be asked for: there is that resource, or there is none."""

    text: str


@dataclass(frozen=True, slots=True)
class Listed:
    """What is to be found in the list of all resources.

    Attributes:
        physical_id: what fits the identifier.
        first: an identifier that it may be, to be asked for before.
    """

    physical_id: str
    first: str | None = None


@dataclass(frozen=True, slots=True)
class Called:
    """What resources are to be asked for: whether that is their name. Their identifiers are no matter."""

    name: str


Way: TypeAlias = Identifier | Candidates | overrides.Resource | Asked | Listed | Called


def way_of(shape: Shape, physical_id: str, known: Mapping[str, str], here: LookupScope) -> Way:
    """How a physical id becomes an identifier.

    Raises:
        MissingPropertyError: it alone does not tell which resource is meant.
    """
    understood = overrides.understood(shape.type_name, shape.identifier[0], physical_id, known)
    if understood is Strategy.AS_IS:
        return Identifier(physical_id)
    if understood is Strategy.LOOK_UP:
        return Called(physical_id)
    if isinstance(understood, Candidates | Identifier) and _is_elsewhere(physical_id, understood, here):
        return Asked(physical_id)
    if understood is not None:
        return understood
    return _of_composite(shape, physical_id, known, here) if shape.is_composite else _of_single(shape, physical_id)


def _is_elsewhere(physical_id: str, understood: Candidates | Identifier, here: LookupScope) -> bool:
    """Whether an ARN of elsewhere has lost its place on the way: what is called so here is not what it names."""
    arn, keeps = Arn.parse(physical_id), isinstance(understood, Identifier) and is_arn(understood.text)
    return arn is not None and not here.may_contain(arn) and not keeps


def _of_single(shape: Shape, physical_id: str) -> Way:
    return Listed(physical_id) if shape.is_arn and not is_arn(physical_id) else Identifier(physical_id)


def _of_composite(shape: Shape, physical_id: str, known: Mapping[str, str], here: LookupScope) -> Way:
    whole = complete(shape, physical_id, known, here)
    if whole:
        return Asked(whole)
    if not telling(shape, known):
        raise MissingPropertyError(shape.type_name, unknown_beside(shape, known), shape.identifier)
    return Listed(physical_id, put_together(shape, physical_id, known))


def tells_alone(type_name: str, physical_id: str) -> bool:
    """Whether a physical id tells its resource from all others of its type, with nothing else being known of it.

    Raises:
        UnknownTypeError: no such type.
    """
    shape = shape_of(type_name)
    understood = overrides.understood(shape.type_name, shape.identifier[0], physical_id, {})
    if understood is not None:
        return understood is not Strategy.LOOK_UP
    return not shape.is_composite or complete(shape, physical_id, {}, LookupScope("")) is not None


WAYS = ("physical id", "ARN", "name", "tags")


def described(wanted: Wanted) -> str:
    """What is looked for, in words: `physical id web`. Of tags, only the keys.

    Raises:
        WantedError: it is not told in exactly one way, or with nothing in it.
    """
    given = dict(zip(WAYS, (wanted.physical_id, wanted.arn, wanted.name, wanted.tags or None), strict=True))
    told = {way: text for way, text in given.items() if text is not None}
    if len(told) != 1:
        came = " and ".join(told) or "nothing"
        raise WantedError(wanted.type_name, f"one of physical id, ARN, name and tags is needed; {came} came")
    ((way, text),) = told.items()
    if not (text.strip() if isinstance(text, str) else text):
        raise WantedError(wanted.type_name, f"an empty {way} came, which is that of no resource")
    if way == "ARN" and not is_arn(str(text)):
        raise WantedError(wanted.type_name, "what came as an ARN is none; give it as the physical id, or as the name")
    return f"{way} {', '.join(wanted.tags) if way == 'tags' else text}"
