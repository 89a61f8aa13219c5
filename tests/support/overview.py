"""An account in moto with stacks that export and import, for tests of what is read in bulk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from boto3.session import Session

from strongref.aws.clients import Clients
from strongref.aws.cloudformation import CloudFormationStacks
from strongref.contract.event import Event, RequestType
from strongref.contract.hold_stacks import HOLD_STACK
from strongref.contract.names import CLAIM_TAG
from strongref.protocol.installations import IMPORTER
from strongref.runtime.wiring import exporter, importer
from strongref_cli.overview.reading import OverviewReader
from tests.support.fake_ssm import FakeClock
from tests.support.moto_copies import made_once
from tests.support.without_stacks import waited_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    import pytest

ACCOUNT = "123456789012"


class Account:
    """Stacks are moto's, without custom resources; what these would do is done by the functions' own use cases.

    Attributes:
        resources: the physical IDs of each stack's custom resources, by its ARN.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.resources: dict[str, set[str]] = {}
        self._clients = Clients(Session())
        self._exporter, self._importer = exporter(), importer()
        self._made: dict[str, datetime] = {}
        listed = property(lambda _: lambda arn: frozenset(self.resources.get(arn, ())))
        monkeypatch.setattr(CloudFormationStacks, "physical_ids", listed)
        resources = OverviewReader._resources

        def with_custom(reader: OverviewReader, region: str, arn: str) -> dict[str, datetime]:
            found = resources(reader, region, arn)
            if at := self._made.get(arn):
                found |= dict.fromkeys(self.resources.get(arn, ()), at)
            return found

        monkeypatch.setattr(OverviewReader, "_resources", with_custom)

    def begin(self, make: Callable[[Account], None]) -> None:
        """Have the empty account contain what a function makes there, which is made once and copied afterward."""

        def made() -> dict[str, set[str]]:
            make(self)
            return self.resources

        self.resources = made_once(make, made)

    def install(self, *regions: str) -> None:
        """Have regions what an installation makes."""
        for region in regions:
            self.ssm(region).put_parameter(Name=IMPORTER, Type="String", Value="arn", Overwrite=True)

    def made(self, stack: str, region: str, at: datetime) -> None:
        """Have CloudFormation list a stack's custom resources, as created or updated at this time."""
        self._made[self.stack(stack, region)] = at

    def stack(
        self,
        name: str,
        region: str,
        *,
        exported: str = "",
        outputs: dict[str, Any] | None = None,
        parameters: dict[str, str] | None = None,
    ) -> str:
        """The ARN of a stack, which is created if there is none; with a CloudFormation export, if one is named."""
        if name not in self._stacks(region):
            hold = {"ExportsHold": {"Value": exported, "Export": {"Name": exported}}} if exported else {}
            template = {
                "Parameters": {each: {"Type": "String", "Default": text} for each, text in (parameters or {}).items()},
                "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
                "Outputs": {**hold, **(outputs or {})},
            }
            client = self._clients.cloudformation(region)
            return str(client.create_stack(StackName=name, TemplateBody=json.dumps(template))["StackId"])
        return self._stacks(region)[name]

    def hold_stacks(self, region: str) -> list[str]:
        """The names of the hold stacks of a region."""
        return [name for name in self._stacks(region) if name.startswith(HOLD_STACK)]

    def _stacks(self, region: str) -> dict[str, str]:
        found = self._clients.cloudformation(region).describe_stacks()["Stacks"]
        return {each["StackName"]: each["StackId"] for each in found}

    def everything(self, region: str) -> dict[str, Any]:
        """Every parameter of a region, with its tags."""
        ssm = self.ssm(region)
        pages = ssm.get_paginator("get_parameters_by_path").paginate(Path="/", Recursive=True, WithDecryption=True)
        return {each["Name"]: (each, self.tags(region, each["Name"])) for page in pages for each in page["Parameters"]}

    def tags(self, region: str, name: str) -> dict[str, str]:
        tags = self.ssm(region).list_tags_for_resource(ResourceType="Parameter", ResourceId=name)["TagList"]
        return {each["Key"]: each["Value"] for each in tags}

    def tag_claim(self, region: str, name: str, stack: str) -> None:
        """Tag a value with a claim of a stack that has no such import."""
        tags = [{"Key": f"{CLAIM_TAG}0123456789abcdef", "Value": self.stack(stack, region)}]
        self.ssm(region).add_tags_to_resource(ResourceType="Parameter", ResourceId=name, Tags=tags)

    def claims(self, region: str, name: str) -> list[str]:
        """What the claims on a value say."""
        return sorted(text for tag, text in self.tags(region, name).items() if tag.startswith(CLAIM_TAG))

    def delete_stack(self, name: str, region: str) -> None:
        """Delete a stack, without a word to its custom resources."""
        self._clients.cloudformation(region).delete_stack(StackName=name)

    def export(self, stack: str, home: str, region: str | list[str], **properties: Any) -> None:
        """Have a stack export to a region, or to several."""
        self.send(self.stack(stack, home), "Exports", {"Region": region, **properties})

    def claim(self, stack: str, region: str, producer: str, home: str, *names: str, **properties: Any) -> None:
        """Have a stack import from another one."""
        given = {"From": {"Stack": producer, "Region": home}, "Names": list(names), **properties}
        self.send(self.stack(stack, region), f"From{producer.title()}", given)

    def send(self, arn: str, logical_id: str, properties: dict[str, Any]) -> None:
        """Have the stack with this ARN create an Export or an Import."""
        event = Event(RequestType.CREATE, arn, logical_id, "1", None, properties, None, "https://x", "Custom::X")
        with waited_for():
            handler = self._importer if properties.keys() & {"From", "Names"} else self._exporter
            done = handler.handle(event, FakeClock())
        self.resources.setdefault(arn, set()).add(done.physical_id)

    def ssm(self, region: str) -> Any:
        return self._clients.ssm(region)
