"""Where types differ from their schemas, or from the rules that hold for most types: as data. Pure.

Each line has its reason next to it. To add one, compare the answer of `strongref lookup` with the type's `Ref`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from strongref.arns import Arn

if TYPE_CHECKING:
    Properties: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Identifier:
    """The identifier, known without a call."""

    text: str


@dataclass(frozen=True, slots=True)
class ArnResource:
    """The resource of the ARN that is the identifier."""

    service: str  # as in ARNs
    text: str  # as in `rule/bus/name`; empty if no resource can match
    native: str  # another form of the identifier, which the type's handler takes as well
    hints: Properties  # properties that follow from the physical ID, and may help its list handler


@dataclass(frozen=True, slots=True)
class Candidates:
    """Possible identifiers. A resource matches unless its own properties differ."""

    texts: tuple[str, ...]  # the identifiers, the likeliest first
    properties: Properties  # the resource's, if it has them


@dataclass(frozen=True, slots=True)
class NameSearch:
    """A search by the resources' name property. Their identifiers do not matter."""

    name: str


Interpreted: TypeAlias = Identifier | ArnResource | Candidates | NameSearch
Rule: TypeAlias = "Callable[[str, Properties], Interpreted | None]"

_DEFAULT_BUS = "default"
_NO_RULE = ArnResource("events", "", "", {})


def _rule(physical_id: str, known: Properties) -> Interpreted:
    """`bus|rule` on a custom event bus, `rule` on the default one; the ARN has `rule/bus/rule` or `rule/rule`.

    The type's handler takes both forms (AWS: aws-cloudformation-resource-providers-events, CompositePID), and lists
    only the default bus (ListHandler).
    """
    bus, on_a_bus, name = physical_id.rpartition("|")
    known_bus = known.get("EventBusName", "")
    if not on_a_bus:
        if Arn.parse(physical_id):
            return Identifier(physical_id)
        bus = known_bus
    if "/" in name:
        return _NO_RULE  # A rule's name has no slash (AWS: PutRule, Name): this would be a rule of another bus.
    buses = [each for each in (bus, known_bus) if each]
    arns = {each for each in buses if Arn.parse(each)}
    if len({*map(_name_in, buses)}) > 1 or len(arns) > 1:
        return _NO_RULE
    of_bus = Arn.parse(next(iter(arns), ""))
    if of_bus:
        path = "" if of_bus.resource_id == _DEFAULT_BUS else f"{of_bus.resource_id}/"
        return Identifier(str(of_bus.with_resource(f"rule/{path}{name}")))
    if bus in ("", _DEFAULT_BUS):
        return ArnResource("events", f"rule/{name}", name, {})
    return ArnResource("events", f"rule/{bus}/{name}", f"{bus}|{name}", {"EventBusName": bus})


def _name_in(text: str) -> str:
    """The name in an ARN, or the text itself."""
    arn = Arn.parse(text)
    return arn.resource_id if arn else text


def _job_definition(physical_id: str, _known: Properties) -> Interpreted:
    """An ARN that ends in `:<revision>`. The identifier is the name; the definition has its ARN as a property."""
    arn = Arn.parse(physical_id)
    if arn is None:
        return Identifier(physical_id)
    return Candidates((arn.resource_id.partition(":")[0],), {"JobDefinitionArn": physical_id})


def _api_key(physical_id: str, _known: Properties) -> Interpreted | None:
    """`…:apis/<api>/apikey/<key>`; a key's ID begins with `da2-`, which an ARN may lack."""
    arn = Arn.parse(physical_id)
    found = _API_KEY.fullmatch(arn.resource) if arn else None
    if found is None:
        return None
    return Candidates((f"{found[1]}|{found[2]}", f"{found[1]}|da2-{found[2]}"), {"Arn": physical_id})


_API_KEY = re.compile(r"apis/([^/]+)/apikeys?/([^/]+)")


def _propagation(physical_id: str, _known: Properties) -> Interpreted:
    """`attachment_table`; the identifier is `table|attachment`. Neither ID has an underscore."""
    attachment, _, table = physical_id.partition("_")
    return Identifier(f"{table}|{attachment}" if table else physical_id)


def _security_group(physical_id: str, _known: Properties) -> Interpreted:
    """The ID, or the name if the template created it in the default VPC without naming the VPC."""
    return Identifier(physical_id) if physical_id.startswith("sg-") else NameSearch(physical_id)


