"""A resource's attributes: one of them as JSON, or those that `Fn::GetAtt` can return. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from strongref.lookup.errors import DynamicReferenceError, NoSuchAttributeError, UnsupportedAttributeError

if TYPE_CHECKING:
    from strongref.aws.cloud_control import Resource
    from strongref.untyped import AnyJson

IDENTIFIER = "Identifier"
"""The attribute that every lookup returns: the primary identifier by which Cloud Control knows the resource."""

_DYNAMIC = "{{resolve:"
"""How a dynamic reference begins. CloudFormation would resolve it in the template that uses the attribute: with the
permissions of that deployment, and with a secret as its result."""

Data = dict[str, str | list[str]]


def attribute(resource: Resource, name: str) -> AnyJson:
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

    A map stands for everything inside it that can be returned, with dots between the levels.

    Raises:
        NoSuchAttributeError: the resource has no attribute of one of these names.
        UnsupportedAttributeError: one of them cannot be returned.
        DynamicReferenceError: one of them, or the identifier, contains a dynamic reference.
    """
    if _DYNAMIC in resource.identifier:
        raise DynamicReferenceError(resource.type_name, IDENTIFIER)
    if names is None:
        return dict(_leaves("", resource.properties)) | {IDENTIFIER: resource.identifier}
    data: Data = {}
    for name in names:
        if name != IDENTIFIER:
            value = attribute(resource, name)
            found = dict(_leaves(name, value))
            if not found and _is_dynamic(value):
                raise DynamicReferenceError(resource.type_name, name)
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
        if None not in texts and not _is_dynamic(value):
            yield name, [text for text in texts if text is not None]
    elif (text := _text(value)) is not None and not _is_dynamic(value):
        yield name, text


def _is_dynamic(value: object) -> bool:
    """Whether a string, or one in a list or a map, contains a dynamic reference."""
    if isinstance(value, str):
        return _DYNAMIC in value
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return any(_is_dynamic(each) for each in inside)


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
