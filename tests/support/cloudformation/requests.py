"""What CloudFormation asks of a custom resource."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from strongref.contract.event import Event, RequestType
from strongref.contract.names import StackArn

if TYPE_CHECKING:
    from collections.abc import Mapping

EXPORT = "Custom::CrossRegionExport"
IMPORT = "Custom::CrossRegionImport"

SIGNED_FORMAT = "%Y%m%dT%H%M%SZ"


def response_url(stack: str, logical_id: str, request_id: str, signed: str = "", signature: str = "signature") -> str:
    """Where CloudFormation waits for a response, as it looks in AWS; signed at that time, if one is given."""
    region = StackArn.parse(stack).region
    bucket = f"cloudformation-custom-resource-response-{region.replace('-', '')}"
    key = quote(f"{stack}|{logical_id}|{request_id}")
    date = f"&X-Amz-Date={signed}&X-Amz-Expires=7200" if signed else ""
    query = f"X-Amz-Algorithm=AWS4-HMAC-SHA256{date}&X-Amz-Signature={signature}"
    return f"https://{bucket}.s3.{region}.amazonaws.com/{key}?{query}"


def resource_type(properties: Mapping[str, Any]) -> str:
    return IMPORT if properties.keys() & {"From", "Names"} else EXPORT


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

    def raw(self, request_id: str, **signed: str) -> dict[str, Any]:
        """What the function gets, as JSON. `signed` says more about the response URL."""
        raw: dict[str, Any] = {
            "RequestType": self.kind.value,
            "StackId": self.stack,
            "LogicalResourceId": self.logical_id,
            "RequestId": request_id,
            "ResponseURL": response_url(self.stack, self.logical_id, request_id, **signed),
            "ResourceType": self.type,
            "ResourceProperties": {"ServiceToken": "token", **self.properties},
        }
        if self.kind is not RequestType.CREATE:
            raw["PhysicalResourceId"] = self.physical_id
        if self.old is not None:
            raw["OldResourceProperties"] = {"ServiceToken": "token", **self.old}
        return raw

    def event(self, request_id: str, **signed: str) -> Event:
        """What a use case gets."""
        return Event.parse(self.raw(request_id, **signed))
