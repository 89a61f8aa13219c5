"""CloudFormation's outputs: `${cfn:STACK.OUTPUT}`, one call for each stack.

The output of a nested stack is reached by the logical ids that lead to it: `${cfn:STACK.NESTED.OUTPUT}`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from strongref.memo import Memo
from strongref_manifests.errors import NotAStackError, OutputNotFetchedError, ResourceNotFoundError, StackNotFoundError
from strongref_manifests.tokens import CFN, Token, TokenSource, matched
from strongref_toolkit.cloudformation import NESTED_STACK, CloudFormationReader
from strongref_toolkit.errors import AwsCallError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.type_defs import StackTypeDef

    from strongref_toolkit.aws import Aws, Where


class StackResource(NamedTuple):
    type_name: str  # as in `AWS::S3::Bucket`
    physical_id: str  # its `Ref`; of a nested stack, its ARN


class StackResources:
    """Stacks and their resources; it lives for one run, and asks for each once."""

    def __init__(self, aws: Aws) -> None:
        self._aws = aws
        self._stacks: Memo[tuple[Where, str], StackTypeDef] = Memo()
        self._known: Memo[tuple[Where, str, str], StackResource] = Memo()

    def description(self, where: Where, stack: str, called: str | None = None) -> StackTypeDef:
        """What DescribeStacks returns for the stack with this name or ARN: its outputs and parameters, among others.

        Raises:
            StackNotFoundError: it is not there.
            AwsCallError: the call to CloudFormation fails.
        """
        return self._stacks.get((where, stack), lambda: self._described(where, stack, called or stack))

    def resource(self, where: Where, stack: str, logical_id: str) -> StackResource:
        """A resource of the stack with this name or ARN.

        Raises:
            ResourceNotFoundError: it, or the stack, is not there.
            AwsCallError: the call to CloudFormation fails.
        """
        return self._known.get((where, stack, logical_id), lambda: self._describe(where, stack, logical_id))

    def nested(self, where: Where, stack: str, logical_ids: list[str]) -> str:
        """The ARN of a nested stack; the stack itself where no logical ids lead to another one.

        Raises:
            NotAStackError: a resource on the path is not a stack.
            StrongRefError: as `resource`.
        """
        for logical_id in logical_ids:
            found = self.resource(where, stack, logical_id)
            if found.type_name != NESTED_STACK:
                raise NotAStackError(logical_id, found.type_name)
            stack = found.physical_id
        return stack

    def _described(self, where: Where, stack: str, called: str) -> StackTypeDef:
        found = CloudFormationReader(self._aws, where).stack(stack, called)
        if not found:
            raise StackNotFoundError(called, where.region)
        return found

    def _describe(self, where: Where, stack: str, logical_id: str) -> StackResource:
        found = CloudFormationReader(self._aws, where).resource(stack, logical_id)
        if not (found and found.get("PhysicalResourceId")):
            raise ResourceNotFoundError(logical_id, stack, where.region)
        return StackResource(found["ResourceType"], found["PhysicalResourceId"])


_REFERENCE = re.compile(r"([A-Za-z][A-Za-z0-9-]*(?:\.[A-Za-z0-9]+)*)\.([A-Za-z0-9]+)")


class StackOutputs(TokenSource):
    """The outputs of stacks, and the source of `cfn` tokens."""

    scheme = CFN

    def __init__(self, aws: Aws) -> None:
        self.aws = aws
        self.resources = StackResources(aws)

    def value(self, stack: str, key: str, region: str | None = None, account: str | None = None) -> str:
        """The value of an output of a stack.

        A nested stack is named by its root's name and the logical ids that lead to it, with dots.

        Raises:
            OutputNotFetchedError: there is no such output or stack, or the call to CloudFormation fails.
            StrongRefError: as `Aws.where` and `Accounts.clients`.
        """
        name, *logical_ids = stack.split(".")
        try:
            where = self.aws.where(region, account)
            found = self.resources.nested(where, name, logical_ids)
            described = self.resources.description(where, found, stack)
        except StackNotFoundError as error:
            raise OutputNotFetchedError(key, stack, hint=str(error)) from None
        except (AwsCallError, NotAStackError, ResourceNotFoundError) as error:
            raise OutputNotFetchedError(key, stack, str(error)) from None
        outputs = {each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", ())}
        if key not in outputs:
            raise OutputNotFetchedError(key, stack)
        return outputs[key]

    def fetch(self, token: Token) -> str:
        stack, key = matched(token, _REFERENCE).groups()
        return self.value(stack, key, token.region, token.account)
