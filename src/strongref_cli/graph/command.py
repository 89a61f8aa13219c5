"""`strongref graph` and `order`: all stacks and their references, and in which order they can be deployed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strongref.text import some
from strongref_cli.graph.formats.diagrams import as_dot, as_mermaid
from strongref_cli.graph.formats.page import as_page
from strongref_cli.overview.exports import graph_of
from strongref_cli.overview.graph import Cycle, Graph, Order, Participant, delete_order, deploy_order
from strongref_cli.overview.region_reading import reading, status, where_read
from strongref_cli.overview.texts import as_of_text, participant_document, participant_text, unread_document
from strongref_cli.terminal.output import Result, TextTable, put_out, show
from strongref_toolkit.errors import UsageError, WriteFailedError, os_problem
from strongref_toolkit.json_values import document_text
from strongref_toolkit.session import ToolSession, chosen_regions

if TYPE_CHECKING:
    import argparse


def graph_as_json(graph: Graph) -> str:
    references = [
        {
            **({"account": each.account} if each.account else {}),
            "region": each.region,
            "keys": each.keys,
            "outdated": each.outdated,
            "protection": each.protection,
            "producer": participant_document(each.producer),
            "importer": participant_document(each.importer),
        }
        for each in graph.references
    ]
    unread = unread_document(graph.unread)
    document = {"participants": _listed(graph.participants), "references": references, "unread": unread}
    return document_text(document, graph.as_of)


def order_document(order: Order, graph: Graph) -> dict[str, Any]:
    return {
        "waves": list(map(_listed, order.waves)),
        "cycles": [{"participants": _listed(each.participants), "chain": _listed(each.chain)} for each in order.cycles],
        "unread": unread_document(graph.unread),
    }


def _listed(participants: Iterable[Participant]) -> list[dict[str, Any]]:
    return list(map(participant_document, participants))


_FORMATS = {"html": as_page, "mermaid": as_mermaid, "dot": as_dot, "json": graph_as_json}
_SUFFIXES = {".html": "html", ".htm": "html", ".mmd": "mermaid", ".dot": "dot", ".gv": "dot", ".json": "json"}


def show_graph(args: argparse.Namespace, session: ToolSession) -> int:
    suffix = Path(args.out).suffix.lower() if args.out else ""
    output = args.output or _SUFFIXES.get(suffix, "" if args.out else "mermaid")
    if not output:
        raise UsageError(f"--out {args.out} does not end in {', '.join(_SUFFIXES)}: give --output")
    graph = _read(args, session)
    text = _FORMATS[output](graph).encode()
    if not args.out:
        put_out(text)
        return status(graph.unread)
    try:
        Path(args.out).write_bytes(text)
    except OSError as error:
        raise WriteFailedError(args.out, os_problem(error), 0) from None
    return status(graph.unread)


def show_order(args: argparse.Namespace, session: ToolSession) -> int:
    """Exit with 1 if stacks import from each other in a circle."""
    if args.format and (args.delete or args.output != "table"):
        raise UsageError("--format sh prints what to deploy: leave --delete and --output out")
    graph = _read(args, session)
    order = delete_order(graph) if args.delete else deploy_order(graph)
    if args.format:
        put_out(as_script(order, graph, session.aws().accounts.own).encode())
    else:
        table = _order_table(order, graph, "deleted" if args.delete else "deployed")
        show(Result([table], order_document(order, graph)), args)
    return status(graph.unread, int(bool(order.cycles)))


def _read(args: argparse.Namespace, session: ToolSession) -> Graph:
    regions = chosen_regions(session, args.region, everywhere=args.all_regions)
    with reading(session, "Reading references", args.role) as reader:
        values, places = reader.exports(reader.reachable(regions))
    return graph_of(values, args.as_of, reader.unread, places)


def _order_table(order: Order, graph: Graph, done: str) -> TextTable:
    rows = [(str(number), participant_text(each)) for number, wave in enumerate(order.waves, start=1) for each in wave]
    notes = [f"Stacks of a wave can be {done} side by side. {as_of_text(graph.as_of)}"]
    if any(each.kind == "consumer" for each in graph.participants):
        notes.append("Consumers in other accounts were not read: only --role shows who imports there.")
    way_out = f"None of these can be {done} first: remove one of the imports."
    notes += [f"Cycle: {_chain(cycle)}. {way_out}" for cycle in order.cycles]
    if not rows:
        notes = [f"Nothing is exported or imported{where_read(graph.unread)}."]
    return TextTable(("WAVE", "STACK"), rows, notes=notes)


def _chain(cycle: Cycle) -> str:
    return " -> ".join(map(participant_text, cycle.chain))


def as_script(order: Order, graph: Graph, account: str) -> str:
    """Commands that deploy the outdated importers, in their order. The files are guesses: their owners have them."""
    return "".join(f"{line}\n" for line in _script_lines(order, graph, account))


def _script_lines(order: Order, graph: Graph, account: str) -> Iterator[str]:
    late: dict[Participant, set[str]] = {}
    for each in graph.references:
        late.setdefault(each.importer, set()).update(each.outdated)
    yield "set -e\n# Change the Revision of each Import before you deploy its stack."
    for cycle in order.cycles:
        yield f"# Cycle: {_chain(cycle)}"
    for number, wave in enumerate(order.waves, start=1):
        for who in (each for each in wave if late.get(each)):
            yield f"\n# Wave {number}: {participant_text(who)} has an earlier {some(sorted(late[who]), 5)}"
            if who.kind == "stack":
                name, file = shlex.quote(who.name), shlex.quote(f"{who.name}.yaml")
                # Here, the command for another account would deploy a stack of the same name.
                deploy = "aws" if who.account == account else f"# In account {who.account}: aws"
                yield f"{deploy} cloudformation deploy --region {who.region} --stack-name {name} --template-file {file}"
            else:
                yield "# Resolve and apply its manifests again, with the same --claim."
