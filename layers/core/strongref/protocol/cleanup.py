"""Releasing: claims removed, withdrawn values deleted with their last claim, a deleted consumer's prefix cleaned."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from strongref.contract.names import ExportScope, Key, Site, by_scope, consumer_prefix
from strongref.contract.values import select
from strongref.log import logger
from strongref.protocol.behind_fences import FencedStore, behind_fences
from strongref.protocol.inspection import TagInspector, read_tags
from strongref.protocol.published import RecordedExports
from strongref.protocol.side_by_side import call_all
from strongref.refusals import ChangingError

if TYPE_CHECKING:
    from strongref.protocol.fences import FenceHolder
    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock


@dataclass(frozen=True, slots=True)
class ClaimRelease:
    """An importer that releases what it claimed."""

    ports: Ports  # what calls go through
    clock: Clock  # the invocation's
    region: str  # where it claimed
    claim: str  # the key of its claims' tag, as of `names.claim_tag`
    holder: FenceHolder  # of the fence, where values are deleted

    def release(self, scope: ExportScope, names: Collection[str] | None) -> None:
        """Remove the importer's claims; delete values that no record holds any more and nobody else claims.

        Such values are left from an Export that was withdrawn while they were claimed.
        """
        store = self._store
        keys = self._claimed(store, scope, names)
        there = self._untag(store, scope, keys)
        claimed = [key for key, is_there in zip(keys, there, strict=True) if is_there]
        recorded = RecordedExports.read(store, scope).values
        withdrawn = [key for key in claimed if key not in recorded]
        if withdrawn:
            self._delete_behind_fences({scope: withdrawn}, unless_recorded=True)

    def clean(self, consumer: str) -> None:
        """Delete what any stack publishes for a consumer that is being deleted, except what others have claimed.

        The records stay: a consumer that is created again finds its exports again.
        """
        if keys := self._keys_below(consumer_prefix(consumer)):
            self._delete_behind_fences(keys, unless_recorded=False)

    def release_below(self, path: str, names: Collection[str] | None) -> list[ExportScope]:
        """Remove the importer's claims below a path: from all values that the names mean, as reads may be late.

        Without names, each value there is asked first. Returns the scopes in which there were any.
        """
        store, released = self._store, []
        for scope, there in self._keys_below(path).items():
            keys = sorted({key for keys in select(names, there).values() for key in keys})
            if names is None:
                keys = [key for key, found in read_tags(store, scope, keys).items() if self.claim in (found or {})]
            if keys:
                self.release(scope, keys)
                released.append(scope)
        return released

    def _keys_below(self, path: str) -> dict[ExportScope, list[Key]]:
        found = by_scope("exports", self._store.under(path, decrypted=False))
        return {scope: [scope.key(name) for name in names] for scope, names in found.items()}

    @property
    def _store(self) -> Store:
        return self.ports.stores(self.region, self.clock)

    def _claimed(self, store: Store, scope: ExportScope, names: Collection[str] | None) -> list[Key]:
        """The keys that an import of these names may have claimed, withdrawn ones included."""
        selected = select(names, RecordedExports.read(store, scope).values)
        if names is None or any(keys != [name] for name, keys in selected.items()):
            selected = select(names, [scope.key(name) for name in store.under(scope.path("exports"))])
        return sorted({key for keys in selected.values() for key in keys})

    def _delete_behind_fences(self, keys: Mapping[ExportScope, list[Key]], *, unless_recorded: bool) -> None:
        """Delete what nobody else claims, giving way to exporters at work like everyone who deletes.

        If an exporter does not finish, only the claims are removed in its scope.
        """
        scopes = sorted(keys)

        def delete(fenced: list[FencedStore]) -> None:
            for at, scope in zip(fenced, scopes, strict=True):
                recorded = RecordedExports.read(at.store, scope) if unless_recorded else RecordedExports({}, torn=False)
                if not recorded.torn:  # What cannot be read may hold the values.
                    self._delete(at, scope, [key for key in keys[scope] if key not in recorded.values])

        try:
            behind_fences(self.ports, self.clock, [(Site(self.region), scope) for scope in scopes], self.holder, delete)
        except ChangingError as error:
            if len(scopes) > 1:
                for scope in scopes:
                    self._delete_behind_fences({scope: keys[scope]}, unless_recorded=unless_recorded)
                return
            about = {"scope": scopes[0].path("exports"), "error": str(error)}
            logger.warning("Exports were not cleaned up", extra=about)
            self._untag(self._store, scopes[0], keys[scopes[0]])

    def _untag(self, store: Store, scope: ExportScope, keys: Collection[Key]) -> list[bool]:
        return call_all(store, [partial(store.untag, scope.parameter_name(key), [self.claim]) for key in keys])

    def _delete(self, fenced: FencedStore, scope: ExportScope, keys: list[Key]) -> None:
        store, inspector = fenced.store, TagInspector(self.ports.stacks)
        found = inspector.claims_on(store, scope, keys)
        inspector.confirm_stale([found], fenced.clock, self.ports.lag)
        inspector.check_asked()
        ours = {key: tags for key, tags in found.items() if tags.producer is not None}
        claimed = [key for key, tags in ours.items() if tags.claims.keys() - {self.claim}]
        own = [key for key in claimed if self.claim in {**ours[key].claims, **ours[key].stale}]
        self._untag(store, scope, own)
        deleted = [key for key in ours if key not in claimed]
        store.delete([scope.parameter_name(key) for key in deleted])
        counts = {"deleted": len(deleted), "kept": len(keys) - len(deleted)}
        logger.info("Exports were cleaned up", extra={"scope": scope.path("exports"), "region": store.region, **counts})
