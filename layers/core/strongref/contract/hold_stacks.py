"""Hold stacks: tiny stacks that import a producer's CloudFormation export, so that CloudFormation protects it. Pure.

A custom resource can refuse only when its turn comes. CloudFormation itself refuses earlier: while a stack imports an
export (`Fn::ImportValue`), the export's stack cannot be deleted, and an update that removes the export fails before
anything is deleted. So an Export can name a CloudFormation export (`Hold`), and every strong import has a hold stack in
the producer's region, one for each generation: its parameters have the value `Fn::ImportValue`, and nothing reads them.
An import of another account cannot make stacks in the producer's: there, the janitor holds each Export for each place
with a claim (`HoldStack.of_place`).

Templates that are written here name that export like this:

    Exports:
      Properties: {Hold: !Sub '${AWS::StackName}-Exports'}
    Outputs:
      ExportsHold: {Value: !GetAtt Exports.Hold, Export: {Name: !Sub '${AWS::StackName}-Exports'}}

The output's value is the attribute `Hold`, which repeats the name: so the value never changes, and CloudFormation
exports it only once the Export is complete.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from strongref.contract.names import MAX_LABEL, BadArnError, ExportScope, Producer, StackArn, claim_tag, short_hash
from strongref.grouping import grouped
from strongref.text import PLACE, cut, stack_text

if TYPE_CHECKING:
    from strongref.contract.index import Place

HOLDS = "/strongref/holds"
"""The path of all holds of a region, without a slash at its end."""

HOLD_STACK = "strongref-hold-"
"""What the names of hold stacks begin with. IAM policies have it too."""

HOLD_TYPE = "AWS::SSM::Parameter"
"""The only type of resource in a hold stack."""

CONSUMER_TAG, CLAIM_TAG, SCOPE_TAG = "strongref:consumer", "strongref:claim", "strongref:exported-to"
PRODUCER_STACK_TAG, REGION_TAG, ACCOUNT_TAG = "strongref:producer-stack", "strongref:region", "strongref:account"
OWN_TAGS = (CONSUMER_TAG, CLAIM_TAG, SCOPE_TAG, PRODUCER_STACK_TAG, REGION_TAG, ACCOUNT_TAG)
"""The tags of a hold stack. One that holds for several producers of its region names no producer stack."""

DIGEST = "Exports"
"""The output of a hold stack that says what it holds. Outputs change only when an operation succeeds."""

MAX_EXPORT_NAME = 255
"""Characters of a CloudFormation export's name (AWS: CloudFormation User Guide, Outputs)."""

is_export_name = re.compile(rf"[A-Za-z0-9:-]{{1,{MAX_EXPORT_NAME}}}").fullmatch
"""Whether CloudFormation accepts an export of that name (the same source)."""

HOLD = "Hold"
"""An Export's property and its attribute; also the end of the output's logical ID."""

MAX_LOGICAL_ID = 255
"""Characters of a logical ID (AWS: CloudFormation quotas)."""

_LONGEST_IN_NAME = MAX_EXPORT_NAME - MAX_LABEL - len("-")
"""Characters of the Export's logical ID in the name: the stack's name is unknown, so the longest one must fit."""

_NAME_LIMIT = 80


def hold_stack_name(account: str, label: str, hash_: str) -> str:
    """The name of a hold stack, at most 125 characters (AWS: CreateStack, StackName: 128)."""
    return f"{HOLD_STACK}{account}-{re.sub(r'[^A-Za-z0-9-]', '-', label)[:_NAME_LIMIT]}-{hash_}"


