"""Takes a claim and its hold off a value, and leaves a trace of who did it, when and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.holds import HoldStack
from strongref.contract.names import StackArn
from strongref.contract.releases import Release
from strongref.contract.values import ParameterType
from strongref.protocol.cleanup import ClaimRelease
from strongref.protocol.fences import FenceHolder
from strongref.protocol.hold_stacks import HoldKeeper, OwnStacks
from strongref.protocol.published import RecordedExports

if TYPE_CHECKING:
    from strongref.contract.names import ExportScope, Key
    from strongref.protocol.ports import Ports
    from strongref.protocol.time import Clock
    from strongref_overview.exports import Claim

_HOLDER = FenceHolder("release", "strongref release")


@dataclass(frozen=True, slots=True)
class ClaimedValue:
    """A value with the claim that is to be released."""

    region: str  # where the value is stored
    scope: ExportScope
    key: Key
    claim: Claim


def release(ports: Ports, clock: Clock, value: ClaimedValue, by: str, reason: str) -> Release:
    """Release a stack's claim on a value, and its hold if no other claim of the same import needs it.

    The trace comes first, so nothing is released without one.

    Args:
        ports: what calls go through.
        clock: the time, and how much of it is left.
        value: the value and the claim.
        by: the ARN of the caller.
        reason: why, at most `releases.MAX_REASON` characters.

    Raises:
        StrongRefError: a call failed. Running it again completes it.
    """
    scope, store = value.scope, ports.stores(value.region, clock)
    at = clock.now().replace(microsecond=0)
    trace = Release(
        scope.producer.stack, value.key, scope.consumer, value.claim.importer, value.claim.tag, by, at, reason
    )
    store.create(trace.name, ParameterType.STRING, trace.encode(), {})
    ClaimRelease(ports, clock, value.region, value.claim.tag, _HOLDER).release(scope, [value.key])
    _release_hold(ports, clock, value)
    return trace


def _release_hold(ports: Ports, clock: Clock, value: ClaimedValue) -> None:
    """Hold no more than the import still claims, as the janitor would."""
    scope, claim = value.scope, value.claim
    store = ports.stores(value.region, clock)
    keeper = HoldKeeper(
        ports,
        clock,
        HoldStack.of_import(StackArn.parse(claim.importer), claim.tag, scope),
        OwnStacks(ports.stacks.by_arn, claim.importer),
        waits_for_producers=False,
    )
    if not keeper.may_exist():
        return
    names = store.under(scope.values, decrypted=False)
    left = [scope.key(name) for name in names if claim.tag in (store.tags(name) or {})]
    holds = keeper.needed(RecordedExports.read(store, scope).holds(left))
    if holds:
        keeper.begin(holds)
    else:
        keeper.remove(expected=True)
