"""`strongref objects`: the objects of an account and region, and one of them, for people and for scripts."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict, replace
from difflib import get_close_matches
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strongref.aws.parameter_store import Stores
from strongref_cli.object_types import INDENT, printable_tree, resolve_type, write_object
from strongref_cli.output import put_out
from strongref_cli.parsing import register
from strongref_objects.base.errors import BadChannelError, ContextFileError, NotInContextError, SecretPartsError
from strongref_objects.base.values import Collector
from strongref_objects.channels import Parameters
from strongref_objects.channels.cloudformation import list_exports
from strongref_objects.channels.environment import EnvironmentSerializationContext
from strongref_objects.channels.json_text import JsonSerializationContext
from strongref_objects.stored_objects import (
    Secure,
    StoredObject,
    choose,
    objects_of_cloudformation,
    objects_of_parameters,
    objects_of_strongref,
    strongref_exports,
)
from strongref_objects.synthesis import Home, Synthesis
from strongref_objects.synthesis.context_file import CONTEXT_FILE, listing, reset
from strongref_toolkit.errors import PLACEHOLDER, UsageError
from strongref_toolkit.toolbox import regions

if TYPE_CHECKING:
    import argparse

    from strongref_cli.parsing import Commands
    from strongref_toolkit.toolbox import Toolbox

CLOUDFORMATION, STRONGREF, SSM = "cloudformation", "strongref", "ssm"
HIDDEN = "(a SecureString: --sensitive shows it)"

_CHANNELS = {
    CLOUDFORMATION: "CloudFormation's exports",
    STRONGREF: "strongref's exports",
    SSM: "the parameters below that prefix",
}


def add(commands: Commands) -> None:
    """Add the command and its subcommands."""
    command = register(commands, "objects", "list the objects that stacks export, or export one to scripts")
    below = command.add_subparsers(required=True, metavar="WHAT")
    every = register(below, "list", "the objects and their keys; never the values")
    _add_location(every)
    every.add_argument("--json", action="store_true", help="print one JSON object per line")
    every.set_defaults(do=_list)
    show = register(below, "show", "one object, as a tree")
    export = register(below, "export", "one object, as JSON or as shell variables")
    for each in (show, export):
        each.add_argument("name", metavar="NAME", help="the object's name, as it was exported")
        each.add_argument("--type", help="its type, such as Bucket, or MODULE:CLASS; by default its names decide")
        _add_location(each)
        each.add_argument("--sensitive", action="store_true", help="print the values of SecureStrings, too")
    show.set_defaults(do=_show)
    export.add_argument("--format", choices=("json", "env"), required=True, help="the output format")
    export.add_argument("--name", dest="variables", metavar="PREFIX", help="prefix of the variables, instead of NAME")
    export.set_defaults(do=_export)
    context = register(below, "context", "the lookups that the context file keeps")
    context.add_argument("--file", help=f"the file; {CONTEXT_FILE} by default")
    context.add_argument("--json", action="store_true", help="print one JSON object per line")
    removal = context.add_mutually_exclusive_group()
    removal.add_argument("--reset", nargs="+", metavar="NAME", help="remove these objects or values")
    removal.add_argument("--clear", action="store_true", help="remove everything that strongref wrote")
    context.set_defaults(do=_context)


def _add_location(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--via",
        choices=(CLOUDFORMATION, STRONGREF, SSM),
        default=CLOUDFORMATION,
        help="the channel; cloudformation by default",
    )
    command.add_argument("--region", action="append", help="the objects' region; list accepts several")
    command.add_argument("--account", help="the objects' account, if it is not the caller's")
    command.add_argument("--role", help=f"the role to assume there: arn:aws:iam::{PLACEHOLDER}:role/NAME")
    command.add_argument("--consumer", help="via strongref: only exports to this consumer (_shared: to all)")
    command.add_argument("--stack", help="via cloudformation or strongref: only exports of this stack")
    command.add_argument("--prefix", help="via ssm: the prefix of the parameters, such as /shared/network")


def _list(asked: argparse.Namespace, toolbox: Toolbox) -> int:
    _check(asked)
    lines: list[str] = []
    for region in regions(asked.region):
        for each in _objects(asked, toolbox, region):
            if asked.json:
                what = {"region": region, "via": asked.via, "name": each.name, "from": each.origin, "keys": each.keys}
                lines.append(json.dumps(what))
            else:
                lines.append(f"{region}{INDENT}{each.name}{INDENT}from {each.origin}")
                lines += [f"{INDENT * 2}{key}" for key in each.keys]
    _print(lines)
    return 0


def _show(asked: argparse.Namespace, toolbox: Toolbox) -> int:
    of, stored = resolve_type(asked.type), _chosen(asked, toolbox)
    shown = {path: HIDDEN if isinstance(value, Secure) else value for path, value in stored.values.items()}
    ctx = Collector()
    write_object(replace(stored, values=shown), of, ctx)
    tree: dict[str, Any] = {}
    for (*above, last), leaf in ctx.leaves.items():
        reduce(lambda at, key: at.setdefault(key, {}), above, tree)[last] = leaf.value
    _print([f"{stored.name} ({stored.origin})", *printable_tree(tree, INDENT)])
    return 0


def _export(asked: argparse.Namespace, toolbox: Toolbox) -> int:
    of, stored = resolve_type(asked.type), _chosen(asked, toolbox)
    if stored.secure_keys and not of:
        raise SecretPartsError(stored.name, stored.secure_keys)
    if asked.format == "json":
        as_json = JsonSerializationContext()
        write_object(stored, of, as_json)
        _print([json.dumps(as_json.json, indent=2, ensure_ascii=False)])
        return 0
    ctx = EnvironmentSerializationContext(asked.name if asked.variables is None else asked.variables)
    write_object(stored, of, ctx)
    _print([f"export {name}={shlex.quote(str(value))}" for name, value in ctx.variables.items()])
    return 0


def _context(asked: argparse.Namespace, _toolbox: Toolbox) -> int:
    file = asked.file or CONTEXT_FILE
    keys = list(listing(file))
    if asked.file and not Path(file).exists():
        raise ContextFileError(file, "the file does not exist; a program that makes templates writes it")
    if asked.reset or asked.clear:
        unknown = [name for name in asked.reset or () if not any(name == str(key) or key.is_of(name) for key in keys)]
        if unknown:
            close = get_close_matches(unknown[0], [key.name for key in keys], 3, 0.4)
            raise NotInContextError(unknown, file, close)
        keys = reset(file, asked.reset)
    if asked.json:
        _print([json.dumps(asdict(key)) for key in keys])
        return 0
    _print(
        [
            f"{key.region}{INDENT}{key.account}{INDENT}{key.channel}{INDENT}{key.name}"
            + (f"{INDENT}of {key.of}" if key.of else "")
            for key in keys
        ]
    )
    return 0


def _check(asked: argparse.Namespace) -> None:
    """Raises `UsageError` if an option does not apply to the channel."""
    for option, of in (("consumer", (STRONGREF,)), ("stack", (CLOUDFORMATION, STRONGREF)), ("prefix", (SSM,))):
        if getattr(asked, option) is not None and asked.via not in of:
            raise UsageError(f"--{option} is only for --via {' or '.join(of)}, got --via {asked.via}")
    if asked.via == SSM and asked.prefix is None:
        raise UsageError("--via ssm needs --prefix, as in --prefix /shared/network")


def _chosen(asked: argparse.Namespace, toolbox: Toolbox) -> StoredObject:
    """The object that the arguments name."""
    _check(asked)
    where = regions(asked.region)
    if len(where) > 1:
        raise UsageError("--region: an object is in one region; pass one")
    stored = choose(_objects(asked, toolbox, where[0]), asked.name, f"{_CHANNELS[asked.via]} in {where[0]}")
    if stored.cut and not asked.type:
        cut = "name is cut and ends" if len(stored.cut) == 1 else "names are cut and end"
        sys.stderr.write(f"strongref: {len(stored.cut)} {cut} with a hash: use --type to restore the keys\n")
    return stored


def _objects(asked: argparse.Namespace, toolbox: Toolbox, region: str) -> list[StoredObject]:
    if asked.via == CLOUDFORMATION:
        account = asked.account or toolbox.accounts(region, asked.role).own
        exported = list_exports(Synthesis(toolbox=toolbox, role=asked.role), Home(account, region))
        return objects_of_cloudformation(exported, asked.stack)
    clients = toolbox.accounts(region, asked.role).clients(asked.account)
    store = Stores(clients.ssm, toolbox.limiter)(region, toolbox.clock)
    sensitive = getattr(asked, "sensitive", False)
    if asked.via == SSM:
        try:
            prefix = Parameters(asked.prefix).prefix
        except BadChannelError as error:
            problem = error.problem
        else:
            return objects_of_parameters(store, prefix, sensitive=sensitive)
        raise UsageError(f"--prefix: {problem}")
    exports = strongref_exports(store, toolbox.clock, toolbox.ports().patience, asked.consumer, asked.stack)
    return objects_of_strongref(exports, sensitive=sensitive)


def _print(lines: list[str]) -> None:
    """Print everything in one step, so that a shell evaluates all of it or nothing."""
    put_out("".join(f"{line}\n" for line in lines).encode())
