"""The command `strongref`: see what is exported and who imports it, bring back what is gone.

All printing is done here. It works with the caller's own credentials, in one account.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import sys
from functools import partial
from typing import TYPE_CHECKING

from strongref import __version__
from strongref.clock import SystemClock
from strongref.errors import StrongRefError, some, stack_text
from strongref.healing import look, places, republish
from strongref.limiter import Limiter, Rates
from strongref.patience import Patience
from strongref.ports import Ports
from strongref.stacks import CloudFormationStacks
from strongref.store import Clients, Stores

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strongref.address import Place
    from strongref.healing import Export
    from strongref.ports import Clock, Store

PATIENCE = 60.0
PAUSE = 2.0
AN_HOUR = 3600.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit status."""
    asked = _parser().parse_args(arguments)
    regions = _regions(asked)
    if not regions:
        sys.stderr.write("strongref: no region: give --region, or set AWS_REGION\n")
        return 2
    clients, limiter, clock = Clients(), Limiter(Rates.from_environment()), SystemClock(AN_HOUR)
    ports = Ports(
        stores=Stores(clients.ssm, limiter),
        stacks=CloudFormationStacks(clients.cloudformation, limiter, clock, account=""),
        patience=Patience(PATIENCE, PAUSE, random.random),
        token=partial(secrets.token_hex, 4),
    )
    try:
        for region in regions:
            store = ports.stores(region, clock)
            chosen = [place for place in places(store, asked.consumer) if asked.stack in (None, place.producer.stack)]
            for line in asked.do(asked, ports, store, clock, chosen):
                sys.stdout.write(f"{line}\n")
    except StrongRefError as error:
        sys.stderr.write(f"strongref: {error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="strongref", description=__doc__.partition("\n")[0])
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--region", action="append", help="where the values are; may be given more than once")
    common.add_argument("--consumer", help="only what is published for this consumer (_shared: for all)")
    common.add_argument("--stack", help="only what this stack publishes")
    listing = commands.add_parser("ls", parents=[common], help="what is exported, and who imports it; never the values")
    listing.add_argument("--json", action="store_true", help="a JSON object a line")
    listing.set_defaults(do=_list)
    bringing = commands.add_parser("republish", parents=[common], help="put back values that are gone")
    bringing.set_defaults(do=_republish)
    return parser


def _regions(asked: argparse.Namespace) -> list[str]:
    here = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return asked.region or ([here] if here else [])


def _list(asked: argparse.Namespace, _ports: Ports, store: Store, _clock: Clock, chosen: list[Place]) -> Iterator[str]:
    for place in chosen:
        exports = look(store, place)
        if asked.json:
            yield from (_as_json(store.region, export) for export in exports)
            continue
        yield f"{store.region}  {place.consumer}  from {place.producer}"
        for export in exports:
            importers = some([stack_text(arn) for arn in export.importers], 5)
            yield f"    {export.key}  {export.state}{f', imported by {importers}' if importers else ''}"


def _as_json(region: str, export: Export) -> str:
    producer = export.place.producer
    return json.dumps(
        {
            "region": region,
            "consumer": export.place.consumer,
            "producer": {"account": producer.account, "region": producer.region, "stack": producer.stack},
            "key": export.key,
            "state": export.state.value,
            "importers": list(export.importers),
        }
    )


def _republish(
    _asked: argparse.Namespace, ports: Ports, store: Store, clock: Clock, chosen: list[Place]
) -> Iterator[str]:
    for place in chosen:
        for key in republish(ports, store, clock, place):
            yield f"{store.region}  {place.value(key)} is back"
