"""Manifests as files: which ones there are, and all of them written, or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from strongref.resolvers.errors import InputError, WriteFailedError
from strongref.resolvers.manifests import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ENDINGS = tuple(FORMATS)


class Input(NamedTuple):
    """A file to be resolved.

    Attributes:
        path: where it is.
        name: below the folder that is written to.
    """

    path: Path
    name: Path


def find(given: Iterable[str], out: Path | None) -> list[Input]:
    """The files that were given, and those of folders: by their ending, in order, hidden ones and folders apart.

    Each is found once, however often it was given.

    Args:
        given: files and folders.
        out: the folder that is written to, which is not read if it is below one of them.

    Raises:
        InputError: something is not there, a folder has no manifest, or a file is of no known kind.
    """
    found: dict[Path, Input] = {}
    for each in given:
        path = Path(each)
        if path.is_dir():
            below = list(_below(path, out))
            if not below:
                raise InputError(f"{path} has no manifest in it: no file that ends in {', '.join(ENDINGS)}")
            for one in below:
                found.setdefault(one, Input(one, one.relative_to(path)))
        elif not path.exists():
            raise InputError(f"{path} does not exist")
        elif path.suffix.lower() not in ENDINGS:
            raise InputError(f"{path} is no manifest by its name: it ends in none of {', '.join(ENDINGS)}")
        else:
            found.setdefault(path, Input(path, Path(path.name)))
    return list(found.values())


def _below(folder: Path, out: Path | None) -> Iterator[Path]:
    avoided = out.resolve() if out else None
    for at, folders, files in os.walk(folder):
        here = Path(at)
        folders[:] = sorted(one for one in folders if one[0] != "." and (here / one).resolve() != avoided)
        for file in sorted(files):
            if file[0] != "." and Path(file).suffix.lower() in ENDINGS:
                yield here / file


def targets(inputs: Sequence[Input], out: Path) -> list[Path]:
    """Where each is written to below a folder.

    Raises:
        InputError: that would be over one of them, or two would be the same file.
    """
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is no folder: give one to write to with -o")
    wanted = [out / each.name for each in inputs]
    sources = {each.path.resolve() for each in inputs}
    taken: dict[Path, Input] = {}
    for path, each in zip(wanted, inputs, strict=True):
        if path.resolve() in sources:
            raise InputError(f"{path} would be written over: give another folder with -o, or --in-place")
        if path in taken:
            raise InputError(f"{taken[path].path} and {each.path} would both be written to {path}: resolve them apart")
        taken[path] = each
    return wanted


def write(contents: Mapping[Path, bytes]) -> None:
    """Write files: all of them beside their places first, and then each into its place, at once.

    Raises:
        WriteFailedError: one could not be written. If it is while they are made, none is there.
    """
    ready: dict[Path, Path] = {}
    at = Path()
    written = 0
    try:
        for path, content in contents.items():
            at = path
            place = path.resolve()  # of a link, what it leads to
            place.parent.mkdir(parents=True, exist_ok=True)
            ready[_beside(place, content)] = place
        for temporary, place in ready.items():
            at = place
            temporary.replace(place)
            written += 1
    except OSError as error:
        problem = (error.strerror or type(error).__name__).lower()
    else:
        return
    for temporary in ready:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    raise WriteFailedError(str(at), problem, written)


def _beside(place: Path, content: bytes) -> Path:
    """A file with this content in the same folder, and with the rights of the one in its place, or of a new one."""
    descriptor, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    if place.exists():
        shutil.copymode(place, name)
    else:
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
    return Path(name)
