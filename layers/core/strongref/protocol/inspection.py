"""What the tags of stored values mean: whose they are, and which of their claims still protect anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strongref.contract.names import BadArnError, ExportScope, Producer, StackArn, claim_tag
from strongref.errors import OTHER_ACCOUNT, StackLookupError
from strongref.protocol.plan import Owner, ValueTags, holding_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from strongref.contract.names import Key
    from strongref.protocol.ports import StackInfo, Stacks, Store


class TagInspector:
    """Reads tags, and asks CloudFormation about the stacks that they name: about each once.

    One inspector serves one attempt: what it was told is not true for ever.
    """

    def __init__(self, stacks: Stacks) -> None:
        self._stacks = stacks
        self._infos: dict[str, StackInfo | None] = {}
        self._live_claims: dict[str, frozenset[str]] = {}

    def inspect(self, store: Store, scope: ExportScope, keys: Iterable[Key], stack: str) -> dict[Key, ValueTags]:
        """What the tags of these values say, as seen from a stack; a value that is gone by now is left out."""
        return self._holdings(store, scope, keys, lambda producer: self._owner(producer, stack))

    def nothing_about(self, stack: str, owners: Collection[str] = frozenset()) -> ValueTags:
        """What there is to say of a value of this stack that nobody claims."""
        return ValueTags(owner=Owner.OURS, producer=stack, owners=owners)

    def claims_on(self, store: Store, scope: ExportScope, keys: Iterable[Key]) -> dict[Key, ValueTags]:
        """The same, for whoever owns nothing."""
        return self._holdings(store, scope, keys, lambda _: Owner.FOREIGN)

    def survey(self, store: Store, scope: ExportScope, keys: Iterable[Key]) -> dict[Key, ValueTags]:
        """The same, as seen from nobody: ours is what belongs to a stack whose place this is."""
        return self._holdings(store, scope, keys, lambda producer: self._owner_at(producer, scope.producer))

    def exists(self, stack: str) -> bool:
        """Whether a stack of that ARN exists, for all that is known: of another account nobody here can be asked."""
        try:
            return self._info(stack) is not None
        except StackLookupError as error:
            if error.code != OTHER_ACCOUNT:
                raise
            return True

    def _holdings(
        self, store: Store, scope: ExportScope, keys: Iterable[Key], owner: Callable[[str | None], Owner]
    ) -> dict[Key, ValueTags]:
        holdings = {}
        for key in keys:
            tags = store.tags(scope.value(key))
            if tags is not None:
                holdings[key] = self._holding(tags, owner)
        return holdings

    def _info(self, stack: str) -> StackInfo | None:
        if stack not in self._infos:
            self._infos[stack] = self._stacks.by_arn(stack)
        return self._infos[stack]

    def _holding(self, tags: dict[str, str], owner: Callable[[str | None], Owner]) -> ValueTags:
        producer, owners, claims = holding_of(tags)
        live = {tag: importer for tag, importer in claims.items() if self._protects(tag, importer)}
        return ValueTags(
            owner=owner(producer),
            producer=producer,
            owners=frozenset(owners),
            claims=live,
            stale={tag: importer for tag, importer in claims.items() if tag not in live},
        )

    def _owner(self, producer: str | None, stack: str) -> Owner:
        if producer == stack:
            return Owner.OURS
        try:
            former = StackArn.parse(producer or "")
        except BadArnError:
            return Owner.FOREIGN
        ours = StackArn.parse(stack)
        same_name = (former.account, former.region, former.name) == (ours.account, ours.region, ours.name)
        return Owner.NOBODYS if same_name and not self.exists(str(former)) else Owner.FOREIGN

    def _owner_at(self, producer: str | None, scope: Producer) -> Owner:
        try:
            stack = StackArn.parse(producer or "")
        except BadArnError:
            return Owner.FOREIGN
        if Producer(stack.account, stack.region, stack.name) != scope:
            return Owner.FOREIGN
        return Owner.OURS if self.exists(str(stack)) else Owner.NOBODYS

    def _protects(self, tag: str, importer: str) -> bool:
        """Whether a claim holds: its stack exists, and is at work or has that generation of the import.

        What is not known to be dead, lives.
        """
        try:
            StackArn.parse(importer)
        except BadArnError:
            return True
        if not self.exists(importer):
            return False
        info = self._infos.get(importer)
        if info is None or not info.at_rest:
            return True
        if importer not in self._live_claims:
            physical_ids = self._stacks.physical_ids(importer)
            self._live_claims[importer] = frozenset(claim_tag(physical_id) for physical_id in physical_ids)
        return tag in self._live_claims[importer]
