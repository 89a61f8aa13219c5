"""Takes claims and their holds off values, and leaves a trace of who did it, when and why."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from strongref.contract.hold_stacks import HoldStack
from strongref.contract.names import CLAIM_TAG, BadArnError, ExportScope, Key, StackArn
from strongref.contract.releases import Release
from strongref.contract.values import ParameterType
from strongref.errors import StrongRefError
from strongref.log import logger
from strongref.protocol.cleanup import ClaimRelease
from strongref.protocol.fences import FenceHolder
from strongref.protocol.hold_keeper import HoldKeeper, OwnStacks
from strongref.protocol.published import RecordedExports
from strongref.protocol.stored_exports import split_tags
from strongref_cli.overview.exports import Claim, ExportedValue, participant_of
from strongref_cli.overview.states import ImportState, Protection
from strongref_toolkit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from strongref.protocol.ports import Ports
    from strongref.protocol.time import Clock

_HOLDER = FenceHolder("release", "strongref release")


@dataclass(frozen=True, slots=True, order=True)
class ClaimedValue:
    """A value with the claim that is to be released."""

    region: str  # where the value is stored
    scope: ExportScope
    claim: Claim
    key: Key


def claims_on(ports: Ports, clock: Clock, value: ExportedValue) -> Iterator[ClaimedValue]:
    """The claims on a value as they are now: what was read in bulk may be late, and does not decide this.

    Raises:
        StrongRefError: a call failed.
    """
    known = {claim.tag: claim for claim in value.claims}
    tags = ports.stores(value.region, clock).tags(value.scope.parameter_name(value.key)) or {}
    for tag, importer in tags.items():
        if tag.startswith(CLAIM_TAG):
            claim = known.get(tag) or Claim(importer, tag, ImportState.UNKNOWN, Protection.UNKNOWN)
            yield ClaimedValue(value.region, value.scope, claim, value.key)


def claims_of(values: Collection[ClaimedValue], consumer: str) -> list[ClaimedValue]:
    """The claims of one consumer, given its name: of a stack `stack:NAME`, of a manifest set `manifests:NAME`.

    The kind may be left out if only one of the two has the name.

    Raises:
        UsageError: both have it.
    """
    named: dict[str, list[ClaimedValue]] = defaultdict(list)
    for each in values:
        who = participant_of(each.claim.importer)
        if consumer in (who.name, f"{who.kind}:{who.name}"):
            named[who.kind].append(each)
    if len(named) > 1:
        choices = " or ".join(f"--consumer {kind}:{consumer}" for kind in sorted(named, reverse=True))
        raise UsageError(f"a stack and a manifest set named {consumer} import this: give {choices}")
    return next(iter(named.values()), [])


def by_import(values: Iterable[ClaimedValue]) -> list[list[ClaimedValue]]:
    """The claims of each import on what it imports from one producer."""
    return [list(group) for _, group in groupby(sorted(values), lambda each: (each.region, each.scope, each.claim.tag))]


def release(ports: Ports, clock: Clock, values: list[ClaimedValue], by: str, reason: str) -> list[Release]:
    """Release the claims of one import, and its hold if no other of its claims needs it.

    The traces come first, so nothing is released without one.

    `values` are one of `by_import`, and `by` is the ARN of the caller.

    Raises:
        NewerFormatError: a later version of strongref wrote a record of the values. Nothing was released.
        StrongRefError: a call failed. Running it again completes it.
    """
    region, scope, claim = values[0].region, values[0].scope, values[0].claim
    store, at = ports.stores(region, clock), clock.now().replace(microsecond=0)
    RecordedExports.read(store, scope).readable()  # Without what it says, no claim or hold can be judged.
    traces = [
        Release(scope.producer.stack, each.key, scope.consumer, claim.importer, claim.tag, by, at, reason)
        for each in values
    ]
    for trace in traces:
        store.create(trace.name, ParameterType.STRING, trace.encode(), {})
    ClaimRelease(ports, clock, region, claim.tag, _HOLDER).release(scope, [each.key for each in values])
    try:
        importer = StackArn.parse(claim.importer)
    except BadArnError:  # No Import has made it, so nothing has made a hold for it.
        return traces
    if importer.account == scope.producer.account:
        _release_hold(ports, clock, HoldStack.of_import(importer, claim.tag, scope))
    return traces


def _release_hold(ports: Ports, clock: Clock, hold: HoldStack) -> None:
    """Hold no more than the import still claims, as the janitor would. What fails is left to the janitor."""
    scope, store = hold.scope, ports.stores(hold.region, clock)
    keeper = HoldKeeper(ports, clock, hold, OwnStacks(ports.stacks.by_arn, hold.importer), waits_for_producers=False)
    if not keeper.may_exist():
        return
    ports.lag.settle(clock)  # Then reads show which claims are gone.
    names = store.under(scope.path("exports"), decrypted=False)
    tags = {scope.key(name): store.tags(name) or {} for name in names}
    left = {key: split_tags(each)[1] for key, each in tags.items() if hold.claim in each}
    recorded = RecordedExports.read(store, scope).readable()
    if left and (recorded.torn or recorded.may_hold(left)):
        return  # What cannot be read may need the hold.
    if holds := keeper.needed(recorded.holds(left)):
        try:
            keeper.begin(holds)
        except StrongRefError as error:
            logger.warning("A hold is left to the janitor", extra={"hold": hold.name, "error": str(error)})
    else:
        keeper.remove(expected=True)
