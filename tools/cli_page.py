"""`docs/cli/index.md` and `docs/cli/commands.md`, from `cli_page_head.md` and the commands' own parsers."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from strongref_cli.arguments import parser

Row: TypeAlias = tuple[str, str]
"""An argument as the pages write it, and what it means."""

_DOCS = Path(__file__).resolve().parents[1] / "docs/cli"
INDEX = _DOCS / "index.md"
COMMANDS = _DOCS / "commands.md"

_HEAD = Path(__file__).with_name("cli_page_head.md")
"""The page of what all commands share. The table of common options replaces its marker."""

_MARKER = "<!-- common options -->\n"

_COMMON = {
    "--region": "check",
    "--all-regions": "list",
    "--profile": "list",
    "--debug": "list",
    "--account": "lookup",
    "--role": "lookup",
    "--output": "list",
    "--dry-run": "release",
    "--yes": "release",
}
"""The common options, each with a command that has it."""

REPEATABLE = "; repeatable"

_COMMANDS_HEAD = """\
# Commands

Each command has these arguments, and the [common options](index.md#common-options) that apply to it. An argument in
brackets is optional.
"""

EXAMPLES = {
    "list": ["list --all-regions", "list --region eu-west-1 --state unused"],
    "who": ["who network Vpc.Id --region eu-west-1"],
    "release": ["release network Vpc.Id --consumer service@us-east-1 --reason 'service moves to another VPC' --yes"],
    "forget": ["forget us-east-1 --stack network --region eu-west-1 --dry-run"],
    "republish": ["republish network --key Vpc --yes"],
}

_SHARING = {"refs": "resolve"}
"""Groups of commands that have arguments of another command, whose section comes before theirs."""


def pages() -> Mapping[Path, str]:
    """Both pages, whole."""
    head = _HEAD.read_text("utf-8")
    rows = [row(action) for action in common_options().values()]
    table = "".join("| {} | {} |\n".format(*(cell.replace("|", "\\|") for cell in each)) for each in rows)
    return {
        INDEX: head.replace(_MARKER, f"| Option | Meaning |\n|---|---|\n{table}"),
        COMMANDS: f"{_COMMANDS_HEAD}\n{''.join(_sections())}".rstrip() + "\n",
    }


@functools.cache
def common_options() -> Mapping[str, argparse.Action]:
    """The options that `index.md` has, by their names."""
    return {name: _find(command)._option_string_actions[name] for name, command in _COMMON.items()}  # noqa: SLF001 (as below)


def is_common(action: argparse.Action) -> bool:
    """Whether `index.md` says everything about an option, except that it can be given more than once."""
    common = common_options().get((action.option_strings or [""])[-1])
    return common is not None and row(action, without=REPEATABLE) == row(common)


def own_rows(command: argparse._ActionsContainer) -> list[Row]:
    """The arguments that a command, or a group of them, does not share with most others."""
    found = command._group_actions if isinstance(command, argparse._ArgumentGroup) else command._actions  # noqa: SLF001 (argparse has no other way to list them)
    actions = [each for each in found if each.help != argparse.SUPPRESS]
    return [row(each) for each in actions if "--help" not in each.option_strings and not is_common(each)]


def row(action: argparse.Action, *, without: str = "") -> Row:
    """An argument with its meaning, which loses an ending."""
    metavar = action.metavar or ("" if action.choices else action.dest.upper())
    value = "" if action.nargs == 0 else f" {metavar}" if metavar else f" {'|'.join(map(str, action.choices or ()))}"
    names = [f"`{name}{value}`" for name in action.option_strings] or [f"`{_positional(action)}`"]
    meaning = (action.help or "").removesuffix(without)
    required = " Required." if action.required and action.option_strings else ""
    return ", ".join(names), f"{meaning[0].upper()}{meaning[1:]}.{required}"


def _positional(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest)
    return f"[{name}]" if action.nargs in ("?", "*") else name


def _commands(above: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    every = [each for each in above._actions if isinstance(each, argparse._SubParsersAction)]  # noqa: SLF001 (the same)
    return {name: command for each in every for name, command in each.choices.items()}


def _find(name: str) -> argparse.ArgumentParser:
    return _commands(parser())[name]


def _sections() -> Iterator[str]:
    for name, command in _commands(parser()).items():
        yield f"## {name}\n\n{command.description}\n\n"
        if examples := EXAMPLES.get(name):
            yield "```sh\n" + "".join(f"strongref {each}\n" for each in examples) + "```\n\n"
        below = _commands(command)
        yield from _group(name, below) if below else _arguments(command)


def _arguments(command: argparse.ArgumentParser) -> Iterator[str]:
    """The arguments of a command. Those in a group with a title of its own come last."""
    titled = {group.title: own_rows(group) for group in command._action_groups[2:]}  # noqa: SLF001 (the same)
    yield from _list(each for each in own_rows(command) if not any(each in rows for rows in titled.values()))
    for title, rows in titled.items():
        yield f"{str(title).capitalize()}:\n\n"
        yield from _list(rows)


def _group(above: str, commands: Mapping[str, argparse.ArgumentParser]) -> Iterator[str]:
    """The commands below another one. Arguments that mean the same in several commands are listed once."""
    yield from _list((f"`{name}`", str(command.description)) for name, command in commands.items())
    elsewhere = _SHARING.get(above, "")
    known = own_rows(_find(elsewhere)) if elsewhere else []
    users: dict[Row, list[str]] = {}
    for name, command in commands.items():
        for each in own_rows(command):
            users.setdefault(each, []).append(name)
    for names in dict.fromkeys(map(tuple, users.values())):
        rows = [each for each, having in users.items() if tuple(having) == names]
        yield f"{_words(names, commands)}:\n\n"
        yield from _list(each for each in rows if each not in known)
        if shared := [argument for argument, meaning in known if (argument, meaning) in rows]:
            link = f"[`{elsewhere}`](#{elsewhere})"
            yield f"Also {', '.join(map(_short, shared))}, as in {link}.\n\n"


def _short(argument: str) -> str:
    """An argument's last name, without its value."""
    return f"`{argument.rpartition(', ')[2].strip('`').partition(' ')[0]}`"


def _words(names: Sequence[str], every: Collection[str]) -> str:
    if len(names) == len(every):
        return "Every command"
    *first, last = (f"`{each}`" for each in names)
    return " and ".join(filter(None, (", ".join(first), last)))


def _list(rows: Iterable[Row]) -> Iterator[str]:
    found = list(rows)
    yield from (f"- {name}: {meaning}\n" for name, meaning in found)
    if found:
        yield "\n"
