"""What the command loads, what it says if an extra is missing, and what the wheel contains."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from typing import TYPE_CHECKING

import pytest

import strongref_cli as cli
from strongref_cli import arguments
from strongref_objects.synthesis import context_file
from tests.support.commands import COMMANDS
from tests.support.documents import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAVY = {
    "boto3",
    "botocore",
    "ruamel",
    "kubernetes",
    "jsii",
    "aws_lambda_powertools",
    "pluralizer",
    "rich",
    "shtab",
    "strongref_objects",
}
EC2 = str(ROOT / "tests/generators/ec2.yaml")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.parametrize("command", [(), ("resolve",), ("refs", "resolve")], ids=" ".join)
def test_help_waits_for_nothing_that_commands_run_with(command: tuple[str, ...]) -> None:
    program = (
        "import sys, strongref_cli\n"
        f"try: strongref_cli.main({[*command, '--help']})\n"
        "except SystemExit: print('LOADED', *{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    shown, _, loaded = done.stdout.partition("LOADED ")
    assert shown.startswith(f"usage: {' '.join(('strongref', *command))}")
    assert HEAVY & set(loaded.split()) == set()
    assert "strongref_cli" in loaded.split()


def test_every_command_names_an_extra_that_there_is() -> None:
    extras = {command.get_default("extra") for command in COMMANDS.values()}
    assert extras <= {None, *PROJECT["project"]["optional-dependencies"]}


def test_the_help_names_the_real_context_file() -> None:
    assert context_file.CONTEXT_FILE == arguments.CONTEXT_FILE


@pytest.fixture
def fresh_modules() -> Iterator[None]:
    """Ours are imported again, and are the same as before for other tests: their errors are told apart by class."""
    ours = ("strongref_cli.", "strongref_manifests.")
    before = {name: module for name, module in sys.modules.items() if name.startswith(ours)}
    for name in before:
        del sys.modules[name]
    yield
    for name in [name for name in sys.modules if name.startswith(ours)]:
        del sys.modules[name]
    sys.modules.update(before)
    for name, module in before.items():
        package, _, attribute = name.rpartition(".")
        setattr(sys.modules[package], attribute, module)


@pytest.mark.parametrize(
    ("missing", "command", "message"),
    [
        (
            "ruamel.yaml",
            ["resolve", "x.yaml", "--check"],
            "resolve needs ruamel, which is not installed: install strongref again, with its extra manifests",
        ),
        (
            "ruamel.yaml",
            ["transform", "x.yaml"],
            "transform needs ruamel, which is not installed: install strongref again, with its extra manifests",
        ),
        (
            "ruamel.yaml",
            ["check", "--delete", "network"],
            "check needs ruamel, which is not installed: install strongref again, with its extra check",
        ),
        (
            "pluralizer",
            ["refs", "fields", "--generator", "x.yaml"],
            "refs needs pluralizer, which is not installed: install strongref again, with its extra refs",
        ),
        (
            "ruamel.yaml",
            ["refs", "resolve", "x.yaml", "--check"],
            "refs needs ruamel, which is not installed: install strongref again, with its extra refs",
        ),
        (
            "kubernetes",
            ["refs", "resolve", f"{ROOT}/examples/refs/manifests", "--check", "--cluster", "--generator", EC2],
            "refs needs kubernetes, which is not installed: install strongref again, with its extra kubernetes",
        ),
    ],
)
@pytest.mark.usefixtures("fresh_modules")
def test_a_missing_extra_is_named_in_one_line(
    missing: str, command: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    assert cli.main(command) == 2
    assert capsys.readouterr().err == f"strongref: {message}\n"


def test_another_missing_module_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("strongref_cli.overview.commands", "strongref_cli.overview.region_reading"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "strongref_cli.overview.reading", None)
    with pytest.raises(ModuleNotFoundError, match=r"strongref_cli.overview\.reading"):
        cli.main(["list", "--region", "us-east-1"])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)  # noqa: S603
    (built,) = folder.glob("strongref-*.whl")
    return built


def test_the_wheel_has_every_package_the_command_and_the_extras(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
        (entry,) = [content.read(name).decode() for name in names if name.endswith("entry_points.txt")]
        (metadata,) = [content.read(name).decode() for name in names if name.endswith("METADATA")]
    packages = {"strongref", *(path.name for path in (ROOT / "src").iterdir() if (path / "__init__.py").exists())}
    assert len(packages) <= 7
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == packages
    assert {name.partition("/")[0] for name in names if name.endswith("/py.typed")} == packages
    code = (".py", "/py.typed", ".json", ".css", ".html", ".js")  # with botocore's models, and the page of a graph
    assert {name for name in names if ".dist-info" not in name and not name.endswith(code)} == {
        *(f"strongref_cli/install/{name}" for name in ("suite/requirements.txt", "suite/template.yaml", "trust.yaml")),
        "strongref_cli/selftest/beliefs.csv",
    }
    assert "strongref = strongref_cli:main" in entry
    base = {
        re.split(r"[<>=]", line.removeprefix("Requires-Dist: "))[0]
        for line in metadata.splitlines()
        if line.startswith("Requires-Dist: ") and "extra ==" not in line
    }
    assert base == {"boto3", "aws-lambda-powertools", "crhelper", "rich", "shtab"}


OUTSIDE = """
import json, sys, strongref_cli
from importlib import import_module
for names, run in json.loads(sys.argv[1]):
    module, _, function = run.partition(":")
    assert callable(getattr(import_module(f"strongref_cli.{module}"), function)), run
    try:
        strongref_cli.main([*names, "--help"])
    except SystemExit as end:
        assert end.code == 0, names
for name in [name for name in sys.modules if name.partition(".")[0].startswith("strongref")]:
    sys.stderr.write(f"{sys.modules[name].__file__}\\n")
"""
"""Shows the help of each command and imports what it runs; then, from which files."""


def test_every_command_of_the_installed_wheel_loads_outside_of_the_checkout(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*install, str(wheel)], capture_output=True, check=True)  # noqa: S603
    given = json.dumps([[names, command.get_default("run")] for names, command in COMMANDS.items()])
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", OUTSIDE, given],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = re.findall(r"(?m)^usage: strongref ((?:[a-z]+ ?)+)", done.stdout)
    assert {tuple(each.split()) for each in shown} == set(COMMANDS)
    files = done.stderr.splitlines()
    assert len(files) > 100
    assert [each for each in files if not each.startswith(str(target))] == []
