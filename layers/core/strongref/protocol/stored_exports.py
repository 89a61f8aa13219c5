"""What is stored in a scope, as one Export sees it: values, records, and what their tags say. Data only."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from strongref.contract.names import CLAIM_TAG, OWNER_TAG, PRODUCER_TAG, Key, Producer, StackArn, owner_tag

if TYPE_CHECKING:
    from strongref.contract.record import Record
    from strongref.contract.values import Value
    from strongref.errors import UndecryptableError
    from strongref.protocol.plan import Importers


class Owner(Enum):
    """Whose a stored parameter is, as seen from one stack."""

    OURS = "ours"
    NOBODYS = "nobody's"
    """Its producing stack is gone: a stack of the same name may adopt it."""
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class ValueTags:
    """What a parameter's tags say, once CloudFormation was asked which claims are stale."""

    owner: Owner
    producer: str | None
    owners: Mapping[str, str] = field(default_factory=dict)  # the tags by which Exports own it, with their logical IDs
    claims: Mapping[str, str] = field(default_factory=dict)  # live claims: the tag's key, the importing stack's ARN
    stale: Mapping[str, str] = field(default_factory=dict)  # stale claims, likewise
    restored: bool = False  # whether it was put back after it had been deleted, with the claims on it
    # of the live claims, those of stacks that cannot be asked about, and those that no version known here makes
    unknown: Mapping[str, str] = field(default_factory=dict)
    account: str = ""  # where the value is, if that is another account

    @property
    def importers(self) -> Importers:
        return tuple(sorted(set(self.claims.values())))


def physical_id(stack: StackArn, logical_id: str) -> str:
    """An Export's physical ID, which never changes, whatever it publishes and wherever: so it is never replaced."""
    return f"strongref-export/{stack.name}/{stack.unique}/{logical_id}"


@dataclass(frozen=True, slots=True)
class ExportIdentity:
    """Which Export it is: its stack's ARN and its logical ID there."""

    stack: str
    logical_id: str

    @property
    def producer(self) -> Producer:
        return StackArn.parse(self.stack).producer

    @property
    def tags(self) -> dict[str, str]:
        return {PRODUCER_TAG: self.stack, owner_tag(self.logical_id): self.logical_id}


@dataclass(frozen=True, slots=True)
class StoredExports:
    stored: Mapping[Key, Value]  # the parameters' values by key
    # this Export's own record, whichever stack of this name wrote it, as far as it can be read; None if there is none
    own: Record | None
    unreadable: bool = False  # there are parts of a record of this Export that cannot be put together
    # the records of the other Exports of this stack, by logical ID
    others: Mapping[str, Record] = field(default_factory=dict)
    # the records that a former stack of this name left behind, by logical ID
    orphans: Mapping[str, Record] = field(default_factory=dict)
    # the numbers of the parts that the records have, by logical ID
    parts: Mapping[str, frozenset[int]] = field(default_factory=dict)
    # why the secure values of another Export cannot be read; None if they can. `stored` has no secure values then
    locked: UndecryptableError | None = None
    hidden: Collection[Key] = ()  # the keys of those secure values
    withdrawn: Record | None = None  # the mark that this Export's record left when it was withdrawn
    why: UndecryptableError | None = None  # why this Export's record cannot be read completely, if that is known
    named: bool = False  # the index says that the Export publishes here; only known where it matters

    @property
    def lost(self) -> bool:
        """Whether this Export may have published more than its own record says, as far as that can be read."""
        return self.unreadable or (self.own is None and not self.withdrawn and self.named)

    @property
    def recorded(self) -> Mapping[Key, Value]:
        return self.own.values if self.own else {}

    @property
    def hold(self) -> str:
        """The CloudFormation export that this Export names, or named before it named none."""
        return self.own.hold or self.own.former_hold if self.own else ""

    @property
    def recorded_by_others(self) -> set[Key]:
        return {key for record in self.others.values() for key in record.values}

    def other_owners(self, key: Key) -> dict[str, str]:
        """The owner tags of the other Exports that publish a key."""
        return {owner_tag(logical_id): logical_id for logical_id, record in self.others.items() if key in record.values}

    def owned_by(self, export: ExportIdentity, key: Key) -> bool:
        """Whether this Export publishes a key, and its tags say so.

        A record of a former stack of the same name does not count, nor one that was left open: tags may be missing.
        """
        own = self.own
        return own is not None and own.stack == export.stack and not own.open and key in own.values


def split_tags(tags: Mapping[str, str]) -> tuple[str | None, dict[str, str], dict[str, str]]:
    """A parameter's producer, its owners and its claims, the last two by tag key."""
    owners = {key: value for key, value in tags.items() if key.startswith(OWNER_TAG)}
    claims = {key: value for key, value in tags.items() if key.startswith(CLAIM_TAG)}
    return tags.get(PRODUCER_TAG), owners, claims
