"""What CloudFormation recorded as imported, and that it is neither lost nor torn after every single call."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from strongref.contract.event import RequestType
from strongref.contract.names import SHARED, ExportScope, Key, StackArn, claim_tag
from strongref.contract.requests import ImportRequest, Strength
from strongref.errors import ServiceTimeoutError
from tests.support.cloudformation.operations import NoAnswerError
from tests.support.cloudformation.requests import IMPORT
from tests.support.cloudformation.stacks import CLEANUP, ROLLBACK, ROLLBACK_CLEANUP
from tests.support.fake_ssm import error
from tests.support.fuzz.invocation import site_text
from tests.support.fuzz.laptop import Laptop
from tests.support.fuzz.stepped_cloud import SteppedCloud
from tests.support.invariants import Reference, lost, published, records, stored, torn, value_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strongref.contract.event import Event
    from strongref.contract.response import Response
    from strongref.contract.values import Value
    from strongref.errors import StrongRefError
    from tests.support.cloudformation.requests import ResourceRequest
    from tests.support.fuzz.invocation import Invocation

WITHDRAWING = (ROLLBACK, CLEANUP, ROLLBACK_CLEANUP)
"""Phases of a producing stack in which nothing can be refused: claimed values are kept, but no longer published."""


@dataclass
class ImportedValues:
    """One generation of a strong import, as deployed.

    Attributes:
        scope: where its values are.
        references: to each of them.
        published: those that a record has published since they were imported.
    """

    scope: ExportScope
    references: dict[Key, Reference]
    published: set[Key] = field(default_factory=set)

    def allow_changes(self) -> None:
        """From now on an Export with `OnChange: propagate` may change the values."""
        self.references = {key: replace(each, value=None) for key, each in self.references.items()}


class WatchedCloud(SteppedCloud):
    """The cloud in memory, and the values that are imported in it, by stack and physical ID."""

    def __init__(self, lag: float = 0.0, *, remembers: bool = False) -> None:
        super().__init__(lag, remembers=remembers)
        self.imported: dict[tuple[str, str], ImportedValues] = {}
        self.caller: Invocation | None = None
        self.stuck: list[str] = []

    def before_call(self, invocation: Invocation, method: str, region: str, request: dict[str, Any]) -> None:
        self.caller = invocation
        if isinstance(invocation, Laptop):
            return
        if region in self.away and region != site_of(invocation.event.stack):
            raise error("AccessDeniedException", "no", method)
        given = (invocation.event.properties, invocation.event.old_properties or {})
        if method == "put_parameter" and any(each.get("OnChange") == "propagate" for each in given):
            for (stack, _), values in self.imported.items():
                if site_of(stack) == region and request["Name"].startswith(f"{values.scope.path('records')}/"):
                    values.allow_changes()

    def after_success(self, event: Event, answer: Response, held: Mapping[Key, Value]) -> None:
        if event.resource_type != IMPORT:
            return
        stack = event.stack_arn
        request = ImportRequest.parse(event.properties, stack)
        if request.strength is Strength.STRONG and request.producer:  # Its histories have no Import without From.
            scope = ExportScope(SHARED if request.shared else request.consumer or stack.name, request.producer)
            claims = frozenset({(claim_tag(answer.physical_id), event.stack)})
            there = stored(self.regions)
            names = {key: (site_of(event.stack), scope.parameter_name(key)) for key in held}
            # What is kept for its claim may be held while nobody can read it: then it is to stay what is stored now.
            references = {
                key: Reference(
                    names[key], claims, value_of(there[names[key]]) if value.locked and names[key] in there else value
                )
                for key, value in held.items()
            }
            said = records(there)
            recorded = {key for key, reference in references.items() if published(reference, said)}
            self.imported[event.stack, answer.physical_id] = ImportedValues(scope, references, recorded)

    def after_failure(self, request: ResourceRequest, why: StrongRefError) -> None:
        is_rollback = request.kind is RequestType.UPDATE and self.stacks[request.stack].status == ROLLBACK
        if request.type == IMPORT and is_rollback and not isinstance(why, ServiceTimeoutError | NoAnswerError):
            self.stuck.append(f"the rollback of an import of stack {request.stack_name} fails: {why}")

    def before_delete(self, request: ResourceRequest) -> None:
        self.imported.pop((request.stack, request.physical_id), None)

    def delete(self, name: str, region: str) -> None:
        """A stack that is deleted in the middle of a rollback does not go back to what it had."""
        stack = self.stack(name, region)
        there = self.physical_ids(stack.arn)
        self.imported = {key: each for key, each in self.imported.items() if key[0] != stack.arn or key[1] in there}
        super().delete(name, region)

    def problems(self) -> Iterator[str]:
        """What is lost, torn or stuck right now."""
        yield from self.stuck
        there = stored(self.regions)
        said = records(there)
        for (stack, _), values in self.imported.items():
            if not self.existing(stack):
                continue
            for key, reference in values.references.items():
                problem = lost(reference, there) or self._torn(values, key, published(reference, said))
                if problem:
                    yield f"stack {StackArn.parse(stack).name} imports {reference.name[1]}, {problem}"

    def _torn(self, values: ImportedValues, key: Key, said: list[Value]) -> str | None:
        """As `torn`; but a value may be withdrawn, and until it is published again no record has it."""
        if said:
            values.published.add(key)
        elif key not in values.published or self._may_withdraw():
            values.published.discard(key)
            return None
        return torn(values.references[key], said)

    def _may_withdraw(self) -> bool:
        """Whether the last call was made in a phase in which nothing can be refused."""
        if isinstance(self.caller, Laptop):
            return True  # what a deleted stack has left
        stack = self.existing(self.caller.event.stack) if self.caller else None
        return stack is not None and stack.status in WITHDRAWING


def site_of(arn: str) -> str:
    """The name of the store that the imports of a stack are in."""
    stack = StackArn.parse(arn)
    return site_text(stack.region, stack.account)
