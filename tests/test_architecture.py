"""Imports run one way: the layer's folders in a row, and what runs on people's machines on top of it."""

from __future__ import annotations

import ast
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
SOURCES = {"strongref": ROOT / "layers/core", **{path.name: ROOT / "src" for path in (ROOT / "src").glob("*_*")}}

BASE = "strongref"
"""ARNs, errors, text, log and metrics: what everything may import, and what imports nothing of ours."""

LAYER = {
    BASE: set(),
    "strongref.contract": {BASE},
    "strongref.protocol": {BASE, "strongref.contract"},
    "strongref.aws": {BASE, "strongref.contract", "strongref.protocol"},
    "strongref.macro": {BASE, "strongref.contract", "strongref.protocol", "strongref.aws"},
    "strongref.lookup": {BASE, "strongref.contract", "strongref.protocol", "strongref.aws"},
}
LAYER["strongref.runtime"] = set(LAYER)
TOOLS = {
    "strongref_toolkit": set(),
    "strongref_manifests": {"strongref_toolkit"},
    "strongref_cdk8s": {"strongref_toolkit", "strongref_manifests"},
    "strongref_objects": {"strongref_toolkit"},
    "strongref_cdk": {"strongref_toolkit", "strongref_objects"},
}
TOOLS["strongref_cli"] = set(TOOLS)
COMMANDS = {
    "terminal": set(),
    "install": {"terminal"},
    "overview": {"terminal"},
    "graph": {"terminal", "overview"},
    "doctor": {"terminal", "install", "overview"},
    "objects": {"terminal", "overview"},
    "manifests": {"terminal", "install"},
    "transform": {"terminal", "manifests"},
    "check": {"terminal", "install", "overview", "manifests", "transform"},
    "lint": set(),
    "selftest": {"terminal", "install", "overview", "doctor"},
}
"""By folder of the command line, which other ones it may import; none imports what stands directly in the package."""
ALLOWED: dict[str, set[str]] = {**LAYER, **{package: used | set(LAYER) for package, used in TOOLS.items()}}
"""By package, which other ones it may import. docs/decisions/0001 says why."""


def modules() -> dict[str, Path]:
    found = {}
    for package, base in SOURCES.items():
        for path in (base / package).rglob("*.py"):
            parts = path.relative_to(base).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                below = f"{node.module}.{alias.name}"
                yield below if below in MODULES else node.module


@cache
def imports() -> dict[str, set[str]]:
    return {name: set(imported(path)) for name, path in MODULES.items()}


def package_of(module: str) -> str:
    first, *rest = module.split(".")
    if first != BASE or not rest or f"{BASE}.{rest[0]}" not in LAYER:
        return first
    return f"{BASE}.{rest[0]}"


@pytest.mark.parametrize("package", ALLOWED)
def test_a_package_imports_only_what_it_may(package: str) -> None:
    used = {
        f"{name} -> {other}"
        for name, others in imports().items()
        if package_of(name) == package
        for other in others
        if other in MODULES and package_of(other) not in ALLOWED[package] | {package}
    }
    assert used == set()


def command_folder(module: str) -> str:
    """Of a module of the command line; the module itself, if it stands directly in the package; empty for others."""
    package, _, rest = module.partition(".")
    return rest.partition(".")[0] if package == "strongref_cli" else ""


@pytest.mark.parametrize("folder", COMMANDS)
def test_a_command_imports_only_the_commands_that_it_may(folder: str) -> None:
    used = {
        f"{name} -> {other}"
        for name, others in imports().items()
        if command_folder(name) == folder
        for other in others
        if command_folder(other) not in COMMANDS[folder] | {folder, ""}
    }
    assert used == set()


def test_every_command_has_its_place() -> None:
    folders = {path.parent.name for path in (ROOT / "src/strongref_cli").glob("*/__init__.py")}
    assert folders == set(COMMANDS)


def test_every_package_has_its_place() -> None:
    assert {package_of(name) for name in MODULES} == set(ALLOWED)


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {
        name: {other for other in others if other in MODULES and other != name} for name, others in imports().items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_no_folders_import_each_other_in_a_circle() -> None:
    folders = {name: name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0] for name in MODULES}
    graph: dict[str, set[str]] = {}
    for name, others in imports().items():
        graph.setdefault(folders[name], set()).update(folders[other] for other in others if other in MODULES)
    try:
        TopologicalSorter({folder: used - {folder} for folder, used in graph.items()}).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_only_the_aws_package_of_the_layer_imports_botocore() -> None:
    importers = {
        name
        for name, others in imports().items()
        if any(other.split(".")[0] in ("boto3", "botocore") for other in others)
    }
    assert {package_of(name) for name in importers if name.split(".")[0] == BASE} == {"strongref.aws"}


def test_everything_in_the_layer_is_reached_by_a_handler() -> None:
    todo = [name for path in ROOT.glob("handlers/*/app.py") for name in imported(path)]
    reached: set[str] = set()
    while todo:
        name = todo.pop()
        if name in MODULES and name not in reached:
            reached.add(name)
            todo += [*imports()[name], *(name.rsplit(".", count)[0] for count in range(1, name.count(".") + 1))]
    assert {name for name in MODULES if name.split(".")[0] == BASE} == reached


def test_the_standard_library_is_not_shadowed() -> None:
    tops = {name.split(".")[0] for name in MODULES}
    assert tops.isdisjoint(sys.stdlib_module_names)
