"""Tokens of the AWS CDK in a cdk8s app: each is replaced by the value of its CloudFormation output.

The CDK itself reads them as trees. Outputs have the same trees as values; CloudFormation returns what is deployed of
them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import aws_cdk

from strongref.errors import or_else
from strongref.memo import Memo
from strongref.untyped import Untyped
from strongref_cdk8s import errors
from strongref_cdk8s.resolver import MarkedResolver, NotWhole, check_is_value, is_marked, is_of_library
from strongref_manifests.errors import OutputNotFetchedError
from strongref_manifests.forms import as_text
from strongref_manifests.leftovers import CDK_NUMBER, leftover
from strongref_manifests.sources.attributes import REF, StackAttributes
from strongref_manifests.sources.outputs import StackOutputs
from strongref_manifests.tokens import CFN_ATTR, Token
from strongref_toolkit import intrinsics
from strongref_toolkit.cdk_trees import TreeTokenResolver, known
from strongref_toolkit.intrinsics import REFERENCE, Tree, Undetermined, intrinsic, is_of_its_stack, references
from strongref_toolkit.jsii_objects import reference
from strongref_toolkit.json_values import Json, number, texts_in
from strongref_toolkit.session import ToolSession

if TYPE_CHECKING:
    from constructs import Construct

    from strongref_toolkit.aws import Aws


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
        self._reader = _TokenReader()
        given = None if app is None else self._reader.add(app.node.root)
        self._outputs = _AppOutputs(self._reader, lambda: ToolSession.start().aws(region, role), given, attributes)

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
                raise errors.LeftOverError(*found)
        try:
            result = intrinsics.evaluate(tree, self._outputs.value)
        except Undetermined:
            is_list, needs_app = isinstance(value, list), self._outputs.needs_app(tree)
            raise errors.OutputNotDefinedError(self._shown(tree), is_list=is_list, needs_app=needs_app) from None
        if not isinstance(value, float):
            return as_text(value, result) if isinstance(value, str) and isinstance(result, int | float) else result
        made = number(str(result))  # CloudFormation's outputs are text.
        if made is None:
            raise errors.NotANumberError(repr(value), self._shown(tree))
        return made

    def _shown(self, tree: Tree) -> str:
        return intrinsics.text(errors.shown_tree(self._outputs.as_in_its_stack(tree)))


class _TokenReader(TreeTokenResolver):
    """Reads tokens of any number of CDK apps. A path in a tree begins with the app's reference and a colon.

    References are read as paths: the CDK's own resolver returns the logical IDs of one stack.
    """

    def __init__(self) -> None:
        super().__init__()
        self.apps: dict[str, Any] = {}  # those that tokens have referred to, by reference
        # the CDK's objects for all references that were read, by path and attribute
        self.references: dict[tuple[str, str], Any] = {}
        # Some tokens need the stack that they are used in. This one is in an app of its own and is never written.
        with TemporaryDirectory() as folder:  # The CDK creates its output folder at once.
            self._scope = aws_cdk.Stack(aws_cdk.App(auto_synth=False, outdir=folder), "strongref")

    def read(self, value: object) -> Tree:
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
        except Undetermined:
            problem = "CloudFormation cannot join it as text"
        raise errors.UnreadableTokenError(errors.shown_tokens(value), problem)

    def add(self, app: Construct) -> str:
        """The reference of an app, which is among `apps` from now on."""
        self.apps.setdefault(reference(app), app)
        return reference(app)

    def resolve_token(self, t: Untyped, context: Untyped, post_processor: Untyped) -> Untyped:
        if not aws_cdk.Reference.is_reference(t):
            return super().resolve_token(t, context, post_processor)
        path = f"{self.add(t.target.node.root)}:{t.target.node.path}"
        attribute = str(t.display_name)
        self.references[path, attribute] = t
        return {REFERENCE: [path, attribute]}


class _DefinedOutput:
    """An output that an app defines. Each attribute is read from the CDK when it is first needed."""

    def __init__(self, output: aws_cdk.CfnOutput, reader: _TokenReader) -> None:
        self._output = output
        self._reader = reader

    @cached_property
    def stack(self) -> aws_cdk.Stack:
        return aws_cdk.Stack.of(self._output)

    @cached_property
    def stack_path(self) -> str:
        return str(self.stack.node.path)

    @cached_property
    def tree(self) -> Tree:
        """Its value; None if the CDK cannot resolve it."""
        return or_else(lambda: self._reader.read(self._output.value), None)

    @cached_property
    def export_name(self) -> Tree:
        """The name that it is exported by; None if it is not exported."""
        name = self._output.export_name
        return None if name is None else or_else(lambda: self._reader.read(name), None)

    @property
    def logical_id(self) -> str:
        return str(self.stack.resolve(self._output.logical_id))


@dataclass(eq=False)
class _AppOutputs:
    """The outputs of all apps that tokens refer to, for one run."""

    reader: _TokenReader
    make_aws: Callable[[], Aws]  # called before the first call
    given: str | None  # the reference of the app to search for outputs of trees without references
    attributes: bool  # whether a reference without an output is looked up as an attribute
    _defined: Memo[str, list[_DefinedOutput]] = field(default_factory=Memo, init=False)

    def forget(self) -> None:
        """Read the apps' outputs again; fetched values are kept."""
        self._defined = Memo()

    def value(self, tree: Tree) -> Json:
        """The value of the output with this tree, or of the one that joins its items.

        Raises:
            Undetermined: no output has it.
            SeveralStacksError: several stacks define an output with it, which has another value in each.
            StrongRefError: the output could not be fetched.
        """
        if found := self._find(tree):
            return self._first_of(found)
        for each in self._candidates(tree):
            match each.tree:
                case {"Fn::Join": [str(separator), joined]} if separator and joined == tree:
                    items = self._fetched(each)
                    return list(items.split(separator)) if items else []
        return self._attribute(tree)

    def needs_app(self, tree: Tree) -> bool:
        """Whether a tree refers to no resource, and no app was given to search for its output."""
        return self.given is None and (is_of_its_stack(tree) or not list(references(tree)))

    def as_in_its_stack(self, tree: Tree) -> Tree:
        """A tree with each reference as in the template of its own stack."""
        function = intrinsic(tree)
        if function and function[0] == REFERENCE:
            (found,) = references(tree)
            token = self.reader.references[found]
            resolved: Tree = aws_cdk.Stack.of(token.target).resolve(token)
            return resolved
        if isinstance(tree, dict):
            return {key: self.as_in_its_stack(below) for key, below in tree.items()}
        return [self.as_in_its_stack(item) for item in tree] if isinstance(tree, list) else tree

    def _find(self, tree: Tree) -> list[_DefinedOutput]:
        """The outputs with this value; for an import, those that export it."""
        function = intrinsic(tree)
        name = function[1] if function and function[0] == intrinsics.IMPORT else None
        found = [each for each in self._candidates(tree) if each.tree == tree]
        found = found or [each for each in self._candidates(tree) if name is not None and each.export_name == name]
        stacks = {each.stack_path for each in found}
        if len(stacks) > 1 and is_of_its_stack(tree) and not self._stacks_of(tree):
            raise errors.SeveralStacksError(intrinsics.text(errors.shown_tree(tree)), sorted(stacks))
        return found

    def _first_of(self, found: list[_DefinedOutput]) -> str:
        """The value of the first deployed one: an output may have a condition."""
        failures = []
        for each in found:
            try:
                return self._fetched(each)
            except OutputNotFetchedError as error:
                failures.append(error)
        raise failures[0]

    def _candidates(self, tree: Tree) -> Iterator[_DefinedOutput]:
        """The outputs to search for a tree: its own stack's, and then the others if they can have the same value.

        A tree without references is searched for in the given app only: the other known apps depend on which tokens
        were read before.
        """
        own = self._stacks_of(tree)
        apps = list(self.reader.apps) if own else [] if self.given is None else [self.given]
        everywhere = [each for app in apps for each in self._outputs(app)]
        yield from (each for each in everywhere if each.stack_path in own)
        if not (own and is_of_its_stack(tree)):
            yield from (each for each in everywhere if each.stack_path not in own)

    def _stacks_of(self, tree: Tree) -> set[str]:
        return {str(aws_cdk.Stack.of(self.reader.references[each].target).node.path) for each in references(tree)}

    def _outputs(self, app: str) -> list[_DefinedOutput]:
        def defined() -> list[_DefinedOutput]:
            constructs = self.reader.apps[app].node.find_all()
            return [_DefinedOutput(each, self.reader) for each in constructs if isinstance(each, aws_cdk.CfnOutput)]

        return self._defined.get(app, defined)

    def _fetched(self, defined: _DefinedOutput) -> str:
        name, region, account = _deployed(defined.stack)
        return self._stack_outputs.value(name, defined.logical_id, region, account)

    def _attribute(self, tree: Tree) -> Json:
        function = intrinsic(tree)
        if not self.attributes or not function or function[0] != REFERENCE:
            raise Undetermined
        (found,) = references(tree)
        name, region, account = _deployed(aws_cdk.Stack.of(self.reader.references[found].target))
        match self.as_in_its_stack(tree):
            case {"Ref": str(logical_id)} if "::" not in logical_id:
                attribute = REF
            case {"Fn::GetAtt": [str(logical_id), str(attribute)]}:
                pass
            case _:
                raise Undetermined
        return self._stack_attributes.fetch(Token(CFN_ATTR, f"{name}.{logical_id}.{attribute}", region, account))

    @cached_property
    def _stack_outputs(self) -> StackOutputs:
        return StackOutputs(self.make_aws())

    @cached_property
    def _stack_attributes(self) -> StackAttributes:
        return StackAttributes(self._stack_outputs)


def _deployed(stack: aws_cdk.Stack) -> tuple[str, str | None, str | None]:
    """How CloudFormation finds a stack: by its name, and by its region and account if it has its own.

    It names nested stacks itself: they are found by the root's name and the logical IDs that lead to them, with dots.
    """
    leading: list[str] = []
    while stack.nested_stack_parent is not None:
        parent = stack.nested_stack_parent
        leading.insert(0, str(parent.resolve(stack.nested_stack_resource.logical_id)))
        stack = parent
    return ".".join([stack.stack_name, *leading]), known(stack.region), known(stack.account)
