"""What a `Custom::CrossRegionImport` does: read exports and, if strong, claim them; release them when it is deleted.

An import that fails does not release what it has claimed: the same event may have been delivered twice, and the other
invocation may rely on it. CloudFormation knows which of the two it believed. After a failed Create it sends a Delete,
which removes the claims; those of a failed Update are stale as soon as its stack is at rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from strongref.contract.event import Event, RequestType
from strongref.contract.hold_stacks import HoldStack
from strongref.contract.names import (
    SHARED,
    ExportScope,
    Key,
    Producer,
    Site,
    StackArn,
    by_scope,
    claim_tag,
    consumer_prefix,
    short_hash,
)
from strongref.contract.requests import ImportRequest, Strength, accepted
from strongref.contract.response import Response, check_size
from strongref.contract.unclaimed import Unclaimed
from strongref.errors import PartialCreateError, StrongRefError, UnfinishedError, or_else
from strongref.grouping import grouped
from strongref.log import logger
from strongref.protocol.behind_fences import FencedStore, behind_fences
from strongref.protocol.claims import Claimant, ClaimAttempt
from strongref.protocol.cleanup import ClaimRelease
from strongref.protocol.fences import FenceHolder
from strongref.protocol.hold_keeper import HoldKeeper, OwnStacks
from strongref.protocol.phases import POLICIES, ImportPolicy, phase_of
from strongref.protocol.published import ImportingAccount, RecordedExports
from strongref.protocol.time import Clock, Until
from strongref.protocol.verification import is_in_progress, is_in_use, is_superseded, removes_resources
from strongref.text import attribute_name

if TYPE_CHECKING:
    from strongref.contract.values import Value
    from strongref.protocol.ports import Ports, StackInfo
    from strongref.protocol.several_producers import SeveralProducers

PHYSICAL_ID_PREFIX = "strongref-import/"

ROLLBACK_SECONDS = 60.0
"""What the last invocation for a rollback keeps for values that it cannot claim."""


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
    ports: Ports

    def handle(self, event: Event, clock: Clock) -> Response:
        """Carry out one event.

        Raises:
            StrongRefError: it failed; a `PartialCreateError` where a Create has put on claims, so that CloudFormation's
                Delete removes them.
        """
        return self._delete(event, clock) if event.request_type is RequestType.DELETE else self._import(event, clock)

    def _import(self, event: Event, clock: Clock) -> Response:
        stack = event.stack_arn
        request = ImportRequest.parse(event.properties, stack)
        generation = physical_id(stack, event.logical_id, request)
        if request.names == ():
            return Response(generation, {})
        if event.request_type is RequestType.CREATE:
            self.ports.lag.check_service_timeout(event.service_timeout)  # its Delete may have to delete values
        consumer = self._consumer(request, event.stack, clock)
        claimant = Claimant(
            generation,
            event.stack,
            ImportingAccount(stack.account, stack.name),
            again=event.physical_id == generation,
            outlasts_fences=True,
            may_return=event.request_type is RequestType.UPDATE,  # it may be the rollback of one
            fits=lambda values: check_size(event, generation, attributes(values)),
            policy=partial(self._policy, event, clock),
        )
        limited, strong = self._limited(event, clock), request.strength is Strength.STRONG
        attempt = self._attempt(event, request, consumer, claimant, limited)
        try:
            values = attempt.claim() if strong else attempt.read_weakly()
        except StrongRefError as error:
            if isinstance(error, UnfinishedError) and limited is clock:
                raise
            if self._is_rollback(event, clock):
                from strongref.protocol.import_rollback import roll_back  # noqa: PLC0415 (few events need it)

                at = self.ports.stores(stack.region, clock), clock
                values, reason = roll_back(attempt, at, error, strong=strong, is_last=limited is not clock)
                return Response(generation, attributes(values), reason)
            if attempt.has_made:
                logger.warning("An import failed, and what it made remains", extra={"consumer": consumer})
                if event.request_type is RequestType.CREATE:
                    raise PartialCreateError(error, generation) from None
            raise
        if event.request_type is RequestType.UPDATE:
            with suppress(StrongRefError):  # Then the janitor goes on reporting it.
                store = self.ports.stores(stack.region, limited)
                store.delete(store.get([Unclaimed(event.stack, claim_tag(generation)).name]))
        for holds, attempts in attempt.unneeded if claimant.again else ():
            self._release_hold(event.logical_id, attempts, holds)
        return Response(generation, attributes(values), attempt.notice)

    def _attempt(
        self, event: Event, request: ImportRequest, consumer: str, claimant: Claimant, clock: Clock
    ) -> ClaimAttempt | SeveralProducers:
        strong, store = request.strength is Strength.STRONG, self.ports.stores(event.stack_arn.region, clock)
        if request.producer:
            scope = ExportScope(consumer, request.producer)
            holds = self._holds(event, claimant.generation, scope, clock) if strong else None
            return ClaimAttempt(self.ports, store, clock, claimant, scope, request.names, holds)
        from strongref.protocol.several_producers import SeveralProducers  # noqa: PLC0415 (few Imports need it)

        def keeper(region: str) -> HoldKeeper:
            several = ExportScope(consumer, Producer(event.stack_arn.account, region, ""))
            return self._keeper(event, claimant.generation, several, clock)

        names = request.names or ()
        return SeveralProducers(self.ports, store, clock, claimant, consumer, names, keeper if strong else None)

    def _delete(self, event: Event, clock: Clock) -> Response:
        """Parse, release the claims, and clean the prefix of a consumer that is being deleted."""
        stack = event.stack_arn
        request = accepted(ImportRequest.parse, event.properties, stack)
        given = generation = event.physical_id or ""
        if not generation.startswith(f"{PHYSICAL_ID_PREFIX}{stack.name}/{event.logical_id}/"):
            # A Create that never answered: CloudFormation made up an ID, but claims may have been put on. Nor does an
            # event release what another Import claims.
            if request is None:  # It was refused: nothing was claimed.
                return Response(given)
            generation = physical_id(stack, event.logical_id, request)
            if is_in_use(self.ports.stacks, event.stack, event.logical_id, generation):
                return Response(given)
        # A root that removes nothing is what it was before.
        look = partial(self._root, event.stack)
        root = self.ports.lag.certain(clock, look, lambda found: found is None or removes_resources(found))
        name = root.name if root else stack.name
        holder = FenceHolder(event.logical_id, f"the cleanup of stack {stack.name}")
        release = ClaimRelease(self.ports, clock, stack.region, claim_tag(generation), holder)
        policy = POLICIES[phase_of(event.request_type, lambda: root)].imports
        # A stack may have the name of a label that others import by: only who reads from a prefix cleans it.
        reads = request is not None and not request.shared and request.names != () and request.consumer in (None, name)
        consumer_goes = root is not None and policy is ImportPolicy.CLEAN and reads
        scopes: list[ExportScope] = []
        if request is None:
            scopes = release.release_below("/strongref/exports", None)
        if consumer_goes:
            release.clean(name)
        if request is not None and request.strength is Strength.STRONG and request.names != ():
            consumer = SHARED if request.shared else request.consumer or name
            let_go: Callable[[], object]
            if request.producer:
                scopes = [ExportScope(consumer, request.producer)]
                let_go = partial(release.release, scopes[0], request.names)
            else:
                below = consumer_prefix(consumer, "records")
                scopes = list(by_scope("records", self.ports.stores(stack.region, clock).under(below, decrypted=False)))
                let_go = partial(release.release_below, consumer_prefix(consumer), request.names)
            if not consumer_goes:
                _in_time(event, clock, let_go)
        for those in grouped(((each.producer.account, each.producer.region), each) for each in scopes).values():
            _in_time(event, clock, partial(self._remove_hold, event, generation, those, clock))
        return Response(given)

    def _holds(self, event: Event, generation: str, scope: ExportScope, clock: Clock) -> HoldKeeper | None:
        """What makes the hold of an import; None if the producer is in another account."""
        is_own = scope.producer.account == event.stack_arn.account
        return self._keeper(event, generation, scope, clock) if is_own else None

    def _keeper(self, event: Event, generation: str, scope: ExportScope, clock: Clock) -> HoldKeeper:
        until = event.invocation(clock.now()).since + timedelta(seconds=event.service_timeout / 2)
        own_stacks = OwnStacks(partial(self._created, clock), event.stack)

        def is_given_up() -> bool:
            return not is_in_progress(event, self.ports.stacks.resource(event.stack, event.logical_id))

        stack = HoldStack.of_import(event.stack_arn, claim_tag(generation), scope)
        return HoldKeeper(self.ports, clock, stack, own_stacks, until, is_given_up=is_given_up)

    def _release_hold(self, logical_id: str, attempts: Sequence[ClaimAttempt], holds: HoldKeeper) -> None:
        """Delete a hold that nothing needs anymore, and wait a little for that; the janitor deletes what is left.

        Behind a fence, as the janitor does: another invocation may need a hold again and have just made this one.
        """

        def delete(fenced: list[FencedStore]) -> bool:
            may_go = all(each.may_release_hold(holds, at.store) for each, at in zip(attempts, fenced, strict=True))
            if may_go:
                replace(holds, clock=fenced[0].clock).begin({})
                self.ports.lag.settle(fenced[0].clock)
            return may_go

        holder = FenceHolder(logical_id, f"the release of {holds.stack.name}")
        sites = [(Site(each.store.region), each.scope) for each in attempts]
        with holds.left_to_janitor():
            if behind_fences(self.ports, attempts[0].clock, sites, holder, delete):
                holds.wait_until_deleted()

    def _policy(self, event: Event, clock: Clock) -> ImportPolicy:
        if event.request_type is RequestType.UPDATE:
            self.ports.lag.settle(clock)  # An earlier look may show what the stack was doing before the event.
        return POLICIES[phase_of(event.request_type, partial(self.ports.stacks.by_arn, event.stack))].imports

    def _is_rollback(self, event: Event, clock: Clock) -> bool:
        """Whether this is a rollback's own event for certain, not a second delivery of the Update that failed."""

        def look() -> bool:
            if self._policy(event, clock) is not ImportPolicy.CLAIM_UNHELD:
                return False
            self.ports.lag.settle(clock)  # The Update ended before its rollback began.
            return not is_superseded(event, self.ports.stacks)

        return or_else(look, False)

    def _limited(self, event: Event, clock: Clock) -> Clock:
        """The clock of a normal import. The last invocation for an Update keeps time for the case of a rollback."""
        now, left = clock.now(), clock.remaining()
        is_last = now + timedelta(seconds=left) >= event.invocation(now).continues_until
        if event.request_type is not RequestType.UPDATE or not is_last:
            return clock
        return Until(clock, now + timedelta(seconds=left - min(ROLLBACK_SECONDS, left / 2)))

    def _remove_hold(self, event: Event, generation: str, scopes: Sequence[ExportScope], clock: Clock) -> None:
        """Delete the hold of a region's scopes; their records say whether there was one."""
        if keeper := self._holds(event, generation, scopes[0], clock):
            store = self.ports.stores(event.stack_arn.region, clock)

            def is_named() -> bool:
                return any(each.hold for of in scopes for each in RecordedExports.read(store, of).records.values())

            # Reading them is for the hold only, which must not fail a Delete.
            expected = or_else(is_named, True)
            with keeper.left_to_janitor():
                keeper.delete(expected=expected)

    def _consumer(self, request: ImportRequest, stack: str, clock: Clock) -> str:
        if request.shared:
            return SHARED
        if request.consumer:
            return request.consumer
        info = self._created(clock, stack)
        return StackArn.parse(info.root_arn if info else stack).name

    def _created(self, clock: Clock, stack: str) -> StackInfo | None:
        """A stack that may have been created a moment ago."""
        look = partial(self.ports.stacks.by_arn, stack)
        return self.ports.lag.certain(clock, look, lambda found: found is not None)

    def _root(self, stack: str) -> StackInfo | None:
        info = self.ports.stacks.by_arn(stack)
        return self.ports.stacks.by_arn(info.root_arn) if info and info.root_arn != info.arn else info


def _in_time(event: Event, clock: Clock, act: Callable[[], object]) -> None:
    """Do for a Delete what the janitor does, too: claims are stale as soon as it succeeds. It has what time is left."""
    try:
        act()
    except UnfinishedError as error:
        if clock.now() < event.invocation(clock.now()).continues_until:
            raise
        logger.warning("Claims or holds are left to the janitor", extra={"error": str(error)})
