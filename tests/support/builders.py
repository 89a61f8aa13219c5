"""Small builders of what the pure modules take: stacks, values, records and holdings."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from strongref.contract.names import ExportScope, Key, Producer, StackArn, claim_tag
from strongref.contract.record import Record
from strongref.contract.values import ParameterType, Value
from strongref.protocol.phases import ClaimPolicy
from strongref.protocol.plan import (
    CloseRecord,
    Create,
    Delete,
    ExportPlan,
    GiveUpOwnership,
    Overwrite,
    TakeOwnership,
    WriteRecord,
    refusal_of,
)
from strongref.protocol.planner import keys_to_inspect, plan_export
from strongref.protocol.stored_exports import ExportIdentity, Owner, StoredExports, ValueTags

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

ACCOUNT = "111111111111"


def stack_arn(name: str, region: str = "us-east-1", account: str = ACCOUNT, unique: str = "1") -> str:
    """The ARN of a stack."""
    return str(StackArn("aws", region, account, name, unique))


NETWORK = stack_arn("network", "eu-west-1", unique="2")
"""The producer's stack."""

FORMER = stack_arn("network", "eu-west-1", unique="1")
"""A stack of the producer's name that is gone."""

WEB = stack_arn("web")
SHOP = stack_arn("shop")

SCOPE = ExportScope("web", Producer(ACCOUNT, "eu-west-1", "network"))
ME = ExportIdentity(NETWORK, "Exports")


def text(value: str) -> Value:
    """A plain string to store."""
    return Value(ParameterType.STRING, value)


def secure(value: str) -> Value:
    """A string to store as a SecureString."""
    return Value(ParameterType.SECURE, value)


def items(*values: str) -> Value:
    """A list to store."""
    return Value(ParameterType.STRING_LIST, ",".join(values))


def values(**given: str | Value) -> dict[Key, Value]:
    """Values by key; a plain string stands for itself, `__` for the `/` between levels."""
    return {
        Key(name.replace("__", "/")): text(value) if isinstance(value, str) else value for name, value in given.items()
    }


def record(stack: str = NETWORK, **given: str | Value) -> Record:
    """What an Export of that stack publishes."""
    return Record(stack, values(**given))


def stock(
    stored: Mapping[Key, Value] | None = None,
    mine: Record | None = None,
    *,
    litter: bool = False,
    others: Mapping[str, Record] | None = None,
    orphans: Mapping[str, Record] | None = None,
) -> StoredExports:
    """What is there; nothing, where nothing is given."""
    return StoredExports(stored or {}, mine, litter, others or {}, orphans or {})


def claims(*importers: str) -> dict[str, str]:
    """A claim of one import of each of these stacks, by tag."""
    return {claim_tag(f"import of {importer}"): importer for importer in importers}


def ours(*, by: tuple[str, ...] = (), stale: tuple[str, ...] = (), owners: tuple[str, ...] = ()) -> ValueTags:
    """A value of the producer's stack, claimed by these stacks."""
    return ValueTags(Owner.OURS, NETWORK, dict.fromkeys(owners, ""), claims(*by), claims(*stale))


def nobodys(*, by: tuple[str, ...] = (), stale: tuple[str, ...] = (), owners: tuple[str, ...] = ()) -> ValueTags:
    """A value of a former stack of the producer's name, claimed by these stacks."""
    return ValueTags(Owner.NOBODYS, FORMER, dict.fromkeys(owners, ""), claims(*by), claims(*stale))


def foreign(producer: str | None = None, *, by: tuple[str, ...] = ()) -> ValueTags:
    """A value that is not this stack's."""
    return ValueTags(Owner.FOREIGN, producer, {}, claims(*by))


def plan(
    wanted: Mapping[Key, Value],
    there: StoredExports,
    tags: Mapping[Key, ValueTags] | None = None,
    policy: ClaimPolicy = ClaimPolicy.REFUSE,
    rewrite: Collection[Key] = (),
) -> PlanParts:
    """A plan with the tags of the keys whose tags decide; they are given exactly, so the choice is tested too.

    Raises:
        StrongRefError: what the plan is refused with.
    """
    tags = tags or {}
    assert sorted(keys_to_inspect(ME, wanted, there)) == sorted(tags)
    return parts(plan_export(SCOPE, ME, wanted, there, tags, policy=policy, rewrite=rewrite))


@dataclass(frozen=True)
class PlanParts:
    """A plan's instructions by what they do. `record` is the record that its Export ends with, if it is written."""

    plan: ExportPlan
    create: dict[Key, tuple[Value, Mapping[str, str]]]
    remake: dict[Key, tuple[Value, Mapping[str, str]]]
    overwrite: dict[Key, Value]
    adopt: dict[Key, Mapping[str, str]]
    disown: tuple[Key, ...]
    delete: tuple[Key, ...]
    heal: Mapping[Key, Mapping[str, str]]
    record: Record | None
    rerecord: bool
    orphans: dict[str, Record | None]
    reported: Mapping[Key, tuple[str, ...]]
    kept: Mapping[Key, tuple[str, ...]]

    @property
    def writes(self) -> int:
        return len(self.plan.instructions)


def parts(made: ExportPlan) -> PlanParts:
    """Take a plan apart.

    Raises:
        StrongRefError: what it is refused with.
    """
    if refusal := refusal_of([made]):
        assert made.instructions == ()
        raise refusal
    deleted = [key for each in made.instructions if isinstance(each, Delete) for key in each.keys]
    created = {each.key: (each.value, each.tags) for each in made.instructions if isinstance(each, Create)}
    records = [each for each in made.instructions if isinstance(each, WriteRecord | CloseRecord)]
    own = [each for each in records if each.logical_id == ME.logical_id]
    return PlanParts(
        plan=made,
        create={key: each for key, each in created.items() if key not in deleted},
        remake={key: each for key, each in created.items() if key in deleted},
        overwrite={each.key: each.value for each in made.instructions if isinstance(each, Overwrite)},
        adopt={each.key: each.tags for each in made.instructions if isinstance(each, TakeOwnership)},
        disown=tuple(each.key for each in made.instructions if isinstance(each, GiveUpOwnership)),
        delete=tuple(key for key in deleted if key not in created),
        heal=made.stale,
        record=own[-1].record if own else None,
        rerecord=bool(own),
        orphans={each.logical_id: each.record for each in records if each not in own},
        reported=made.propagated,
        kept=made.kept,
    )


def does(made: PlanParts) -> dict[str, Any]:
    """The parts of a plan that are not empty, without the record that it ends with."""
    found = {field.name: getattr(made, field.name) for field in fields(made)}
    return {name: part for name, part in found.items() if part and name not in ("plan", "record")}
