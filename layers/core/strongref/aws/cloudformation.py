"""Every call to CloudFormation: is that stack there, what is it doing, which custom resources does it hold."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import BotoCoreError

from strongref.aws.retry_and_rate_limit import OUT_OF_TIME, CallFailedError, RetryingCaller
from strongref.contract.names import BadArnError, StackArn
from strongref.errors import OTHER_ACCOUNT, StackLookupError, WaitInterruptedError
from strongref.protocol.ports import StackInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudformation.type_defs import StackResourceSummaryTypeDef

    from strongref.aws.retry_and_rate_limit import RateLimiter
    from strongref.protocol.time import Clock

T = TypeVar("T")

NOT_AN_ARN = "NotAStackArn"

# What CloudFormation answers for a stack that is not there, but for a bad request as well.
_ABSENT = "ValidationError"
_DELETED = "DELETE_COMPLETE"


class CloudFormationStacks:
    """`ports.Stacks` over CloudFormation, for the stacks of one account."""

    def __init__(
        self,
        client_in: Callable[[str], CloudFormationClient],
        limiter: RateLimiter,
        clock: Clock,
        *,
        account: str,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Make one.

        Args:
            client_in: the client of a region, as `clients.Clients.cloudformation`.
            limiter: shared with the stores.
            clock: time, and how much of it is left.
            account: whose credentials the clients have. A stack of another account is not asked for:
                CloudFormation answers that with the code of a stack that does not exist, and a claim taken for
                dead would be lost.
            jitter: as in `limiter.Caller`.
        """
        self._client_in = client_in
        self._limiter = limiter
        self._clock = clock
        self._account = account
        self._jitter = jitter

    def by_arn(self, arn: str) -> StackInfo | None:
        return self._describe(arn, self._region_of(arn))

    def by_name(self, name: str, region: str) -> StackInfo | None:
        return self._describe(name, region)

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
        if parsed.account != self._account:
            raise StackLookupError(arn, parsed.region, OTHER_ACCOUNT)
        return parsed.region

    def _describe(self, stack: str, region: str) -> StackInfo | None:
        client = self._client(stack, region)
        answer = self._call("DescribeStacks", stack, region, client.describe_stacks, StackName=stack)
        for found in answer["Stacks"] if answer else ():
            if found["StackStatus"] != _DELETED:
                arn = found["StackId"]
                return StackInfo(arn, found["StackName"], found["StackStatus"], found.get("RootId") or arn)
        return None

    def _resources(self, arn: str, region: str) -> Iterator[StackResourceSummaryTypeDef]:
        client = self._client(arn, region)
        request = {"StackName": arn}
        while True:
            answer = self._call("ListStackResources", arn, region, client.list_stack_resources, **request)
            if not answer:
                return
            yield from answer["StackResourceSummaries"]
            if not answer.get("NextToken"):
                return
            request["NextToken"] = answer["NextToken"]

    def _client(self, stack: str, region: str) -> CloudFormationClient:
        try:
            return self._client_in(region)
        except BotoCoreError as error:
            code = type(error).__name__
        raise StackLookupError(stack, region, code)

    def _call(self, action: str, stack: str, region: str, function: Callable[..., T], **request: Any) -> T | None:  # noqa: ANN401
        """The answer; None if there is no such stack."""
        caller = RetryingCaller(region, self._limiter, self._clock, self._jitter)
        try:
            return caller.call(action, function, **request)
        except CallFailedError as error:
            failed = error
        if failed.code == _ABSENT:
            return None
        why = StackLookupError(stack, region, failed.code)
        raise WaitInterruptedError(why) if failed.throttled or failed.code == OUT_OF_TIME else why


def is_custom(resource_type: str) -> bool:
    """Whether a resource is a custom one: of a type that only its own function knows."""
    return resource_type.startswith("Custom::") or resource_type == "AWS::CloudFormation::CustomResource"
