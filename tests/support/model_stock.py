"""What is stored in a place, as a model: enough to carry a plan out on, one call at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from strongref.contract.names import CLAIM_TAG, OWNER_TAG, PRODUCER_TAG, owner_tag
from strongref.contract.record import Record
from strongref.protocol.plan import (
    CloseRecord,
    Create,
    Delete,
    GiveUpOwnership,
    Overwrite,
    RemoveClaims,
    TakeOwnership,
    WriteRecord,
)
from strongref.protocol.stored_exports import Owner, StoredExports, ValueTags
from tests.support.builders import FORMER, ME, NETWORK, claims, stack_arn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strongref.contract.names import Key
    from strongref.contract.values import Value
    from strongref.protocol.plan import ExportPlan, Instruction

GONE = stack_arn("gone")
"""An importing stack that was deleted: its claims are stale."""


@dataclass(frozen=True)
class Held:
    """A stored value with what its tags say, in plain words."""

    value: Value
    producer: str | None
    owners: frozenset[str]
    claims: frozenset[str]

    @classmethod
    def tagged(cls, value: Value, tags: Mapping[str, str]) -> Held:
        """A value made with these tags."""
        owners = frozenset(name for tag, name in tags.items() if tag.startswith(OWNER_TAG))
        importers = frozenset(arn for tag, arn in tags.items() if tag.startswith(CLAIM_TAG))
        return cls(value, tags.get(PRODUCER_TAG), owners, importers)

    def claimed(self, importers: frozenset[str]) -> Held:
        """This value, claimed by these stacks alone."""
        return replace(self, claims=importers)


@dataclass
class Model:
    """A place: what is stored by key, and the records by logical id."""

    values: dict[Key, Held]
    records: dict[str, Record]

    def stock(self) -> StoredExports:
        """As an Export sees it, before any tag is read."""
        others = {name: record for name, record in self.records.items() if name != ME.logical_id}
        own = self.records.get(ME.logical_id)
        return StoredExports(
            {key: held.value for key, held in self.values.items()},
            None if own and own.withdrawn else own,
            withdrawn=own if own and own.withdrawn else None,
            others={name: record for name, record in others.items() if record.stack == NETWORK},
            orphans={name: record for name, record in others.items() if record.stack == FORMER},
        )

    def holding(self, key: Key) -> ValueTags:
        """What the tags of one value say."""
        held = self.values[key]
        owner = {NETWORK: Owner.OURS, FORMER: Owner.NOBODYS}.get(held.producer or "", Owner.FOREIGN)
        owners = {owner_tag(name): name for name in held.owners}
        return ValueTags(owner, held.producer, owners, claims(*self.live(held)), claims(*held.claims & {GONE}))

    def live(self, held: Held) -> frozenset[str]:
        """The claims that protect it."""
        return held.claims - {GONE}

    def importers(self, key: Key, values: Mapping[Key, Held] | None = None) -> tuple[str, ...]:
        """Who imports a key, in order."""
        return tuple(sorted(self.live((self.values if values is None else values)[key])))

    def foreign(self, key: Key, values: Mapping[Key, Held] | None = None) -> bool:
        """Whether a value is somebody else's."""
        return (self.values if values is None else values)[key].producer not in (NETWORK, FORMER)

    def publishing(self, key: Key) -> set[str]:
        """The Exports whose records hold a key."""
        return {name for name, record in self.records.items() if key in record.values}

    def retire(self) -> None:
        """The producing stack is deleted with its exports retained; its name is free for another."""
        for key, held in self.values.items():
            self.values[key] = replace(held, producer=FORMER if held.producer == NETWORK else held.producer)
        self.records = {
            "Old" if name == "Exports" and "Old" not in self.records else name: Record(FORMER, record.values)
            for name, record in self.records.items()
        }


def finish(model: Model, plan: ExportPlan) -> None:
    """Carry a plan out to its end."""
    for step in steps(plan):
        step(model)


def steps(plan: ExportPlan) -> list[Callable[[Model], None]]:
    """The calls of a plan, in the order in which they are made; SSM's refusals are assertions."""
    return [step for instruction in plan.instructions for step in _steps(instruction)]


def _steps(instruction: Instruction) -> list[Callable[[Model], None]]:  # noqa: PLR0911 (one for each instruction)
    match instruction:
        case WriteRecord(name, record, _) | CloseRecord(name, record, _):
            return [_record(name, record)]
        case Create(key, value, tags):
            return [_create(key, value, tags)]
        case Overwrite(key, value, _):
            return [_overwrite(key, value)]
        case TakeOwnership(key, _, tags):
            return [_tag(key, tags)]
        case GiveUpOwnership(key):
            return [_disown(key)]
        case RemoveClaims(key, claims):
            return [_untag(key, frozenset(claims.values()))]
        case Delete(keys):
            return [_delete(key) for key in keys]


def _record(name: str, record: Record | None) -> Callable[[Model], None]:
    def step(model: Model) -> None:
        if record:
            model.records[name] = record
        else:
            model.records.pop(name, None)

    return step


def _untag(key: Key, importers: frozenset[str]) -> Callable[[Model], None]:
    def step(model: Model) -> None:
        model.values[key] = model.values[key].claimed(model.values[key].claims - importers)

    return step


def _overwrite(key: Key, value: Value) -> Callable[[Model], None]:
    def step(model: Model) -> None:
        assert model.values[key].value.type is value.type
        model.values[key] = replace(model.values[key], value=value)

    return step


def _tag(key: Key, tags: Mapping[str, str]) -> Callable[[Model], None]:
    def step(model: Model) -> None:
        held, new = model.values[key], Held.tagged(model.values[key].value, tags)
        model.values[key] = Held(
            held.value, new.producer or held.producer, held.owners | new.owners, held.claims | new.claims
        )

    return step


def _create(key: Key, value: Value, tags: Mapping[str, str]) -> Callable[[Model], None]:
    def step(model: Model) -> None:
        assert key not in model.values
        model.values[key] = Held.tagged(value, tags)

    return step


def _disown(key: Key) -> Callable[[Model], None]:
    def step(model: Model) -> None:
        model.values[key] = replace(model.values[key], owners=model.values[key].owners - {ME.logical_id})

    return step


def _delete(key: Key) -> Callable[[Model], None]:
    def step(model: Model) -> None:
        model.values.pop(key, None)

    return step
