"""`strongref completion`, a script for the shell, made from the commands' own parsers, and `strongref version`."""

from __future__ import annotations

import argparse

from shtab import FILE, complete

from strongref import __version__
from strongref_cli.arguments import parser
from strongref_cli.terminal.output import put_out

_FILES = ("FILE", "MANIFEST", "STATE", "TEMPLATE", "file", "manifest", "out")
"""What arguments that are files are called in the help, or in the parsed arguments."""


def print_script(args: argparse.Namespace) -> int:
    whole = parser()
    _complete_files(whole)
    put_out(f"{complete(whole, args.shell)}\n".encode())
    return 0


def print_version(_args: argparse.Namespace) -> int:
    put_out(f"{__version__}\n".encode())
    return 0


def _complete_files(command: argparse.ArgumentParser) -> None:
    """Mark the arguments of a command, and of those below it, that are files: shtab completes only those."""
    for action in command._actions:  # noqa: SLF001 (argparse has no other way to list them)
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 (the same)
            for each in action.choices.values():
                _complete_files(each)
        elif action.metavar in _FILES or action.dest in _FILES:
            action.complete = FILE  # type: ignore[attr-defined]
