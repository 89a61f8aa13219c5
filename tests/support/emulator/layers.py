"""The files of a layer or a large function, unpacked once for all processes of functions that have them."""

from __future__ import annotations

import os
import threading
import zipfile
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

from ministack.core import lambda_runtime

_MANY = 100
"""Files of an archive that is worth it."""

_lock = threading.Lock()


def install() -> None:
    """Unpack large archives once. Functions read these files, and change none."""
    names = {**vars(zipfile), "ZipFile": _Unpacked}
    lambda_runtime.zipfile = SimpleNamespace(**names)


class _Unpacked(zipfile.ZipFile):
    @property
    def _is_large(self) -> bool:
        return len(self.filelist) >= _MANY

    def namelist(self) -> list[str]:
        """None, if it is large: the emulator follows all links in each path, which takes it longer than all else."""
        return [] if self._is_large else super().namelist()

    def extractall(self, path: str) -> None:  # type: ignore[override]
        """Make the path, an empty folder, a link to the unpacked archive."""
        if not self._is_large:
            super().extractall(path)
            return
        content = sha256(Path(str(self.filename)).read_bytes()).hexdigest()
        folder = Path(os.environ["TMPDIR"], f"unpacked-{content}")
        with _lock:
            if not folder.exists():
                super().extractall(folder, self.filelist)
        Path(path).rmdir()
        Path(path).symlink_to(folder)
