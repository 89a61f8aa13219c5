"""Stacks, a stack's resources by logical id, and those of the stacks nested in it: one call for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from strongref.aws.clients import Clients
from strongref_manifests.errors import NotAStackError, ResourceNotFoundError, StackNotFoundError
from strongref_toolkit.errors import FetchFailedError
from strongref_toolkit.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref_toolkit.aws import Aws, Where

ABSENT = "ValidationError"
"""What CloudFormation answers where a stack, or a resource of it, is not there."""

NESTED_STACK = "AWS::CloudFormation::Stack"

DELETED = "DELETE_COMPLETE"


class StackResource(NamedTuple):
    """What CloudFormation knows of a resource."""

    type_name: str  # as in `AWS::S3::Bucket`
    physical_id: str  # its `Ref`; of a nested stack, its ARN


class StackResources:
    """Stacks and their resources; it lives for one run, and asks for each once."""

    def __init__(self, aws: Aws) -> None:
        self._aws = aws
        self._stacks: Memo[tuple[Where, str], Mapping[str, Any]] = Memo()
        self._known: Memo[tuple[Where, str, str], StackResource] = Memo()

    def description(self, where: Where, stack: str, called: str | None = None) -> Mapping[str, Any]:
        """What DescribeStacks returns for the stack with this name or ARN: its outputs and parameters, among others.

        Raises:
            StackNotFoundError: it is not there.
            FetchFailedError: the call to CloudFormation fails.
        """
        return self._stacks.get((where, stack), lambda: self._described(where, stack, called or stack))

    def resource(self, where: Where, stack: str, logical_id: str) -> StackResource:
        """A resource of the stack with this name or ARN.

        Raises:
            ResourceNotFoundError: it, or the stack, is not there.
            FetchFailedError: the call to CloudFormation fails.
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

    def _described(self, where: Where, stack: str, called: str) -> Mapping[str, Any]:
        try:
            answer = self._aws.call(
                where, "DescribeStacks", f"stack {called}", Clients.cloudformation, "describe_stacks", StackName=stack
            )
        except FetchFailedError as error:
            if error.code != ABSENT:
                raise
        else:
            for found in answer["Stacks"]:
                if found["StackStatus"] != DELETED:
                    described: Mapping[str, Any] = found
                    return described
        raise StackNotFoundError(called, where.region)

    def _describe(self, where: Where, stack: str, logical_id: str) -> StackResource:
        what = f"{logical_id} of stack {stack}"
        wanted = {"StackName": stack, "LogicalResourceId": logical_id}
        try:
            answer = self._aws.call(
                where, "DescribeStackResource", what, Clients.cloudformation, "describe_stack_resource", **wanted
            )
        except FetchFailedError as error:
            if error.code != ABSENT:
                raise
        else:
            detail = answer["StackResourceDetail"]
            if detail["ResourceStatus"] != DELETED and detail.get("PhysicalResourceId"):
                return StackResource(detail["ResourceType"], detail["PhysicalResourceId"])
        raise ResourceNotFoundError(logical_id, stack, where.region)
