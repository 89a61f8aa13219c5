"""An account in moto with stacks that export and import, for tests of what is read in bulk."""

from __future__ import annotations

import json
from typing import Any

import boto3

from strongref.contract.event import Event, RequestType
from strongref.runtime.wiring import exporter, importer
from tests.support.fake_ssm import FakeClock

ACCOUNT = "123456789012"
_TEMPLATE = json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})


class Account:
    """Stacks are moto's, without custom resources; what these would do is done by the functions' own use cases."""

    def stack(self, name: str, region: str) -> str:
        """The ARN of a stack, which is created if there is none."""
        client = boto3.client("cloudformation", region)
        found = {each["StackName"]: each["StackId"] for each in client.describe_stacks()["Stacks"]}
        return found.get(name) or client.create_stack(StackName=name, TemplateBody=_TEMPLATE)["StackId"]

    def delete_stack(self, name: str, region: str) -> None:
        """Delete a stack, without a word to its custom resources."""
        boto3.client("cloudformation", region).delete_stack(StackName=name)

    def export(self, stack: str, home: str, region: str | list[str], **properties: Any) -> None:  # noqa: ANN401
        """Have a stack export to a region, or to several."""
        self._send(self.stack(stack, home), "Exports", {"Region": region, **properties})

    def claim(self, stack: str, region: str, producer: str, home: str, *names: str, **properties: Any) -> None:  # noqa: ANN401
        """Have a stack import from another one."""
        given = {"From": {"Stack": producer, "Region": home}, "Names": list(names), **properties}
        self._send(self.stack(stack, region), f"From{producer.title()}", given)

    @staticmethod
    def _send(arn: str, logical_id: str, properties: dict[str, Any]) -> None:
        event = Event(RequestType.CREATE, arn, logical_id, "1", None, properties, None, "https://x", "Custom::X")
        (importer if "From" in properties else exporter)().handle(event, FakeClock())

    @staticmethod
    def ssm(region: str) -> Any:  # noqa: ANN401 (boto3's)
        return boto3.client("ssm", region)
