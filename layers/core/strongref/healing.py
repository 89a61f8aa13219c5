"""Seeing what is published and who imports it, and bringing back what is gone: for people, by their own hands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from strongref.address import Place, claims_in
from strongref.fencing import Holder, behind_fences
from strongref.published import Published
from strongref.values import Value

if TYPE_CHECKING:
    from strongref.address import Key
    from strongref.ports import Clock, Ports, Store


class State(StrEnum):
    """How a value's parameter stands to its record."""

    PUBLISHED = "published"
    MISSING = "missing"
    """The record has it, and there is no parameter."""
    DIFFERENT = "different"
    """Record and parameter say different things."""
    WITHDRAWN = "withdrawn"
    """No record has it any more; it is kept for who imports it."""


@dataclass(frozen=True, slots=True, order=True)
class Export:
    """One export, as stored.

    Attributes:
        place: who publishes it for whom.
        key: its key there.
        state: how it stands.
        importers: the ARNs of the stacks that claim it.
    """

    place: Place
    key: Key
    state: State
    importers: tuple[str, ...]


def places(store: Store, consumer: str | None) -> list[Place]:
    """Every place of a region's store that has records or values, for one consumer or for all."""
    below = f"/{consumer}" if consumer else ""
    found = set()
    for branch in ("exports", "records"):
        for name in store.under(f"/strongref/{branch}{below}"):
            found.add(Place.of(branch, name))
    return sorted(place for place in found if place)


def look(store: Store, place: Place) -> list[Export]:
    """Every export of a place, by key, with its importers: a call for each value's tags."""
    recorded = Published.read(store, place).values
    stored = {
        place.key(name): Value(parameter.kind, parameter.text) for name, parameter in store.under(place.values).items()
    }
    exports = []
    for key in sorted({*recorded, *stored}):
        tags = store.tags(place.value(key)) if key in stored else None
        exports.append(Export(place, key, _state(key, recorded, stored), claims_in(tags or {})))
    return exports


def republish(ports: Ports, store: Store, clock: Clock, place: Place) -> list[Key]:
    """Put back every value of a place that is gone, from its record; return the keys.

    Claims go with a parameter, so the stacks that import it have to claim it anew (another `Revision`). What is there
    is left alone.

    Raises:
        ChangingError: somebody is changing the place, and goes on doing so.
    """
    holder = Holder("republish", "strongref republish")
    sites = [(store.region, place)]
    return behind_fences(ports, clock, sites, holder, lambda posts: _put_back(posts[0].store, place))


def _put_back(store: Store, place: Place) -> list[Key]:
    published = Published.read(store, place)
    stored = store.under(place.values)
    gone = [key for key in sorted(published.values) if place.value(key) not in stored]
    for key in gone:
        value = published.values[key]
        store.create(place.value(key), value.kind, value.text, published.tags(key))
    return gone


def _state(key: Key, recorded: dict[Key, Value], stored: dict[Key, Value]) -> State:
    if key not in recorded:
        return State.WITHDRAWN
    if key not in stored:
        return State.MISSING
    return State.PUBLISHED if recorded[key] == stored[key] else State.DIFFERENT
