"""From a physical id to a primary identifier: which of the rules holds. Pure; `finding` does what is to be done.

1. What `overrides.STRATEGIES` says of a type.
2. A single identifier that is an ARN: the physical id, if it is one; else what the physical id is the name of.
3. Any other single identifier: the physical id.
4. A composite one: what it is put together of, or what is found in a list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from strongref.lookup import overrides
from strongref.lookup.arns import Arn, is_arn
from strongref.lookup.errors import MissingPropertyError, WantedError
from strongref.lookup.matching import complete, put_together, telling, unknown_beside
from strongref.lookup.overrides import Identifier, Strategy

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
    """What resources are to be asked for: whether that is their name."""

    name: str


Way: TypeAlias = Identifier | overrides.Resource | Asked | Listed | Called


def way_of(shape: Shape, physical_id: str, known: Mapping[str, str], region: str) -> Way:
    """How a physical id becomes an identifier.

    Raises:
        MissingPropertyError: it alone does not tell which resource is meant.
    """
    strategy = overrides.STRATEGIES.get(shape.type_name, {}).get(shape.identifier[0])
    understood = strategy(physical_id, known) if callable(strategy) else strategy
    if understood is Strategy.AS_IS:
        return Identifier(physical_id)
    if understood is Strategy.LOOK_UP:
        return Called(physical_id)
    if isinstance(understood, Identifier) and _is_elsewhere(physical_id, understood.text, region):
        return Asked(physical_id)
    if understood is not None:
        return understood
    return _of_composite(shape, physical_id, known, region) if shape.is_composite else _of_single(shape, physical_id)


def _is_elsewhere(physical_id: str, identifier: str, region: str) -> bool:
    """Whether an ARN of another region has lost it on the way: what is called so here is not what it names."""
    arn = Arn.parse(physical_id)
    return arn is not None and arn.region not in ("", region) and not is_arn(identifier)


def _of_single(shape: Shape, physical_id: str) -> Way:
    return Listed(physical_id) if shape.is_arn and not is_arn(physical_id) else Identifier(physical_id)


def _of_composite(shape: Shape, physical_id: str, known: Mapping[str, str], region: str) -> Way:
    whole = complete(shape, physical_id, known, region)
    if whole:
        return Asked(whole)
    if not telling(shape, known):
        raise MissingPropertyError(shape.type_name, unknown_beside(shape, known), shape.identifier)
    return Listed(physical_id, put_together(shape, physical_id, known))


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
    if not text:
        raise WantedError(wanted.type_name, f"an empty {way} came, which is that of no resource")
    if way == "ARN" and not is_arn(str(text)):
        raise WantedError(wanted.type_name, "what came as an ARN is none; give it as the physical id, or as the name")
    return f"{way} {', '.join(wanted.tags) if way == 'tags' else text}"
