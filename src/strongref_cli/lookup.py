"""`strongref lookup`: a resource's primary identifier in Cloud Control, and its attributes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from strongref.arns import Arn
from strongref.aws.cloud_control import CloudControlApi, TaggingApi
from strongref.lookup.arn_formats import types_of
from strongref.lookup.attributes import attribute
from strongref.lookup.errors import ResourceQueryError, UnknownTypeError
from strongref.lookup.query import ResourceQuery
from strongref.lookup.resource_types import SEPARATOR
from strongref.lookup.search import Finder
from strongref.text import some
from strongref.untyped import AnyJson
from strongref_cli.terminal.options import pairs
from strongref_cli.terminal.output import Result, TextTable, progress, put_out, show
from strongref_toolkit.errors import UsageError
from strongref_toolkit.session import ToolSession, check_regions, one_region

if TYPE_CHECKING:
    import argparse


def look_up(args: argparse.Namespace, session: ToolSession) -> int:
    named = Arn.parse(args.arn or "")
    if named and named.region:
        check_regions([named.region])
    region = one_region(args.region or (named.region if named else None))
    type_name = args.type or _type_of(named)
    accounts = session.accounts(region, args.role)
    properties = pairs("--property", args.property)
    if empty := [name for name, value in properties.items() if not value]:
        raise UsageError(f"--property {empty[0]} must not be empty")
    given = (args.physical_id or "", args.arn or "", *properties.values())  # each may have several parts
    arns = any(arn.has_account_id for text in given for arn in map(Arn.parse, text.split(SEPARATOR)) if arn)
    query = ResourceQuery(
        type_name,
        physical_id=args.physical_id,
        arn=args.arn,
        name=args.name,
        tags=pairs("--tag", args.tag),
        properties=properties,
        account=args.account or (accounts.own if arns else None),
    )
    clients = accounts.clients(args.account)
    finder = Finder(
        CloudControlApi(clients.cloudcontrol, region, session.limiter, session.clock),
        TaggingApi(clients.tagging, region, session.limiter, session.clock),
    )
    try:
        with progress(f"Looking up {type_name}"):
            identifier, attributes = _found(finder, query, args.attribute)
    except (ResourceQueryError, UnknownTypeError) as error:
        raise UsageError(str(error)) from None
    if args.output == "table":
        lines = map(_text, attributes.values()) if attributes else (identifier,)
        put_out("".join(f"{line}\n" for line in lines).encode())
        return 0
    tables = [TextTable(("TYPE", "IDENTIFIER"), [(query.type_name, identifier)])]
    if attributes:
        tables.append(TextTable(("ATTRIBUTE", "VALUE"), [(name, _text(value)) for name, value in attributes.items()]))
    document = {"type": query.type_name, "identifier": identifier, "attributes": attributes}
    show(Result(tables, document), args)
    return 0


def _type_of(arn: Arn | None) -> str:
    """The only type that an ARN can be of."""
    found = types_of(arn) if arn else []
    if len(found) == 1:
        return found[0]
    which = f"the ARN can be of {some(found)}" if found else "for example AWS::S3::Bucket; only some ARNs show it"
    raise UsageError(f"give the resource type: {which}")


def _found(finder: Finder, query: ResourceQuery, names: list[str]) -> tuple[str, dict[str, Any]]:
    """The resource's identifier, and the attributes of these names. Without names, it may not have to be read."""
    if not names:
        return finder.identifier(query), {}
    found = finder.find(query)
    return found.identifier, {name: attribute(found, name) for name in names}


def _text(value: AnyJson) -> str:
    return value if isinstance(value, str) else json.dumps(value)
