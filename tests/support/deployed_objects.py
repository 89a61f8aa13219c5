"""Templates of plain stacks deployed into moto, whose CloudFormation calls no functions: that is done here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3

from strongref.contract.event import Event, RequestType
from strongref.contract.hold_stacks import hold_output_id
from strongref.runtime.wiring import exporter
from tests.support.fake_ssm import FakeClock
from tests.support.watched import OWN
from tests.support.without_stacks import waited_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref_objects.plain_target import PlainTarget

_NOTHING = {"Nothing": {"Type": "AWS::SNS::Topic"}}


def deploy(target: PlainTarget) -> None:
    """A stack's template, in the account of moto."""
    template = target.template()
    region = str(target.region)
    resources: Mapping[str, Any] = template.get("Resources", {})
    for logical_id, resource in resources.items():
        if resource["Type"] == "Custom::CrossRegionExport":
            export(target.name, region, logical_id, resource["Properties"])
    others = {name: each for name, each in resources.items() if not each["Type"].startswith("Custom::")}
    holds = {hold_output_id(name) for name in resources}  # The attribute is that of a custom resource.
    outputs = {name: each for name, each in template.get("Outputs", {}).items() if name not in holds}
    body = {**template, "Resources": others or _NOTHING, "Outputs": outputs}
    boto3.client("cloudformation", region).create_stack(StackName=target.name, TemplateBody=json.dumps(body))


def export(stack: str, region: str, logical_id: str, properties: Mapping[str, Any]) -> None:
    """What a stack's Export publishes, in the account of moto."""
    arn = f"arn:aws:cloudformation:{region}:{OWN}:stack/{stack}/1"
    if "Hold" in properties:
        name = properties["Hold"]["Fn::Sub"].replace("${AWS::StackName}", stack)
        properties = {**properties, "Hold": name}
    event = Event(
        RequestType.CREATE, arn, logical_id, "1", None, properties, None, "https://x", "Custom::CrossRegionExport"
    )
    with waited_for():
        exporter().handle(event, FakeClock())
