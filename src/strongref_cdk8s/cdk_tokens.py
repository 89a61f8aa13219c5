"""The AWS CDK's tokens, read as trees by the CDK itself."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import aws_cdk

from strongref_cdk8s.errors import UnreadableTokenError, shown_tokens
from strongref_cdk8s.resolver import check_is_value
from strongref_toolkit.cdk_trees import TreeTokenResolver
from strongref_toolkit.intrinsics import REFERENCE, Unknown
from strongref_toolkit.jsii_objects import same

if TYPE_CHECKING:
    from strongref_toolkit.intrinsics import Tree


class TokenTree(NamedTuple):
    """What a token stands for."""

    tree: Tree  # CloudFormation's JSON, with references by path
    references: dict[tuple[str, str], Any]  # the CDK's objects for the references in it, by path and attribute


class TokenReader:
    """Reads tokens of any number of CDK apps. A path in a tree begins with the app's number and a colon.

    Attributes:
        apps: those that tokens have referred to.
    """

    def __init__(self) -> None:
        self.apps: list[Any] = []
        self._resolver = _ReferencesByPath()
        self._resolver.reader = self
        # Some tokens need the stack that they are used in. This one is in an app of its own and is never written.
        with TemporaryDirectory() as folder:  # The CDK creates its output folder at once.
            self._scope = aws_cdk.Stack(aws_cdk.App(auto_synth=False, outdir=folder), "strongref")
        self._references: dict[tuple[str, str], Any] = {}

    def read(self, value: Any) -> TokenTree:  # noqa: ANN401 (text, a list, a number or an object of the CDK)
        """What a value with tokens in it stands for.

        Raises:
            ConstructGivenError: it is a construct.
            UnreadableTokenError: the CDK cannot resolve it.
        """
        check_is_value(value)
        self._references = {}
        try:
            return TokenTree(self._resolver.tree(value, self._scope), self._references)
        except RuntimeError as error:
            problem = str(error)
        except Unknown:
            problem = "CloudFormation cannot join it as text"
        raise UnreadableTokenError(shown_tokens(value), problem)

    def number(self, app: Any) -> int:  # noqa: ANN401 (a construct)
        """An app's number; a new app is added to `apps`."""
        for number, known in enumerate(self.apps):
            if same(known, app):
                return number
        self.apps.append(app)
        return len(self.apps) - 1

    def reference(self, reference: Any) -> Tree:  # noqa: ANN401 (an aws_cdk.Reference)
        target = reference.target
        path = f"{self.number(target.node.root)}:{target.node.path}"
        attribute = str(reference.display_name)
        self._references[path, attribute] = reference
        return {REFERENCE: [path, attribute]}


class _ReferencesByPath(TreeTokenResolver):
    """Keeps references as paths: the CDK's own resolver returns the logical IDs of one stack."""

    reader: TokenReader

    def resolve_token(self, t: Any, context: Any, post_processor: Any) -> Any:  # noqa: ANN401 (as the CDK has it)
        if aws_cdk.Reference.is_reference(t):
            return self.reader.reference(t)
        return super().resolve_token(t, context, post_processor)
