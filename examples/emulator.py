"""An emulator of AWS that stays up between commands: `make emulator` starts it, and `make emulator-stop` stops it.

A process in the background, the keeper, holds it. The keeper locks a file and writes its process ID into it, so that no
other process is ever taken for it. It ends when it is stopped, or when the file is gone, as after `make clean`.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from tests.support.emulator.control import ROOT, Emulator, executable
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOREIGN = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN", "AWS_CA_BUNDLE")
"""Variables of somebody's own account, which would be sent to the emulator or keep it from being used."""

_WATCH_SECONDS = 1
_ATTEMPTS, _PAUSE_SECONDS = 10, 0.05


@dataclass(frozen=True)
class Files:
    """What the keeper writes, in a folder such as `.build`."""

    folder: Path

    @property
    def lock(self) -> Path:
        return self.folder / "emulator.lock"

    @property
    def environment(self) -> Path:
        """To be sourced by a shell; it exists while the emulator can be used."""
        return self.folder / "emulator.env"

    @property
    def address(self) -> Path:
        """Its URL and folder, for other processes that hold it."""
        return self.folder / "emulator.json"

    def join(self) -> Emulator:
        """The emulator of the address, held by this process, too.

        Raises:
            OSError: there is none, or it has ended.
        """
        url, folder = json.loads(self.address.read_text())
        return Emulator.join(url, Path(folder))

    @property
    def log(self) -> Path:
        return self.folder / "emulator.log"

    def is_kept(self) -> bool:
        """Whether a keeper runs: only a running process holds a lock."""
        with suppress(FileNotFoundError), self.lock.open() as file:
            return not _lock(file, fcntl.LOCK_SH)
        return False

    def keeper(self) -> int:
        """The process ID of the running keeper; 0 until it has written that."""
        return int(self.lock.read_text() or 0)


def start(files: Files) -> str:
    """Have a keeper start an emulator, unless one runs already; what to tell the user."""
    files.folder.mkdir(parents=True, exist_ok=True)
    if not files.is_kept():
        files.environment.unlink(missing_ok=True)
        files.log.unlink(missing_ok=True)
        with files.log.open("a") as log:
            process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "examples.emulator", "keep", str(files.folder)],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Control-C and the end of the terminal are not for it.
            )

        def is_up() -> bool:
            # Another start at the same time may have been faster: then that keeper's emulator is the one.
            if process.poll() is not None and not files.is_kept():
                sys.exit(f"The emulator did not start:\n{files.log.read_text(errors='replace')[-2000:]}")
            return files.environment.exists()

        wait_until(is_up, "the emulator")
    wait_until(files.environment.exists, "the emulator")
    return (
        "A local emulator of AWS is running. To use it in this terminal, paste:\n\n"
        f"source {shlex.quote(os.path.relpath(files.environment))}\n\n"
        "To stop it: make emulator-stop"
    )


def stop(files: Files) -> str:
    """Stop the emulator, if one runs; what to tell the user."""
    if not files.is_kept():
        return "No emulator is running."
    with suppress(ProcessLookupError):
        os.kill(wait_until(files.keeper, "the emulator's process ID"), signal.SIGTERM)
    wait_until(lambda: not files.is_kept(), "the end of the emulator")
    return "The emulator is stopped, and everything in it is gone."


def keep(files: Files) -> None:
    """Start an emulator and hold it until somebody stops this process; without a word if there is one already."""
    stopped = threading.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: stopped.set())
    with _locked(files.lock) as lock:
        if lock is None:
            return
        lock.write(str(os.getpid()))
        lock.flush()
        with Emulator.start(files.log) as emulator:
            try:
                files.address.write_text(json.dumps([emulator.url, str(emulator.folder)]))
                files.environment.write_text(_exports(emulator))
                while not stopped.wait(_WATCH_SECONDS) and _is_at(files.lock, lock):
                    pass
            finally:
                if _is_at(files.lock, lock):
                    files.environment.unlink(missing_ok=True)


def _exports(emulator: Emulator) -> str:
    """What a shell has to know to use an emulator, and the commands that are installed here."""
    given = {name: value for name, value in emulator.env().items() if name not in ("HOME", "PATH")}
    sam = Path(executable("STRONGREF_SAM", ".build/venv-sam/bin/sam")).parent
    commands = os.pathsep.join(shlex.quote(str(folder)) for folder in (Path(sys.executable).parent, sam))
    return "\n".join(
        [
            f"unset {' '.join(_FOREIGN)}",
            *(f"export {name}={shlex.quote(value)}" for name, value in given.items()),
            "export AWS_PAGER=",
            # Not through a proxy.
            *(f"export {name}=127.0.0.1${{{name}:+,${name}}}" for name in ("NO_PROXY", "no_proxy")),
            f"export PATH={commands}:$PATH",
            "",
        ]
    )


@contextmanager
def _locked(path: Path) -> Iterator[TextIO | None]:
    """The file, empty and locked until the end; None if another keeper has it."""
    with path.open("a") as file:
        for _ in range(_ATTEMPTS):  # Looking whether it is locked locks it for a moment.
            if _lock(file, fcntl.LOCK_EX):
                file.truncate(0)
                yield file
                return
            time.sleep(_PAUSE_SECONDS)
        yield None


def _lock(file: TextIO, kind: int) -> bool:
    """Lock a file until it is closed; whether that was possible."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_at(path: Path, file: TextIO) -> bool:
    """Whether this file is still the one of that name."""
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    return False


def main() -> None:
    """Run by `make`: start, stop, or (in the background) keep."""
    arguments = argparse.ArgumentParser(prog="python -m examples.emulator", description=__doc__)
    arguments.add_argument("action", choices=("start", "stop", "keep"))
    arguments.add_argument("folder", nargs="?", type=Path, default=ROOT / ".build")
    given = arguments.parse_args()
    files = Files(given.folder.absolute())
    if given.action == "keep":
        keep(files)
        return
    sys.stdout.write(f"{(start if given.action == 'start' else stop)(files)}\n")


if __name__ == "__main__":
    main()
