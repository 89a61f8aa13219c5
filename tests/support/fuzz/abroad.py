"""What the janitor of places in other accounts is for: nothing that is imported there can be deleted here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.contract.names import StackArn
from strongref.contract.record import Record
from strongref.protocol.ports import is_at_rest
from tests.support.builders import ACCOUNT
from tests.support.fuzz.watched_cloud import site_of
from tests.support.invariants import records, stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.fuzz.watched_cloud import WatchedCloud


def unheld(cloud: WatchedCloud) -> Iterator[str]:
    """What is imported in other accounts, and not held; to be asked when the janitor has just run, undisturbed.

    That is where a record of an Export at rest names a CloudFormation export that exists.
    """
    said = records(stored(cloud.regions))
    for (arn, _), values in cloud.imported.items():
        stack = StackArn.parse(arn)
        if stack.account == ACCOUNT or not cloud.existing(arn) or not cloud.trusting[stack.account]:
            continue
        for logical_id, record in said.get((site_of(arn), values.scope.path("records")), {}).items():
            if not isinstance(record, Record) or record.values.keys().isdisjoint(values.references):
                continue
            producer = cloud.existing(record.stack)
            if not (producer and is_at_rest(producer.status) and record.hold in producer.exports):
                continue
            if not cloud.importers(record.hold, producer.region):
                yield f"{logical_id} of {producer.name} is imported by {stack.name}, and nothing holds {record.hold}"
