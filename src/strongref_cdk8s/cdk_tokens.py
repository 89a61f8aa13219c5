"""The AWS CDK's tokens, read as trees by the CDK itself."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import aws_cdk
import jsii

from strongref_cdk8s import literals
from strongref_cdk8s.errors import UnreadableTokenError
from strongref_toolkit.intrinsics import REFERENCE, Unknown, joined, simplified

if TYPE_CHECKING:
    from strongref_toolkit.intrinsics import Tree


class Reading(NamedTuple):
    """A token, read.

    Attributes:
        tree: what it stands for.
        references: the CDK's own objects for the references in it, by path and attribute.
    """

    tree: Tree
    references: dict[tuple[str, str], Any]


class Reader:
    """Reads tokens of any number of CDK apps: paths in trees begin with an app's number and a colon.

    Attributes:
        apps: those that tokens have referred to.
    """

    def __init__(self) -> None:
        self.apps: list[Any] = []
        self._resolver = _Canonical(_Joining())
        self._resolver.reader = self
        # Some tokens are asked for the stack that they stand in. This one is in nobody's app, and is never written.
        with TemporaryDirectory() as folder:  # The CDK makes one for what it would write.
            self._scope = aws_cdk.Stack(aws_cdk.App(auto_synth=False, outdir=folder), "strongref")
        self._references: dict[tuple[str, str], Any] = {}

    def read(self, value: Any) -> Reading:  # noqa: ANN401 (text, a list, a number or one of the CDK's own objects)
        """What a value with tokens in it stands for.

        Raises:
            UnreadableTokenError: the CDK refuses to tell, or does not know the token.
        """
        self._references = {}
        try:
            tree = aws_cdk.Tokenization.resolve(value, scope=self._scope, resolver=self._resolver, preparing=False)
            return Reading(simplified(tree), self._references)
        except RuntimeError as error:
            problem = str(error)
        except Unknown:
            problem = "it is no text that CloudFormation could join"
        raise UnreadableTokenError(literals.marks(value), problem)

    def number(self, app: Any) -> int:  # noqa: ANN401 (a construct)
        """An app's number; from now on it is among `apps`."""
        if app not in self.apps:
            self.apps.append(app)
        return self.apps.index(app)

    def reference(self, reference: Any) -> Tree:  # noqa: ANN401 (an aws_cdk.Reference)
        target = reference.target
        path = f"{self.number(target.node.root)}:{target.node.path}"
        attribute = str(reference.display_name)
        self._references[path, attribute] = reference
        return {REFERENCE: [path, attribute]}


class _Canonical(aws_cdk.DefaultTokenResolver):  # type: ignore[misc]  # the CDK is not read by mypy
    """As the CDK resolves tokens, but for references, which it would turn into the logical ids of one stack."""

    reader: Reader

    def resolve_token(self, t: Any, context: Any, post_processor: Any) -> Any:  # noqa: ANN401 (as the CDK has it)
        if aws_cdk.Reference.is_reference(t):
            return self.reader.reference(t)
        return super().resolve_token(t, context, post_processor)


@jsii.implements(aws_cdk.IFragmentConcatenator)
class _Joining:
    """Joins what stands in one text, as trees."""

    def join(self, left: Any, right: Any) -> Any:  # noqa: ANN401 (as the CDK has it)
        return joined("" if left is None else left, "" if right is None else right)
