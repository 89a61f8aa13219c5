"""The hold stacks of a manifest set: one in each region whose exports it uses (`strongref.contract.hold_stacks`).

The set's ledger lists those regions. A region is added before its hold stack is made, and removed after the stack is
gone, so every later run finds what an earlier one left, without a search. The janitors leave these stacks alone, as
they do with a set's claims.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from strongref.contract.hold_stacks import HOLDS, HoldStack
from strongref.contract.names import ExportScope, Key, ManifestSet, Producer, claim_tag
from strongref.errors import OutOfTimeError, ServiceError, StackLookupError, StrongRefError, UnfinishedError
from strongref.protocol.hold_keeper import HoldKeeper
from strongref.protocol.published import RecordedExports
from strongref.protocol.time import Clock, OnClock
from strongref.refusals import ChangingError

if TYPE_CHECKING:
    from strongref.protocol.ports import Ports, Store

    Keys = Mapping[ExportScope, Collection[Key]]
    Holds = Mapping[str, Mapping[str, str]]  # by region: CloudFormation exports with the ARNs of their stacks

T = TypeVar("T")

WAIT_SECONDS = 180.0
"""How long to wait for a hold stack, which takes CloudFormation seconds to make. A person waits for the command."""


class HoldLeftError(StrongRefError):
    """A hold stack holds more than it should, and everything else is done."""

    name: str
    stack: str
    region: str
    reason: str
    sentence = (
        "Stack {stack} in {region} still protects exports that manifests {name} no longer claim: {reason:500}. "
        "Everything else is done. Run the command again, or delete the stack."
    )


@dataclass(slots=True)
class FencedClock(OnClock):
    """`Clock` of a run that waits for stacks: it renews the run's fence, which only calls of Parameter Store renew."""

    fence: Clock

    def sleep(self, seconds: float) -> None:
        """Sleep, and raise `OutOfTimeError` if the fence has expired: another run may have begun."""
        self.fence.before_call("DescribeStacks")
        self.clock.sleep(seconds)
        if self.fence.remaining() <= 0:
            raise OutOfTimeError("DescribeStacks", "", "a hold stack", "any region")


@dataclass(frozen=True, slots=True)
class ManifestSetHolds:
    ports: Ports
    clock: Clock
    store: Store  # where the exports are
    manifests: ManifestSet
    record: Callable[[Collection[str]], None]  # adds names to the ledger of the set
    regions: set[str]  # where the set may have a hold stack

    @property
    def names(self) -> frozenset[str]:
        """The names of its regions in the ledger."""
        return frozenset(_name(region) for region in self.regions)

    def claim(self, used: Keys, former: Keys, claim: Callable[[], T]) -> T:
        """Hold what these exports name, claim them, and look once more that all of it is held.

        What the former exports name stays held in the same stacks, until `keep`.

        Raises:
            ChangingError: what the exports name kept changing until the wait timed out.
            StrongRefError: as `HoldKeeper.make`. Producers in progress are not waited for.
        """
        waiting = self.ports.patience.begin(self.clock)
        while True:
            needed, held = self.named(used), self.existing(former)
            self.record([_name(region) for region in sorted(needed.keys() - self.regions)])
            self.regions.update(needed)
            made = {region: {**held.get(region, {}), **exports} for region, exports in needed.items()}
            keepers = {region: self._keeper(region) for region in made}
            for region, exports in made.items():
                _make(keepers[region], exports)
            claimed = claim()
            if all(
                exports.items() <= made.get(region, {}).items() and keepers[region].is_effective(made[region])
                for region, exports in self.named(used).items()
            ):
                return claimed
            if not waiting.pause():
                raise waiting.over(ChangingError(f"manifests {self.manifests.name}", "the stack that holds them"))

    def keep(self, exports: Holds) -> list[HoldLeftError]:
        """Hold nothing but these, and delete the hold stacks that are left with nothing. Returns what was not done."""
        left = []
        for region in sorted(self.regions):
            keeper, needed = self._keeper(region), exports.get(region, {})
            try:
                reason = _make(keeper, needed) if needed else _delete(keeper)
            except UnfinishedError:
                raise
            except StrongRefError as error:
                asked = isinstance(error, (ServiceError, StackLookupError))
                reason = str(error).removesuffix(".") if asked else "it could not be updated"
            if reason:
                left.append(HoldLeftError(self.manifests.name, keeper.stack.name, region, reason))
            elif not needed:
                self.regions.discard(region)
        return left

    def named(self, used: Keys) -> Holds:
        """The CloudFormation exports that the records of these exports name; none of other accounts."""
        found: dict[str, dict[str, str]] = {}
        for scope, keys in used.items():
            if scope.producer.account == self.manifests.account:
                holds = RecordedExports.read(self.store, scope).readable().holds(keys)
                if holds:
                    found.setdefault(scope.producer.region, {}).update(holds)
        return found

    def existing(self, used: Keys) -> Holds:
        """What is named in regions with a hold stack, without exports that do not exist: those are not held either."""
        named = self.named({scope: used[scope] for scope in used if scope.producer.region in self.regions})
        return {
            region: {each: holds[each] for each in holds if self._exists(each, holds[each])}
            for region, holds in named.items()
        }

    def _exists(self, export: str, producer: str) -> bool:
        info = self.ports.stacks.by_arn(producer)
        return info is not None and not info.being_deleted and export in info.exports

    def _keeper(self, region: str) -> HoldKeeper:
        manifests, until = self.manifests, self.clock.now() + timedelta(seconds=WAIT_SECONDS)
        tag, producer = claim_tag(manifests.generation), Producer(manifests.account, region, "")
        stack = HoldStack(str(manifests), manifests.name, tag, manifests.account, self.store.region, "", producer)
        return HoldKeeper(self.ports, self.clock, stack, until=until, waits_for_producers=False)


def hold_regions(names: Iterable[str]) -> set[str]:
    """The regions of hold stacks among the names in a ledger."""
    return {name.removeprefix(_name("")) for name in names if name.startswith(_name(""))}


def _name(region: str) -> str:
    return f"{HOLDS}/{region}"


def _make(keeper: HoldKeeper, exports: Mapping[str, str]) -> str:
    if not keeper.is_made(exports):
        keeper.make(exports)
    return ""


def _delete(keeper: HoldKeeper) -> str:
    """Delete a hold stack; why it still exists, or empty."""
    left = keeper.delete(expected=True)
    return f"its deletion ends as {left.status}" if left else ""
