"""The processes of Python functions, as forks of one that has imported what all of them import.

To start Python, and to import botocore, takes a process longer than most functions run. Run as a program, this is the
process that is forked: it gets its requests over the socket that is its standard input, and has no threads.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

IMPORTED_ONCE = ("boto3.session", "botocore.client", "botocore.endpoint", "botocore.handlers", "botocore.session")
"""What functions import of what Lambda has of its own."""

_STREAMS = 3
_LENGTH = 8
"""Bytes that say how many follow them."""

_lock = threading.Lock()
_origin: list[Origin] = []
"""The process that is forked, once there is one."""


def install() -> None:
    """Fork instead of starting Python for a function."""
    from ministack.core import lambda_runtime  # noqa: PLC0415 (the process that is forked does without)

    lambda_runtime.subprocess = SimpleNamespace(**{**vars(subprocess), "Popen": _popen})


def end() -> None:
    """End all of them; their CPU time counts as this process's."""
    with _lock:
        while _origin:
            _origin.pop().end()


def _popen(arguments: Sequence[str], **how: Any) -> object:
    program, script = arguments
    if program != sys.executable:
        return subprocess.Popen(arguments, **how)  # noqa: S603 (as the emulator does)
    return Forked(script, how["cwd"], how["env"])


class Origin:
    """The process that is forked, as this one sees it."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, __file__], stdin=theirs.fileno(), stdout=subprocess.DEVNULL
            )

    def fork(self, request: Mapping[str, object], streams: Sequence[int]) -> int:
        """Run a program in a fork; a handle of that process."""
        sent = json.dumps(request).encode()
        socket.send_fds(self._ours, [len(sent).to_bytes(_LENGTH, "big")], streams)
        self._ours.sendall(sent)
        # It waits for what has ended only when it is asked again, so until then this is the number of no other process.
        return os.pidfd_open(int.from_bytes(_received(self._ours, _LENGTH), "big"))

    def end(self) -> None:
        self._ours.close()
        self._process.wait()


class Forked:
    """What `subprocess.Popen` is to the emulator."""

    def __init__(self, script: str, folder: str, environment: Mapping[str, str]) -> None:
        (stdin, to), (out, stdout), (err, stderr) = (os.pipe() for _ in range(_STREAMS))
        self.stdin: IO[str] = os.fdopen(to, "w", 1)
        self.stdout: IO[str] = os.fdopen(out)
        self.stderr: IO[str] = os.fdopen(err)
        with _lock:
            if not _origin:
                _origin.append(Origin())
            request = {"script": script, "folder": folder, "environment": dict(environment)}
            self._handle = _origin[0].fork(request, [stdin, stdout, stderr])
        for each in (stdin, stdout, stderr):
            os.close(each)

    def __del__(self) -> None:
        with suppress(AttributeError):
            os.close(self._handle)

    def poll(self) -> int | None:
        return 0 if self._has_ended(0) else None

    def wait(self, timeout: float) -> int:
        if not self._has_ended(timeout):
            raise subprocess.TimeoutExpired("a function", timeout)
        return 0

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def _has_ended(self, timeout: float) -> bool:
        ended = select.poll()
        ended.register(self._handle, select.POLLIN)
        return bool(ended.poll(timeout * 1000))

    def _send(self, number: int) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, number)


# -- the process that is forked ----------------------------------------------------------------------------------------


def serve(asked: socket.socket) -> None:
    """Fork whenever that is asked, until nobody can ask any more; then end all forks."""
    children: set[int] = set()
    while True:
        length, streams, _, _ = socket.recv_fds(asked, _LENGTH, _STREAMS)
        children -= {child for child in children if os.waitpid(child, os.WNOHANG)[0]}
        if not length:
            break
        request = json.loads(_received(asked, int.from_bytes(length, "big")))
        child = os.fork()
        if not child:
            _become(request, streams)
        children.add(child)
        for each in streams:
            os.close(each)
        asked.sendall(child.to_bytes(_LENGTH, "big"))
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _become(request: Mapping[str, Any], streams: Sequence[int]) -> None:
    """Be what Python is that was started with a script, until it ends."""
    status = 1
    try:
        for at, each in enumerate(streams):
            os.dup2(each, at)
        os.closerange(_STREAMS, max(streams) + 1)
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["folder"])
        sys.argv, sys.path[0] = [request["script"]], os.path.dirname(request["script"])  # noqa: PTH120 (as Python does)
        runpy.run_path(request["script"], run_name="__main__")
        status = 0
    except BaseException:  # noqa: BLE001 (as Python does)
        sys.excepthook(*sys.exc_info())
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(status)


def _received(connection: socket.socket, length: int) -> bytes:
    found = b""
    while len(found) < length:
        if not (more := connection.recv(length - len(found))):
            raise EOFError
        found += more
    return found


def main() -> None:
    """Import, and be forked."""
    for name in IMPORTED_ONCE:
        import_module(name)
    gc.freeze()  # Memory that nobody writes to stays shared with the forks.
    serve(socket.socket(fileno=0))


if __name__ == "__main__":
    main()
