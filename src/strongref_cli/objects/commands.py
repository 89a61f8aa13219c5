"""`strongref objects`: the objects of an account and region, and one of them, for people and for scripts."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strongref.contract.names import SHARED
from strongref.text import some
from strongref_cli.objects.types import INDENT, printable_tree, resolve_type, write_object
from strongref_cli.overview.errors import no_such_filter
from strongref_cli.overview.graph import Unread
from strongref_cli.overview.region_reading import name_unread, status
from strongref_cli.overview.texts import unread_document
from strongref_cli.terminal.output import Result, TextTable, count, progress, put_out, show
from strongref_objects.base.errors import BadChannelError, ContextFileError, NotInContextError, SecretPartsError
from strongref_objects.base.values import Collector
from strongref_objects.channels import Parameters
from strongref_objects.channels.cloudformation import StackExport, list_exports
from strongref_objects.channels.texts import EnvironmentSerializationContext, JsonSerializationContext
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
from strongref_toolkit.errors import UsageError
from strongref_toolkit.messages import tell
from strongref_toolkit.published_exports import export_scopes
from strongref_toolkit.session import ToolSession, chosen_regions, one_region
from strongref_toolkit.threads import in_regions

if TYPE_CHECKING:
    import argparse

    from strongref.protocol.ports import Store

CLOUDFORMATION, STRONGREF, SSM = "cloudformation", "strongref", "ssm"
HIDDEN = "(a SecureString: --sensitive shows it)"

_CHANNELS = {
    CLOUDFORMATION: "CloudFormation's exports",
    STRONGREF: "strongref's exports",
    SSM: "the parameters below that prefix",
}


def list_objects(asked: argparse.Namespace, session: ToolSession) -> int:
    _check(asked)
    chosen = chosen_regions(session, asked.region, everywhere=asked.all_regions)
    with progress("Reading objects") as step:

        def read(region: str) -> list[StoredObject]:
            step(region)
            return _objects(asked, session, region)

        objects, failed = in_regions(chosen, read)
    if not objects:
        raise failed[chosen[0]]
    unread = [Unread(region, str(error)) for region, error in failed.items()]
    name_unread(unread)
    regions = list(objects)
    found = [(region, each) for region, of in objects.items() for each in of]
    if not found:
        _check_names(asked, session, regions)
    document = {
        "via": asked.via,
        "regions": regions,
        "objects": [_object_document(*each, asked.via) for each in found],
        "unread": unread_document(unread),
    }
    show(Result(_object_tables(found, regions), document), asked)
    return status(unread)


def _object_tables(found: Sequence[tuple[str, StoredObject]], regions: Sequence[str]) -> Iterator[TextTable]:
    rows: list[Sequence[str]] = []
    for region, each in found:
        first, *more = each.keys
        rows += [(region, each.name, first, each.origin), *(("", "", key, "") for key in more)]
    objects = count(len(found), "object") if found else "No objects"
    yield TextTable(("REGION", "OBJECT", "KEY", "FROM"), rows, notes=[f"{objects} in {some(regions, 5)}."])


def _check_names(asked: argparse.Namespace, session: ToolSession, regions: Sequence[str]) -> None:
    """Raises `NoSuchNameError` if nothing in these regions is of the stack or for the consumer that was asked for."""
    if asked.stack is None and asked.consumer is None:
        return
    exported = {each for region in regions for each in _exporters(asked, session, region)}
    for at, option in enumerate(("stack", "consumer")):
        wanted, known = getattr(asked, option), {each[at] for each in exported}
        if wanted is not None and wanted not in known:
            raise no_such_filter(f"--{option}", wanted, regions, sorted(known))


def _exporters(asked: argparse.Namespace, session: ToolSession, region: str) -> Iterator[tuple[str, str]]:
    """The stack and the consumer of everything that is exported in a region; CloudFormation's have no consumer."""
    if asked.via == CLOUDFORMATION:
        yield from ((each.stack, "") for each in _exports(asked, session, region).values())
    else:
        scopes = export_scopes(_store(asked, session, region), None)
        yield from ((each.producer.stack, each.consumer) for each in scopes)


