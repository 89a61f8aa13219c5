"""The stacks of CDK apps, with their exports and imports."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import aws_cdk

from strongref.contract.names import short_hash
from strongref.errors import StrongRefError
from strongref_cdk import errors
from strongref_cdk.cdk_values import REFUSALS
from strongref_cdk.target import CdkTarget, top_of
from strongref_objects.base import DeserializationContext, ObjectCache
from strongref_objects.base.errors import NothingToImportError, OwnExportError
from strongref_objects.channels import Channel, CrossRegion
from strongref_objects.stack import Stack, location
from strongref_objects.synthesis import Synthesis
from strongref_objects.synthesis.context_file import CONTEXT_FILE
from strongref_toolkit.errors import NoWayInError
from strongref_toolkit.jsii_objects import reference, same

if TYPE_CHECKING:
    from constructs import Construct


CONTEXT_FILE_KEY = "strongref:context-file"
"""The app's context value for the path of the context file."""

ROLE_KEY = "strongref:role"
"""The app's context value for the role to assume in other accounts, with `ACCOUNT` in place of the account ID."""


class AppExports:
    def __init__(self, root: Construct) -> None:
        file, role = (root.node.try_get_context(key) for key in (CONTEXT_FILE_KEY, ROLE_KEY))
        self.synthesis = Synthesis(file or CONTEXT_FILE, role=role)
        # by `location`, by reference: the exporting stacks, and the importing ones with whether they do so weakly
        self.exports: dict[Hashable, dict[str, Any]] = {}
        self.imports: dict[Hashable, dict[str, tuple[Any, bool]]] = {}
        self.spelled: dict[tuple[str, Hashable], str] = {}
        self._stacks = ObjectCache()

    def stack(self, stack: aws_cdk.Stack) -> Stack:
        """The exports and imports of a stack: the same each time."""
        target = CdkTarget(stack)
        target.look_again()
        return self._stacks.get(reference(stack), lambda: Stack(target, synthesis=self.synthesis))


@contextmanager
def exporting(scope: Construct, name: str, via: Channel | None) -> Iterator[Stack]:
    """The stack that exports a construct: its own, or the top stack that this is nested in.

    Unless the export fails, the app records it. Stacks that already import it are deployed later, unless they import it
    weakly.

    Raises:
        NoStackError: the construct is not in a stack.
        ExportedElsewhereError: another stack exports it in the same place.
        OwnExportError: a stack that is nested in this one imports it.
        RefusedByCdkError: an importing stack is deployed earlier.
    """
    stack = top_of(_own(scope))
    app, (where, _) = app_of(stack), location(CdkTarget(stack), via, (name,), is_own=True)
    others = {} if isinstance(via, CrossRegion) else app.exports.get(where, {})
    for other in others.values():
        if not same(other, stack):
            raise errors.ExportedElsewhereError(name, other.node.path)
    for importer, weak in app.imports.get(where, {}).values():
        if same(top_of(importer), stack):
            raise OwnExportError(name, stack.stack_name)
        if not weak:
            _deploy_first(stack, top_of(importer), name)
    yield app.stack(stack)
    app.exports.setdefault(where, {})[reference(stack)] = stack


@contextmanager
def importing(scope: Construct, name: str, via: Channel | None, *, weak: bool) -> Iterator[tuple[Stack, str]]:
    """A construct's own stack, nested or not, to import from; unless that fails, the app records it.

    With it comes the name as the stack spelled it in its first import of the same thing. If another stack of the app
    exports it, that one is deployed first, unless it is imported weakly.

    Raises:
        NoStackError: the construct is not in a stack.
        OwnExportError: the stack that this one is nested in exports it.
        RefusedByCdkError: the exporting stack is deployed later.
        NotDeployedError: it is looked up, and the app's exporting stack was not deployed with it.
    """
    stack = _own(scope)
    app, top, (where, _) = app_of(stack), top_of(stack), location(CdkTarget(stack), via, (name,), is_own=False)
    others = list(app.exports.get(where, {}).values())
    for other in others:
        if same(other, top):
            raise OwnExportError(name, top.stack_name)
        if not weak:
            _deploy_first(other, top, name)
    ref = reference(stack)
    try:
        yield app.stack(stack), app.spelled.get((ref, where), name)
    except NothingToImportError as error:
        if others:
            raise errors.NotDeployedError(error.name, others[0].node.path) from error
        raise
    importers = app.imports.setdefault(where, {})
    importers[ref] = (stack, weak and importers.get(ref, (stack, True))[1])
    app.spelled.setdefault((ref, where), name)


