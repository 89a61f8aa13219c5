"""The command line as it is declared, for tests of what the documentation says about it."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from strongref_cli.arguments import parser

if TYPE_CHECKING:
    from collections.abc import Iterator

Run: TypeAlias = Callable[..., tuple[int, str, str]]
"""Runs a command line: its exit status, standard output and standard error."""

SECRET = "an-export-not-to-be-shown"
"""The value of exports in tests of the command line."""


def heed_interrupts() -> None:
    """Heed Ctrl-C. A shell has commands in the background ignore it, and the tests may be such a command."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@cache
def parser_of(*names: str) -> argparse.ArgumentParser:
    """The parser of a command, as in `parser_of("refs", "resolve")`; without names, of all of them."""
    return commands_of(parser_of(*names[:-1]))[names[-1]] if names else parser()


def commands_of(above: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of the commands below one, by their names."""
    (commands,) = [each for each in above._actions if isinstance(each, argparse._SubParsersAction)]
    return dict(commands.choices)


def _leaves(above: argparse.ArgumentParser, *names: str) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    for name, each in commands_of(above).items():
        if each._subparsers:
            yield from _leaves(each, *names, name)
        else:
            yield (*names, name), each


COMMANDS = dict(_leaves(parser_of()))
"""Every command that does something, by its names, as in `("refs", "resolve")`."""


def arguments_of(*names: str) -> set[str]:
    """Every option of a command, in all its spellings, and its positional arguments by their names in the help."""
    actions = parser_of(*names)._actions
    return {each for action in actions for each in action.option_strings or [str(action.metavar)]} - {"-h", "--help"}
