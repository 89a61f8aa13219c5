"""What is different from what the schemas say, or from what holds for most types: as data. Pure.

Each line has its reason beside it. To add one, see what `strongref lookup` answers, and what the type's `Ref` is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from strongref.contract.arns import Arn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Known: TypeAlias = Mapping[str, str]


class Strategy(Enum):
    """How a physical id is to be understood."""

    AS_IS = "as is"
    """It is the identifier."""
    LOOK_UP = "look up"
    """It is what the resource says that it is called: never its identifier."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """The identifier, found without asking."""

    text: str


@dataclass(frozen=True, slots=True)
class Resource:
    """The last field of the ARN that is the identifier.

    Attributes:
        service: as in ARNs.
        text: as in `rule/bus/name`; empty where there can be none.
        native: another form of the identifier, which the type's own code takes as well.
        hints: what is known for certain of the resource, and may help its list handler.
    """

    service: str
    text: str
    native: str
    hints: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the identifier may be; it is if the resource does not say otherwise.

    Attributes:
        texts: the identifiers, the likeliest first.
        says: what the resource says of itself, if it says it, by property.
    """

    texts: tuple[str, ...]
    says: Mapping[str, str]


Understood: TypeAlias = Strategy | Identifier | Resource | Candidates
Understanding: TypeAlias = "Strategy | Callable[[str, Known], Understood | None]"

_DEFAULT_BUS = "default"
_NO_RULE = Resource("events", "", "", {})


def _rule(physical_id: str, known: Known) -> Understood:
    """`bus|rule` of a rule on a bus of its own, `rule` of one on the default bus; the ARN says `rule/bus/rule`.

    The type's own code takes both forms (AWS: aws-cloudformation-resource-providers-events, CompositePID), and lists
    the default bus alone (ListHandler).
    """
    bus, on_a_bus, name = physical_id.rpartition("|")
    told = known.get("EventBusName", "")
    if not on_a_bus:
        if Arn.parse(physical_id):
            return Strategy.AS_IS
        bus = told
    if "/" in name:
        return _NO_RULE  # A rule's name holds none (AWS: PutRule, Name): this would be another bus's rule.
    if told and _bus_of(told) != _bus_of(bus):
        return _NO_RULE
    of_bus = Arn.parse(bus)
    if of_bus:
        path = "" if of_bus.resource_id == _DEFAULT_BUS else f"{of_bus.resource_id}/"
        return Identifier(str(of_bus.with_resource(f"rule/{path}{name}")))
    if bus in ("", _DEFAULT_BUS):
        return Resource("events", f"rule/{name}", name, {})
    return Resource("events", f"rule/{bus}/{name}", f"{bus}|{name}", {"EventBusName": bus})


def _bus_of(text: str) -> str:
    arn = Arn.parse(text)
    return arn.resource_id if arn else text


def _job_definition(physical_id: str, _known: Known) -> Understood:
    """An ARN that ends in `:<revision>`; its service knows the name alone, and tells which revision it is."""
    arn = Arn.parse(physical_id)
    if arn is None:
        return Identifier(physical_id)
    return Candidates((arn.resource_id.partition(":")[0],), {"JobDefinitionArn": physical_id})


def _api_key(physical_id: str, _known: Known) -> Understood | None:
    """`…:apis/<api>/apikey/<key>`; a key's id begins with `da2-`, which an ARN may lack."""
    arn = Arn.parse(physical_id)
    found = _API_KEY.fullmatch(arn.resource) if arn else None
    if found is None:
        return None
    return Candidates((f"{found[1]}|{found[2]}", f"{found[1]}|da2-{found[2]}"), {"Arn": physical_id})


_API_KEY = re.compile(r"apis/([^/]+)/apikeys?/([^/]+)")


def _prefix(physical_id: str, _known: Known) -> Understood:
    """As the template has it; its service leaves out the slash at the end."""
    return Identifier(physical_id.removesuffix("/"))


def _propagation(physical_id: str, _known: Known) -> Understood:
    """`attachment_table`; the identifier is `table|attachment`. Neither id holds an underscore."""
    attachment, _, table = physical_id.partition("_")
    return Identifier(f"{table}|{attachment}" if table else physical_id)


def _security_group(physical_id: str, _known: Known) -> Understood:
    """The id, or the name where it was made in the default VPC without naming that."""
    return Strategy.AS_IS if physical_id.startswith("sg-") else Strategy.LOOK_UP


