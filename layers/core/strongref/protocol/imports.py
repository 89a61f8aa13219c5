"""What a `Custom::CrossRegionImport` does: read exports and, if strong, claim them; release them when it is deleted.

An import that fails does not release what it has claimed: the same event may have been delivered twice, and the other
invocation may rely on it. CloudFormation knows which of the two it believed. After a failed Create it sends a Delete,
which removes the claims; those of a failed Update are stale as soon as its stack is at rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.event import RequestType
from strongref.contract.names import SHARED, ExportScope, StackArn, short_hash
from strongref.contract.requests import ImportRequest, Strength
from strongref.contract.response import Response, check_size
from strongref.contract.values import attribute_name
from strongref.errors import BadRequestError, PartialCreateError, StrongRefError, UnfinishedError
from strongref.log import logger
from strongref.protocol.claims import Claimant, ClaimAttempt, ImportingAccount
from strongref.protocol.cleanup import ClaimRelease
from strongref.protocol.fences import FenceHolder
from strongref.protocol.verification import is_in_use, removes_resources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref.contract.event import Event
    from strongref.contract.names import Key
    from strongref.contract.properties import Properties
    from strongref.contract.values import Value
    from strongref.protocol.ports import Ports, StackInfo
    from strongref.protocol.time import Clock

PHYSICAL_ID_PREFIX = "strongref-import/"


def physical_id(stack: StackArn, logical_id: str, request: ImportRequest) -> str:
    """One generation of an import: another one as soon as it imports something else.

    So CloudFormation deletes the former generation in its cleanup phase, after everything else has succeeded: the new
    claims are made before the old ones are released.
    """
    return f"{PHYSICAL_ID_PREFIX}{stack.name}/{logical_id}/{short_hash(request.identity(stack, logical_id))}"


def attributes(values: Mapping[Key, Value]) -> dict[str, object]:
    """What `Fn::GetAtt` returns: all but secure values, which would pass through CloudFormation's events."""
    return {attribute_name(key): value.attribute for key, value in values.items() if not value.is_secure}


@dataclass(frozen=True, slots=True)
class Importer:
    """Carries out the events of Imports."""

    ports: Ports

    def handle(self, event: Event, clock: Clock) -> Response:
        """Carry out one event.

        Raises:
            StrongRefError: it failed; a `PartialCreateError` where a Create has put on claims, so that CloudFormation's
                Delete removes them.
        """
        return self._delete(event, clock) if event.request_type is RequestType.DELETE else self._import(event, clock)

    def _import(self, event: Event, clock: Clock) -> Response:
        """Parse, read, claim, verify, answer."""
        stack = event.stack_arn
        request = ImportRequest.parse(event.properties, stack)
        generation = physical_id(stack, event.logical_id, request)
        if request.names == ():
            return Response(generation, {})
        if event.request_type is RequestType.CREATE:
            self.ports.lag.check_service_timeout(event.service_timeout)  # its Delete may have to delete values
        scope = ExportScope(self._consumer(request, event.stack, clock), request.producer)
        claimant = Claimant(
            generation,
            event.stack,
            ImportingAccount(stack.account, request.consumer or stack.name),
            again=event.physical_id == generation,
            may_return=event.request_type is RequestType.UPDATE,  # it may be the rollback of one
            fits=lambda values: check_size(event, generation, attributes(values)),
        )
        store = self.ports.stores(stack.region, clock)
        attempt = ClaimAttempt(self.ports, store, clock, claimant, scope, request.names)
        if request.strength is Strength.WEAK:
            return Response(generation, attributes(attempt.read_weakly()))
        try:
            return Response(generation, attributes(attempt.hold()))
        except UnfinishedError:
            raise
        except StrongRefError as error:
            if attempt.claims:
                logger.warning("An import failed, and its claims remain", extra={"scope": scope.values})
                if event.request_type is RequestType.CREATE:
                    raise PartialCreateError(error, generation) from None
            raise

    def _delete(self, event: Event, clock: Clock) -> Response:
        """Parse, release the claims, and clean the prefix of a consumer that is being deleted."""
        stack = event.stack_arn
        request = _understood(event.properties, stack)
        generation = event.physical_id or ""
        if not generation.startswith(f"{PHYSICAL_ID_PREFIX}{stack.name}/{event.logical_id}/"):
            # A Create that never answered: CloudFormation made up an ID, but claims may have been put on. Nor does an
            # event release what another Import claims.
            if request is None:  # It was refused: nothing was claimed.
                return Response(event.physical_id or stack.name)
            generation = physical_id(stack, event.logical_id, request)
            if is_in_use(self.ports.stacks, event.stack, event.logical_id, generation):
                return Response(event.physical_id or generation)
        root = self._root(event.stack)
        if root and self.ports.lag.seconds and not removes_resources(root):  # Then this is what it was before.
            self.ports.lag.settle(clock)
            root = self._root(event.stack)
        name = root.name if root else stack.name
        holder = FenceHolder(event.logical_id, f"the cleanup of stack {stack.name}")
        release = ClaimRelease(self.ports, clock, stack.region, generation, holder)
        consumer_goes = root is not None and root.being_deleted
        if consumer_goes:
            release.clean(name)
        if request is None:
            release.release_everything()
        elif request.strength is Strength.STRONG and request.names != ():
            scope = ExportScope(SHARED if request.shared else request.consumer or name, request.producer)
            if not (consumer_goes and scope.consumer == name):
                release.release(scope, request.names)
        return Response(event.physical_id or generation)

    def _consumer(self, request: ImportRequest, stack: str, clock: Clock) -> str:
        if request.shared:
            return SHARED
        if request.consumer:
            return request.consumer
        info = self.ports.stacks.by_arn(stack)
        if info is None:  # It was created a moment ago.
            self.ports.lag.settle(clock)
            info = self.ports.stacks.by_arn(stack)
        return StackArn.parse(info.root_arn if info else stack).name

    def _root(self, stack: str) -> StackInfo | None:
        info = self.ports.stacks.by_arn(stack)
        return self.ports.stacks.by_arn(info.root_arn) if info and info.root_arn != info.arn else info


def _understood(properties: Properties, stack: StackArn) -> ImportRequest | None:
    """What a Delete's properties asked for; None if they were refused, or another version understood them."""
    try:
        return ImportRequest.parse(properties, stack)
    except BadRequestError:
        return None
