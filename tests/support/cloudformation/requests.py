"""What CloudFormation asks of a custom resource."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from strongref.contract.event import Event, RequestType
from strongref.contract.names import StackArn

if TYPE_CHECKING:
    from collections.abc import Mapping

EXPORT = "Custom::CrossRegionExport"
IMPORT = "Custom::CrossRegionImport"

RESPONSE_URL = "http://127.0.0.1/answer"


def resource_type(properties: Mapping[str, Any]) -> str:
    return IMPORT if "From" in properties else EXPORT


@dataclass(frozen=True)
class ResourceRequest:
    """A change of one resource.

    Attributes:
        kind: Create, Update or Delete.
        stack: the ARN of its stack.
        logical_id: its name in the template.
        properties: that it is to have; on a Delete, that it has.
        physical_id: empty on a Create.
        old: on an Update, the properties before.
    """

    kind: RequestType
    stack: str
    logical_id: str
    properties: Mapping[str, Any] = field(repr=False)
    physical_id: str = ""
    old: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def type(self) -> str:
        return resource_type(self.properties)

    @property
    def stack_name(self) -> str:
        return StackArn.parse(self.stack).name

    @property
    def region(self) -> str:
        return StackArn.parse(self.stack).region

    def raw(self, request_id: str, response_url: str = RESPONSE_URL) -> dict[str, Any]:
        """What the function gets, as JSON."""
        raw: dict[str, Any] = {
            "RequestType": self.kind.value,
            "StackId": self.stack,
            "LogicalResourceId": self.logical_id,
            "RequestId": request_id,
            "ResponseURL": response_url,
            "ResourceType": self.type,
            "ResourceProperties": {"ServiceToken": "token", **self.properties},
        }
        if self.kind is not RequestType.CREATE:
            raw["PhysicalResourceId"] = self.physical_id
        if self.old is not None:
            raw["OldResourceProperties"] = {"ServiceToken": "token", **self.old}
        return raw

    def event(self, request_id: str) -> Event:
        """What a use case gets."""
        return Event.parse(self.raw(request_id))