def _object_document(region: str, stored: StoredObject, via: str) -> dict[str, Any]:
    return {
        "region": region,
        "name": stored.name,
        "stacks": list(stored.stacks),
        "consumer": stored.consumer or (SHARED if via == STRONGREF else None),
        "from": stored.origin,
        "keys": stored.keys,
    }


def show_object(asked: argparse.Namespace, session: ToolSession) -> int:
    of, stored = resolve_type(asked.type), _chosen(asked, session)
    shown = {path: HIDDEN if isinstance(value, Secure) else value for path, value in stored.values.items()}
    ctx = Collector()
    write_object(replace(stored, values=shown), of, ctx)
    tree: dict[str, Any] = {}
    for (*above, last), leaf in ctx.leaves.items():
        reduce(lambda at, key: at.setdefault(key, {}), above, tree)[last] = leaf.value
    _print([f"{stored.name} ({stored.origin})", *printable_tree(tree, INDENT)])
    return 0


def export_object(asked: argparse.Namespace, session: ToolSession) -> int:
    of, stored = resolve_type(asked.type), _chosen(asked, session)
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


def show_context(asked: argparse.Namespace) -> int:
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
    removed = bool(asked.reset or asked.clear)
    rows = [(key.region, key.account, key.channel, key.name, key.of) for key in keys]
    notes = [f"{count(len(keys), 'value', 'removed from' if removed else 'in')} {file}."]
    names = ("region", "account", "channel", "name")
    values = [{name: getattr(key, name) for name in names} | {"of": key.of or None} for key in keys]
    document = {"file": file, "removed": removed, "values": values}
    show(Result([TextTable(("REGION", "ACCOUNT", "CHANNEL", "NAME", "OF"), rows, notes=notes)], document), asked)
    return 0


def _check(asked: argparse.Namespace) -> None:
    """Raises `UsageError` if an option does not apply to the channel."""
    for option, of in (("consumer", (STRONGREF,)), ("stack", (CLOUDFORMATION, STRONGREF)), ("prefix", (SSM,))):
        if getattr(asked, option) is not None and asked.via not in of:
            raise UsageError(f"--{option} is only for --via {' or '.join(of)}, got --via {asked.via}")
    if asked.via == SSM and asked.prefix is None:
        raise UsageError("--via ssm needs --prefix, as in --prefix /shared/network")


def _chosen(asked: argparse.Namespace, session: ToolSession) -> StoredObject:
    _check(asked)
    region = one_region(asked.region)
    with progress("Reading objects"):
        objects = _objects(asked, session, region)
    if not objects:
        _check_names(asked, session, [region])
    stored = choose(objects, asked.name, f"{_CHANNELS[asked.via]} in {region}")
    if stored.cut and not asked.type:
        cut = count(len(stored.cut), "name", "is cut and ends" if len(stored.cut) == 1 else "are cut and end")
        tell("note", f"{cut} with a hash: use --type to restore the keys")
    return stored


def _objects(asked: argparse.Namespace, session: ToolSession, region: str) -> list[StoredObject]:
    if asked.via == CLOUDFORMATION:
        return objects_of_cloudformation(_exports(asked, session, region), asked.stack)
    store = _store(asked, session, region)
    sensitive = getattr(asked, "sensitive", False)
    if asked.via == SSM:
        try:
            prefix = Parameters(asked.prefix).prefix
        except BadChannelError as error:
            raise UsageError(f"--prefix: {error.problem}") from None
        return objects_of_parameters(store, prefix, sensitive=sensitive)
    exports = strongref_exports(store, session.clock, session.ports().patience, asked.consumer, asked.stack)
    return objects_of_strongref(exports, sensitive=sensitive)


def _exports(asked: argparse.Namespace, session: ToolSession, region: str) -> dict[str, StackExport]:
    account = asked.account or session.accounts(region, asked.role).own
    return list_exports(Synthesis(toolbox=session, role=asked.role), Home(account, region))


def _store(asked: argparse.Namespace, session: ToolSession, region: str) -> Store:
    aws = session.aws(region, asked.role)
    return aws.store(aws.where(region, asked.account))


def _print(lines: list[str]) -> None:
    """Print everything in one step, so that a shell evaluates all of it or nothing."""
    put_out("".join(f"{line}\n" for line in lines).encode())
