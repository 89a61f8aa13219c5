"""Manifests as files: which ones there are, and all of them written, or none."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from strongref_manifests.text.manifests import FORMATS
from strongref_toolkit.errors import UsageError, os_problem

ENDINGS = tuple(FORMATS)


class InputFile(NamedTuple):
    path: Path
    name: Path  # below the folder that is written to


def find(given: Iterable[str], out: Path | None) -> list[InputFile]:
    """The files that were given, and those of folders: by their ending, in order, hidden ones and folders apart.

    Each is found once, however often it was given. Links are followed. A folder within itself is left out, and so is
    the one that is written to.

    Raises:
        UsageError: something is not there, cannot be looked into, or is of no known kind; or a folder has no manifest.
    """
    found: list[InputFile] = []
    known: set[Path] = set()
    avoided = frozenset([_real(out)] if out else ())
    for each in given:
        path = Path(each)
        is_folder = _is_folder(path)
        if is_folder:
            new = [InputFile(one, one.relative_to(path)) for one in _below(path, avoided)]
            if not new:
                raise UsageError(f"{path} has no manifest in it: no file that ends in {', '.join(ENDINGS)}")
        elif is_folder is None:
            raise UsageError(f"{path} does not exist")
        elif path.suffix.lower() not in ENDINGS:
            raise UsageError(f"{path} is no manifest by its name: it ends in none of {', '.join(ENDINGS)}")
        else:
            new = [InputFile(path, Path(path.name))]
        found += [one for one in new if _entry(one.path) not in known]
        known |= {_entry(one.path) for one in new}
    return found


def _below(folder: Path, avoided: frozenset[Path]) -> Iterator[Path]:
    """The manifests of a folder, and then those of the folders in it, but for the avoided ones."""
    avoided |= {_real(folder)}
    try:
        entries = sorted(each for each in folder.iterdir() if each.name[0] != ".")
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {os_problem(error)}") from None
    folders = [each for each in entries if _is_folder(each)]
    yield from (each for each in entries if each.suffix.lower() in ENDINGS and each not in folders)
    for each in folders:
        if _real(each) not in avoided:
            yield from _below(each, avoided)


def _is_folder(path: Path) -> bool | None:
    """Whether a path is a folder; None if it does not exist; `UsageError` if the system does not say."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return None
        raise UsageError(f"{path} cannot be read: {os_problem(error)}") from None


def _real(path: Path) -> Path:
    """Where a path leads to, as far as the system says; unlike `Path.resolve`, it never fails."""
    return Path(os.path.realpath(path))


def _entry(path: Path) -> Path:
    """One path for all spellings of it, but another one for each link to a file: each has a name to be written."""
    return _real(path.parent) / path.name


def targets(inputs: Sequence[InputFile], out: Path) -> list[Path]:
    """Where each is written to below a folder.

    Raises:
        UsageError: that would be over one of them, or two would be the same file; or the folder cannot be looked into.
    """
    if _is_folder(out) is False:
        raise UsageError(f"{out} is no folder: give one to write to with -o")
    wanted = [out / each.name for each in inputs]
    sources = {_real(each.path) for each in inputs}
    taken: dict[Path, InputFile] = {}
    for path, each in zip(wanted, inputs, strict=True):
        if _real(path) in sources:
            raise UsageError(f"{path} would be written over: give another folder with -o, or --in-place")
        if path in taken:
            raise UsageError(f"{taken[path].path} and {each.path} would both be written to {path}: resolve them apart")
        taken[path] = each
    return wanted
