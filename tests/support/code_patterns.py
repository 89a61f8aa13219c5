"""Finds a piece of code by what it does, and replaces it: patterns are Python with wildcards.

In a pattern, `_` is any expression, `_1`, `_2` … are expressions that the replacement may use, and a `...` at the end
of a call's arguments stands for any others. All other code is compared as a syntax tree: comments, line breaks and
quotes do not matter.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

Captured = dict[str, str]
"""The source of what each numbered wildcard matched."""

_WILDCARD = re.compile(r"_\d*")
_IGNORED = {"ctx", "kind", "type_comment"}


class NotFoundOnceError(Exception):
    """A function or a pattern is there several times, or not at all."""


def replace(source: str, function: str, pattern: str, replacement: str = "") -> str:
    """The source with one piece of a function replaced.

    Args:
        source: of a module.
        function: in which to look, by its qualified name, as in `Class.method`.
        pattern: a statement or an expression, which is there once.
        replacement: a statement or an expression; without one, the statement is removed.

    Raises:
        NotFoundOnceError: there is no such function, or the pattern is not there exactly once.
    """
    tree = ast.parse(source)
    functions = [node for name, node in _functions(tree) if name == function]
    if len(functions) != 1:
        raise NotFoundOnceError(f"{function} is defined {len(functions)} times.")
    wanted = _parse(pattern, as_expression=bool(replacement))
    candidates: list[tuple[ast.AST, Captured]] = [(node, {}) for node in ast.walk(functions[0])]
    matches = [(node, found) for node, found in candidates if _matches(wanted, node, found)]
    if len(matches) != 1:
        raise NotFoundOnceError(f"{pattern!r} matches {len(matches)} pieces of {function}.")
    ((node, found),) = matches
    new = _parse(_WILDCARD.sub(lambda name: found.get(name[0], name[0]), replacement or "pass"), as_expression=True)
    return ast.unparse(ast.fix_missing_locations(Replacement(node, new).visit(tree)))


def _functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            name = f"{prefix}{child.name}"
            if isinstance(child, ast.FunctionDef):
                yield name, child
            yield from _functions(child, f"{name}.")


def _parse(code: str, *, as_expression: bool) -> ast.AST:
    (statement,) = ast.parse(code).body
    return statement.value if as_expression and isinstance(statement, ast.Expr) else statement


def _matches(pattern: Any, node: Any, found: Captured) -> bool:
    if isinstance(pattern, ast.Name) and _WILDCARD.fullmatch(pattern.id):
        return isinstance(node, ast.expr) and found.setdefault(pattern.id, ast.unparse(node)) is not None
    if type(pattern) is not type(node):
        return False
    if isinstance(pattern, ast.Call) and pattern.args and _is_ellipsis(pattern.args[-1]):
        named = len(pattern.args) - 1
        return (
            _matches(pattern.func, node.func, found)
            and len(node.args) >= named
            and _matches(pattern.args[:-1], node.args[:named], found)
            and all(any(_matches(wanted, each, found) for each in node.keywords) for wanted in pattern.keywords)
        )
    if isinstance(pattern, ast.AST):
        fields = [name for name in pattern._fields if name not in _IGNORED]
        return all(_matches(getattr(pattern, name), getattr(node, name), found) for name in fields)
    if isinstance(pattern, list):
        return len(pattern) == len(node) and all(map(_matches, pattern, node, [found] * len(node)))
    return bool(pattern == node)


def _is_ellipsis(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


class Replacement(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else cast("ast.AST", super().visit(node))
