"""What a `Custom::CrossRegionImport` does: read exports and, if strong, claim them; let go when it is deleted.

An import that fails does not let go of what it has claimed: the same event may have been delivered twice, and the other
invocation may rely on it. CloudFormation knows which of the two it believed. After a Create that failed it sends a
Delete, which takes the claims off; those of an Update that failed are stale as soon as its stack is at rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.event import RequestType
from strongref.contract.names import SHARED, ExportScope, StackArn, short_hash
from strongref.contract.requests import ImportRequest, Strength
from strongref.contract.response import Response, check_size
from strongref.contract.values import Kind, attribute_name
from strongref.errors import BadRequestError, PartialCreateError, StrongRefError, UnfinishedError
from strongref.log import logger
from strongref.protocol.claims import Claimant, ClaimAttempt
from strongref.protocol.cleanup import ClaimRelease
from strongref.protocol.fences import FenceHolder
from strongref.protocol.missing import ImportingAccount

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref.contract.event import Event
    from strongref.contract.names import Key
    from strongref.contract.values import Value
    from strongref.protocol.ports import Ports
    from strongref.protocol.time import Clock

PHYSICAL_ID_PREFIX = "strongref-import/"


def physical_id(stack: StackArn, logical_id: str, request: ImportRequest) -> str:
    """One generation of an import: another one as soon as it imports something else.

    So CloudFormation deletes the former generation in its clean-up phase, after everything else has succeeded: the
    new claims are made before the old ones are let go.
    """
    return f"{PHYSICAL_ID_PREFIX}{stack.name}/{logical_id}/{short_hash(request.identity(stack, logical_id))}"


def attributes(values: Mapping[Key, Value]) -> dict[str, object]:
    """What `Fn::GetAtt` may ask for: all but what is secure, which would pass through CloudFormation's events."""
    return {attribute_name(key): value.attribute for key, value in values.items() if value.kind is not Kind.SECURE}


@dataclass(frozen=True, slots=True)
class Importer:
    """The importer."""

    ports: Ports

    def handle(self, event: Event, clock: Clock) -> Response:
        """Carry out one event of CloudFormation's.

        Raises:
            StrongRefError: it could not be done; a `PartialCreateError` where a Create has put on claims, so that
                CloudFormation's Delete takes them off.
        """
        stack = StackArn.parse(event.stack)
        if event.request_type is RequestType.DELETE:
            return self._delete(event, stack, clock)
        request = ImportRequest.parse(event.properties, stack)
        generation = physical_id(stack, event.logical_id, request)
        scope = ExportScope(self._consumer(request, stack, event.stack), request.producer)
        store = self.ports.stores(stack.region, clock)
        claimant = Claimant(
            generation,
            event.stack,
            ImportingAccount(event.account, request.consumer or event.stack_name),
            again=event.physical_id == generation,
            goes_back=event.request_type is RequestType.UPDATE,
            fits=lambda values: check_size(event, generation, attributes(values)),
        )
        claiming = ClaimAttempt(self.ports, store, clock, claimant, scope, request.names)
        values = claiming.read_weakly() if request.strength is Strength.WEAK else _hold(claiming, event)
        return Response(generation, attributes(values))

    def _delete(self, event: Event, stack: StackArn, clock: Clock) -> Response:
        try:
            request = ImportRequest.parse(event.properties, stack)
        except BadRequestError:
            # Such properties were refused when they came: nothing was claimed for them.
            return Response(event.physical_id or stack.name)
        generation = event.physical_id or ""
        if not generation.startswith(PHYSICAL_ID_PREFIX):
            # A Create that never answered: CloudFormation made up an id, but claims may have been put on.
            generation = physical_id(stack, event.logical_id, request)
        info = self.ports.stacks.by_arn(event.stack)
        root = self.ports.stacks.by_arn(info.root_arn) if info and info.root_arn != info.arn else info
        name = root.name if root else stack.name
        scope = ExportScope(SHARED if request.shared else request.consumer or name, request.producer)
        holder = FenceHolder(event.logical_id, f"the clean-up of stack {event.stack_name}")
        letting_go = ClaimRelease(self.ports, clock, event.region, generation, holder)
        deleted = root is not None and root.being_deleted
        if deleted:
            letting_go.clean(name)
        if request.strength is Strength.STRONG and not (deleted and scope.consumer == name):
            letting_go.release(scope, request.names)
        return Response(event.physical_id or generation)

    def _consumer(self, request: ImportRequest, stack: StackArn, arn: str) -> str:
        if request.shared:
            return SHARED
        if request.consumer:
            return request.consumer
        info = self.ports.stacks.by_arn(arn)
        return StackArn.parse(info.root_arn).name if info else stack.name


def _hold(claiming: ClaimAttempt, event: Event) -> Mapping[Key, Value]:
    try:
        return claiming.hold()
    except UnfinishedError:
        raise
    except StrongRefError as error:
        if not claiming.claims:
            raise
        logger.warning("An import failed, and its claims are still there", extra={"place": claiming.scope.values})
        if event.request_type is RequestType.CREATE:
            raise PartialCreateError(error, claiming.claimant.generation) from None
        raise
