"""What CloudFormation knows of resources and the emulator does not: attributes, rules of their own, concurrency."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ministack.services import ec2, lambda_svc
from ministack.services.cloudformation import provisioners

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BELIEFS = ("vpc-attributes",)

_HANDLERS = provisioners._RESOURCE_HANDLERS


def install() -> None:
    """Add them (AWS: CloudFormation, return values of AWS::EC2::VPC; AWS::EC2::SecurityGroupIngress, Egress)."""
    vpc = _HANDLERS["AWS::EC2::VPC"]
    for action in ("create", "update"):
        vpc[action] = telling(vpc[action])
    function = _HANDLERS["AWS::Lambda::Function"]
    for action, position in (("create", 1), ("update", 2)):
        function[action] = reserving(function[action], position)
    for way, permissions in (("Ingress", "IpPermissions"), ("Egress", "IpPermissionsEgress")):
        _HANDLERS[f"AWS::EC2::SecurityGroup{way}"] = {
            "create": partial(_create_rule, permissions),
            "delete": partial(_delete_rule, permissions),
        }


def telling(make: Callable[..., Any]) -> Callable[..., Any]:
    """A handler that adds a VPC's block to its attributes."""

    def made(*given: object, **named: object) -> Any:
        done = make(*given, **named)
        if isinstance(done, tuple) and done[0] in ec2._vpcs:
            done[1].setdefault("CidrBlock", ec2._vpcs[done[0]]["CidrBlock"])
        return done

    return made


def reserving(make: Callable[..., Any], position: int) -> Callable[..., Any]:
    """A handler that keeps a function's reserved concurrency; `position` is that of the properties."""

    def made(*given: Any, **named: object) -> Any:
        done = make(*given, **named)
        function = lambda_svc._functions.get(done[0] if isinstance(done, tuple) else done)
        if function is not None:
            reserved = given[position].get("ReservedConcurrentExecutions")
            function["concurrency"] = None if reserved is None else int(reserved)
        return done

    return made


def _create_rule(permissions: str, _logical_id: str, properties: Mapping[str, Any], _stack: str) -> tuple[str, Any]:
    for group in (properties["GroupId"], _other_group(properties) or properties["GroupId"]):
        if group not in ec2._security_groups:
            raise ValueError(f"The security group '{group}' does not exist")
    rule = f"sgr-{uuid4().hex[:17]}"
    ec2._security_groups[properties["GroupId"]][permissions].append(_permission(properties, rule))
    return rule, {"Id": rule}


def _other_group(properties: Mapping[str, Any]) -> str | None:
    return properties.get("SourceSecurityGroupId") or properties.get("DestinationSecurityGroupId")


def _permission(properties: Mapping[str, Any], rule: str) -> dict[str, Any]:
    other = _other_group(properties)
    return {
        "IpProtocol": properties["IpProtocol"],
        **{port: int(properties[port]) for port in ("FromPort", "ToPort") if port in properties},
        "IpRanges": [{"CidrIp": properties["CidrIp"]}] if "CidrIp" in properties else [],
        "Ipv6Ranges": [],
        "PrefixListIds": [],
        "UserIdGroupPairs": [{"GroupId": other, "Description": rule}] if other else [],
    }


def _delete_rule(permissions: str, rule: str, properties: Mapping[str, Any]) -> None:
    group = ec2._security_groups.get(properties["GroupId"], {permissions: []})
    wanted = _permission(properties, rule)
    group[permissions] = [each for each in group[permissions] if each != wanted]
