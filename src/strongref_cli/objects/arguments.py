"""The options of `strongref objects`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.contract.names import ALL
from strongref_cli.terminal.options import (
    Commands,
    add_account,
    add_command,
    add_consumer,
    add_output,
    add_profile,
    add_region,
    add_regions,
)

if TYPE_CHECKING:
    import argparse

CONTEXT_FILE = "strongref.context.json"
"""As in `strongref_objects.synthesis.context_file`, which takes too long to import here."""


def add_objects(commands: Commands) -> None:
    objects = add_command(commands, "objects", "list and print exported objects")
    below = objects.add_subparsers(required=True, metavar="COMMAND")
    every = add_command(below, "list", "list objects and their keys")
    add_regions(every)
    _channel(every)
    add_output(every)
    every.set_defaults(run="objects.commands:list_objects")
    show = add_command(below, "show", "print one object as a tree")
    export = add_command(below, "export", "print one object as JSON or as shell variables")
    for each in (show, export):
        each.add_argument("name", metavar="NAME", help="the object's name")
        each.add_argument("--type", help="its type: Bucket, or MODULE:CLASS; by default from its keys")
        add_region(each)
        add_profile(each)
        _channel(each)
        each.add_argument("--sensitive", action="store_true", help="also print the values of SecureStrings")
    show.set_defaults(run="objects.commands:show_object")
    export.add_argument("--format", choices=("json", "env"), required=True, help="the output format")
    export.add_argument("--name", dest="variables", metavar="PREFIX", help="the variables' prefix; by default NAME")
    export.set_defaults(run="objects.commands:export_object")
    context = add_command(below, "context", "list what lookups stored in the context file, or remove it")
    context.add_argument("--file", help=f"the file; by default {CONTEXT_FILE}")
    add_output(context)
    remove = context.add_mutually_exclusive_group()
    remove.add_argument("--reset", nargs="+", metavar="NAME", help="remove these objects or values")
    remove.add_argument("--clear", action="store_true", help="remove everything that strongref stored")
    context.set_defaults(run="objects.commands:show_context")


def _channel(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--via",
        choices=("cloudformation", "strongref", "ssm"),
        default="cloudformation",
        help="the channel; by default the first of these",
    )
    add_account(command)
    add_consumer(command, f"via strongref: only exports for this consumer; {ALL} for shared exports")
    command.add_argument("--stack", help="not via ssm: only exports of this stack")
    command.add_argument("--prefix", help="via ssm: the prefix, such as /shared/network")
