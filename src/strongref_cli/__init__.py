"""The command `strongref`. It works with the caller's own credentials, and all printing is done in this package.

`arguments` declares every command; each runs in a module of its own, which is imported only then.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status: as of `running.run`, or 130 after Ctrl-C, as in shells.
    """
    _open_standard_streams()
    try:
        from strongref_cli.running import run  # noqa: PLC0415 (Ctrl-C may come while this imports)

        status = run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("strongref: interrupted\n")
        status = INTERRUPTED
    if arguments is None and threading.active_count() > 1:
        _exit(status)
    return status


def _exit(status: int) -> None:
    """End the process: Python would wait for calls that threads still make after another one has failed."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # Its reader has closed it.
            stream.flush()
    os._exit(status)


def _open_standard_streams() -> None:
    """Open the null device in place of each standard stream that the caller has closed: Python has None there."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 (for the whole process)
