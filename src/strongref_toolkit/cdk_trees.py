"""Trees (`strongref_toolkit.intrinsics`) read from values of the AWS CDK, by the CDK itself."""

from __future__ import annotations

import aws_cdk
import jsii

from strongref.untyped import Untyped
from strongref_toolkit.intrinsics import Tree, joined, simplified


class TreeTokenResolver(aws_cdk.DefaultTokenResolver):  # type: ignore[misc]  # the CDK is not read by mypy
    """Resolves tokens as the CDK does, and concatenates them as trees. A subclass resolves references its own way."""

    def __init__(self) -> None:
        super().__init__(_TreeConcatenator())

    def tree(self, value: object, scope: aws_cdk.Stack) -> Tree:
        """What a value stands for in the template of a stack.

        Raises:
            Undetermined: a part of it cannot be concatenated.
            RuntimeError: the CDK cannot resolve it.
        """
        return simplified(aws_cdk.Tokenization.resolve(value, scope=scope, resolver=self, preparing=False))


def known(where: str) -> str | None:
    """A stack's region or account; None if it is a token, as in a stack that may be deployed anywhere."""
    return None if aws_cdk.Token.is_unresolved(where) else where


@jsii.implements(aws_cdk.IFragmentConcatenator)
class _TreeConcatenator:
    def join(self, left: Untyped, right: Untyped) -> Untyped:
        return joined("" if left is None else left, "" if right is None else right)