STRATEGIES: Mapping[str, Mapping[str, Understanding]] = {
    # `Ref` is a name or two; the identifier is an ARN with the bus in its path, which is no part of the name.
    "AWS::Events::Rule": {"Arn": _rule},
    # `Ref` is an ARN, the identifier a name.
    "AWS::Batch::JobDefinition": {"JobDefinitionName": _job_definition},
    "AWS::ECR::RepositoryCreationTemplate": {"Prefix": _prefix},
    # The only composite identifier whose parts `Ref` joins in another way.
    "AWS::EC2::TransitGatewayRouteTablePropagation": {"TransitGatewayRouteTableId": _propagation},
    "AWS::EC2::SecurityGroup": {"Id": _security_group},
    # `Ref` is an ARN, the identifier is made of two of its parts.
    "AWS::AppSync::ApiKey": {"ApiId": _api_key},
    # `Ref` is the user's name, which is not its id.
    "AWS::ElastiCache::User": {"UserId": Strategy.LOOK_UP},
}
"""By type and the first property of its identifier."""


def understood(type_name: str, part: str, physical_id: str, known: Known) -> Understood | None:
    """What is said of a type, whose identifier's first property is `part`; None if nothing is."""
    strategy = STRATEGIES.get(type_name, {}).get(part)
    return strategy(physical_id, known) if callable(strategy) else strategy


IDENTIFIERS: Mapping[str, tuple[str, ...]] = {
    # The schema says FunctionName, the importer that this is made after that it is the function's ARN. Where it is a
    # name after all, that is the same as the ARN (`matching.same`).
    "AWS::Lambda::Permission": ("FunctionArn", "Id"),
}
"""Primary identifiers that are other ones than the schema says."""

REPLACED: Mapping[str, str] = {
    "AWS::Serverless::Api": "AWS::ApiGateway::RestApi",
    "AWS::Serverless::Application": "AWS::CloudFormation::Stack",
    "AWS::Serverless::Function": "AWS::Lambda::Function",
    "AWS::Serverless::HttpApi": "AWS::ApiGatewayV2::Api",
    "AWS::Serverless::LayerVersion": "AWS::Lambda::LayerVersion",
    "AWS::Serverless::SimpleTable": "AWS::DynamoDB::Table",
    "AWS::Serverless::StateMachine": "AWS::StepFunctions::StateMachine",
}
"""What SAM makes of its types before CloudFormation makes anything: the resource has the same physical id (AWS: SAM
Developer Guide, generated resources)."""

OWN: Mapping[str, str] = {
    # `Ref` is the address, which the service makes up as well as the allocation's id.
    "AWS::EC2::EIP": "PublicIp",
    # `Ref` is the record's name; the set identifier is empty for most.
    "AWS::Route53::RecordSet": "Name",
}
"""The part of a composite identifier that is the resource's own, where the schema misleads."""

TAGGED_BY: Mapping[str, tuple[str, ...]] = {
    # Their schemas say that they have no tags: templates give them in another way, or not at all.
    "AWS::Config::ConfigRule": ("config",),
    "AWS::EC2::LaunchTemplate": ("ec2",),
}
"""By type: the services, as they stand in ARNs, by which it is tagged."""


def _dimension(known: Known) -> str:
    """The middle of a scalable target's physical id, `resource|dimension|namespace`."""
    parts = known.get("ScalingTargetId", "").split("|")
    return parts[1] if len(parts) == 3 else ""  # noqa: PLR2004 (as above)


def _namespace(known: Known) -> str:
    """`ecs` of the dimension `ecs:service:DesiredCount`, or else the end of a scalable target's physical id."""
    return known.get("ScalableDimension", "").partition(":")[0] or known.get("ScalingTargetId", "").rpartition("|")[2]


def _function_name(known: Known) -> str:
    function = known.get("FunctionArn", "")
    arn = Arn.parse(function)
    return arn.resource_id if arn else function


DERIVED: Mapping[str, Mapping[str, Callable[[Known], str]]] = {
    "AWS::ApplicationAutoScaling::ScalingPolicy": {"ServiceNamespace": _namespace, "ScalableDimension": _dimension},
    "AWS::ApplicationAutoScaling::ScalableTarget": {"ServiceNamespace": _namespace},
    # A name stands for the ARN as well, and is the identifier's part if that is how the service has it.
    "AWS::Lambda::Permission": {
        "FunctionName": _function_name,
        "FunctionArn": lambda known: known.get("FunctionName", ""),
    },
}
"""Properties that follow from others; empty where they do not."""


def _permission(physical_id: str) -> tuple[str, str] | None:
    """The function and the statement's id. Neither holds a separator (AWS: AddPermission)."""
    function, whole, statement = physical_id.rpartition("|")
    return (function, statement) if whole else None


SPLIT: Mapping[str, Callable[[str], tuple[str, str] | None]] = {
    # The service may have either form of the function in its identifiers.
    "AWS::Lambda::Permission": _permission,
}
"""Whole identifiers whose parent may stand in them by its name or by its ARN: the parent, and the own part."""
