"""What type an unknown value may have: text, a list or a map, or whether it may be absent. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from strongref_cli.check.unknown import Absent, Evaluated, expression_of
from strongref_toolkit.cloudformation import NESTED_STACK

if TYPE_CHECKING:
    from strongref_cli.check.version import StackVersion
    from strongref_toolkit.json_values import Json

Shape = type[object] | str | None
"""A type, or None for an absent value. For a type that only CloudFormation knows, text that tells it from others."""

_SHAPES: Mapping[str, Shape] = {
    "Fn::Base64": str,
    "Fn::Cidr": list,
    "Fn::GetAZs": list,
    "Fn::GetStackOutput": str,
    "Fn::ImportValue": str,
    "Fn::Join": str,
    "Fn::Length": str,
    "Fn::Split": list,
    "Fn::ToJsonString": str,
}


def keeps_shape(
    old: Evaluated | Absent, new: Evaluated, stored: object, versions: tuple[StackVersion | None, StackVersion]
) -> bool:
    """Whether a value that changes stays present, and of the type that it is stored with, as attributes return it."""
    former, shapes = _shapes_of(old, versions[0]), _shapes_of(new, versions[1])
    if len(shapes) > 1 or dict in shapes or None in shapes:
        return False
    return shapes == {type(stored)} or shapes == former


def _shapes_of(value: Evaluated | Absent, version: StackVersion | None) -> set[Shape]:
    if isinstance(value, Absent) or version is None:
        return {None}
    return _shapes(expression_of(value), version)


def _shapes(expression: Json, version: StackVersion) -> set[Shape]:
    """The shapes that a value may have, given its expression."""
    match expression:
        case None:
            return {None}
        case {"?": unknown}:
            return _unknown_shapes(unknown, version)
        case Mapping():
            return {dict}
        case list():
            return {list}
    return {str}


def _unknown_shapes(expression: Json, version: StackVersion) -> set[Shape]:
    match expression:
        case {"Fn::If": [_, *branches]}:
            return set[Shape]().union(*(_shapes(each, version) for each in branches))
        case {"Ref": str(name)} if name in version.resources:
            return {str}
        case {"Fn::GetAtt": [str(name), str(attribute)]} if name in version.resources:
            kind = version.resources[name].type
            # Custom resources decide by themselves.
            return {str if kind == NESTED_STACK else f"{kind if kind.startswith('AWS::') else name}.{attribute}"}
        case Mapping() if len(expression) == 1 and (function := next(iter(expression))) in _SHAPES:
            return {_SHAPES[str(function)]}
        case str():
            return {str}
    return {json.dumps(expression, sort_keys=True)}
