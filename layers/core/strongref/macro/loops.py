"""Loops: where the variable of an `Fn::ForEach` is replaced, and where it is not. Pure.

CloudFormation expands `Fn::ForEach` after this transform, so a variable has no value here. `${Variable}` is replaced in
the text of `Fn::Sub` and in the loop's own keys, which may have `&{Variable}`, too; and so is a `Ref` to the variable
itself. AWS's page (Template Reference, Fn::ForEach) says that other texts have it replaced as well; accounts differ.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from strongref.macro.template import Node, Path, is_function

FOR_EACH = "Fn::ForEach::"
SUB = "Fn::Sub"

_PARTS = 3


def loop(key: str, node: Node) -> Mapping[str, Node] | None:
    """What an iteration of a loop yields; None if this is not a loop."""
    is_loop = isinstance(key, str) and key.startswith(FOR_EACH) and isinstance(node, list) and len(node) == _PARTS
    return node[2] if is_loop and isinstance(node[2], Mapping) else None


def mentions(node: Node, variable: str) -> bool:
    """Whether a value depends on the variable of a loop; keys of maps do not count."""
    if isinstance(node, str):
        return bool(_in_text(variable).search(node))
    if isinstance(node, Mapping):
        return node.get("Ref") == variable or any(mentions(below, variable) for below in node.values())
    return isinstance(node, list | tuple) and any(mentions(item, variable) for item in node)


def in_sub(node: Node, variables: Collection[str]) -> Node:
    """A value with the logical IDs of its `Ref` and `Fn::GetAtt` in `Fn::Sub`, where they have variables of loops."""
    if isinstance(node, list):
        return [in_sub(item, variables) for item in node]
    if not isinstance(node, Mapping):
        return node
    given = named(node) if is_function(node) else None
    name, *attribute = given if isinstance(given, list) and given else [given]
    if not isinstance(name, str) or not any(f"${{{each}}}" in name for each in variables):
        return {key: in_sub(below, variables) for key, below in node.items()}
    if "Ref" in node:
        return {"Ref": {SUB: name}}
    if isinstance(given, str):
        name, *attribute = name.split(".", 1)
    return {"Fn::GetAtt": [{SUB: name}, *attribute]}


def named(node: Mapping[str, Node]) -> Node:
    """The argument of a `Ref` or an `Fn::GetAtt`; None of anything else."""
    return node.get("Ref", node.get("Fn::GetAtt"))


def unreplaced(node: Node, variable: str, path: Path = ()) -> Iterator[Path]:
    """The paths of texts and keys in which the variable of a loop would stay."""
    if isinstance(node, str) and _in_text(variable).search(node):
        yield path
    elif isinstance(node, list):
        for number, item in enumerate(node):
            yield from unreplaced(item, variable, (*path, number))
    elif isinstance(node, Mapping):
        for key, below in node.items():
            at = (*path, key)
            if key == SUB:
                text, *more = below if isinstance(below, list) and below else [below]
                if f"&{{{variable}}}" in str(text):
                    yield at
                yield from unreplaced([None, *more], variable, at)
            elif body := loop(key, below):
                yield from unreplaced(below[1], variable, (*at, 1))
                yield from unreplaced_in(body, variable, (*at, 2))
            else:
                yield from unreplaced(key, variable, at)
                yield from unreplaced(below, variable, at)


def unreplaced_in(body: Mapping[str, Node], variable: str, path: Path = ()) -> Iterator[Path]:
    """The same for what an iteration yields: it is replaced in these keys."""
    for key, below in body.items():
        is_loop = loop(key, below)  # It has keys of its own.
        yield from unreplaced({key: below} if is_loop else below, variable, path if is_loop else (*path, key))


def _in_text(variable: str) -> re.Pattern[str]:
    return re.compile(rf"[$&]\{{{re.escape(variable)}\}}")
