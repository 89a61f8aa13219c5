"""Tokens of the AWS CDK in a cdk8s app: each is replaced by the value of its CloudFormation output."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strongref_cdk8s.cdk_outputs import AppOutputs, TokenReader
from strongref_cdk8s.errors import LeftOverError, NotANumberError, OutputNotDefinedError, shown_tree
from strongref_cdk8s.resolver import MarkedResolver, NotWhole, is_marked, is_of_library
from strongref_manifests.forms import as_text
from strongref_manifests.leftovers import CDK_NUMBER, leftover
from strongref_toolkit.intrinsics import Tree, Undetermined, evaluate, intrinsic, text
from strongref_toolkit.json_values import Json, number, texts_in
from strongref_toolkit.session import ToolSession

if TYPE_CHECKING:
    import aws_cdk


class AwsCdkResolver(MarkedResolver):
    """Replaces tokens of the AWS CDK by the values of CloudFormation outputs.

    An output matches by its value: `bucket.bucket_name` and the `value` of its `CfnOutput` are the same. The token's
    own stack is searched first, then the other stacks of its app; the output is fetched from its stack's region and
    account. Tokens that the CDK resolves itself cost no call.
    """

    mark = any_mark = re.compile(r"([$#]\{Token\[[a-zA-Z0-9:._-]+\]\})")
    number = CDK_NUMBER

    def __init__(
        self,
        *,
        app: aws_cdk.App | None = None,
        attributes: bool = False,
        region: str | None = None,
        role: str | None = None,
    ) -> None:
        """Create one, for one app.

        Args:
            app: the app to search for outputs of tokens that refer to no resource; only those need it.
            attributes: for a token without an output, look up the resource in CloudFormation and its attribute in Cloud
                Control.
            region: the region of stacks without one of their own; by default the environment's.
            role: the ARN of the role to assume for stacks in other accounts, with `ACCOUNT` in place of the account ID.
        """
        super().__init__()
        self._reader = TokenReader()
        given = None if app is None else self._reader.number(app.node.root)
        self._outputs = AppOutputs(self._reader, lambda: ToolSession.start().aws(region, role), given, attributes)

    def begin(self) -> None:
        super().begin()
        self._outputs.forget()

    def concerns(self, value: object) -> bool:
        if isinstance(value, str):
            return "{Token[" in value
        if isinstance(value, list):
            return len(value) == 1 and isinstance(value[0], str) and value[0].startswith("#{Token[")
        return is_marked(value, CDK_NUMBER) or is_of_library("aws_cdk", value)

    def whole(self, value: object) -> Json:
        if isinstance(value, str) and len(list(self.split(value))) > 1:
            return self._values.get(f"text {value}", lambda: self._as_output(value))
        if isinstance(value, str | list | float):
            return self._values.get(f"{type(value).__name__} {value}", lambda: self._value(value))
        return self._value(value)

    def _as_output(self, value: str) -> Json:
        tree = self._reader.read(value)
        try:
            if intrinsic(tree):
                return self._outputs.value(tree)
        except Undetermined:
            pass
        raise NotWhole

    def _value(self, value: object) -> Json:
        tree = self._reader.read(value)
        for _, literal in texts_in(tree):
            found = leftover(literal)
            if found and found[0].startswith("{{"):  # as in SecretValue.unsafe_unwrap()
                raise LeftOverError(*found)
        try:
            result = evaluate(tree, self._outputs.value)
        except Undetermined:
            is_list, needs_app = isinstance(value, list), self._outputs.needs_app(tree)
            raise OutputNotDefinedError(self._shown(tree), is_list=is_list, needs_app=needs_app) from None
        if not isinstance(value, float):
            return as_text(value, result) if isinstance(value, str) and isinstance(result, int | float) else result
        made = number(str(result))  # CloudFormation's outputs are text.
        if made is None:
            raise NotANumberError(repr(value), self._shown(tree))
        return made

    def _shown(self, tree: Tree) -> str:
        return text(shown_tree(self._outputs.as_in_its_stack(tree)))
