"""Values of a CDK app in one form, so that equal ones are found to be equal however a program has come by them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import aws_cdk
import jsii

from strongref_cdk.same import same
from strongref_toolkit.intrinsics import REFERENCE, joined, simplified

if TYPE_CHECKING:
    from strongref_toolkit.intrinsics import Tree

LAZY = "Fn::StrongRefLazy"
"""Stands where the value of a lazy token will: it is known when the app is synthesized."""

_KNOWN = re.compile(r"\$\{Token\[(?:Fn::Join|.+\.LogicalID)\.\d+\]\}")
"""Tokens of the CDK's own classes that are no `Intrinsic`s, and that nothing changes any more: by their hints."""


class Reader:
    """Reads values with tokens in them, as they will stand in one stack's template.

    But for references to what is in another stack: what the CDK makes of these is decided when the app is synthesized.
    They are named by the construct's path. And but for lazy values, which would be asked for too early: the CDK asks
    for many of them only once. Each of them is named by itself.
    """

    def __init__(self, stack: Any) -> None:  # noqa: ANN401 (an aws_cdk.Stack)
        self._stack = stack
        self._resolver = _Canonical(_Joining())
        self._resolver.stack = stack

    def read(self, value: Any) -> Tree:  # noqa: ANN401 (text, a list, or one of the CDK's own objects)
        """What a value stands for."""
        return simplified(
            aws_cdk.Tokenization.resolve(value, scope=self._stack, resolver=self._resolver, preparing=False)
        )


class _Canonical(aws_cdk.DefaultTokenResolver):  # type: ignore[misc]  # the CDK is not read by mypy
    """As the CDK resolves tokens, but for references to other stacks, and lazy values."""

    stack: Any

    def resolve_token(self, t: Any, context: Any, post_processor: Any) -> Any:  # noqa: ANN401 (as the CDK has it)
        if isinstance(t, aws_cdk.Intrinsic):
            if aws_cdk.Reference.is_reference(t) and not same(aws_cdk.Stack.of(t.target), self.stack):
                return {REFERENCE: [str(t.target.node.path), str(t.display_name)]}
        else:
            text: str = aws_cdk.Token.as_string(t)
            if not _KNOWN.fullmatch(text):
                return {LAZY: text.strip("${}")}
        return super().resolve_token(t, context, post_processor)


@jsii.implements(aws_cdk.IFragmentConcatenator)
class _Joining:
    """Joins what stands in one text, as trees."""

    def join(self, left: Any, right: Any) -> Any:  # noqa: ANN401 (as the CDK has it)
        return joined("" if left is None else left, "" if right is None else right)
