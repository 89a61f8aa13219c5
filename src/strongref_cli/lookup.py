"""`strongref lookup`: a resource's primary identifier in Cloud Control, and its attributes."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from strongref.arns import Arn
from strongref.aws.cloud_control import CloudControlApi
from strongref.aws.tagging import TaggingApi
from strongref.lookup.attributes import attribute
from strongref.lookup.errors import ResourceQueryError
from strongref.lookup.finder import Finder
from strongref.lookup.query import ResourceQuery
from strongref.lookup.resource_types import SEPARATOR
from strongref_toolkit.errors import UsageError
from strongref_toolkit.session import regions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from strongref_toolkit.session import ToolSession


def look_up(args: argparse.Namespace, session: ToolSession) -> int:
    (region,) = regions([args.region] if args.region else None)
    accounts = session.accounts(region, args.role)
    properties = _pairs("--property", args.property)
    if empty := [name for name, value in properties.items() if not value]:
        raise UsageError(f"--property {empty[0]} must not be empty")
    arns = any(map(_names_account, (args.physical_id or "", args.arn or "", *properties.values())))
    query = ResourceQuery(
        args.type,
        physical_id=args.physical_id,
        arn=args.arn,
        name=args.name,
        tags=_pairs("--tag", args.tag),
        properties=properties,
        account=args.account or (accounts.own if arns else None),
    )
    clients = accounts.clients(args.account)
    finder = Finder(
        CloudControlApi(clients.cloudcontrol, region, session.limiter, session.clock),
        TaggingApi(clients.tagging, region, session.limiter, session.clock),
    )
    try:
        lines = list(_lines(finder, query, args))
    except ResourceQueryError as error:
        raise UsageError(str(error)) from None
    for line in lines:
        sys.stdout.write(f"{line}\n")
    return 0


def _lines(finder: Finder, query: ResourceQuery, args: argparse.Namespace) -> Iterator[str]:
    if not args.attribute:
        identifier = finder.identifier(query)
        yield json.dumps({"type": query.type_name, "identifier": identifier}) if args.json else identifier
        return
    found = finder.find(query)
    values = {name: attribute(found, name) for name in args.attribute}
    if args.json:
        yield json.dumps({"type": query.type_name, "identifier": found.identifier, "attributes": values})
        return
    for value in values.values():
        yield value if isinstance(value, str) else json.dumps(value)


def _names_account(text: str) -> bool:
    """Whether a text, or a part of a composite identifier, is the ARN of a resource in a certain account."""
    return any(arn.has_account_id for arn in map(Arn.parse, text.split(SEPARATOR)) if arn)


def _pairs(option: str, given: list[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(f"{option} must be a name and a value with = between them")
        if name in pairs:
            raise UsageError(f"{option}: a name is given twice")
        pairs[name] = value
    return pairs
