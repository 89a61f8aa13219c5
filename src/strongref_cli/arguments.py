"""The command line: every command with its options, and the function that runs it.

Commands import boto3, ruamel.yaml and more. Nothing here does, so that `--help` answers at once: a parser names its
function as `module:function`, and `strongref_cli.main` imports that module of this package when the command runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref import __version__
from strongref_cli.check.arguments import add_check
from strongref_cli.doctor.arguments import add_doctor, add_release, add_republish
from strongref_cli.graph.arguments import add_graph, add_order
from strongref_cli.install.arguments import add_install
from strongref_cli.manifests.arguments import add_refs, add_resolve
from strongref_cli.objects.arguments import add_objects
from strongref_cli.overview.arguments import add_list, add_who
from strongref_cli.terminal.options import (
    Commands,
    Parser,
    add_account,
    add_command,
    add_output,
    add_profile,
    add_region,
    repeatable,
)
from strongref_cli.transform.arguments import add_transform

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command."""
    whole: argparse.ArgumentParser = Parser(
        prog="strongref",
        description="Strong references between CloudFormation stacks: list exports and their importers, look up "
        "resources, and write values into templates and manifests.",
    )
    whole.add_argument("--version", action="version", version=__version__)
    whole.set_defaults(extra=None)
    commands = whole.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for add in _COMMANDS:
        add(commands)
    return whole


def _completion(commands: Commands) -> None:
    completion = add_command(commands, "completion", "print a completion script for a shell")
    completion.add_argument("shell", metavar="SHELL", choices=("bash", "zsh"), help="the shell: bash or zsh")
    completion.set_defaults(run="completion:print_script")


def _lookup(commands: Commands) -> None:
    lookup = add_command(
        commands,
        "lookup",
        "print a resource's primary identifier, or its attributes",
        epilog="For scripts, --output table prints only the identifier on one line, or with --attribute only the "
        "values, one per line.",
    )
    lookup.add_argument("type", metavar="TYPE", help="the resource type, such as AWS::S3::Bucket")
    lookup.add_argument("physical_id", metavar="PHYSICAL_ID", nargs="?", help="the physical ID in CloudFormation")
    lookup.add_argument("--arn", help="the ARN, instead of the physical ID")
    lookup.add_argument("--name", help="the name in its service, instead of the physical ID")
    repeatable(lookup, "--tag", "a tag, instead of the physical ID; repeatable", metavar="KEY=VALUE")
    repeatable(lookup, "--property", "a property that must match; repeatable", metavar="NAME=VALUE")
    repeatable(lookup, "--attribute", "print this attribute, such as Endpoint.Address; repeatable", metavar="NAME")
    add_region(lookup)
    add_account(lookup)
    add_profile(lookup)
    add_output(lookup)
    lookup.set_defaults(run="lookup:look_up")


_COMMANDS = (
    add_install, add_list, add_who, add_graph, add_order, add_check, add_doctor, add_release, add_republish,
    _lookup, add_objects, add_resolve, add_refs, add_transform, _completion,
)  # fmt: skip
"""In the order in which the help lists them."""
