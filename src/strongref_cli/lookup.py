"""`strongref lookup`: by which primary identifier Cloud Control knows a resource, and what it says of it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from strongref.aws.cloud_control import CloudControlApi
from strongref.aws.tagging import TaggingApi
from strongref.lookup.attributes import attribute
from strongref.lookup.errors import ResourceQueryError
from strongref.lookup.finder import Finder
from strongref.lookup.query import ResourceQuery
from strongref_cli.parsing import register
from strongref_toolkit.errors import UsageError
from strongref_toolkit.toolbox import regions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from strongref_cli.parsing import Commands
    from strongref_toolkit.toolbox import Toolbox


def add(commands: Commands) -> None:
    """The command."""
    command = register(commands, "lookup", "the primary identifier of a resource, or its attributes")
    command.add_argument("type", metavar="TYPE", help="its type, as in AWS::S3::Bucket")
    command.add_argument("physical_id", metavar="PHYSICAL_ID", nargs="?", help="as CloudFormation knows it")
    command.add_argument("--arn", help="its ARN, instead of the physical id")
    command.add_argument("--name", help="what its service calls it, instead")
    command.add_argument("--tag", action="append", metavar="KEY=VALUE", help="a tag that it has, instead; repeatable")
    command.add_argument("--property", action="append", metavar="NAME=VALUE", help="what else is known; repeatable")
    command.add_argument("--attribute", action="append", metavar="NAME", help="print it; dots lead inside; repeatable")
    command.add_argument("--region", help="where it is")
    command.add_argument("--account", help="whose it is, if it is another one's")
    command.add_argument("--role", help="the ARN of the role to assume there")
    command.add_argument("--json", action="store_true", help="one JSON object")
    command.set_defaults(do=_look_up)


def _look_up(asked: argparse.Namespace, toolbox: Toolbox) -> int:
    (region,) = regions([asked.region] if asked.region else None)
    accounts = toolbox.accounts(region, asked.role)
    account = asked.account or (accounts.own if asked.arn else None)
    wanted = ResourceQuery(
        asked.type,
        physical_id=asked.physical_id,
        arn=asked.arn,
        name=asked.name,
        tags=_pairs("--tag", asked.tag),
        properties=_pairs("--property", asked.property),
        account=account,
    )
    clients = accounts.clients(asked.account)
    finder = Finder(
        CloudControlApi(clients.cloudcontrol, region, toolbox.limiter, toolbox.clock),
        TaggingApi(clients.tagging, region, toolbox.limiter, toolbox.clock),
    )
    try:
        lines = list(_lines(finder, wanted, asked))
    except ResourceQueryError as error:
        raise UsageError(str(error)) from None
    for line in lines:
        sys.stdout.write(f"{line}\n")
    return 0


def _lines(finder: Finder, wanted: ResourceQuery, asked: argparse.Namespace) -> Iterator[str]:
    if not asked.attribute:
        identifier = finder.identifier(wanted)
        yield json.dumps({"type": wanted.type_name, "identifier": identifier}) if asked.json else identifier
        return
    found = finder.find(wanted)
    values = {name: attribute(found, name) for name in asked.attribute}
    if asked.json:
        yield json.dumps({"type": wanted.type_name, "identifier": found.identifier, "attributes": values})
        return
    for value in values.values():
        yield value if isinstance(value, str) else json.dumps(value)


def _pairs(option: str, given: list[str] | None) -> dict[str, str]:
    pairs = [text.partition("=") for text in given or ()]
    for name, equals, _ in pairs:
        if not name or not equals:
            raise UsageError(f"{option}: a name and a value with = between them are needed")
    names = [name for name, _, _ in pairs]
    if len(set(names)) < len(names):
        raise UsageError(f"{option}: a name came twice")
    return {name: value for name, _, value in pairs}
