"""Zip files for Lambda: the same content has the same key, so nothing is uploaded twice. Pure."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TypeAlias

from strongref_cli.install.errors import IncompleteSuiteError

Files: TypeAlias = Mapping[str, bytes]
"""Contents by relative path, with `/` as separator."""

KEY_PREFIX = "strongref/"
"""What the keys of all objects begin with: they are ours."""

_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip file can have
_MODE = 0o644
_HASH = 32  # hexadecimal digits
_COMPILED = (".so", ".pyd", ".dylib", ".dll")


def content_hash(files: Files, mark: str = "") -> str:
    """Identifies the files by their names and contents; `mark` stands for what is made of them later.

    It is not the hash of the zip file: compression differs between versions of zlib, and content does not.
    """
    whole = sha256(mark.encode())
    for name in sorted(files):
        whole.update(f"\0{name}\0{len(files[name])}\0".encode())
        whole.update(files[name])
    return whole.hexdigest()[:_HASH]


def object_key(name: str, hash_: str, suffix: str) -> str:
    """The key of an object: `strongref/handlers-exporter/0123….zip`."""
    return f"{KEY_PREFIX}{name.replace('/', '-')}/{hash_}.{suffix}"


def zip_bytes(files: Files) -> bytes:
    """A zip file without dates and owners, sorted by name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, _DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix, on every system: the mode counts
            info.external_attr = _MODE << 16
            archive.writestr(info, files[name])
    return buffer.getvalue()


def refuse_compiled(distribution: str, files: Files) -> None:
    """Raise `IncompleteSuiteError` for extension modules: they are built for this machine, not for Lambda's."""
    found = sorted(name for name in files if PurePosixPath(name).suffix.lower() in _COMPILED)
    if found:
        problem = (
            f"has compiled code for this machine ({PurePosixPath(found[0]).name}), which does not run in Lambda. "
            f"Install it without: pip install --force-reinstall --no-binary :all: {distribution}"
        )
        raise IncompleteSuiteError(distribution, problem)
