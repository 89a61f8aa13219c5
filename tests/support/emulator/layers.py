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
    def extractall(self, path: str) -> None:  # type: ignore[override]
        """Make the path, an empty folder, a link to the unpacked archive."""
        if len(self.namelist()) < _MANY:
            super().extractall(path)
            return
        content = sha256(Path(str(self.filename)).read_bytes()).hexdigest()
        folder = Path(os.environ["TMPDIR"], f"unpacked-{content}")
        with _lock:
            if not folder.exists():
                super().extractall(folder)
        Path(path).rmdir()
        Path(path).symlink_to(folder)
