"""What a token of the AWS CDK stands for, as a tree, and the value of such a tree. Pure.

A tree is CloudFormation's JSON, except for references: `{REFERENCE: [PATH, ATTRIBUTE]}` names a resource by its
construct's path in the app, since its logical ID differs between stacks; `Ref` is one of its attributes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from strongref_toolkit.errors import SelectError
from strongref_toolkit.json_values import Json, number, values_in

Tree: TypeAlias = "Json"

REFERENCE = "Fn::StrongRef"
"""Not a function of CloudFormation: an `Fn::GetAtt` that a program wrote itself names no construct."""

JOIN, SPLIT, SELECT, IMPORT = "Fn::Join", "Fn::Split", "Fn::Select", "Fn::ImportValue"


class Undetermined(Exception):  # noqa: N818 (it is an answer)
    """The value of a tree cannot be determined."""


def intrinsic(tree: object) -> tuple[str, Json] | None:
    """The name and argument of a tree that is a function call; None for other trees."""
    if isinstance(tree, dict) and len(tree) == 1:
        ((name, argument),) = tree.items()
        if name == "Ref" or name.startswith("Fn::"):
            return name, argument
    return None


def joined(*trees: Tree) -> Tree:
    """Trees, concatenated as text."""
    items: list[Json] = []
    for tree in trees:
        parts = _parts(tree)
        for item in [tree] if parts is None else parts:
            if isinstance(item, str) and items and isinstance(items[-1], str):
                items[-1] += item
            elif item != "":
                items.append(item)
    if len(items) > 1:
        return {JOIN: ["", items]}
    return items[0] if items else ""


def simplified(tree: Tree) -> Tree:
    """A tree with nested concatenations flattened, so that equal trees compare equal."""
    parts = _parts(tree)
    if parts is not None:
        return joined(*map(simplified, parts))
    if isinstance(tree, dict):
        return {key: simplified(below) for key, below in tree.items()}
    if isinstance(tree, list):
        return [simplified(item) for item in tree]
    return tree


def text(tree: Tree) -> str:
    """A tree as JSON, as the CDK writes it."""
    return json.dumps(tree, separators=(",", ":"), ensure_ascii=False)


def references(tree: Tree) -> Iterator[tuple[str, str]]:
    """The path and attribute of every reference in a tree."""
    for name, argument in _calls(tree):
        if name == REFERENCE:
            path, attribute = _pair(argument)
            yield str(path), str(attribute)


def is_of_its_stack(tree: Tree) -> bool:
    """Whether a tree has another value in each stack: it uses the region, say, or a parameter."""
    return any(name not in (REFERENCE, JOIN, SPLIT, SELECT) for name, _ in _calls(tree))


def evaluate(tree: Tree, known: Callable[[Tree], Json]) -> Json:
    """The value of a tree: that of the whole if it is known, else that of its parts.

    `known` returns the value of a tree, a list if only the joined list has one; it raises `Undetermined` for others.

    Raises:
        Undetermined: it cannot be determined.
        SelectError: an index is outside of its list.
        StrongRefError: as `known`, if the value could not be fetched.
    """
    function = intrinsic(tree)
    if not function:
        if isinstance(tree, dict):
            return {key: evaluate(below, known) for key, below in tree.items()}
        return [evaluate(item, known) for item in tree] if isinstance(tree, list) else tree
    try:
        return known(tree)
    except Undetermined:
        if function[0] not in (JOIN, SPLIT, SELECT):
            raise
    first, second = _pair(function[1])
    if function[0] == JOIN:
        return _text(evaluate(first, known)).join(_text(item) for item in _list(evaluate(second, known)))
    if function[0] == SPLIT:
        value, separator = evaluate(second, known), evaluate(first, known)
        if not separator:
            raise Undetermined
        return list(_text(value).split(_text(separator)))
    items, position = _list(evaluate(second, known)), number(_text(evaluate(first, known)))
    if not isinstance(position, int) or not 0 <= position < len(items):
        shown = position if isinstance(position, int) and isinstance(first, str | int) else None
        raise SelectError(len(items), shown)
    return items[position]


def _parts(tree: Tree) -> Sequence[Tree] | None:
    """What a tree concatenates; None if it is no concatenation."""
    function = intrinsic(tree)
    if function and function[0] == JOIN:
        separator, items = _pair(function[1])
        if separator == "" and isinstance(items, list):
            return items
    return None


def _calls(tree: Tree) -> Iterator[tuple[str, Json]]:
    """The name and argument of every function call in a tree."""
    return (call for _, each in values_in(tree) if (call := intrinsic(each)))


def _pair(argument: Json) -> tuple[Json, Json]:
    if not isinstance(argument, list) or len(argument) != 2:  # noqa: PLR2004 (a pair)
        raise Undetermined
    return argument[0], argument[1]


def _list(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise Undetermined
    return value


def _text(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise Undetermined
