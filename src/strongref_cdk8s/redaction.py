"""Tokens as errors show them: without the program's own text around them, which may hold a secret. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strongref.text import some
from strongref_toolkit.intrinsics import intrinsic

if TYPE_CHECKING:
    from strongref_toolkit.intrinsics import Tree

_LEFT_OUT = "…"
_SHORT = 4
"""Characters of text that is shown: most often a separator of joined parts."""

_TOKEN = re.compile(r"[$#&]\{(?:Tf)?Token\[[^\]\n]*\]\}")
_QUOTED = re.compile(r'[\w\])]\["(?:[^"\\]|\\.)*"\]|"((?:[^"\\]|\\.)*)"')
"""A key, as in `a.b["key"]`, or a string in a Terraform expression."""

_NAMING = frozenset({"Ref", "Condition", "Fn::GetAtt", "Fn::FindInMap", "Fn::ImportValue"})
"""Functions whose text arguments are names."""


def shown_tokens(value: object) -> str:
    """The tokens in a value."""
    if isinstance(value, float):
        return repr(value)
    found = _TOKEN.findall(str(value))
    return some(found, 3) if found else f"a {type(value).__name__}"


def shown_tree(tree: Tree) -> Tree:
    """A tree without its longer texts."""
    function = intrinsic(tree)
    if function and function[0] in _NAMING:
        return tree
    if isinstance(tree, dict):
        return {key: shown_tree(below) for key, below in tree.items()}
    if isinstance(tree, list):
        return [shown_tree(item) for item in tree]
    return _LEFT_OUT if isinstance(tree, str) and len(tree) > _SHORT else tree


def shown_expression(text: str) -> str:
    """A Terraform expression without its longer strings."""
    return _QUOTED.sub(lambda found: f'"{_LEFT_OUT}"' if found[1] and len(found[1]) > _SHORT else found[0], text)
