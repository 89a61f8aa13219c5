"""What the janitor does about holds: it makes those that imports lack, and deletes those whose import is gone.

The janitor of the importing region compares claims with holds. That of the producer's region, where the hold stacks
are, deletes those whose import CloudFormation does not list any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from strongref.contract.format import check_hold_format
from strongref.contract.hold_stacks import HOLDS, HoldParameter, HoldStack, held_exports
from strongref.contract.names import ExportScope, Key, Producer, Site, StackArn, claim_tag
from strongref.errors import NewerFormatError, StrongRefError, UnfinishedError
from strongref.log import logger
from strongref.memo import Memo
from strongref.protocol.behind_fences import FencedStore, behind_fences
from strongref.protocol.findings import Finding, FindingType
from strongref.protocol.hold_keeper import PAUSE, HoldKeeper, OwnStacks, scopes_of
from strongref.protocol.hold_steps import HoldStep
from strongref.protocol.inspection import TagInspector
from strongref.protocol.janitor_failures import HOLDER, Tender, tolerated
from strongref.protocol.published import RecordedExports
from strongref.protocol.staleness import is_stale, is_stale_twice
from strongref.refusals import ChangingError, HoldFailedError, HoldPendingError

if TYPE_CHECKING:
    from strongref.protocol.ports import Store
    from strongref.protocol.stored_exports import ValueTags

Claim = tuple[str, str]
"""The key of a claim's tag, and the ARN of the importing stack."""

Claims = dict[Claim, dict[Key, Collection[str]]]
"""For each claim the keys that it is on, each with its owner tags."""

CONFIRM_SECONDS = 60.0
"""How long a run waits for the holds that it began to make."""

READ_AGAIN = 1000
"""Values whose claims are read again if an earlier invocation has read them."""

YOUNG = timedelta(hours=1)
"""Hold stacks younger than this are left alone: the import that made one may still be at work."""


def add_claims(found: Claims, tags: Mapping[Key, ValueTags]) -> None:
    """Add the live claims on values."""
    for key, each in tags.items():
        for claim in each.claims.items():
            found.setdefault(claim, {})[key] = each.owners


def _completed(
    keeper: HoldKeeper, needed: Mapping[str, str], held: Collection[str]
) -> tuple[HoldKeeper, Mapping[str, str]]:
    """What a hold should be, and what makes it so.

    One that holds for several producers is only added to: a look at one of them shows what is missing, and not what is
    too much. It goes as a whole with its import.
    """
    with suppress(HoldFailedError, NewerFormatError):  # A repair reports these.
        if needed.keys() != held and (several := keeper.of_several()):
            return several, {**dict.fromkeys(held, ""), **needed}
    return keeper, needed


