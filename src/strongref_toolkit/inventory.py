"""The exports of a region, with their state and importers, and how to restore deleted ones."""

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


class ExportState(StrEnum):
    """How a value's parameter compares with its record."""

    PUBLISHED = "published"
    MISSING = "missing"
    """The record has a value, but there is no parameter."""
    DIFFERENT = "different"
    """The record and the parameter have different values."""
    WITHDRAWN = "withdrawn"
    """No record has the value any more; the parameter is kept for its importers."""


@dataclass(frozen=True, slots=True, order=True)
class ExportStatus:
    """One exported value, as stored."""

    scope: ExportScope  # its producer and consumer
    key: Key  # its key in that scope
    state: ExportState  # how its parameter compares with the record
    importers: tuple[str, ...]  # the ARNs of the stacks that claim it


def export_scopes(store: Store, consumer: str | None, stack: str | None = None) -> list[ExportScope]:
    """The scopes in a region that have records or values; only those to a consumer, and of a stack, if given."""
    below = f"/{consumer}" if consumer else ""
    found = {
        ExportScope.of(branch, name)
        for branch in ("exports", "records")
        for name in store.under(f"/strongref/{branch}{below}")
    }
    return sorted(scope for scope in found if scope and stack in (None, scope.producer.stack))


def exports_in(store: Store, scope: ExportScope) -> list[ExportStatus]:
    """The exports of a scope, sorted by key; one call for each value's tags."""
    recorded = RecordedExports.read(store, scope).values
    stored = {scope.key(name): parameter.value for name, parameter in store.under(scope.values).items()}
    exports = []
    for key in sorted({*recorded, *stored}):
        tags = store.tags(scope.value(key)) if key in stored else None
        exports.append(ExportStatus(scope, key, _state(key, recorded, stored), claims_in(tags or {})))
    return exports


def republish(ports: Ports, store: Store, clock: Clock, scope: ExportScope) -> list[Key]:
    """Restore the deleted values of a scope from its record, and return their keys. Existing values do not change.

    Claims are deleted with a parameter. A stack that imports it claims it again when its Import gets another
    `Revision`.

    Raises:
        ChangingError: another deployment is changing the scope, and does not finish in time.
    """
    holder = FenceHolder("republish", "strongref republish")
    sites = [(store.region, scope)]
    return behind_fences(ports, clock, sites, holder, lambda fenced: _restore(fenced[0].store, scope))


def _restore(store: Store, scope: ExportScope) -> list[Key]:
    published = RecordedExports.read(store, scope)
    stored = store.under(scope.values)
    deleted = [key for key in sorted(published.values) if scope.value(key) not in stored]
    for key in deleted:
        value = published.values[key]
        store.create(scope.value(key), value.type, value.text, published.tags(key))
    return deleted


def _state(key: Key, recorded: dict[Key, Value], stored: dict[Key, Value]) -> ExportState:
    if key not in recorded:
        return ExportState.WITHDRAWN
    if key not in stored:
        return ExportState.MISSING
    return ExportState.PUBLISHED if recorded[key] == stored[key] else ExportState.DIFFERENT
