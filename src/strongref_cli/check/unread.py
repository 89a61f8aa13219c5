"""Places in other accounts that are not read: what must be there, by the deployed template and the index. Pure.

Every value there counts as imported, by `222222222222 (not read)`: so what may be refused is never said to be accepted.
What is refused, or lost, for that alone is unknown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from strongref.contract.names import claim_tag, owner_tag
from strongref.contract.record import Record
from strongref.contract.requests import ExportRequest, accepted
from strongref.protocol.stored_exports import Owner, StoredExports, ValueTags
from strongref_cli.check.wanted import former_export, unread_value

if TYPE_CHECKING:
    from strongref.contract.names import StackArn
    from strongref_cli.check.comparison import Comparison
    from strongref_cli.check.stored import StoredStack


def with_unread(stack: StackArn, comparison: Comparison, stored: StoredStack) -> StoredStack:
    """What is stored, with what the deployed Exports of a stack have published where it is not read."""
    arn, scopes = str(stack), dict(stored.scopes)
    former = {each: former_export(each, comparison, stored) or {} for each in comparison.old.exports if stored.unread}
    requests = {each: accepted(ExportRequest.parse, given, stack) for each, given in former.items()}
    for (logical_id, at), found in stored.scopes.items():
        if not found.unread:
            continue
        is_named = logical_id in stored.index and at.place in stored.index[logical_id].places
        records = {
            each: Record(arn, {key: unread_value(value) for key, value in request.values.items()}, request.hold)
            for each, request in requests.items()
            if request and request.values and (request.publishes_to(*at) or (each == logical_id and is_named))
        }
        owners = {key: each for each, record in records.items() for key in record.values}
        claims = {claim_tag(found.importer): found.importer}
        tags = {key: ValueTags(Owner.OURS, arn, {owner_tag(each): each}, claims) for key, each in owners.items()}
        values = {key: records[each].values[key] for key, each in owners.items()}
        own = records.pop(logical_id, None)
        is_unclear = logical_id in requests and requests[logical_id] is None
        why = found.unread if own or is_named or is_unclear else None  # Otherwise this Export has nothing there.
        scopes[logical_id, at] = replace(
            found, exports=StoredExports(values, own, others=records), tags=tags, unread=why
        )
    return replace(stored, scopes=scopes)
