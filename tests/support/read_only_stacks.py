"""A base for CloudFormation in memory that is only looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strongref.protocol.ports import NewStack, ResourceInfo, StackInfo


class ReadOnlyStacks:
    """`ports.Stacks` without any; subclasses say what there is."""

    def by_arn(self, arn: str) -> StackInfo | None:
        raise NotImplementedError

    def by_name(self, name: str, region: str) -> StackInfo | None:
        raise NotImplementedError

    def resource(self, arn: str, logical_id: str) -> ResourceInfo | None:
        raise NotImplementedError

    def physical_ids(self, arn: str) -> frozenset[str]:
        raise NotImplementedError

    def importing_stacks(self, export: str, region: str) -> frozenset[str]:
        raise NotImplementedError

    def create_stack(self, stack: NewStack) -> str:
        raise NotImplementedError

    def update_stack(self, stack: NewStack) -> None:
        raise NotImplementedError

    def delete_stack(self, stack: str, region: str) -> None:
        raise NotImplementedError

    def failure(self, arn: str) -> str:
        raise NotImplementedError
