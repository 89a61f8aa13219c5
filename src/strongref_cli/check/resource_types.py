"""CloudFormation's resource types: what replaces a resource of a type, and what its attributes follow.

cfn-lint has the schemas of all of them, as CloudFormation's registry publishes them. It takes half a second to import,
so that is done only when a resource changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from strongref.lookup.errors import UnknownTypeError
from strongref.lookup.resource_types import resource_type_of

Path: TypeAlias = tuple[str, ...]
"""Of a property, as in `("Endpoint", "Port")`; an item of a list is `*`."""

_CUSTOM = "AWS::CloudFormation::CustomResource"
_EVERYTHING = "us-east-1"
"""A region that has every type."""

_REVISED = ("AWS::Batch::JobDefinition",)
"""Types of which an update makes a new revision, which is in the ARN."""


@dataclass(frozen=True, slots=True)
class UpdateRules:
    """What a schema says about updates (AWS: CloudFormation CLI User Guide, resource type schema)."""

    name: str
    create_only: frozenset[Path]  # a change of one of them replaces the resource
    may_replace: frozenset[Path]  # and of one of these may
    computed: frozenset[Path]  # attributes that no property sets
    identifiers: frozenset[Path]  # what tells the resource from others of its type; all of them together is one
    properties: frozenset[str]  # on the top level
    own: Path = ()  # the one of them that is not its parent's; empty if that is not known
    tags: Path = ("Tags",)  # the property that has them
    updates: bool = True  # whether a resource of the type can be changed in place at all

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> UpdateRules:
        tagging = schema.get("tagging") or {}
        tags = _path(tagging.get("tagProperty") or "/properties/Tags")
        rewritten = _paths(schema.get("propertyTransform") or ())  # `Db1` and `db1` may be the same to the service
        create_only = _paths(schema.get("createOnlyProperties", ()))
        may_replace = _paths(schema.get("conditionalCreateOnlyProperties", ())) | (rewritten & create_only)
        if tagging.get("taggable") and tagging.get("tagUpdatable") is False:
            may_replace |= {tags} - create_only
        return cls(
            name=str(schema["typeName"]),
            create_only=create_only - may_replace,
            may_replace=may_replace,
            computed=_paths(schema.get("readOnlyProperties", ())),
            identifiers=_paths(schema.get("primaryIdentifier", ())),
            properties=frozenset(map(str, schema.get("properties", ()))),
            own=_own_part(str(schema["typeName"])),
            tags=tags,
            updates=("update" in schema["handlers"] if "handlers" in schema else bool(create_only))
            and schema["typeName"] not in _REVISED,
        )


TypeOf: TypeAlias = Callable[[str], "UpdateRules | None"]
"""Returns a resource type by its name; None if its schema is not known."""


def unknown_type(_name: str) -> None:
    """Know no type: what changes may be replaced."""


@cache
def types_in(region: str) -> TypeOf:
    @cache
    def type_of(name: str) -> UpdateRules | None:
        if not name.startswith("AWS::") or name == _CUSTOM:
            return None  # It is not known what the program of a custom resource does.
        from cfnlint.schema import ResourceNotFoundError  # noqa: PLC0415
        from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER  # noqa: PLC0415

        for each in (region, _EVERYTHING):
            with suppress(ResourceNotFoundError, KeyError):  # KeyError: cfn-lint does not know the region
                return UpdateRules.of(PROVIDER_SCHEMA_MANAGER.get_resource_schema(each, name).schema)
        return None

    return type_of


def _own_part(type_name: str) -> Path:
    with suppress(UnknownTypeError):
        own = resource_type_of(type_name).own_part
        return tuple(own.split(".")) if own else ()
    return ()


def _paths(pointers: Iterable[str]) -> frozenset[Path]:
    return frozenset(map(_path, pointers))


def _path(pointer: str) -> Path:
    """The path of a JSON pointer such as `/properties/Endpoint/Port`."""
    return tuple(pointer.removeprefix("/properties/").split("/"))
