"""Stacks, their custom resources, and what each answer changes about them."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from strongref.contract.event import RequestType
from strongref.contract.names import BadArnError, StackArn
from strongref.errors import StackLookupError
from strongref.protocol.ports import ResourceInfo, StackInfo
from tests.support.builders import stack_arn
from tests.support.cloudformation.requests import ResourceRequest, resource_type
from tests.support.fake_ssm import EPOCH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from strongref.protocol.ports import NewStack
    from tests.support.late_reads import LateStacks

CREATING = "CREATE_IN_PROGRESS"
UPDATING = "UPDATE_IN_PROGRESS"
CLEANUP = "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"
ROLLBACK = "UPDATE_ROLLBACK_IN_PROGRESS"
ROLLBACK_CLEANUP = "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS"
DELETING = "DELETE_IN_PROGRESS"
DELETED = "DELETE_COMPLETE"


_parsed = cache(StackArn.parse)


@dataclass(frozen=True)
class StackResource:
    """A custom resource as CloudFormation keeps it.

    Attributes:
        properties: of the last request that succeeded.
        physical_id: from its last answer.
        attributes: the data of its last answer.
        status: in CloudFormation's words.
        attempted: the properties of an Update that failed, until a rollback undoes it.
    """

    properties: Mapping[str, Any]
    physical_id: str
    attributes: Mapping[str, object] = field(default_factory=dict)
    status: str = "CREATE_COMPLETE"
    attempted: Mapping[str, Any] | None = None


@dataclass
class FakeStack:
    """A stack and its custom resources.

    Attributes:
        arn: its ID.
        status: in CloudFormation's words.
        root: the ID of the root stack, for a nested one.
        resources: by logical ID.
        before: what a rollback of the current update restores, by logical ID.
        replaced: what the cleanup phase deletes, by logical ID.
        reasons: of every failure, as in the stack's events.
        asked: the request that waits for an answer.
        asked_at: since when.
        updates: how many have begun.
        parent: the ID of the stack that a nested one is nested in.
        exports: the names of its CloudFormation exports.
        imports: the names of the CloudFormation exports that it imports.
        outputs: by name; only of a stack with a template.
        tags: likewise.
        parameters: the names of the parameters that its template makes.
        created: when.
    """

    arn: str
    status: str
    root: str = ""
    resources: dict[str, StackResource] = field(default_factory=dict)
    before: dict[str, StackResource] = field(default_factory=dict)
    replaced: dict[str, StackResource] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    asked: ResourceRequest | None = None
    asked_at: datetime | None = None
    updates: int = 0
    parent: str = ""
    exports: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    outputs: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    parameters: frozenset[str] = frozenset()
    created: datetime = EPOCH

    @property
    def name(self) -> str:
        return _parsed(self.arn).name

    @property
    def region(self) -> str:
        return _parsed(self.arn).region

    def info(self) -> StackInfo:
        updated = self.updated.isoformat() if self.updates else ""
        return StackInfo(
            self.arn,
            self.name,
            self.status,
            self.root or self.arn,
            updated,
            self.parent,
            self.created,
            self.outputs,
            self.exports,
            self.tags,
        )

    @property
    def updated(self) -> datetime:
        """When the last update began: not the time, but one of its own."""
        return EPOCH + timedelta(seconds=self.updates)

    def copy(self) -> FakeStack:
        return replace(
            self,
            resources=dict(self.resources),
            before=dict(self.before),
            replaced=dict(self.replaced),
            reasons=list(self.reasons),
        )

    def request(self, kind: RequestType, logical_id: str, *given: Any) -> ResourceRequest:
        """What CloudFormation asks of one of its resources."""
        return ResourceRequest(kind, self.arn, logical_id, *given)

    @contextmanager
    def asking(self, request: ResourceRequest, at: datetime | None = None) -> Iterator[None]:
        """While this lasts, a resource is in progress."""
        before, self.asked, self.asked_at = self.asked, request, at
        try:
            yield
        finally:
            self.asked = before

    def resource(self, logical_id: str) -> ResourceInfo | None:
        """A resource as CloudFormation lists it. What is deleted after it was replaced is not listed anymore."""
        found, asked = self.resources.get(logical_id), self.asked
        replaced = asked and asked.kind is RequestType.DELETE and found and found.physical_id != asked.physical_id
        if asked and asked.logical_id == logical_id and not replaced:
            return ResourceInfo(asked.type, f"{asked.kind.upper()}_IN_PROGRESS", asked.physical_id, self.asked_at)
        return ResourceInfo(resource_type(found.properties), found.status, found.physical_id) if found else None

    def begin_update(self) -> None:
        """From now on a rollback restores what is there."""
        self.status, self.before = UPDATING, dict(self.resources)
        self.updates += 1

    def succeed(self, request: ResourceRequest, physical_id: str, attributes: Mapping[str, object]) -> None:
        """Take a SUCCESS."""
        logical_id = request.logical_id
        if request.kind is not RequestType.DELETE:
            status = f"{request.kind.value.upper()}_COMPLETE"
            self.resources[logical_id] = StackResource(request.properties, physical_id, attributes, status)
            return
        for listed in (self.resources, self.replaced):
            if logical_id in listed and listed[logical_id].physical_id == request.physical_id:
                del listed[logical_id]

    def fail(self, request: ResourceRequest, physical_id: str) -> None:
        """Take a FAILED, or the end of the wait for an answer."""
        logical_id = request.logical_id
        if request.kind is RequestType.CREATE:
            self.resources[logical_id] = StackResource(request.properties, physical_id, status="CREATE_FAILED")
        elif request.kind is RequestType.UPDATE and self.status == UPDATING:
            self.resources[logical_id] = replace(self.resources[logical_id], attempted=request.properties)


class FakeStacks:
    """All stacks of an account, deleted ones included; `ports.Stacks` in memory.

    Attributes:
        stacks: by ARN.
        lookups: how many lookups of the port were made.
        late_stacks: if answers lag.
        problem: why templates cannot be deployed; empty if they can.
        keeps_stacks: whether their deletion fails as well.
    """

    def __init__(self) -> None:
        self.stacks: dict[str, FakeStack] = {}
        self.lookups = 0
        self.late_stacks: LateStacks | None = None
        self.numbers = count(1)
        self.problem = ""
        self.keeps_stacks = False

    def new_stack(self, name: str, region: str, root: str = "") -> FakeStack:
        stack = FakeStack(stack_arn(name, region, unique=f"{next(self.numbers):08d}"), CREATING, root)
        self.stacks[stack.arn] = stack
        return stack

    def existing(self, arn: str) -> FakeStack | None:
        """The stack of that ARN, unless it was deleted."""
        stack = self.stacks.get(arn)
        return stack if stack and stack.status != DELETED else None

    def find(self, name: str, region: str) -> FakeStack | None:
        """The stack of that name in a region, if there is one."""
        for stack in self.stacks.values():
            if (stack.name, stack.region) == (name, region) and stack.status != DELETED:
                return stack
        return None

    def stack(self, name: str, region: str) -> FakeStack:
        """The stack of that name in a region, which must exist."""
        found = self.find(name, region)
        assert found is not None
        return found

    def vanish(self, name: str, region: str) -> None:
        """Delete a stack, and retain its resources."""
        stack = self.stack(name, region)
        stack.status, stack.resources = DELETED, {}

    def now(self) -> datetime | None:
        """The time; None where none passes."""
        return None

    def shown(self, stack: FakeStack) -> FakeStack | None:
        """A stack as answers of CloudFormation show it: as it is, or was, or not at all."""
        return self.late_stacks.shown(stack) if self.late_stacks else stack

    # -- ports.Stacks --------------------------------------------------------------------------------------------

    def by_arn(self, arn: str) -> StackInfo | None:
        stack = self._look_up(arn)
        return stack.info() if stack else None

    def by_name(self, name: str, region: str) -> StackInfo | None:
        for stack in self.stacks.values():
            shown = self.shown(stack) if (stack.name, stack.region) == (name, region) else None
            if shown and shown.status != DELETED:
                self.lookups += 1
                return shown.info()
        return None

    def resource(self, arn: str, logical_id: str) -> ResourceInfo | None:
        stack = self._look_up(arn)
        return stack.resource(logical_id) if stack else None

    def physical_ids(self, arn: str) -> frozenset[str]:
        stack = self._look_up(arn)
        return frozenset(resource.physical_id for resource in stack.resources.values()) if stack else frozenset()

    def importing_stacks(self, export: str, region: str) -> frozenset[str]:
        self.lookups += 1
        shown = [self.shown(stack) for stack in self.stacks.values() if stack.region == region]
        return frozenset(each.name for each in shown if each and each.status != DELETED and export in each.imports)

    def create_stack(self, stack: NewStack) -> str:
        if self.find(stack.name, stack.region):
            return ""
        made = self.new_stack(stack.name, stack.region)
        missing = self._take_template(made, stack)
        made.status = DELETED if missing else "CREATE_COMPLETE"
        return made.arn

    def update_stack(self, stack: NewStack) -> None:
        found = self.find(stack.name, stack.region)
        if found and not found.status.endswith("IN_PROGRESS"):
            found.updates += 1
            missing = self._take_template(found, stack)
            found.status = "UPDATE_ROLLBACK_COMPLETE" if missing else "UPDATE_COMPLETE"

    def delete_stack(self, stack: str, region: str) -> None:
        """Delete a stack that has no resources but parameters, given its name or ARN."""
        found = self.existing(stack) or self.find(stack, region)
        if found and self.keeps_stacks:
            found.status = "DELETE_FAILED"
        elif found:
            self.keep_parameters(found, frozenset())
            found.status, found.imports = DELETED, frozenset()

    def failure(self, arn: str) -> str:
        return self.stacks[arn].reasons[-1] if self.stacks[arn].reasons else ""

    def keep_parameters(self, stack: FakeStack, names: frozenset[str]) -> None:
        """Make the parameters of a stack's template, and delete those that it has no more."""
        stack.parameters = names

    def fail_stacks(self, problem: str, *, deletions: bool = False) -> None:
        """From now on templates cannot be deployed, and maybe stacks not deleted."""
        self.problem, self.keeps_stacks = problem, deletions

    def importers(self, export: str, region: str) -> list[str]:
        """The names of the stacks that import a CloudFormation export."""
        living = (each for each in self.stacks.values() if each.status != DELETED and each.region == region)
        return sorted(each.name for each in living if export in each.imports)

    def _take_template(self, stack: FakeStack, new: NewStack) -> bool:
        """Make what a template has; True if that fails, and nothing is made: it imports what nobody exports."""
        template = json.loads(new.template)
        properties = [each["Properties"] for each in template["Resources"].values()]
        imports = frozenset(each["Value"]["Fn::ImportValue"] for each in properties)
        living = [each for each in self.stacks.values() if each.status != DELETED and each.region == new.region]
        missing = sorted(name for name in imports if not any(name in each.exports for each in living))
        problems = [self.problem] if self.problem else [f"No export named {name} found" for name in missing]
        if not problems:
            try:
                self.keep_parameters(stack, frozenset(each["Name"] for each in properties))
            except ClientError:
                problems = ["A parameter of that name already exists"]
        stack.reasons += problems
        if not problems:
            stack.imports, stack.tags = imports, new.tags
            stack.outputs = {name: each["Value"] for name, each in template["Outputs"].items()}
        return bool(problems)

    def _look_up(self, arn: str) -> FakeStack | None:
        try:
            StackArn.parse(arn)
        except BadArnError:
            raise StackLookupError(arn, "any region", "NotAStackArn") from None
        self.lookups += 1
        shown = self.shown(self.stacks[arn]) if arn in self.stacks else None
        return shown if shown and shown.status != DELETED else None


def made_up_id(request: ResourceRequest) -> str:
    """The physical ID that CloudFormation makes up for a Create that was never answered."""
    return f"{request.stack_name}-{request.logical_id}-1ABCDEF"
