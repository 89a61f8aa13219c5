"""Picks a resource's attributes out of what its service says. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from strongref.lookup.errors import NoSuchAttributeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref.aws.cloud_control import Resource


def attribute(resource: Resource, name: str) -> Any:  # noqa: ANN401 (JSON)
    """An attribute of a resource as JSON; dots lead to what is inside of one, as in `Endpoint.Address`.

    Raises:
        NoSuchAttributeError: there is none; it names the closest.
    """
    found: Any = resource.properties
    for step in name.split("."):
        if not isinstance(found, Mapping) or step not in found:
            from difflib import get_close_matches  # noqa: PLC0415 (for this mistake alone)

            there = list(attributes(resource.properties))
            close = get_close_matches(name, there, 2, 0.75)
            raise NoSuchAttributeError(resource.type_name, resource.identifier, name, close, there)
        found = found[step]
    return found


def attributes(properties: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """The names of all attributes, with those inside of others: `Endpoint`, `Endpoint.Address`."""
    for name, value in properties.items():
        yield f"{above}{name}"
        if isinstance(value, Mapping):
            yield from attributes(value, f"{above}{name}.")
