"""The sources of version 0.2.0, which users have: the upgrade begins there, and the way back ends there."""

from __future__ import annotations

import subprocess
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZipFile

from tests.support.documents import ROOT

if TYPE_CHECKING:
    from pathlib import Path

COMMIT = "52e069bd"


def unpack(folder: Path, *parts: str) -> Path:
    """Write files and folders of that version into a folder; returns it.

    Raises:
        RuntimeError: the repository's history does not reach back to it.
    """
    command = ["git", "-C", str(ROOT), "archive", "--format=zip", COMMIT, *parts]
    archived = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
    if archived.returncode:
        why = archived.stderr.decode(errors="replace").strip()
        raise RuntimeError(f"This needs commit {COMMIT}. Get the whole history with `git fetch --unshallow`. ({why})")
    with ZipFile(BytesIO(archived.stdout)) as archive:
        archive.extractall(folder)
    return folder