def _deploy_first(first: aws_cdk.Stack, then: aws_cdk.Stack, name: str) -> None:
    """Raises `RefusedByCdkError` if the exporting stack already depends on the importing one."""
    if not same(aws_cdk.Stage.of(first), aws_cdk.Stage.of(then)):
        return
    # Older versions of the CDK only have the second name; newer ones warn about it.
    depend = getattr(then, "add_stack_dependency", None) or then.add_dependency
    try:
        depend(first, "strongref: it exports what is imported")
    except REFUSALS as error:
        problem = str(error)
    else:
        return
    what = f"to deploy {first.node.path}, which exports {name}, before {then.node.path}, which imports it"
    raise errors.RefusedByCdkError(what, problem)


_APPS = ObjectCache()


def _own(scope: Construct) -> aws_cdk.Stack:
    if hasattr(scope, "node"):
        try:
            return aws_cdk.Stack.of(scope)
        except REFUSALS:
            pass
    raise errors.NoStackError


def app_of(scope: Construct) -> AppExports:
    root = scope.node.root
    return _APPS.get(reference(root), lambda: AppExports(root))


def stack_of(scope: Construct) -> Stack:
    """The exports and imports of a construct's own stack. Raises `NoStackError` if it is not in one."""
    stack = _own(scope)
    return app_of(stack).stack(stack)


@contextmanager
def at(construct: Construct) -> Iterator[None]:
    """Report any error of strongref as a `ConstructError` with the construct's path."""
    try:
        yield
    except errors.ConstructError:
        raise
    except StrongRefError as error:
        if isinstance(error, NoWayInError):  # A program has no options.
            error = replace(error, option=f"the context value {ROLE_KEY}=")
        path = construct.node.path or "App" if hasattr(construct, "node") else type(construct).__name__
        raise errors.ConstructError(path, error) from error


class ConstructPlace(NamedTuple):
    scope: Any  # its parent construct
    id: str  # its ID
    region: str | None = None  # the resource's region; None if it is the stack's own, or unknown
    account: str | None = None  # the resource's account; None if it is the stack's own, or unknown
    is_local: bool = False  # whether the resource is known to be in the stack's own account and region

    def part(self, name: str) -> ConstructPlace:
        """The place of a part; of another one, if an earlier attempt to make the whole has left its part."""
        return self._replace(id=f"{self.id}-{name}").free()

    def free(self, *more: str) -> ConstructPlace:
        """A place with an ID that is free there: one object can be read as two types."""
        ids = [self.id, *(f"{self.id}-{each}" for each in (*more, *range(2, 99)))]
        return self._replace(id=next(each for each in ids if not self.scope.node.try_find_child(each)))

    @classmethod
    def of_import(cls, ctx: DeserializationContext) -> ConstructPlace:
        via = getattr(ctx, "via", None)
        if isinstance(via, CrossRegion):
            return cls(ctx.scope, ctx.id).located(stack_of(ctx.scope), via.region, via.account)
        return cls(ctx.scope, ctx.id, is_local=via is not None)

    def located(self, stack: Stack, region: str | None, account: str | None) -> ConstructPlace:
        """The place of a resource in a region and account; None for the stack's own."""
        own = (stack.target.region, stack.target.account)
        is_local = (region or own[0], account or own[1]) == own
        return self._replace(region=region, account=account, is_local=is_local)

    @classmethod
    def of_name(cls, prefix: str, name: str, stack: Stack) -> ConstructPlace:
        """The place of a resource that a name identifies; an ID cannot contain a token."""
        text = short_hash(str(stack.target.canonical(name))) if stack.target.is_unresolved(name) else name
        return cls(stack.scope, f"{prefix}:{text}")
