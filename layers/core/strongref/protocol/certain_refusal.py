"""Refuses a change of imported values before a fence is put up: it takes half of the time, and nobody waits for it.

A refusal changes nothing, so it needs no fence. It needs reads that show all that was done before the event was sent:
the stack's phase, the records of its other Exports, and claims that have gone. Everything else is left to the look
behind the fences: what is allowed, and what is not certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from strongref.contract.names import Key, owner_tag
from strongref.contract.requests import OnChange
from strongref.errors import or_else
from strongref.protocol.behind_fences import FencedStore
from strongref.protocol.export_attempt import Planned, check_not_refused, plans_for
from strongref.protocol.fences import live_fence
from strongref.protocol.inspection import TagInspector
from strongref.protocol.phases import Phase
from strongref.protocol.planner import is_up_to_date, keys_to_inspect
from strongref.protocol.side_by_side import Work, carry_out
from strongref.protocol.snapshot import Destination, Snapshot, read_behind_fences
from strongref.protocol.stored_exports import split_tags
from strongref.refusals import ExportsInUseError

if TYPE_CHECKING:
    from strongref.contract.event import Event
    from strongref.protocol.export_event import ExportEvent
    from strongref.protocol.plan import ExportPlan
    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock

SAMPLE = 2
"""How many values of a place are looked at first. So a change that is allowed makes hardly more calls."""

SIGNED = timedelta(seconds=2)
"""How long after its date a response URL was signed, at most: dates have whole seconds, and clocks differ."""


def refuse_if_certain(ports: Ports, event: Event, wanted: ExportEvent, clock: Clock) -> None:
    """Refuse an Update that begins now if it is certain that it changes or drops an imported value.

    Raises:
        ExportsInUseError: it is. Otherwise nothing is done.
    """
    # If it fails, the look behind the fences says what is wrong.
    check_not_refused(ports, event, or_else(partial(_look, ports, event, wanted, clock), []))


def _seems_claimed(ports: Ports, wanted: ExportEvent, clock: Clock) -> bool:
    """Whether one of the first values that change has the claim of an import, as far as reads show that may be late.

    One importer is looked up: that its claim is stale would only be certain after the wait, which no change is to have
    twice. What another Export owns as well may be dropped.
    """
    found: list[Mapping[str, str] | None] = []
    carry_out(
        Work(store, iter([[partial(_read_tags, found, store, at.scope.parameter_name(key)) for key in keys]]))
        for at in wanted.destinations
        if (keys := _changing(at, wanted)[:SAMPLE])
        for store in [ports.at(at.site, clock)]
    )
    inspector, own = TagInspector(ports.stacks), owner_tag(wanted.export.logical_id)
    for _, owners, claims in map(split_tags, filter(None, found)):
        for importer in claims.values() if owners.keys() <= {own} else ():
            if stack := inspector.claiming_stack(importer):  # Manifests claim, too, and stacks of other accounts.
                return any(tag in stack.claims for tag in claims)
    return False


def _is_updating(ports: Ports, event: Event) -> bool:
    stack = ports.stacks.by_arn(event.stack)
    return stack is not None and stack.status == "UPDATE_IN_PROGRESS"


def _read_tags(found: list[Mapping[str, str] | None], store: Store, name: str) -> None:
    found.append(store.tags(name))


def _changing(at: Destination, wanted: ExportEvent) -> list[Key]:
    """The keys that the Update changes or drops in a place, going by its old properties."""
    former = wanted.former
    if former is None or not former.publishes_to(at.site, at.scope):
        return []
    may_change = wanted.on_change is OnChange.PROPAGATE
    return [
        key
        for key, value in former.values.items()
        if key not in at.wanted or not (at.wanted[key] == value or (may_change and at.wanted[key].type is value.type))
    ]


def _wait(ports: Ports, event: Event, clock: Clock, arrived: datetime) -> None:
    """Wait until reads show all that was done before the event was sent."""
    lag = ports.lag
    ends = arrived + timedelta(seconds=lag.after_writing)
    if event.signed:
        ends = min(ends, event.signed + timedelta(seconds=lag.seconds) + SIGNED)
    if (left := (ends - clock.now()).total_seconds()) > 0:
        clock.sleep(left)


def _look(ports: Ports, event: Event, wanted: ExportEvent, clock: Clock) -> list[Planned]:
    """What is found in every place with its plan; nothing where a fence has to decide."""
    arrived = clock.now()
    if wanted.rewrite or not (_seems_claimed(ports, wanted, clock) and _is_updating(ports, event)):
        return []
    _wait(ports, event, clock, arrived)
    fenced = [FencedStore(ports.at(each.site, clock), clock) for each in wanted.destinations]
    # Before everything else: what another Export has written behind its fence can be read when the fence is gone.
    if any(live_fence(at.store, each.scope, clock) for at, each in zip(fenced, wanted.destinations, strict=True)):
        return []
    inspector = TagInspector(ports.stacks)
    if not _is_updating(ports, event):
        return []
    snapshots = read_behind_fences(fenced, wanted.destinations, wanted.export, inspector, wanted.rewrite)
    found = plans_for(event, wanted, Phase.UPDATE, snapshots, ports.stacks)
    is_listed = any(_listed(inspector, *each) for each in found)
    return found if is_listed and all(_is_settled(event, wanted, each) for each in snapshots) else []


def _is_settled(event: Event, wanted: ExportEvent, snapshot: Snapshot) -> bool:
    """Whether a place is as the former properties say, and no later request, nor this one, has written there.

    What is not may be for the rollback to correct: only an update that meets a fence notes which places it cannot write
    to, so that its rollback may pass over them.
    """
    at, former, own, stamp = snapshot.destination, wanted.former, snapshot.stored.own, event.stamp
    published = former if former and former.publishes_to(at.site, at.scope) else None
    before, hold = (published.values, published.hold) if published else ({}, "")
    if not is_up_to_date(wanted.export, before, snapshot.stored, hold):
        return False
    is_new = own is None or stamp is None or not (stamp == own.last or stamp.is_outdated_by(own.last))
    return is_new and not keys_to_inspect(wanted.export, before, snapshot.stored)


def _listed(inspector: TagInspector, snapshot: Snapshot, plan: ExportPlan) -> bool:
    """Whether a claim that forbids a change is one of an import that CloudFormation lists in a stack at rest."""
    refused = [Key(use.key) for each in plan.refusals if isinstance(each, ExportsInUseError) for use in each.in_use]
    claims = ((tag, by) for key in refused for tag, by in snapshot.tags[key].claims.items())
    return any((stack := inspector.claiming_stack(by)) and tag in stack.claims for tag, by in claims)
