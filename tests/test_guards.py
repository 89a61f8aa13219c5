"""Each guard that `make guards` removes is where tests/guards.py says, and so are the tests that must miss it.

The mutants that tools/survivors.toml explains are there as well.
"""

from __future__ import annotations

import ast
import re
import tomllib

import pytest

from tests.guards import GUARDS, ROOT, Guard
from tests.support import mutants
from tests.support.code_patterns import NotFoundOnceError, replace

CODE = """
class Door:
    def open(self, key):
        if key != self.key:  # a comment
            raise ValueError("wrong key", key)
        self.count(key, by=1)
        return self.turn(key) - 1

    def close(self, key):
        if key != self.key:
            raise ValueError("wrong key", key)
"""


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_a_guard_is_there_once_and_the_code_without_it_compiles(guard: Guard) -> None:
    source = (ROOT / guard.file).read_text()
    without = guard.removed()
    if not guard.file.endswith(".py"):
        assert without != source
        return
    assert ast.unparse(ast.parse(source)) != without
    compile(without, guard.file, "exec")


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_the_tests_that_must_fail_exist(guard: Guard) -> None:
    files = [ROOT / name for name in guard.tests if name.endswith(".py")]
    defined = {name for file in files for name in re.findall(r"def (test_\w+)", file.read_text())}
    for beginning in guard.must_fail:
        assert any(name.startswith(beginning.partition("[")[0]) for name in defined), beginning


def test_each_explained_survivor_of_make_mutants_is_one() -> None:
    explained = tomllib.loads((ROOT / "tools/survivors.toml").read_text("utf-8"))
    modules = {function.partition(".")[0] for function in explained}
    found = set.union(*(mutants.names(ROOT / f"layers/core/strongref/protocol/{name}.py") for name in modules))
    assert {(function, text) for function, texts in explained.items() for text in texts} <= found


@pytest.mark.parametrize(
    ("pattern", "replacement", "gone", "new"),
    [
        (
            "if _: raise ValueError(...)",
            "",
            "if key != self.key",
            "def open(self, key):\n        pass\n        self.count",
        ),
        ("self.count(...)", "", "self.count", "return self.turn(key) - 1"),
        ("self.count(_, by=1)", "", "self.count", "return self.turn(key) - 1"),
        ("_.turn(_1) - _", "_1", "self.turn", "return key"),
        ("key != _2", "False", "if key", "if False:"),
        ("raise ValueError(_, _1)", "return _1", "raise ValueError", "return key"),
    ],
)
def test_a_piece_of_a_function_is_replaced(pattern: str, replacement: str, gone: str, new: str) -> None:
    changed = replace(CODE, "Door.open", pattern, replacement)
    assert new in changed
    assert gone not in changed.partition("def close")[0]
    assert changed.partition("def close")[2] == ast.unparse(ast.parse(CODE)).partition("def close")[2]


@pytest.mark.parametrize(
    ("function", "pattern", "problem"),
    [
        ("Door.shut", "self.count(...)", "Door.shut is defined 0 times."),
        ("open", "self.count(...)", "open is defined 0 times."),
        ("Door.open", "self.counted(...)", "matches 0 pieces of Door.open."),
        ("Door.open", "self.count(_)", "matches 0 pieces"),
        ("Door.open", "self.count(..., by=2)", "matches 0 pieces"),
    ],
)
def test_what_is_not_there_once_is_an_error(function: str, pattern: str, problem: str) -> None:
    with pytest.raises(NotFoundOnceError, match=problem):
        replace(CODE, function, pattern)


def test_what_is_there_several_times_is_an_error() -> None:
    with pytest.raises(NotFoundOnceError, match="matches 3 pieces"):
        replace(CODE, "Door.open", "_(...)", "None")
