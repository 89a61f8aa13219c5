"""The stacks of CDK apps, each with what it exports and imports."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import aws_cdk

from strongref.errors import StrongRefError
from strongref_cdk.errors import (
    ConstructError,
    ExportedElsewhereError,
    NoStackError,
    NotDeployedError,
    RefusedByCdkError,
)
from strongref_cdk.kinds import REFUSALS
from strongref_cdk.same import reference, same
from strongref_cdk.target import CdkTarget, top_of
from strongref_objects.channels import CrossRegion, Parameters
from strongref_objects.context_file import CONTEXT_FILE
from strongref_objects.errors import BadNameError, NothingToImportError, OwnExportError
from strongref_objects.naming import export_name, parameter_name
from strongref_objects.stack import Stack
from strongref_objects.synthesis import Synthesis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongref_objects.channels import Channel

CONTEXT_FILE_KEY = "strongref:context-file"
"""Of the app's CDK context: where to keep what was looked up."""

ROLE_KEY = "strongref:role"
"""Of the app's CDK context: the role to assume in other accounts, with `ACCOUNT` in the place of the number."""


Where = tuple[str | None, ...]
"""Where a channel has something: what exports it there and what imports it from there meet."""


class Import(NamedTuple):
    """What a stack is going to import.

    Attributes:
        stack: its exports and imports.
        name: as it was spelled when the stack imported the same thing first.
    """

    stack: Stack
    name: str


class App:
    """What the stacks of one app have in common."""

    def __init__(self, root: Any) -> None:  # noqa: ANN401 (an aws_cdk.App, or another construct on top)
        file, role = (root.node.try_get_context(key) for key in (CONTEXT_FILE_KEY, ROLE_KEY))
        self.synthesis = Synthesis(file or CONTEXT_FILE, role=role)
        self._stacks: dict[str, Stack] = {}
        self._exporting: dict[Where, dict[str, Any]] = {}
        self._importing: dict[Where, dict[str, tuple[Any, bool]]] = {}
        self._spelled: dict[tuple[str, Where], str] = {}

    def stack(self, stack: Any) -> Stack:  # noqa: ANN401 (an aws_cdk.Stack)
        """The exports and imports of a stack: the same each time."""
        target = CdkTarget(stack)
        target.look_again()
        ref = reference(stack)
        if ref not in self._stacks:
            self._stacks[ref] = Stack(target, synthesis=self.synthesis)
        return self._stacks[ref]

    @contextmanager
    def exporting(self, stack: Any, name: str, via: Channel | None) -> Iterator[Stack]:  # noqa: ANN401 (the same)
        """While a stack exports something, which is taken down if it does not fail.

        What imports it already is deployed after that stack, unless it imports it weakly.

        Raises:
            ExportedElsewhereError: another stack exports it, where only one can.
            OwnExportError: what is nested in the stack imports it.
            RefusedByCdkError: what imports it is deployed before.
        """
        where = _exported_at(stack, name, via)
        others = {} if isinstance(via, CrossRegion) else self._exporting.get(where, {})
        for other in others.values():
            is_one_place = None not in where or same(aws_cdk.Stage.of(other), aws_cdk.Stage.of(stack))
            if is_one_place and not same(other, stack):
                raise ExportedElsewhereError(name, other.node.path)
        for importer, weak in self._importing.get(where, {}).values():
            if same(top_of(importer), stack):
                raise OwnExportError(name, stack.stack_name)
            if not weak:
                _deploy(stack, top_of(importer), name)
        yield self.stack(stack)
        self._exporting.setdefault(where, {})[reference(stack)] = stack

    @contextmanager
    def importing(self, stack: Any, name: str, via: Channel | None, *, weak: bool) -> Iterator[Import]:  # noqa: ANN401 (the same)
        """While a stack, nested or not, imports something, which is taken down if it does not fail.

        If another stack of the app exports it, that one is deployed first, unless it is imported weakly.

        Raises:
            OwnExportError: what the stack is nested in exports it.
            RefusedByCdkError: what exports it is deployed after this one.
            NotDeployedError: it is to be looked up, and the app's stack that exports it has not done so yet.
        """
        where, top = _imported_from(stack, name, via), top_of(stack)
        others = list(self._exporting.get(where, {}).values())
        for other in others:
            if same(other, top):
                raise OwnExportError(name, top.stack_name)
            if not weak:
                _deploy(other, top, name)
        try:
            yield Import(self.stack(stack), self._spelled.get((reference(stack), where), name))
        except NothingToImportError as error:
            if others:
                raise NotDeployedError(error.name, others[0].node.path) from error
            raise
        ref, importers = reference(stack), self._importing.setdefault(where, {})
        importers[ref] = (stack, weak and importers.get(ref, (stack, True))[1])
        self._spelled.setdefault((ref, where), name)


