"""Writes `docs/cli/index.md` from `cli_page_head.md` and the commands' own parsers.

Run it with `make texts`; a test checks that the page is current.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from strongref_cli.arguments import parser

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).resolve().parents[1] / "docs/cli/index.md"

_HEAD = Path(__file__).with_name("cli_page_head.md")
"""How the page begins: what all commands have in common."""

_EXAMPLES = {
    "list": ["list --all-regions", "list --region eu-west-1 --state unused"],
    "who": ["who network", "who network Vpc.Id --region eu-west-1"],
    "graph": ["graph --out graph.html", "graph --output mermaid"],
    "order": ["order", "order --delete"],
    "check": ["check --stack network --template examples/network/network.yaml"],
    "doctor": ["doctor --all-regions", "doctor --region us-east-1 --fix --yes"],
    "release": [
        "release network Vpc.Id --consumer service --reason 'service moves to another VPC' --dry-run",
        "release network Vpc.Id --consumer service --reason 'service moves to another VPC' --yes",
    ],
    "republish": ["republish network", "republish network --key Vpc"],
}


def page() -> str:
    """The whole page."""
    return f"{_HEAD.read_text('utf-8')}\n{''.join(_commands(parser(), 2))}".rstrip() + "\n"


def _commands(above: argparse.ArgumentParser, level: int) -> Iterator[str]:
    for action in above._actions:  # noqa: SLF001 (argparse has no other way to list them)
        if not isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 (the same)
            continue
        for command in action.choices.values():
            yield from _command(command, level)
            yield from _commands(command, level + 1)


def _command(command: argparse.ArgumentParser, level: int) -> Iterator[str]:
    yield f"{'#' * level} {command.prog}\n\n{command.description}\n\n"
    if command.epilog:
        yield f"{command.epilog}\n\n"
    if command._subparsers:  # noqa: SLF001 (the same)
        return
    if examples := _EXAMPLES.get(command.prog.removeprefix("strongref ")):
        yield "```sh\n" + "".join(f"strongref {each}\n" for each in examples) + "```\n\n"
    rows = [_row(action) for action in command._actions if action.help != argparse.SUPPRESS]  # noqa: SLF001 (the same)
    rows = [row for row in rows if row[0] != "`-h`, `--help`"]
    yield "| Argument | Meaning |\n|---|---|\n"
    yield from (f"| {name} | {meaning} |\n" for name, meaning in rows)
    yield "\n"


def _row(action: argparse.Action) -> tuple[str, str]:
    metavar = action.metavar or ("" if action.choices else action.dest.upper())
    value = "" if action.nargs == 0 else f" {metavar}" if metavar else f" {'|'.join(map(str, action.choices or ()))}"
    names = [f"`{name}{value}`" for name in action.option_strings] or [f"`{action.metavar or action.dest}`"]
    meaning = (action.help or "").replace("|", "\\|")
    required = " Required." if action.required and action.option_strings else ""
    return ", ".join(names).replace("|", "\\|"), f"{meaning[0].upper()}{meaning[1:]}.{required}"


def main() -> int:
    PAGE.write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
