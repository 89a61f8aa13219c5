"""A resource's attributes: one of them as JSON, or those that `Fn::GetAtt` can return. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from strongref.lookup.errors import NoSuchAttributeError, UnsupportedAttributeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from strongref.aws.cloud_control import Resource

IDENTIFIER = "Identifier"
"""The attribute that every lookup returns: the primary identifier by which Cloud Control knows the resource."""

Data = dict[str, str | list[str]]


def attribute(resource: Resource, name: str) -> Any:  # noqa: ANN401 (JSON)
    """An attribute of a resource as JSON; dots lead into it, as in `Endpoint.Address`.

    Raises:
        NoSuchAttributeError: there is none of that name; it has the closest names.
    """
    found: Any = resource.properties
    for step in name.split("."):
        if not isinstance(found, Mapping) or step not in found:
            from difflib import get_close_matches  # noqa: PLC0415 (slow to import, and for this mistake alone)

            there = list(attribute_names(resource.properties))
            close = get_close_matches(name, there, 2, 0.75)
            raise NoSuchAttributeError(resource.type_name, resource.identifier, name, close, there)
        found = found[step]
    return found


def attribute_names(properties: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """The names of all attributes, with those inside others: `Endpoint`, `Endpoint.Address`."""
    for name, value in properties.items():
        yield f"{above}{name}"
        if isinstance(value, Mapping):
            yield from attribute_names(value, f"{above}{name}.")


def returned_attributes(resource: Resource, names: Iterable[str] | None) -> Data:
    """What `Fn::GetAtt` can return: the identifier, and these attributes or, without names, all that it can return.

    A map stands for everything inside it, with dots between the levels.

    Raises:
        NoSuchAttributeError: the resource has no attribute of one of these names.
        UnsupportedAttributeError: one of them cannot be returned.
    """
    if names is None:
        return dict(_leaves("", resource.properties)) | {IDENTIFIER: resource.identifier}
    data: Data = {}
    for name in names:
        if name != IDENTIFIER:
            value = attribute(resource, name)
            found = dict(_leaves(name, value))
            if not found:
                raise UnsupportedAttributeError(resource.type_name, name, _in_words(value))
            data |= found
    return data | {IDENTIFIER: resource.identifier}


def _leaves(name: str, value: object) -> Iterator[tuple[str, str | list[str]]]:
    """Everything at a name, or below it, that can be returned."""
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from _leaves(f"{name}.{key}" if name else key, below)
    elif isinstance(value, list):
        texts = [_text(item) for item in value]
        if None not in texts:
            yield name, [text for text in texts if text is not None]
    elif (text := _text(value)) is not None:
        yield name, text


def _text(value: object) -> str | None:
    """A scalar as CloudFormation writes it; None for anything else."""
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, bool | int | float) else None


def _in_words(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        return "a list with null in it" if None in value else "a list of maps or of lists"
    return "a map without a string in it"
