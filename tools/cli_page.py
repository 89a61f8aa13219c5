"""Writes `docs/cli.md` from the commands' own parsers. Run it with `make texts`; a test checks that it is current."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from strongref_cli.arguments import parser

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).resolve().parents[1] / "docs/cli.md"

_HEAD = """\
# The command line

`strongref` shows who uses what, predicts what a deployment does, and repairs what is wrong. It runs with your own
credentials, and needs no server. It never shows a value, except where `resolve` and `objects` write them for you.

```sh
pip install 'strongref[manifests]'
```

The extra `manifests` brings what `check`, `resolve` and `transform` need to read YAML. Other commands work without it.

This page is generated from the commands. `strongref COMMAND --help` shows the same.

## What all commands have in common

| Option | Meaning |
|---|---|
| `--region REGION` | Where to look. Repeatable; by default the region of the environment or of the AWS profile |
| `--all-regions` | All regions that are enabled for the account |
| `--profile PROFILE` | The AWS profile, as with `AWS_PROFILE`. All other variables of AWS's command line work, too |
| `--output` | `table` for people, `json` for programs, `markdown` for comments |

Regions are read in parallel. On a terminal the command shows its progress; in a pipe it prints only the result. Tables
are not cut in a pipe. `NO_COLOR` turns colors off.

JSON documents have schemas: [list](schemas/list.schema.json), [who](schemas/who.schema.json),
[graph](schemas/graph.schema.json), [order](schemas/order.schema.json), [doctor](schemas/doctor.schema.json),
[republish](schemas/republish.schema.json), [release](schemas/release.schema.json). Within a version, documents only
gain properties.

| Exit status | Meaning |
|---:|---|
| 0 | Everything is fine |
| 1 | Something was found, refused or lost |
| 2 | Wrong usage, or a name or file that does not exist |
| 3 | AWS cannot be called, or refused a call |
| 130 | Interrupted with Ctrl-C |
| 141 | The reader of the output closed it, as `head` does |

`list`, `who`, `graph` and `order` read tags in bulk, which may be some seconds late, so they say when they read them.
What decides something is always read exactly.

To complete commands and options in your shell:

```sh
mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc
strongref completion bash > ~/.local/share/bash-completion/completions/strongref
strongref completion zsh > ~/.zfunc/_strongref
```

Bash then needs the package `bash-completion`, and zsh needs `fpath+=~/.zfunc` before `compinit` in `~/.zshrc`.

## Permissions

This policy is enough for `list`, `who`, `graph`, `order`, `status`, `doctor`, `release` and `republish` in all regions.
Replace the account ID. Without the statements `Repair` and `Holds` it only reads: nothing can be repaired, released or
restored.

```json
{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Sid": "Read",
      "Effect": "Allow",
      "Action": [
        "cloudformation:DescribeStacks",
        "cloudformation:ListExports",
        "cloudformation:ListStackResources",
        "ec2:DescribeRegions",
        "ssm:DescribeParameters",
        "tag:GetResources"
      ],
      "Resource": "*"
    },
    {
      "Sid": "ReadParameters",
      "Effect": "Allow",
      "Action": ["ssm:GetParameters", "ssm:GetParametersByPath", "ssm:ListTagsForResource"],
      "Resource": ["arn:aws:ssm:*:111111111111:parameter/strongref", "arn:aws:ssm:*:111111111111:parameter/strongref/*"]
    },
    {
      "Sid": "Repair",
      "Effect": "Allow",
      "Action": [
        "ssm:AddTagsToResource",
        "ssm:DeleteParameter",
        "ssm:DeleteParameters",
        "ssm:PutParameter",
        "ssm:RemoveTagsFromResource"
      ],
      "Resource": "arn:aws:ssm:*:111111111111:parameter/strongref/*"
    },
    {
      "Sid": "Holds",
      "Effect": "Allow",
      "Action": [
        "cloudformation:CreateStack",
        "cloudformation:DeleteStack",
        "cloudformation:DescribeStackEvents",
        "cloudformation:TagResource",
        "cloudformation:UpdateStack"
      ],
      "Resource": "arn:aws:cloudformation:*:111111111111:stack/strongref-hold-*"
    }
  ]
}
```

The commands read secure values as part of records, with the key `alias/aws/ssm`. `release` also needs
`events:PutEvents` if the installation names an [event bus](events.md). The pages of [`install` and
`uninstall`](install.md#permissions) and of [`check`](check.md#permissions) list what these need.
"""

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
    return f"{_HEAD}\n{''.join(_commands(parser(), 2))}".rstrip() + "\n"


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
