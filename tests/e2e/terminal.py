"""A terminal with a shell in it that stays, as a person has one: what one command sets, the next one has."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from tests.support.documents import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

IMPATIENT = {"BASH_FUNC_aws%%": f'() {{ PYTHONPATH={ROOT / "tests/support/impatient"} command aws "$@"; }}'}
"""The variable of a function that bash has: `aws`, whose waiters look more often than its own."""

NOT_A_NEW_USERS = ("AWS_", "MAKE", "MFLAGS", "STRONGREF_", "SAM_CLI_")
"""The beginnings of variables that this run has, and that a new user's terminal does not."""


class Done(NamedTuple):
    """How a block of commands ended.

    Attributes:
        failed: whether any of its commands did.
    """

    failed: bool
    printed: str


class Terminal:
    """A shell; see `terminal`."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._folder = folder

    def run(self, commands: str) -> Done:
        """Type these commands, and wait until they are done."""
        block, end = self._folder / f"{uuid4()}.sh", str(uuid4())
        block.write_text(commands)
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"failed=no; . {block} </dev/null; echo; echo {end} $failed\n")
        self._process.stdin.flush()
        lines: list[str] = []
        for line in self._process.stdout:
            if line.startswith(end):
                return Done(line.split()[1] == "yes", "".join(lines)[:-1])
            lines.append(line)
        raise AssertionError(f"The shell ended: {''.join(lines)}")


@contextmanager
def terminal(folder: Path, scratch: Path, environment: Mapping[str, str] | None = None) -> Iterator[Terminal]:
    """A terminal in a folder, without what this run has in its environment.

    Args:
        folder: where it is.
        scratch: another folder, for what it needs itself.
        environment: variables to set.
    """
    given = {name: value for name, value in os.environ.items() if not name.startswith(NOT_A_NEW_USERS)}
    process = subprocess.Popen(
        ["bash", "--norc"],  # noqa: S607
        cwd=folder,
        # Our own sources, wherever the packages are that run them.
        env={**given, "PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(scratch), **(environment or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdin
    try:
        process.stdin.write("trap 'failed=yes' ERR\n")
        yield Terminal(process, scratch)
    finally:
        process.stdin.close()
        process.wait()
