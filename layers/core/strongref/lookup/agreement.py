"""Whether a resource is what is thought to be known of it: by what it says of itself. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from strongref.lookup.matching import same

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strongref.aws.cloud_control import Resource
    from strongref.lookup.base import LookupScope
    from strongref.lookup.table import Shape


def contradicted(resource: Resource, known: Mapping[str, str], here: LookupScope) -> list[str]:
    """The properties of which a resource says something else.

    What it does not tell, or tells as a list or a map, contradicts nothing. An ARN and the name in it are the same.
    """
    return [name for name, value in known.items() if not _agrees(_told(resource.properties, name), value, here)]


def _told(properties: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 (JSON)
    found: Any = properties
    for step in name.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _agrees(told: object, value: str, here: LookupScope) -> bool:
    if isinstance(told, bool):
        return str(told).lower() == value.lower()
    if isinstance(told, int | float):
        return value in (str(told), f"{told:g}", f"{told:.1f}")
    return not isinstance(told, str) or same(told, value, here)


def has_tags(resource: Resource, tags: Mapping[str, str]) -> bool:
    """Whether a resource says itself that it has all of these tags."""
    told = resource.properties.get("Tags")
    if isinstance(told, list):
        told = {each.get("Key"): each.get("Value") for each in told if isinstance(each, Mapping)}
    return isinstance(told, Mapping) and all(told.get(key) == value for key, value in tags.items())


def misspelt(shape: Shape, names: Iterable[str]) -> tuple[str, str] | None:
    """A name that is that of a property to know, but for case, and the right one."""
    right = [*shape.identifier, *(each.value_of for alternative in shape.needs for each in alternative)]
    by_letters = {name.lower(): name for name in right}
    for name in names:
        meant = by_letters.get(name.lower())
        if meant and name not in right:
            return name, meant
    return None
