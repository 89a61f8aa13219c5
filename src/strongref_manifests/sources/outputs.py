"""CloudFormation's outputs: `${cfn:STACK.OUTPUT}`, one call for each stack.

The output of a nested stack is reached by the logical ids that lead to it: `${cfn:STACK.NESTED.OUTPUT}`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strongref_manifests.errors import NotAStackError, OutputNotFetchedError, ResourceNotFoundError, StackNotFoundError
from strongref_manifests.sources.nested import StackResources
from strongref_manifests.tokens import CFN, TokenSource, matched
from strongref_toolkit.errors import AwsCallError
from strongref_toolkit.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strongref_manifests.tokens import Token
    from strongref_toolkit.aws import Aws, Where

_REFERENCE = re.compile(r"([A-Za-z][A-Za-z0-9-]*(?:\.[A-Za-z0-9]+)*)\.([A-Za-z0-9]+)")


class StackOutputs(TokenSource):
    """The outputs of stacks, and the source of `cfn` tokens.

    Attributes:
        aws: what calls go through.
        resources: those of stacks.
    """

    scheme = CFN

    def __init__(self, aws: Aws) -> None:
        self.aws = aws
        self.resources = StackResources(aws)
        self._stacks: Memo[tuple[Where, str], Mapping[str, str]] = Memo()

    def value(self, stack: str, key: str, region: str | None = None, account: str | None = None) -> str:
        """The value of an output of a stack.

        A nested stack is named by its root's name and the logical ids that lead to it, with dots.

        Raises:
            OutputNotFetchedError: there is no such output or stack, or the call to CloudFormation fails.
            NoWayInError: there is no role to assume in that account.
            UnknownCallerError: STS does not say whose credentials these are.
        """
        try:
            where = self.aws.where(region, account)
            outputs = self._stacks.get((where, stack), lambda: self._outputs(where, stack))
        except StackNotFoundError as error:
            raise OutputNotFetchedError(key, stack, hint=str(error)) from None
        except (AwsCallError, NotAStackError, ResourceNotFoundError) as error:
            raise OutputNotFetchedError(key, stack, str(error)) from None
        if key not in outputs:
            raise OutputNotFetchedError(key, stack)
        return outputs[key]

    def fetch(self, token: Token) -> str:
        stack, key = matched(token, _REFERENCE).groups()
        return self.value(stack, key, token.region, token.account)

    def _outputs(self, where: Where, stack: str) -> Mapping[str, str]:
        name, *logical_ids = stack.split(".")
        found = self.resources.nested(where, name, logical_ids)
        described = self.resources.description(where, found, stack)
        return {each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", ())}
