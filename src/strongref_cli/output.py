"""Standard output: a command's result, and nothing else."""

from __future__ import annotations

import os
import sys

from strongref.text import os_problem
from strongref_toolkit.errors import WriteFailedError


def put_out(content: bytes) -> None:
    """Write to standard output, and flush it.

    Raises:
        WriteFailedError: its reader has closed it, or there is no space for it.
    """
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    except OSError as error:
        raise unwritten(os_problem(error)) from None


def unwritten(problem: str) -> WriteFailedError:
    """The error to raise if standard output cannot be written; discards what is written to it from now on."""
    # Python flushes it again at exit (Python: Library Reference, signal, note on SIGPIPE).
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return WriteFailedError("standard output", problem, 0)
