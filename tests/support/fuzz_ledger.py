"""What CloudFormation has recorded as imported, and what must hold for it after every single call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from strongref.contract.names import SHARED, ExportScope, Key, StackArn, claim_tag
from strongref.contract.record import decode
from strongref.contract.requests import ImportRequest, Strength
from strongref.contract.values import Kind, Parameter
from tests.support.fuzz_cloud import SteppedCloud

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strongref.contract.event import Event
    from strongref.contract.response import Response
    from strongref.contract.values import Value
    from tests.support.cloud import Stack
    from tests.support.fuzz_invocation import Invocation

WITHDRAWING = (
    "UPDATE_ROLLBACK_IN_PROGRESS",
    "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
    "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
)
"""What a producing stack does when nothing can be refused any more: then claimed values are kept, but withdrawn."""


@dataclass
class Relied:
    """One generation of a strong import, as deployed.

    Attributes:
        stack: the ARN of its stack.
        physical_id: its generation.
        place: where its values are.
        values: as they were imported.
        loose: the keys whose values an Export with `OnChange: propagate` may have changed since.
        recorded: the keys that a record has published since they were imported.
    """

    stack: str
    physical_id: str
    scope: ExportScope
    values: Mapping[Key, Value]
    loose: set[Key] = field(default_factory=set)
    recorded: set[Key] = field(default_factory=set)


class WatchedCloud(SteppedCloud):
    """The cloud, and the ledger of its imports."""

    def __init__(self) -> None:
        super().__init__()
        self.relied: dict[tuple[str, str], Relied] = {}
        self.actor: Invocation | None = None

    def about_to(self, invocation: Invocation, method: str, region: str, request: dict[str, Any]) -> None:
        self.actor = invocation
        given = (invocation.event.properties, invocation.event.old_properties or {})
        if method == "put_parameter" and any(each.get("OnChange") == "propagate" for each in given):
            for relied in self.relied.values():
                if _region(relied.stack) == region and request["Name"].startswith(f"{relied.scope.records}/"):
                    relied.loose |= relied.values.keys()

    def answered(self, stack: Stack, event: Event, answer: Response, held: Mapping[Key, Value]) -> None:
        if "From" not in event.properties:
            return
        parsed = StackArn.parse(stack.arn)
        request = ImportRequest.parse(event.properties, parsed)
        if request.strength is Strength.STRONG:
            scope = ExportScope(SHARED if request.shared else request.consumer or parsed.name, request.producer)
            relied = Relied(stack.arn, answer.physical_id, scope, held)
            relied.recorded = {key for key in held if self._recorded(relied, key)}
            self.relied[stack.arn, answer.physical_id] = relied

    def lets_go(self, stack: Stack, physical_id: str) -> None:
        self.relied.pop((stack.arn, physical_id), None)

    def delete(self, name: str, region: str) -> None:
        """A stack that goes as it stands, in the middle of a roll-back, does not go back to what it had."""
        stack = self.stack(name, region)
        there = self.physical_ids(stack.arn)
        self.relied = {key: relied for key, relied in self.relied.items() if key[0] != stack.arn or key[1] in there}
        super().delete(name, region)

    def wrongs(self) -> Iterator[str]:
        """What does not hold right now; nothing, if all is well."""
        for relied in self.relied.values():
            if relied.stack not in self.stacks:
                continue
            for key, value in relied.values.items():
                problem = self._wrong(relied, key, value)
                if problem:
                    stack = StackArn.parse(relied.stack).name
                    yield f"stack {stack} imports {relied.scope.value(key)}, and {problem}"

    def _wrong(self, relied: Relied, key: Key, value: Value) -> str | None:
        slot = self.ssm(_region(relied.stack))._slots.get(relied.scope.value(key))
        if slot is None or slot.record is None:
            return "it is gone"
        if dict(slot.record.tags).get(claim_tag(relied.physical_id)) != relied.stack:
            return "its claim is gone"
        loose = key in relied.loose
        if not loose and slot.record.text != value.text:
            return "it has another value"
        recorded = self._recorded(relied, key)
        if not recorded:
            if key in relied.recorded and not self._may_withdraw():
                return "its record is gone"
            relied.recorded.discard(key)
        elif not loose and value not in recorded:
            return "its record has another value"
        else:
            relied.recorded.add(key)
        return None

    def _may_withdraw(self) -> bool:
        """Whether who made the last call is in a phase in which nothing can be refused."""
        if self.actor is None:
            return False
        stack = self.stacks.get(self.actor.event.stack)
        return stack is not None and stack.status in WITHDRAWING

    def _recorded(self, relied: Relied, key: Key) -> list[Value]:
        """What the records have for a key: of two Exports of a stack, each may publish it."""
        below = f"{relied.scope.records}/"
        parts = {
            name: Parameter(name, Kind(slot.record.kind), slot.record.text)
            for name, slot in self.ssm(_region(relied.stack))._slots.items()
            if slot.record and name.startswith(below)
        }
        found = [each.record.values for each in decode(relied.scope.records, parts).values() if each.record]
        return [values[key] for values in found if key in values]


def _region(arn: str) -> str:
    return StackArn.parse(arn).region
