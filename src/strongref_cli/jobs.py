"""What a command that writes manifests is given, and where its results go: files, or standard input and output."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from strongref.text import os_problem
from strongref_cli.output import put_out
from strongref_manifests.errors import InputError, ManifestError
from strongref_manifests.manifest_set import HalfWrittenError
from strongref_manifests.resolution import files
from strongref_manifests.text.manifests import FORMATS, read
from strongref_toolkit.errors import UsageError, WriteFailedError
from strongref_toolkit.files import write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from strongref_manifests.resolution.files import InputFile
    from strongref_manifests.text.manifests import Manifest

STANDARD = "-"
"""For standard input and output."""


def add_arguments(parser: argparse.ArgumentParser, check: str) -> None:
    """Which manifests, and where the results go.

    Args:
        parser: the command's.
        check: what `--check` does, for help.
    """
    parser.add_argument("manifest", nargs="*", help="files, folders of *.yaml, *.yml and *.json, or - alone")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("-o", "--out", help="the folder to write to; paths are kept")
    where.add_argument("--in-place", action="store_true", help="write over the manifests themselves")
    where.add_argument("--check", action="store_true", help=check)


def check_not_empty(given: Mapping[str, Sequence[str | None]]) -> None:
    """Nothing may be given empty, as a variable of the shell is that was never set: it would mean something else.

    Raises:
        UsageError: naming what was.
    """
    for what, values in given.items():
        if "" in values:
            raise UsageError(f"{what} is empty: is a variable not set?")


class Job(NamedTuple):
    """What is to be done.

    Attributes:
        inputs: the files; none where it is standard input.
        targets: where each is written to; none where nothing is, or to standard output.
    """

    inputs: Sequence[InputFile]
    targets: Sequence[Path]

    @classmethod
    def of(cls, asked: argparse.Namespace) -> Job:
        """What `add_arguments` has taken.

        Raises:
            InputError: it was not given rightly.
        """
        if not asked.manifest:
            raise InputError("no manifests: give files or folders, or - for standard input")
        if STANDARD in asked.manifest:
            if asked.manifest != [STANDARD] or asked.out or asked.in_place:
                raise InputError("- is standard input, whose result goes to standard output: give it alone, without -o")
            return cls((), ())
        if not (asked.out or asked.in_place or asked.check):
            raise InputError("say where to write: -o FOLDER, or --in-place; --check writes nothing")
        out = Path(asked.out) if asked.out else None
        inputs = files.find(asked.manifest, out)
        if out:
            return cls(inputs, files.targets(inputs, out))
        return cls(inputs, [each.path for each in inputs] if asked.in_place else ())


def read_all(inputs: Sequence[InputFile], *, tokens_only: bool = False) -> tuple[list[Manifest], list[ManifestError]]:
    """The manifests, and why some cannot be read; without files, standard input is one."""
    manifests: list[Manifest] = []
    unread: list[ManifestError] = []
    for each in inputs or (None,):
        try:
            manifests.append(_read(each, tokens_only=tokens_only))
        except ManifestError as error:
            unread.append(error)
    return manifests, unread


def _read(given: InputFile | None, *, tokens_only: bool) -> Manifest:
    if given is None:
        return read("standard input", sys.stdin.buffer.read(), tokens_only=tokens_only)
    try:
        content = given.path.read_bytes()
    except OSError as error:
        problem = os_problem(error)
    else:
        return read(str(given.path), content, FORMATS[given.path.suffix.lower()], tokens_only=tokens_only)
    raise ManifestError(str(given.path), None, problem)


@dataclass
class Result:
    """Where the result goes: into files, or to standard output, and there only once."""

    job: Job
    in_place: bool
    printed: bool = False

    def write(self, manifests: Sequence[Manifest], texts: Sequence[str]) -> None:
        """Write it.

        Raises:
            WriteFailedError: nothing was written.
            HalfWrittenError: something was.
        """
        if self.job.inputs:
            changed = {
                target: text.encode()
                for target, text, manifest in zip(self.job.targets, texts, manifests, strict=False)
                if not self.in_place or text != manifest.text
            }
            try:
                write(changed)
            except WriteFailedError as error:
                raise (HalfWrittenError(error) if error.written else error) from None
        elif not self.printed:
            self.printed = True
            put_out(texts[0].encode())


def count(number: int, what: str, done: str = "") -> str:
    """`2 files`, `1 value resolved`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}{f' {done}' if done else ''}"
