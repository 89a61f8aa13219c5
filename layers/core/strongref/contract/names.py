"""The names of parameters and tags, and the ARNs and producers that they are made of. Pure.

Everything that strongref stores about exports is below `/strongref/`, in three trees of the same shape:

    /strongref/exports/<consumer>/<account>/<region>/<stack>/<key>[/<key>…]   the values
    /strongref/records/<consumer>/<account>/<region>/<stack>/<logical ID>…    what each Export publishes
    /strongref/fences/<consumer>/<account>/<region>/<stack>/<holder>          who is changing values there

Account, region and stack are the producer's. The parameters themselves are in the consumer's account and region.
`/strongref/manifests/<name>/…` lists what a manifest set claims in a region.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, NamedTuple, NewType, TypeVar

from strongref.arns import Arn
from strongref.errors import StrongRefError, where_text
from strongref.grouping import grouped
from strongref.text import MANIFEST_SET

T = TypeVar("T")

Key = NewType("Key", str)
"""An export's key: one to nine levels, separated by `/`."""

Tree = Literal["exports", "records", "fences"]
"""Where parameters are, below `/strongref/`."""

SHARED = "_shared"
"""Takes the place of the consumer's name for exports that any stack may import."""

MANIFESTS = "_manifests"
"""Takes the place of the consumer's name in the fences of manifest sets."""

MAX_LEVELS = 9
"""A parameter's name has at most 15 levels (AWS: PutParameter, Name); six of them are ours."""

MAX_NAME = 1011
"""Characters of a parameter's name *with* its ARN's prefix (AWS: PutParameter, Name)."""

MAX_LABEL = 128
"""Characters of a consumer's label; a stack name has the same limit."""

PRODUCER_TAG = "strongref:producer"
OWNER_TAG = "strongref:export:"
CLAIM_TAG = "strongref:claim:"
RESTORED_TAG = "strongref:restored"
RESTORED = {RESTORED_TAG: "true"}
"""On a value that was deleted and put back: the claims on it are lost until its imports are updated."""

is_level = re.compile(r"[A-Za-z0-9_-]+").fullmatch
"""Whether a text is one level of a key or a consumer's label: letters, digits, `_` and `-`."""

is_stack_name = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,127}").fullmatch
"""Whether a stack can have this name (AWS: CreateStack, StackName)."""

_REGION = re.compile(r"[a-z]+(-[a-z]+)+-[0-9]+")


class BadArnError(StrongRefError):
    text: str
    sentence = "Not a stack ARN: {text!r:300}."


@dataclass(frozen=True, slots=True, order=True)
class StackArn:
    """The parts of a stack ID: `arn:<partition>:cloudformation:<region>:<account>:stack/<name>/<unique ID>`."""

    partition: str
    region: str
    account: str
    name: str
    unique: str

    @classmethod
    def parse(cls, text: str) -> StackArn:
        """Raises `BadArnError` if the text is not a stack ARN."""
        arn = Arn.parse(text)
        if not (arn and (stack := arn.stack)):
            raise BadArnError(text)
        return cls(arn.partition, arn.region, arn.account, *stack)

    @classmethod
    def find(cls, text: str) -> StackArn | None:
        """As `parse`; None if the text is not a stack ARN."""
        try:
            return cls.parse(text)
        except BadArnError:
            return None

    @property
    def producer(self) -> Producer:
        return Producer(self.account, self.region, self.name)

    def __str__(self) -> str:
        return f"arn:{self.partition}:cloudformation:{self.region}:{self.account}:stack/{self.name}/{self.unique}"


@dataclass(frozen=True, slots=True, order=True)
class Producer:
    """The stack that publishes an export."""

    account: str
    region: str
    stack: str

    def __str__(self) -> str:
        return f"stack {self.stack} ({self.region}, {self.account})"


class Site(NamedTuple):
    """Where a Parameter Store is."""

    region: str
    account: str = ""  # empty for the stack's own, whose functions these are

    def __str__(self) -> str:
        return where_text(self.region, self.account)