def _exported_at(stack: Any, name: str, via: Channel | None) -> Where:  # noqa: ANN401 (an aws_cdk.Stack)
    target = CdkTarget(stack)
    if isinstance(via, CrossRegion):
        return ("strongref", target.account, target.region, target.name, name)
    return _kept_in(target, name, via)


def _imported_from(stack: Any, name: str, via: Channel | None) -> Where:  # noqa: ANN401 (an aws_cdk.Stack)
    target = CdkTarget(stack)
    if isinstance(via, CrossRegion):
        return ("strongref", via.account or target.account, via.region or target.region, via.stack, name)
    return _kept_in(target, name, via)


def _kept_in(target: CdkTarget, name: str, via: Channel | None) -> Where:
    if not isinstance(name, str):
        raise BadNameError(str(name), "a name is a string that is not empty")
    if isinstance(via, Parameters):
        return ("ssm", target.account, target.region, parameter_name(via.prefix, (name,)))
    return ("cloudformation", target.account, target.region, export_name((name,)))


def _deploy(first: Any, then: Any, name: str) -> None:  # noqa: ANN401 (an aws_cdk.Stack each)
    """Have the stack that exports something deployed before the one that imports it.

    Raises:
        RefusedByCdkError: it is the other way around.
    """
    if not same(aws_cdk.Stage.of(first), aws_cdk.Stage.of(then)):
        return
    # Older versions of the CDK have the second name alone, newer ones warn of it.
    depend = getattr(then, "add_stack_dependency", None) or then.add_dependency
    try:
        depend(first, "strongref: it exports what is imported")
    except REFUSALS as error:
        problem = str(error)
    else:
        return
    what = f"to deploy {first.node.path}, which exports {name}, before {then.node.path}, which imports it"
    raise RefusedByCdkError(what, problem)


_APPS: dict[str, App] = {}


def _own(scope: Any) -> Any:  # noqa: ANN401 (a construct, and an aws_cdk.Stack)
    if hasattr(scope, "node"):
        try:
            return aws_cdk.Stack.of(scope)
        except REFUSALS:
            pass
    raise NoStackError


def app_of(scope: Any) -> App:  # noqa: ANN401 (a construct)
    """The app that a construct is in."""
    root = scope.node.root
    ref = reference(root)
    if ref not in _APPS:
        _APPS[ref] = App(root)
    return _APPS[ref]


@contextmanager
def exporting(scope: Any, name: str, via: Channel | None) -> Iterator[Stack]:  # noqa: ANN401 (a construct)
    """The stack that exports what a construct is, or a construct's part: what it is nested in, if it is.

    Raises:
        NoStackError: the construct is in no stack.
        StrongRefError: as `App.exporting`.
    """
    stack = top_of(_own(scope))
    with app_of(stack).exporting(stack, name, via) as found:
        yield found


@contextmanager
def importing(scope: Any, name: str, via: Channel | None, *, weak: bool) -> Iterator[Import]:  # noqa: ANN401 (a construct)
    """What the stack imports that a construct is in, nested or not.

    Raises:
        NoStackError: the construct is in no stack.
        StrongRefError: as `App.importing`.
    """
    stack = _own(scope)
    with app_of(stack).importing(stack, name, via, weak=weak) as found:
        yield found


def stack_of(scope: Any) -> Stack:  # noqa: ANN401 (a construct)
    """The exports and imports of a construct's own stack.

    Raises:
        NoStackError: the construct is in no stack.
    """
    stack = _own(scope)
    return app_of(stack).stack(stack)


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
        raise ConstructError(_path(construct), error) from error


def _path(construct: Any) -> str:  # noqa: ANN401 (a construct, or what is none)
    if not hasattr(construct, "node"):
        return type(construct).__name__
    return construct.node.path or "App"
