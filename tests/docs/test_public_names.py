"""Which Python names are public: pages and examples import no others, and each package says which ones it has."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.documents import ROOT, blocks, names_in, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = rows("docs/releases.md", "Public names")
WITH_NAMES, WITH_VERSION = names_in(PAGE[:1]), names_in(PAGE[1:])
LAYER = ROOT / "layers/core/strongref/__init__.py"
PACKAGES = {path.parent.name: path for path in (LAYER, *ROOT.glob("src/*/__init__.py"))}
PROGRAMS = [(str(block), block.text) for block in blocks("python")] + [
    (str(path.relative_to(ROOT)), path.read_text()) for path in sorted(ROOT.glob("examples/**/*.py"))
]


def public(package: str) -> set[str]:
    """`__all__`, or what the package defines and what it imports under its own name."""
    path = ROOT / "src" / Path(*package.split("."))
    body = ast.parse((path / "__init__.py").read_text()).body
    defined: set[str] = set()
    for node in (each for outer in body for each in (outer.body if isinstance(outer, ast.Try) else [outer])):
        match node:
            case ast.Assign(targets=[ast.Name("__all__")], value=ast.List(names)):
                return {ast.literal_eval(name) for name in names}
            case ast.ImportFrom(names=aliases):
                defined |= {alias.name for alias in aliases if alias.asname == alias.name}
            case ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)):
                defined.add(name)
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                defined.add(name)
    return {name for name in defined if not name.startswith("_")}


def imported(text: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("strongref"):
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "*") for alias in node.names if alias.name.startswith("strongref"))


@pytest.mark.parametrize(("where", "text"), PROGRAMS, ids=[where for where, _ in PROGRAMS])
def test_people_are_shown_public_names_alone(where: str, text: str) -> None:
    del where
    found = list(imported(text))
    assert [each for each in found if each[0] not in WITH_NAMES or each[1] not in public(each[0])] == []


def test_the_packages_of_the_page_have_public_names_and_the_others_say_that_they_have_none() -> None:
    assert {"strongref"} == WITH_VERSION
    assert {package.partition(".")[0] for package in WITH_NAMES} | WITH_VERSION < set(PACKAGES)
    assert all(map(public, WITH_NAMES))
    for package, path in PACKAGES.items():
        text = path.read_text()
        statement = (ast.get_docstring(ast.parse(text)) or "").replace("\n", " ")
        if package in WITH_NAMES:
            assert "Public are " in statement
        else:
            assert "Nothing is public" in statement
            assert ('__all__ = ["__version__"]' if package in WITH_VERSION else "__all__: list[str] = []") in text
