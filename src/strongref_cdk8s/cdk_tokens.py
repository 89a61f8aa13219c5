"""The AWS CDK's tokens, read as trees by the CDK itself."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import aws_cdk

from strongref_cdk8s.errors import UnreadableTokenError, shown_tokens
from strongref_cdk8s.resolver import check_is_value
from strongref_toolkit.cdk_trees import TreeTokenResolver
from strongref_toolkit.intrinsics import REFERENCE, Unknown
from strongref_toolkit.jsii_objects import same

if TYPE_CHECKING:
    from strongref_toolkit.intrinsics import Tree


class TokenReader(TreeTokenResolver):
    """Reads tokens of any number of CDK apps. A path in a tree begins with the app's number and a colon.

    References are read as paths: the CDK's own resolver returns the logical IDs of one stack.

    Attributes:
        apps: those that tokens have referred to.
        references: the CDK's objects for all references that were read, by path and attribute.
    """

    def __init__(self) -> None:
        super().__init__()
        self.apps: list[Any] = []
        self.references: dict[tuple[str, str], Any] = {}
        # Some tokens need the stack that they are used in. This one is in an app of its own and is never written.
        with TemporaryDirectory() as folder:  # The CDK creates its output folder at once.
            self._scope = aws_cdk.Stack(aws_cdk.App(auto_synth=False, outdir=folder), "strongref")

    def read(self, value: Any) -> Tree:  # noqa: ANN401 (text, a list, a number or an object of the CDK)
        """What a value with tokens in it stands for: CloudFormation's JSON, with references by path.

        Raises:
            ConstructGivenError: it is a construct.
            UnreadableTokenError: the CDK cannot resolve it.
        """
        check_is_value(value)
        try:
            return self.tree(value, self._scope)
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

    def resolve_token(self, t: Any, context: Any, post_processor: Any) -> Any:  # noqa: ANN401 (as the CDK has it)
        if not aws_cdk.Reference.is_reference(t):
            return super().resolve_token(t, context, post_processor)
        path = f"{self.number(t.target.node.root)}:{t.target.node.path}"
        attribute = str(t.display_name)
        self.references[path, attribute] = t
        return {REFERENCE: [path, attribute]}
