"""A small cloud in memory: one account, its regions' Parameter Stores, and stacks that send the real events.

It does what CloudFormation does with a custom resource: Create, Update with the old properties, a Delete in the
clean-up phase where the physical id changed or the resource was taken out, the swapped Update that rolls a failed one
back. The exporter and the importer are the real ones, over `FakeSsm`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from strongref.aws.parameter_store import SsmStore
from strongref.aws.retry_and_rate_limit import RateLimiter, RateLimits
from strongref.contract.event import Event, RequestType
from strongref.contract.names import StackArn
from strongref.errors import PartialCreateError, StrongRefError
from strongref.protocol.exports import Exporter
from strongref.protocol.imports import Importer
from strongref.protocol.ports import Ports, StackInfo
from strongref.protocol.time import Patience
from tests.support.fake_ssm import FakeClock, FakeSsm

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref.contract.response import Response
    from strongref.protocol.time import Clock

ACCOUNT = "111111111111"
Resources = dict[str, dict[str, Any]]


@dataclass
class Deployed:
    """A resource as CloudFormation keeps it."""

    properties: dict[str, Any]
    physical_id: str
    attributes: Mapping[str, object] = field(default_factory=dict)

    @property
    def exports(self) -> bool:
        return "From" not in self.properties


@dataclass
class Stack:
    """A stack and its custom resources."""

    arn: str
    status: str
    root: str
    resources: dict[str, Deployed] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)


class Cloud:
    """One account."""

    def __init__(self, *, empty_pages: bool = False) -> None:
        self.regions: dict[str, FakeSsm] = {}
        self.stacks: dict[str, Stack] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.unrolled: dict[str, tuple[dict[str, Deployed], dict[str, Deployed], str | None, Resources]] = {}
        self.clock = FakeClock(remaining=100_000)
        self.asked = 0
        self._empty_pages = empty_pages
        self._numbers = count(1)

    # -- what tests do -------------------------------------------------------------------------------------------

    def ssm(self, region: str) -> FakeSsm:
        if region not in self.regions:
            self.regions[region] = FakeSsm(
                region, ACCOUNT, empty_pages=self._empty_pages, before_call=lambda *call: self.calls.append(call)
            )
        return self.regions[region]

    def values(self, region: str) -> dict[str, str]:
        """The values stored in a region, by the part of the name below `/strongref/exports/`."""
        return self._texts(region, "/strongref/exports/")

    def texts(self, region: str) -> dict[str, str]:
        """Everything stored in a region."""
        return self._texts(region, "/")

    def tags(self, region: str, name: str) -> dict[str, str]:
        slot = self.ssm(region)._slots[f"/strongref/exports/{name}"]
        assert slot.record is not None
        return dict(slot.record.tags)

    def claims(self, region: str, name: str) -> list[str]:
        """The names of the stacks that claim a value."""
        tags = self.tags(region, name)
        return sorted(StackArn.parse(arn).name for key, arn in tags.items() if key.startswith("strongref:claim:"))

    def deploy(self, name: str, region: str, resources: Resources, *, fails: bool = False, root: str = "") -> Stack:
        """Create or update a stack; `fails`: a later resource of it fails, so that everything is rolled back.

        Raises:
            StrongRefError: a resource refused; the stack is rolled back.
        """
        stack = self.find(name, region)
        if stack is None:
            return self._create(name, region, resources, fails=fails, root=root)
        self._update(stack, resources, fails=fails)
        return stack

    def delete(self, name: str, region: str) -> None:
        """Delete a stack, its resources in reverse order.

        Raises:
            StrongRefError: a resource refused; the stack is DELETE_FAILED, as one can see in its status.
        """
        stack = self.stack(name, region)
        stack.status = "DELETE_IN_PROGRESS"
        try:
            for logical_id in reversed(list(stack.resources)):
                self._send(stack, RequestType.DELETE, logical_id, stack.resources[logical_id])
                del stack.resources[logical_id]
        except StrongRefError:
            stack.status = "DELETE_FAILED"
            raise
        del self.stacks[stack.arn]

    def vanish(self, name: str, region: str) -> None:
        """Delete a stack without its handlers running (its resources are retained)."""
        del self.stacks[self.stack(name, region).arn]

    def stack(self, name: str, region: str) -> Stack:
        found = self.find(name, region)
        assert found is not None
        return found

    def find(self, name: str, region: str) -> Stack | None:
        """The stack of that name in a region, if there is one."""
        for arn, stack in self.stacks.items():
            parsed = StackArn.parse(arn)
            if (parsed.name, parsed.region) == (name, region):
                return stack
        return None

    def get(self, name: str, region: str, logical_id: str = "Imports") -> Mapping[str, object]:
        """A resource's attributes."""
        return self.stack(name, region).resources[logical_id].attributes

    def event(  # noqa: PLR0913, PLR0917
        self,
        stack: Stack,
        kind: RequestType,
        logical_id: str,
        properties: dict[str, Any],
        physical_id: str | None = None,
        old: dict[str, Any] | None = None,
    ) -> Event:
        """What CloudFormation sends, with an id of its own."""
        return Event(
            request_type=kind,
            stack=stack.arn,
            logical_id=logical_id,
            request_id=f"request-{next(self._numbers)}",
            physical_id=physical_id,
            properties=properties,
            old_properties=old,
            response_url="http://127.0.0.1/",
            resource_type="Custom::CrossRegionImport" if "From" in properties else "Custom::CrossRegionExport",
        )

    def send(  # noqa: PLR0913, PLR0917
        self,
        stack: Stack,
        kind: RequestType,
        logical_id: str,
        properties: dict[str, Any],
        physical_id: str | None = None,
        old: dict[str, Any] | None = None,
    ) -> Response:
        """Send one event to its handler, nothing else."""
        event = self.event(stack, kind, logical_id, properties, physical_id, old)
        imports = "From" in properties
        ports = Ports(self.stores, self, Patience(20 if imports else 120, 2, lambda: 0.5), self.token)
        return (Importer(ports) if imports else Exporter(ports)).handle(event, self.clock)

    # -- ports ---------------------------------------------------------------------------------------------------

    def stores(self, region: str, clock: Clock) -> SsmStore:
        limiter = RateLimiter(RateLimits(1e6, 1e6, 1e6, 1e6, 1e6))
        return SsmStore(self.ssm(region).as_client(), region, limiter, clock, lambda: 0.0)

    def token(self) -> str:
        return f"token{next(self._numbers)}"

    def by_arn(self, arn: str) -> StackInfo | None:
        self.asked += 1
        stack = self.stacks.get(arn)
        return StackInfo(arn, StackArn.parse(arn).name, stack.status, stack.root) if stack else None

    def by_name(self, name: str, region: str) -> StackInfo | None:
        stack = self.find(name, region)
        return self.by_arn(stack.arn) if stack else None

    def physical_ids(self, arn: str) -> frozenset[str]:
        self.asked += 1
        stack = self.stacks.get(arn)
        return frozenset(resource.physical_id for resource in stack.resources.values()) if stack else frozenset()

    # -- CloudFormation ------------------------------------------------------------------------------------------

    def _create(self, name: str, region: str, resources: Resources, *, fails: bool, root: str) -> Stack:
        arn = f"arn:aws:cloudformation:{region}:{ACCOUNT}:stack/{name}/{next(self._numbers):08d}"
        stack = self.stacks[arn] = Stack(arn, "CREATE_IN_PROGRESS", root or arn)
        try:
            for logical_id, properties in resources.items():
                answer = self._ask(stack, RequestType.CREATE, logical_id, properties)
                stack.resources[logical_id] = Deployed(properties, answer.physical_id, answer.data)
            if fails:
                raise LaterResourceError
        except StrongRefError:
            stack.status = "ROLLBACK_IN_PROGRESS"
            for logical_id in reversed(list(stack.resources)):
                self._send(stack, RequestType.DELETE, logical_id, stack.resources[logical_id])
                del stack.resources[logical_id]
            stack.status = "ROLLBACK_COMPLETE"
            del self.stacks[arn]
            raise
        stack.status = "CREATE_COMPLETE"
        return stack

    def _update(self, stack: Stack, resources: Resources, *, fails: bool) -> None:
        before = dict(stack.resources)
        stack.status = "UPDATE_IN_PROGRESS"
        failed: str | None = None
        try:
            for logical_id, properties in resources.items():
                failed = logical_id
                old = before.get(logical_id)
                if old is None:
                    answer = self._ask(stack, RequestType.CREATE, logical_id, properties)
                elif old.properties != properties:
                    answer = self._ask(
                        stack, RequestType.UPDATE, logical_id, properties, old.physical_id, old.properties
                    )
                else:
                    continue
                stack.resources[logical_id] = Deployed(properties, answer.physical_id, answer.data)
            failed = None
            if fails:
                raise LaterResourceError
        except StrongRefError:
            self._roll_back(stack, before, failed, resources)
            raise
        stack.status = "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"
        now = {logical_id: stack.resources[logical_id] for logical_id in resources}
        self._clean_up(stack, before, now)
        stack.resources = now
        stack.status = "UPDATE_COMPLETE"

    def _roll_back(self, stack: Stack, before: dict[str, Deployed], failed: str | None, wanted: Resources) -> None:
        """What was replaced before a roll-back failed is still deleted by the one that goes on."""
        stack.status = "UPDATE_ROLLBACK_IN_PROGRESS"
        after = dict(stack.resources)
        if stack.arn in self.unrolled:
            after |= self.unrolled[stack.arn][1]
        self.unrolled[stack.arn] = (before, after, failed, wanted)
        for logical_id, old in before.items():
            new = stack.resources.get(logical_id)
            if (new is not None and new.properties != old.properties) or logical_id == failed:
                physical_id = new.physical_id if new is not None else old.physical_id
                answer = self._ask(
                    stack, RequestType.UPDATE, logical_id, old.properties, physical_id, wanted[logical_id]
                )
                stack.resources[logical_id] = Deployed(old.properties, answer.physical_id, answer.data)
        stack.status = "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS"
        kept = {logical_id: stack.resources[logical_id] for logical_id in before}
        self._clean_up(stack, after, kept)
        stack.resources = kept
        stack.status = "UPDATE_ROLLBACK_COMPLETE"
        del self.unrolled[stack.arn]

    def _clean_up(self, stack: Stack, old: dict[str, Deployed], kept: Mapping[str, Deployed]) -> None:
        """Delete what was replaced or taken out; what fails here is left over, with its reason in the events."""
        for logical_id, resource in old.items():
            if logical_id in kept and kept[logical_id].physical_id == resource.physical_id:
                continue
            try:
                self._send(stack, RequestType.DELETE, logical_id, resource)
            except StrongRefError as error:
                stack.reasons.append(str(error))

    def _ask(  # noqa: PLR0913, PLR0917
        self,
        stack: Stack,
        kind: RequestType,
        logical_id: str,
        properties: dict[str, Any],
        physical_id: str | None = None,
        old: dict[str, Any] | None = None,
    ) -> Response:
        try:
            return self.send(stack, kind, logical_id, properties, physical_id, old)
        except (
            PartialCreateError
        ) as error:  # CloudFormation deletes what a Create that failed has left, by the id it gave
            stack.reasons.append(str(error))
            stack.resources[logical_id] = Deployed(properties, error.physical_id)
            raise
        except StrongRefError as error:
            stack.reasons.append(str(error))
            raise

    def _send(self, stack: Stack, kind: RequestType, logical_id: str, resource: Deployed) -> None:
        self._ask(stack, kind, logical_id, resource.properties, resource.physical_id)

    def _texts(self, region: str, prefix: str) -> dict[str, str]:
        return {
            name.removeprefix(prefix): slot.record.text
            for name, slot in sorted(self.ssm(region)._slots.items())
            if slot.record and name.startswith(prefix)
        }


class LaterResourceError(StrongRefError):
    """Some other resource of the stack failed."""
