"""The places of one Export's event: those that are visited, and those that cannot be reached (`out_of_reach`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from strongref.contract.event import Event, RequestType
from strongref.contract.index import DENIED, DROPPED, FORGOTTEN, IndexEntry, Place
from strongref.contract.names import ExportScope, Producer
from strongref.errors import OutdatedRequestError, StoreError, StrongRefError, UnfinishedError, or_else
from strongref.log import logger
from strongref.protocol.export_index import ExportIndex
from strongref.protocol.fences import live_fence
from strongref.protocol.inspection import TagInspector
from strongref.protocol.lag import MustWaitError
from strongref.protocol.out_of_reach import is_out_of_reach, may_pass_over
from strongref.protocol.phases import Phase, phase_of
from strongref.protocol.planner import is_up_to_date, keys_to_inspect
from strongref.protocol.snapshot import Destination, Snapshot, read_scope
from strongref.protocol.stored_exports import ExportIdentity
from strongref.protocol.verification import is_superseded
from strongref.refusals import OutOfReachError

if TYPE_CHECKING:
    from strongref.protocol.behind_fences import FirstLook
    from strongref.protocol.export_event import ExportEvent
    from strongref.protocol.plan import ExportPlan
    from strongref.protocol.ports import Ports
    from strongref.protocol.time import Clock

FULL = "ParameterLimitExceeded"
"""The code of a call that would create more parameters than a region may have: not even a fence."""


@dataclass(slots=True)
class EventPlaces:
    ports: Ports
    event: Event
    wanted: ExportEvent
    clock: Clock  # the invocation's
    visited: list[Destination]  # behind fences
    entry: IndexEntry  # all that was read of the index, and written to it
    unreached: list[tuple[Destination, StoreError]] = field(default_factory=list)  # to be passed over, if they may
    has_begun: bool = False  # to write; what fails after that fails the event
    is_read: bool = False  # the index, behind the fences that stand now
    _was_read: bool = False

    def index(self, clock: Clock) -> ExportIndex:
        return ExportIndex(self.ports.stores(self.event.stack_arn.region, clock), self.wanted.export)

    def read_index(self, clock: Clock) -> IndexEntry:
        """What the index says, read behind the fences, together with what was read and written before.

        Raises:
            StrongRefError: it cannot be read.
        """
        if not self.is_read:
            found = self.index(clock).read()
            self.entry = self.entry.joined(found) if self._was_read else found
            self.is_read = self._was_read = True
        return self.entry

    def go_on_without(self, error: StoreError) -> None:
        """Leave out the places that a call could not reach; `check` decides whether the event may.

        Raises:
            StoreError: the given one, if it is of another kind, or if the event has something to do there.
        """
        out = [each for each in self.visited if each.site == (error.region, error.account)]
        if not (out and (error.code == FULL or is_out_of_reach(error))):
            raise error
        # The phase is certain then; and who names a place afterward sees this event when it looks again (`name`).
        self.clock.sleep(self.ports.lag.before_reading)
        phase = phase_of(self.event.request_type, partial(self.ports.stacks.by_arn, self.event.stack))
        if self.has_begun or (phase in (Phase.CREATE, Phase.UPDATE) and any(each.wanted for each in out)):
            self._note_denied(phase, out)
            raise error
        is_right = phase is Phase.ROLLBACK and self._are_right(out)
        if error.code == FULL and not is_right:  # What is there can be seen, whatever the index or a person says.
            raise error
        self.visited = [each for each in self.visited if each not in out]
        self.unreached += [] if is_right else [(each, error) for each in out]

    def check(self, phase: Phase, clock: Clock) -> None:
        """Check that the event may pass over what cannot be reached.

        Raises:
            OutOfReachError: it may not.
        """
        entry = self.read_index(clock)
        for at, error in self.unreached:
            if not may_pass_over(phase, at, entry):
                self._note_denied(phase, [each for each, _ in self.unreached])
                raise OutOfReachError(at.scope.producer.stack, at.scope.producer.region, error)

    def note_dropped(self, clock: Clock) -> None:
        """Note which forgotten places the Export has left: their janitor withdraws them, once they can be reached."""
        index, forgotten = self.index(clock), self.entry.forgotten
        left = [at for at, _ in self.unreached if at.place in forgotten and not at.is_residual]
        index.note(DROPPED, [at.place for at in left if not at.wanted], self.clock.now())
        index.remove([at.place for at in left if at.wanted], DROPPED)

    def create(self, planned: Iterable[tuple[Destination, ExportPlan]], look: FirstLook) -> None:
        """Name the places of a creation beside a look; raises `MustWaitError` if there are others.

        Names stay then: the event goes on. It is no write behind the fence, which nobody has to wait for.
        """

        def check() -> None:
            if any(look()):
                raise MustWaitError

        named = [at.place for at, _ in planned if at.wanted]
        self.index(self.clock).create(named, self.wanted.hold, self.event.requested or self.clock.now(), check)

    def name(self, phase: Phase, planned: Sequence[tuple[Destination, ExportPlan]], clock: Clock) -> None:
        """Name the places of these plans, with this request's date those that are about to be written to.

        Raises:
            OutdatedRequestError: CloudFormation does not wait for that anymore, whatever the dates say: its next event
                may have found nothing here, or passed over it.
            StrongRefError: the index cannot be written; in a rollback only if a place is new there, or was given up.
        """
        written = {at.place for at, plan in planned if plan.instructions or plan.unseen}
        published = {at.place for at, _ in planned if at.wanted}
        wanted = published - written
        hold, requested = self.wanted.hold, self.event.requested or self.clock.now()
        if not (written or wanted or hold):
            return
        index, is_rollback, must, is_late = self.index(clock), phase is Phase.ROLLBACK, False, False
        doubtful: set[Place] = set()  # where a rollback may have passed over
        new: set[Place] = set()
        try:
            entry = self.read_index(clock)
            new, marked = (written | wanted) - entry.places, published & (entry.forgotten | entry.dropped)
            denied = written & entry.denied.keys()
            must, doubtful = bool(marked), new | denied
            # What a rollback wants was named, and it was not denied itself: that is a late delivery of the Update.
            is_late = is_rollback and (
                any(entry.denied[at].request_id == self.event.request_id for at in denied)
                or (bool(new) and entry.is_exact and is_superseded(self.event, self.ports.stacks))
            )
            if marked and not is_late:
                index.unmark(marked)
            if not is_late:
                self.entry = index.name(entry, written | (wanted - entry.exact), hold, requested)
        except StrongRefError as error:
            own, named = self.event.stack_arn.account, self.entry.places
            is_unnamed = any(at.account != own for at in (written | wanted) - named)
            if (
                isinstance(error, UnfinishedError)
                or not is_rollback
                or must
                or is_unnamed
                or (new and self.entry.is_exact)
            ):
                raise
            logger.warning("The index could not be corrected", extra={"error": str(error)})
        # Only now: either the rollback reads what was named, or this look shows the rollback.
        if doubtful and not is_rollback and self.is_over:
            index.remove(new)
            is_late = True
        if is_late:
            raise OutdatedRequestError(self.event.logical_id)

    def remove(self, planned: Iterable[tuple[Snapshot, ExportPlan]], clock: Clock) -> None:
        """Remove from the index the places that a Delete emptied, or where another event found nothing.

        What an Update drops stays named, since its rollback must find it.
        """
        visited = [(each.destination, plan.kept, each.is_empty(self.wanted.export)) for each, plan in planned]
        is_delete = self.event.request_type is RequestType.DELETE
        gone = {at.place for at, kept, empty in visited if not (kept if is_delete else at.wanted or not empty)}
        if gone and not is_delete:
            entry = or_else(partial(self.read_index, clock), None)
            if entry is None:  # It names too much until the janitor repairs it.
                return
            gone &= entry.places | entry.denied.keys()
        self.index(clock).remove(gone, with_hold=is_delete)
        self.index(clock).remove(self.entry.forgotten & {at.place for at, *_ in visited} - gone, FORGOTTEN, DROPPED)

    @property
    def is_over(self) -> bool:
        """Whether CloudFormation does not wait for a Create or an Update anymore, whatever the dates say."""
        if self.event.request_type is RequestType.CREATE:
            resource = self.ports.stacks.resource(self.event.stack, self.event.logical_id)
            return resource is None or resource.status not in ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS")
        stack = self.ports.stacks.by_arn(self.event.stack)
        return stack is None or "ROLLBACK" in stack.status or "DELETE" in stack.status

    def _note_denied(self, phase: Phase, out: Iterable[Destination]) -> None:
        if phase is Phase.UPDATE:
            note_denied(self.ports, self.event, self.clock, [each.place for each in out])

    def _are_right(self, places: Iterable[Destination]) -> bool:
        """Whether places that cannot be written to can be read, and have all that is wanted: that needs no fence."""

        def is_right(at: Destination) -> bool:
            # First: whoever has begun before the rollback is at work, or what it wrote can be read.
            fence = live_fence(self.ports.at(at.site, self.clock), at.scope, self.clock)
            return fence is None and self.is_done(at)

        return or_else(lambda: all(map(is_right, places)), False)

    def is_done(self, at: Destination) -> bool:
        """Whether a look shows nothing to do in a place."""
        export, store = self.wanted.export, self.ports.at(at.site, self.clock)
        stored = read_scope(store, at.scope, export, TagInspector(self.ports.stacks))
        left = keys_to_inspect(export, at.wanted, stored, self.wanted.rewrite)
        return not left and is_up_to_date(export, at.wanted, stored, at.hold)


def note_denied(ports: Ports, event: Event, clock: Clock, out: Collection[Place] = ()) -> None:
    """Note which places an Update cannot reach that is refused before its first write: these, and all named ones.

    The next rollback may pass over them. What the Update has begun to write has the same date, which forbids that.
    """
    producer = event.stack_arn.producer
    index = ExportIndex(ports.stores(producer.region, clock), ExportIdentity(event.stack, event.logical_id))
    try:
        entry = index.read()
        lost = [
            *out,
            *(each for each in entry.places if each not in out and not _is_reached(ports, each, producer, clock)),
        ]
        if not lost or event.requested is None:
            return
        ports.lag.settle(clock)  # Since the event was sent: the phase is certain.
        stack = ports.stacks.by_arn(event.stack)
        if stack and "ROLLBACK" not in stack.status:
            noted = [each for each in lost if each in entry.places or not entry.is_exact]
            index.note(DENIED, noted, event.requested, event.request_id)
    except StrongRefError as error:  # The update's own reason is what its user has to see.
        logger.warning("An unreachable place could not be noted", extra={"error": str(error)})


def _is_reached(ports: Ports, place: Place, producer: Producer, clock: Clock) -> bool:
    """Whether a place can be read, at a path that another account's role may read."""
    try:
        ports.at(place.site(producer), clock).under(ExportScope(place.consumer, producer).path("fences"))
    except StoreError as error:
        return not is_out_of_reach(error)
    return True
