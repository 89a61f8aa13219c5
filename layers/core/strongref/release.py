"""Letting go: claims taken off, withdrawn values deleted with their last claim, a deleted consumer's prefix cleaned."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongref.address import Place, claim_tag, consumer_prefix
from strongref.errors import ChangingError
from strongref.fencing import Holder, behind_fences
from strongref.inspection import Inspector
from strongref.log import logger
from strongref.published import Published
from strongref.values import select

if TYPE_CHECKING:
    from collections.abc import Collection

    from strongref.address import Key
    from strongref.fencing import Post
    from strongref.ports import Clock, Ports, Store


@dataclass(frozen=True, slots=True)
class LettingGo:
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
    holder: Holder

    def release(self, place: Place, names: Collection[str] | None) -> None:
        """Take this generation's claims off; delete what no record holds any more and nobody else claims.

        Such values are left from an Export that was withdrawn while they were claimed.
        """
        store = self._store
        there = [key for key in self._claimed(store, place, names) if store.untag(place.value(key), [self._claim])]
        published = Published.read(store, place).values
        withdrawn = [key for key in there if key not in published]
        if withdrawn:
            self._behind_a_fence(place, withdrawn, unless_published=True)

    def clean(self, consumer: str) -> None:
        """Delete what is published for a consumer whose stack goes, by whomever, except what anyone else has claimed.

        The records stay: a consumer that is created anew finds its exports again.
        """
        keys: dict[Place, list[Key]] = defaultdict(list)
        for name in self._store.under(consumer_prefix(consumer)):
            place = Place.of("exports", name)
            if place:
                keys[place].append(place.key(name))
        for place in sorted(keys):
            self._behind_a_fence(place, keys[place], unless_published=False)

    @property
    def _store(self) -> Store:
        return self.ports.stores(self.region, self.clock)

    @property
    def _claim(self) -> str:
        return claim_tag(self.generation)

    def _claimed(self, store: Store, place: Place, names: Collection[str] | None) -> list[Key]:
        """The keys that an import of these names may have claimed, withdrawn ones included."""
        selected = select(names, Published.read(store, place).values)
        if names is None or any(keys != [name] for name, keys in selected.items()):
            selected = select(names, [place.key(name) for name in store.under(place.values)])
        return sorted({key for keys in selected.values() for key in keys})

    def _behind_a_fence(self, place: Place, keys: list[Key], *, unless_published: bool) -> None:
        """Delete what nobody else claims, giving way to an exporter at work like everyone who deletes.

        If that one does not come to its end, only the claims are taken off.
        """

        def delete(posts: list[Post]) -> None:
            store = posts[0].store
            published = Published.read(store, place).values if unless_published else {}
            self._delete(store, place, [key for key in keys if key not in published])

        try:
            behind_fences(self.ports, self.clock, [(self.region, place)], self.holder, delete)
        except ChangingError as error:
            logger.warning("Exports are not cleaned up", extra={"place": place.values, "error": str(error)})
            store = self._store
            for key in keys:
                store.untag(place.value(key), [self._claim])

    def _delete(self, store: Store, place: Place, keys: list[Key]) -> None:
        holdings = Inspector(self.ports.stacks).claims_on(store, place, keys)
        ours = {key: holding for key, holding in holdings.items() if holding.producer is not None}
        claimed = [key for key, holding in ours.items() if holding.claims.keys() - {self._claim}]
        for key in claimed:
            if self._claim in {**ours[key].claims, **ours[key].stale}:
                store.untag(place.value(key), [self._claim])
        going = [key for key in ours if key not in claimed]
        store.delete([place.value(key) for key in going])
        counts = {"deleted": len(going), "kept": len(keys) - len(going)}
        logger.info("Exports are cleaned up", extra={"place": place.values, "region": store.region, **counts})
