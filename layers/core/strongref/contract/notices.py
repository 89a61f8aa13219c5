"""Notices: what the people concerned learn through events on an EventBridge bus. Pure, and never with a value.

A notice is not an event of `contract.event`, which CloudFormation sends. docs/events.md shows each type, and
docs/schemas/events.schema.json describes its detail.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from strongref.contract.names import ExportScope, Key, Producer, Site
from strongref.text import REASON_LIMIT, attribute_name, brief, claimant, cut, some, stack_text

if TYPE_CHECKING:
    from strongref.contract.event import Event

SOURCE = "strongref"
"""The source of the events."""

DETAIL_LIMIT = 100_000
"""Bytes of a detail. EventBridge, and the queues and topics behind it, take 256 KB (AWS: PutEvents entry size)."""

LIST_LIMIT = 500
"""Items of a list."""


class NoticeType(StrEnum):
    """What happened: the detail type of the event."""

    CHANGE_REFUSED = "Change Refused"
    """An Export would have changed or dropped imported values."""
    VALUES_PROPAGATED = "Values Propagated"
    """An Export changed imported values. The importers must be deployed again."""
    VALUES_KEPT = "Values Kept"
    """An Export withdrew imported values. They stay until their last claim is released."""
    PLACE_PASSED_OVER = "Place Passed Over"
    """A rollback or a deletion left a region or an account as it is, because it cannot be reached."""
    REPAIRS_MADE = "Repairs Made"
    """The janitor repaired something."""
    FINDINGS_REPORTED = "Findings Reported"
    """The janitor found something that needs a person."""
    CLAIM_RELEASED = "Claim Released"
    """A person removed claims."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What one event says."""

    type: NoticeType
    detail: Mapping[str, object]  # JSON
    resources: tuple[str, ...] = ()  # the ARNs of the stacks that it is about

    @property
    def body(self) -> str:
        return _encoded(self.detail)


class ImportedValue(NamedTuple):
    """A value that is imported: where it is, and who imports it. Never the value itself."""

    site: Site
    scope: ExportScope
    key: Key
    importers: tuple[str, ...]  # the ARNs of stacks, or the IDs of manifest sets, as claims have them
    change: str = ""  # what it may not be: `changed`, `dropped`


class Observation(NamedTuple):
    """A finding of the janitor."""

    finding: str  # its kind, as in `stale-claim`
    parameter: str  # the parameter that it is about, or the hold stack
    stacks: tuple[str, ...]  # the ARNs of the stacks concerned
    site: Site | None = None  # where, if that is in another account


def of_export(kind: NoticeType, event: Event, values: Sequence[ImportedValue], summary: str) -> Notice:
    """What an event of an Export did to imported values, or was refused to do; the stack's events say the same."""
    fixed = {
        "summary": cut(summary, REASON_LIMIT),
        "producer": _producer(event.stack_arn.producer) | {"id": event.stack},
        "export": event.logical_id,
        "request": {"id": event.request_id, "type": event.request_type.value},
    }
    return Notice(kind, _fitted(fixed, _lists(values)), (event.stack,))


_BY_JANITOR = {
    NoticeType.REPAIRS_MADE: "The janitor repaired {} in {} ({}).",
    NoticeType.FINDINGS_REPORTED: "The janitor found {} in {} ({}). A person must decide what to do.",
}


def of_janitor(kind: NoticeType, account: str, region: str, found: Sequence[Observation]) -> Notice:
    """What the janitor of an account and region repaired, or what it found that needs a person."""
    counts = Counter(each.finding for each in found)
    counted = some(f"{finding} ({number})" for finding, number in sorted(counts.items()))
    summary = cut(_BY_JANITOR[kind].format(counted, region, account), REASON_LIMIT)
    fixed = {"summary": summary, "account": account, "region": region}
    return Notice(kind, _fitted(fixed, {"findings": [_observed(each) for each in found]}))


def claim_released(values: Sequence[ImportedValue], by: str, reason: str) -> Notice:
    """A person, given by ARN, removed the claims of these importers from values of one producer.

    A value's `importers` are those whose claims were removed.
    """
    producer = values[0].scope.producer
    keys, importers = brief({attribute_name(each.key): None for each in values}), _importers(values)
    by_whom = some(map(stack_text, importers), 5)
    reason = cut(reason, REASON_LIMIT // 2)
    summary = cut(f"{by} released {keys} of {producer}, imported by {by_whom}: {reason}", REASON_LIMIT)
    fixed = {"summary": summary, "producer": _producer(producer), "by": by, "reason": reason}
    return Notice(NoticeType.CLAIM_RELEASED, _fitted(fixed, _lists(values)))


def propagated_text(changed: Iterable[tuple[Key, Iterable[str]]]) -> str:
    """What to do after imported values changed, given by their keys and importers."""
    keys: dict[str, None] = {}  # each once, in their order
    importers: set[str] = set()
    for key, arns in changed:
        keys[attribute_name(key)] = None
        importers.update(map(stack_text, arns))
    return (
        f"{brief(keys)} changed while imported by {some(sorted(importers), 5)}. Deploy these with another Revision of "
        "their Import to pick up the new value."
    )


def _lists(values: Sequence[ImportedValue]) -> dict[str, list[object]]:
    return {
        "values": [
            {
                "consumer": each.scope.consumer,
                **({"account": each.site.account} if each.site.account else {}),
                "region": each.site.region,
                "key": each.key,
                "importers": list(each.importers),
                **({"change": each.change} if each.change else {}),
            }
            for each in values
        ],
        "importers": [claimant(each) | {"id": each} for each in _importers(values)],
    }


def _importers(values: Sequence[ImportedValue]) -> list[str]:
    return sorted({importer for each in values for importer in each.importers})


def _producer(producer: Producer) -> dict[str, str]:
    return {"kind": "stack", "name": producer.stack, "region": producer.region, "account": producer.account}


def _observed(found: Observation) -> dict[str, object]:
    """A finding, with what the parameter's name says about it."""
    told: dict[str, object] = {
        "finding": found.finding,
        "parameter": found.parameter,
        "stacks": [claimant(each) | {"id": each} for each in found.stacks],
        **(found.site._asdict() if found.site else {}),
    }
    tree = found.parameter.split("/")[2] if found.parameter.startswith("/strongref/") else ""
    scope = ExportScope.of(tree, found.parameter) if tree in ("exports", "records", "fences") else None
    if scope:
        told |= {"producer": _producer(scope.producer), "consumer": scope.consumer}
    return told | {"key": scope.key(found.parameter)} if scope and tree == "exports" else told


def _fitted(fixed: Mapping[str, object], lists: Mapping[str, list[object]]) -> dict[str, object]:
    """A detail with as many items of each list as fit; `more` says how many are left out."""
    shown = {name: items[:LIST_LIMIT] for name, items in lists.items()}
    while True:
        more = {name: len(lists[name]) - len(items) for name, items in shown.items()}
        detail = {**fixed, **shown, "more": more}
        if len(_encoded(detail).encode()) <= DETAIL_LIMIT:
            return detail
        longest = max(shown.values(), key=lambda items: len(_encoded(items)))
        del longest[len(longest) // 2 :]


def _encoded(content: object) -> str:
    return json.dumps(content, separators=(",", ":"))
