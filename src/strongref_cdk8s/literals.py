"""Tokens as errors show them: without the text that a program has put around them, which may be a secret. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strongref.text import some
from strongref_toolkit.intrinsics import intrinsic

if TYPE_CHECKING:
    from strongref_toolkit.intrinsics import Tree

_LEFT_OUT = "…"
_SHORT = 4
"""Characters of text that is shown as it is: what stands between the parts of a joined one, for the most part."""

_MARK = re.compile(r"[$#&]\{(?:Tf)?Token\[[^\]\n]*\]\}")
_QUOTED = re.compile(r'[\w\])]\["(?:[^"\\]|\\.)*"\]|"((?:[^"\\]|\\.)*)"')
"""A key, as in `a.b["key"]`, or a string of an expression of Terraform's."""

_NAMING = frozenset({"Ref", "Condition", "Fn::GetAtt", "Fn::FindInMap", "Fn::ImportValue"})
"""Functions whose texts are names."""


def marks(value: object) -> str:
    """A value by the tokens in it."""
    if isinstance(value, float):
        return repr(value)
    found = _MARK.findall(str(value))
    return some(found, 3) if found else f"a {type(value).__name__}"


def without_literals(tree: Tree) -> Tree:
    """What CloudFormation would be given, but for long text in it."""
    function = intrinsic(tree)
    if function and function[0] in _NAMING:
        return tree
    if isinstance(tree, dict):
        return {key: without_literals(below) for key, below in tree.items()}
    if isinstance(tree, list):
        return [without_literals(item) for item in tree]
    return _LEFT_OUT if isinstance(tree, str) and len(tree) > _SHORT else tree


def expression(text: str) -> str:
    """What Terraform would be given, but for long text in it."""
    return _QUOTED.sub(lambda found: f'"{_LEFT_OUT}"' if found[1] and len(found[1]) > _SHORT else found[0], text)
