"""Letting go: claims taken off, withdrawn values deleted with their last claim, a deleted consumer's prefix cleaned."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.contract.names import ExportScope, claim_tag, consumer_prefix
from strongref.contract.values import select
from strongref.errors import ChangingError
from strongref.log import logger
from strongref.protocol.fences import FenceHolder, behind_fences
from strongref.protocol.inspection import TagInspector
from strongref.protocol.published import RecordedExports

if TYPE_CHECKING:
    from collections.abc import Collection

    from strongref.contract.names import Key
    from strongref.protocol.fences import FencedStore
    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock


@dataclass(frozen=True, slots=True)
class ClaimRelease:
    """Whoever imported lets go.

    Attributes:
        ports: what calls go through.
        clock: the invocation's.
        region: where it claimed.
        generation: what its claims are told apart by; of an Import, its physical id.
        holder: who that is, where values are deleted.
    """

    ports: Ports
    clock: Clock
    region: str
    generation: str
    holder: FenceHolder

    def release(self, scope: ExportScope, names: Collection[str] | None) -> None:
        """Take this generation's claims off; delete what no record holds any more and nobody else claims.

        Such values are left from an Export that was withdrawn while they were claimed.
        """
        store = self._store
        there = [key for key in self._claimed(store, scope, names) if store.untag(scope.value(key), [self._claim])]
        published = RecordedExports.read(store, scope).values
        withdrawn = [key for key in there if key not in published]
        if withdrawn:
            self._behind_a_fence(scope, withdrawn, unless_published=True)

    def clean(self, consumer: str) -> None:
        """Delete what is published for a consumer whose stack goes, by whomever, except what anyone else has claimed.

        The records stay: a consumer that is created anew finds its exports again.
        """
        keys: dict[ExportScope, list[Key]] = defaultdict(list)
        for name in self._store.under(consumer_prefix(consumer)):
            scope = ExportScope.of("exports", name)
            if scope:
                keys[scope].append(scope.key(name))
        for scope in sorted(keys):
            self._behind_a_fence(scope, keys[scope], unless_published=False)

    @property
    def _store(self) -> Store:
        return self.ports.stores(self.region, self.clock)

    @property
    def _claim(self) -> str:
        return claim_tag(self.generation)

    def _claimed(self, store: Store, scope: ExportScope, names: Collection[str] | None) -> list[Key]:
        """The keys that an import of these names may have claimed, withdrawn ones included."""
        selected = select(names, RecordedExports.read(store, scope).values)
        if names is None or any(keys != [name] for name, keys in selected.items()):
            selected = select(names, [scope.key(name) for name in store.under(scope.values)])
        return sorted({key for keys in selected.values() for key in keys})

    def _behind_a_fence(self, scope: ExportScope, keys: list[Key], *, unless_published: bool) -> None:
        """Delete what nobody else claims, giving way to an exporter at work like everyone who deletes.

        If that one does not come to its end, only the claims are taken off.
        """

        def delete(posts: list[FencedStore]) -> None:
            store = posts[0].store
            published = RecordedExports.read(store, scope).values if unless_published else {}
            self._delete(store, scope, [key for key in keys if key not in published])

        try:
            behind_fences(self.ports, self.clock, [(self.region, scope)], self.holder, delete)
        except ChangingError as error:
            logger.warning("Exports are not cleaned up", extra={"place": scope.values, "error": str(error)})
            store = self._store
            for key in keys:
                store.untag(scope.value(key), [self._claim])

    def _delete(self, store: Store, scope: ExportScope, keys: list[Key]) -> None:
        holdings = TagInspector(self.ports.stacks).claims_on(store, scope, keys)
        ours = {key: holding for key, holding in holdings.items() if holding.producer is not None}
        claimed = [key for key, holding in ours.items() if holding.claims.keys() - {self._claim}]
        for key in claimed:
            if self._claim in {**ours[key].claims, **ours[key].stale}:
                store.untag(scope.value(key), [self._claim])
        going = [key for key in ours if key not in claimed]
        store.delete([scope.value(key) for key in going])
        counts = {"deleted": len(going), "kept": len(keys) - len(going)}
        logger.info("Exports are cleaned up", extra={"place": scope.values, "region": store.region, **counts})
