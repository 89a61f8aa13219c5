"""Reads the tags of stored values, and asks CloudFormation about the stacks that they name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from strongref.contract.names import (
    RESTORED_TAG,
    ExportScope,
    Key,
    ManifestSet,
    Producer,
    StackArn,
    can_be_claim,
    claim_tag,
)
from strongref.errors import OTHER_ACCOUNT, StackLookupError, StrongRefError, UnfinishedError
from strongref.protocol.side_by_side import call_all
from strongref.protocol.staleness import ClaimingStack, is_stale, is_stale_twice
from strongref.protocol.stored_exports import Owner, ValueTags, split_tags

if TYPE_CHECKING:
    from strongref.protocol.lag import ReadLag
    from strongref.protocol.ports import StackInfo, Stacks, Store
    from strongref.protocol.time import Clock


@dataclass(eq=False, slots=True)
class TagInspector:
    """Reads tags, and asks about each stack once.

    One inspector serves one attempt: answers do not stay true.
    """

    stacks: Stacks
    unasked: dict[str, StackLookupError] = field(default_factory=dict)  # by ARN, why a stack cannot be asked about
    unread: dict[str, StrongRefError] = field(default_factory=dict)  # by parameter, why its tags cannot be read
    _infos: dict[str, StackInfo | None] = field(default_factory=dict)
    _claiming: dict[str, ClaimingStack | None] = field(default_factory=dict)

    def inspect(self, store: Store, scope: ExportScope, keys: Iterable[Key], stack: str) -> dict[Key, ValueTags]:
        """What the tags of these values say, as seen from a stack; a value that has gone is left out."""
        return self._inspected(store, scope, keys, lambda producer: self._owner(producer, stack))

    def interpret(
        self, tags: Mapping[Key, Mapping[str, str] | None], stack: str, *, account: str = ""
    ) -> dict[Key, ValueTags]:
        """What tags that were read say, as seen from a stack; None stands for a value that has gone.

        In another `account`, no claim is stale: its stacks cannot be asked about.
        """
        return self._interpreted(tags, lambda producer: self._owner(producer, stack), account=account)

    def unclaimed(self, stack: str, owners: Mapping[str, str] | None = None) -> ValueTags:
        """What the tags of a value of this stack say if nobody claims it."""
        return ValueTags(owner=Owner.OURS, producer=stack, owners=owners or {})

    def claims_on(self, store: Store, scope: ExportScope, keys: Iterable[Key]) -> dict[Key, ValueTags]:
        """What the tags of these values say to a caller that owns none of them."""
        return self._inspected(store, scope, keys, lambda _: Owner.FOREIGN)

    def inspect_in_scope(self, store: Store, scope: ExportScope, keys: Iterable[Key]) -> dict[Key, ValueTags]:
        """What the tags of these values say; a value is ours if it belongs to the stack whose scope this is."""
        owner = partial(self._owner_in, scope=scope.producer, exists=self.may_exist)
        return self._inspected(store, scope, keys, owner)

    def inspect_readable(self, store: Store, scope: ExportScope, keys: Iterable[Key]) -> dict[Key, ValueTags]:
        """`inspect_in_scope` for a caller that leaves alone what cannot be read: it is noted in `unread`.

        Raises:
            StrongRefError: no tags of several values can be read at all.
        """
        found: dict[Key, ValueTags] = {}
        unread: dict[str, StrongRefError] = {}
        for key in keys:
            try:
                found |= self.inspect_in_scope(store, scope, [key])
            except StrongRefError as error:
                unread[scope.parameter_name(key)] = error
                if isinstance(error, UnfinishedError) or (len(unread) > 1 and not found):
                    raise
        self.unread |= unread
        return found

    def info(self, stack: str) -> StackInfo | None:
        """The stack with this ARN; None if it does not exist."""
        if stack not in self._infos:
            self._infos[stack] = self.stacks.by_arn(stack)
        return self._infos[stack]

    def exists(self, stack: str) -> bool:
        """Whether a stack of that ARN exists. One of another account cannot be asked about, and counts as existing."""
        try:
            return self.info(stack) is not None
        except StackLookupError as error:
            if error.code != OTHER_ACCOUNT:
                raise
            return True

    def may_exist(self, stack: str) -> bool:
        """`exists` for a caller that leaves alone what it cannot ask about: it is noted in `unasked`."""
        try:
            return self.exists(stack)
        except StackLookupError as error:
            self.unasked[stack] = error
            return True

    def confirm_stale(self, found: Iterable[dict[Key, ValueTags]], clock: Clock, lag: ReadLag) -> None:
        """Look a second time at stacks whose claims look stale, more than a lag later. Claims that do not are live.

        What this inspector found is corrected in place. If reads do not lag, one look is enough.
        """
        found = [tags for tags in found if any(each.stale for each in tags.values())]
        if found and lag.seconds:
            lag.settle(clock)
            second = TagInspector(self.stacks)
            second.agree(self, found)
            self.unasked |= second.unasked

    def check_asked(self) -> None:
        """Check that every stack could be asked about, for a caller that would leave something behind otherwise.

        Claims of other accounts count without being asked about.

        Raises:
            StackLookupError: CloudFormation did not say whether a stack exists, or what it has.
        """
        for error in self.unasked.values():
            if error.code != OTHER_ACCOUNT:
                raise error

    def agree(self, first: TagInspector, found: Iterable[dict[Key, ValueTags]]) -> None:
        """Of claims that look stale, leave as stale those that `first` found stale as well; in place."""
        for tags in found:
            for key, each in tags.items():
                stale = {
                    tag: importer
                    for tag, importer in each.stale.items()
                    if is_stale_twice(tag, first._known(tag, importer), self._claim(tag, importer))
                }
                live = {tag: importer for tag, importer in each.stale.items() if tag not in stale}
                unknown = {tag: importer for tag, importer in live.items() if importer in first.unasked}
                tags[key] = replace(
                    each, claims={**each.claims, **live}, stale=stale, unknown={**each.unknown, **unknown}
                )

    def found_deleted(self, stack: str) -> bool:
        """Whether this inspector found that a stack of that ARN does not exist."""
        return stack in self._infos and self._infos[stack] is None

    def _inspected(
        self, store: Store, scope: ExportScope, keys: Iterable[Key], owner: Callable[[str | None], Owner]
    ) -> dict[Key, ValueTags]:
        return self._interpreted(read_tags(store, scope, keys), owner, account=store.account)

    def _interpreted(
        self, tags: Mapping[Key, Mapping[str, str] | None], owner: Callable[[str | None], Owner], *, account: str
    ) -> dict[Key, ValueTags]:
        there = {key: each for key, each in tags.items() if each is not None}
        if account:
            found = {key: self._of_another_account(each, owner) for key, each in there.items()}
            return {key: replace(each, account=account) for key, each in found.items()}
        return {key: self._value_tags(each, owner) for key, each in there.items()}

    def _of_another_account(self, tags: Mapping[str, str], owner: Callable[[str | None], Owner]) -> ValueTags:
        """All claims count, and whatever else is wrong is for its own janitor to see."""
        producer, owners, claims = split_tags(tags)
        return ValueTags(owner(producer), producer, owners, claims)

    def _value_tags(self, tags: Mapping[str, str], owner: Callable[[str | None], Owner]) -> ValueTags:
        producer, owners, claims = split_tags(tags)
        stale = {tag: importer for tag, importer in claims.items() if is_stale(tag, self._claim(tag, importer))}
        live = {tag: importer for tag, importer in claims.items() if tag not in stale}
        unknown = {
            tag: each for tag, each in live.items() if self._claim(tag, each) is None and not ManifestSet.parse(each)
        }
        restored = RESTORED_TAG in tags
        return ValueTags(owner(producer), producer, owners, live, stale, restored, unknown)

    def _claim(self, tag: str, importer: str) -> ClaimingStack | None:
        """What is known about the stack of a claim; a claim that no import can have made is that of no stack."""
        return self.claiming_stack(importer) if can_be_claim(tag, importer) else ClaimingStack(exists=False)

    def _known(self, tag: str, importer: str) -> ClaimingStack | None:
        """What is known about the stack of a claim without asking."""
        return self._claiming.get(importer) if can_be_claim(tag, importer) else ClaimingStack(exists=False)

    def _owner(self, producer: str | None, stack: str) -> Owner:
        if producer == stack:
            return Owner.OURS
        owner = self._owner_in(producer, StackArn.parse(stack).producer)
        return Owner.NOBODYS if owner is Owner.NOBODYS else Owner.FOREIGN

    def _owner_in(self, producer: str | None, scope: Producer, exists: Callable[[str], bool] | None = None) -> Owner:
        stack = StackArn.find(producer or "")
        if stack is None or stack.producer != scope:
            return Owner.FOREIGN
        return Owner.OURS if (exists or self.exists)(str(stack)) else Owner.NOBODYS

    def claiming_stack(self, importer: str) -> ClaimingStack | None:
        """What is known about a claim's stack; None for what cannot be asked about."""
        if importer not in self._claiming:
            self._claiming[importer] = self._ask(importer)
        return self._claiming[importer]

    def _ask(self, importer: str) -> ClaimingStack | None:
        if StackArn.find(importer) is None:
            return None
        try:
            info = self.info(importer)
            if info is None:
                return ClaimingStack(exists=False)
            if not info.at_rest:
                return ClaimingStack(exists=True)
            claims = frozenset(claim_tag(physical_id) for physical_id in self.stacks.physical_ids(importer))
        except StackLookupError as error:  # Its claims count.
            self.unasked[importer] = error
            return None
        return ClaimingStack(exists=True, at_rest=True, claims=claims, updated=info.updated)


def read_tags(store: Store, scope: ExportScope, keys: Iterable[Key]) -> dict[Key, dict[str, str] | None]:
    """The tags of values; None for one that has gone."""
    keys = list(keys)
    found = call_all(store, [partial(store.tags, scope.parameter_name(key)) for key in keys])
    return dict(zip(keys, found, strict=True))
