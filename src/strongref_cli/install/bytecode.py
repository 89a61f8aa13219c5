"""Bytecode for the layer: without it, a cold start takes several times as long, because Lambda cannot store any."""

from __future__ import annotations

import py_compile
import sys
import tempfile
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strongref_cli.install.packaging import Files

MOUNTED = "/opt/"
"""Where Lambda unpacks a layer; tracebacks show it."""


def can_compile_for(python: str) -> bool:
    """Whether this interpreter makes bytecode for that version of Python, as in `3.13`."""
    return python == f"{sys.version_info.major}.{sys.version_info.minor}" and sys.implementation.name == "cpython"


def compiled(files: Files) -> dict[str, bytes]:
    """The bytecode of every module, by where Python looks for it. It holds a hash of its source, and is not checked."""
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
