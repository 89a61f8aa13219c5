"""What a command gives out that is its result: on standard output, and nothing else there."""

from __future__ import annotations

import os
import sys

from strongref.text import os_problem
from strongref_toolkit.errors import WriteFailedError


def put_out(content: bytes) -> None:
    """Write to standard output, and see that it arrives.

    Raises:
        WriteFailedError: whoever was to read it has gone, or there is no room for it.
    """
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    except OSError as error:
        problem = os_problem(error)
    else:
        return
    raise unwritten(problem)


def unwritten(problem: str) -> WriteFailedError:
    """The error of what standard output did not take; nothing more is written to it."""
    # Python would try once more when it ends (Python: Library Reference, signal, note on SIGPIPE).
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return WriteFailedError("standard output", problem, 0)
