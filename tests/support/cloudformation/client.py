"""What a boto3 client shows of stacks and resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strongref.protocol.ports import NewStack
from tests.support.cloudformation.requests import resource_type
from tests.support.cloudformation.stacks import DELETED
from tests.support.fake_ssm import EPOCH, error

if TYPE_CHECKING:
    from tests.support.cloudformation.stacks import FakeStack, FakeStacks

PAGE = 2
"""Resources, or stacks, a page; CloudFormation's pages are larger, and no stack of the tests has as many."""

_BUCKET = {
    "LogicalResourceId": "Bucket",
    "PhysicalResourceId": "bucket",
    "ResourceType": "AWS::S3::Bucket",
    "ResourceStatus": "CREATE_COMPLETE",
}
"""What every stack has in addition to what is strongref's."""


class CloudFormationClient:
    """What the functions use of a CloudFormation client of one region."""

    def __init__(self, region: str, stacks: FakeStacks) -> None:
        self._region = region
        self._stacks = stacks

    def describe_stacks(self, **request: Any) -> dict[str, Any]:
        stack = self._find(request["StackName"], "DescribeStacks")
        shown = {"StackId": stack.arn, "StackName": stack.name, "StackStatus": stack.status}
        updated = {"LastUpdatedTime": stack.updated} if stack.updates else {}
        nested = {"RootId": stack.root, "ParentId": stack.parent or stack.root} if stack.root else {}
        outputs = [{"OutputKey": name, "OutputValue": value} for name, value in stack.outputs.items()]
        outputs += [{"OutputKey": name, "OutputValue": name, "ExportName": name} for name in sorted(stack.exports)]
        tags = [{"Key": key, "Value": value} for key, value in stack.tags.items()]
        made = {"Outputs": outputs, "Tags": tags, "CreationTime": stack.created}
        return {"Stacks": [shown | updated | nested | made]}

    def create_stack(self, **request: Any) -> dict[str, Any]:
        arn = self._stacks.create_stack(self._new(request))
        if not arn:
            raise error("AlreadyExistsException", f"Stack [{request['StackName']}] already exists", "CreateStack")
        return {"StackId": arn}

    def update_stack(self, **request: Any) -> dict[str, Any]:
        found = self._find(request["StackName"], "UpdateStack")
        self._stacks.update_stack(self._new(request))
        return {"StackId": found.arn}

    def delete_stack(self, **request: Any) -> dict[str, Any]:
        self._stacks.delete_stack(request["StackName"], self._region)
        return {}

    def describe_stack_events(self, **request: Any) -> dict[str, Any]:
        reasons = reversed(self._find(request["StackName"], "DescribeStackEvents").reasons)
        return {"StackEvents": [{"ResourceStatus": "X_FAILED", "ResourceStatusReason": reason} for reason in reasons]}

    def describe_stack_resource(self, **request: Any) -> dict[str, Any]:
        stack = self._find(request["StackName"], "DescribeStackResource")
        found = stack.resource(request["LogicalResourceId"])
        if not found:
            text = f"Resource {request['LogicalResourceId']} does not exist for stack {stack.name}"
            raise error("ValidationError", text, "DescribeStackResource")
        physical_id = {"PhysicalResourceId": found.physical_id} if found.physical_id else {}
        shown: dict[str, Any] = {"ResourceType": found.type, "ResourceStatus": found.status, **physical_id}
        shown["LastUpdatedTimestamp"] = found.updated or EPOCH
        return {"StackResourceDetail": {"LogicalResourceId": request["LogicalResourceId"], **shown}}

    def list_stack_resources(self, **request: Any) -> dict[str, Any]:
        stack = self._find(request["StackName"], "ListStackResources")
        listed = [_BUCKET] + [
            {
                "LogicalResourceId": logical_id,
                "PhysicalResourceId": resource.physical_id,
                "ResourceType": resource_type(resource.properties),
                "ResourceStatus": resource.status,
            }
            for logical_id, resource in stack.resources.items()
        ]
        return _page("StackResourceSummaries", listed, request)

    def list_imports(self, **request: Any) -> dict[str, Any]:
        names = sorted(self._stacks.importing_stacks(request["ExportName"], self._region))
        if not names:
            raise error("ValidationError", f"Export '{request['ExportName']}' is not imported.", "ListImports")
        return _page("Imports", names, request)

    def _new(self, request: dict[str, Any]) -> NewStack:
        tags = {tag["Key"]: tag["Value"] for tag in request["Tags"]}
        types = tuple(request["ResourceTypes"])
        return NewStack(request["StackName"], self._region, request["TemplateBody"], types, tags)

    def _find(self, name: str, action: str) -> FakeStack:
        """A stack by its name, if it exists, or by its ARN, if it ever did."""
        for stack in self._stacks.stacks.values():
            if stack.region == self._region and name in (stack.arn, stack.name):
                shown = self._stacks.shown(stack)
                if shown and (name == stack.arn or shown.status != DELETED):
                    return shown
        raise error("ValidationError", f"Stack with id {name} does not exist", action)


def _page(called: str, listed: list[Any], request: dict[str, Any]) -> dict[str, Any]:
    begin = int(request.get("NextToken", "0"))
    more = {"NextToken": str(begin + PAGE)} if begin + PAGE < len(listed) else {}
    return {called: listed[begin : begin + PAGE], **more}
