"""What two stacks of a CDK app deploy, in one form, whichever has a resource and however it refers to another."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strongref_objects.channels.importing import HOLDER
from strongref_toolkit.intrinsics import intrinsic
from tests.support import cdk_apps
from tests.support.cdk_apps import ACCOUNT, EU

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import aws_cdk as cdk

    Resource = tuple[str, dict[str, Any]]

PSEUDO = {"AWS::Region": EU, "AWS::AccountId": ACCOUNT, "AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com"}

IGNORED = {"AWS::CDK::Metadata"}
"""What the CDK reports."""

NO_TRAFFIC = "255.255.255.255/32"
"""The CDK's rule for a group without other outbound rules. It allows nothing; only the group's own app removes it."""

NAMES = {"PolicyName", "Description", "GroupDescription"}
"""Properties in which the CDK writes a construct's path."""


Templates = dict[str, dict[str, Any]]
"""By stack."""


def templates(*stacks: cdk.Stack) -> Templates:
    return {each.stack_name: cdk_apps.template(each) for each in stacks}


@dataclass(frozen=True)
class Deployed:
    """The resources of some stacks, with values in place of references.

    Attributes:
        templates: of the stacks.
        facts: the values that references have, by their JSON: of the first stack.
        attributes: the values of attributes that no export says.
    """

    templates: Templates
    facts: Mapping[str, str]
    attributes: Mapping[str, str]

    def resources(self) -> Counter[str]:
        """Each resource's type and properties, and how many there are of them."""
        return Counter(
            json.dumps([type_name, properties], sort_keys=True)
            for stack, template in self.templates.items()
            for logical_id, each in template.get("Resources", {}).items()
            if each["Type"] not in IGNORED and not logical_id.startswith(HOLDER)
            for type_name, properties in self._parts(stack, logical_id, each)
        )

    def _parts(self, stack: str, logical_id: str, resource: Mapping[str, Any]) -> Iterator[Resource]:
        """A resource; a security group's inline rules are resources, as they are outside its own app."""
        properties = self._value(stack, resource.get("Properties", {}))
        if resource["Type"] == "AWS::EC2::SecurityGroup":
            group = self._value(stack, {"Fn::GetAtt": [logical_id, "GroupId"]})
            for way in ("Ingress", "Egress"):
                for rule in properties.pop(f"SecurityGroup{way}", ()):
                    if rule.get("CidrIp") != NO_TRAFFIC:
                        yield f"AWS::EC2::SecurityGroup{way}", {"GroupId": group, **rule}
        yield resource["Type"], properties

    def _value(self, stack: str, value: Any) -> Any:
        if isinstance(value, list):
            found = [self._value(stack, each) for each in value]
            return [each for each in found if each is not None]
        if not isinstance(value, dict):
            return value
        name, argument = intrinsic(value) or ("", None)
        if not name:
            found_in = {key: self._value(stack, each) for key, each in value.items() if key not in NAMES}
            return {key: each for key, each in found_in.items() if each is not None}
        if name in ("Ref", "Fn::GetAtt"):
            return self._reference(stack, value)
        if name == "Fn::ImportValue":
            other, exported = self._export(str(argument))
            return self._value(other, exported)
        return _applied(name, self._value(stack, argument))

    def _reference(self, stack: str, value: dict[str, Any]) -> str | None:
        if value == {"Ref": "AWS::NoValue"}:
            return None
        pseudo = PSEUDO.get(str(value.get("Ref")))
        own = stack == next(iter(self.templates))
        if pseudo or (own and json.dumps(value) in self.facts):
            return pseudo or self.facts[json.dumps(value)]
        attribute = value.get("Fn::GetAtt", ["", ""])[1]
        return self.attributes.get(attribute) if own and attribute in self.attributes else f"<{stack} {value}>"

    def _export(self, name: str) -> tuple[str, Any]:
        for stack, template in self.templates.items():
            for output in template.get("Outputs", {}).values():
                if output.get("Export", {}).get("Name") == name:
                    return stack, output["Value"]
        raise KeyError(name)


def _applied(name: str, argument: Any) -> Any:
    """An intrinsic function of known texts."""
    if name == "Fn::Join" and isinstance(argument[1], list):
        return argument[0].join(argument[1])
    if name == "Fn::Split":
        return argument[1].split(argument[0])
    if name == "Fn::Select" and isinstance(argument[1], list):
        return argument[1][int(argument[0])]
    return {name: argument}
