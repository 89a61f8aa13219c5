"""CloudFormation: whether a stack exists, its status and its custom resources; and the changes of hold stacks."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from strongref.aws.retry import CallFailedError, RetryingCaller, client_for, pages
from strongref.aws.settings import Settings, from_environment, with_parameter_tags
from strongref.contract.names import StackArn
from strongref.errors import OTHER_ACCOUNT, ServiceError, StackLookupError, StrongRefError, WaitInterruptedError
from strongref.protocol.ports import NewStack, ResourceInfo, StackInfo
from strongref.protocol.time import Clock, Until

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudformation.type_defs import StackTypeDef

    from strongref.aws.rate_limit import RateLimiter

T = TypeVar("T")

NOT_AN_ARN = "NotAStackArn"

_NO_SUCH_STACK = "ValidationError"
"""CloudFormation's code for a stack that does not exist, for an export that no stack imports, and for a bad request."""
_DELETED = "DELETE_COMPLETE"
_AFTER_CREATION = ("DELETE_IN_PROGRESS", "ROLLBACK_IN_PROGRESS")
_EXISTS = "AlreadyExistsException"


@dataclass(frozen=True, slots=True)
class CloudFormationStacks:
    """`ports.Stacks` in AWS, for the stacks of one account."""

    client_in: Callable[[str], CloudFormationClient]  # the client of a region, as from `clients.Clients.cloudformation`
    limiter: RateLimiter  # shared by all callers of the process
    clock: Clock  # time, and how much of it is left
    # the account of the clients' credentials. Stacks of other accounts are not looked up: for those, CloudFormation
    # returns the code of a stack that does not exist, and a live claim would be deleted
    account: str = field(kw_only=True)
    jitter: Callable[[], float] = field(default=random.random, kw_only=True)  # as in `RetryingCaller`
    settings: Settings = field(default=from_environment, kw_only=True)  # as in `parameter_store.Stores`

    def by_arn(self, arn: str) -> StackInfo | None:
        return self.by_name(arn, self._region_of(arn))

    def by_name(self, name: str, region: str) -> StackInfo | None:
        response = self._call("DescribeStacks", name, region, lambda client: client.describe_stacks, StackName=name)
        for found in response["Stacks"] if response else ():
            if found["StackStatus"] != _DELETED:
                return _info(found)
        return None

    def resource(self, arn: str, logical_id: str) -> ResourceInfo | None:
        region, method = self._region_of(arn), lambda client: client.describe_stack_resource
        asked: dict[str, Any] = {"StackName": arn, "LogicalResourceId": logical_id}
        response = self._call("DescribeStackResource", arn, region, method, **asked)
        if not response:
            return None
        found = response["StackResourceDetail"]
        physical_id, updated = found.get("PhysicalResourceId", ""), found["LastUpdatedTimestamp"]
        return ResourceInfo(found["ResourceType"], found["ResourceStatus"], physical_id, updated)

    def physical_ids(self, arn: str) -> frozenset[str]:
        region, method = self._region_of(arn), lambda client: client.list_stack_resources
        call = partial(self._call, "ListStackResources", arn, region, method)
        return frozenset(
            resource["PhysicalResourceId"]
            for page in pages(call, StackName=arn)
            for resource in page["StackResourceSummaries"]
            if resource["ResourceStatus"] != _DELETED
            and is_custom(resource["ResourceType"])
            and resource.get("PhysicalResourceId")
        )

    def importing_stacks(self, export: str, region: str) -> frozenset[str]:
        # A rollback goes on without an answer: half of the time that it has is left for that.
        until = self.clock.now() + timedelta(seconds=self.clock.remaining() / 2)
        stacks, method = replace(self, clock=Until(self.clock, until)), lambda client: client.list_imports
        call = partial(stacks._call, "ListImports", export, region, method)  # noqa: SLF001
        return frozenset(name for page in pages(call, ExportName=export) for name in page["Imports"])

    def create_stack(self, stack: NewStack) -> str:
        method, request = lambda client: client.create_stack, {**self._request(stack), "OnFailure": "DELETE"}
        response = self._call("CreateStack", stack.name, stack.region, method, _EXISTS, changes=True, **request)
        return response["StackId"] if response else ""

    def update_stack(self, stack: NewStack) -> None:
        # The code of an absent stack is also that of one that is up to date, or in progress.
        at, request = (stack.name, stack.region), self._request(stack)
        self._call("UpdateStack", *at, lambda client: client.update_stack, changes=True, **request)

    def delete_stack(self, stack: str, region: str) -> None:
        # The code of an absent stack is also that of one in progress.
        self._call("DeleteStack", stack, region, lambda client: client.delete_stack, changes=True, StackName=stack)

    def failure(self, arn: str) -> str:
        region, method = self._region_of(arn), lambda client: client.describe_stack_events
        found = self._call("DescribeStackEvents", arn, region, method, StackName=arn)
        given = [event for event in (found["StackEvents"] if found else ()) if event.get("ResourceStatusReason")]
        failed = [event for event in given if event["ResourceStatus"].endswith("_FAILED")]
        # If an export does not exist, no resource fails: what follows the creation says why.
        reasons = failed or [event for event in given if event["ResourceStatus"] in _AFTER_CREATION]
        return reasons[-1]["ResourceStatusReason"] if reasons else ""  # The newest is the first.

    def _region_of(self, arn: str) -> str:
        parsed = StackArn.find(arn)
        if parsed is None:
            raise StackLookupError(arn, "any region", NOT_AN_ARN)
        if parsed.account != self.account:
            raise StackLookupError(arn, parsed.region, OTHER_ACCOUNT)
        return parsed.region

    def _request(self, stack: NewStack) -> dict[str, Any]:
        """What the creation and the update of a stack have in common. It gives its tags to its parameters."""
        tags = with_parameter_tags(self.settings, stack.region, stack.tags)
        return {
            "StackName": stack.name,
            "TemplateBody": stack.template,
            "ResourceTypes": list(stack.resource_types),
            "Tags": [{"Key": key, "Value": tags[key]} for key in tags if not key.startswith("aws:")],  # AWS's own
        }

    def _call(  # noqa: PLR0913 (which call, and how it may fail)
        self,
        action: str,
        stack: str,
        region: str,
        method: Callable[[CloudFormationClient], Callable[..., T]],
        harmless: str = _NO_SUCH_STACK,
        *,
        changes: bool = False,
        **request: Any,
    ) -> T | None:
        """The response; None if the call fails with the code `harmless`: by default, the stack does not exist."""
        caller = RetryingCaller(region, self.limiter, self.clock, self.jitter)
        try:
            return caller.call(action, method(client_for(self.client_in, region)), **request)
        except CallFailedError as error:
            failed = error
        if failed.code == harmless:
            return None
        failed.log(action, region)
        why: StrongRefError = StackLookupError(stack, region, failed.code, action=action)
        if changes:
            why = ServiceError(action, failed.code, f"stack {stack}", region)
        raise WaitInterruptedError(why) if failed.out_of_time else why


def _info(found: StackTypeDef) -> StackInfo:
    arn, outputs = found["StackId"], found.get("Outputs", [])
    return StackInfo(
        arn,
        found["StackName"],
        found["StackStatus"],
        found.get("RootId") or arn,
        updated=found["LastUpdatedTime"].isoformat() if "LastUpdatedTime" in found else "",
        parent_arn=found.get("ParentId", ""),
        created=found.get("CreationTime"),
        outputs={each["OutputKey"]: each["OutputValue"] for each in outputs},
        exports=frozenset(each["ExportName"] for each in outputs if each.get("ExportName")),
        tags={each["Key"]: each["Value"] for each in found.get("Tags", [])},
    )


def is_custom(resource_type: str) -> bool:
    """Whether a resource type is a custom one, implemented by a function of the user's."""
    return resource_type.startswith("Custom::") or resource_type == "AWS::CloudFormation::CustomResource"
