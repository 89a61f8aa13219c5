"""Mutants of a module's functions, each without one of their conditions, and how to put one into this process.

A condition is a test of `if`, `elif`, `while`, of a conditional expression, a comprehension or a guard of `case`, and
each `and` and `or`, which also loses each of its operands.
"""

from __future__ import annotations

import ast
import gc
import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

from tests.support.code_patterns import Replacement

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

Place = tuple[str, str, int]
"""A function's file, qualified name and first line."""

Running = dict[Place, list[FunctionType]]
"""The functions of this process, by their places."""


@dataclass(frozen=True)
class Mutant:
    """A function with one condition less.

    Attributes:
        file: the module.
        function: its name with the module's, as in `janitor.Janitor.tend`.
        condition: as it is now.
        text: what becomes of it, as in `found is None: always True`; no two of a function are the same.
        lines: where it is.
        source: of the function as it is now.
        code: of the mutant.
    """

    file: Path
    function: str
    condition: str
    text: str
    lines: range
    source: str = field(repr=False)
    code: CodeType = field(repr=False)

    @property
    def digest(self) -> str:
        """What names it for as long as its function stays the same."""
        return hashlib.sha256(f"{self.function}\n{self.text}\n{self.source}".encode()).hexdigest()[:16]

    def put_into(self, functions: Running) -> None:
        """Give its code to those of the running process that come from the same place."""
        for each in functions[_place(self.code)]:
            each.__code__ = self.code


def running(files: Collection[Path]) -> Running:
    """The functions of this process that come from some modules."""
    gc.unfreeze()
    names, found = {*map(str, files)}, defaultdict[Place, list[FunctionType]](list)
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename in names:
            found[_place(each.__code__)].append(each)
    gc.freeze()
    return dict(found)


def mutants(file: Path) -> Iterator[Mutant]:
    """All mutants of a module, in the order of its functions."""
    tree = ast.parse(file.read_text())
    for name, function in _functions(tree):
        source = ast.unparse(function)
        place = (str(file), name, min([function.lineno, *(each.lineno for each in function.decorator_list)]))
        for text, old, new in _changes(function):
            Replacement(old, new).visit(tree)
            module = compile(ast.fix_missing_locations(tree), str(file), "exec", dont_inherit=True)
            Replacement(new, old).visit(tree)
            (code,) = (each for each in _codes(module) if _place(each) == place)
            lines = range(old.lineno, (old.end_lineno or old.lineno) + 1)
            yield Mutant(file, f"{file.stem}.{name}", ast.unparse(old), text, lines, source, code)


def names(file: Path) -> set[tuple[str, str]]:
    """The function and the text of each mutant of a module."""
    functions = _functions(ast.parse(file.read_text()))
    return {(f"{file.stem}.{name}", text) for name, function in functions for text, _, _ in _changes(function)}


def _functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Those that are not inside of others, by their qualified names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef):
            yield f"{prefix}{child.name}", child


def _changes(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """The text of each mutant, a condition, and what is in its place."""
    seen = Counter[str]()
    for old, new, change in _without_conditions(function):
        text = f"{ast.unparse(old)}: {change}"
        seen[text] += 1
        yield f"{text} ({seen[text]})" if seen[text] > 1 else text, old, new


def _without_conditions(function: ast.FunctionDef) -> Iterator[tuple[ast.expr, ast.expr, str]]:
    tests = set()
    for node in ast.walk(function):
        found: list[ast.expr | None] = []
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            found = [node.test]
        elif isinstance(node, ast.comprehension):
            found = [*node.ifs]
        elif isinstance(node, ast.match_case):
            found = [node.guard]
        for test in found:
            if test and not isinstance(test, ast.Constant):
                tests.add(test)
                yield test, ast.Constant(True), "always True"
                yield test, ast.Constant(False), "always False"
        if isinstance(node, ast.BoolOp):
            if node not in tests:
                always = isinstance(node.op, ast.Or)
                yield node, ast.Constant(always), f"always {always}"
            for operand in node.values:
                rest = [each for each in node.values if each is not operand]
                new = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
                yield node, new, f"without {ast.unparse(operand)}"


def _codes(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def _place(code: CodeType) -> Place:
    return code.co_filename, code.co_qualname, code.co_firstlineno
