"""What a service is told so that it lists resources: no more of what is known than it needs. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.lookup.errors import MissingPropertyError
from strongref.lookup.overrides import DERIVED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from strongref.lookup.table import Shape


def with_derived(type_name: str, known: Mapping[str, str]) -> dict[str, str]:
    """What is known, and what follows from it. An empty value says nothing, and is left out."""
    given = {name: value for name, value in known.items() if value}
    found = {name: derive(given) for name, derive in DERIVED.get(type_name, {}).items() if name not in given}
    return given | {name: value for name, value in found.items() if value}


def first_model(shape: Shape, known: Mapping[str, str]) -> dict[str, str]:
    """What the service is told at first: what its list handler asks for, and the known parts of the identifier.

    Raises:
        MissingPropertyError: what it asks for is not known.
    """
    takes = shape.identifier if shape.takes is None else shape.takes
    model = {part: known[part] for part in takes if part in known}
    if not shape.needs:
        return model
    for alternative in shape.needs:
        if all(each.value_of in known for each in alternative):
            return model | {each.name: known[each.value_of] for each in alternative}
    raise MissingPropertyError(
        shape.type_name, [each.value_of for each in shape.needs[0] if each.value_of not in known]
    )


def with_asked(
    shape: Shape, model: Mapping[str, str], asked: Iterable[str], known: Mapping[str, str]
) -> dict[str, str]:
    """The model with the properties that the service asked for.

    Raises:
        MissingPropertyError: one is not known, or the service asks again for what it was told.
    """
    missing = [name for name in dict.fromkeys(asked) if name in model or name not in known]
    if missing:
        raise MissingPropertyError(shape.type_name, missing)
    return {**model, **{name: known[name] for name in asked}}