STRATEGIES: Mapping[str, Mapping[str, Rule]] = {
    # `Ref` is one name or two; the identifier is an ARN with the bus in its path, which is not part of the name.
    "AWS::Events::Rule": {"Arn": _rule},
    # `Ref` is an ARN, the identifier a name.
    "AWS::Batch::JobDefinition": {"JobDefinitionName": _job_definition},
    # `Ref` is as in the template; the service removes the slash at its end.
    "AWS::ECR::RepositoryCreationTemplate": {"Prefix": lambda prefix, _: Identifier(prefix.removesuffix("/"))},
    # The only composite identifier whose parts `Ref` joins with another separator.
    "AWS::EC2::TransitGatewayRouteTablePropagation": {"TransitGatewayRouteTableId": _propagation},
    "AWS::EC2::SecurityGroup": {"Id": _security_group},
    # `Ref` is an ARN, the identifier is made of two of its parts.
    "AWS::AppSync::ApiKey": {"ApiId": _api_key},
    # `Ref` is the user's name, which is not its ID.
    "AWS::ElastiCache::User": {"UserId": lambda physical_id, _: NameSearch(physical_id)},
}
"""By type and the first property of its identifier."""


IDENTIFIERS: Mapping[str, tuple[str, ...]] = {
    # The schema says FunctionName; the documentation of Pulumi's importer says the function's ARN. A name matches the
    # ARN (`matching.is_same_value`).
    "AWS::Lambda::Permission": ("FunctionArn", "Id")
}
"""Primary identifiers that differ from the schema."""

REPLACED: Mapping[str, str] = {
    "AWS::Serverless::Api": "AWS::ApiGateway::RestApi",
    "AWS::Serverless::Application": "AWS::CloudFormation::Stack",
    "AWS::Serverless::Function": "AWS::Lambda::Function",
    "AWS::Serverless::HttpApi": "AWS::ApiGatewayV2::Api",
    "AWS::Serverless::LayerVersion": "AWS::Lambda::LayerVersion",
    "AWS::Serverless::SimpleTable": "AWS::DynamoDB::Table",
    "AWS::Serverless::StateMachine": "AWS::StepFunctions::StateMachine",
}
"""What SAM replaces its types with: the resource has the same physical ID (AWS: SAM Developer Guide, generated
resources)."""

OWN: Mapping[str, str] = {
    # `Ref` is the address. The service makes up both the address and the allocation's ID.
    "AWS::EC2::EIP": "PublicIp",
    # `Ref` is the record's name; the set identifier of most records is empty.
    "AWS::Route53::RecordSet": "Name",
}
"""The part of a composite identifier that is the resource's own, where the schema misleads."""

TAGGED_BY: Mapping[str, tuple[str, ...]] = {
    # Their schemas say that they have no tags: templates set tags in another way, or not at all.
    "AWS::Config::ConfigRule": ("config",),
    "AWS::EC2::LaunchTemplate": ("ec2",),
}
"""By type: the services, as in ARNs, that tag it."""


def _dimension(known: Properties) -> str:
    """The middle of a scalable target's physical ID, `resource|dimension|namespace`."""
    parts = known.get("ScalingTargetId", "").split("|")
    return parts[1] if len(parts) == 3 else ""  # noqa: PLR2004 (as above)


def _namespace(known: Properties) -> str:
    """`ecs` in the dimension `ecs:service:DesiredCount`, or the end of a scalable target's physical ID."""
    return known.get("ScalableDimension", "").partition(":")[0] or known.get("ScalingTargetId", "").rpartition("|")[2]


DERIVED: Mapping[str, Mapping[str, Callable[[Properties], str]]] = {
    "AWS::ApplicationAutoScaling::ScalingPolicy": {"ServiceNamespace": _namespace, "ScalableDimension": _dimension},
    "AWS::ApplicationAutoScaling::ScalableTarget": {"ServiceNamespace": _namespace},
    # A name stands for the ARN as well, and is part of the identifier if the service has it so.
    "AWS::Lambda::Permission": {
        "FunctionName": lambda known: _name_in(known.get("FunctionArn", "")),
        "FunctionArn": lambda known: known.get("FunctionName", ""),
    },
}
"""Properties that follow from others; empty if they do not."""


PARENT_AND_OWN = frozenset({"AWS::Lambda::Permission"})
"""Types whose identifier is the parent, by its name or its ARN, and the own part. Neither has a separator in it (AWS:
AddPermission)."""


def with_derived(type_name: str, known: Properties) -> dict[str, str]:
    """The known properties and those that follow from them, without empty values."""
    given = {name: value for name, value in known.items() if value}
    derived = {name: derive(given) for name, derive in DERIVED.get(type_name, {}).items() if name not in given}
    return given | {name: value for name, value in derived.items() if value}