@dataclass(frozen=True, slots=True)
class HoldStack:
    """The hold stack of one generation of an import in one producer's region and account; or of an Export's place."""

    importer: str  # what the claims say: the ARN of the importing stack, or a manifest set; or the place (`text.PLACE`)
    label: str  # the name of either; the consumer
    claim: str  # the key of the claims' tag; what identifies the Export
    account: str  # the importer's
    region: str  # the importer's
    consumer: str  # for whom the imported values are exported
    producer: Producer  # its stack has no name if there may be several, as for manifests

    @property
    def name(self) -> str:
        return hold_stack_name(self.account, self.label, self.hash)

    @property
    def hash(self) -> str:
        """Sixteen hex digits that tell it from all others."""
        parts = [self.importer, self.region, self.claim, self.producer.account, self.producer.region]
        return short_hash(json.dumps(parts))

    @property
    def tags(self) -> dict[str, str]:
        values = (self.importer, self.claim, self.consumer, self.producer.stack, self.region, self.account)
        return {name: value for name, value in zip(OWN_TAGS, values, strict=True) if value}

    @property
    def identity(self) -> dict[str, str]:
        """Those of its tags that tell it from all others, as its hash does."""
        return {name: value for name, value in self.tags.items() if name != PRODUCER_STACK_TAG}

    @property
    def scope(self) -> ExportScope:
        """Where it imports from."""
        return ExportScope(self.consumer, self.producer)

    @classmethod
    def of_import(cls, stack: StackArn, claim: str, scope: ExportScope) -> HoldStack:
        """The hold stack of an Import in this stack, given the key of its claims' tag."""
        return cls(str(stack), stack.name, claim, stack.account, stack.region, scope.consumer, scope.producer)

    @classmethod
    def of_place(cls, place: Place, export: str, producer: Producer) -> HoldStack:
        """The hold stack of a place in another account, given the physical ID of an Export that publishes there."""
        importer = f"strongref:place:{':'.join(place)}"
        return cls(importer, place.consumer, claim_tag(export), place.account, place.region, place.consumer, producer)

    @classmethod
    def of_place_tags(cls, tags: Mapping[str, str], account: str, held_in: str) -> HoldStack | None:
        """That with these tags in a producer's account and region; None for any other stack."""
        if not (found := PLACE.fullmatch(importer := tags.get(CONSUMER_TAG, ""))):
            return None
        producer = Producer(account, held_in, tags.get(PRODUCER_STACK_TAG, ""))
        return cls(importer, found[3], tags.get(CLAIM_TAG, ""), found[1], found[2], found[3], producer)

    @classmethod
    def of_tags(cls, tags: Mapping[str, str], held_in: str) -> HoldStack | None:
        """The hold stack of an Import with these tags in a region; None for any other stack."""
        try:
            stack = StackArn.parse(tags[CONSUMER_TAG])
            producer = Producer(tags[ACCOUNT_TAG], held_in, tags.get(PRODUCER_STACK_TAG, ""))
            return cls.of_import(stack, tags[CLAIM_TAG], ExportScope(tags[SCOPE_TAG], producer))
        except (KeyError, BadArnError):
            return None

    def parameter(self, export: str) -> str:
        """The name of the parameter that holds an export."""
        return f"{HOLDS}/{export.replace(':', '.')}/{self.account}/{self.region}/{self.label}/{self.hash}"

    def template(self, exports: Collection[str]) -> str:
        who = f"{stack_text(self.importer)}, which imports in {self.region}"
        resources = {
            f"Hold{short_hash(export)}": {
                "Type": HOLD_TYPE,
                "Properties": {"Type": "String", "Name": self.parameter(export), "Value": {"Fn::ImportValue": export}},
            }
            for export in sorted(exports)
        }
        template = {
            "Description": cut(f"strongref: protects what {who}, uses. Deleted with that import.", _DESCRIPTION_LIMIT),
            "Resources": resources,
            "Outputs": {DIGEST: {"Value": digest(exports)}},
        }
        return json.dumps(template, separators=(",", ":"))


_DESCRIPTION_LIMIT = 1000
"""Characters (AWS: 1,024 bytes for a template's and for a parameter's description; the texts are ASCII)."""


def digest(exports: Collection[str]) -> str:
    """What a hold stack says in its output about what it holds."""
    return short_hash("\n".join(sorted(exports)))


def held_exports(parameters: Iterable[str]) -> dict[str, frozenset[str]]:
    """The CloudFormation exports that each hold stack holds, by its hash, given the names of a region's parameters."""
    held = grouped((each.hash, each.export) for each in map(HoldParameter.of, parameters) if each)
    return {hash_: frozenset(exports) for hash_, exports in held.items()}


class HoldParameter(NamedTuple):
    """What the name of a hold's parameter says."""

    export: str
    account: str  # the importer's
    region: str  # the importer's
    label: str
    hash: str

    @property
    def stack(self) -> str:
        """The name of its hold stack."""
        return hold_stack_name(self.account, self.label, self.hash)

    @classmethod
    def of(cls, name: str) -> HoldParameter | None:
        """None if it is no such name."""
        levels = name.removeprefix(f"{HOLDS}/").split("/")
        if len(levels) != len(cls._fields):
            return None
        export, *rest = levels
        return cls(export.replace(".", ":"), *rest)


def hold_name(logical_id: str) -> dict[str, Any]:
    """The name of an Export's hold: `<stack name>-<logical ID>`. A logical ID that is too long ends with a hash.

    The logical ID of an Export in a loop has the loop's variable. `Fn::Sub` with a variable and a pseudo parameter in
    one text fails on AWS (aws-cloudformation/cfn-language-discussion, issue 151).
    """
    name = _shortened(logical_id, _LONGEST_IN_NAME)
    if name.isalnum():
        return {"Fn::Sub": f"${{AWS::StackName}}-{name}"}
    return {"Fn::Join": ["-", [{"Ref": "AWS::StackName"}, {"Fn::Sub": name}]]}


def hold_output_id(logical_id: str) -> str:
    """The logical ID of the output that exports an Export's hold."""
    return f"{_shortened(logical_id, MAX_LOGICAL_ID - len(HOLD))}{HOLD}"


def hold_output(logical_id: str, export: Mapping[str, Any]) -> dict[str, Any]:
    """The output that exports the hold of an Export, under the Export's condition."""
    condition = {"Condition": export["Condition"]} if "Condition" in export else {}
    named = logical_id if logical_id.isalnum() else {"Fn::Sub": logical_id}
    return {**condition, "Value": {"Fn::GetAtt": [named, HOLD]}, "Export": {"Name": hold_name(logical_id)}}


def _shortened(logical_id: str, most: int) -> str:
    """A logical ID in at most so many letters and digits; no other one becomes the same.

    In a loop, the variable in it must stay, and its final length is unknown.
    """
    if len(logical_id) <= most or not logical_id.isalnum():
        return logical_id
    end = short_hash(logical_id)
    return f"{logical_id[: most - len(end)]}{end}"
