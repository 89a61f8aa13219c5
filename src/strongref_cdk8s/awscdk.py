"""Tokens of the AWS CDK in a cdk8s app: each becomes the value of the CloudFormation output that is defined for it."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Any

from strongref_cdk8s.cdk_outputs import AppOutputs
from strongref_cdk8s.cdk_tokens import Reader
from strongref_cdk8s.errors import LeftOverError, NotANumberError, OutputNotDefinedError
from strongref_cdk8s.literals import without_literals
from strongref_cdk8s.pieces import leaves
from strongref_cdk8s.resolver import CloudResolver, Mark, NotWhole, is_of_library
from strongref_manifests.leftovers import leftover
from strongref_toolkit import toolbox
from strongref_toolkit.intrinsics import Unknown, evaluate, intrinsic, text
from strongref_toolkit.json_values import number
from strongref_toolkit.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref_toolkit.intrinsics import Tree
    from strongref_toolkit.json_values import Json

_MARK = re.compile(r"([$#]\{Token\[[a-zA-Z0-9:._-]+\]\})")
"""aws-cdk-lib 2.275.0, core/lib/private/encoding.js; numbers have these two highest bytes."""
_NUMBER = b"\xfb\xff"


class AwsCdkResolver(CloudResolver):
    """Gives tokens of the AWS CDK the values that CloudFormation's outputs have.

    The output is found by what it stands for: `bucket.bucket_name` and the `value` of a `CfnOutput` of it are the same.
    It is looked for in the token's own stack first, then in the others of its app, and fetched from its own stack's
    region and account. Tokens that the CDK can tell itself cost no call.
    """

    def __init__(
        self,
        *,
        app: Any = None,  # noqa: ANN401 (an aws_cdk.App)
        attributes: bool = False,
        region: str | None = None,
        role: str | None = None,
    ) -> None:
        """Make one, for one app.

        Args:
            app: where the outputs are looked for of tokens that refer to no resource; needed for those alone.
            attributes: where there is no output for a token, ask CloudFormation for the resource, and Cloud Control for
                its attribute.
            region: of stacks that are in no region of their own; the environment's by default.
            role: the ARN of the role to assume for stacks of other accounts, with `ACCOUNT` in the place of its number.
        """
        self._reader = Reader()
        given = None if app is None else self._reader.number(app.node.root)
        self._outputs = AppOutputs(self._reader, lambda: toolbox.aws(region, role), given=given, attributes=attributes)
        self._values: Memo[str, Json] = Memo()

    def begin(self) -> None:
        self._values = Memo()
        self._outputs.forget()

    def left_in(self, value: object) -> str | None:
        if isinstance(value, str):
            found = _MARK.search(value)
            return found[0] if found else None
        return repr(value) if _is_number_token(value) else None

    def concerns(self, value: object) -> bool:
        if isinstance(value, str):
            return "{Token[" in value
        if isinstance(value, list):
            return len(value) == 1 and isinstance(value[0], str) and value[0].startswith("#{Token[")
        return _is_number_token(value) or is_of_library("aws_cdk", value)

    def split(self, text: str) -> Iterator[str]:
        for position, part in enumerate(_MARK.split(text)):
            if part:
                yield Mark(part) if position % 2 else part

    def whole(self, value: Any) -> Json:  # noqa: ANN401 (text, a list, a number or one of the CDK's own objects)
        if isinstance(value, str) and len(list(self.split(value))) > 1:
            return self._values.get(f"text {value}", lambda: self._as_output(value))
        if isinstance(value, str | list | float):
            return self._values.get(f"{type(value).__name__} {value}", lambda: self._value(value))
        return self._value(value)

    def _as_output(self, value: str) -> Json:
        reading = self._reader.read(value)
        self._outputs.meet(reading)
        try:
            if intrinsic(reading.tree):
                return self._outputs.value(reading.tree)
        except Unknown:
            pass
        raise NotWhole

    def _value(self, value: Any) -> Json:  # noqa: ANN401 (as above)
        reading = self._reader.read(value)
        self._outputs.meet(reading)
        for _, literal in leaves(reading.tree):
            found = leftover(literal)
            if found and found[0].startswith("{{"):  # as in SecretValue.unsafe_unwrap()
                raise LeftOverError(*found)
        try:
            result = evaluate(reading.tree, self._outputs)
        except Unknown:
            raise OutputNotDefinedError(
                self._shown(reading.tree), app_is_needed=self._outputs.needs_app(reading.tree)
            ) from None
        if not isinstance(value, float):
            return result
        made = number(str(result))  # CloudFormation's outputs are text, whatever they stand for.
        if made is None:
            raise NotANumberError(repr(value), self._shown(reading.tree))
        return made

    def _shown(self, tree: Tree) -> str:
        return text(without_literals(self._outputs.as_in_its_stack(tree)))


def _is_number_token(value: object) -> bool:
    return isinstance(value, float) and struct.pack(">d", value)[:2] == _NUMBER
