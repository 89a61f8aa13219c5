"""`strongref ls` and `strongref republish`: what is exported, who imports it, and what is gone put back."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from strongref.text import some, stack_text
from strongref_cli.parsing import register
from strongref_toolkit.inventory import look, republish, scopes
from strongref_toolkit.toolbox import regions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref.contract.names import ExportScope
    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock
    from strongref_cli.parsing import Commands
    from strongref_toolkit.inventory import Export
    from strongref_toolkit.toolbox import Toolbox


def add(commands: Commands) -> None:
    """The two commands."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--region", action="append", help="where the values are; may be given more than once")
    common.add_argument("--consumer", help="only what is published for this consumer (_shared: for all)")
    common.add_argument("--stack", help="only what this stack publishes")
    listing = register(commands, "ls", "what is exported, and who imports it; never the values", parents=[common])
    listing.add_argument("--json", action="store_true", help="a JSON object a line")
    listing.set_defaults(do=_each_region, of_place=_list)
    bringing = register(commands, "republish", "put back values that are gone", parents=[common])
    bringing.set_defaults(do=_each_region, of_place=_republish)


def _each_region(asked: argparse.Namespace, toolbox: Toolbox) -> int:
    ports, clock = toolbox.ports(), toolbox.clock
    for region in regions(asked.region):
        store = ports.stores(region, clock)
        for scope in scopes(store, asked.consumer):
            if asked.stack in (None, scope.producer.stack):
                for line in asked.of_place(asked, ports, store, clock, scope):
                    sys.stdout.write(f"{line}\n")
    return 0


def _list(asked: argparse.Namespace, _ports: Ports, store: Store, _clock: Clock, scope: ExportScope) -> Iterator[str]:
    exports = look(store, scope)
    if asked.json:
        yield from (_as_json(store.region, export) for export in exports)
        return
    yield f"{store.region}  {scope.consumer}  from {scope.producer}"
    for export in exports:
        importers = some([stack_text(arn) for arn in export.importers], 5)
        yield f"    {export.key}  {export.state}{f', imported by {importers}' if importers else ''}"


def _as_json(region: str, export: Export) -> str:
    producer = export.scope.producer
    return json.dumps(
        {
            "region": region,
            "consumer": export.scope.consumer,
            "producer": {"account": producer.account, "region": producer.region, "stack": producer.stack},
            "key": export.key,
            "state": export.state.value,
            "importers": list(export.importers),
        }
    )


def _republish(
    _asked: argparse.Namespace, ports: Ports, store: Store, clock: Clock, scope: ExportScope
) -> Iterator[str]:
    for key in republish(ports, store, clock, scope):
        yield f"{store.region}  {scope.value(key)} is back"
