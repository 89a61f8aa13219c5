"""CloudFormation of one region in memory, at the level of a boto3 client: what it tells of stacks and resources."""

# ruff: noqa: ANN401 (a boto3 client's keyword arguments are of every type)
from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from botocore.exceptions import ClientError

from strongref.contract.names import StackArn

if TYPE_CHECKING:
    from collections.abc import Mapping

DELETED = "DELETE_COMPLETE"
PAGE = 2
"""Resources a page; CloudFormation's pages are larger, and no fake of the tests' has as many."""

_BUCKET = {
    "LogicalResourceId": "Bucket",
    "PhysicalResourceId": "bucket",
    "ResourceType": "AWS::S3::Bucket",
    "ResourceStatus": "CREATE_COMPLETE",
}
"""What every stack has beside what is strongref's."""

EXPORT = "Custom::CrossRegionExport"
IMPORT = "Custom::CrossRegionImport"


@dataclass(frozen=True)
class Resource:
    """A resource of a stack. One that has no physical id has been asked for, and not been answered."""

    type: str
    properties: Mapping[str, Any]
    physical_id: str
    status: str


@dataclass(frozen=True)
class Stack:
    """A stack.

    Attributes:
        arn: its id.
        status: in CloudFormation's words.
        root: the id of the root stack, for a nested one.
        resources: by logical id.
        pending: what was replaced or taken out, and is to be deleted in the clean-up phase, by logical id.
    """

    arn: str
    status: str
    root: str = ""
    resources: Mapping[str, Resource] = field(default_factory=dict)
    pending: Mapping[str, Resource] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return StackArn.parse(self.arn).name

    @property
    def region(self) -> str:
        return StackArn.parse(self.arn).region

    def having(self, logical_id: str, resource: Resource | None) -> Stack:
        """The same stack with another resource under a logical id, or with none."""
        rest = {name: each for name, each in self.resources.items() if name != logical_id}
        return replace(self, resources=rest if resource is None else {**rest, logical_id: resource})


class FakeCloudFormation:
    """What the functions use of a CloudFormation client."""

    def __init__(self, region: str, stacks: Mapping[str, Stack]) -> None:
        """Make one.

        Args:
            region: whose stacks it knows.
            stacks: all stacks of the account, by ARN; looked at anew with each call.
        """
        self._region = region
        self._stacks = stacks

    def describe_stacks(self, **request: Any) -> dict[str, Any]:
        stack = self._find(request["StackName"], "DescribeStacks")
        shown = {"StackId": stack.arn, "StackName": stack.name, "StackStatus": stack.status}
        return {"Stacks": [shown | ({"RootId": stack.root} if stack.root else {})]}

    def list_stack_resources(self, **request: Any) -> dict[str, Any]:
        stack = self._find(request["StackName"], "ListStackResources")
        listed = [_BUCKET]
        for logical_id, resource in stack.resources.items():
            shown = {"LogicalResourceId": logical_id, "ResourceType": resource.type, "ResourceStatus": resource.status}
            listed.append(shown | ({"PhysicalResourceId": resource.physical_id} if resource.physical_id else {}))
        begin = int(request.get("NextToken", "0"))
        more = {"NextToken": str(begin + PAGE)} if begin + PAGE < len(listed) else {}
        return {"StackResourceSummaries": listed[begin : begin + PAGE], **more}

    def _find(self, name: str, action: str) -> Stack:
        """A stack by its name, if it is there, or by its ARN, if it ever was."""
        for stack in self._stacks.values():
            if stack.region == self._region and (name == stack.arn or (name == stack.name and stack.status != DELETED)):
                return stack
        text = f"Stack with id {name} does not exist"
        answer = {"Error": {"Code": "ValidationError", "Message": text}, "ResponseMetadata": {"HTTPStatusCode": 400}}
        raise ClientError(cast("Any", answer), action)
