"""What the pure rules of `strongref check` take: versions of a stack, and what is stored about its exports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from strongref.contract.hold_stacks import HoldParameter
from strongref.contract.index import IndexEntry
from strongref.contract.names import ExportScope, Key, Producer, Site, StackArn
from strongref.contract.record import Record
from strongref.contract.requests import EXPORT_TYPE, EXPORTER
from strongref.protocol.stored_exports import StoredExports
from strongref_cli.check.command import as_json
from strongref_cli.check.comparison import Comparison
from strongref_cli.check.prediction import predict
from strongref_cli.check.stored import Location, StoredScope, StoredStack
from strongref_cli.check.version import NOTHING, StackVersion, pseudo_parameters
from tests.support.builders import ACCOUNT, NETWORK, ours
from tests.support.graphs import AS_OF
from tests.support.schemas import validate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref.contract.values import Value
    from strongref_cli.check.report import StackReport
    from strongref_cli.check.unknown import Evaluated
    from strongref_cli.check.updates import ResourceChange

EU, US = "eu-west-1", "us-east-1"
STACK = StackArn.parse(NETWORK)

Template = dict[str, Any]


def bucket(name: object = None, **more: Any) -> Template:
    return {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": name} if name else {}, **more}


def exporting(values: object, **properties: Any) -> Template:
    """An Export for the consumer `web` in the other region, unless the properties say something else."""
    given = {"ServiceToken": EXPORTER, "Region": US, "Consumer": "web", "Values": values, **properties}
    return {"Type": EXPORT_TYPE, "Properties": given}


def template(outputs: Template | None = None, conditions: Template | None = None, **resources: Template) -> Template:
    return {"Resources": resources, "Outputs": outputs or {}, "Conditions": conditions or {}}


def hold_output(export: str = "Exports", name: str = "network-Exports") -> Template:
    return {"Hold": {"Value": {"Fn::GetAtt": [export, "Hold"]}, "Export": {"Name": name}}}


def version(given: Template, **names: Evaluated) -> StackVersion:
    """A version of the stack `network` in eu-west-1, with these values of its parameters."""
    return StackVersion.of(given, {**pseudo_parameters(STACK, exists=True), **names})


def at(region: str = US, consumer: str = "web", account: str = "") -> Location:
    return Location(Site(region, account), ExportScope(consumer, Producer(ACCOUNT, EU, "network")))


def stored(  # noqa: PLR0913 (what may be stored)
    values: Mapping[Key, Value],
    claims: Mapping[str, tuple[str, ...]] | None = None,
    *,
    export: str = "Exports",
    places: tuple[Location, ...] = (),
    hold: str = "",
    others: Mapping[str, Record] | None = None,
    holds: tuple[HoldParameter, ...] = (),
) -> StoredStack:
    """What an Export has published: its values, and by key the stacks that claim them."""
    places = places or (at(),)
    record = Record(NETWORK, values, hold)
    tags = {key: ours(by=(claims or {}).get(key, ()), owners=()) for key in values}
    scope = StoredScope(StoredExports(values, record, others=others or {}), tags)
    index = IndexEntry(NETWORK, frozenset(each.place for each in places), hold)
    return StoredStack({export: index}, {(export, each): scope for each in places}, {hold: holds} if hold else {})


def held_by(stack: str, region: str = US, account: str = ACCOUNT) -> HoldParameter:
    return HoldParameter("network-Exports", account, region, stack, "0123456789abcdef")


def update(
    old: Template | None, new: Template, found: StoredStack, changes: Mapping[str, ResourceChange] | None = None
) -> StackReport:
    """What an update from one template to another would do. The JSON of the report follows its schema."""
    report = predict(STACK, Comparison(version(old) if old else NOTHING, version(new), changes), found)
    validate("check", json.loads(as_json([report], AS_OF)))
    return report
