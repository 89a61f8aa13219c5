"""What CloudFormation does with a stack: create, update, roll back, clean up, delete; one request after the other.

It does what CloudFormation does with a custom resource: a Create; an Update with the old properties; a Delete in the
cleanup phase for a physical ID that was replaced, and for a resource that was taken out; an Update with swapped
properties that rolls a failed or an applied one back; a Delete of each Create that is rolled back.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from strongref.contract.event import RequestType
from strongref.errors import PartialCreateError, ServiceTimeoutError, StrongRefError
from strongref.runtime.custom_resource import FAILED_CREATE, UNFINISHED_CREATE
from tests.support.cloudformation.stacks import (
    CLEANUP,
    CREATING,
    DELETED,
    DELETING,
    ROLLBACK,
    ROLLBACK_CLEANUP,
    FakeStacks,
    made_up_id,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from strongref.contract.response import Response
    from tests.support.cloudformation.requests import ResourceRequest
    from tests.support.cloudformation.stacks import FakeStack, StackResource

    Resources = Mapping[str, Mapping[str, Any]]


class LaterResourceError(StrongRefError):
    """Some other resource of the stack failed."""

    sentence = "another resource failed"


class ExportInUseError(StrongRefError):
    """Another stack imports a CloudFormation export that is to go."""

    export: str
    importers: list[str]
    sentence = "Delete canceled. Cannot delete export {export} as it is in use by {importers}."


class NoAnswerError(StrongRefError):
    """CloudFormation waited for `ServiceTimeout`, and no answer came."""


class CloudFormation(FakeStacks):
    """Carries operations on stacks out. A resource that fails raises the error with which it failed."""

    @abstractmethod
    def send(self, request: ResourceRequest) -> Response:
        """Send one event to its function, and wait for the answer.

        Raises:
            StrongRefError: the answer is FAILED.
            NoAnswerError: there is none.
        """

    def deploy(  # noqa: PLR0913
        self,
        name: str,
        region: str,
        resources: Resources,
        *,
        fails: bool = False,
        root: str = "",
        cleanup: bool = True,
        outputs: Collection[str] | None = None,
    ) -> FakeStack:
        """Create or update a stack.

        Args:
            name: the stack's.
            region: the stack's.
            resources: the properties of each, by logical ID.
            fails: a later resource of the stack fails, so that everything is rolled back.
            root: the ARN of the root stack, for a nested one.
            outputs: the names that its outputs export; if None, those of its Exports.
            cleanup: if not, an update leaves the stack in its cleanup phase, with all to be deleted there.

        Raises:
            StrongRefError: a resource failed, and everything was rolled back; or its rollback failed too.
        """
        stack = self.find(name, region)
        if stack is None:
            stack = self.new_stack(name, region, root)
        else:
            stack.begin_update()
        created = stack.status == CREATING
        try:
            self._apply(stack, resources)
            if fails:
                raise LaterResourceError
            self._export(stack, _holds(resources) if outputs is None else frozenset(outputs))
        except StrongRefError:
            self.roll_back(stack)
            if created:  # as `create-stack --on-failure DELETE`
                stack.status = DELETED
            raise
        if created:
            stack.status = "CREATE_COMPLETE"
            return stack
        stack.replaced = stack.before
        self._keep(stack, resources)
        stack.status = CLEANUP
        if cleanup:
            self.clean_up(stack)
        return stack

    def delete(self, name: str, region: str) -> None:
        """Delete a stack, its resources in reverse order.

        Raises:
            ExportInUseError: another stack imports a CloudFormation export of it; nothing has begun.
            StrongRefError: a resource failed; the stack is `DELETE_FAILED`.
        """
        stack = self.stack(name, region)
        self._check_unused(stack, stack.exports)
        stack.status = DELETING
        self._delete_all(stack)
        stack.status = DELETED

    def roll_back(self, stack: FakeStack) -> None:
        """Roll the current operation back, or continue a rollback that failed.

        Raises:
            StrongRefError: a resource failed; the stack is `ROLLBACK_FAILED` or `UPDATE_ROLLBACK_FAILED`.
        """
        if stack.status == CREATING:
            stack.status = "ROLLBACK_IN_PROGRESS"
            self._delete_all(stack)
            stack.status = "ROLLBACK_COMPLETE"
            return
        stack.status = ROLLBACK
        stack.replaced = stack.resources | stack.replaced  # what a failed rollback replaced is still to be deleted
        with _failing(stack):
            for logical_id, old in stack.before.items():
                new = stack.resources[logical_id]
                latest = new.properties if new.attempted is None else new.attempted
                if latest != old.properties:
                    self._ask(stack, RequestType.UPDATE, logical_id, old.properties, new.physical_id, latest)
        self._keep(stack, stack.before)
        stack.status = ROLLBACK_CLEANUP
        self.clean_up(stack)

    def clean_up(self, stack: FakeStack) -> None:
        """Delete what was replaced or taken out. What fails is left over, with its reason in the stack's events."""
        for logical_id, resource in list(stack.replaced.items()):
            try:
                self._delete(stack, logical_id, resource)
            except StrongRefError:
                del stack.replaced[logical_id]
        stack.before = {}
        stack.status = stack.status.replace("_CLEANUP_IN_PROGRESS", "")

    def _export(self, stack: FakeStack, exports: frozenset[str]) -> None:
        """The last step that can fail, before the cleanup."""
        self._check_unused(stack, stack.exports - exports)
        stack.exports = exports

    def _check_unused(self, stack: FakeStack, exports: Collection[str]) -> None:
        for export in exports:
            if importers := self.importers(export, stack.region):
                error = ExportInUseError(export, importers)
                stack.reasons.append(str(error))
                raise error

    def _apply(self, stack: FakeStack, resources: Resources) -> None:
        for logical_id, properties in resources.items():
            old = stack.before.get(logical_id)
            if old is None:
                self._ask(stack, RequestType.CREATE, logical_id, properties)
            elif old.properties != properties:
                self._ask(stack, RequestType.UPDATE, logical_id, properties, old.physical_id, old.properties)

    @staticmethod
    def _keep(stack: FakeStack, logical_ids: Mapping[str, object]) -> None:
        """Only these resources stay in the stack; of what was to be replaced, those with the same physical ID stay."""
        stack.resources = {logical_id: stack.resources[logical_id] for logical_id in logical_ids}
        stack.replaced = {
            logical_id: resource
            for logical_id, resource in stack.replaced.items()
            if logical_id not in stack.resources or stack.resources[logical_id].physical_id != resource.physical_id
        }

    def _delete_all(self, stack: FakeStack) -> None:
        with _failing(stack):
            for logical_id, resource in reversed(list(stack.resources.items())):
                self._delete(stack, logical_id, resource)

    def _delete(self, stack: FakeStack, logical_id: str, resource: StackResource) -> None:
        self._ask(stack, RequestType.DELETE, logical_id, resource.properties, resource.physical_id)

    def _ask(self, stack: FakeStack, kind: RequestType, logical_id: str, *given: Any) -> None:
        """Send one event, and take its outcome."""
        request = stack.request(kind, logical_id, *given)
        try:
            with stack.asking(request, self.now()):
                answer = self.send(request)
        except StrongRefError as error:
            stack.reasons.append(str(error))
            stack.fail(request, _failed_physical_id(request, error))
            raise
        stack.succeed(request, answer.physical_id, answer.data)


def _holds(resources: Resources) -> frozenset[str]:
    return frozenset(properties["Hold"] for properties in resources.values() if "Hold" in properties)


@contextmanager
def _failing(stack: FakeStack) -> Iterator[None]:
    """An operation that cannot be rolled back: if a resource fails, the stack is stuck."""
    try:
        yield
    except StrongRefError:
        stack.status = stack.status.replace("IN_PROGRESS", "FAILED")
        raise


def _failed_physical_id(request: ResourceRequest, error: StrongRefError) -> str:
    """The physical ID that a failed Create gets from its function, or from CloudFormation."""
    if isinstance(error, PartialCreateError):
        return error.physical_id
    if isinstance(error, NoAnswerError):
        return made_up_id(request)
    unknown = isinstance(error, ServiceTimeoutError)
    return f"{UNFINISHED_CREATE if unknown else FAILED_CREATE}{request.stack_name}/{request.logical_id}"
