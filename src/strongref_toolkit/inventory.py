"""Seeing what is published and who imports it, and bringing back what is gone: for people, by their own hands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from strongref.contract.names import ExportScope, claims_in
from strongref.protocol.fences import FenceHolder, behind_fences
from strongref.protocol.published import RecordedExports

if TYPE_CHECKING:
    from strongref.contract.names import Key
    from strongref.contract.values import Value
    from strongref.protocol.ports import Ports, Store
    from strongref.protocol.time import Clock


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

    scope: ExportScope
    key: Key
    state: State
    importers: tuple[str, ...]


def scopes(store: Store, consumer: str | None) -> list[ExportScope]:
    """Every place of a region's store that has records or values, for one consumer or for all."""
    below = f"/{consumer}" if consumer else ""
    found = set()
    for branch in ("exports", "records"):
        for name in store.under(f"/strongref/{branch}{below}"):
            found.add(ExportScope.of(branch, name))
    return sorted(scope for scope in found if scope)


def look(store: Store, scope: ExportScope) -> list[Export]:
    """Every export of a place, by key, with its importers: a call for each value's tags."""
    recorded = RecordedExports.read(store, scope).values
    stored = {scope.key(name): parameter.value for name, parameter in store.under(scope.values).items()}
    exports = []
    for key in sorted({*recorded, *stored}):
        tags = store.tags(scope.value(key)) if key in stored else None
        exports.append(Export(scope, key, _state(key, recorded, stored), claims_in(tags or {})))
    return exports


def republish(ports: Ports, store: Store, clock: Clock, scope: ExportScope) -> list[Key]:
    """Put back every value of a place that is gone, from its record; return the keys.

    Claims go with a parameter, so the stacks that import it have to claim it anew (another `Revision`). What is there
    is left alone.

    Raises:
        ChangingError: somebody is changing the place, and goes on doing so.
    """
    holder = FenceHolder("republish", "strongref republish")
    sites = [(store.region, scope)]
    return behind_fences(ports, clock, sites, holder, lambda posts: _put_back(posts[0].store, scope))


def _put_back(store: Store, scope: ExportScope) -> list[Key]:
    published = RecordedExports.read(store, scope)
    stored = store.under(scope.values)
    gone = [key for key in sorted(published.values) if scope.value(key) not in stored]
    for key in gone:
        value = published.values[key]
        store.create(scope.value(key), value.kind, value.text, published.tags(key))
    return gone


def _state(key: Key, recorded: dict[Key, Value], stored: dict[Key, Value]) -> State:
    if key not in recorded:
        return State.WITHDRAWN
    if key not in stored:
        return State.MISSING
    return State.PUBLISHED if recorded[key] == stored[key] else State.DIFFERENT
