"""The stacks of CDK apps, each with what it exports and imports."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import aws_cdk

from strongref.cdk.errors import ConstructError, ExportedElsewhereError, NoStackError, RefusedByCdkError
from strongref.cdk.kinds import REFUSALS
from strongref.cdk.target import CdkTarget, top_of
from strongref.errors import StrongRefError
from strongref.objects.channels import CloudFormation
from strongref.objects.context_file import CONTEXT_FILE
from strongref.objects.stack import Stack
from strongref.objects.synthesis import Synthesis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref.objects.channels import Channel

CONTEXT_FILE_KEY = "strongref:context-file"
"""Of the app's CDK context: where to keep what was looked up."""

ROLE_KEY = "strongref:role"
"""Of the app's CDK context: the role to assume in other accounts, with `ACCOUNT` in the place of the number."""


class App:
    """What the stacks of one app have in common."""

    def __init__(self, root: Any) -> None:  # noqa: ANN401 (an aws_cdk.App, or another construct on top)
        file, role = (root.node.try_get_context(key) for key in (CONTEXT_FILE_KEY, ROLE_KEY))
        self.synthesis = Synthesis(file or CONTEXT_FILE, role=role)
        self._stacks: dict[Any, Stack] = {}
        self._exporting: dict[tuple[str | None, str | None, str], Any] = {}

    def stack(self, stack: Any) -> Stack:  # noqa: ANN401 (an aws_cdk.Stack)
        """The exports and imports of a stack: the same each time."""
        if stack not in self._stacks:
            target = CdkTarget(stack)
            self._stacks[stack] = Stack(target, synthesis=self.synthesis, scope=target.scope)
        return self._stacks[stack]

    def exporting(self, stack: Any, name: str, via: Channel | None) -> None:  # noqa: ANN401 (the same)
        """Take down that a stack exports a name.

        Raises:
            ExportedElsewhereError: another stack exports it, where only one can.
        """
        if isinstance(via or CloudFormation(), CloudFormation):
            other = self._exporting.setdefault(self._place(stack, name), stack)
            if other is not stack and None not in self._place(stack, name):
                raise ExportedElsewhereError(name, other.node.path)

    def importing(self, stack: Any, name: str, via: Channel | None) -> None:  # noqa: ANN401 (the same)
        """If another stack of the app exports a name, have that one deployed first.

        Raises:
            RefusedByCdkError: that one is deployed after this one.
        """
        if not isinstance(via or CloudFormation(), CloudFormation):
            return
        other = self._exporting.get(self._place(stack, name))
        if other is None or other is stack or aws_cdk.Stage.of(other) is not aws_cdk.Stage.of(stack):
            return
        # Older versions of the CDK have the second name alone, newer ones warn of it.
        depend = getattr(stack, "add_stack_dependency", None) or stack.add_dependency
        try:
            depend(other, "strongref: it exports what is imported")
        except REFUSALS as error:
            problem = str(error)
        else:
            return
        raise RefusedByCdkError(f"to deploy {other.node.path}, which exports {name}, before this stack", problem)

    def _place(self, stack: Any, name: str) -> tuple[str | None, str | None, str]:  # noqa: ANN401 (the same)
        target = self.stack(stack).target
        return (target.account, target.region, name.replace("-", ""))


_APPS: dict[Any, App] = {}


def _own(scope: Any) -> Any:  # noqa: ANN401 (a construct, and an aws_cdk.Stack)
    try:
        return aws_cdk.Stack.of(scope)
    except REFUSALS:
        pass
    raise NoStackError


def app_of(scope: Any) -> App:  # noqa: ANN401 (a construct)
    """The app that a construct is in."""
    root = scope.node.root
    if root not in _APPS:
        _APPS[root] = App(root)
    return _APPS[root]


def exporting(scope: Any, name: str, via: Channel | None) -> Stack:  # noqa: ANN401 (a construct)
    """The stack that exports what a construct is, or a construct's part: what it is nested in, if it is.

    Raises:
        ExportedElsewhereError: another stack of the app exports that name.
        NoStackError: the construct is in no stack.
    """
    app, stack = app_of(scope), top_of(_own(scope))
    app.exporting(stack, name, via)
    return app.stack(stack)


def importing(scope: Any, name: str, via: Channel | None, *, weak: bool) -> Stack:  # noqa: ANN401 (a construct)
    """The stack that imports for a construct: its own, nested or not.

    Raises:
        NoStackError: the construct is in no stack.
        RefusedByCdkError: the import is not weak, and the stack that it is from comes after this one.
    """
    app, stack = app_of(scope), _own(scope)
    if not weak:
        app.importing(top_of(stack), name, via)
    return app.stack(stack)


def stack_of(scope: Any) -> Stack:  # noqa: ANN401 (a construct)
    """The exports and imports of a construct's own stack; errors as above."""
    return app_of(scope).stack(_own(scope))


@contextmanager
def at(construct: Any) -> Iterator[None]:  # noqa: ANN401 (a construct)
    """Whatever fails is told with the construct's path.

    Raises:
        ConstructError: something has failed.
    """
    try:
        yield
    except ConstructError:
        raise
    except StrongRefError as error:
        raise ConstructError(construct.node.path or "App", error) from error
