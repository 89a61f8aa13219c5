"""What the commands' parsers are made of: the parser itself, and the options that many commands have."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any, NoReturn, TypeAlias

from strongref.text import did_you_mean
from strongref.untyped import Untyped
from strongref_cli.terminal.output import put_out
from strongref_toolkit.errors import PLACEHOLDER, UsageError

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 (it has no other name)
Options: TypeAlias = "argparse._ActionsContainer"  # noqa: SLF001 (the same)

FORMATS = ("table", "json", "markdown")
_REGION = "the region; by default the environment's, or the profile's"


class Parser(argparse.ArgumentParser):
    """Reports errors as ours, with the names that were probably meant, and refuses empty options and manifests."""

    _given: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        self._check_options()
        raise UsageError(f"{message}{self.help_hint}")

    def parse_known_args(self, args: Untyped = None, namespace: Untyped = None) -> Untyped:
        self._given = sys.argv[1:] if args is None else args
        return super().parse_known_args(self._given, namespace)

    def _check_options(self) -> None:
        """Raises `UsageError` for the first option that does not exist: it may be a required one, misspelled."""
        for given in self._given:
            name = given.partition("=")[0]
            if given == "--" or (self._subparsers and not given.startswith("-")):
                return
            if name.startswith("-") and not any(known.startswith(name) for known in self._option_string_actions):
                raise self._unknown(name)

    def _unknown(self, name: str) -> UsageError:
        commands = [each for each in self._actions if isinstance(each, argparse._SubParsersAction)]  # noqa: SLF001 (as below)
        if any(name in command._option_string_actions for each in commands for command in each.choices.values()):  # noqa: SLF001
            return UsageError(f"unknown argument {name}: options follow the command{self.help_hint}")
        known = [each for each in self._option_string_actions if each.startswith("--")]
        return UsageError(f"unknown argument {name}{meant(name, known) or self.help_hint}")

    @property
    def help_hint(self) -> str:
        return f". See {self.prog} --help"

    def parse_args(self, args: Untyped = None, namespace: Untyped = None) -> Untyped:
        """As argparse does it. An option that does not exist is reported with those that it resembles.

        Raises:
            UsageError: an argument is wrong.
        """
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            command: Parser = found.parser if "parser" in found else self
            raise command._unknown(unknown[0])
        return found

    def _print_message(self, message: str, file: Untyped = None) -> None:
        """Raises what `put_out` does for standard output. Argparse ignores that nobody can read the help."""
        if file is sys.stdout:
            put_out(message.encode())
        else:
            super()._print_message(message, file)

    def _check_value(self, action: argparse.Action, value: Untyped) -> None:
        if action.choices is None or value in action.choices:
            return
        choices = [str(each) for each in action.choices]
        hint = meant(str(value), choices) or f". Choose from {', '.join(choices)}"
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 (it has no other name)
            self._check_options()
            raise UsageError(f"unknown command {str(value)!r}{hint}")
        raise UsageError(f"{_name(action)} cannot be {str(value)!r}{hint}")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Untyped:
        if "" in arg_strings and action.nargs != argparse.PARSER:
            raise UsageError(f"{_name(action)} is empty: is a variable not set?")
        return super()._get_values(action, arg_strings)


def _name(action: argparse.Action) -> str:
    """What an option or argument is called in errors."""
    if action.dest == "manifest":
        return "a manifest"
    return action.option_strings[0] if action.option_strings else str(action.metavar)


def meant(given: str, names: Collection[str]) -> str:
    """`. Did you mean X?`, or nothing if no name is similar."""
    close = get_close_matches(given, names, 2)
    return f". {did_you_mean(close)}" if close else ""


def pairs(option: str, given: Iterable[str]) -> dict[str, str]:
    """The values of an option `NAME=VALUE`, by name. A value may be secret, so no error shows one.

    Raises:
        UsageError: a name is missing, or given twice.
    """
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(f"{option} must be a name and a value with = between them")
        if name in found:
            raise UsageError(f"{option} {name} is given twice")
        found[name] = value
    return found


def add_command(commands: Commands, name: str, summary: str, **more: Any) -> argparse.ArgumentParser:
    """Add a command's parser; `summary` is its line in the list of commands and the first line of its own help."""
    command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", **more)
    command.set_defaults(parser=command)
    return command


def repeatable(options: Options, flag: str, summary: str, **more: Any) -> None:
    """Add an option that may be given several times: its value is a list, which is empty without it."""
    options.add_argument(flag, action="append", default=[], help=f"{summary}; repeatable", **more)


def add_flag(options: Options, flag: str, summary: str) -> None:
    options.add_argument(flag, action="store_true", help=summary)


def add_options(
    command: argparse.ArgumentParser, *options: Callable[[argparse.ArgumentParser], None], **run: str
) -> None:
    """Add options that many commands have, in this order, and what runs the command, if that is given."""
    for add in options:
        add(command)
    command.set_defaults(**run)


def add_regions(command: argparse.ArgumentParser) -> None:
    regions = command.add_mutually_exclusive_group()
    repeatable(regions, "--region", _REGION, metavar="REGION")
    add_flag(regions, "--all-regions", "every region that is enabled for the account")
    add_profile(command)


def add_region(options: Options, summary: str = _REGION) -> None:
    options.add_argument("--region", action=Once, metavar="REGION", help=summary)


class Once(argparse.Action):
    """An option with one value, which must not be given again: argparse would ignore the first one."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 (as argparse)
        namespace: argparse.Namespace,
        values: Untyped,
        option_string: str | None = None,
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            raise UsageError(f"{option_string} is given twice, and this command works in one region")
        setattr(namespace, self.dest, values)


def add_profile(command: argparse.ArgumentParser) -> None:
    command.add_argument("--profile", help="the AWS profile; by default AWS_PROFILE")
    add_flag(command, "--debug", "show each call to AWS, without values")


def add_account(command: argparse.ArgumentParser) -> None:
    command.add_argument("--account", help="the account; by default the caller's")
    add_role(command)


def add_role(command: argparse.ArgumentParser) -> None:
    role = f"arn:aws:iam::{PLACEHOLDER}:role/NAME"
    summary = f"the role to assume in other accounts: {role}; {PLACEHOLDER} stands for the account ID"
    command.add_argument("--role", help=summary)


add_dry_run = partial(add_flag, flag="--dry-run", summary="show what would change, and change nothing")
add_yes = partial(add_flag, flag="--yes", summary="change without asking")


def add_output(command: argparse.ArgumentParser) -> None:
    command.add_argument("--output", choices=FORMATS, default="table", help="the output format; by default table")
