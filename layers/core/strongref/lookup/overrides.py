"""What is different from what the schemas say, or from what holds for most types: as data. Pure.

Each line has its reason beside it. To add one, see what `strongref lookup` answers, and what the type's `Ref` is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from strongref.lookup.arns import Arn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Known: TypeAlias = Mapping[str, str]


class Strategy(Enum):
    """How a physical id is to be understood."""

    AS_IS = "as is"
    """It is the identifier."""
    LOOK_UP = "look up"
    """It is what the resource is called: found in the list of all of them."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """The identifier, found without asking."""

    text: str


@dataclass(frozen=True, slots=True)
class Resource:
    """The last field of the ARN that is the identifier.

    Attributes:
        text: as in `rule/bus/name`; empty where there can be none.
        hints: what is known for certain of the resource, and may help its list handler.
    """

    text: str
    hints: Mapping[str, str]


Understood: TypeAlias = Strategy | Identifier | Resource
Understanding: TypeAlias = "Strategy | Callable[[str, Known], Understood]"

_DEFAULT_BUS = "default"


def _rule(physical_id: str, known: Known) -> Understood:
    """`bus|rule` of a rule on a bus of its own, `rule` of one on the default bus; the ARN says `rule/bus/rule`."""
    bus, on_a_bus, name = physical_id.rpartition("|")
    if not on_a_bus:
        if Arn.parse(physical_id):
            return Strategy.AS_IS
        bus = known.get("EventBusName", "")
    if "/" in name:
        return Resource("", {})  # A rule's name holds none (AWS: PutRule, Name): this would be another bus's rule.
    of_bus = Arn.parse(bus)
    if of_bus:
        path = "" if of_bus.name == _DEFAULT_BUS else f"{of_bus.name}/"
        return Identifier(of_bus.beside(f"rule/{path}{name}"))
    if bus in ("", _DEFAULT_BUS):
        return Resource(f"rule/{name}", {})
    return Resource(f"rule/{bus}/{name}", {"EventBusName": bus})


def _job_definition(physical_id: str, _known: Known) -> Understood:
    """An ARN that ends in `:<revision>`; its service knows the name alone."""
    arn = Arn.parse(physical_id)
    return Identifier(arn.name.partition(":")[0] if arn else physical_id)


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
    # `Ref` is the user's name, which is not its id.
    "AWS::ElastiCache::User": {"UserId": Strategy.LOOK_UP},
}
"""By type and the first property of its identifier."""

IDENTIFIERS: Mapping[str, tuple[str, ...]] = {
    # The schema says FunctionName; the service gives the function's ARN.
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


def _dimension(known: Known) -> str:
    """The middle of a scalable target's physical id, `resource|dimension|namespace`."""
    parts = known.get("ScalingTargetId", "").split("|")
    return parts[1] if len(parts) == 3 else ""  # noqa: PLR2004 (as above)


def _namespace(known: Known) -> str:
    """`ecs` of the dimension `ecs:service:DesiredCount`, or else the end of a scalable target's physical id."""
    return known.get("ScalableDimension", "").partition(":")[0] or known.get("ScalingTargetId", "").rpartition("|")[2]


DERIVED: Mapping[str, Mapping[str, Callable[[Known], str]]] = {
    "AWS::ApplicationAutoScaling::ScalingPolicy": {"ServiceNamespace": _namespace, "ScalableDimension": _dimension},
    "AWS::ApplicationAutoScaling::ScalableTarget": {"ServiceNamespace": _namespace},
}
"""Properties that follow from others; empty where they do not."""
