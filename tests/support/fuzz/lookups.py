"""CloudFormation as one account's functions see it: stacks of other accounts cannot be asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strongref.contract.names import StackArn
from strongref.errors import OTHER_ACCOUNT, StackLookupError

if TYPE_CHECKING:
    from strongref.protocol.ports import ResourceInfo, StackInfo, Stacks


@dataclass(frozen=True)
class Lookups:
    """`ports.Stacks` of one account, where one fake has the stacks of all."""

    stacks: Stacks
    account: str

    def by_arn(self, arn: str) -> StackInfo | None:
        self.check(arn)
        return self.stacks.by_arn(arn)

    def by_name(self, name: str, region: str) -> StackInfo | None:
        found = self.stacks.by_name(name, region)
        return found if found and StackArn.parse(found.arn).account == self.account else None

    def resource(self, arn: str, logical_id: str) -> ResourceInfo | None:
        self.check(arn)
        return self.stacks.resource(arn, logical_id)

    def physical_ids(self, arn: str) -> frozenset[str]:
        self.check(arn)
        return self.stacks.physical_ids(arn)

    def check(self, arn: str) -> None:
        """Refuse to ask about a stack of another account, as `aws.cloudformation` does, without a call."""
        if not arn.startswith("arn:"):
            return
        stack = StackArn.parse(arn)
        if stack.account != self.account:
            raise StackLookupError(arn, stack.region, OTHER_ACCOUNT)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stacks, name)
