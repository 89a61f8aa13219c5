"""What is installed: the template, the functions' code, and the layer, all from what runs this command.

The template and the functions are files of the wheel, or of the checkout if strongref is installed from one in place.
The layer is the package `strongref` itself with the distributions of `layers/core/requirements.txt`, as they are
installed next to it. docs/decisions/0028 says why.
"""

from __future__ import annotations

import csv
import py_compile
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import cache_from_source
from pathlib import Path, PurePosixPath

import strongref
from strongref_cli.install.errors import InstallError
from strongref_cli.install.packaging import (
    Files,
    content_hash,
    local_paths,
    object_key,
    python_version,
    refuse_compiled,
    with_locations,
    zip_bytes,
)

LAYER = "layers/core"
"""The layer's folder, as the template names it."""

MOUNTED = "/opt/"
"""Where Lambda unpacks a layer; tracebacks show it."""

_WHEEL = Path(__file__).with_name("suite")
_CHECKOUT = Path(__file__).parents[3]
_LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)
_REQUIRED = re.compile(r"[A-Za-z0-9._-]+")
_OF_ONE_MACHINE = {"INSTALLER", "RECORD", "REQUESTED", "direct_url.json"}
"""Files of a distribution's metadata that differ from machine to machine."""
_EXACT = "crhelper"
"""The layer's code corrects the defects of one version (see `runtime.custom_resource`)."""


@dataclass(frozen=True)
class Archive:
    """A folder of the template, as a zip file in S3."""

    path: str  # as the template names it, as in `handlers/exporter`
    key: str  # of its object, which names the content
    content: Callable[[], bytes] = field(repr=False)  # makes the zip file

    @classmethod
    def of(cls, path: str, files: Files, *, with_bytecode: bool = False) -> Archive:
        """The archive of these files, and of the bytecode of their modules, which is made with the zip file."""
        key = object_key(path, content_hash(files, "bytecode" if with_bytecode else ""), "zip")
        return cls(path, key, lambda: zip_bytes({**files, **(compiled(files) if with_bytecode else {})}))


@dataclass(frozen=True)
class Suite:
    """One version of the suite, ready to be installed."""

    version: str
    template: str = field(repr=False)  # with local paths
    archives: tuple[Archive, ...]
    notes: tuple[str, ...] = ()  # what the person who installs it should know
    has_bytecode: bool = False  # whether the layer has bytecode
    untested: tuple[str, ...] = ()  # those notes that say what else in the layer was not tested

    def template_for(self, uri: Callable[[str], str]) -> str:
        """The template of a region; `uri` makes the S3 URI of a key in its bucket."""
        return with_locations(self.template, {each.path: uri(each.key) for each in self.archives})


def load_suite() -> Suite:
    """The suite of this version; `release` has another way to load one.

    Raises:
        InstallError: a part of it is missing, or does not run in Lambda.
    """
    template = _part("template.yaml", "template.yaml").read_text(encoding="utf-8")
    locked = _part("requirements.txt", f"{LAYER}/requirements.txt").read_text(encoding="utf-8")
    tested = dict(_LOCKED.findall(locked))
    python = python_version(template)
    bytecode = can_compile_for(python)
    distributions = list(_distributions(tested))
    archives = (
        Archive.of(path, _layer(distributions), with_bytecode=bytecode)
        if path == LAYER
        else Archive.of(path, dict(_below(_part(path, path), "")))
        for path in local_paths(template)
    )
    untested = tuple(_notes({_normal(each.name): each.version for each in distributions}, tested))
    slower = f"Cold starts are slower than they could be: run this command with Python {python} to add bytecode."
    notes = untested if bytecode else (*untested, slower)
    return Suite(strongref.__version__, template, tuple(archives), notes, bytecode, untested)


def _notes(installed: Mapping[str, str], tested: Mapping[str, str]) -> list[str]:
    return [
        f"The layer has {name} {version}; strongref {strongref.__version__} was tested with {tested.get(name, 'none')}."
        for name, version in sorted(installed.items())
        if tested.get(name) != version
    ]


def _part(in_wheel: str, in_checkout: str) -> Path:
    for path in (_WHEEL / in_wheel, _CHECKOUT / in_checkout):
        if path.exists():
            return path
    raise InstallError(f"{in_wheel} is not part of this installation of strongref. Install it again with pip.")


def _below(folder: Path, prefix: str) -> Iterator[tuple[str, bytes]]:
    """Every file of a folder but bytecode."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            yield prefix + path.relative_to(folder).as_posix(), path.read_bytes()


def _layer(distributions: list[Distribution]) -> dict[str, bytes]:
    files = dict(_below(Path(strongref.__file__).parent, "python/strongref/"))
    for each in distributions:
        files |= _files(each)
    return files


def _distributions(names: Mapping[str, str]) -> Iterator[Distribution]:
    """The distributions of these names, and everything that the installed versions need in addition."""
    seen: set[str] = set()
    todo = [(name, True) for name in names]
    while todo:
        name, needed = todo.pop(0)
        if _normal(name) in seen:
            continue
        try:
            found = distribution(name)
        except PackageNotFoundError:
            if needed:
                raise InstallError(f"{name} is not installed, and the layer needs it: pip install {name}") from None
            continue  # Its condition does not hold: pip has left it out.
        if name == _EXACT and found.version != (exact := names.get(name)):
            there = f"{name} {found.version} is installed"
            raise InstallError(f"{there}, and the layer needs {exact}: pip install {name}=={exact}")
        seen.add(_normal(name))
        yield found
        for text in found.requires or ():
            requirement, _, condition = text.partition(";")
            if "extra" not in condition and (named := _REQUIRED.match(requirement)):
                todo.append((named[0], not condition))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _files(found: Distribution) -> dict[str, bytes]:
    """The files of a distribution, without scripts, bytecode, and what only the machine's installer needs."""
    files = {}
    # `Distribution.files` leaves out what is missing, from Python 3.12 on.
    for path in [PurePosixPath(row[0]) for row in csv.reader((found.read_text("RECORD") or "").split("\n")) if row]:
        in_metadata = path.parts[0].endswith(".dist-info")
        if path.parts[0] in ("..", "/") or path.suffix == ".pyc" or (in_metadata and path.name in _OF_ONE_MACHINE):
            continue
        try:
            files[f"python/{path.as_posix()}"] = Path(str(found.locate_file(path))).read_bytes()
        except OSError:
            problem = f"{found.name} is installed incompletely: {path.name} is missing."
            raise InstallError(f"{problem} pip install --force-reinstall {found.name}") from None
    if not any(name.endswith(".py") for name in files):
        again = f"Install it with pip: pip install --force-reinstall {found.name}"
        raise InstallError(f"{found.name} has no list of its modules. {again}")
    refuse_compiled(found.name, files)
    return files


def can_compile_for(python: str) -> bool:
    """Whether this interpreter makes bytecode for that version of Python, as in `3.13`."""
    return python == f"{sys.version_info.major}.{sys.version_info.minor}" and sys.implementation.name == "cpython"


def compiled(files: Files) -> dict[str, bytes]:
    """The bytecode of every module, by where Python looks for it. It holds a hash of its source, and is not checked.

    Without it, a cold start takes several times as long, because Lambda cannot store any.
    """
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "source.py"), Path(folder, "bytecode.pyc")
        for name, content in files.items():
            if not name.endswith(".py"):
                continue
            source.write_bytes(content)
            py_compile.compile(
                str(source),
                str(target),
                MOUNTED + name,
                doraise=True,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
            made[Path(cache_from_source(name, optimization="")).as_posix()] = target.read_bytes()
    return made
