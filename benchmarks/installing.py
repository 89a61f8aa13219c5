"""What is measured, set up below `.build`: our functions as Lambda has them, and the CDK's from its npm packages."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / ".build"
CDK = ROOT / "benchmarks" / "cdk"
_RUNTIME = ("boto3", "botocore", "s3transfer", "urllib3", "jmespath", "dateutil", "six.py")
"""What Lambda's Python has of its own, and what that needs."""

_LAYER = ("aws_lambda_powertools", "crhelper", "typing_extensions.py")


@dataclass(frozen=True)
class Python:
    """A Python and the folders that stand for its functions, compiled as the layer is."""

    version: str  # as in 3.13.0
    path: Path  # of the interpreter
    runtime: Path  # the folder of what Lambda has of its own
    folder: Path  # of `layer`, `exporter` and `importer`, as they were when this run began

    def function(self, name: str) -> dict[str, str]:
        """What has its interpreter find a function, in Lambda's order."""
        return {"PYTHONPATH": os.pathsep.join(map(str, (self.folder / name, self.folder / "layer", self.runtime)))}

    @property
    def short(self) -> str:
        return ".".join(self.version.split(".")[:2])


@dataclass(frozen=True)
class Node:
    """Node, and the folder into which its packages were installed."""

    version: str
    path: str
    folder: Path

    def package(self, name: str) -> str:
        """An installed package's version."""
        found: str = json.loads((self.folder / "node_modules" / name / "package.json").read_text())["version"]
        return found


def pythons(folder: Path, *, linked: bool = False) -> list[Python]:
    """This Python, and Lambda's if there is one on the machine, with our functions as they are now below a folder.

    Args:
        folder: the folder.
        linked: whether it gets links instead of compiled copies, for a run whose figures mean nothing.
    """
    own = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    found = [own if own.exists() else Path(sys.executable)]
    if sys.version_info[:2] != (3, 13) and (lambdas := _lambdas_python()):
        found.append(lambdas)
    return [_functions(path, folder, linked=linked) for path in found]


def _lambdas_python() -> Path | None:
    """A Python 3.13: on the path, or where pyenv keeps those that are not."""
    roots = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"]
    names = [shutil.which("python3.13"), *(str(path) for root in roots for path in root.glob("3.13*/bin/python3.13"))]
    for name in names:
        if name and (version := _version(name)) and version.startswith("3.13"):
            return Path(name)
    return None


def _version(python: str) -> str:
    asked = subprocess.run(  # noqa: S603
        [python, "-c", "import platform; print(platform.python_version())"], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() if asked.returncode == 0 else ""


def _functions(path: Path, folder: Path, *, linked: bool) -> Python:
    version = _version(str(path))
    site = Path(sysconfig.get_path("purelib"))
    installed = hashlib.sha256((ROOT / "requirements" / "dev.txt").read_bytes()).hexdigest()[:12]
    kept = folder if linked else BUILD / "bench"
    python = Python(version, path, kept / f"runtime-{version}-{installed}", folder / f"python-{version}")
    gather = _link if linked else partial(_gather, path)
    if not python.runtime.exists():
        gather(python.runtime, [site / name for name in _RUNTIME])
    gather(python.folder / "layer", [*(site / name for name in _LAYER), ROOT / "layers" / "core" / "strongref"])
    for name in ("exporter", "importer"):
        gather(python.folder / name, list((ROOT / "handlers" / name).glob("*.py")))
    return python


def _link(folder: Path, parts: list[Path]) -> None:
    folder.mkdir(parents=True)
    for part in parts:
        (folder / part.name).symlink_to(part)


def _gather(python: Path, folder: Path, parts: list[Path]) -> None:
    """A folder of copies with bytecode in it, as `layers/core/Makefile` makes it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=folder.parent))
    for part in parts:
        if part.is_dir():
            shutil.copytree(part, new / part.name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(part, new / part.name)
    compiling = ["-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash"]
    subprocess.run([str(python), *compiling, "-s", str(new), "-p", str(folder), str(new)], check=True)  # noqa: S603
    try:
        new.rename(folder)
    except OSError:  # another run was first
        shutil.rmtree(new)


def node() -> Node | str:
    """Node with the CDK's packages, or why there is none."""
    path = shutil.which("node")
    if not path:
        return "there is no node on this machine"
    if not (BUILD / "cdk.installed").exists():
        return "make setup has not installed the CDK's packages"
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
    return Node(version.removeprefix("v"), path, BUILD / "cdk")
