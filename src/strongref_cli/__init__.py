"""The command `strongref`. It works with the caller's own credentials, and all printing is done in this package.

`arguments` declares every command; each runs in a module of its own, which is imported only then. Nothing is public but
the command.
"""

from __future__ import annotations

import os
import sys

__all__: list[str] = []

TYPE_CHECKING = False  # Importing `typing` takes milliseconds, in which Ctrl-C would print a traceback.
if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit status: that of `running.run`, or 130 after Ctrl-C, as in shells."""
    try:
        _replace_closed_streams()
        from strongref_cli.running import run  # noqa: PLC0415 (Ctrl-C may come while this imports)

        status = run(arguments)
        if arguments is None:
            _end_silently_on_ctrl_c()
    except KeyboardInterrupt:
        if messages := sys.modules.get("strongref_toolkit.messages"):
            messages.tell("error", "interrupted")
        else:
            sys.stderr.write("strongref: interrupted\n")
        status = INTERRUPTED
    threads = sys.modules.get("threading")
    if arguments is None and threads and threads.active_count() > 1:
        _exit(status)
    return status


def _exit(status: int) -> None:
    """End the process: Python would wait for calls that threads still make after another one has failed."""
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 (contextlib may not be imported yet)
            stream.flush()
        except OSError:  # Its reader has closed it.
            pass
    os._exit(status)


def _replace_closed_streams() -> None:
    """Read nothing from, and write nothing to, the standard streams that a shell has closed, as with `>&-`.

    Python has None in their place. The first file that is opened takes the lowest free number, which is theirs, so
    this also keeps a connection from becoming standard output.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115 (pathlib is not imported yet, and it stays open)


def _end_silently_on_ctrl_c() -> None:
    """From now on, Ctrl-C ends the process without a traceback: Python is about to exit."""
    import signal  # noqa: PLC0415 (as above)

    signal.signal(signal.SIGINT, signal.SIG_DFL)
