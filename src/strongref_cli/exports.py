"""`strongref ls` and `strongref republish`: list exports and their importers, and restore deleted values."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from strongref.text import some, stack_text
from strongref_toolkit.inventory import export_scopes, exports_in, republish
from strongref_toolkit.session import regions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from strongref.contract.names import ExportScope
    from strongref.protocol.ports import Ports, Store
    from strongref_toolkit.inventory import ExportStatus
    from strongref_toolkit.session import ToolSession


def list_exports(args: argparse.Namespace, session: ToolSession) -> int:
    for store, scope in _scopes(args, session, session.ports()):
        exports = exports_in(store, scope)
        if args.json:
            for export in exports:
                sys.stdout.write(f"{_as_json(store.region, export)}\n")
            continue
        sys.stdout.write(f"{store.region}  {scope.consumer}  from {scope.producer}\n")
        for export in exports:
            importers = some([stack_text(arn) for arn in export.importers], 5)
            imported = f", imported by {importers}" if importers else ""
            sys.stdout.write(f"    {export.key}  {export.state}{imported}\n")
    return 0


def republish_exports(args: argparse.Namespace, session: ToolSession) -> int:
    ports = session.ports()
    for store, scope in _scopes(args, session, ports):
        for key in republish(ports, store, session.clock, scope):
            sys.stdout.write(f"{store.region}  {scope.value(key)} is restored\n")
    return 0


def _scopes(args: argparse.Namespace, session: ToolSession, ports: Ports) -> Iterator[tuple[Store, ExportScope]]:
    """The scopes that the arguments select, each with the store that it is in."""
    for region in regions(args.region):
        store = ports.stores(region, session.clock)
        for scope in export_scopes(store, args.consumer, args.stack):
            yield store, scope


def _as_json(region: str, export: ExportStatus) -> str:
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
