"""What stands in a template, written as YAML: functions in their short forms, all so that it is read as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from strongref.macro.template import Node, is_function
from strongref_manifests.text import styles

_WIDTH = 110
"""Columns that a value on one line may reach."""

_SHORT = (
    *("Ref", "Condition", "Base64", "Cidr", "FindInMap", "GetAtt", "GetAZs", "ImportValue", "Join", "Select", "Split"),
    *("Sub", "Transform", "And", "Equals", "If", "Not", "Or"),
)
"""Functions with a short form (AWS: Template Reference, intrinsic functions); newer ones have none."""

_PLAIN = re.compile(r"[A-Za-z_/](?:[A-Za-z0-9_./-]|:(?=[A-Za-z0-9_./:-]))*")


class Bare(str):
    """Text that was written without quotes and is to be written so again: `0123`, `5.10`, `yes`, `2012-10-17`.

    Readers of YAML do not agree what these are, so that quotes, or another number, might make something else of them.
    """

    __slots__ = ()


def flow(node: Node) -> str:
    """Something on one line."""
    if is_function(node):
        ((name, argument),) = node.items()
        return _short(name, argument)
    if isinstance(node, Mapping):
        return f"{{{', '.join(f'{scalar(key)}: {flow(value)}' for key, value in node.items())}}}"
    if isinstance(node, list):
        return f"[{', '.join(map(flow, node))}]"
    return scalar(node)


def scalar(node: Node) -> str:
    """A scalar, or a key."""
    if isinstance(node, Bare):
        return str(node)
    if isinstance(node, str):
        if _PLAIN.fullmatch(node) and node.lower() not in styles.NOT_TEXT:
            return node
        if node.isprintable():
            return "'{}'".format(node.replace("'", "''"))
    return styles.flow(node)


def block(key: str, node: Node, indent: int, deep: int) -> Iterator[str]:
    """The lines of a key, behind so many columns, and of the node below it; a line for each key `deep` levels down."""
    begin = f"{' ' * indent}{scalar(key)}:"
    if lines := _literal(node):
        tag, *text = lines
        yield f"{begin} {tag}"
        yield from (f"{' ' * (indent + 2)}{line}" if line else "" for line in text)
        return
    one_line = f"{begin} {flow(node)}"
    is_map = isinstance(node, Mapping) and node and not is_function(node)
    if not is_map or (deep <= 0 and len(one_line) <= _WIDTH and not any(map(_has_lines, node.values()))):
        if isinstance(node, list) and len(one_line) > _WIDTH:
            yield begin
            yield from (f"{' ' * (indent + 2)}- {flow(item)}" for item in node)
            return
        yield one_line
        return
    yield begin
    for name, below in node.items():
        yield from block(name, below, indent + 2, deep - 1)


def _literal(node: Node) -> list[str]:
    """Text of several lines, or a function of such: how it begins, and its lines; nothing for anything else."""
    tag = ""
    if is_function(node):
        ((name, node),) = node.items()
        short = name.removeprefix("Fn::")
        if name == "Fn::GetAtt" or short not in _SHORT:  # the short form of the first splits text
            return []
        tag = f"!{short} "
    if not isinstance(node, str) or "\n" not in node or not node.replace("\n", "").isprintable():
        return []
    lines = node.removesuffix("\n").split("\n")
    if node[0].isspace() or not lines[-1] or any(line != line.rstrip() for line in lines):
        return []
    return [f"{tag}|{'' if node.endswith(chr(10)) else '-'}", *lines]


def _has_lines(node: Node) -> bool:
    if isinstance(node, Mapping) and not is_function(node):
        return any(map(_has_lines, node.values()))
    return bool(_literal(node))


def _short(name: str, argument: Node) -> str:
    """A function on one line: in its short form, where that is read as the same."""
    match name, argument:
        case "Fn::GetAtt", [str(resource), str(attribute)] if "." not in resource:
            return f"!GetAtt {scalar(f'{resource}.{attribute}')}"
    short = name.removeprefix("Fn::")
    is_split = name == "Fn::GetAtt" and isinstance(argument, str)
    if short not in _SHORT or is_split or is_function(argument) or not isinstance(argument, str | list | Mapping):
        # One short form cannot stand directly below another, and what has a tag is text, which !GetAtt splits.
        return f"{{{scalar(name)}: {flow(argument)}}}"
    return f"!{short} {flow(argument)}"
