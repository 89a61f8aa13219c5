"""CloudFormation: whether a stack exists, its status, and its custom resources."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from strongref.aws.retry_and_rate_limit import CallFailedError, RetryingCaller, client_for
from strongref.contract.names import BadArnError, StackArn
from strongref.errors import OTHER_ACCOUNT, StackLookupError, WaitInterruptedError
from strongref.protocol.ports import ResourceInfo, StackInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudformation.type_defs import StackResourceSummaryTypeDef

    from strongref.aws.retry_and_rate_limit import RateLimiter
    from strongref.protocol.time import Clock

T = TypeVar("T")

NOT_AN_ARN = "NotAStackArn"

_NO_SUCH_STACK = "ValidationError"
"""CloudFormation's code for a stack that does not exist, and for a bad request too."""
_DELETED = "DELETE_COMPLETE"


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

    def by_arn(self, arn: str) -> StackInfo | None:
        return self._describe(arn, self._region_of(arn))

    def by_name(self, name: str, region: str) -> StackInfo | None:
        return self._describe(name, region)

    def resource(self, arn: str, logical_id: str) -> ResourceInfo | None:
        region, asked = self._region_of(arn), {"StackName": arn, "LogicalResourceId": logical_id}
        action = "DescribeStackResource"
        response = self._call(action, arn, region, lambda client: client.describe_stack_resource, **asked)
        if not response:
            return None
        found = response["StackResourceDetail"]
        physical_id, updated = found.get("PhysicalResourceId", ""), found["LastUpdatedTimestamp"]
        return ResourceInfo(found["ResourceType"], found["ResourceStatus"], physical_id, updated)

    def physical_ids(self, arn: str) -> frozenset[str]:
        return frozenset(
            resource["PhysicalResourceId"]
            for resource in self._resources(arn, self._region_of(arn))
            if resource["ResourceStatus"] != _DELETED
            and is_custom(resource["ResourceType"])
            and resource.get("PhysicalResourceId")
        )

    def _region_of(self, arn: str) -> str:
        try:
            parsed = StackArn.parse(arn)
        except BadArnError:
            raise StackLookupError(arn, "any region", NOT_AN_ARN) from None
        if parsed.account != self.account:
            raise StackLookupError(arn, parsed.region, OTHER_ACCOUNT)
        return parsed.region

    def _describe(self, stack: str, region: str) -> StackInfo | None:
        response = self._call("DescribeStacks", stack, region, lambda client: client.describe_stacks, StackName=stack)
        for found in response["Stacks"] if response else ():
            if found["StackStatus"] != _DELETED:
                arn = found["StackId"]
                updated = found["LastUpdatedTime"].isoformat() if "LastUpdatedTime" in found else ""
                return StackInfo(arn, found["StackName"], found["StackStatus"], found.get("RootId") or arn, updated)
        return None

    def _resources(self, arn: str, region: str) -> Iterator[StackResourceSummaryTypeDef]:
        request = {"StackName": arn}
        while True:
            response = self._call(
                "ListStackResources", arn, region, lambda client: client.list_stack_resources, **request
            )
            if not response:
                return
            yield from response["StackResourceSummaries"]
            if not response.get("NextToken"):
                return
            request["NextToken"] = response["NextToken"]

    def _call(
        self,
        action: str,
        stack: str,
        region: str,
        method: Callable[[CloudFormationClient], Callable[..., T]],
        **request: Any,  # noqa: ANN401 (as botocore)
    ) -> T | None:
        """The response; None if the stack does not exist."""
        caller = RetryingCaller(region, self.limiter, self.clock, self.jitter)
        try:
            return caller.call(action, method(client_for(self.client_in, region)), **request)
        except CallFailedError as error:
            failed = error
        if failed.code == _NO_SUCH_STACK:
            return None
        why = StackLookupError(stack, region, failed.code)
        raise WaitInterruptedError(why) if failed.out_of_time else why


def is_custom(resource_type: str) -> bool:
    """Whether a resource type is a custom one, implemented by a function of the user's."""
    return resource_type.startswith("Custom::") or resource_type == "AWS::CloudFormation::CustomResource"
