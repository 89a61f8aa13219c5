"""Which imported values a finished template uses. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from strongref_objects.base.names import Path

HOLDER, IMPORT, HOLD = "StrongrefHolder", "StrongrefImport", "StrongrefHold"
"""Prefixes of the logical IDs of resources that hold or import values.

Older versions had `StrongrefImports` for holders, which were of another type. CloudFormation does not change the type
of a resource, so the prefix differs: an update creates the new holder before it deletes the old one.
"""


class Holder(Protocol):
    """Holds exports for one stack."""

    def name(self, path: Path) -> str:
        """What the value at a path is exported as."""
        ...

    def items(self, path: Path) -> Mapping[str, str]:
        """What the items of the list at a path are exported as; empty if they are not exported one by one."""
        ...

    def hold(self, values: Mapping[str, object]) -> None:
        """Hold these exports, by name and with their values, and no others."""
        ...


def searchable(templates: Iterable[Mapping[str, Any]]) -> str:
    """The text of templates without what holds imports.

    The text has no backslashes, since a value with quotes has more of them in JSON within JSON.
    """
    return _flat([{**each, "Resources": _others(each.get("Resources", {}))} for each in templates])


def used_texts(texts: Iterable[str], template: str) -> set[str]:
    """The texts that occur in a searchable template. A name does not count where it is a part of an ARN that does."""
    found = set()
    for text in sorted(set(texts), key=len, reverse=True):
        flat = _flat(text)[1:-1]
        if flat and flat in template:
            found.add(text)
            template = template.replace(flat, "\n")
    return found


def has_reference(logical_id: str, attribute: str, template: str) -> bool:
    """Whether an attribute of a resource is used in a searchable template."""
    return f'"{logical_id}", "{attribute}"' in template or f"{logical_id}.{attribute}" in template


def _others(resources: Mapping[str, Any]) -> dict[str, Any]:
    own = (HOLDER, IMPORT, HOLD)
    return {logical_id: each for logical_id, each in resources.items() if not logical_id.startswith(own)}


def _flat(value: object) -> str:
    return json.dumps(value).replace("\\", "")