@dataclass(frozen=True, slots=True, order=True)
class ExportScope:
    """The exports of one producer for one consumer, in one Parameter Store."""

    consumer: str
    producer: Producer

    def path(self, tree: Tree) -> str:
        """The path of its parameters in a tree, without a slash at its end."""
        producer = self.producer
        return f"/strongref/{tree}/{self.consumer}/{producer.account}/{producer.region}/{producer.stack}"

    def parameter_name(self, key: Key) -> str:
        return f"{self.path('exports')}/{key}"

    def key(self, name: str) -> Key:
        """The key of the parameter with this name; the reverse of `parameter_name`."""
        return Key(name.removeprefix(f"{self.path('exports')}/"))

    @classmethod
    def of(cls, tree: str, name: str) -> ExportScope | None:
        """The scope of a parameter in a tree; None if its name has too few levels."""
        match name.removeprefix(f"/strongref/{tree}/").split("/"):
            case [consumer, account, region, stack, _key, *_levels]:
                return cls(consumer, Producer(account, region, stack))
        return None


def by_scope(tree: str, parameters: Mapping[str, T]) -> dict[ExportScope, dict[str, T]]:
    """What is given for parameters of a tree, by scope and name; without names that have too few levels."""
    named = grouped((ExportScope.of(tree, name), name) for name in parameters)
    return {scope: {name: parameters[name] for name in names} for scope, names in named.items() if scope}


def consumer_prefix(consumer: str, tree: Tree = "exports") -> str:
    """The path of everything that is published for one consumer, in a tree."""
    return f"/strongref/{tree}/{consumer}"


def short_hash(text: str) -> str:
    """Sixteen hex digits that represent a physical or logical ID in a tag key."""
    return sha256(text.encode()).hexdigest()[:16]


def owner_tag(logical_id: str) -> str:
    """The key of the tag with which an Export owns a value; the tag's value is the logical ID."""
    return OWNER_TAG + short_hash(logical_id)


def claim_tag(physical_id: str) -> str:
    """The key of the tag with which one generation of an Import claims a value; the tag's value is its stack's ARN."""
    return CLAIM_TAG + short_hash(physical_id)


def arn_prefix_length(partition: str, region: str, account: str) -> int:
    """How many characters the ARN adds to a parameter's name; they count toward `MAX_NAME`."""
    return len(f"arn:{partition}:ssm:{region}:{account}:parameter")


def writer_role(partition: str, account: str, producer: str) -> str:
    """The ARN of the role of an account that a producer's account may assume; `trust.yaml` makes it."""
    return f"arn:{partition}:iam::{account}:role/strongref-writer-{producer}"


@dataclass(frozen=True, slots=True, order=True)
class ManifestSet:
    """Manifests that claim what they use under one name, like a stack with Imports."""

    account: str
    name: str

    def __str__(self) -> str:
        """The value of its claims' tags, where a stack's claims have its ARN."""
        return f"strongref:manifests:{self.account}:{self.name}"

    @classmethod
    def parse(cls, text: str) -> ManifestSet | None:
        """The set that a claim's tag names; None if it names none."""
        found = MANIFEST_SET.fullmatch(text)
        return cls(*found.groups()) if found else None

    @property
    def claim(self) -> dict[str, str]:
        """The tag of its claims."""
        return {claim_tag(self.generation): str(self)}

    @property
    def generation(self) -> str:
        """Identifies its claims, as an Import's physical ID does. It never changes: runs on a set are exclusive."""
        return f"strongref-manifests/{self.account}/{self.name}"

    @property
    def ledger(self) -> str:
        """The path of the parameters that list what it claims in a region."""
        return f"/strongref/manifests/{self.name}"

    def scope(self, region: str) -> ExportScope:
        """The scope for the fence of a run that changes the set. Nothing is published there."""
        return ExportScope(MANIFESTS, Producer(self.account, region, self.name))


def can_be_claim(tag: str, claimant: str) -> bool:
    """Whether an import can have made a claim, given the tag's key and value; if not, somebody wrote it by hand.

    An import writes the ARN of its stack, a manifest set its ID. A later version of strongref may write something
    else that begins with `strongref:`.
    """
    if manifests := ManifestSet.parse(claimant):
        return manifests.claim == {tag: claimant}
    stack = StackArn.find(claimant)
    return bool(_REGION.fullmatch(stack.region)) if stack else claimant.startswith("strongref:")