@dataclass(slots=True)
class HoldTender(Tender):
    """Tends to the holds of one region's imports, and to the hold stacks in that region."""

    withdrawn: Collection[str] = ()  # the Exports of the scope that are withdrawn, although no mark says so
    _begun: list[tuple[HoldKeeper, Mapping[str, str]]] = field(default_factory=list)  # and what each is to hold
    _done: list[Finding] = field(default_factory=list)
    _named: Memo[str, list[str]] = field(default_factory=Memo)  # the parameters of holds, by region
    _listed: Memo[str, Mapping[str, frozenset[str]]] = field(default_factory=Memo)  # what is held, by region and hash
    # the names of the stacks that import a CloudFormation export, by its region and name
    _importing: Memo[tuple[str, str], frozenset[str]] = field(default_factory=Memo)
    # the hashes that the imports of a stack may have, by its name and region; None if it may be getting others
    _imports: Memo[tuple[str, str], frozenset[str] | None] = field(default_factory=Memo)

    def make_missing(  # noqa: PLR0913, PLR0917
        self,
        scope: ExportScope,
        recorded: RecordedExports,
        claims: Claims,
        unread: Sequence[Key],
        first: TagInspector,
        after: str = "",
    ) -> Iterator[tuple[str, tuple[Finding, ...]]]:
        """Begin to make every import of a scope hold what its exports name, no more and no less; see `confirm`.

        `claims` are those that this invocation has read: they are completed here, with those of the keys that an
        earlier one has read (`unread`). `after` is the tag of the last claim that one has begun to look after.

        Yields:
            The tag of each claim in order: first without findings, before it is looked after, then with what was found.
        """
        if recorded.torn:
            return  # What cannot be read may need the holds that there are.
        if recorded.all_holds:
            if len(unread) > READ_AGAIN:
                logger.warning("Too many values to look after their holds", extra={"path": scope.path("exports")})
                return
            failed: list[Finding] = []
            message = "The holds of imports could not be looked after"
            with tolerated(self.failed, failed, message, scope.path("exports")):
                add_claims(claims, first.inspect_in_scope(self.ports.stores(self.region, self.clock), scope, unread))
            if failed:
                yield after, tuple(failed)
                return
        for claim, keys in sorted(claims.items()):
            keeper = self._keeper(scope, claim, first) if claim[0] > after else None
            failed = []
            about = {"importer": claim[1], "hold": keeper.stack.name} if keeper else {"importer": claim[1]}
            message = "The hold of an import could not be looked after"
            with tolerated(self.failed, failed, message, scope.path("exports"), claim[1], **about):
                if keeper and self._is_wrong(keeper, recorded, keys):
                    yield claim[0], ()
                    yield claim[0], tuple(self._repaired(keeper, claim, keys, first))
            if failed:
                yield claim[0], tuple(failed)

    def confirm(self) -> Iterator[Finding]:
        """Wait a little until the holds that were begun are made, and report what became of each."""
        waited = 0.0
        while self._begun and waited < CONFIRM_SECONDS:
            self._begun = [(keeper, holds) for keeper, holds in self._begun if not self._is_done(keeper, holds)]
            if self._begun:
                self.clock.sleep(PAUSE)
                waited += PAUSE
        yield from self._done
        for keeper, _ in self._begun:
            yield Finding(FindingType.HOLD_PENDING, keeper.stack.name, (keeper.stack.importer,))
        self._begun, self._done = [], []

    def _is_done(self, keeper: HoldKeeper, holds: Mapping[str, str]) -> bool:
        """Whether nothing is left to be waited for: a hold is made, or cannot be."""
        try:
            is_early = keeper.is_made(holds, is_listed=True) and keeper.is_early  # Wait for all of them at once.
            if is_early or keeper.begin(holds) is not HoldStep.NONE:
                return False
            found = Finding(FindingType.UNHELD, keeper.stack.name, (keeper.stack.importer,))
        except StrongRefError as error:
            found = self._not_made(keeper, error)
        self._done.append(found)
        return True

    def delete_stale(self) -> Iterator[Finding]:
        """Delete the hold stacks of this region whose import is gone."""
        first = TagInspector(self.ports.stacks)
        names = set()
        failed: list[Finding] = []
        for each in self.held():
            name = each.stack
            with tolerated(self.failed, failed, "A hold could not be looked after", name, stack=each.label):
                hashes = self._imports.get((each.label, each.region), partial(self._hashes, each))
                if hashes is not None and each.hash not in hashes:
                    names.add(name)
        for name in sorted(names):
            with tolerated(self.failed, failed, "A hold could not be looked after", name, hold=name):
                info = self.ports.stacks.by_name(name, self.region)
                if info:
                    check_hold_format(name, info.tags)
                stack = HoldStack.of_tags(info.tags, self.region) if info else None
                if not (info and stack and info.created) or self.clock.now() - info.created < YOUNG:
                    continue
                if is_stale(stack.claim, first.claiming_stack(stack.importer)):
                    yield from self._deleted(HoldKeeper(self.ports, self.clock, stack), first)
        yield from failed

    def held(self, *, abroad: bool = False) -> list[HoldParameter]:
        """What the hold stacks of this region hold: those of imports, or of places in accounts other than this one."""
        found = [each for name in self._parameters(self.region) if (each := HoldParameter.of(name))]
        return [each for each in found if (each.account == self.account) is not abroad]

    def importing(self, export: str, region: str) -> frozenset[str]:
        """The names of the stacks that import a CloudFormation export, asked once."""
        ask = partial(self.ports.stacks.importing_stacks, export, region)
        return self._importing.get((region, export), ask)

    def begin(self, keeper: HoldKeeper, holds: Mapping[str, str]) -> Iterator[Finding]:
        """Begin to make or correct a hold that is needed, unless it is right; see `confirm`."""
        if not self._is_otherwise(keeper, holds):
            return
        try:
            if keeper.begin(holds) is not HoldStep.NONE:
                self._begun.append((keeper, holds))
        except StrongRefError as error:
            yield self._not_made(keeper, error)

    def _keeper(self, scope: ExportScope, claim: Claim, first: TagInspector) -> HoldKeeper | None:
        """What makes the hold for a claim; None if it is no Import's of this account."""
        tag, importer = claim
        stack = StackArn.find(importer)
        if stack is None or stack.account != scope.producer.account:
            return None
        hold = HoldStack.of_import(stack, tag, scope)
        return HoldKeeper(self.ports, self.clock, hold, OwnStacks(first.info, importer), waits_for_producers=False)

    def _is_wrong(self, keeper: HoldKeeper, recorded: RecordedExports, keys: Mapping[Key, Collection[str]]) -> bool:
        if recorded.may_hold(keys, self.withdrawn):
            return False  # What cannot be read may need the hold that there is.
        needed = keeper.needed(recorded.holds(keys))
        return self._is_otherwise(*_completed(keeper, needed, self._held(keeper)))

    def _held(self, keeper: HoldKeeper) -> frozenset[str]:
        """What a hold stack holds, as far as lists show."""
        region = keeper.stack.producer.region
        held = self._listed.get(region, lambda: held_exports(self._parameters(region)))
        return held.get(keeper.stack.hash, frozenset())

    def _is_otherwise(self, keeper: HoldKeeper, needed: Mapping[str, str]) -> bool:
        """Whether a hold is not what it should be, as far as lists show."""
        region = keeper.stack.producer.region
        if self._held(keeper) != needed.keys():
            return True
        importing = [self.importing(each, region) for each in needed]
        if not needed or any(keeper.stack.name not in names for names in importing):
            return bool(needed)
        with suppress(HoldFailedError, NewerFormatError):  # A repair reports these.
            return not keeper.is_made(needed, is_listed=True)
        return True

    def _repaired(
        self, keeper: HoldKeeper, claim: Claim, claimed: Collection[Key], first: TagInspector
    ) -> Iterator[Finding]:
        """Look again behind a fence, where nobody claims or changes anything, and begin to make or correct the hold."""
        stack = keeper.stack

        def needed(at: FencedStore) -> tuple[HoldKeeper, Mapping[str, str]]:
            there = held_exports(self.ports.stores(stack.producer.region, at.clock).under(HOLDS))
            begun = [made for each, made in self._begun if each.stack.hash == stack.hash]  # for others of its producers
            holds = {**(begun[0] if begun else {}), **self._needed(keeper, claim, claimed, first, at.store)}
            return _completed(keeper, holds, there.get(stack.hash, frozenset()))

        def work(fenced: FencedStore) -> tuple[HoldStep, HoldKeeper, Mapping[str, str]]:
            right, holds = needed(fenced)
            return self._begin(right, holds, fenced), right, holds

        if not self.repairs:
            self.ports.lag.settle(self.clock)
            try:
                yield from self._looked_at(*needed(FencedStore(self.ports.stores(self.region, self.clock), self.clock)))
            except ChangingError as error:
                if self._is_changing(stack.producer):
                    yield self._not_made(keeper, error)
            return
        try:
            sites = [(Site(self.region), stack.scope)]
            step, right, holds = behind_fences(self.ports, self.clock, sites, HOLDER, lambda fenced: work(fenced[0]))
        except StrongRefError as error:
            yield self._not_made(keeper, error)
        else:
            if step is not HoldStep.NONE and holds:
                self._begun = [each for each in self._begun if each[0].stack.hash != stack.hash] + [(right, holds)]
            elif step is not HoldStep.NONE:
                yield Finding(FindingType.UNHELD, stack.name, (stack.importer,))

    def _needed(
        self, keeper: HoldKeeper, claim: Claim, claimed: Collection[Key], first: TagInspector, store: Store
    ) -> dict[str, str]:
        """What the claim of an import needs to hold now; raises `ChangingError` while that may still change.

        Other values may have been claimed since the first look, with a hold for all of them. So where there is a hold,
        or may be several, all values are looked at.
        """
        stack, inspector = keeper.stack, TagInspector(self.ports.stacks)
        claims: Claims = {}
        keys = {stack.scope.key(name) for name in store.under(stack.scope.path("exports"), decrypted=False)}
        recorded = RecordedExports.read(store, stack.scope).readable()
        if recorded.torn:
            raise ChangingError(str(stack.scope.producer), "another deployment")
        needs_all = keeper.may_exist() or len(recorded.all_holds) > 1
        tags = inspector.inspect_in_scope(store, stack.scope, sorted(keys if needs_all else keys.intersection(claimed)))
        inspector.agree(first, [tags])
        add_claims(claims, tags)
        left = claims.get(claim)
        if left and (recorded.may_hold(left, self.withdrawn) or self._is_changing(stack.producer)):
            raise ChangingError(str(stack.scope.producer), "another deployment")
        return keeper.needed(recorded.holds(left)) if left else {}

    def _is_changing(self, producer: Producer) -> bool:
        """Whether a producer may roll back to what it named before, which is to be held then."""
        info = self.ports.stacks.by_name(producer.stack, producer.region)
        return info is not None and not (info.at_rest or info.cleaning_up)

    def _looked_at(self, keeper: HoldKeeper, holds: Mapping[str, str]) -> Iterator[Finding]:
        """What a repair would find."""
        about = (keeper.stack.name, (keeper.stack.importer,))
        try:
            step = keeper.look(holds)
        except StrongRefError as error:
            yield self._not_made(keeper, error)
        else:
            if step is not HoldStep.NONE:
                yield Finding(FindingType.HOLD_PENDING if step is HoldStep.WAIT else FindingType.UNHELD, *about)

    def _begin(self, keeper: HoldKeeper, holds: Mapping[str, str], fenced: FencedStore) -> HoldStep:
        """Take a step behind a fence, which stays until reads show what was done."""
        step = replace(keeper, clock=fenced.clock).begin(holds)
        if step is not HoldStep.NONE:
            self.ports.lag.settle(fenced.clock)
        return step

    def _deleted(self, keeper: HoldKeeper, first: TagInspector) -> Iterator[Finding]:
        stack = keeper.stack

        def is_stale_still() -> bool:
            second = TagInspector(self.ports.stacks).claiming_stack(stack.importer)
            return is_stale_twice(stack.claim, first.claiming_stack(stack.importer), second)

        def work(fenced: FencedStore) -> bool:
            return is_stale_still() and self._begin(keeper, {}, fenced) is not HoldStep.NONE

        if not self.repairs:
            self.ports.lag.settle(self.clock)
            if is_stale_still():
                yield Finding(FindingType.STALE_HOLD, stack.name, (stack.importer,))
            return
        sites = [(Site(stack.region), scope) for scope in scopes_of(stack, self.ports.stores(stack.region, self.clock))]
        with suppress(ChangingError):
            if behind_fences(self.ports, self.clock, sites, HOLDER, lambda fenced: work(fenced[0])):
                yield Finding(FindingType.STALE_HOLD, stack.name, (stack.importer,))

    def _hashes(self, hold: HoldParameter) -> frozenset[str] | None:
        """The hashes of the hold stacks that the imports of a hold's stack may have in this region."""
        importer = self.ports.stacks.by_name(hold.label, hold.region)
        if not importer:
            return frozenset()
        if not importer.at_rest:
            return None
        producer, at = Producer(hold.account, self.region, ""), (hold.account, hold.region, "")
        claims = [claim_tag(physical_id) for physical_id in self.ports.stacks.physical_ids(importer.arn)]
        return frozenset(HoldStack(importer.arn, hold.label, claim, *at, producer).hash for claim in claims)

    def _parameters(self, region: str) -> list[str]:
        return self._named.get(region, lambda: sorted(self.ports.stores(region, self.clock).under(HOLDS)))

    def _not_made(self, keeper: HoldKeeper, error: StrongRefError) -> Finding:
        """What to report about a hold that was not made: it waits, or needs a person. Raises `UnfinishedError`."""
        stack = keeper.stack
        if isinstance(error, UnfinishedError):
            raise error
        if isinstance(error, ChangingError | HoldPendingError):
            return Finding(FindingType.HOLD_PENDING, stack.name, (stack.importer,))
        if isinstance(error, NewerFormatError):
            return Finding(FindingType.NEWER_FORMAT, stack.name, (stack.importer,), str(error))
        self.failed("A hold cannot be made", error, hold=stack.name)
        return Finding(FindingType.HOLD_IMPOSSIBLE, stack.name, (stack.importer,))
