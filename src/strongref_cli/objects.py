"""`strongref objects`: what objects there are in an environment, and one of them, for people and for scripts."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import redirect_stdout
from dataclasses import asdict, replace
from difflib import get_close_matches
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from strongref.aws.parameter_store import Stores
from strongref.errors import StrongRefError
from strongref.text import some
from strongref_cli.output import put_out
from strongref_cli.parsing import register
from strongref_objects.channels import Parameters
from strongref_objects.cloudformation import list_exports
from strongref_objects.collecting import Collector
from strongref_objects.context_file import CONTEXT_FILE, listing, reset
from strongref_objects.errors import BadChannelError, ContextFileError
from strongref_objects.json_objects import JsonSerializationContext
from strongref_objects.lookups_errors import NotInContextError, SecretPartsError
from strongref_objects.lookups_objects import (
    Held,
    Secure,
    chosen,
    of_cloudformation,
    of_parameters,
    of_strongref,
    published,
)
from strongref_objects.synthesis import Home, Synthesis
from strongref_objects.types import READY
from strongref_objects.variables import EnvironmentSerializationContext
from strongref_toolkit.errors import PLACEHOLDER, UsageError
from strongref_toolkit.toolbox import regions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from strongref_cli.parsing import Commands
    from strongref_objects.base import SerializationContext
    from strongref_objects.declaring import Declared
    from strongref_toolkit.toolbox import Toolbox

CLOUDFORMATION, STRONGREF, SSM = "cloudformation", "strongref", "ssm"
HIDDEN = "(a SecureString: --sensitive shows it)"
INDENT = "  "

_CHANNELS = {
    CLOUDFORMATION: "CloudFormation's exports",
    STRONGREF: "strongref's exports",
    SSM: "the parameters below that prefix",
}


def add(commands: Commands) -> None:
    """The command, and those below it."""
    command = register(commands, "objects", "what objects stacks export, and one of them for scripts")
    below = command.add_subparsers(required=True, metavar="WHAT")
    every = register(below, "list", "the objects that there are, and their keys; never the values")
    _where(every)
    every.add_argument("--json", action="store_true", help="a JSON object a line")
    every.set_defaults(do=_list)
    one = register(below, "show", "one object, as a tree")
    giving = register(below, "export", "one object, as JSON or as variables of a shell")
    for each in (one, giving):
        each.add_argument("name", metavar="NAME", help="the object's, as it was exported")
        each.add_argument("--type", help="its type, as in Bucket, or MODULE:CLASS; by default what its names tell")
        _where(each)
        each.add_argument("--sensitive", action="store_true", help="give the values of SecureStrings too")
    one.set_defaults(do=_show)
    giving.add_argument("--format", choices=("json", "env"), required=True, help="what to write")
    giving.add_argument("--name", dest="variables", metavar="PREFIX", help="what variables begin with, instead of NAME")
    giving.set_defaults(do=_export)
    kept = register(below, "context", "what was looked up while templates were made, and is kept in the context file")
    kept.add_argument("--file", help=f"the file; {CONTEXT_FILE} by default")
    kept.add_argument("--json", action="store_true", help="a JSON object a line")
    forgetting = kept.add_mutually_exclusive_group()
    forgetting.add_argument("--reset", nargs="+", metavar="NAME", help="forget these objects or values")
    forgetting.add_argument("--clear", action="store_true", help="forget everything that is strongref's")
    kept.set_defaults(do=_context)


def _where(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--via",
        choices=(CLOUDFORMATION, STRONGREF, SSM),
        default=CLOUDFORMATION,
        help="the channel; cloudformation by default",
    )
    command.add_argument("--region", action="append", help="where they are; list takes it more than once")
    command.add_argument("--account", help="whose they are, if they are another one's")
    command.add_argument("--role", help=f"the role to assume there: arn:aws:iam::{PLACEHOLDER}:role/NAME")
    command.add_argument("--consumer", help="via strongref: only what is exported to this one (_shared: to all)")
    command.add_argument("--stack", help="via cloudformation or strongref: only what this stack exports")
    command.add_argument("--prefix", help="via ssm: the prefix of the parameters, as in /shared/network")


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
    _put(lines)
    return 0


def _show(asked: argparse.Namespace, toolbox: Toolbox) -> int:
    of, held = _type(asked.type), _one(asked, toolbox)
    shown = {path: HIDDEN if isinstance(value, Secure) else value for path, value in held.values.items()}
    ctx = Collector()
    _write(replace(held, values=shown), of, ctx)
    tree: dict[str, Any] = {}
    for (*above, last), leaf in ctx.leaves.items():
        reduce(lambda at, key: at.setdefault(key, {}), above, tree)[last] = leaf.value
    _put([f"{held.name} ({held.origin})", *_lines(tree, INDENT)])
    return 0


def _export(asked: argparse.Namespace, toolbox: Toolbox) -> int:
    of, held = _type(asked.type), _one(asked, toolbox)
    if held.secure and not of:
        raise SecretPartsError(held.name, held.secure)
    if asked.format == "json":
        as_json = JsonSerializationContext()
        _write(held, of, as_json)
        _put([json.dumps(as_json.json, indent=2, ensure_ascii=False)])
        return 0
    ctx = EnvironmentSerializationContext(asked.name if asked.variables is None else asked.variables)
    _write(held, of, ctx)
    _put([f"export {name}={shlex.quote(str(value))}" for name, value in ctx.variables.items()])
    return 0


def _context(asked: argparse.Namespace, _toolbox: Toolbox) -> int:
    file = asked.file or CONTEXT_FILE
    there = list(listing(file))
    if asked.file and not Path(file).exists():
        raise ContextFileError(file, "there is no such file; it is written where a template is made")
    if asked.reset or asked.clear:
        unknown = [name for name in asked.reset or () if not any(name == str(key) or key.is_of(name) for key in there)]
        if unknown:
            close = get_close_matches(unknown[0], [key.name for key in there], 3, 0.4)
            raise NotInContextError(unknown, file, close)
        there = reset(file, asked.reset)
    if asked.json:
        _put([json.dumps(asdict(key)) for key in there])
        return 0
    ofs = [f"{INDENT}of {key.of}" if key.of else "" for key in there]
    _put(
        [
            f"{key.region}{INDENT}{key.account}{INDENT}{key.channel}{INDENT}{key.name}{of}"
            for key, of in zip(there, ofs, strict=True)
        ]
    )
    return 0


def _check(asked: argparse.Namespace) -> None:
    """Options that mean something to one channel are not given with another one.

    Raises:
        UsageError: naming the option.
    """
    for option, of in (("consumer", (STRONGREF,)), ("stack", (CLOUDFORMATION, STRONGREF)), ("prefix", (SSM,))):
        if getattr(asked, option) is not None and asked.via not in of:
            raise UsageError(f"--{option} is for --via {' or '.join(of)}; {asked.via} was chosen")
    if asked.via == SSM and asked.prefix is None:
        raise UsageError("--via ssm needs --prefix, as in --prefix /shared/network")


def _one(asked: argparse.Namespace, toolbox: Toolbox) -> Held:
    """The object that is asked for, as it is held."""
    _check(asked)
    where = regions(asked.region)
    if len(where) > 1:
        raise UsageError("--region: an object is in one region; give one")
    held = chosen(_objects(asked, toolbox, where[0]), asked.name, f"{_CHANNELS[asked.via]} in {where[0]}")
    if held.cut and not asked.type:
        cut = "name is cut and ends" if len(held.cut) == 1 else "names are cut and end"
        sys.stderr.write(f"strongref: {len(held.cut)} {cut} with a hash: --type tells the keys\n")
    return held


def _objects(asked: argparse.Namespace, toolbox: Toolbox, region: str) -> list[Held]:
    if asked.via == CLOUDFORMATION:
        account = asked.account or toolbox.accounts(region, asked.role).own
        exported = list_exports(Synthesis(toolbox=toolbox, role=asked.role), Home(account, region))
        return of_cloudformation(exported, asked.stack)
    clients = toolbox.accounts(region, asked.role).clients(asked.account)
    store = Stores(clients.ssm, toolbox.limiter)(region, toolbox.clock)
    sensitive = getattr(asked, "sensitive", False)
    if asked.via == SSM:
        try:
            prefix = Parameters(asked.prefix).prefix
        except BadChannelError as error:
            problem = error.problem
        else:
            return of_parameters(store, prefix, sensitive=sensitive)
        raise UsageError(f"--prefix: {problem}")
    exports = published(store, toolbox.clock, toolbox.ports().patience, asked.consumer, asked.stack)
    return of_strongref(exports, sensitive=sensitive)


def _write(held: Held, of: type[Declared] | None, ctx: SerializationContext) -> None:
    """Have the object written: as one of its type, or as what its names tell.

    Raises:
        UsageError: the type is somebody's own, and cannot be read or written.
        StrongRefError: as its methods.
    """
    if of is None:
        _Tree(held.tree).serialize(ctx)
        return
    try:
        with redirect_stdout(sys.stderr):  # Standard output is evaluated, whatever somebody's module prints.
            found = of.deserialize(held.read())
            if callable(getattr(found, "serialize", None)):
                found.serialize(ctx)
                return
            problem = "what it reads has no serialize"
    except StrongRefError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever a class of somebody's ends in; its text can hold values)
        problem = f"it ended in {type(error).__name__}"
    raise UsageError(f"--type: {of.__name__[:100]} cannot be used: {problem}")


def _type(name: str | None) -> type[Declared] | None:
    """A ready type, or one of a module; None if none is given.

    Raises:
        UsageError: there is none of that name.
    """
    if name is None:
        return None
    module, colon, attribute = name.rpartition(":")
    if not colon:
        known = {each.lower(): each for each in READY}
        if name.lower() in known:
            return READY[known[name.lower()]]
        close = get_close_matches(name.lower(), known, 2) or known
        raise UsageError(f"--type: {name[:60]} is no type; there are {some([known[each] for each in close], 20)}")
    sys.path.insert(0, "")  # As python -m has it: the program's own modules are those of the folder it is run in.
    try:
        with redirect_stdout(sys.stderr):  # As in `_write`.
            found = getattr(import_module(module), attribute, None)
    except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever a module of somebody's ends in)
        found, problem = None, f"{module[:100]} cannot be imported: {type(error).__name__}"
    else:
        problem = f"{name[:200]} is no class that can be read, as in package.module:Class"
    if not isinstance(found, type) or not callable(getattr(found, "deserialize", None)):
        raise UsageError(f"--type: {problem}")
    return cast("type[Declared]", found)


class _Tree:
    """An object of which no more is known than what its names tell."""

    def __init__(self, tree: Mapping[str, Any]) -> None:
        self._tree = tree

    def serialize(self, ctx: SerializationContext) -> None:
        for key, value in self._tree.items():
            if isinstance(value, dict):
                ctx.write_object(key, _Tree(value))
            elif isinstance(value, list):
                ctx.write_string_list(key, value)
            else:
                ctx.write_string(key, value)


def _lines(tree: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, dict | list):
            yield f"{indent}{key}:"
            below = f"{indent}{INDENT}"
            yield from (
                _lines(value, below) if isinstance(value, dict) else (f"{below}- {_text(item)}" for item in value)
            )
        else:
            yield f"{indent}{key}: {_text(value)}"


def _text(value: str) -> str:
    """A value on one line: quoted where it has more, or what would be a command to a terminal."""
    return value if value.isprintable() else json.dumps(value)


def _put(lines: list[str]) -> None:
    """All at once, when everything is known: what is evaluated is whole, or nothing."""
    put_out("".join(f"{line}\n" for line in lines).encode())
