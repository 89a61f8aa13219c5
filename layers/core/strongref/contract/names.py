"""Names: who publishes what for whom, and what the parameters and tags that say so are called. Pure.

Everything that strongref stores about exports stands under `/strongref/`, in three branches of the same shape:

    /strongref/exports/<consumer>/<account>/<region>/<stack>/<key>[/<key>…]   the values
    /strongref/records/<consumer>/<account>/<region>/<stack>/<logical id>…    what an Export says that it publishes
    /strongref/fences/<consumer>/<account>/<region>/<stack>/<holder>          who is about to change values there

Account, region and stack are the producer's; the parameters themselves stand in the consumer's account and region.
What a set of manifests has claimed there stands in `/strongref/manifests/<name>/…`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, NewType

from strongref.contract.arns import Arn
from strongref.errors import StrongRefError

if TYPE_CHECKING:
    from collections.abc import Mapping

Key = NewType("Key", str)
"""An export's key: one to nine levels joined by `/`."""

SHARED = "_shared"
"""Stands where a consumer's name would, for exports that any stack may import."""

MAX_LEVELS = 9
"""A parameter's name has at most 15 levels (AWS: PutParameter, Name); six of them are ours."""

MAX_NAME = 1011
"""Characters of a parameter's name *with* its ARN's prefix (AWS: PutParameter, Name)."""

MAX_LABEL = 128
"""Characters of a consumer's label; a stack's name has at most as many."""

PRODUCER_TAG = "strongref:producer"
OWNER_TAG = "strongref:export:"
CLAIM_TAG = "strongref:claim:"

_LEVEL = re.compile(r"[A-Za-z0-9_-]+")
_STACK = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,127}")
_STACK_RESOURCE = re.compile(r"stack/([A-Za-z][A-Za-z0-9-]*)/([^/:\s]+)")


class BadArnError(StrongRefError):
    """Something that should be a stack's ARN is none."""

    def __str__(self) -> str:
        return f"Not the ARN of a stack: {self.args[0]!r:.300}."


@dataclass(frozen=True, slots=True, order=True)
class StackArn:
    """A stack's id, taken apart: `arn:<partition>:cloudformation:<region>:<account>:stack/<name>/<unique id>`."""

    partition: str
    region: str
    account: str
    name: str
    unique: str

    @classmethod
    def parse(cls, text: str) -> StackArn:
        """Raises `BadArnError` if it is not a stack's ARN."""
        arn = Arn.parse(text)
        found = _STACK_RESOURCE.fullmatch(arn.resource) if arn else None
        if not (arn and found and arn.service == "cloudformation" and arn.region and arn.has_account_id):
            raise BadArnError(text)
        return cls(arn.partition, arn.region, arn.account, *found.groups())

    def __str__(self) -> str:
        return f"arn:{self.partition}:cloudformation:{self.region}:{self.account}:stack/{self.name}/{self.unique}"


@dataclass(frozen=True, slots=True, order=True)
class Producer:
    """Who publishes: with a key, an export's address."""

    account: str
    region: str
    stack: str

    def __str__(self) -> str:
        return f"stack {self.stack} ({self.region}, {self.account})"


@dataclass(frozen=True, slots=True, order=True)
class ExportScope:
    """What one producer publishes for one consumer, in the one account and region where its store stands."""

    consumer: str
    producer: Producer

    @property
    def _path(self) -> str:
        return f"{self.consumer}/{self.producer.account}/{self.producer.region}/{self.producer.stack}"

    @property
    def values(self) -> str:
        """The values' common path, without a slash at its end."""
        return f"/strongref/exports/{self._path}"

    @property
    def records(self) -> str:
        return f"/strongref/records/{self._path}"

    @property
    def fences(self) -> str:
        return f"/strongref/fences/{self._path}"

    def value(self, key: Key) -> str:
        """The name of the parameter that holds the value of this key."""
        return f"{self.values}/{key}"

    def key(self, name: str) -> Key:
        """The key of the parameter of this name; the reverse of `value`."""
        return Key(name.removeprefix(f"{self.values}/"))

    @classmethod
    def of(cls, branch: str, name: str) -> ExportScope | None:
        """The place of a parameter of a branch (`exports`, `records`); None if it has not enough levels."""
        levels = name.removeprefix(f"/strongref/{branch}/").split("/")
        if len(levels) < 5:  # noqa: PLR2004 (consumer, account, region, stack, key)
            return None
        consumer, account, region, stack, *_ = levels
        return cls(consumer, Producer(account, region, stack))


def consumer_prefix(consumer: str) -> str:
    """Everything that is published for one consumer, by whomever."""
    return f"/strongref/exports/{consumer}"


def short_hash(text: str) -> str:
    """Sixteen hex digits that stand for a physical or logical id in a tag's key."""
    return sha256(text.encode()).hexdigest()[:16]


def owner_tag(logical_id: str) -> str:
    """The key of the tag by which an Export owns a value; the tag's value is the logical id."""
    return OWNER_TAG + short_hash(logical_id)


def claim_tag(physical_id: str) -> str:
    """The key of the tag by which one generation of an Import claims a value; the tag's value is its stack's ARN."""
    return CLAIM_TAG + short_hash(physical_id)


def claims_in(tags: Mapping[str, str]) -> tuple[str, ...]:
    """The ARNs of the stacks that claim a value, from its tags; each once."""
    return tuple(sorted({stack for key, stack in tags.items() if key.startswith(CLAIM_TAG)}))


def is_level(text: str) -> bool:
    """One level of a key, or a consumer's label: letters, digits, `_` and `-`."""
    return bool(_LEVEL.fullmatch(text))


def is_stack_name(text: str) -> bool:
    """What a stack can be called (AWS: CreateStack, StackName)."""
    return bool(_STACK.fullmatch(text))


def arn_prefix_length(partition: str, region: str, account: str) -> int:
    """What a parameter's ARN adds to its name in the count of `MAX_NAME`."""
    return len(f"arn:{partition}:ssm:{region}:{account}:parameter")


@dataclass(frozen=True, slots=True, order=True)
class ManifestSet:
    """Manifests that claim what they use, together and under one name, as a stack's Imports do."""

    account: str
    name: str

    def __str__(self) -> str:
        """As its claims say it, where a stack's say its ARN."""
        return f"strongref:manifests:{self.account}:{self.name}"

    @property
    def generation(self) -> str:
        """What its claims are told apart by. It is the same for ever: whoever works on a set does so alone."""
        return f"strongref-manifests/{self.account}/{self.name}"

    @property
    def ledger(self) -> str:
        """The path of the parameters that say what it claims in a region."""
        return f"/strongref/manifests/{self.name}"

    def scope(self, region: str) -> ExportScope:
        """Where whoever works on it puts up a fence; nothing is published there, since no consumer is called so."""
        return ExportScope("_manifests", Producer(self.account, region, self.name))
