"""The notices of an Export's deployment, from its plans. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.contract.names import Key
from strongref.contract.notices import ImportedValue, change_refused, values_kept, values_propagated
from strongref.refusals import ExportsInUseError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from strongref.contract.event import Event
    from strongref.contract.notices import Notice
    from strongref.protocol.plan import ExportPlan, Importers, Refusal
    from strongref.protocol.snapshot import Snapshot

Planned = tuple["Snapshot", "ExportPlan"]
"""What was found in one place, and what to do there."""


def notices_of_refusal(event: Event, refusal: Refusal, planned: Sequence[Planned]) -> Iterator[Notice]:
    """The notice of a change that claims forbid. A refusal for another reason concerns only the person who deploys."""
    if not isinstance(refusal, ExportsInUseError):
        return
    in_use = [
        ImportedValue(snapshot.destination.region, plan.scope, Key(use.key), use.importers, use.verb)
        for snapshot, plan in planned
        for each in plan.refusals
        if isinstance(each, ExportsInUseError)
        for use in each.in_use
    ]
    yield change_refused(event, in_use, str(refusal))


def notices_of_overrides(event: Event, recorded: Sequence[Planned]) -> Iterator[Notice]:
    """The notices of claimed values that were changed or withdrawn, given the places whose record says so by now.

    A plan for the same place that is made later finds them in the record, or no longer in it: each value counts once,
    however many invocations work on the event.
    """
    if changed := [each for snapshot, plan in recorded for each in _imported(snapshot, plan, plan.propagated)]:
        yield values_propagated(event, changed)
    if kept := [
        each
        for snapshot, plan in recorded
        for each in _imported(snapshot, plan, plan.kept)
        if each.key in snapshot.stored.recorded
    ]:
        yield values_kept(event, kept)


def _imported(snapshot: Snapshot, plan: ExportPlan, claimed: Mapping[Key, Importers]) -> Iterator[ImportedValue]:
    for key, importers in claimed.items():
        yield ImportedValue(snapshot.destination.region, plan.scope, key, importers)
