"""`Fn::ForEach`: its variable, which is known only once the loop is gone, after this transform. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from strongref.macro.base import FOR_EACH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from strongref.macro.base import Node

_PARTS = 3
_SAMPLE = "x"


def loop(key: str, node: Node) -> Mapping[str, Node] | None:
    """What a loop makes each time; None if it is none."""
    is_loop = isinstance(key, str) and key.startswith(FOR_EACH) and isinstance(node, list) and len(node) == _PARTS
    return node[2] if is_loop and isinstance(node[2], Mapping) else None


def mentions(node: Node, variable: str) -> bool:
    """Whether something depends on the variable of a loop; keys of maps do not count."""
    return any(
        text == variable if is_ref else _in_text(variable).search(text) is not None for is_ref, text in _texts(node)
    )


def sampled(node: Node, variables: Iterable[str]) -> Node:
    """As a loop may make it: a letter in the place of each variable, in keys as well."""
    variables = tuple(variables)
    if not variables:
        return node
    if isinstance(node, str):
        for variable in variables:
            node = _in_text(variable).sub(_SAMPLE, node)
        return node
    if isinstance(node, Mapping):
        return {sampled(key, variables): sampled(below, variables) for key, below in node.items()}
    return [sampled(item, variables) for item in node] if isinstance(node, list) else node


def _in_text(variable: str) -> re.Pattern[str]:
    return re.compile(rf"[$&]\{{{re.escape(variable)}\}}")


def _texts(node: Node) -> Iterator[tuple[bool, str]]:
    """Each text, and whether it is what a `Ref` refers to."""
    if isinstance(node, str):
        yield False, node
    elif isinstance(node, Mapping):
        for key, below in node.items():
            if key == "Ref":
                yield True, str(below)
            else:
                yield from _texts(below)
    elif isinstance(node, list | tuple):
        for item in node:
            yield from _texts(item)
