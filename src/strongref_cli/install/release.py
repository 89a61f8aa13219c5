"""A release's folder, as `strongref install --from` reads it; `tools.release_contents` writes it.

    SHA256SUMS         the checksum of every other file
    release.json       which version it is
    template.yaml      the template; its code is below `bucket`
    bucket/            the code, by its key in a bucket of any region

Checksums show that a file is damaged or missing. They do not show who made it: docs/releases.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath

import strongref
from strongref_cli.install.packaging import KEY_PREFIX, local_paths
from strongref_cli.install.suite import Archive, Suite
from strongref_toolkit.errors import UsageError

CHECKSUMS, ABOUT, TEMPLATE, BUCKET = "SHA256SUMS", "release.json", "template.yaml", "bucket/"

FORMAT = 1
"""Of the folder. Another number is refused: an older command cannot know what it means."""

_CHECKSUM = re.compile(r"([0-9a-f]{64})  (\S.*)")
_AGAIN = "Download the release again."


def load_release(folder: Path) -> Suite:
    """The suite in a release's folder, after every file has been compared with its checksum.

    Raises:
        UsageError: it is no release, it is incomplete or changed, or this command cannot read it.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder.")
    files = _checked(folder)
    about = _about(folder, files)
    template = _file(folder, files, TEMPLATE).decode()
    paths = local_paths(template)
    if elsewhere := [each for each in paths if not each.startswith(BUCKET + KEY_PREFIX)]:
        raise UsageError(f"{folder} is not a release of strongref: its template has code at {elsewhere[0]}.")
    archives = tuple(
        Archive(path, path.removeprefix(BUCKET), partial(bytes, _file(folder, files, path))) for path in paths
    )
    notes = []
    if not about["bytecode"]:
        notes.append("Cold starts are slower than they could be: the layer of this release has no bytecode.")
    if about["version"] != strongref.__version__:
        notes.append(f"The release is version {about['version']}, and this command is {strongref.__version__}.")
    return Suite(str(about["version"]), template, archives, tuple(notes))


def _checked(folder: Path) -> dict[str, bytes]:
    """Every file that the checksums list, by its path."""
    try:
        lines = (folder / CHECKSUMS).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        what = f"{folder} is not a release of strongref: it has no {CHECKSUMS}."
        raise UsageError(f"{what} Give the folder of an unpacked release.") from None
    files = {}
    for line in lines:
        listed = _CHECKSUM.fullmatch(line)
        if not listed or ".." in PurePosixPath(listed[2]).parts or listed[2].startswith("/"):
            raise UsageError(f"{folder} has a damaged {CHECKSUMS}. {_AGAIN}")
        expected, name = listed.groups()
        try:
            content = (folder / name).read_bytes()
        except OSError:
            raise UsageError(f"{folder} is incomplete: {name} is missing. {_AGAIN}") from None
        if sha256(content).hexdigest() != expected:
            raise UsageError(f"{folder} was changed: {name} has another checksum than released. {_AGAIN}")
        files[name] = content
    return files


def _file(folder: Path, files: Mapping[str, bytes], name: str) -> bytes:
    if name not in files:
        raise UsageError(f"{folder} is not a release of strongref: its {CHECKSUMS} does not list {name}.")
    return files[name]


def _about(folder: Path, files: Mapping[str, bytes]) -> dict[str, object]:
    try:
        about: object = json.loads(_file(folder, files, ABOUT))
    except ValueError:
        about = None
    if not isinstance(about, dict) or about.get("name") != "strongref":
        raise UsageError(f"{folder} is not a release of strongref: {ABOUT} does not describe one.")
    if about.get("format") != FORMAT or not {"version", "bytecode"} <= set(about):
        what = f"{folder} is a release that strongref {strongref.__version__} cannot read."
        raise UsageError(f"{what} Upgrade the command.")
    return about
